// SPDX-License-Identifier: BSD-3-Clause
/*
 * Context ids: see context.h.
 *
 * Invariant: a block's bit in used is set from the moment a bid takes it until weft_context_free; its
 * bit in offered while a bid that offered it is not settled.
 */
#include "core/comm/context.h"

#include <stddef.h>
#include <string.h>

enum { WORDS = WEFT_CONTEXT_BLOCKS / 64, FIRST_OFFER = 64 };

/* Word 0 of an offer; the others are a window of blocks. */
enum { ALL_HOLD = 1, ALL_WELL = 2 };

static uint64_t used[WORDS], offered[WORDS];
static int in_use, first_free;                        /* every word before first_free is full */
static struct weft_comm *owners[WEFT_CONTEXT_BLOCKS]; /* pages nobody needs take no memory */
static struct weft_bid *waiting;                      /* bids whose first offer was not enough */
static struct weft_bid *holder;

void weft_context_reset(void)
{
    for (int block = 0; block < WEFT_CONTEXT_BLOCKS && in_use > 0; block++)
        if (used[block / 64] & (uint64_t)1 << block % 64)
            weft_context_free(block);
    memset(offered, 0, sizeof offered);
    waiting = holder = NULL;
}

void weft_bid_open(struct weft_bid *bid, uint64_t key)
{
    memset(bid, 0, sizeof *bid);
    bid->key = key;
}

static int window_begin(const struct weft_bid *bid)
{
    return bid->window * WEFT_CONTEXT_WINDOW;
}

/* The first offer: the lowest free blocks, few, so that other bids find some too. */
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

static bool may_hold(const struct weft_bid *bid)
{
    if (holder)
        return false;
    for (const struct weft_bid *other = waiting; other; other = other->next)
        if (other->key < bid->key)
            return false;
    return true;
}

static void offer_window(struct weft_bid *bid)
{
    bid->holding = may_hold(bid);
    if (!bid->holding)
        return;
    holder = bid;
    bid->offer[0] |= ALL_HOLD;
    int begin = window_begin(bid);
    for (int i = 0; i < WEFT_CONTEXT_WINDOW && begin + i < WORDS; i++)
        bid->offer[1 + i] = ~(used[begin + i] | offered[begin + i]);
}

/* Marks what is offered, or unmarks it. */
static void mark(const struct weft_bid *bid)
{
    int begin = window_begin(bid);
    for (int i = 0; i < WEFT_CONTEXT_WINDOW && begin + i < WORDS; i++)
        offered[begin + i] ^= bid->offer[1 + i];
}

void weft_bid_offer(struct weft_bid *bid)
{
    memset(bid->offer, 0, sizeof bid->offer);
    if (bid->failed)
        return;
    bid->offer[0] = ALL_WELL;
    if (bid->listed)
        offer_window(bid);
    else
        offer_few(bid);
    mark(bid);
}

static void leave(struct weft_bid *bid)
{
    struct weft_bid **link = &waiting;
    while (*link && *link != bid)
        link = &(*link)->next;
    if (*link)
        *link = bid->next;
    bid->listed = false;
}

static void take(int block)
{
    used[block / 64] |= (uint64_t)1 << block % 64;
    in_use++;
    while (first_free < WORDS && used[first_free] == UINT64_MAX)
        first_free++;
}

bool weft_context_reserve(int block)
{
    if (used[block / 64] & (uint64_t)1 << block % 64)
        return false;
    take(block);
    return true;
}

enum weft_bid_result weft_bid_settle(struct weft_bid *bid, const uint64_t *words, int *block)
{
    mark(bid);
    if (holder == bid)
        holder = NULL;
    bid->holding = false;
    enum weft_bid_result result = WEFT_BID_AGAIN;
    if (!(words[0] & ALL_WELL))
        result = WEFT_BID_FAILED;
    for (int i = 0; i < WEFT_CONTEXT_WINDOW && result == WEFT_BID_AGAIN; i++)
        if (words[1 + i]) {
            *block = 64 * (window_begin(bid) + i) + __builtin_ctzll(words[1 + i]);
            take(*block);
            result = WEFT_BID_TAKEN;
        }
    if (result == WEFT_BID_AGAIN && (words[0] & ALL_HOLD) &&
        ++bid->window * WEFT_CONTEXT_WINDOW >= WORDS)
        result = WEFT_BID_EXHAUSTED;
    if (result != WEFT_BID_AGAIN) {
        leave(bid);
    } else if (!bid->listed) {
        bid->listed = true;
        bid->next = waiting;
        waiting = bid;
    }
    return result;
}

void weft_context_assign(int block, struct weft_comm *comm)
{
    owners[block] = comm;
}

void weft_context_free(int block)
{
    used[block / 64] &= ~((uint64_t)1 << block % 64);
    in_use--;
    if (block / 64 < first_free)
        first_free = block / 64;
    owners[block] = NULL;
}

struct weft_comm *weft_context_owner(uint32_t block)
{
    return block < WEFT_CONTEXT_BLOCKS ? owners[block] : NULL;
}

int weft_context_in_use(void)
{
    return in_use;
}
