// SPDX-License-Identifier: BSD-3-Clause
/*
 * Waiting for the lock of the process, and letting others have it: see lock.h.
 *
 * A fence in weft_lock_leave would cost every call as much as taking the lock. So the one who is about
 * to sleep, and has time, makes all threads of the process pass a fence (membarrier), as in
 * shm/doorbell.c. Where the kernel has none, it sleeps UNSURE_US at most.
 */
#include "core/process/lock.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* What a waiting thread does before it sleeps; how often a thread may go before it; how often one
 * that steps back yields before it takes the lock after all, because whoever waits has no core. */
enum {
    SPINS = 300,
    YIELDS = 20,
    STREAK = 32,
    STEP_BACK_SPINS = 60,
    STEP_BACK_YIELDS = 8,
    CELL_SPINS = 30
};
enum { SURE_US = 100000, UNSURE_US = 500 };

struct weft_lock weft_lock = {.shared = true}; /* until the fence is known to work */
_Thread_local uint32_t weft_lock_thread;

static _Atomic uint32_t threads; /* that have a number, or are about to */
static unsigned spins;           /* SPINS, or 0 on one core */
static bool barrier;

static int membarrier(int command)
{
    return (int)syscall(SYS_membarrier, command, 0, 0);
}

void weft_lock_open(bool may_spin)
{
    spins = may_spin ? SPINS : 0;
    if (barrier)
        return;
    int commands = membarrier(MEMBARRIER_CMD_QUERY);
    barrier = commands > 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) &&
              membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
    if (!barrier)
        return;
    atomic_store(&weft_lock.shared, false);
    if (atomic_load(&threads) > 1) /* who is counted later says so itself, later */
        atomic_store(&weft_lock.shared, true);
}

/* There is a second thread. Should the fence fail, which it cannot where it was registered, time
 * stands in for it: no store stays in a core's buffer for a millisecond. */
static void wait_for_first(void)
{
    atomic_fetch_add_explicit(&weft_lock.waiters, 1, memory_order_relaxed);
    atomic_store(&weft_lock.shared, true);
    if (barrier && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    for (unsigned n = 0; atomic_load_explicit(&weft_lock.alone, memory_order_acquire); n++)
        if (n < YIELDS)
            sched_yield();
        else
            nanosleep(&(struct timespec){.tv_nsec = UNSURE_US * 1000L}, NULL);
    atomic_fetch_sub_explicit(&weft_lock.waiters, 1, memory_order_relaxed);
}

void weft_lock_number_thread(void)
{
    uint32_t before = atomic_fetch_add(&threads, 1);
    if (before)
        wait_for_first();
    weft_lock_thread = before + 1;
}

static void sleep_until_free(void)
{
    atomic_fetch_add(&weft_lock.sleepers, 1);
    bool sure = barrier && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
    struct timespec time = {.tv_nsec = (sure ? SURE_US : UNSURE_US) * 1000L};
    uint32_t owner = atomic_load(&weft_lock.owner);
    if (owner)
        syscall(SYS_futex, &weft_lock.owner, FUTEX_WAIT_PRIVATE, owner, &time, NULL, 0);
    atomic_fetch_sub(&weft_lock.sleepers, 1);
}

void weft_lock_wake(void)
{
    syscall(SYS_futex, &weft_lock.owner, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void weft_lock_wait(void)
{
    atomic_fetch_add_explicit(&weft_lock.waiters, 1, memory_order_relaxed);
    for (unsigned n = 0;; n++) {
        if (!atomic_load_explicit(&weft_lock.owner, memory_order_relaxed) && weft_lock_try())
            break;
        if (n < spins)
            weft_lock_pause();
        else if (n < spins + YIELDS)
            sched_yield();
        else
            sleep_until_free();
    }
    atomic_fetch_sub_explicit(&weft_lock.waiters, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&weft_lock.turns, 1, memory_order_relaxed);
}

/* Waits, without the lock, until one of those who wait has got it. */
static void step_back(void)
{
    uint32_t turns = atomic_load_explicit(&weft_lock.turns, memory_order_relaxed);
    for (unsigned n = 0; n < STEP_BACK_SPINS + STEP_BACK_YIELDS; n++) {
        if (!weft_lock_wanted() ||
            atomic_load_explicit(&weft_lock.turns, memory_order_relaxed) != turns)
            return;
        if (spins && n < STEP_BACK_SPINS)
            weft_lock_pause();
        else
            sched_yield();
    }
}

void weft_lock_pass(void)
{
    bool cells = weft_lock.cells;
    weft_lock_leave();
    for (unsigned n = 0; cells && n < CELL_SPINS; n++)
        weft_lock_pause(); /* who works in a cell looks for it again soon */
    step_back();
    if (!weft_lock_try())
        weft_lock_wait();
    weft_lock.streak = 0;
}

/* This thread has just taken the lock before others who wait. */
void weft_lock_defer(void)
{
    if (weft_lock.depth > 1)
        return;
    weft_lock.streak = weft_lock.last == weft_lock_thread ? weft_lock.streak + 1 : 0;
    weft_lock.last = weft_lock_thread;
    if (weft_lock.streak >= STREAK)
        weft_lock_pass();
}
