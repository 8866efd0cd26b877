// SPDX-License-Identifier: BSD-3-Clause
/*
 * Communicators and windows: their ranks as ranks of MPI_COMM_WORLD. One is read after its first
 * call that succeeded, and gets an attribute whose delete callback removes it here when the program
 * frees it. Before a call only those that are known are looked up: the handle may not be valid, and
 * an error would be raised in the name of another function.
 *
 * A receive that is not complete may hold a communicator that the program has freed: its entry has
 * no handle then, and remains until the last of these receives has released it.
 *
 * Invariant: the handle of an entry is written last, and cleared before the entry changes, so that
 * profile_comm_known needs no lock. No other call may use an object while it is freed.
 */
#include "tools/profile/profile.h"
#include "tools/profile/routes.h"
#include "core/base/assert.h"
#include "core/base/hash.h"

#include <stdlib.h>

enum {
    COMMS = 4096,            /* a power of 2 */
    COMMS_USED = 3072,       /* at most, with freed ones inside a row; more are not known */
    RECENT = 64,             /* a power of 2 */
    WORLD_RANKS = 256 * 1024 /* of all communicators: 1 MiB */
};

static struct {
    pthread_mutex_t lock;
    int keyval, win_keyval;
    int ranks; /* of all that have a list */
    int passed_n;
    struct profile_comm world, self, at[COMMS];
    bool passed[COMMS]; /* a search goes on behind it: it is in use, or was when one was added */
    struct profile_comm *recent[RECENT]; /* entries by their handles, without the lock */
} comms = {.lock = PTHREAD_MUTEX_INITIALIZER};

static unsigned index_of(const void *handle)
{
    return (unsigned)((uintptr_t)handle * 0x9e3779b97f4a7c15U >> 32) % COMMS;
}

static bool is_free(const struct profile_comm *entry)
{
    return !entry->handle && !entry->held;
}

/* The entry of a handle; else a free one for it. Under the lock. */
static struct profile_comm *search(const void *handle)
{
    struct profile_comm *hole = NULL;
    unsigned i = index_of(handle);
    weft_assert(handle && comms.passed_n <= COMMS_USED);
    for (; comms.passed[i]; i = (i + 1) % COMMS) {
        struct profile_comm *entry = &comms.at[i];
        if (entry->handle == handle)
            return entry;
        hole = hole || !is_free(entry) ? hole : entry;
    }
    return hole ? hole : &comms.at[i];
}

/* A search ends at the last entry of a row. */
static void end_searches(unsigned i)
{
    if (comms.passed[(i + 1) % COMMS])
        return;
    for (; comms.passed[i] && is_free(&comms.at[i]); i = (i - 1) % COMMS) {
        comms.passed[i] = false;
        comms.passed_n--;
    }
}

/* Frees an entry without a handle. Under the lock. */
static void clear(struct profile_comm *entry)
{
    comms.ranks -= entry->size;
    free(entry->world);
    free(entry->neighbors);
    *entry = (struct profile_comm){0};
    end_searches((unsigned)(entry - comms.at));
}

static int forget(struct profile_comm *entry)
{
    pthread_mutex_lock(&comms.lock);
    weft_assert(entry >= comms.at && entry < comms.at + COMMS && entry->handle);
    profile_routes_forget(entry->handle);
    __atomic_store_n(&entry->handle, NULL, __ATOMIC_RELEASE);
    if (!entry->held)
        clear(entry);
    pthread_mutex_unlock(&comms.lock);
    return MPI_SUCCESS;
}

/* A predefined communicator is not freed. */
static struct profile_comm *freed_later(const struct profile_comm *comm)
{
    return comm >= comms.at && comm < comms.at + COMMS ? &comms.at[comm - comms.at] : NULL;
}

void profile_comm_hold(const struct profile_comm *comm)
{
    struct profile_comm *entry = freed_later(comm);
    if (entry)
        entry->held++;
}

void profile_comm_release(const struct profile_comm *comm)
{
    struct profile_comm *entry = freed_later(comm);
    if (!entry)
        return;
    pthread_mutex_lock(&comms.lock);
    weft_assert(entry->held > 0);
    if (--entry->held == 0 && !entry->handle)
        clear(entry);
    pthread_mutex_unlock(&comms.lock);
}

static int forget_comm(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)extra;
    return forget(value);
}

