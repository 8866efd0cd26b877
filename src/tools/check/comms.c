// SPDX-License-Identifier: BSD-3-Clause
/*
 * Keys of communicators: see comms.h.
 */
#include "tools/check/comms.h"

#include <stdlib.h>
#include <string.h>

/* Communicators that a group has made with one tag and parent. A freed one counts, because its
 * records may still arrive. */
struct repeat {
    uint64_t key, n;
};

static struct {
    struct repeat *list;
    int n, capacity;
} repeats;

/* Two hash tables of the same entries: by handle and by key. */
struct entry {
    struct check_comm comm;
    struct entry *next[2];
};

enum { BY_HANDLE, BY_KEY };

static struct {
    struct entry **slots[2];
    size_t size, n; /* size: a power of 2 */
} table;

static uint64_t hash_handle(const void *handle)
{
    return check_mix((uintptr_t)handle, 0);
}

static struct entry **slot_of(int by, uint64_t hash)
{
    return &table.slots[by][hash & (table.size - 1)];
}

struct check_comm *check_comm_find(const void *handle)
{
    if (table.size == 0)
        return NULL;
    struct entry *entry = *slot_of(BY_HANDLE, hash_handle(handle));
    while (entry && entry->comm.handle != handle)
        entry = entry->next[BY_HANDLE];
    return entry ? &entry->comm : NULL;
}

struct check_comm *check_comm_find_key(uint64_t key)
{
    if (table.size == 0)
        return NULL;
    struct entry *entry = *slot_of(BY_KEY, key);
    while (entry && entry->comm.key != key)
        entry = entry->next[BY_KEY];
    return entry ? &entry->comm : NULL;
}

void *check_comm_handle(const struct weft_call *call)
{
    const int window_or_file = WEFT_DOES_RMA | WEFT_DOES_EPOCH | WEFT_DOES_FILE;
    void *handle = weft_call_handle(call, WEFT_OBJECT_COMM);
    if (handle || !(call->function->does & (window_or_file | WEFT_DOES_COLLECTIVE)))
        return handle;
    handle = weft_call_handle(call, WEFT_OBJECT_WIN);
    return handle ? handle : weft_call_handle(call, WEFT_OBJECT_FILE);
}

bool check_comm_copy(const struct weft_call *call, struct check_comm *copy)
{
    const void *handle = check_comm_handle(call);
    check_lock();
    const struct check_comm *comm = handle ? check_comm_find(handle) : NULL;
    if (comm)
        *copy = *comm;
    check_unlock();
    return comm != NULL;
}

bool check_comm_find_peer(const struct check_comm *comm, int64_t rank, int *world)
{
    *world = -1;
    if (rank == MPI_ANY_SOURCE)
        return true;
    if (rank < 0 || rank >= comm->size)
        return false;
    *world = comm->world[rank];
    return true;
}

static void link_entry(struct entry *entry)
{
    const uint64_t hashes[2] = {hash_handle(entry->comm.handle), entry->comm.key};
    for (int by = 0; by < 2; by++) {
        struct entry **slot = slot_of(by, hashes[by]);
        entry->next[by] = *slot;
        *slot = entry;
    }
}

static void grow(void)
{
    struct entry **old = table.slots[BY_HANDLE];
    const size_t n = table.size;
    table.size = n ? 2 * n : 64;
    free(table.slots[BY_KEY]);
    for (int by = 0; by < 2; by++)
        table.slots[by] = weft_interpose_allocate(table.size, sizeof(struct entry *));
    for (size_t i = 0; i < n; i++) {
        for (struct entry *entry = old[i], *next; entry; entry = next) {
            next = entry->next[BY_HANDLE];
            link_entry(entry);
        }
    }
    free(old);
}

static void unlink_entry(int by, uint64_t hash, const struct entry *entry)
{
    struct entry **at = slot_of(by, hash);
    while (*at != entry) {
        weft_assert(*at);
        at = &(*at)->next[by];
    }
    *at = entry->next[by];
}

/* *sync: the duplicate of a window or file, which is to be freed. */
static void erase(const void *handle, MPI_Comm *sync)
{
    struct check_comm *comm = check_comm_find(handle);
    if (!comm)
        return;
    struct entry *entry = (struct entry *)comm; /* its first member */
    unlink_entry(BY_HANDLE, hash_handle(handle), entry);
    unlink_entry(BY_KEY, comm->key, entry);
    weft_assert(table.n > 0);
    table.n--;
    free(comm->world);
    if (comm->sync != comm->handle)
        *sync = comm->sync;
    free(entry);
}

/* A communicator that was freed by a call that is not seen (PMPI_Comm_free) is replaced. */
static void insert(const struct check_comm *comm)
{
    struct entry *entry = weft_interpose_allocate(1, sizeof *entry);
    MPI_Comm unused;
    erase(comm->handle, &unused);
    weft_assert(!check_comm_find_key(comm->key) && comm->rank < comm->size);
    if (table.n == table.size)
        grow();
    entry->comm = *comm;
    link_entry(entry);
    table.n++;
}

