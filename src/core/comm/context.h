// SPDX-License-Identifier: BSD-3-Clause
/*
 * Context ids: which ones this process uses, and how the members of a new communicator choose the
 * same ones.
 *
 * Each communicator gets one block of WEFT_CONTEXTS ids, one id for each use. The members choose
 * the block by bids: each member proposes blocks that are free in its process, the proposals are
 * combined by AND (core/comm/context_alloc.h), and every member takes the first block in the
 * result.
 *
 * Messages that nobody received may outlive the communicator that they were sent on: after a
 * refused collective, or because the program sent them in vain. So a block is taken again as late
 * as possible: the members take blocks in the order of a clock that all of them set behind the
 * block taken, and that is never behind a member's. A block comes back only after this process has
 * participated in the making of all communicators up to the same block one turn later: 131,072
 * blocks, fewer by those in use and up to FIRST_PROPOSAL for each that was made while another was
 * being made. Until then a message for it is dropped as soon as it is seen
 * (core/message/sw_match.c).
 *
 * A member whose bid fails passes all the blocks that it has proposed: after a death or a
 * revocation others may have taken one of them.
 *
 * Invariants:
 *  - The matchers keep no message that a receive could match of a block that is neither taken nor
 *    proposed.
 *  - Two bids of a process never propose the same block at the same time. So no block is taken
 *    twice, whatever other threads and processes do.
 *  - The first proposal of a bid has few blocks. After it has been settled, every member is known
 *    to participate, and the bid may propose complete ranges of blocks; it is exclusive then: one
 *    bid of a process at a time. An exclusive bid waits only for members that are in the same call,
 *    so bids never wait for each other in a circle. Among waiting bids the lowest key goes first,
 *    in every process, so one of them always advances.
 */
#ifndef WEFT_CONTEXT_H
#define WEFT_CONTEXT_H

#include "core/message/channel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_comm;

enum {
    WEFT_CONTEXT_BLOCKS = (1 << WEFT_CONTEXT_BITS) / WEFT_CONTEXTS,
    WEFT_CONTEXT_RANGE = 63, /* words of 64 blocks in one proposal */
    WEFT_CONTEXT_WORDS = 1 + WEFT_CONTEXT_RANGE,
    WEFT_BID_PACKED = 1 + WEFT_CONTEXT_WORDS /* words of the longest message */
};

/* One member's bid for a block. */
struct weft_bid {
    uint64_t key; /* the same at all members, different between calls that can overlap */
    uint64_t proposal[WEFT_CONTEXT_WORDS]; /* bits 8 to 15 of the first word are the caller's */
    bool failed;    /* set before a proposal: this member fails, and then all members fail */
    bool waiting;   /* the first proposal was settled without a result */
    bool exclusive; /* the current proposal is a complete range */
    uint64_t clock; /* of the proposal; waiting: the highest of all members' first proposals */
    int ranges;     /* complete ranges that were settled without a result */
    struct weft_bid *next;
};

/* Why a member fails. It is in the member's proposal, and all members get that of the lowest rank.
 * */
struct weft_bid_failure {
    int32_t code, rank;
    char reason[WEFT_CONTEXT_RANGE * 8 - 8]; /* a sentence, ends with 0 */
};

enum weft_bid_result { WEFT_BID_TAKEN, WEFT_BID_AGAIN, WEFT_BID_EXHAUSTED, WEFT_BID_FAILED };

/* Frees all blocks and forgets all bids. */
void weft_context_reset(void);

/* Begins a bid. */
void weft_bid_open(struct weft_bid *bid, uint64_t key);

/* Fills bid->proposal, to be combined with the proposals of the other members. */
void weft_bid_propose(struct weft_bid *bid);

/* The words of a member that proposes nothing, and does not fail; of a member that fails, and why.
 * */
void weft_bid_nothing(uint64_t *words);
void weft_bid_fail(uint64_t *words, const struct weft_bid_failure *failure);

/* Combines a proposal, or the combination of some members' proposals, with those of further
 * members; a member may be in both. */
void weft_bid_combine(uint64_t *words, const uint64_t *theirs);

/* The words as a message: the first one, a mask of the others that are not 0, and these. Returns
 * the words of the message. unpack takes any message: what is missing is 0, as in a refusal. */
int weft_bid_pack(uint64_t *message, const uint64_t *words);
void weft_bid_unpack(uint64_t *words, const uint64_t *message, size_t count);

/* True if some member failed, and why. */
bool weft_bid_failure(const uint64_t *words, struct weft_bid_failure *failure);

/* Evaluates the combined proposals. TAKEN: *block belongs to the bid, in all members. AGAIN: make
 * another proposal. EXHAUSTED: no block is free in all members. FAILED: some member set `failed`.
 * */
enum weft_bid_result weft_bid_settle(struct weft_bid *bid, const uint64_t *words, int *block);

/* Takes a given block, for a predefined communicator. False if the block is in use. */
bool weft_context_reserve(int block);

/* Takes the highest block that is free and that no bid proposes, for a communicator of one process,
 * whose messages are all here when it is freed. -1 if there is none. */
int weft_context_take(void);

/* Gives a taken block to a communicator; frees a taken block, used or not. */
void weft_context_assign(int block, struct weft_comm *comm);
void weft_context_free(int block);

/* The communicator of a block, or NULL. */
struct weft_comm *weft_context_owner(uint32_t block);

/* True if a block is taken, or proposed by a bid: messages for it may be kept. */
bool weft_context_is_expected(uint32_t block);

/* True once blocks may come back that were used before: what has arrived for them has to be dropped
 * before they are proposed. */
bool weft_context_repeats(void);

/* The number of blocks in use. */
int weft_context_in_use(void);

#endif
