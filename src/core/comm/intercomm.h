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

/* The arguments of one rank in weft_comm_split. */
struct weft_split {
    int64_t color;
    int key, rank;
};

/* The group of the ranks with a color, in the order of keys; empty for MPI_UNDEFINED. all: the
 * choices by rank, overwritten. NULL without memory. */
struct weft_group *weft_split_group(const struct weft_group *from, struct weft_split *all,
                                    int64_t color);

/* weft_comm_create and weft_comm_split over an inter-communicator; all: the choices of the local
 * group, overwritten; failed: the error class with which this process enters, or MPI_SUCCESS. */
int weft_intercomm_create_sub(struct weft_comm *over, struct weft_group *group,
                              struct weft_comm **out);
int weft_intercomm_split(struct weft_comm *over, struct weft_split *all, int64_t color, int failed,
                         struct weft_comm **out);

/* MPI_Intercomm_create: peer and remote_leader are significant at the leader only. First the local
 * group agrees that no member has an error (weft_comm_begin); the second one begins with the result
 * of that, which it returns if it is an error. The other group fails too, with the same error if it
 * is a death or a revocation: the leader waits for the other one. */
int weft_intercomm_create(struct weft_comm *local, int leader, struct weft_comm *peer,
                          int remote_leader, int tag, struct weft_comm **out);
int weft_intercomm_join(struct weft_comm *local, int leader, struct weft_comm *peer,
                        int remote_leader, int tag, int failed, struct weft_comm **out);

/* The leader of a group that does not come to weft_intercomm_join, or leaves it with an error: the
 * other group gets the error there. Waits for the other leader. Returns the error class. */
WEFT_COLD int weft_intercomm_refuse(struct weft_comm *peer, int remote_leader, int tag, int failed);

/* MPI_Intercomm_merge. */
int weft_intercomm_merge(struct weft_comm *inter, bool high, struct weft_comm **out);

#endif
