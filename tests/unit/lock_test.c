// SPDX-License-Identifier: BSD-3-Clause
/*
 * The lock of a VCI when its second thread comes: at any moment of what the first does with a
 * lock that it has had for itself, once in each of many processes. Nobody may find another one
 * under the lock, whether the first is busy, waits inside for the second, or has the lock twice.
 * The moments that matter are too short to be met often, so one of them is also made to last.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/lock.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 300, TURNS = 20, INSIDE = 200, ORDERS = 20000 };

static struct weft_lock lock, lower;

static _Atomic uint32_t inside; /* who says so; looked at again after a while */
static _Atomic bool met, second_came, second_done;

static void open_locks(void)
{
    weft_lock_init(&lower, 0);
    weft_lock_init(&lock, 1);
    weft_lock_open(true);
}

static void be_inside(uint32_t me, bool twice)
{
    weft_lock_enter(&lock);
    if (twice)
        weft_lock_enter(&lock);
    atomic_store_explicit(&inside, me, memory_order_relaxed);
    for (volatile int i = 0; i < INSIDE; i++)
        ;
    if (atomic_load_explicit(&inside, memory_order_relaxed) != me)
        met = true;
    if (twice)
        weft_lock_leave(&lock);
    weft_lock_leave(&lock);
}

static void *second(void *arg)
{
    volatile unsigned delay = *(const unsigned *)arg;
    while (delay)
        delay--;
    for (int i = 0; i < TURNS; i++)
        be_inside(2, i % 7 == 0);
    second_done = true;
    return NULL;
}

/* In a process of its own: 0 when they did not meet. */
static int race(unsigned delay)
{
    pthread_t thread;
    open_locks();
    be_inside(1, true);
    if (weft_lock_is_shared() || pthread_create(&thread, NULL, second, &delay) != 0)
        return 2;
    for (int i = 0; !second_done; i++)
        be_inside(1, i % 64 == 0);
    pthread_join(thread, NULL);
    return met || !weft_lock_is_shared();
}

static void *come_once(void *arg)
{
    (void)arg;
    weft_lock_enter(&lock);
    second_came = true;
    weft_lock_leave(&lock);
    return NULL;
}

/* The first waits inside, and lets the other in when it is wanted. */
static int wait_inside(unsigned unused)
{
    pthread_t thread;
    (void)unused;
    open_locks();
    weft_lock_enter(&lock);
    if (pthread_create(&thread, NULL, come_once, NULL) != 0)
        return 2;
    while (!second_came)
        if (weft_lock_wanted(&lock))
            weft_lock_pass(&lock);
    int mine = weft_lock_is_mine(&lock) && lock.depth == 1;
    weft_lock_leave(&lock);
    pthread_join(thread, NULL);
    return mine ? 0 : 1;
}

/* The first is about to take the lock: it has said that it is inside, and not yet looked whether
 * others may be. */
static int wait_outside(unsigned unused)
{
    pthread_t thread;
    (void)unused;
    open_locks();
    be_inside(1, false);
    atomic_store(&lock.alone, true);
    if (pthread_create(&thread, NULL, come_once, NULL) != 0)
        return 2;
    while (!weft_lock_is_shared())
        ;
    usleep(20000);
    int early = second_came;
    atomic_store(&lock.alone, false);
    pthread_join(thread, NULL);
    return early || !second_came;
}

/* Two threads that take two locks in opposite orders, as nested calls may: the one that holds the
 * higher lock and waits for the lower one gives the higher one up meanwhile. */
static void *take_downwards(void *arg)
{
    for (int i = 0; i < ORDERS; i++) {
        be_inside(2, i % 2);
        weft_lock_enter(&lock);
        weft_lock_enter(&lock);
        weft_lock_enter(&lower);
        if (lock.depth != 2 || !weft_lock_is_mine(&lock))
            met = true;
        weft_lock_leave(&lower);
        weft_lock_leave(&lock);
        weft_lock_leave(&lock);
    }
    return arg;
}

static int opposite_orders(unsigned unused)
{
    pthread_t thread;
    (void)unused;
    open_locks();
    be_inside(1, false);
    if (pthread_create(&thread, NULL, take_downwards, NULL) != 0)
        return 2;
    for (int i = 0; i < ORDERS; i++) {
        weft_lock_enter(&lower);
        be_inside(1, i % 2);
        weft_lock_leave(&lower);
    }
    pthread_join(thread, NULL);
    return met;
}

static int outcome_of(int (*body)(unsigned), unsigned arg)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        _exit(body(arg));
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    return status;
}

static void they_do_not_meet(void **state)
{
    (void)state;
    srand(4711);
    for (int i = 0; i < PROCESSES; i++)
        assert_int_equal(outcome_of(race, (unsigned)rand() % 1000), 0);
}

static void the_first_lets_the_second_in(void **state)
{
    (void)state;
    for (int i = 0; i < PROCESSES / 20; i++)
        assert_int_equal(outcome_of(wait_inside, 0), 0);
}

static void the_second_waits_for_the_first(void **state)
{
    (void)state;
    assert_int_equal(outcome_of(wait_outside, 0), 0);
}

static void opposite_orders_do_not_block(void **state)
{
    (void)state;
    assert_int_equal(outcome_of(opposite_orders, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_do_not_meet),
        cmocka_unit_test(the_first_lets_the_second_in),
        cmocka_unit_test(the_second_waits_for_the_first),
        cmocka_unit_test(opposite_orders_do_not_block),
    };
    return cmocka_run_group_tests_name("lock", tests, NULL, NULL);
}
