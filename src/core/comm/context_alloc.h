// SPDX-License-Identifier: BSD-3-Clause
/*
 * Agreements: the members of a communicator to be come to one block of context ids, by messages
 * that progress moves along. A blocking call waits for its agreement; MPI_Comm_idup does not.
 *
 * Members combine their offers (core/comm/context.h) by dissemination: after round k each has the AND of
 * the 2^(k+1) members before it; that some are counted twice does not matter to an AND.
 *
 * Invariants:
 *  - An agreement that was started ends with the same result at all members.
 *  - It has ended exactly when `done` is set; then no message of it is on the way to this process.
 */
#ifndef WEFT_CONTEXT_ALLOC_H
#define WEFT_CONTEXT_ALLOC_H

#include "core/comm/comm.h"
#include "core/comm/context.h"

#include <stdbool.h>

struct weft_request;

struct weft_context_alloc {
    /* The caller's */
    struct weft_comm *over;    /* whose channels carry the messages */
    enum weft_context_use use; /* WEFT_CONTEXT_MAKING or WEFT_CONTEXT_GROUPING */
    int tag;
    int size, index;  /* members, and this process's place among them */
    const int *ranks; /* their ranks in `over`; NULL: member i is rank i (with an
                               inter-communicator: see weft_context_alloc_start) */
    void (*end)(
        struct weft_context_alloc *agreement); /* called once it has ended, may free it; or NULL */
    void *arg;

    /* The result */
    bool done;
    int code;  /* MPI_SUCCESS, or an error class whose sentence is said */
    int block; /* of context ids, taken by this process */

    /* agree.c's */
    struct weft_bid bid;
    uint64_t words[WEFT_CONTEXT_WORDS], theirs[WEFT_CONTEXT_WORDS];
    int64_t step; /* distance of the round's messages */
    struct weft_request *send, *receive;
    struct weft_context_alloc *next;
};

/* Starts an agreement among the members; its fields above are set, the rest is zero. key: see struct
 * weft_bid. failed: an error class that this member brings along (its sentence is said): then all
 * fail. Members of an agreement over an inter-communicator are all its processes: those of the group
 * whose first process has the lower world rank, then the others. */
void weft_context_alloc_start(struct weft_context_alloc *agreement, uint64_t key, int failed);

/* Waits until it has ended; returns its code. */
int weft_context_alloc_wait(struct weft_context_alloc *agreement);

/* Moves all agreements along. Returns the number of messages that were seen. */
int weft_context_alloc_progress(void);

#endif
