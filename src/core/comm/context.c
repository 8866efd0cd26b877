// SPDX-License-Identifier: BSD-3-Clause
/*
 * Context ids: see context.h.
 *
 * Invariant: a block's bit in `used` is set from the time a bid takes it until weft_context_free;
 * its bit in `proposed` is set while a bid that proposed it is not settled.
 */
#include "core/comm/context.h"

#include "core/base/assert.h"

#include <stddef.h>
#include <string.h>

enum {
    WORDS = WEFT_CONTEXT_BLOCKS / 64,
    RANGES = (WORDS + WEFT_CONTEXT_RANGE - 1) / WEFT_CONTEXT_RANGE,
    RANGE_BLOCKS = WEFT_CONTEXT_RANGE * 64,
    FIRST_PROPOSAL = 16
};

/* Word 0 of a proposal: two bits and the caller's bits, combined by AND; from CLOCK_SHIFT on the
 * member's clock, of which the highest wins. The other words are a range of blocks. A member that
 * fails proposes 0 there, and the failure in the other words. */
enum { ALL_EXCLUSIVE = 1, ALL_WELL = 2, CLOCK_SHIFT = 16 };
static const uint64_t BITS = (1 << CLOCK_SHIFT) - 1;

static uint64_t used[WORDS], proposed[WORDS];
static uint64_t clock; /* blocks are taken in the order of the clock, modulo their number */
static int in_use;
static struct weft_comm *owners[WEFT_CONTEXT_BLOCKS]; /* untouched pages take no memory */
static struct weft_bid *waiting;   /* bids that need more than a first proposal */
static struct weft_bid *exclusive; /* the one bid that proposes a range */

static uint64_t bit_of(int block)
{
    return (uint64_t)1 << block % 64;
}

