// SPDX-License-Identifier: BSD-3-Clause
/*
 * Groups: ordered sets of processes, each named by its rank in the job (its world rank).
 *
 * Most groups are runs: every process of the job, each second one, one half, one alone. A run needs
 * no table, and says at once who is in it. Everybody else asks weft_group_world.
 *
 * Invariants:
 *  - A group never changes after it is made; whoever keeps one holds a reference.
 *  - A group has no world rank twice. rank is this process's place in it, or MPI_UNDEFINED.
 *  - A sealed group has a stride if and only if it is a run; only others have table[]. So two sealed
 *    groups are identical only if both are runs, or neither is.
 *  - peers, once made, is shared by all communicators over the group: peers[i] is the peer of rank
 *    i, or weft_peer_unknown until first contact through one of them.
 */
#ifndef WEFT_GROUP_H
#define WEFT_GROUP_H

#include "core/object/handle.h"
#include "core/process/lock.h"
#include "mpi.h"

#include <stdbool.h>

struct weft_nodes;
struct weft_peer;
struct weft_session;

struct weft_group {
    struct weft_object object;
    int refs;
    int size, rank;
    struct weft_peer **peers[WEFT_LOCKS_MAX]; /* by deal; NULL until a communicator needs it */
    bool shares_peers;                        /* peers belong to the process */
    struct weft_nodes *nodes;     /* core/process/nodes.h; NULL until a collective asks */
    struct weft_session *session; /* whose process sets it was made from; one reference, or NULL */
    int32_t first, stride; /* of a run: rank i is the world rank first + stride * i; else 0 */
    int32_t table[];       /* else: the world ranks; in a run nothing */
};

/* MPI_GROUP_EMPTY; never freed. */
extern struct weft_group weft_group_empty;

/* Makes MPI_GROUP_EMPTY valid. Called once. */
void weft_group_init(void);

/* A group with room for size ranks, which the caller writes to table[] before anybody else sees it,
 * and then calls weft_group_seal. One reference. NULL when memory is short, the sentence said. */
struct weft_group *weft_group_make(int size);

/* Finds this process's rank in a group whose table[] is written, and returns the group, which may
 * have moved, without its table if it is a run; frees an empty one and returns weft_group_empty. */
struct weft_group *weft_group_seal(struct weft_group *group);

/* The run first, first + stride, … of size ranks, sealed; size > 0, stride is not 0. NULL when
 * memory is short, the sentence said. */
struct weft_group *weft_group_run(int size, int first, int stride);

/* The world rank of a rank of a sealed group. */
static inline int weft_group_world(const struct weft_group *group, int rank)
{
    return group->stride ? group->first + group->stride * rank : group->table[rank];
}

/* The world ranks of a sealed group, in order. */
void weft_group_list(const struct weft_group *group, int32_t *world);

/* One more reference; returns the group. */
struct weft_group *weft_group_keep(struct weft_group *group);
void weft_group_release(struct weft_group *group);

/* The table of peers of a group in a deal (core/pt2pt/vci.h). NULL when memory is short, the sentence
 * said. */
struct weft_peer **weft_group_open_peers(struct weft_group *group, unsigned deal);

/* The rank in a sealed group of a world rank, or -1. Looks at all of them if it is no run. */
int weft_group_rank_of(const struct weft_group *group, int world);

/* For each of n ranks in `from` (MPI_PROC_NULL stays), its rank in `to`, or MPI_UNDEFINED. Returns
 * MPI_SUCCESS, or MPI_ERR_NO_MEM with its sentence said. */
int weft_group_translate(const struct weft_group *from, int n, const int *ranks,
                         const struct weft_group *to, int *out);

/* MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL, or -1 when memory is short, the sentence said. */
int weft_group_compare(const struct weft_group *a, const struct weft_group *b);

enum weft_group_operation { WEFT_GROUP_UNION, WEFT_GROUP_INTERSECTION, WEFT_GROUP_DIFFERENCE };

/* The members of `a`, then (union) those of `b` that are not in `a`; or those of `a` that are (not)
 * in `b`. A new reference; NULL when memory is short, the sentence said. */
struct weft_group *weft_group_combine(enum weft_group_operation operation, struct weft_group *a,
                                      struct weft_group *b);

/* The n members with these ranks, which are valid and different from one another. */
struct weft_group *weft_group_include(const struct weft_group *group, int n, const int *ranks);

/* All members for which leave_out[rank] is false. */
struct weft_group *weft_group_exclude(const struct weft_group *group, const bool *leave_out);

static inline struct weft_group *weft_group_resolve(MPI_Group handle)
{
    return weft_handle_resolve(handle, WEFT_KIND_GROUP);
}

/* What the user sees. */
static inline MPI_Group weft_group_handle(struct weft_group *group)
{
    return group == &weft_group_empty ? MPI_GROUP_EMPTY : (MPI_Group)group;
}

#endif
