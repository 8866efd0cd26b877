// SPDX-License-Identifier: BSD-3-Clause
/*
 * Groups: see group.h.
 *
 * Invariant: an operation on two groups is linear in their sizes and in the number of processes
 * that this one has met, because it uses a table by world rank (ranks_by_world).
 */
#include "core/comm/group.h"
#include "core/comm/nodes.h"
#include "core/base/error.h"
#include "core/message/peer.h"
#include "core/comm/session.h"
#include "core/message/foreign.h"
#include "core/message/process.h"

#include <stdlib.h>
#include <string.h>

struct weft_group weft_group_empty = {
    .object = {WEFT_KIND_GROUP, 0}, .refs = 1, .size = 0, .rank = MPI_UNDEFINED};

__attribute__((constructor)) static void predefine(void)
{
    weft_handle_predefine((uintptr_t)MPI_GROUP_EMPTY, &weft_group_empty.object);
}

static struct weft_group *allocate(int size, size_t table_size)
{
    struct weft_group *group = malloc(sizeof *group + table_size * sizeof group->table[0]);
    if (!group) {
        weft_error_set(MPI_ERR_NO_MEM, "no memory for a group of %d processes", size);
        return NULL;
    }
    *group = (struct weft_group){
        .object.kind = WEFT_KIND_GROUP, .refs = 1, .size = size, .rank = MPI_UNDEFINED};
    return group;
}

struct weft_group *weft_group_make(int size)
{
    return allocate(size, (size_t)size);
}

bool weft_group_are_ranks(const int32_t *ranks, int n, int size)
{
    bool *seen = calloc((size_t)size, sizeof *seen), good = seen;
    for (int i = 0; i < n && good; i++) {
        good = ranks[i] >= 0 && ranks[i] < size && !seen[ranks[i]];
        if (good)
            seen[ranks[i]] = true;
    }
    free(seen);
    return good;
}

/* The group refers to the processes of other jobs that it contains, or does not any more. */
static void refer_foreign(const struct weft_group *group, int by)
{
    for (int i = 0; i < group->size; i++)
        if (weft_is_foreign(weft_group_world(group, i)))
            weft_foreign_refer(weft_group_world(group, i), by);
}

static struct weft_group *find_own_rank(struct weft_group *group)
{
    if (weft_unlikely(weft_foreign_count > 0)) {
        for (int i = 0; i < group->size; i++)
            group->foreign |= weft_is_foreign(weft_group_world(group, i));
        refer_foreign(group, 1);
    }
    int rank = weft_group_rank_of(group, weft.job.rank);
    group->rank = rank < 0 ? MPI_UNDEFINED : rank;
    return group;
}

struct weft_group *weft_group_run(int size, int first, int stride)
{
    struct weft_group *group = allocate(size, 0);
    if (!group)
        return NULL;
    group->first = first;
    group->stride = stride;
    return find_own_rank(group);
}

/* The constant stride of the table's ranks, or 0. */
static int32_t stride_of(const struct weft_group *group)
{
    const int32_t *table = group->table;
    int32_t stride = group->size > 1 ? table[1] - table[0] : 1;
    for (int i = 2; i < group->size; i++)
        if (table[i] - table[i - 1] != stride)
            return 0;
    return stride;
}

struct weft_group *weft_group_seal(struct weft_group *group)
{
    weft_assert(group->refs == 1 && !group->stride);
    if (group->size == 0) {
        weft_session_release(group->session);
        free(group);
        return weft_group_keep(&weft_group_empty);
    }
    int32_t stride = stride_of(group);
    if (stride) {
        group->first = group->table[0];
        group->stride = stride;
        struct weft_group *smaller = realloc(group, sizeof *group);
        if (smaller)
            group = smaller;
    }
    return find_own_rank(group);
}

void weft_group_list(const struct weft_group *group, int32_t *world)
{
    for (int i = 0; i < group->size; i++)
        world[i] = weft_group_world(group, i);
}

struct weft_group *weft_group_keep(struct weft_group *group)
{
    weft_assert(group->refs > 0);
    if (group != &weft_group_empty) /* which a program may free as often as it likes */
        group->refs++;
    return group;
}

void weft_group_release(struct weft_group *group)
{
    weft_assert(!group || group->refs > 0);
    if (!group || group == &weft_group_empty || --group->refs > 0)
        return;
    if (weft_unlikely(group->foreign))
        refer_foreign(group, -1);
    for (unsigned vci_number = 0; vci_number < WEFT_LOCKS_MAX && !group->shares_peers; vci_number++)
        free(group->peers[vci_number]);
    weft_nodes_forget(group->nodes);
    weft_session_release(group->session);
    weft_handle_retire(&group->object);
    free(group);
}

static bool is_world(const struct weft_group *group)
{
    return group->size == weft.job.size && group->first == 0 && group->stride == 1;
}