static int forget_win(MPI_Win win, int keyval, void *value, void *extra)
{
    (void)win, (void)keyval, (void)extra;
    return forget(value);
}

void profile_comms_begin(void)
{
    comms.world = (struct profile_comm){
        .handle = MPI_COMM_WORLD, .size = profile.size, .rank = profile.rank, .all = true};
    comms.self =
        (struct profile_comm){.handle = MPI_COMM_SELF, .size = 1, .all = profile.size == 1};
    comms.self.world = &profile.rank;
    comms.self.id = weft_hash_bytes(WEFT_HASH_BEGIN, &profile.rank, sizeof profile.rank);
    comms.world.id = WEFT_HASH_BEGIN;
    for (int i = 0; i < profile.size; i++)
        comms.world.id = weft_hash_bytes(comms.world.id, &i, sizeof i);
    weft_next.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_comm, &comms.keyval, NULL);
    weft_next.Win_create_keyval(MPI_WIN_NULL_COPY_FN, forget_win, &comms.win_keyval, NULL);
}

/* Ranks of a group in MPI_COMM_WORLD; the group is freed. */
static void read_ranks(struct profile_comm *entry, MPI_Group group)
{
    MPI_Group world;
    int n = entry->size, found = 0;
    int *ranks = weft_interpose_allocate((size_t)n * 2, sizeof *ranks);
    for (int i = 0; i < n; i++)
        ranks[n + i] = i;
    weft_next.Comm_group(MPI_COMM_WORLD, &world);
    weft_next.Group_translate_ranks(group, n, ranks + n, world, ranks);
    weft_next.Group_free(&group);
    weft_next.Group_free(&world);
    for (int i = 0; i < n; i++) {
        ranks[i] = ranks[i] >= 0 ? ranks[i] : -1;
        found += ranks[i] >= 0;
    }
    entry->all = !entry->inter && found == profile.size;
    entry->id =
        entry->inter ? 1 : weft_hash_bytes(WEFT_HASH_BEGIN, ranks, (size_t)n * sizeof *ranks);
    entry->world = ranks;
}

/* The ranks that neighborhood collectives send to, MPI_PROC_NULL included. */
static void read_neighbors(struct profile_comm *entry, MPI_Comm comm)
{
    int topology = MPI_UNDEFINED, n = 0, in = 0, weighted;
    weft_next.Topo_test(comm, &topology);
    if (topology == MPI_CART) {
        weft_next.Cartdim_get(comm, &n);
        n *= 2;
    } else if (topology == MPI_GRAPH) {
        weft_next.Graph_neighbors_count(comm, entry->rank, &n);
    } else if (topology == MPI_DIST_GRAPH) {
        weft_next.Dist_graph_neighbors_count(comm, &in, &n, &weighted);
    }
    int *list = n > 0 ? calloc((size_t)n + (size_t)in, sizeof *list) : NULL;
    if (!list)
        return;
    for (int i = 0; topology == MPI_CART && i < n; i += 2)
        weft_next.Cart_shift(comm, i / 2, 1, &list[i], &list[i + 1]);
    if (topology == MPI_GRAPH)
        weft_next.Graph_neighbors(comm, entry->rank, n, list);
    if (topology == MPI_DIST_GRAPH)
        weft_next.Dist_graph_neighbors(comm, in, list + n, MPI_UNWEIGHTED, n, list, MPI_UNWEIGHTED);
    entry->neighbors = list;
    entry->n_neighbors = n;
}

static void fill_comm(struct profile_comm *entry, const void *handle)
{
    MPI_Comm comm = (MPI_Comm)(uintptr_t)handle;
    MPI_Group group;
    int inter = 0;
    weft_next.Comm_test_inter(comm, &inter);
    entry->inter = inter;
    weft_next.Comm_rank(comm, &entry->rank);
    if (inter) {
        weft_next.Comm_remote_size(comm, &entry->size);
        weft_next.Comm_remote_group(comm, &group);
    } else {
        weft_next.Comm_size(comm, &entry->size);
        weft_next.Comm_group(comm, &group);
        read_neighbors(entry, comm);
    }
    read_ranks(entry, group);
}

static void fill_win(struct profile_comm *entry, const void *handle)
{
    MPI_Group group;
    weft_next.Win_get_group((MPI_Win)(uintptr_t)handle, &group);
    weft_next.Group_size(group, &entry->size);
    weft_next.Group_rank(group, &entry->rank);
    read_ranks(entry, group);
}

