// SPDX-License-Identifier: BSD-3-Clause
/*
 * Inter-communicators: making them, and making communicators out of them (MPI 5.0 section 7.6).
 *
 * The leaders of the two sides exchange data and broadcast it in their own group, over the local
 * communicator that every inter-communicator has.
 *
 * Invariant: both sides share one block of context ids. Messages on the communicator's own ids come
 * from the remote group, messages on the ids of its local communicator from the local group.
 *
 * Functions return an MPI error class, with the error sentence set.
 */
#ifndef WEFT_INTERCOMM_H
#define WEFT_INTERCOMM_H

#include "core/comm/comm.h"

/* The arguments of one rank in MPI_Comm_split. */
struct weft_split {
    int color, key, rank;
};

/* The group of the ranks with a color, in the order of keys; empty for MPI_UNDEFINED. all: the
 * choices by rank, overwritten. NULL without memory. */
struct weft_group *weft_split_group(const struct weft_group *from, struct weft_split *all,
                                    int color);

/* weft_comm_create and weft_comm_split over an inter-communicator; all: the choices of the local
 * group, overwritten; failed: the error class with which this process enters, or MPI_SUCCESS. */
int weft_intercomm_create_sub(struct weft_comm *over, struct weft_group *group,
                              struct weft_comm **out);
int weft_intercomm_split(struct weft_comm *over, struct weft_split *all, int color, int failed,
                         struct weft_comm **out);

/* MPI_Intercomm_create: peer and remote_leader are significant at the leader only. First the local
 * group agrees that no member has an error; the second one begins after such an agreement, which
 * may have failed because of a death: then the other group learns it. */
int weft_intercomm_create(struct weft_comm *local, int leader, struct weft_comm *peer,
                          int remote_leader, int tag, struct weft_comm **out);
int weft_intercomm_join(struct weft_comm *local, int leader, struct weft_comm *peer,
                        int remote_leader, int tag, int failed, struct weft_comm **out);

/* MPI_Intercomm_merge. */
int weft_intercomm_merge(struct weft_comm *inter, bool high, struct weft_comm **out);

#endif
