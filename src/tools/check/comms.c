// SPDX-License-Identifier: BSD-3-Clause
/*
 * Keys of communicators: see comms.h.
 */
#include "tools/check/comms.h"

#include <stdlib.h>

static struct {
    struct check_comm *list;
    int n, capacity;
} comms;

static uint64_t mix(uint64_t a, uint64_t b)
{
    a = (a ^ b) * UINT64_C(0xff51afd7ed558ccd);
    return a ^ a >> 32;
}

struct check_comm *check_comm_find(MPI_Comm handle)
{
    for (int i = 0; i < comms.n; i++)
        if (comms.list[i].handle == handle && handle != MPI_COMM_NULL)
            return &comms.list[i];
    return NULL;
}

struct check_comm *check_comm_find_key(uint64_t key)
{
    for (int i = 0; i < comms.n; i++)
        if (comms.list[i].key == key && comms.list[i].handle != MPI_COMM_NULL)
            return &comms.list[i];
    return NULL;
}

bool check_comm_copy(const struct weft_call *call, struct check_comm *copy)
{
    MPI_Comm handle = weft_call_handle(call, WEFT_OBJECT_COMM);
    check_lock();
    const struct check_comm *comm = handle ? check_comm_find(handle) : NULL;
    if (comm)
        *copy = *comm;
    check_unlock();
    return comm != NULL;
}

static void insert(const struct check_comm *comm)
{
    int at = 0;
    while (at < comms.n && comms.list[at].handle != MPI_COMM_NULL)
        at++;
    if (at == comms.capacity)
        comms.list = check_enlarge(comms.list, comms.n, &comms.capacity, sizeof *comms.list);
    comms.n = at == comms.n ? at + 1 : comms.n;
    comms.list[at] = *comm;
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
    int *ranks = check_allocate((size_t)comm->size, sizeof *ranks),
        *in_world = check_allocate((size_t)comm->size, sizeof *in_world);
    for (int i = 0; i < comm->size; i++)
        ranks[i] = i;
    weft_next.Group_translate_ranks(group, comm->size, ranks, world, in_world);
    weft_next.Group_free(&group);
    weft_next.Group_free(&world);
    bool is_known = true;
    comm->leader = in_world[0];
    comm->key = parent;
    for (int i = 0; i < comm->size; i++) {
        comm->key = mix(comm->key, (uint64_t)in_world[i]);
        is_known &= in_world[i] != MPI_UNDEFINED;
    }
    free(ranks);
    comm->world = in_world;
    return is_known;
}

static void add(MPI_Comm handle, uint64_t parent)
{
    struct check_comm comm = {.handle = handle};
    if (!describe(&comm, parent)) {
        free(comm.world);
        return;
    }
    check_lock();
    for (int i = 0; i < comms.n; i++) /* of the same members, tag and parent: count them */
        if (comms.list[i].key == comm.key) {
            comm.key = mix(comm.key, 1);
            i = -1;
        }
    insert(&comm);
    check_unlock();
}

void check_comms_begin(void)
{
    add(MPI_COMM_WORLD, 1);
    add(MPI_COMM_SELF, 2);
}

/* Members derive the same number from the call that makes a communicator: from its parent and
 * number there, or from the tag of a constructor that only the members of a group call. */
static uint64_t origin_of(const struct weft_call *call)
{
    MPI_Comm parent = weft_call_handle(call, WEFT_OBJECT_COMM);
    int tag = weft_call_find(call, WEFT_KIND_TAG, 0);
    check_lock();
    const struct check_comm *comm = parent ? check_comm_find(parent) : NULL;
    uint64_t origin = !comm      ? 0
                      : tag >= 0 ? mix(comm->key, (uint64_t)weft_call_number(call, tag, 0))
                                 : mix(comm->key, ~comm->calls);
    check_unlock();
    return origin;
}

void check_comms_free(const struct weft_call *call)
{
    const struct weft_function *function = call->function;
    for (int i = 0; i < function->parameters; i++) {
        if (function->parameter[i].object != WEFT_OBJECT_COMM ||
            function->parameter[i].flow != WEFT_FLOW_INOUT)
            continue;
        check_lock();
        struct check_comm *comm = check_comm_find(weft_call_element(call, i, 0));
        if (comm) {
            free(comm->world);
            *comm = (struct check_comm){.handle = MPI_COMM_NULL};
        }
        check_unlock();
    }
}

void check_comms_end(const struct weft_call *call)
{
    const struct weft_function *function = call->function;
    for (int i = 0; i < function->parameters; i++) {
        if (function->parameter[i].object != WEFT_OBJECT_COMM ||
            function->parameter[i].flow != WEFT_FLOW_OUT)
            continue;
        MPI_Comm handle = weft_call_element(call, i, 0);
        uint64_t origin = weft_object_is_predefined(handle) ? 0 : origin_of(call);
        if (origin)
            add(handle, origin);
    }
}
