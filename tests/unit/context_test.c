// SPDX-License-Identifier: BSD-3-Clause
/*
 * Bids for context ids, in one process; the test makes up the proposals of the other members. No
 * block is proposed by two bids at a time, or taken twice; a freed one is taken again after all
 * others; the waiting bid with the lowest key goes first; all blocks can be taken, and then a bid
 * is exhausted. Members whose clocks differ, in one process each here, agree on a block after all
 * of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/comm/context.h"

#include <stdlib.h>
#include <string.h>

static int reset(void **state)
{
    (void)state;
    weft_context_reset();
    return 0;
}

/* What comes back when every other member proposes all, or nothing. */
static enum weft_bid_result settle_alone(struct weft_bid *bid, int *block)
{
    uint64_t words[WEFT_CONTEXT_WORDS];
    memcpy(words, bid->proposal, sizeof words);
    return weft_bid_settle(bid, words, block);
}

static enum weft_bid_result settle_refused(struct weft_bid *bid)
{
    /* No member failed, but some other bid is not exclusive. */
    uint64_t words[WEFT_CONTEXT_WORDS] = {2};
    int block;
    return weft_bid_settle(bid, words, &block);
}

static bool proposes_anything(const struct weft_bid *bid)
{
    for (int i = 1; i < WEFT_CONTEXT_WORDS; i++)
        if (bid->proposal[i])
            return true;
    return false;
}

static bool overlap(const struct weft_bid *a, const struct weft_bid *b)
{
    for (int i = 1; i < WEFT_CONTEXT_WORDS; i++)
        if (a->proposal[i] & b->proposal[i])
            return true;
    return false;
}

static int take_one(void)
{
    struct weft_bid bid;
    enum weft_bid_result result;
    int block = -1;
    weft_bid_open(&bid, 1);
    do {
        weft_bid_propose(&bid);
        result = settle_alone(&bid, &block);
    } while (result == WEFT_BID_AGAIN);
    assert_int_equal(result, WEFT_BID_TAKEN);
    return block;
}

static void freed_last(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++)
        assert_int_equal(take_one(), i);
    weft_context_free(77);
    assert_int_equal(weft_context_in_use(), 199);
    assert_false(weft_context_is_expected(77));
    for (int i = 200; i < WEFT_CONTEXT_BLOCKS; i++) {
        assert_int_equal(take_one(), i);
        weft_context_free(i);
    }
    assert_true(weft_context_repeats());
    assert_int_equal(take_one(), 77);
    assert_int_equal(take_one(), 200);
}

/* A communicator of one process takes a block that the others come to last. */
static void alone(void **state)
{
    (void)state;
    assert_int_equal(weft_context_take(), WEFT_CONTEXT_BLOCKS - 1);
    assert_int_equal(weft_context_take(), WEFT_CONTEXT_BLOCKS - 2);
    weft_context_free(WEFT_CONTEXT_BLOCKS - 1);
    assert_int_equal(weft_context_take(), WEFT_CONTEXT_BLOCKS - 1);
    assert_int_equal(take_one(), 0);
}

/* The words that the others propose were made by a process with another clock. */
static void different_clocks(void **state)
{
    static const int ahead[] = {3, 40, 5000, WEFT_CONTEXT_BLOCKS - 10, WEFT_CONTEXT_BLOCKS + 7};
    (void)state;
    for (size_t i = 0; i < sizeof ahead / sizeof *ahead; i++) {
        struct weft_bid mine, theirs;
        uint64_t words[WEFT_CONTEXT_WORDS];
        enum weft_bid_result result;
        int block = -1, rounds = 0;
        weft_context_reset();
        for (int k = 0; k < ahead[i]; k++)
            weft_context_free(take_one());
        weft_bid_open(&theirs, 1);
        weft_bid_propose(&theirs);
        memcpy(words, theirs.proposal, sizeof words);
        weft_context_reset(); /* from here on a process whose clock is 0 */
        weft_bid_open(&mine, 1);
        do {
            weft_bid_propose(&mine);
            if (rounds++)
                memcpy(words, mine.proposal, sizeof words);
            else
                weft_bid_combine(words, mine.proposal);
            result = weft_bid_settle(&mine, words, &block);
        } while (result == WEFT_BID_AGAIN);
        assert_int_equal(result, WEFT_BID_TAKEN);
        assert_int_equal(block, ahead[i] % WEFT_CONTEXT_BLOCKS);
        assert_int_equal(take_one(), (ahead[i] + 1) % WEFT_CONTEXT_BLOCKS);
    }
}

