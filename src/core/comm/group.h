// SPDX-License-Identifier: BSD-3-Clause
/*
 * Groups: ordered sets of processes, stored as ranks in MPI_COMM_WORLD (world ranks); processes of
 * other jobs have numbers from weft.job.size on (core/message/foreign.h), which a group refers to.
 *
 * A group whose world ranks have a constant stride (all processes, every second one, one process)
 * stores the first rank and the stride; other groups store a table. weft_group_world reads both.
 *
 * Invariants:
 *  - A group never changes after weft_group_seal; every user holds a reference.
 *  - A world rank appears once. `rank` is this process's rank in the group, or MPI_UNDEFINED.
 *  - A sealed group has a stride if its world ranks have one, and only then no table. So two
 *    sealed groups are identical only if both have a stride, or neither has.
 *  - All communicators over a group share `peers`: peers[i] is the peer of rank i, or
 *    weft_peer_unknown until first contact through one of them.
 *
 * Functions that return NULL, -1 or false on lack of memory have set the error sentence.
 */
#ifndef WEFT_GROUP_H
#define WEFT_GROUP_H

#include "core/base/handle.h"
#include "core/base/lock.h"
#include "mpi.h"

#include <stdbool.h>

struct weft_nodes;
struct weft_peer;
struct weft_session;

struct weft_group {
    struct weft_object object;
    int refs;
    int size, rank;
    struct weft_peer *
        *peers[WEFT_LOCKS_MAX];   /* by vci_number; NULL until a communicator needs it */
    bool shares_peers;            /* peers are tables of the process, not to be freed */
    bool foreign;                 /* it contains processes of other jobs */
    struct weft_nodes *nodes;     /* core/comm/nodes.h; NULL until a collective needs them */
    struct weft_session *session; /* the session of its process set, referenced; or NULL */
    int32_t first, stride;        /* rank i is world rank first + stride * i; 0: see table */
    int32_t table[];              /* the world ranks; empty in a group with a stride */
};

/* MPI_GROUP_EMPTY; never freed. */
extern struct weft_group weft_group_empty;

/* A group with one reference. The caller writes size world ranks to table[], then calls
 * weft_group_seal. NULL without memory. */
struct weft_group *weft_group_make(int size);

/* True if these are ranks below a size, each of them once. */
bool weft_group_are_ranks(const int32_t *ranks, int n, int size);

/* Replaces the table by a stride where possible, and finds this process's rank. Returns the group,
 * which may have moved; frees a group of size 0 and returns weft_group_empty. */
struct weft_group *weft_group_seal(struct weft_group *group);

/* The sealed group first, first + stride, … of size > 0 ranks; stride is not 0. NULL without
 * memory. */
struct weft_group *weft_group_run(int size, int first, int stride);

/* The world rank of a rank of a sealed group. */
static inline int weft_group_world(const struct weft_group *group, int rank)
{
    weft_assert(rank >= 0 && rank < group->size);
    return group->stride ? group->first + group->stride * rank : group->table[rank];
}

/* Writes the world ranks of a sealed group, in order. */
void weft_group_list(const struct weft_group *group, int32_t *world);

/* Adds a reference, and returns the group; drops one (NULL is allowed). */
struct weft_group *weft_group_keep(struct weft_group *group);
void weft_group_release(struct weft_group *group);

/* The table of peers of a group for a VCI number (core/message/vci.h). NULL without memory. */
struct weft_peer **weft_group_open_peers(struct weft_group *group, unsigned vci_number);

/* The rank of a world rank in a sealed group, or -1. Linear in the group's size without a stride.
 */
int weft_group_rank_of(const struct weft_group *group, int world);

/* Writes to `out` the rank in `to` of each of n ranks in `from` (NULL: ranks 0 to n - 1):
 * MPI_UNDEFINED where there is none, MPI_PROC_NULL for MPI_PROC_NULL. Returns MPI_SUCCESS or
 * MPI_ERR_NO_MEM. */
int weft_group_translate(const struct weft_group *from, int n, const int *ranks,
                         const struct weft_group *to, int *out);

/* Sets *result to MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL. Returns MPI_SUCCESS, or MPI_ERR_NO_MEM;
 * then *result is unchanged. */
int weft_group_compare(const struct weft_group *a, const struct weft_group *b, int *result);

enum weft_group_operation { WEFT_GROUP_UNION, WEFT_GROUP_INTERSECTION, WEFT_GROUP_DIFFERENCE };

/* Union: the members of `a`, then those of `b` that are not in `a`. Intersection, difference: the
 * members of `a` that are, or are not, in `b`. A new reference; NULL without memory. */
struct weft_group *weft_group_combine(enum weft_group_operation operation,
                                      const struct weft_group *a, const struct weft_group *b);

/* The n members with these ranks, which are valid and distinct; ranks NULL: 0 to n - 1. NULL
 * without memory. */
struct weft_group *weft_group_include(const struct weft_group *group, int n, const int *ranks);

/* All members for which leave_out[rank] is false. NULL without memory. */
struct weft_group *weft_group_exclude(const struct weft_group *group, const bool *leave_out);

static inline struct weft_group *weft_group_resolve(MPI_Group handle)
{
    return weft_handle_resolve(handle, WEFT_KIND_GROUP);
}

static inline MPI_Group weft_group_handle(struct weft_group *group)
{
    return group == &weft_group_empty ? MPI_GROUP_EMPTY : (MPI_Group)group;
}

#endif
