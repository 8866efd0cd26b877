// SPDX-License-Identifier: BSD-3-Clause
/*
 * Communicators and windows: their ranks as ranks of MPI_COMM_WORLD. One is looked up at its first
 * message or access, and gets an attribute whose delete callback removes it here when the program
 * frees it.
 */
#include "tools/profile/profile.h"
#include "core/base/assert.h"
#include "core/base/hash.h"

#include <stdlib.h>

enum {
    COMMS = 256,             /* a power of 2; more are not known */
    WORLD_RANKS = 256 * 1024 /* of all communicators: 1 MiB */
};

static struct {
    pthread_mutex_t lock;
    int keyval, win_keyval;
    int ranks; /* of all that have a list */
    struct profile_comm world, self, at[COMMS];
    bool used[COMMS]; /* the handle is known, or was not usable */
} comms = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int forget(struct profile_comm *entry)
{
    pthread_mutex_lock(&comms.lock);
    comms.ranks -= entry->world ? entry->size : 0;
    free(entry->world);
    free(entry->neighbors);
    *entry = (struct profile_comm){0};
    pthread_mutex_unlock(&comms.lock);
    return MPI_SUCCESS;
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

/* Ranks of a group in MPI_COMM_WORLD; the group is freed. False: no memory. */
static bool read_ranks(struct profile_comm *entry, MPI_Group group)
{
    MPI_Group world;
    int n = entry->size, found = 0;
    int *ranks = n <= WORLD_RANKS - comms.ranks ? calloc((size_t)n * 2 + 1, sizeof *ranks) : NULL;
    for (int i = 0; ranks && i < n; i++)
        ranks[n + i] = i;
    weft_next.Comm_group(MPI_COMM_WORLD, &world);
    if (ranks)
        weft_next.Group_translate_ranks(group, n, ranks + n, world, ranks);
    weft_next.Group_free(&group);
    weft_next.Group_free(&world);
    if (!ranks)
        return false;
    for (int i = 0; i < n; i++) {
        ranks[i] = ranks[i] >= 0 ? ranks[i] : -1;
        found += ranks[i] >= 0;
    }
    entry->all = !entry->inter && found == profile.size;
    entry->id =
        entry->inter ? 1 : weft_hash_bytes(WEFT_HASH_BEGIN, ranks, (size_t)n * sizeof *ranks);
    entry->world = ranks;
    comms.ranks += n;
    return true;
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

static bool fill_comm(struct profile_comm *entry, const void *handle)
{
    MPI_Comm comm = (MPI_Comm)(uintptr_t)handle;
    MPI_Group group;
    int inter = 0;
    if (weft_next.Comm_test_inter(comm, &inter))
        return false;
    entry->inter = inter;
    weft_next.Comm_rank(comm, &entry->rank);
    int failed = inter ? weft_next.Comm_remote_size(comm, &entry->size)
                       : weft_next.Comm_size(comm, &entry->size);
    if (!failed)
        failed =
            inter ? weft_next.Comm_remote_group(comm, &group) : weft_next.Comm_group(comm, &group);
    if (failed || !read_ranks(entry, group))
        return false;
    if (!inter)
        read_neighbors(entry, comm);
    return weft_next.Comm_set_attr(comm, comms.keyval, entry) == MPI_SUCCESS;
}

static bool fill_win(struct profile_comm *entry, const void *handle)
{
    MPI_Win win = (MPI_Win)(uintptr_t)handle;
    MPI_Group group;
    if (weft_next.Win_get_group(win, &group))
        return false;
    weft_next.Group_size(group, &entry->size);
    weft_next.Group_rank(group, &entry->rank);
    return read_ranks(entry, group) &&
           weft_next.Win_set_attr(win, comms.win_keyval, entry) == MPI_SUCCESS;
}

static const struct profile_comm *find(const void *handle,
                                       bool (*fill)(struct profile_comm *entry, const void *handle))
{
    const struct profile_comm *found = NULL;
    unsigned first = (unsigned)(((uintptr_t)handle * 0x9e3779b97f4a7c15U) >> 32);
    pthread_mutex_lock(&comms.lock);
    struct profile_comm *hole = NULL;
    for (unsigned i = 0; i < COMMS && !found; i++) {
        struct profile_comm *entry = &comms.at[(first + i) % COMMS];
        if (entry->handle == handle)
            found = entry;
        else if (!entry->handle && !hole)
            hole = entry;
        if (!entry->handle && !comms.used[(first + i) % COMMS])
            break;
    }
    if (!found && hole) {
        comms.used[hole - comms.at] = true;
        *hole = (struct profile_comm){.handle = handle};
        if (fill(hole, handle)) {
            found = hole;
        } else {
            comms.ranks -= hole->world ? hole->size : 0;
            free(hole->world);
            free(hole->neighbors);
            *hole = (struct profile_comm){0};
        }
    }
    weft_assert((!found || (found->handle == handle && found->world)) &&
                comms.ranks <= WORLD_RANKS);
    pthread_mutex_unlock(&comms.lock);
    return found;
}

const struct profile_comm *profile_comm_of(MPI_Comm handle)
{
    if (handle == MPI_COMM_WORLD)
        return &comms.world;
    if (handle == MPI_COMM_SELF)
        return &comms.self;
    if (weft_object_is_predefined((const void *)handle))
        return NULL; /* MPI_COMM_NULL: the error is that of the call */
    return find(handle, fill_comm);
}

const struct profile_comm *profile_comm_of_win(MPI_Win handle)
{
    return find(handle, fill_win);
}