static void drop_lists(struct profile_comm *entry)
{
    free(entry->world);
    free(entry->neighbors);
    entry->world = entry->neighbors = NULL;
    entry->size = entry->n_neighbors = 0;
    entry->all = false;
}

/* Adds an entry, unless another thread did. If there are too many ranks, it has none. */
static struct profile_comm *add(const struct profile_comm *made, const void *handle, bool *added)
{
    struct profile_comm copy = *made;
    pthread_mutex_lock(&comms.lock);
    struct profile_comm *entry = search(handle);
    *added = !entry->handle && comms.passed_n < COMMS_USED;
    if (*added && copy.size > WORLD_RANKS - comms.ranks)
        drop_lists(&copy);
    if (*added) {
        unsigned i = (unsigned)(entry - comms.at);
        comms.passed_n += !comms.passed[i];
        comms.passed[i] = true;
        comms.ranks += copy.size;
        *entry = copy;
        __atomic_store_n(&entry->handle, handle, __ATOMIC_RELEASE);
    }
    weft_assert(comms.ranks >= 0 && comms.ranks <= WORLD_RANKS);
    entry = entry->handle ? entry : NULL;
    pthread_mutex_unlock(&comms.lock);
    if (!*added)
        drop_lists(&copy);
    return entry;
}

static struct profile_comm *find_recent(const void *handle)
{
    struct profile_comm *entry =
        __atomic_load_n(&comms.recent[index_of(handle) % RECENT], __ATOMIC_RELAXED);
    return entry && __atomic_load_n(&entry->handle, __ATOMIC_ACQUIRE) == handle ? entry : NULL;
}

/* NULL: it is not known. is_full: and cannot be added. */
static struct profile_comm *find(const void *handle, bool *is_full)
{
    struct profile_comm *entry = find_recent(handle);
    *is_full = false;
    if (entry)
        return entry;
    pthread_mutex_lock(&comms.lock);
    entry = search(handle);
    entry = entry->handle ? entry : NULL;
    *is_full = comms.passed_n == COMMS_USED;
    pthread_mutex_unlock(&comms.lock);
    if (entry)
        __atomic_store_n(&comms.recent[index_of(handle) % RECENT], entry, __ATOMIC_RELAXED);
    return entry;
}

/* Without the list of ranks it is of no use. */
static const struct profile_comm *usable(const struct profile_comm *entry)
{
    return entry && entry->size ? entry : NULL;
}

static const struct profile_comm *predefined(MPI_Comm handle)
{
    return handle == MPI_COMM_WORLD ? &comms.world : handle == MPI_COMM_SELF ? &comms.self : NULL;
}

const struct profile_comm *profile_comm_known(MPI_Comm handle)
{
    bool is_full;
    if (weft_object_is_predefined((const void *)handle))
        return predefined(handle);
    return usable(find(handle, &is_full));
}

/* Finds an object, and reads one that is not known yet; mark sets the attribute that ends its
 * entry. */
static const struct profile_comm *
look_up(const void *handle, void (*fill)(struct profile_comm *entry, const void *handle),
        int (*mark)(const void *handle, struct profile_comm *entry))
{
    struct profile_comm made = {0};
    bool is_full, added;
    struct profile_comm *entry = find(handle, &is_full);
    if (entry || is_full)
        return usable(entry);
    fill(&made, handle);
    entry = add(&made, handle, &added);
    if (added && mark(handle, entry)) {
        forget(entry);
        return NULL;
    }
    return usable(entry);
}

static int mark_comm(const void *handle, struct profile_comm *entry)
{
    return weft_next.Comm_set_attr((MPI_Comm)(uintptr_t)handle, comms.keyval, entry);
}

static int mark_win(const void *handle, struct profile_comm *entry)
{
    return weft_next.Win_set_attr((MPI_Win)(uintptr_t)handle, comms.win_keyval, entry);
}

const struct profile_comm *profile_comm_of(MPI_Comm handle)
{
    return weft_object_is_predefined((const void *)handle) ? predefined(handle)
                                                           : look_up(handle, fill_comm, mark_comm);
}

const struct profile_comm *profile_comm_of_win(MPI_Win handle)
{
    return look_up(handle, fill_win, mark_win);
}
