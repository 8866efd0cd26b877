// SPDX-License-Identifier: BSD-3-Clause
/*
 * The record of received messages (src/ofi/replay.c) beside a model, which keeps all numbers: each
 * sender has a limited number of messages in flight, which arrive in random order, some of them
 * again, at once or much later.
 *
 * Invariant: a failed check prints the seed; WEFT_TEST_SEED repeats the run.
 */
#include "ofi/replay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The longest disorder is 2 * (1024 + 1) messages: credits.c. */
enum { SENDERS = 3, DISORDER = 2050, MESSAGES = 30000 };

static uint64_t random_state;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33) % below;
}

/* All messages of a sender arrive once, and copies of arrived ones between them. */
static void arrive_in_disorder(struct weft_replays *replays, uint32_t sender, uint32_t first,
                               uint32_t disorder)
{
    static unsigned char arrived[MESSAGES];
    uint32_t lowest = 0, highest = 0, left = MESSAGES;
    memset(arrived, 0, sizeof arrived);
    while (left) {
        while (arrived[lowest])
            lowest++;
        uint32_t most = MESSAGES - lowest < disorder ? MESSAGES - lowest : disorder;
        uint32_t i = draw(4) ? lowest + draw(most) : lowest;
        if (draw(3) == 0)
            i = draw(highest + 1); /* also far behind the record */
        bool is_copy = arrived[i];
        if (!is_copy && i >= lowest + disorder)
            continue;
        enum weft_replay_result result = weft_replay_take(replays, sender, first + i);
        if (result != (is_copy ? WEFT_REPLAY_AGAIN : WEFT_REPLAY_FIRST))
            fail_msg("sender %u, message %u of those from %u on, %s: result %d", sender, i, first,
                     is_copy ? "a copy" : "not a copy", (int)result);
        arrived[i] = 1;
        left -= !is_copy;
        if (i > highest)
            highest = i;
    }
}

static void each_message_is_taken_once(void **state)
{
    (void)state;
    static const uint32_t disorders[] = {1, 2, 64, DISORDER};
    static const uint32_t firsts[] = {0, 1, UINT32_MAX - MESSAGES / 2, INT32_MAX - MESSAGES / 2};
    for (size_t d = 0; d < sizeof disorders / sizeof disorders[0]; d++)
        for (size_t f = 0; f < sizeof firsts / sizeof firsts[0]; f++) {
            struct weft_replays replays;
            weft_replays_open(&replays, SENDERS);
            for (uint32_t sender = 0; sender < SENDERS; sender++)
                arrive_in_disorder(&replays, sender, firsts[f], disorders[d]);
            weft_replays_close(&replays);
        }
}

/* Messages are missing where a send was cancelled, or all of them went to another receiver. */
static void a_gap_forgets_what_is_behind_it(void **state)
{
    (void)state;
    struct weft_replays replays;
    weft_replays_open(&replays, 1);
    uint32_t number = 5;
    for (uint32_t gap = 1; gap < 20000; gap = gap * 3 / 2 + 1, number += gap) {
        assert_int_equal(weft_replay_take(&replays, 0, number), WEFT_REPLAY_FIRST);
        assert_int_equal(weft_replay_take(&replays, 0, number), WEFT_REPLAY_AGAIN);
        for (uint32_t i = 1; i < gap && i < DISORDER; i++)
            assert_int_equal(weft_replay_take(&replays, 0, number - i), WEFT_REPLAY_FIRST);
        assert_int_equal(weft_replay_take(&replays, 0, 5), WEFT_REPLAY_AGAIN);
    }
    weft_replays_close(&replays);
}

int main(void)
{
    const char *text = getenv("WEFT_TEST_SEED");
    random_state = text ? strtoull(text, NULL, 0) : 28;
    printf("seed %llu\n", (unsigned long long)random_state);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_message_is_taken_once),
        cmocka_unit_test(a_gap_forgets_what_is_behind_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
