// SPDX-License-Identifier: BSD-3-Clause
/*
 * Inter-communicators: making them, and making communicators out of them (MPI 5.0 section 7.6).
 *
 * The two sides know of one another through their first processes, which exchange what is to be
 * known and pass it on in their own group, over the local part that every inter-communicator has.
 *
 * Invariant: both sides have one block of context ids in common; what a process receives on it comes
 * from the other side, what it receives on the local part's ids from its own.
 */
#ifndef WEFT_INTERCOMM_H
#define WEFT_INTERCOMM_H

#include "core/comm/comm.h"

/* What one rank passes to MPI_Comm_split. */
struct weft_choice {
    int color, key, rank;
};

/* Those of a group who chose a color, in the order of keys; nobody for MPI_UNDEFINED. all: by rank.
 * NULL when memory is short, the sentence said. */
struct weft_group *weft_choice_group(const struct weft_group *from, struct weft_choice *all,
                                     int color);

/* All functions return an MPI error class, the sentence said. */

/* weft_comm_create and weft_comm_split over an inter-communicator; all: the choices of the local
 * group. */
int weft_intercomm_create_sub(struct weft_comm *over, struct weft_group *group,
                              struct weft_comm **out);
int weft_intercomm_split(struct weft_comm *over, struct weft_choice *all, int color,
                         struct weft_comm **out);

/* MPI_Intercomm_create: peer and remote_leader count at the leader only. */
int weft_intercomm_create(struct weft_comm *local, int leader, struct weft_comm *peer,
                          int remote_leader, int tag, struct weft_comm **out);

/* MPI_Intercomm_merge. */
int weft_intercomm_merge(struct weft_comm *inter, bool high, struct weft_comm **out);

#endif
