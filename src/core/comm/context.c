// SPDX-License-Identifier: BSD-3-Clause
/*
 * Context ids: see context.h.
 *
 * Invariant: a block's bit in `used` is set from the time a bid takes it until weft_context_free;
 * its bit in `offered` is set while a bid that offered it is not settled.
 */
#include "core/comm/context.h"

#include "core/base/assert.h"

#include <stddef.h>
#include <string.h>

enum { WORDS = WEFT_CONTEXT_BLOCKS / 64, FIRST_OFFER = 64 };

/* Bits of word 0 of an offer, also combined by AND; the other words are a window of blocks. */
enum { ALL_EXCLUSIVE = 1, ALL_WELL = 2 };

static uint64_t used[WORDS], offered[WORDS];
static int in_use, first_free;                        /* every word before first_free is full */
static struct weft_comm *owners[WEFT_CONTEXT_BLOCKS]; /* untouched pages take no memory */
static struct weft_bid *waiting;                      /* bids that need more than a first offer */
static struct weft_bid *exclusive;                    /* the one bid that offers a window */

static uint64_t bit_of(int block)
{
    return (uint64_t)1 << block % 64;
}

static void take_block(int block)
{
    weft_assert(!(used[block / 64] & bit_of(block)) && !(offered[block / 64] & bit_of(block)));
    used[block / 64] |= bit_of(block);
    in_use++;
    while (first_free < WORDS && used[first_free] == UINT64_MAX)
        first_free++;
}

bool weft_context_reserve(int block)
{
    if (used[block / 64] & bit_of(block))
        return false;
    take_block(block);
    return true;
}

int weft_context_take(void)
{
    for (int i = first_free; i < WORDS; i++) {
        uint64_t free_ones = ~(used[i] | offered[i]);
        if (free_ones) {
            int block = 64 * i + __builtin_ctzll(free_ones);
            take_block(block);
            return block;
        }
    }
    return -1;
}

void weft_context_assign(int block, struct weft_comm *comm)
{
    weft_assert(used[block / 64] & bit_of(block) && !owners[block]);
    owners[block] = comm;
}

struct weft_comm *weft_context_owner(uint32_t block)
{
    return block < WEFT_CONTEXT_BLOCKS ? owners[block] : NULL;
}

void weft_context_free(int block)
{
    weft_assert(used[block / 64] & bit_of(block) && in_use > 0);
    used[block / 64] &= ~bit_of(block);
    in_use--;
    if (block / 64 < first_free)
        first_free = block / 64;
    owners[block] = NULL;
}

int weft_context_in_use(void)
{
    return in_use;
}

void weft_context_reset(void)
{
    for (int block = 0; block < WEFT_CONTEXT_BLOCKS && in_use > 0; block++)
        if (used[block / 64] & bit_of(block))
            weft_context_free(block);
    memset(offered, 0, sizeof offered);
    waiting = exclusive = NULL;
}

/* ---- Bids */

void weft_bid_open(struct weft_bid *bid, uint64_t key)
{
    memset(bid, 0, sizeof *bid);
    bid->key = key;
}

static int window_begin(const struct weft_bid *bid)
{
    return bid->window * WEFT_CONTEXT_WINDOW;
}

/* The first offer: the lowest FIRST_OFFER free blocks, so that other bids find free ones too. */
static void offer_few(struct weft_bid *bid)
{
    int left = FIRST_OFFER;
    for (int i = first_free; i < WEFT_CONTEXT_WINDOW && left > 0; i++)
        for (uint64_t free_ones = ~(used[i] | offered[i]); free_ones && left > 0; left--) {
            uint64_t lowest = free_ones & -free_ones;
            free_ones ^= lowest;
            bid->offer[1 + i] |= lowest;
        }
}

static bool may_be_exclusive(const struct weft_bid *bid)
{
    for (const struct weft_bid *other = waiting; other; other = other->next)
        if (other->key < bid->key)
            return false;
    return !exclusive;
}

static void offer_window(struct weft_bid *bid)
{
    weft_assert(bid->waiting && exclusive != bid);
    bid->exclusive = may_be_exclusive(bid);
    if (!bid->exclusive)
        return;
    exclusive = bid;
    bid->offer[0] |= ALL_EXCLUSIVE;
    int begin = window_begin(bid);
    for (int i = 0; i < WEFT_CONTEXT_WINDOW && begin + i < WORDS; i++)
        bid->offer[1 + i] = ~(used[begin + i] | offered[begin + i]);
}

/* Sets the bits of an offer in `offered`; clears them at the second call. */
static void toggle_offered(const struct weft_bid *bid)
{
    int begin = window_begin(bid);
    for (int i = 0; i < WEFT_CONTEXT_WINDOW && begin + i < WORDS; i++) {
        uint64_t both = offered[begin + i] & bid->offer[1 + i];
        weft_assert(!both || both == bid->offer[1 + i]);
        offered[begin + i] ^= bid->offer[1 + i];
    }
}

void weft_bid_offer(struct weft_bid *bid)
{
    memset(bid->offer, 0, sizeof bid->offer);
    if (bid->failed)
        return;
    bid->offer[0] = ALL_WELL;
    if (bid->waiting)
        offer_window(bid);
    else
        offer_few(bid);
    toggle_offered(bid);
}

static void stop_waiting(struct weft_bid *bid)
{
    struct weft_bid **link = &waiting;
    while (*link && *link != bid)
        link = &(*link)->next;
    weft_assert(!bid->waiting == !*link);
    if (*link)
        *link = bid->next;
    bid->waiting = false;
}

enum weft_bid_result weft_bid_settle(struct weft_bid *bid, const uint64_t *words, int *block)
{
    weft_assert(bid->exclusive == (exclusive == bid));
    toggle_offered(bid);
    if (exclusive == bid)
        exclusive = NULL;
    bid->exclusive = false;
    enum weft_bid_result result = words[0] & ALL_WELL ? WEFT_BID_AGAIN : WEFT_BID_FAILED;
    for (int i = 0; i < WEFT_CONTEXT_WINDOW && result == WEFT_BID_AGAIN; i++)
        if (words[1 + i]) {
            *block = 64 * (window_begin(bid) + i) + __builtin_ctzll(words[1 + i]);
            take_block(*block);
            result = WEFT_BID_TAKEN;
        }
    if (result == WEFT_BID_AGAIN && (words[0] & ALL_EXCLUSIVE) &&
        ++bid->window * WEFT_CONTEXT_WINDOW >= WORDS)
        result = WEFT_BID_EXHAUSTED;
    if (result != WEFT_BID_AGAIN) {
        stop_waiting(bid);
    } else if (!bid->waiting) {
        bid->waiting = true;
        bid->next = waiting;
        waiting = bid;
    }
    return result;
}
