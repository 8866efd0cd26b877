// SPDX-License-Identifier: BSD-3-Clause
/*
 * The rule that spreads the messages of a communicator: sender and receiver compute the same
 * channel, messages that one receive could match have one channel, neighbouring tags and ranks have
 * different ones, and no argument leads out of the channels.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/comm/spread.h"

#include <limits.h>

enum { RANKS = 9, TAGS = 40 };

static void rules(void **state)
{
    (void)state;
    const unsigned tag = WEFT_ASSERT_NO_ANY_TAG, source = WEFT_ASSERT_NO_ANY_SOURCE;
    assert_int_equal(weft_spread_rule(0), WEFT_SPREAD_NONE);
    assert_int_equal(weft_spread_rule(~WEFT_ASSERT_AGREED), WEFT_SPREAD_NONE);
    assert_int_equal(weft_spread_rule(source), WEFT_SPREAD_BY_RANKS);
    assert_int_equal(weft_spread_rule(tag), WEFT_SPREAD_BY_TAG);
    assert_int_equal(weft_spread_rule(tag | source), WEFT_SPREAD_BY_TAG);
}

static void channels(void **state)
{
    (void)state;
    static const unsigned expected[] = {1, 1, 2, 2, 4, 4, 4, 4, 8};
    for (unsigned vci_numbers = 1; vci_numbers <= WEFT_LOCKS_MAX; vci_numbers++)
        assert_int_equal(weft_spread_channels(vci_numbers), expected[vci_numbers]);
}

static void both_ends(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= WEFT_LOCKS_MAX; n *= 2)
        for (int from = 0; from < RANKS; from++)
            for (int to = 0; to < RANKS; to++)
                for (int tag = 0; tag < TAGS; tag++)
                    for (int rule = WEFT_SPREAD_BY_TAG; rule <= WEFT_SPREAD_BY_RANKS; rule++)
                        assert_int_equal(weft_spread_index(rule, n, from, to, tag),
                                         weft_spread_index(rule, n, to, from, tag));
}

/* A receive from any source gives no rank, and one of any tag gives no tag. */
static void wildcards(void **state)
{
    (void)state;
    for (int rank = 0; rank < RANKS; rank++)
        for (int tag = 0; tag < TAGS; tag++) {
            assert_int_equal(weft_spread_index(WEFT_SPREAD_BY_TAG, 8, 1, rank, tag),
                             weft_spread_index(WEFT_SPREAD_BY_TAG, 8, 1, MPI_ANY_SOURCE, tag));
            assert_int_equal(weft_spread_index(WEFT_SPREAD_BY_RANKS, 8, 1, rank, tag),
                             weft_spread_index(WEFT_SPREAD_BY_RANKS, 8, 1, rank, MPI_ANY_TAG));
        }
}

static void neighbours(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= WEFT_LOCKS_MAX; n *= 2)
        for (int first = 0; first < TAGS; first++) {
            unsigned tags = 0, ranks = 0;
            for (int i = 0; i < (int)n; i++) {
                tags |= 1U << weft_spread_index(WEFT_SPREAD_BY_TAG, n, 3, 5, first + i);
                ranks |= 1U << weft_spread_index(WEFT_SPREAD_BY_RANKS, n, 3, first + i, 7);
            }
            assert_int_equal(tags, (1U << n) - 1);
            assert_int_equal(ranks, (1U << n) - 1);
        }
}

static void bounds(void **state)
{
    (void)state;
    static const int odd[] = {INT_MIN, -5, MPI_PROC_NULL, MPI_ANY_TAG, MPI_ANY_SOURCE, INT_MAX};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        for (uint32_t n = 1; n <= WEFT_LOCKS_MAX; n *= 2) {
            assert_true(weft_spread_index(WEFT_SPREAD_BY_TAG, n, 0, 0, odd[i]) < n);
            assert_true(weft_spread_index(WEFT_SPREAD_BY_RANKS, n, INT_MAX, odd[i], 0) < n);
        }
}

/* Without a rule all messages have the channel p2p. */
static void channel_of_a_message(void **state)
{
    (void)state;
    static struct weft_comm comm;
    struct weft_channel spread[4];
    assert_ptr_equal(weft_comm_channel(&comm, 3, 7), &comm.p2p);
    comm.spread = spread;
    comm.spread_channels = 4;
    comm.spread_rule = WEFT_SPREAD_BY_TAG;
    assert_ptr_equal(weft_comm_channel(&comm, 3, 7), &spread[3]);
    comm.spread_rule = WEFT_SPREAD_BY_RANKS;
    comm.rank = 2;
    assert_ptr_equal(weft_comm_channel(&comm, 3, 7), &spread[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rules),
                                       cmocka_unit_test(channels),
                                       cmocka_unit_test(both_ends),
                                       cmocka_unit_test(wildcards),
                                       cmocka_unit_test(neighbours),
                                       cmocka_unit_test(bounds),
                                       cmocka_unit_test(channel_of_a_message)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
