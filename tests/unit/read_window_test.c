// SPDX-License-Identifier: BSD-3-Clause
/*
 * The window of reads (src/ofi/read_window.c) over a model of a link: a request takes half a round
 * trip, data leave the peer one after the other at the link's rate and take the other half.
 */
#include "ofi/read_window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { IN_FLIGHT = 1024, CHUNK = 1 << 20 };

static double now; /* seconds */

static double model_clock(void)
{
    return now;
}

static struct link {
    double rate, round_trip; /* bytes a second, seconds */
    double free_at;
    struct {
        double at;
        size_t bytes;
    } arriving[IN_FLIGHT]; /* in order, a ring */
    unsigned first, count;
} link;

static size_t piece_of(const struct weft_read_window *window, size_t message, size_t left)
{
    size_t piece = weft_read_window_piece(window, message, CHUNK);
    return piece < left ? piece : left;
}

static void request(struct weft_read_window *window, size_t bytes)
{
    double leaves = now + link.round_trip / 2;
    assert_true(link.count < IN_FLIGHT);
    if (leaves < link.free_at)
        leaves = link.free_at;
    link.free_at = leaves + (double)bytes / link.rate;
    unsigned at = (link.first + link.count++) % IN_FLIGHT;
    link.arriving[at].at = link.free_at + link.round_trip / 2;
    link.arriving[at].bytes = bytes;
    weft_read_window_start(window, bytes, model_clock);
}

/* Reads messages of that length, many at once, for so many seconds. Returns the part of the link
 * that was used, from `settled` seconds on. */
static double run(struct weft_read_window *window, size_t message, double seconds, double settled)
{
    size_t left = message;
    double from = -1, got = 0;
    link.free_at = now;
    link.first = link.count = 0;
    seconds += now;
    settled += now;
    while (now < seconds) {
        size_t piece = piece_of(window, message, left);
        while (weft_read_window_is_open(window, message)) {
            request(window, piece);
            left = left == piece ? message : left - piece;
            piece = piece_of(window, message, left);
        }
        now = link.arriving[link.first].at;
        size_t bytes = link.arriving[link.first].bytes;
        link.first = (link.first + 1) % IN_FLIGHT;
        link.count--;
        weft_read_window_end(window, bytes, model_clock);
        if (from >= 0)
            got += (double)bytes;
        else if (now >= settled)
            from = now;
    }
    while (window->reading) {
        now = link.arriving[link.first].at;
        weft_read_window_end(window, link.arriving[link.first].bytes, model_clock);
        link.first = (link.first + 1) % IN_FLIGHT;
        link.count--;
    }
    return got / (now - from) / link.rate;
}

static const double gigabit = 1e9 / 8;

/* Each path is full, and the bytes that are queued behind it leave within the period. */
static void fills_the_link(void **state)
{
    static const double rates[] = {0.05, 1, 10, 25, 100}; /* Gbit/s */
    static const double trips[] = {20e-6, 200e-6, 400e-6, 1e-3};
    static const size_t messages[] = {64 << 10, 1 << 20, 16 << 20};
    (void)state;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        for (size_t j = 0; j < sizeof trips / sizeof *trips; j++)
            for (size_t k = 0; k < sizeof messages / sizeof *messages; k++) {
                struct weft_read_window window;
                link.rate = rates[i] * gigabit;
                link.round_trip = trips[j];
                if (link.rate * link.round_trip > 16e6)
                    continue; /* more than the window may be */
                weft_read_window_open(&window, 0);
                double used = run(&window, messages[k], 2, 0.5);
                if (used < 0.95)
                    print_message("%g Gbit/s, %g us, %zu bytes: %.3f\n", rates[i], trips[j] * 1e6,
                                  messages[k], used);
                assert_true(used >= 0.95);
                double queued = (double)window.all / link.rate, least = 128 * 1024 / link.rate;
                double trip = 2 * (link.round_trip + 64 * 1024 / link.rate);
                double most = trip > 0.004 ? trip : 0.004;
                assert_true(queued <= 1.3 * (most > least ? most : least));
            }
}

/* The window follows a link that becomes slower, and faster again. */
static void follows_the_rate(void **state)
{
    struct weft_read_window window;
    (void)state;
    link.round_trip = 100e-6;
    link.rate = 10 * gigabit;
    weft_read_window_open(&window, 0);
    run(&window, 1 << 20, 1, 0);
    size_t wide = window.all;
    link.rate = 0.1 * gigabit;
    run(&window, 1 << 20, 3, 0);
    assert_true(window.all < wide / 8);
    link.rate = 10 * gigabit;
    assert_true(run(&window, 1 << 20, 1, 0.2) >= 0.95);
    assert_true(window.all > wide / 2);
}

static void keeps_what_is_set(void **state)
{
    struct weft_read_window window;
    (void)state;
    weft_read_window_open(&window, 256 << 10);
    link.round_trip = 100e-6;
    link.rate = 10 * gigabit;
    run(&window, 16 << 20, 0.1, 0);
    assert_int_equal(weft_read_window_of(&window, 1), 256 << 10);
    assert_int_equal(weft_read_window_of(&window, 16 << 20), 256 << 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_the_link),
        cmocka_unit_test(follows_the_rate),
        cmocka_unit_test(keeps_what_is_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