static void take_block(int block)
{
    weft_assert(!(used[block / 64] & bit_of(block)) && !(proposed[block / 64] & bit_of(block)));
    used[block / 64] |= bit_of(block);
    in_use++;
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
    for (int i = WORDS - 1; i >= 0; i--) {
        uint64_t free_ones = ~(used[i] | proposed[i]);
        if (free_ones) {
            int block = 64 * i + 63 - __builtin_clzll(free_ones);
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
    owners[block] = NULL;
}

int weft_context_in_use(void)
{
    return in_use;
}

bool weft_context_is_expected(uint32_t block)
{
    return block < WEFT_CONTEXT_BLOCKS &&
           (used[block / 64] | proposed[block / 64]) & bit_of((int)block);
}

bool weft_context_repeats(void)
{
    return clock + RANGE_BLOCKS >= WEFT_CONTEXT_BLOCKS;
}

void weft_context_reset(void)
{
    for (int block = 0; block < WEFT_CONTEXT_BLOCKS && in_use > 0; block++)
        if (used[block / 64] & bit_of(block))
            weft_context_free(block);
    memset(proposed, 0, sizeof proposed);
    clock = 0;
    waiting = exclusive = NULL;
}

/* ---- Bids */

void weft_bid_open(struct weft_bid *bid, uint64_t key)
{
    memset(bid, 0, sizeof *bid);
    bid->key = key;
}

static int range_of(uint64_t time)
{
    return (int)(time % WEFT_CONTEXT_BLOCKS) / RANGE_BLOCKS;
}

/* The first word of the range of a bid's proposal. */
static int range_begin(const struct weft_bid *bid)
{
    return (range_of(bid->clock) + bid->ranges) % RANGES * WEFT_CONTEXT_RANGE;
}

/* Proposes the next free blocks of the bid's range. Returns false if all of them are taken. */
static bool propose_next(struct weft_bid *bid)
{
    bool any = false;
    int left = FIRST_PROPOSAL, begin = range_begin(bid), end = begin + WEFT_CONTEXT_RANGE;
    int first = (int)(bid->clock % WEFT_CONTEXT_BLOCKS);
    for (int i = first / 64; i < end && i < WORDS && left > 0; i++) {
        uint64_t after = i == first / 64 ? UINT64_MAX << first % 64 : UINT64_MAX;
        any |= (~used[i] & after) != 0;
        for (uint64_t free_ones = ~(used[i] | proposed[i]) & after; free_ones && left > 0; left--) {
            uint64_t lowest = free_ones & -free_ones;
            free_ones ^= lowest;
            bid->proposal[1 + i - begin] |= lowest;
        }
    }
    return any;
}

/* The first proposal: few blocks, so that other bids find free ones too. */
static void propose_few(struct weft_bid *bid)
{
    bid->clock = clock;
    for (int i = 0; i < RANGES && !propose_next(bid); i++) { /* goes to the next range */
        uint64_t at = bid->clock % WEFT_CONTEXT_BLOCKS,
                 next = (at / RANGE_BLOCKS + 1) * RANGE_BLOCKS;
        bid->clock += (next < WEFT_CONTEXT_BLOCKS ? next : WEFT_CONTEXT_BLOCKS) - at;
    }
}

static bool may_be_exclusive(const struct weft_bid *bid)
{
    for (const struct weft_bid *other = waiting; other; other = other->next)
        if (other->key < bid->key)
            return false;
    return !exclusive;
}

static void propose_range(struct weft_bid *bid)
{
    weft_assert(bid->waiting && exclusive != bid);
    bid->exclusive = may_be_exclusive(bid);
    if (!bid->exclusive)
        return;
    exclusive = bid;
    bid->proposal[0] |= ALL_EXCLUSIVE;
    int begin = range_begin(bid);
    for (int i = 0; i < WEFT_CONTEXT_RANGE && begin + i < WORDS; i++)
        bid->proposal[1 + i] = ~(used[begin + i] | proposed[begin + i]);
}

/* Sets the bits of a proposal in `proposed`; clears them at the second call. */
static void toggle_proposed(const struct weft_bid *bid)
{
    int begin = range_begin(bid);
    for (int i = 0; i < WEFT_CONTEXT_RANGE && begin + i < WORDS; i++) {
        uint64_t both = proposed[begin + i] & bid->proposal[1 + i];
        weft_assert(!both || both == bid->proposal[1 + i]);
        proposed[begin + i] ^= bid->proposal[1 + i];
    }
}

void weft_bid_propose(struct weft_bid *bid)
{
    memset(bid->proposal, 0, sizeof bid->proposal);
    if (bid->failed)
        return;
    bid->proposal[0] = ALL_WELL;
    if (bid->waiting)
        propose_range(bid);
    else
        propose_few(bid);
    bid->proposal[0] |= bid->clock << CLOCK_SHIFT;
    toggle_proposed(bid);
}

void weft_bid_nothing(uint64_t *words)
{
    memset(words, 0, WEFT_CONTEXT_WORDS * sizeof *words);
    words[0] = ALL_WELL;
}

void weft_bid_fail(uint64_t *words, const struct weft_bid_failure *failure)
{
    _Static_assert(sizeof *failure == WEFT_CONTEXT_RANGE * sizeof *words, "all words but one");
    words[0] = 0;
    memcpy(&words[1], failure, sizeof *failure);
}

bool weft_bid_failure(const uint64_t *words, struct weft_bid_failure *failure)
{
    memcpy(failure, &words[1], sizeof *failure);
    failure->reason[sizeof failure->reason - 1] = 0;
    return !(words[0] & ALL_WELL);
}

/* The failure of the lower rank wins, so that all members get the same one. */
static void combine_failures(uint64_t *words, const uint64_t *theirs)
{
    struct weft_bid_failure mine, other;
    bool failed = weft_bid_failure(words, &mine);
    if (weft_bid_failure(theirs, &other) && (!failed || other.rank < mine.rank))
        memcpy(words, theirs, WEFT_CONTEXT_WORDS * sizeof *words);
}

void weft_bid_combine(uint64_t *words, const uint64_t *theirs)
{
    if (!(words[0] & theirs[0] & ALL_WELL)) {
        combine_failures(words, theirs);
        return;
    }
    uint64_t mine = words[0] >> CLOCK_SHIFT, other = theirs[0] >> CLOCK_SHIFT;
    bool alike = range_of(mine) == range_of(other);
    words[0] = (words[0] & theirs[0] & BITS) | (mine > other ? mine : other) << CLOCK_SHIFT;
    for (int i = 1; i < WEFT_CONTEXT_WORDS; i++)
        words[i] &= alike ? theirs[i] : 0;
}

int weft_bid_pack(uint64_t *message, const uint64_t *words)
{
    int count = 2;
    message[0] = words[0];
    message[1] = 0;
    for (int i = 1; i < WEFT_CONTEXT_WORDS; i++)
        if (words[i]) {
            message[1] |= (uint64_t)1 << i;
            message[count++] = words[i];
        }
    return count;
}

void weft_bid_unpack(uint64_t *words, const uint64_t *message, size_t count)
{
    memset(words, 0, WEFT_CONTEXT_WORDS * sizeof *words);
    if (count < 2)
        return;
    words[0] = message[0];
    size_t next = 2;
    for (int i = 1; i < WEFT_CONTEXT_WORDS && next < count; i++)
        if (message[1] >> i & 1)
            words[i] = message[next++];
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

/* The first block of the combined proposals in the order of the clock, or -1. An exclusive bid
 * comes to its first range twice; only then it takes a block that the clock has passed there. */
static int choose_block(const struct weft_bid *bid, const uint64_t *words, uint64_t now)
{
    int begin = range_begin(bid), first = (int)(now % WEFT_CONTEXT_BLOCKS);
    bool all = bid->ranges > 0;
    for (int i = 0; i < WEFT_CONTEXT_RANGE; i++)
        for (uint64_t ones = words[1 + i]; ones; ones &= ones - 1) {
            int block = 64 * (begin + i) + __builtin_ctzll(ones);
            if (all || block >= first)
                return block < WEFT_CONTEXT_BLOCKS ? block : -1;
        }
    return -1;
}

/* Sets the clock behind a block. */
static void pass_block(int block, uint64_t now)
{
    uint64_t at = now % WEFT_CONTEXT_BLOCKS;
    uint64_t end = now + ((uint64_t)block + WEFT_CONTEXT_BLOCKS - at) % WEFT_CONTEXT_BLOCKS + 1;
    clock = end > clock ? end : clock;
}

/* A bid has failed here. If that is because of a death or a revocation, other members may have
 * taken one of its blocks, and send messages on it. */
static void pass_proposal(const struct weft_bid *bid)
{
    int begin = range_begin(bid);
    for (int i = 0; i < WEFT_CONTEXT_RANGE; i++)
        if (bid->proposal[1 + i])
            pass_block(64 * (begin + i) + 63 - __builtin_clzll(bid->proposal[1 + i]), bid->clock);
}

enum weft_bid_result weft_bid_settle(struct weft_bid *bid, const uint64_t *words, int *block)
{
    weft_assert(bid->exclusive == (exclusive == bid));
    toggle_proposed(bid);
    if (exclusive == bid)
        exclusive = NULL;
    bid->exclusive = false;
    enum weft_bid_result result = words[0] & ALL_WELL ? WEFT_BID_AGAIN : WEFT_BID_FAILED;
    uint64_t now = words[0] >> CLOCK_SHIFT;
    clock = now > clock ? now : clock;
    int chosen = result == WEFT_BID_AGAIN ? choose_block(bid, words, now) : -1;
    if (chosen >= 0) {
        take_block(*block = chosen);
        pass_block(chosen, now);
        result = WEFT_BID_TAKEN;
    }
    if (result == WEFT_BID_FAILED)
        pass_proposal(bid);
    if (result == WEFT_BID_AGAIN && (words[0] & ALL_EXCLUSIVE) && ++bid->ranges > RANGES)
        result = WEFT_BID_EXHAUSTED;
    if (result != WEFT_BID_AGAIN) {
        stop_waiting(bid);
    } else if (!bid->waiting) {
        bid->clock = now;
        bid->waiting = true;
        bid->next = waiting;
        waiting = bid;
    }
    return result;
}
