// SPDX-License-Identifier: BSD-3-Clause
/*
 * Groups: see group.h.
 *
 * Invariant: operations on two groups take time in proportion to their sizes and to the job's: they
 * go through a table by world rank (struct places), never through one group for each member of the
 * other.
 */
#include "core/comm/group.h"
#include "core/process/nodes.h"
#include "core/object/error.h"
#include "core/pt2pt/peer.h"
#include "core/comm/session.h"
#include "core/process/weft.h"

#include <stdlib.h>
#include <string.h>

struct weft_group weft_group_empty = {
    .object = {WEFT_KIND_GROUP, 0}, .refs = 1, .size = 0, .rank = MPI_UNDEFINED};

void weft_group_init(void)
{
    weft_handle_predefine((uintptr_t)MPI_GROUP_EMPTY, &weft_group_empty.object);
}

/* One with room for so many ranks in its table. */
static struct weft_group *make(int size, size_t room)
{
    struct weft_group *group = malloc(sizeof *group + room * sizeof group->table[0]);
    if (!group) {
        weft_error_set(MPI_ERR_NO_MEM, "no memory for a group of %d processes", size);
        return NULL;
    }
    memset(group, 0, sizeof *group);
    group->object.kind = WEFT_KIND_GROUP;
    group->refs = 1;
    group->size = size;
    group->rank = MPI_UNDEFINED;
    return group;
}

struct weft_group *weft_group_make(int size)
{
    return make(size, (size_t)size);
}

static struct weft_group *find_own_rank(struct weft_group *group)
{
    int rank = weft_group_rank_of(group, weft.job.rank);
    group->rank = rank < 0 ? MPI_UNDEFINED : rank;
    return group;
}

struct weft_group *weft_group_run(int size, int first, int stride)
{
    struct weft_group *group = make(size, 0);
    if (!group)
        return NULL;
    group->first = first;
    group->stride = stride;
    return find_own_rank(group);
}

/* The stride of the table's ranks, 0 if they have none. */
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
    group->refs++;
    return group;
}

void weft_group_release(struct weft_group *group)
{
    if (--group->refs > 0 || group == &weft_group_empty)
        return;
    if (!group->shares_peers)
        free(group->peers);
    weft_nodes_forget(group->nodes);
    weft_session_release(group->session);
    weft_handle_retire(&group->object);
    free(group);
}

static bool is_world(const struct weft_group *group)
{
    return group->size == weft.job.size && group->first == 0 && group->stride == 1;
}

bool weft_group_open_peers(struct weft_group *group)
{
    if (group->peers || group->size == 0)
        return true;
    if (is_world(group)) {
        group->peers = weft.peers;
        group->shares_peers = true;
        return true;
    }
    group->peers = malloc((size_t)group->size * sizeof(struct weft_peer *));
    if (!group->peers) {
        weft_error_set(MPI_ERR_NO_MEM, "no memory for a table of %d peers", group->size);
        return false;
    }
    for (int i = 0; i < group->size; i++)
        group->peers[i] = weft.peers[weft_group_world(group, i)];
    return true;
}

int weft_group_rank_of(const struct weft_group *group, int world)
{
    if (group->stride) {
        int64_t far = (int64_t)world - group->first, rank = far / group->stride;
        return far % group->stride == 0 && rank >= 0 && rank < group->size ? (int)rank : -1;
    }
    for (int rank = 0; rank < group->size; rank++)
        if (group->table[rank] == world)
            return rank;
    return -1;
}

/* The rank in a group of every process of the job, -1 for the others; to be freed. NULL when memory
 * is short, the sentence said. */
static int32_t *places(const struct weft_group *group)
{
    size_t job = (size_t)weft.job.size;
    int32_t *place = malloc((job ? job : 1) * sizeof *place);
    if (!place) {
        weft_error_set(MPI_ERR_NO_MEM, "no memory to compare groups of a job of %zu processes",
                       job);
        return NULL;
    }
    memset(place, 0xff, job * sizeof *place);
    for (int i = 0; i < group->size; i++)
        place[weft_group_world(group, i)] = i;
    return place;
}

int weft_group_translate(const struct weft_group *from, int n, const int *ranks,
                         const struct weft_group *to, int *out)
{
    int32_t *place = places(to);
    if (!place)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < n; i++) {
        int at =
            ranks[i] == MPI_PROC_NULL ? MPI_PROC_NULL : place[weft_group_world(from, ranks[i])];
        out[i] = at == -1 ? MPI_UNDEFINED : at;
    }
    free(place);
    return MPI_SUCCESS;
}

/* Of two groups of the same size. */
static bool identical(const struct weft_group *a, const struct weft_group *b)
{
    if (a->stride || b->stride)
        return a->first == b->first && a->stride == b->stride;
    return !memcmp(a->table, b->table, (size_t)a->size * sizeof a->table[0]);
}

int weft_group_compare(const struct weft_group *a, const struct weft_group *b)
{
    if (a->size != b->size)
        return MPI_UNEQUAL;
    if (a == b || identical(a, b))
        return MPI_IDENT;
    int32_t *place = places(a);
    if (!place)
        return -1;
    int result = MPI_SIMILAR;
    for (int i = 0; i < b->size; i++)
        if (place[weft_group_world(b, i)] < 0)
            result = MPI_UNEQUAL;
    free(place);
    return result;
}

/* Appends to a group the members of another whose place in a third is known, or is not. */
static void append(struct weft_group *to, const struct weft_group *from, const int32_t *place,
                   bool known)
{
    for (int i = 0; i < from->size; i++) {
        int world = weft_group_world(from, i);
        if ((place[world] >= 0) == known)
            to->table[to->size++] = world;
    }
}

struct weft_group *weft_group_combine(enum weft_group_operation operation, struct weft_group *a,
                                      struct weft_group *b)
{
    bool both = operation == WEFT_GROUP_UNION;
    int32_t *place = places(both ? a : b);
    struct weft_group *result = place ? weft_group_make(a->size + (both ? b->size : 0)) : NULL;
    if (!result) {
        free(place);
        return NULL;
    }
    result->size = 0;
    if (both) {
        append(result, a, place, true);
        append(result, b, place, false);
    } else {
        append(result, a, place, operation == WEFT_GROUP_INTERSECTION);
    }
    result->session = weft_session_keep(a->session ? a->session : b->session);
    free(place);
    return weft_group_seal(result);
}

struct weft_group *weft_group_include(const struct weft_group *group, int n, const int *ranks)
{
    struct weft_group *result = weft_group_make(n);
    if (!result)
        return NULL;
    for (int i = 0; i < n; i++)
        result->table[i] = weft_group_world(group, ranks[i]);
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
