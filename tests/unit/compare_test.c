// SPDX-License-Identifier: BSD-3-Clause
/*
 * Lost messages (src/ofi/compare.c) beside a model of a connection: a sender and a receiver that
 * call the library or are stopped, messages and COMPAREs that arrive in order, some of which
 * complete later than those that follow, resets that lose all that is under way.
 *
 * Invariant: a failed check prints the seed; WEFT_TEST_SEED repeats the run.
 */
#include "core/message/process.h"
#include "ofi/ofi_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 400, MOST_PAUSE = 400 };

static const double tick = 0.1; /* seconds of one turn */

struct flying {
    bool compare;
    uint32_t claimed;
};

static struct model {
    struct weft_net_compare at_sender, at_receiver;
    uint32_t sent, taken, lost, late; /* late: arrived, and not complete */
    struct flying flying[MOST];
    unsigned in_flight;
    double now;
} model;
static uint64_t state_of_random;

static unsigned draw(unsigned below)
{
    state_of_random =
        state_of_random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state_of_random >> 33) % below;
}

static void fly(struct flying message)
{
    if (model.in_flight < MOST)
        model.flying[model.in_flight++] = message;
    else if (!message.compare)
        model.lost++; /* as in a reset */
}

static void reset_connection(void)
{
    for (unsigned i = 0; i < model.in_flight; i++)
        model.lost += !model.flying[i].compare;
    model.in_flight = 0;
}

static void sender_waits(void)
{
    if (weft_net_compare_due(&model.at_sender, model.sent, model.now))
        fly((struct flying){.compare = true, .claimed = model.sent});
}

/* The receiver takes all that has arrived. Returns how many it found to be lost. */
static uint32_t receiver_calls(void)
{
    uint32_t lost = 0;
    model.taken += model.late;
    model.late = 0;
    for (unsigned i = 0; i < model.in_flight; i++) {
        bool missing;
        if (!model.flying[i].compare) {
            bool completes_late = !draw(20);
            model.taken += !completes_late;
            model.late += completes_late;
            continue;
        }
        uint32_t found = weft_net_compare_lost(&model.at_receiver, model.flying[i].claimed,
                                               model.taken, model.now, &missing);
        if (!missing)
            model.at_sender.confirmed = model.flying[i].claimed;
        lost = found ? found : lost;
    }
    model.in_flight = 0;
    return lost;
}

static void start(void)
{
    model = (struct model){.now = 1000};
    model.sent = model.taken = draw(2) ? 0 : UINT32_MAX - draw(50); /* the numbers wrap around */
    model.at_sender.confirmed = model.sent;
}

/* Random traffic, in which the receiver pauses for up to 40 seconds. */
static void run(bool resets)
{
    unsigned pause = 0;
    start();
    for (int turn = 0; turn < 2000; turn++) {
        model.now += tick;
        if (turn < 1500 && !draw(8))
            for (unsigned n = 1 + draw(5); n-- > 0; model.sent++)
                fly((struct flying){0});
        else if (draw(3))
            sender_waits();
        if (resets && turn < 1500 && !draw(200))
            reset_connection();
        if (pause == 0 && !draw(100))
            pause = draw(MOST_PAUSE);
        if (pause > 0) {
            pause--;
            continue;
        }
        uint32_t lost = receiver_calls();
        assert_true(lost <= model.lost);
        if (lost)
            return;
    }
    for (int turn = 0; turn < 400; turn++) { /* the sender only waits */
        model.now += tick;
        sender_waits();
        uint32_t lost = receiver_calls();
        assert_true(lost == 0 || lost == model.lost);
        if (lost)
            return;
    }
    assert_int_equal(model.lost, 0);
    assert_int_equal(model.at_sender.confirmed, model.sent);
}

static void no_false_alarm(void **state)
{
    (void)state;
    for (int i = 0; i < 500; i++)
        run(false);
}

static void every_loss_is_found(void **state)
{
    (void)state;
    for (int i = 0; i < 500; i++)
        run(true);
}

/* A lost message is found within eight seconds if both ranks wait. */
static void in_time(void **state)
{
    (void)state;
    start();
    fly((struct flying){0});
    model.sent++;
    reset_connection();
    double end = model.now + 8;
    uint32_t lost = 0;
    while (!lost && model.now < end) {
        model.now += tick;
        sender_waits();
        lost = receiver_calls();
        if (model.at_receiver.times) /* the reply: see weft_net_compared */
            model.at_sender.wait = 1;
    }
    assert_int_equal(lost, 1);
}

int main(void)
{
    const char *seed = getenv("WEFT_TEST_SEED");
    state_of_random = seed ? strtoull(seed, NULL, 0) : 1;
    printf("# WEFT_TEST_SEED=%llu\n", (unsigned long long)state_of_random);
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_false_alarm),
                                       cmocka_unit_test(every_loss_is_found),
                                       cmocka_unit_test(in_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