static void no_overlap(void **state)
{
    (void)state;
    struct weft_bid bids[5];
    int blocks[5];
    for (int i = 0; i < 5; i++) {
        weft_bid_open(&bids[i], (uint64_t)i);
        weft_bid_propose(&bids[i]);
        assert_true(proposes_anything(&bids[i]));
        for (int k = 0; k < i; k++)
            assert_false(overlap(&bids[i], &bids[k]));
    }
    for (int i = 4; i >= 0; i--) {
        assert_int_equal(settle_alone(&bids[i], &blocks[i]), WEFT_BID_TAKEN);
        for (int k = 4; k > i; k--)
            assert_int_not_equal(blocks[i], blocks[k]);
    }
}

static void lowest_key_first(void **state)
{
    (void)state;
    struct weft_bid low, high, late;
    int block;
    weft_bid_open(&high, 9);
    weft_bid_open(&low, 3);
    weft_bid_propose(&high);
    weft_bid_propose(&low);
    assert_int_equal(settle_refused(&high), WEFT_BID_AGAIN);
    /* No other bid waits: the bid is exclusive and proposes all free blocks of the range but those
     * of low. */
    weft_bid_propose(&high);
    assert_true(high.exclusive);
    assert_false(overlap(&high, &low));
    assert_int_equal(settle_refused(&low), WEFT_BID_AGAIN);
    /* The lower key waits for one round of the exclusive bid only. */
    weft_bid_propose(&low);
    assert_false(low.exclusive || proposes_anything(&low));
    assert_int_equal(settle_refused(&high), WEFT_BID_AGAIN);
    weft_bid_propose(&high);
    assert_false(high.exclusive);
    assert_int_equal(settle_refused(&low), WEFT_BID_AGAIN);
    weft_bid_propose(&low);
    assert_true(low.exclusive);
    /* A bid that begins now finds no block that the exclusive bid has not proposed. */
    weft_bid_open(&late, 1);
    weft_bid_propose(&late);
    assert_false(overlap(&late, &low));
    assert_int_equal(settle_alone(&low, &block), WEFT_BID_TAKEN);
    assert_int_equal(settle_refused(&high), WEFT_BID_AGAIN);
    assert_int_equal(settle_refused(&late), WEFT_BID_AGAIN);
    weft_bid_propose(&high);
    assert_false(high.exclusive);
    weft_bid_propose(&late);
    assert_true(late.exclusive);
    int other;
    assert_int_equal(settle_alone(&late, &other), WEFT_BID_TAKEN);
    assert_int_not_equal(block, other);
    assert_int_equal(settle_refused(&high), WEFT_BID_AGAIN);
    weft_bid_propose(&high);
    assert_true(high.exclusive);
    assert_int_equal(settle_alone(&high, &other), WEFT_BID_TAKEN);
}

static void all_and_no_more(void **state)
{
    (void)state;
    struct weft_bid bid;
    static bool taken[WEFT_CONTEXT_BLOCKS];
    int block;
    for (int i = 0; i < WEFT_CONTEXT_BLOCKS; i++) {
        enum weft_bid_result result;
        weft_bid_open(&bid, 1);
        do {
            weft_bid_propose(&bid);
            result = settle_alone(&bid, &block);
        } while (result == WEFT_BID_AGAIN);
        assert_int_equal(result, WEFT_BID_TAKEN);
        assert_false(taken[block]);
        taken[block] = true;
    }
    enum weft_bid_result result;
    weft_bid_open(&bid, 1);
    do {
        weft_bid_propose(&bid);
        result = settle_alone(&bid, &block);
    } while (result == WEFT_BID_AGAIN);
    assert_int_equal(result, WEFT_BID_EXHAUSTED);
    weft_context_free(WEFT_CONTEXT_BLOCKS - 1);
    weft_bid_open(&bid, 1);
    do {
        weft_bid_propose(&bid);
        result = settle_alone(&bid, &block);
    } while (result == WEFT_BID_AGAIN);
    assert_int_equal(result, WEFT_BID_TAKEN);
    assert_int_equal(block, WEFT_CONTEXT_BLOCKS - 1);
}

