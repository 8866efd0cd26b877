// SPDX-License-Identifier: BSD-3-Clause
/*
 * Context allocation: the members of a new communicator agree on one block of context ids, by
 * messages that progress advances. A blocking call waits for the allocation; MPI_Comm_idup does
 * not.
 *
 * Members combine their proposals (core/comm/context.h). If a communicator has several ranks on a
 * node, those of a node combine theirs at the lowest rank, its leader, up a binomial tree; the
 * leaders combine theirs by dissemination: after k rounds each one has the combination of the 2^k
 * leaders before it, in which a member may be counted twice; the result goes down the trees. Else
 * each member is a leader.
 *
 * Invariants:
 *  - A started allocation ends with the same result at all members.
 *  - It has ended exactly when `done` is set; then none of its messages is in flight to this
 *    process.
 */
#ifndef WEFT_CONTEXT_ALLOC_H
#define WEFT_CONTEXT_ALLOC_H

#include "core/comm/comm.h"
#include "core/comm/context.h"

#include <stdbool.h>

struct weft_request;
struct weft_nodes;

struct weft_context_alloc {
    /* Set by the caller */
    struct weft_comm *over;    /* its channels carry the messages */
    enum weft_context_use use; /* WEFT_CONTEXT_MAKING or WEFT_CONTEXT_GROUPING */
    int tag;
    int size, index;     /* the number of members, and the index of this process */
    int *ranks;          /* WEFT_CONTEXT_GROUPING: the members' ranks in `over` */
    bool combines;       /* no block is taken: the members combine `words`, which the caller sets */
    unsigned assertions; /* of this member; after success, those that all members have: the bits of
                            WEFT_ASSERT_AGREED */
    void (*end)(struct weft_context_alloc *alloc); /* called at the end, may free it; or NULL */
    void *arg;

    /* The result */
    bool done;
    int code;                           /* MPI_SUCCESS, or an error class with its sentence set */
    int block;                          /* the block of context ids, taken by this process */
    uint64_t words[WEFT_CONTEXT_WORDS]; /* the combination */

    /* Private to context_alloc.c */
    struct weft_bid bid;
    const struct weft_nodes *nodes; /* NULL: each member is a leader */
    int round;
    struct weft_request *send, *receive;
    uint64_t sent[WEFT_BID_PACKED], received[WEFT_BID_PACKED];
    struct weft_context_alloc *next;
};

/* Starts an allocation whose caller's fields are set and all others zero. key: see struct weft_bid.
 * failed: an error class (sentence set) with which this member enters; then all members fail. With
 * WEFT_CONTEXT_MAKING all processes of `over` are members. In an inter-communicator the group with
 * first_half has the lower indices. */
void weft_context_alloc_start(struct weft_context_alloc *alloc, uint64_t key, int failed);

/* The channel `making` to a process of a communicator, and the rank there. The index is that of
 * weft_comm_new_rank. */
struct weft_channel *weft_comm_making_route(struct weft_comm *comm, int64_t index, int *rank);

/* Waits for the end; returns `code`. */
int weft_context_alloc_wait(struct weft_context_alloc *alloc);

/* Makes the words of a member those of one that fails: with an error class, and its last sentence.
 */
void weft_bid_record(uint64_t *words, int rank, int code);

/* The error class of a bid's result, with its sentence set; MPI_SUCCESS for WEFT_BID_TAKEN. words:
 * the combined proposals. */
int weft_bid_error(enum weft_bid_result result, const uint64_t *words);

/* Advances all allocations. Returns the number of completed rounds. */
int weft_context_alloc_progress(void);

/* Ends all allocations, as failed: other members did not make the same calls. */
void weft_context_alloc_finalize(void);

#endif