struct weft_peer **weft_group_open_peers(struct weft_group *group, unsigned vci_number)
{
    weft_assert(vci_number < WEFT_LOCKS_MAX);
    struct weft_peer **peers = group->peers[vci_number];
    if (peers)
        return peers;
    if (weft_peers_open(vci_number) && is_world(group)) {
        group->shares_peers = true;
        return group->peers[vci_number] = weft.peers[vci_number];
    }
    if (weft.peers[vci_number])
        peers = malloc((size_t)(group->size ? group->size : 1) * sizeof *peers);
    if (!peers) {
        weft_error_set(MPI_ERR_NO_MEM, "no memory for a table of %d peers", group->size);
        return NULL;
    }
    for (int i = 0; i < group->size; i++) {
        struct weft_peer *peer = weft_peer_find(vci_number, weft_group_world(group, i));
        peers[i] = peer ? peer : &weft_peer_unknown;
    }
    return group->peers[vci_number] = peers;
}

int weft_group_rank_of(const struct weft_group *group, int world)
{
    if (group->stride) {
        int64_t offset = (int64_t)world - group->first, rank = offset / group->stride;
        return offset % group->stride == 0 && rank >= 0 && rank < group->size ? (int)rank : -1;
    }
    for (int rank = 0; rank < group->size; rank++)
        if (group->table[rank] == world)
            return rank;
    return -1;
}

/* A table, for the caller to free: the rank in a group of each world rank, or -1. NULL without
 * memory. */
static int32_t *ranks_by_world(const struct weft_group *group)
{
    size_t job = (size_t)weft.job.size + (size_t)weft_foreign_count;
    int32_t *rank = malloc((job ? job : 1) * sizeof *rank);
    if (!rank) {
        weft_error_set(MPI_ERR_NO_MEM, "no memory to compare groups of a job of %zu processes",
                       job);
        return NULL;
    }
    memset(rank, 0xff, job * sizeof *rank);
    for (int i = 0; i < group->size; i++)
        rank[weft_group_world(group, i)] = i;
    return rank;
}

int weft_group_translate(const struct weft_group *from, int n, const int *ranks,
                         const struct weft_group *to, int *out)
{
    int32_t *rank_in_to = ranks_by_world(to);
    if (!rank_in_to)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < n; i++) {
        int rank = ranks ? ranks[i] : i;
        if (rank != MPI_PROC_NULL) {
            rank = rank_in_to[weft_group_world(from, rank)];
            rank = rank < 0 ? MPI_UNDEFINED : rank;
        }
        out[i] = rank;
    }
    free(rank_in_to);
    return MPI_SUCCESS;
}

/* The groups have the same size. */
static bool identical(const struct weft_group *a, const struct weft_group *b)
{
    if (a->stride || b->stride)
        return a->first == b->first && a->stride == b->stride;
    return !memcmp(a->table, b->table, (size_t)a->size * sizeof a->table[0]);
}

int weft_group_compare(const struct weft_group *a, const struct weft_group *b, int *result)
{
    if (a->size != b->size || a == b || identical(a, b)) {
        *result = a->size != b->size ? MPI_UNEQUAL : MPI_IDENT;
        return MPI_SUCCESS;
    }
    int32_t *rank_in_a = ranks_by_world(a);
    if (!rank_in_a)
        return MPI_ERR_NO_MEM;
    *result = MPI_SIMILAR;
    for (int i = 0; i < b->size; i++)
        if (rank_in_a[weft_group_world(b, i)] < 0)
            *result = MPI_UNEQUAL;
    free(rank_in_a);
    return MPI_SUCCESS;
}

/* Appends to `to` the members of `from` that are, or are not, in the group of `ranks` (made by
 * ranks_by_world). */
static void append_ranks(struct weft_group *to, const struct weft_group *from, const int32_t *ranks,
                         bool members)
{
    for (int i = 0; i < from->size; i++) {
        int world = weft_group_world(from, i);
        if ((ranks[world] >= 0) == members)
            to->table[to->size++] = world;
    }
}

struct weft_group *weft_group_combine(enum weft_group_operation operation,
                                      const struct weft_group *a, const struct weft_group *b)
{
    bool both = operation == WEFT_GROUP_UNION;
    int32_t *ranks = ranks_by_world(both ? a : b);
    struct weft_group *result = ranks ? weft_group_make(a->size + (both ? b->size : 0)) : NULL;
    if (result) {
        result->size = 0;
        append_ranks(result, a, ranks, operation != WEFT_GROUP_DIFFERENCE);
        if (both)
            append_ranks(result, b, ranks, false);
        result->session = weft_session_keep(a->session ? a->session : b->session);
        result = weft_group_seal(result);
    }
    free(ranks);
    return result;
}

struct weft_group *weft_group_include(const struct weft_group *group, int n, const int *ranks)
{
    struct weft_group *result = weft_group_make(n);
    if (!result)
        return NULL;
    for (int i = 0; i < n; i++)
        result->table[i] = weft_group_world(group, ranks ? ranks[i] : i);
    result->session = weft_session_keep(group->session);
    return weft_group_seal(result);
}

struct weft_group *weft_group_exclude(const struct weft_group *group, const bool *leave_out)
{
    struct weft_group *result = weft_group_make(group->size);
    if (!result)
        return NULL;
    result->size = 0;
    for (int i = 0; i < group->size; i++)
        if (!leave_out[i])
            result->table[result->size++] = weft_group_world(group, i);
    result->session = weft_session_keep(group->session);
    return weft_group_seal(result);
}