static void failure_is_common(void **state)
{
    (void)state;
    struct weft_bid bid;
    uint64_t words[WEFT_CONTEXT_WORDS];
    int block;
    weft_bid_open(&bid, 1);
    weft_bid_propose(&bid);
    memset(words, 0, sizeof words);
    assert_int_equal(weft_bid_settle(&bid, words, &block), WEFT_BID_FAILED);
    weft_bid_open(&bid, 1);
    bid.failed = true;
    weft_bid_propose(&bid);
    assert_int_equal(bid.proposal[0], 0);
    assert_false(proposes_anything(&bid));
    assert_int_equal(settle_alone(&bid, &block), WEFT_BID_FAILED);
    assert_int_equal(weft_context_in_use(), 0);
}

/* Members that got all proposals before a death may have taken a block of a bid that fails here. */
static void failed_bid_passes(void **state)
{
    struct weft_bid bid, next;
    uint64_t words[WEFT_CONTEXT_WORDS] = {0};
    int block;
    (void)state;
    weft_bid_open(&bid, 1);
    weft_bid_propose(&bid);
    assert_int_equal(weft_bid_settle(&bid, words, &block), WEFT_BID_FAILED);
    weft_bid_open(&next, 2);
    weft_bid_propose(&next);
    assert_false(overlap(&bid, &next));
}

/* All members get the failure of the lowest rank, in whatever order the words are combined. */
static void lowest_failure(void **state)
{
    enum { MEMBERS = 4 };
    uint64_t words[MEMBERS][WEFT_CONTEXT_WORDS], all[WEFT_CONTEXT_WORDS];
    struct weft_bid_failure failure = {0};
    (void)state;
    for (int i = 0; i < MEMBERS; i++) {
        weft_bid_nothing(words[i]);
        failure.code = 10 + i;
        failure.rank = i;
        if (i == 1 || i == 3)
            weft_bid_fail(words[i], &failure);
    }
    assert_false(weft_bid_failure(words[0], &failure));
    for (int first = 0; first < MEMBERS; first++) {
        memcpy(all, words[first], sizeof all);
        for (int i = 1; i <= MEMBERS; i++)
            weft_bid_combine(all, words[(first + i) % MEMBERS]);
        assert_true(weft_bid_failure(all, &failure));
        assert_int_equal(failure.rank, 1);
        assert_int_equal(failure.code, 11);
    }
}

/* A message has the words that are not 0, and any message can be unpacked. */
static void packed(void **state)
{
    uint64_t words[WEFT_CONTEXT_WORDS], message[WEFT_BID_PACKED], back[WEFT_CONTEXT_WORDS];
    struct weft_bid bid;
    (void)state;
    for (int i = 0; i < 3; i++) {
        weft_bid_open(&bid, 1);
        weft_bid_propose(&bid);
        memcpy(words, bid.proposal, sizeof words);
        if (i == 1)
            memset(words, 0xff, sizeof words);
        if (i == 2)
            words[WEFT_CONTEXT_WORDS - 1] = 5;
        int count = weft_bid_pack(message, words);
        assert_int_equal(count, i == 1 ? WEFT_BID_PACKED : 3 + (i == 2));
        weft_bid_unpack(back, message, (size_t)count);
        assert_memory_equal(back, words, sizeof words);
        weft_bid_unpack(back, message, (size_t)count - 1);
        assert_int_equal(back[i == 0 ? 1 : WEFT_CONTEXT_WORDS - 1], 0);
    }
    weft_bid_unpack(back, message, 1);
    assert_int_equal(back[0], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(freed_last, reset),
        cmocka_unit_test_setup(alone, reset),
        cmocka_unit_test_setup(different_clocks, reset),
        cmocka_unit_test_setup(no_overlap, reset),
        cmocka_unit_test_setup(lowest_key_first, reset),
        cmocka_unit_test_setup(all_and_no_more, reset),
        cmocka_unit_test_setup(failure_is_common, reset),
        cmocka_unit_test_setup(failed_bid_passes, reset),
        cmocka_unit_test_setup(lowest_failure, reset),
        cmocka_unit_test_setup(packed, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
