// SPDX-License-Identifier: BSD-3-Clause
/*
 * Communicators: their ranks as ranks of MPI_COMM_WORLD. A communicator is looked up at its first
 * message, and gets an attribute whose delete callback removes it here when the program frees it.
 */
#include "tools/profile/profile.h"
#include "core/base/hash.h"

#include <stdlib.h>

enum {
    COMMS = 256,             /* a power of 2; more are not known */
    WORLD_RANKS = 256 * 1024 /* of all communicators: 1 MiB */
};

static struct {
    pthread_mutex_t lock;
    int keyval;
    int ranks; /* of all that have a list */
    struct profile_comm world, self, at[COMMS];
    bool used[COMMS]; /* the handle is known, or was not usable */
} comms = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int forget(MPI_Comm comm, int keyval, void *value, void *extra)
{
    struct profile_comm *entry = value;
    (void)comm, (void)keyval, (void)extra;
    pthread_mutex_lock(&comms.lock);
    comms.ranks -= entry->world ? entry->size : 0;
    free(entry->world);
    *entry = (struct profile_comm){0};
    pthread_mutex_unlock(&comms.lock);
    return MPI_SUCCESS;
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
    weft_next.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &comms.keyval, NULL);
}

/* Ranks of a communicator (of its remote group) in MPI_COMM_WORLD; false: no memory. */
static bool read_ranks(struct profile_comm *entry)
{
    MPI_Group world, group;
    int n = entry->size, found = 0, *ranks = calloc((size_t)n * 2 + 1, sizeof *ranks);
    if (!ranks)
        return false;
    for (int i = 0; i < n; i++)
        ranks[n + i] = i;
    weft_next.Comm_group(MPI_COMM_WORLD, &world);
    if (entry->inter)
        weft_next.Comm_remote_group(entry->handle, &group);
    else
        weft_next.Comm_group(entry->handle, &group);
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
    comms.ranks += n;
    return true;
}

static bool fill(struct profile_comm *entry, MPI_Comm handle)
{
    int inter = 0;
    *entry = (struct profile_comm){.handle = handle};
    weft_next.Comm_test_inter(handle, &inter);
    entry->inter = inter;
    weft_next.Comm_rank(handle, &entry->rank);
    if (inter)
        weft_next.Comm_remote_size(handle, &entry->size);
    else
        weft_next.Comm_size(handle, &entry->size);
    if (entry->size > WORLD_RANKS - comms.ranks || !read_ranks(entry) ||
        weft_next.Comm_set_attr(handle, comms.keyval, entry)) {
        *entry = (struct profile_comm){0};
        return false;
    }
    return true;
}

const struct profile_comm *profile_comm_of(MPI_Comm handle)
{
    if (handle == MPI_COMM_WORLD)
        return &comms.world;
    if (handle == MPI_COMM_SELF)
        return &comms.self;
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
        found = fill(hole, handle) ? hole : NULL;
    }
    pthread_mutex_unlock(&comms.lock);
    return found;
}
