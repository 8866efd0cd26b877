// SPDX-License-Identifier: BSD-3-Clause
/*
 * The exchange of data between the two sides of an inter-communicator, which exists or is being
 * made: the leaders exchange their bytes, and broadcast those of the other side in their own group.
 *
 * Invariant: a leader that fails reports the failure to both sides, so that no process waits for
 * data from it: where two sides have no communicator yet, a leader whose side has failed makes all
 * exchanges with the other one. If a member of an inter-communicator is dead, no call over it
 * waits. Before the first exchange one side cannot make the other fail, so lack of memory ends the
 * job.
 *
 * Functions return an MPI error class, with the error sentence set.
 */
#ifndef WEFT_SIDES_H
#define WEFT_SIDES_H

#include "core/comm/comm.h"

/* The two sides, and the route between them. */
struct weft_sides {
    struct weft_comm *local;
    struct weft_comm *over;      /* the inter-communicator that has both; NULL: there is none yet */
    int leader;                  /* its rank in `local` */
    struct weft_channel *across; /* at the leader only: the channel to the remote leader, */
    int remote_leader, tag;      /* its rank there, and the tag */
    int failed; /* an error class: the leader sends it instead of its bytes; or MPI_SUCCESS */
};

static inline bool weft_sides_leads(const struct weft_sides *sides)
{
    return sides->local->rank == sides->leader;
}

/* The sides of an inter-communicator; rank 0 of each leads. */
struct weft_sides weft_sides_of(struct weft_comm *inter);

/* More processes than a side can have: what announces as many is damaged. */
enum { WEFT_SIDES_RANKS_MAX = 1 << 24 };

/* The number of bytes that the other side may send. */
struct weft_sides_range {
    size_t least, most;
};

static inline struct weft_sides_range weft_sides_exactly(size_t bytes)
{
    return (struct weft_sides_range){bytes, bytes};
}

/* Sends the leader's bytes to the other side. All processes of this side get the other side's bytes
 * in *theirs, for the caller to free, or fail; the leader may fail and have them. Their number, or
 * the leader's error class as a negative one, is broadcast first. */
int weft_sides_swap(const struct weft_sides *sides, const void *mine, size_t bytes,
                    struct weft_sides_range range, void **theirs, size_t *their_bytes);

/* The steps of weft_sides_swap. Leaders only: sends `bytes` bytes, receives `their_bytes`. */
int weft_sides_exchange(const struct weft_sides *sides, const void *mine, size_t bytes,
                        void *theirs, size_t their_bytes);

/* Leaders only: exchanges numbers of bytes, and the bytes, which become *theirs. A negative number
 * is the error class of a leader that has no bytes. */
int weft_sides_exchange_data(const struct weft_sides *sides, const void *mine, size_t bytes,
                             struct weft_sides_range range, int64_t *other, char **theirs);

/* Broadcasts the leader's bytes in the local group. */
int weft_sides_broadcast(const struct weft_sides *sides, void *data, size_t bytes);

/* True of the errors with which some members of a communicator may fail and others not. */
bool weft_sides_is_broken(int code);

#endif
