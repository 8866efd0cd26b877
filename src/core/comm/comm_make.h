// SPDX-License-Identifier: BSD-3-Clause
/*
 * Making communicators out of communicators: the collective part of MPI 5.0 section 7.4.2.
 *
 * Invariants:
 *  - A call fails at all members or at none, once its arguments are good everywhere.
 *  - Members of groups that have no process in common may come to the same context ids: one
 *    agreement makes all communicators of one call.
 *
 * All functions return an MPI error class, the sentence said. *out is NULL where this process is in
 * none of the new communicators.
 */
#ifndef WEFT_COMM_MAKE_H
#define WEFT_COMM_MAKE_H

#include "core/comm/comm.h"
#include "core/pt2pt/request.h"

/* A copy with the same groups and topology, the attributes that are to be copied, and these hints
 * (NULL: none). An error code of the user's callbacks is returned as it is. */
int weft_comm_dup(struct weft_comm *over, const struct weft_info *hints, struct weft_comm **out);

/* Starts the same: *out can be used once the request is complete. */
int weft_comm_idup(struct weft_comm *over, const struct weft_info *hints, struct weft_comm **out,
                   struct weft_request **request);

/* Over a subgroup of the local group; each member names the group it is in, or an empty one. Between
 * two groups: both sides name one. */
int weft_comm_create(struct weft_comm *over, struct weft_group *group, struct weft_comm **out);

/* The same, called by the members of the group only. over is an intra-communicator. */
int weft_comm_create_group(struct weft_comm *over, struct weft_group *group, int tag,
                           struct weft_comm **out);

/* One for each color, the ranks in the order of keys, and of ranks in `over` where keys are equal.
 * color may be MPI_UNDEFINED. */
int weft_comm_split(struct weft_comm *over, int color, int key, struct weft_comm **out);

/* One for each resource that the processes share: a node (MPI_COMM_TYPE_SHARED), or what the type and
 * hints name; *out is NULL where this process has no such resource for itself. */
int weft_comm_split_type(struct weft_comm *over, int type, int key, const struct weft_info *hints,
                         struct weft_comm **out);

/* Ends the making of a communicator: all members of `over` agree on its context ids. made is NULL
 * for those that will not be in it, and is dropped when it fails; failed is an error class that this
 * process brings along, or MPI_SUCCESS. */
int weft_comm_agree(struct weft_comm *over, struct weft_comm *made, int failed,
                    struct weft_comm **out);

/* The tag of the next making over a communicator; every member has to ask for as many. */
int weft_comm_making_tag(struct weft_comm *over);

#endif
