// SPDX-License-Identifier: BSD-3-Clause
/*
 * The sums of blocks of a domain: a block is the sum of its runs, runs that join are one run, and
 * runs that leave holes are not. Blocks of another rank that leave the domain, or have more bytes
 * than it, are found.
 */
#include "core/file/two_phase_internal.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <stdlib.h>
#include <string.h>

enum { TRIALS = 2000 };

static uint64_t random_state = 1;

static uint64_t random_below(uint64_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % n;
}

static void add_run(struct weft_file_sums *sums, int64_t at, uint64_t bytes)
{
    weft_file_add_block(sums, (struct weft_file_block){.at = at, .bytes = bytes, .count = 1});
}

static void blocks_are_runs(void **state)
{
    (void)state;
    for (int i = 0; i < TRIALS; i++) {
        struct weft_file_sums one = {0}, each = {0};
        struct weft_file_block block = {.bytes = 1 + random_below(100),
                                        .count = 1 + random_below(300)};
        block.stride = (int64_t)(block.bytes + random_below(3000));
        block.at = (int64_t)random_below(1000);
        weft_file_add_block(&one, block);
        for (uint64_t j = block.count; j-- > 0;)
            add_run(&each, block.at + (int64_t)j * block.stride, block.bytes);
        assert_memory_equal(&one, &each, sizeof one);
    }
}

/* Cuts a range into runs, in any order, and changes nothing or one run. */
static void runs_join(void **state)
{
    (void)state;
    for (int i = 0; i < TRIALS; i++) {
        struct weft_file_sums whole = {0}, cut = {0};
        int64_t begin = (int64_t)random_below(1000), at = begin;
        bool moved = random_below(2);
        for (uint64_t n = 2 + random_below(50); n > 0; n--) {
            uint64_t bytes = 1 + random_below(2000);
            add_run(&cut, moved && n == 1 ? begin : at, bytes);
            at += (int64_t)bytes;
        }
        add_run(&whole, begin, (uint64_t)(at - begin));
        assert_int_equal(whole.hash == cut.hash, !moved);
    }
}

static void equal_powers(void **state)
{
    (void)state;
    static const int64_t bytes[] = {0, 3, 5, 6};
    struct weft_file_sums whole = {0}, twice = {0};
    add_run(&whole, 0, 8);
    for (int i = 0; i < 8; i++)
        add_run(&twice, bytes[i % 4], 1);
    assert_true(whole.bytes == twice.bytes && whole.hash != twice.hash);
}

/* Sums of two ranks are added. */
static void ranks_add(void **state)
{
    (void)state;
    struct weft_file_sums whole = {0}, even = {0}, odd = {0};
    weft_file_add_block(&even, (struct weft_file_block){0, 16, 8, WEFT_FILE_DOMAIN_MOST / 16});
    weft_file_add_block(&odd, (struct weft_file_block){8, 16, 8, WEFT_FILE_DOMAIN_MOST / 16});
    add_run(&whole, 0, WEFT_FILE_DOMAIN_MOST);
    assert_int_equal(weft_file_add_hash(even.hash, odd.hash), whole.hash);
    assert_int_equal(odd.end, WEFT_FILE_DOMAIN_MOST);
}

static void blocks_are_checked(void **state)
{
    (void)state;
    enum { DOMAIN = WEFT_FILE_DOMAIN_MOST, MANY = 1 << 18 };
    static const struct weft_file_block good[] = {{0, 0, DOMAIN / 2, 1},
                                                  {DOMAIN / 2, 16, 8, DOMAIN / 32}},
                                        bad[] = {{-1, 0, 1, 1},     {0, 0, DOMAIN + 1, 1},
                                                 {DOMAIN, 0, 1, 1}, {0, 8, 9, DOMAIN / 8},
                                                 {0, -8, 8, 2},     {0, 0, 0, 1},
                                                 {0, 0, 1, 0},      {0, 0, DOMAIN, 2}};
    uint64_t bytes;
    assert_true(weft_file_check_blocks(good, 2, DOMAIN, &bytes));
    assert_int_equal(bytes, DOMAIN / 2 + DOMAIN / 4);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(weft_file_check_blocks(&bad[i], 1, DOMAIN, &bytes));
    /* 2^18 blocks of 2^46 bytes: the sum is 0 modulo 2^64. */
    struct weft_file_block *wraps = calloc(MANY, sizeof *wraps);
    assert_non_null(wraps);
    for (int i = 0; i < MANY; i++)
        wraps[i] = (struct weft_file_block){0, 0, DOMAIN, DOMAIN};
    assert_false(weft_file_check_blocks(wraps, MANY, DOMAIN, &bytes));
    free(wraps);
}

int main(void)
{
    weft_file_make_powers();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_runs),    cmocka_unit_test(runs_join),
        cmocka_unit_test(equal_powers),       cmocka_unit_test(ranks_add),
        cmocka_unit_test(blocks_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
