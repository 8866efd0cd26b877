// SPDX-License-Identifier: BSD-3-Clause
/*
 * Waiting for the lock of a VCI, and letting other threads take it; see lock.h.
 *
 * A fence in weft_lock_leave would cost every call as much as taking the lock. So a thread that is
 * about to sleep makes all threads of the process pass a fence (membarrier), as in shm/doorbell.c.
 * Where the kernel has no membarrier, it sleeps UNSURE_US at most.
 */
#include "core/base/lock.h"

#include "core/base/membarrier.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A waiting thread spins SPINS times and yields YIELDS times before it sleeps. A thread that took
 * the lock STREAK times in succession while others waited steps back: it spins, then yields, and
 * then takes the lock after all, because the waiting thread has no core. */
enum { SPINS = 300, YIELDS = 20, STREAK = 32, STEP_BACK_SPINS = 60, STEP_BACK_YIELDS = 8 };
enum { SURE_US = 100000, UNSURE_US = 500 };

_Atomic bool weft_lock_shared = true; /* until membarrier is known to work */
_Atomic uint32_t weft_lock_waiting;
_Thread_local uint32_t weft_lock_thread;

static struct weft_lock *locks[WEFT_LOCKS_MAX];
static _Atomic uint32_t threads; /* that have a number, or are about to */
static unsigned spins;           /* SPINS, or 0 on one core */
static bool barrier;

void weft_lock_init(struct weft_lock *lock, unsigned number)
{
    weft_assert(number < WEFT_LOCKS_MAX && (!locks[number] || locks[number] == lock));
    lock->number = (uint8_t)number;
    locks[number] = lock;
}

void weft_lock_open(bool may_spin)
{
    spins = may_spin ? SPINS : 0;
    if (barrier)
        return;
    weft_membarrier_register();
    barrier = weft_membarrier_is_registered(WEFT_MEMBARRIER_THREADS);
    if (!barrier)
        return;
    atomic_store(&weft_lock_shared, false);
    if (atomic_load(&threads) > 1) /* a thread that is counted later sets it itself */
        atomic_store(&weft_lock_shared, true);
}

static void count_waiter(struct weft_lock *lock, uint32_t by)
{
    atomic_fetch_add_explicit(&lock->waiters, by, memory_order_relaxed);
    atomic_fetch_add_explicit(&weft_lock_waiting, by, memory_order_relaxed);
}

static void wait_until_left(struct weft_lock *lock)
{
    count_waiter(lock, 1);
    for (unsigned n = 0; atomic_load_explicit(&lock->alone, memory_order_acquire); n++)
        if (n < YIELDS)
            sched_yield();
        else
            nanosleep(&(struct timespec){.tv_nsec = UNSURE_US * 1000L}, NULL);
    count_waiter(lock, (uint32_t)-1);
}

/* There is a second thread. If membarrier fails, this rank waits a millisecond instead: no store
 * stays in a core's buffer that long. */
static void wait_for_first(void)
{
    atomic_store(&weft_lock_shared, true);
    if (barrier && !weft_membarrier(WEFT_MEMBARRIER_THREADS))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    for (int i = 0; i < WEFT_LOCKS_MAX; i++)
        if (locks[i])
            wait_until_left(locks[i]);
}

void weft_lock_number_thread(void)
{
    uint32_t before = atomic_fetch_add(&threads, 1);
    if (before)
        wait_for_first();
    weft_lock_thread = before + 1;
}

static void sleep_until_free(struct weft_lock *lock)
{
    atomic_fetch_add(&lock->sleepers, 1);
    bool sure = weft_membarrier(WEFT_MEMBARRIER_THREADS);
    struct timespec time = {.tv_nsec = (sure ? SURE_US : UNSURE_US) * 1000L};
    uint32_t owner = atomic_load(&lock->owner);
    if (owner)
        syscall(SYS_futex, &lock->owner, FUTEX_WAIT_PRIVATE, owner, &time, NULL, 0);
    atomic_fetch_sub(&lock->sleepers, 1);
}

void weft_lock_wake(struct weft_lock *lock)
{
    syscall(SYS_futex, &lock->owner, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void wait_for_one(struct weft_lock *lock)
{
    count_waiter(lock, 1);
    for (unsigned n = 0;; n++) {
        if (!atomic_load_explicit(&lock->owner, memory_order_relaxed) && weft_lock_try(lock))
            break;
        if (n < spins)
            weft_lock_pause();
        else if (n < spins + YIELDS)
            sched_yield();
        else
            sleep_until_free(lock);
    }
    count_waiter(lock, (uint32_t)-1);
    atomic_fetch_add_explicit(&lock->turns, 1, memory_order_relaxed);
}

void weft_lock_wait(struct weft_lock *lock)
{
    uint32_t depths[WEFT_LOCKS_MAX] = {0};
    for (int i = lock->number + 1; i < WEFT_LOCKS_MAX; i++)
        if (locks[i] && weft_lock_is_mine(locks[i])) {
            depths[i] = locks[i]->depth;
            locks[i]->depth = 1;
            weft_lock_leave(locks[i]);
        }
    wait_for_one(lock);
    for (int i = lock->number + 1; i < WEFT_LOCKS_MAX; i++)
        if (depths[i]) {
            if (!weft_lock_try(locks[i]))
                wait_for_one(locks[i]);
            weft_assert(weft_lock_is_mine(locks[i]) && locks[i]->depth == 1);
            locks[i]->depth = depths[i];
        }
}

void weft_lock_step_back(struct weft_lock *lock, uint32_t turns)
{
    for (unsigned n = 0; n < STEP_BACK_SPINS + STEP_BACK_YIELDS; n++) {
        if (!weft_lock_wanted(lock) ||
            atomic_load_explicit(&lock->turns, memory_order_relaxed) != turns)
            return;
        if (spins && n < STEP_BACK_SPINS)
            weft_lock_pause();
        else
            sched_yield();
    }
}

void weft_lock_pass(struct weft_lock *lock)
{
    weft_assert(weft_lock_is_mine(lock) && lock->depth == 1);
    uint32_t turns = atomic_load_explicit(&lock->turns, memory_order_relaxed);
    weft_lock_leave(lock);
    weft_lock_step_back(lock, turns);
    if (!weft_lock_try(lock))
        weft_lock_wait(lock);
    lock->streak = 0;
}

/* This thread has just taken the lock before threads that wait for it. */
void weft_lock_defer(struct weft_lock *lock)
{
    weft_assert(weft_lock_is_mine(lock));
    if (lock->depth > 1)
        return;
    lock->streak = lock->last == weft_lock_thread ? lock->streak + 1 : 0;
    lock->last = weft_lock_thread;
    if (lock->streak >= STREAK)
        weft_lock_pass(lock);
}
