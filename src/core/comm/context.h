// SPDX-License-Identifier: BSD-3-Clause
/*
 * Context ids: which ones this process uses, and how the members of a new communicator choose the
 * same ones.
 *
 * Each communicator gets one block of WEFT_CONTEXTS ids, one id for each use. The members choose
 * the block by bids: each member offers blocks that are free in its process, the offers are
 * combined by AND (core/comm/context_alloc.h), and every member takes the lowest block in the
 * result.
 *
 * Invariants:
 *  - Two bids of a process never offer the same block at the same time. So no block is taken twice,
 *    whatever other threads and processes do.
 *  - The first offer of a bid has few blocks. After it has been settled, every member is known to
 *    participate, and the bid may offer complete windows of blocks; it is exclusive then: one bid
 * of a process at a time. An exclusive bid waits only for members that are in the same call, so
 * bids never wait for each other in a circle. Among waiting bids the lowest key goes first, in
 * every process, so one of them always advances.
 */
#ifndef WEFT_CONTEXT_H
#define WEFT_CONTEXT_H

#include "core/message/channel.h"

#include <stdbool.h>
#include <stdint.h>

struct weft_comm;

enum {
    WEFT_CONTEXT_BLOCKS = (1 << WEFT_CONTEXT_BITS) / WEFT_CONTEXTS,
    WEFT_CONTEXT_WINDOW = 63, /* words of 64 blocks in one offer */
    WEFT_CONTEXT_WORDS = 1 + WEFT_CONTEXT_WINDOW
};

/* One member's bid for a block. */
struct weft_bid {
    uint64_t key; /* the same at all members, different between calls that can overlap */
    uint64_t offer[WEFT_CONTEXT_WORDS]; /* bits of the first word from bit 8 on are the caller's */
    bool failed;    /* set before an offer: this member fails, and then all members fail */
    bool waiting;   /* the first offer was settled without a result */
    bool exclusive; /* the current offer is a complete window */
    int window;
    struct weft_bid *next;
};

enum weft_bid_result { WEFT_BID_TAKEN, WEFT_BID_AGAIN, WEFT_BID_EXHAUSTED, WEFT_BID_FAILED };

/* Frees all blocks and forgets all bids. */
void weft_context_reset(void);

/* Begins a bid. */
void weft_bid_open(struct weft_bid *bid, uint64_t key);

/* Fills bid->offer, to be combined with the offers of the other members by AND. */
void weft_bid_offer(struct weft_bid *bid);

/* Evaluates the combined offers. TAKEN: *block belongs to the bid, in all members. AGAIN: make
 * another offer. EXHAUSTED: no block is free in all members. FAILED: some member set `failed`. */
enum weft_bid_result weft_bid_settle(struct weft_bid *bid, const uint64_t *words, int *block);

/* Takes a given block, for a predefined communicator. False if the block is in use. */
bool weft_context_reserve(int block);

/* Takes the lowest block that is free and that no bid offers, for a communicator of one process.
 * -1 if there is none. */
int weft_context_take(void);

/* Gives a taken block to a communicator; frees a taken block, used or not. */
void weft_context_assign(int block, struct weft_comm *comm);
void weft_context_free(int block);

/* The communicator of a block, or NULL. */
struct weft_comm *weft_context_owner(uint32_t block);

/* The number of blocks in use. */
int weft_context_in_use(void);

#endif
