// SPDX-License-Identifier: BSD-3-Clause
/*
 * Context ids: which of them are in use in this process, and how all members of a new communicator
 * come to the same ones.
 *
 * Context ids are given out in blocks of WEFT_CONTEXTS, one block a communicator, one id a use. A
 * block is agreed on by bids: every member offers blocks that are free in its process, the offers
 * are combined by AND (core/comm/context_alloc.h), and the lowest block that is left is taken by all.
 *
 * Invariants:
 *  - A block that a bid has offered and not settled is offered by no other bid of this process. So
 *    no block can be taken twice, whatever the threads of this and the other processes do.
 *  - The first offer of a bid takes few blocks. Only when it has been settled, and so every member
 *    is known to be there, a bid may offer whole windows, one bid at a time: the holder. A holder
 *    waits for nobody who is not in the same call, so bids cannot wait for one another in a circle;
 *    and among those who wait the one with the lowest key goes first, in every process, so one of
 *    them gets on.
 */
#ifndef WEFT_CONTEXT_H
#define WEFT_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

struct weft_comm;

enum weft_context_use {
    WEFT_CONTEXT_P2P,
    WEFT_CONTEXT_COLL,
    WEFT_CONTEXT_PARTITIONED,
    WEFT_CONTEXT_MAKING,     /* making communicators, collectively over this one */
    WEFT_CONTEXT_GROUPING,   /* the same by some of its processes, tags from the user */
    WEFT_CONTEXT_LOCAL_COLL, /* the next three are those of an inter-communicator's local part */
    WEFT_CONTEXT_LOCAL_MAKING,
    WEFT_CONTEXT_LOCAL_P2P,
    WEFT_CONTEXTS
};

enum {
    WEFT_CONTEXT_BITS = 20,   /* of a context id: what every provider's tag word has room for, */
    WEFT_LEAST_TAG_BITS = 15, /* beside the tag of a message: a collective's kind and number */
    WEFT_CONTEXT_BLOCKS = (1 << WEFT_CONTEXT_BITS) / WEFT_CONTEXTS,
    WEFT_CONTEXT_WINDOW = 63, /* words of blocks in one offer */
    WEFT_CONTEXT_WORDS = 1 + WEFT_CONTEXT_WINDOW
};

/* What a bid needs between its offer and the result. */
struct weft_bid {
    uint64_t key; /* the same at all members, different between calls that can overlap */
    uint64_t offer[WEFT_CONTEXT_WORDS];
    bool failed; /* this member cannot go on: set before an offer, and all fail together */
    bool listed, holding;
    int window;
    struct weft_bid *next;
};

enum weft_bid_result { WEFT_BID_TAKEN, WEFT_BID_AGAIN, WEFT_BID_EXHAUSTED, WEFT_BID_FAILED };

/* Forgets everything: all blocks are free. */
void weft_context_reset(void);

/* Begins a bid. */
void weft_bid_open(struct weft_bid *bid, uint64_t key);

/* Fills bid->offer: its words are to be combined with those of the other members by AND. */
void weft_bid_offer(struct weft_bid *bid);

/* The combined words came back. TAKEN: *block is this bid's, in all members. AGAIN: offer again. The
 * others end the bid: no block is free in all members; some member's `failed` was set. */
enum weft_bid_result weft_bid_settle(struct weft_bid *bid, const uint64_t *words, int *block);

/* Takes a certain block, for a predefined communicator. False when it is in use. */
bool weft_context_reserve(int block);

/* Gives a block to a communicator; takes it back (then the block is free). A block that was taken
 * and not used is given back in the same way. */
void weft_context_assign(int block, struct weft_comm *comm);
void weft_context_free(int block);

/* The communicator of a block, or NULL. */
struct weft_comm *weft_context_owner(uint32_t block);

/* Blocks in use, for tests and reports. */
int weft_context_in_use(void);

#endif
