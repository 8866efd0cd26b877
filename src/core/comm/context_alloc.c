// SPDX-License-Identifier: BSD-3-Clause
/*
 * Agreements on context ids: see agree.h.
 *
 * Invariant: a member that fails goes on sending and receiving to the end of the round, with an
 * offer that makes all fail; or the others would wait for it.
 */
#include "core/comm/context_alloc.h"
#include "core/object/error.h"
#include "core/pt2pt/p2p.h"
#include "core/process/weft.h"

#include <string.h>

static struct weft_context_alloc *first;

/* The channel and the rank in it of a member. */
static struct weft_channel *route(const struct weft_context_alloc *agreement, int64_t index,
                                  int *rank)
{
    struct weft_comm *comm = agreement->over;
    index = (index + agreement->size) % agreement->size;
    if (agreement->use == WEFT_CONTEXT_GROUPING) {
        *rank = agreement->ranks[index];
        return &comm->grouping;
    }
    *rank = (int)index;
    if (!comm->local)
        return &comm->making;
    int local = comm->local->size, first_half = comm->first_half ? local : comm->size;
    bool in_first = index < first_half;
    *rank = (int)(in_first ? index : index - first_half);
    return in_first == comm->first_half ? &comm->local->making : &comm->making;
}

static void note(struct weft_context_alloc *agreement, int code)
{
    if (code == MPI_SUCCESS)
        return;
    if (!agreement->code)
        agreement->code = code;
    agreement->words[0] = 0; /* not well: see context.c */
}

/* Starts the messages of one round. */
static void exchange(struct weft_context_alloc *agreement)
{
    const struct weft_datatype *bytes = weft_handle_object(MPI_BYTE);
    int to, from;
    struct weft_channel *out = route(agreement, agreement->index + agreement->step, &to);
    struct weft_channel *in = route(agreement, agreement->index - agreement->step, &from);
    agreement->send = agreement->receive = NULL;
    note(agreement, weft_p2p_irecv(in, agreement->theirs, sizeof agreement->theirs, bytes, from,
                                   agreement->tag, &agreement->receive));
    int code = weft_p2p_isend(out, agreement->words, sizeof agreement->words, bytes, to,
                              agreement->tag, WEFT_SEND_STANDARD, &agreement->send);
    if (code != MPI_SUCCESS)
        agreement->send = NULL;
    note(agreement, code);
}

static void bid(struct weft_context_alloc *agreement)
{
    agreement->bid.failed = agreement->code != MPI_SUCCESS;
    weft_bid_offer(&agreement->bid);
    memcpy(agreement->words, agreement->bid.offer, sizeof agreement->words);
    agreement->step = 1;
    if (agreement->size > 1)
        exchange(agreement);
}

/* True when a request is complete or there is none; then it is gone. */
static bool passed(struct weft_context_alloc *agreement, struct weft_request **request)
{
    if (!*request)
        return true;
    if ((*request)->pending)
        return false;
    note(agreement, (*request)->error);
    weft_request_put(*request);
    *request = NULL;
    return true;
}

static void end(struct weft_context_alloc *agreement, int code)
{
    if (!agreement->code)
        agreement->code = code;
    agreement->over->uses--;
    agreement->done = true;
    if (agreement->end)
        agreement->end(agreement);
}

/* All offers are combined. True when that ends it. */
static bool settle(struct weft_context_alloc *agreement)
{
    switch (weft_bid_settle(&agreement->bid, agreement->words, &agreement->block)) {
    case WEFT_BID_TAKEN:
        end(agreement, MPI_SUCCESS);
        return true;
    case WEFT_BID_FAILED:
        end(agreement, agreement->code
                           ? agreement->code
                           : weft_error_set(MPI_ERR_OTHER,
                                            "another process of the communicator to be could not "
                                            "take part; its own error tells why"));
        return true;
    case WEFT_BID_EXHAUSTED:
        end(agreement,
            weft_error_set(MPI_ERR_OTHER,
                           "no context id is free in all processes of the communicator to be: "
                           "this one has %d communicators of %d; free those that are not needed",
                           weft_context_in_use(), WEFT_CONTEXT_BLOCKS));
        return true;
    case WEFT_BID_AGAIN:
        break;
    }
    weft_comm_sweep();
    bid(agreement);
    return false;
}

/* Looks at the messages of one agreement. True when it has ended; it may be gone then. */
static bool advance(struct weft_context_alloc *agreement, int *events)
{
    while (agreement->step < agreement->size) {
        bool received = passed(agreement, &agreement->receive);
        if (!passed(agreement, &agreement->send) || !received)
            return false;
        ++*events;
        for (int i = 0; i < WEFT_CONTEXT_WORDS; i++)
            agreement->words[i] &= agreement->theirs[i];
        agreement->step *= 2;
        if (agreement->step < agreement->size)
            exchange(agreement);
        else if (settle(agreement))
            return true;
    }
    return agreement->size == 1 && settle(agreement);
}

void weft_context_alloc_start(struct weft_context_alloc *agreement, uint64_t key, int failed)
{
    agreement->over->uses++;
    agreement->code = failed;
    weft_bid_open(&agreement->bid, key);
    bid(agreement);
    if (agreement->size == 1 && settle(agreement))
        return;
    agreement->next = first;
    first = agreement;
    weft.others |= WEFT_OTHERS_AGREE;
}

int weft_context_alloc_progress(void)
{
    int events = 0;
    struct weft_context_alloc **link = &first;
    while (*link) {
        struct weft_context_alloc *agreement = *link;
        struct weft_context_alloc *next = agreement->next;
        if (advance(agreement, &events))
            *link = next;
        else
            link = &agreement->next;
    }
    if (!first)
        weft.others &= (uint8_t)~WEFT_OTHERS_AGREE;
    return events;
}

int weft_context_alloc_wait(struct weft_context_alloc *agreement)
{
    unsigned idle = 0;
    while (!agreement->done)
        weft_await(&idle, agreement->receive);
    return agreement->code;
}