/* Fills the members of a new communicator; false: it has no key. */
static bool describe(struct check_comm *comm, uint64_t parent)
{
    MPI_Group group, world;
    int inter = 1;
    weft_next.Comm_test_inter(comm->handle, &inter);
    if (inter)
        return false;
    weft_next.Comm_rank(comm->handle, &comm->rank);
    weft_next.Comm_size(comm->handle, &comm->size);
    weft_next.Comm_group(comm->handle, &group);
    weft_next.Comm_group(MPI_COMM_WORLD, &world);
    int *ranks = weft_interpose_allocate((size_t)comm->size, sizeof *ranks),
        *in_world = weft_interpose_allocate((size_t)comm->size, sizeof *in_world);
    for (int i = 0; i < comm->size; i++)
        ranks[i] = i;
    weft_next.Group_translate_ranks(group, comm->size, ranks, world, in_world);
    weft_next.Group_free(&group);
    weft_next.Group_free(&world);
    bool is_known = true;
    comm->leader = in_world[0];
    comm->key = parent;
    for (int i = 0; i < comm->size; i++) {
        comm->key = check_mix(comm->key, (uint64_t)in_world[i]);
        is_known &= in_world[i] != MPI_UNDEFINED;
    }
    free(ranks);
    comm->world = in_world;
    return is_known;
}

static void add(struct check_comm *comm)
{
    check_lock();
    while (check_comm_find_key(comm->key)) /* of the same members, tag and parent: count them */
        comm->key = check_mix(comm->key, 1);
    insert(comm);
    check_unlock();
}

static uint64_t count_repeat(uint64_t key)
{
    for (int i = 0; i < repeats.n; i++)
        if (repeats.list[i].key == key)
            return ++repeats.list[i].n;
    if (repeats.n == repeats.capacity)
        repeats.list =
            check_enlarge(repeats.list, repeats.n, &repeats.capacity, sizeof *repeats.list);
    repeats.list[repeats.n++] = (struct repeat){key, 0};
    return 0;
}

static void add_comm(MPI_Comm handle, uint64_t origin, bool has_tag)
{
    struct check_comm comm = {.handle = handle, .sync = handle};
    bool is_known = describe(&comm, origin);
    if (is_known && has_tag) {
        check_lock();
        comm.key = check_mix(comm.key, count_repeat(comm.key));
        check_unlock();
    }
    if (is_known)
        add(&comm);
    else
        free(comm.world);
}

/* A window or file, of the members of a communicator that has a key. */
static void add_team(void *handle, uint64_t origin, const struct weft_call *call)
{
    struct check_comm comm;
    if (!check_comm_copy(call, &comm))
        return;
    const size_t n = (size_t)comm.size;
    int *world = weft_interpose_allocate(n, sizeof *world);
    memcpy(world, comm.world, n * sizeof *world);
    comm.sync = MPI_COMM_NULL; /* a duplicate would call the program's attribute callbacks */
    if (weft_next.Comm_split(comm.handle, 0, comm.rank, &comm.sync) != MPI_SUCCESS) {
        free(world);
        return;
    }
    comm.handle = handle;
    comm.world = world;
    comm.key = check_mix(origin, 0);
    comm.calls = 0;
    add(&comm);
}

void check_comms_begin(void)
{
    add_comm(MPI_COMM_WORLD, 1, false);
    add_comm(MPI_COMM_SELF, 2, false);
}

/* Members derive the same number from the call that makes a communicator: from its parent and
 * number there, or from the tag of a constructor that only the members of a group call. */
static uint64_t origin_of(const struct weft_call *call)
{
    MPI_Comm parent = weft_call_handle(call, WEFT_OBJECT_COMM);
    int tag = weft_call_find(call, WEFT_PARAMETER_TAG, 0);
    check_lock();
    const struct check_comm *comm = parent ? check_comm_find(parent) : NULL;
    uint64_t origin = !comm      ? 0
                      : tag >= 0 ? check_mix(comm->key, (uint64_t)weft_call_number(call, tag, 0))
                                 : check_mix(comm->key, ~comm->calls);
    check_unlock();
    return origin;
}

void check_comms_free(const struct weft_call *call)
{
    const struct weft_function *function = call->function;
    if (!check_has(call, CHECK_HAS_INOUT_HANDLE))
        return;
    for (int i = 0; i < function->parameters; i++) {
        if (!check_comm_is_kind(function->parameter[i].object) ||
            function->parameter[i].flow != WEFT_FLOW_INOUT)
            continue;
        MPI_Comm sync = MPI_COMM_NULL;
        check_lock();
        erase(weft_call_element(call, i, 0), &sync);
        check_unlock();
        if (sync != MPI_COMM_NULL)
            weft_next.Comm_free(&sync);
    }
}

void check_comms_end(const struct weft_call *call)
{
    const struct weft_function *function = call->function;
    if (!check_has(call, CHECK_HAS_OUT_COMM))
        return;
    for (int i = 0; i < function->parameters; i++) {
        const struct weft_parameter *parameter = &function->parameter[i];
        if (!check_comm_is_kind(parameter->object) || parameter->flow != WEFT_FLOW_OUT)
            continue;
        void *handle = weft_call_element(call, i, 0);
        uint64_t origin = weft_object_is_predefined(handle) ? 0 : origin_of(call);
        if (origin && parameter->object == WEFT_OBJECT_COMM)
            add_comm(handle, origin, weft_call_find(call, WEFT_PARAMETER_TAG, 0) >= 0);
        else if (origin)
            add_team(handle, origin, call);
    }
}
