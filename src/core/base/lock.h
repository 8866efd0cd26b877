// SPDX-License-Identifier: BSD-3-Clause
/*
 * The lock of a VCI: with MPI_THREAD_MULTIPLE a thread that works on a VCI holds its lock.
 *
 * One word names the thread that holds a lock. Taking a free lock is one atomic instruction,
 * releasing it a plain store. A thread that polls keeps its lock until another thread waits for it
 * (weft_lock_wanted); then it releases the lock and steps back. A waiting thread spins, then
 * yields, then sleeps on a futex.
 *
 * While only one thread of the process has ever called MPI, it takes a lock without an atomic
 * instruction: it sets `alone` and checks that `weft_lock_shared` is not set. The second thread
 * sets weft_lock_shared for good, makes every thread pass a fence (membarrier), and waits until
 * `alone` is clear in every lock.
 *
 * Order: locks are numbered. A thread that waits for a lock holds no lock with a higher number: if
 * it does, weft_lock_wait releases these and takes them again afterwards. That happens only when
 * MPI is called from a callback of the user, where the state is consistent.
 *
 * Invariants:
 *  - owner is the number of the thread that holds the lock, 0 when none does; only that thread
 *    reads and writes depth.
 *  - alone is true only while the first thread holds the lock without an atomic instruction, or is
 *    about to see that it may not. Another thread first sees alone false after it has set
 *    weft_lock_shared and made every thread pass the fence.
 *  - A thread takes a lock at most STREAK times in succession while others wait for it.
 *  - A sleeping thread has read owner after it was counted in sleepers; the owner reads sleepers
 *    after it has cleared owner. The sleeper's membarrier orders the two.
 */
#ifndef WEFT_LOCK_H
#define WEFT_LOCK_H

#include "core/base/handle.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The most locks in a process; their numbers are below. */
enum { WEFT_LOCKS_MAX = 8 };

struct weft_lock {
    _Alignas(64) _Atomic uint32_t owner;
    _Atomic bool alone;
    uint8_t number;
    uint32_t depth; /* calls that the owner has made inside one another */
    uint32_t last,
        streak; /* the thread that took it last; how often in succession while others waited */
    _Atomic uint32_t waiters;  /* threads that wait, asleep or not */
    _Atomic uint32_t sleepers; /* those of them that may sleep */
    _Atomic uint32_t turns;    /* how often a waiting thread has taken it */
};

/* Threads that wait for any lock. */
extern WEFT_HIDDEN _Atomic uint32_t weft_lock_waiting;

/* True once a second thread may call MPI. */
extern WEFT_HIDDEN _Atomic bool weft_lock_shared;

/* The number of this thread, or 0 before its first call. (initial-exec: reading it is one
 * instruction.) */
extern WEFT_HIDDEN _Thread_local uint32_t weft_lock_thread
    __attribute__((tls_model("initial-exec")));

/* The slow paths of the functions below. */
WEFT_COLD void weft_lock_wait(struct weft_lock *lock);
WEFT_COLD void weft_lock_wake(struct weft_lock *lock);
WEFT_COLD void weft_lock_number_thread(void);
WEFT_COLD void weft_lock_defer(struct weft_lock *lock);

/* A short pause in a loop that waits for another thread. */
static inline void weft_lock_pause(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
}

/* Makes a lock known under its number; its memory begins as zero bytes. Before there are threads.
 */
void weft_lock_init(struct weft_lock *lock, unsigned number);

/* Chooses how to wait; may be called again. may_spin: this process has more than one core. */
void weft_lock_open(bool may_spin);

/* False while no thread but the first can take a lock. */
static inline bool weft_lock_is_shared(void)
{
    return atomic_load_explicit(&weft_lock_shared, memory_order_relaxed);
}

/* The only thread takes a lock that it does not hold. False: it holds it, or there are more
 * threads. */
static inline bool weft_lock_take_alone(struct weft_lock *lock, uint32_t me)
{
    if (weft_unlikely(atomic_load_explicit(&lock->owner, memory_order_relaxed)))
        return false;
    atomic_store_explicit(&lock->alone, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* completed by the other thread's membarrier */
    if (weft_unlikely(weft_lock_is_shared())) {
        atomic_store_explicit(&lock->alone, false, memory_order_release);
        return false;
    }
    atomic_store_explicit(&lock->owner, me, memory_order_relaxed);
    return true;
}

/* Takes the lock if it is free. True when this thread holds it now, also if it held it before. */
static inline bool weft_lock_try(struct weft_lock *lock)
{
    uint32_t none = 0;
    if (weft_unlikely(!weft_lock_thread))
        weft_lock_number_thread();
    uint32_t me = weft_lock_thread;
    if (!(weft_likely(!weft_lock_is_shared()) && weft_lock_take_alone(lock, me)) &&
        weft_unlikely(!atomic_compare_exchange_strong_explicit(
            &lock->owner, &none, me, memory_order_acquire, memory_order_relaxed))) {
        if (none != me)
            return false;
        weft_assert(lock->depth > 0);
        lock->depth++;
        return true;
    }
    lock->depth = 1;
    return true;
}

/* True when another thread waits for the lock. */
static inline bool weft_lock_wanted(const struct weft_lock *lock)
{
    return atomic_load_explicit(&lock->waiters, memory_order_relaxed) != 0;
}

/* Takes the lock, once more if this thread holds it already. */
static inline void weft_lock_enter(struct weft_lock *lock)
{
    if (weft_unlikely(!weft_lock_try(lock)))
        weft_lock_wait(lock);
    else if (weft_unlikely(weft_lock_wanted(lock)))
        weft_lock_defer(lock);
}

/* Takes a lock that no thread holds or waits for, for a short while. False, without effect: some
 * thread does, perhaps this one, or this is the thread's first call. */
static inline __attribute__((always_inline)) bool weft_lock_take(struct weft_lock *lock)
{
    uint32_t none = 0, me = weft_lock_thread;
    if (weft_unlikely(!me) || weft_unlikely(weft_lock_wanted(lock)))
        return false;
    if (!(weft_likely(!weft_lock_is_shared()) && weft_lock_take_alone(lock, me)) &&
        weft_unlikely(!atomic_compare_exchange_strong_explicit(
            &lock->owner, &none, me, memory_order_acquire, memory_order_relaxed)))
        return false;
    lock->depth = 1;
    return true;
}

/* True when this thread holds the lock. */
static inline bool weft_lock_is_mine(const struct weft_lock *lock)
{
    return weft_lock_thread &&
           atomic_load_explicit(&lock->owner, memory_order_relaxed) == weft_lock_thread;
}

/* Releases a lock that this thread holds once. */
static inline __attribute__((always_inline)) void weft_lock_give(struct weft_lock *lock)
{
    weft_assert(weft_lock_is_mine(lock) && lock->depth <= 1);
    atomic_store_explicit(&lock->owner, 0, memory_order_release);
    atomic_store_explicit(&lock->alone, false, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst); /* completed by the sleeper's membarrier */
    if (weft_unlikely(atomic_load_explicit(&lock->sleepers, memory_order_relaxed)))
        weft_lock_wake(lock);
}

/* Releases the lock; nothing happens if this thread does not hold it, because it entered MPI before
 * there were threads. */
static inline void weft_lock_leave(struct weft_lock *lock)
{
    if (weft_likely(weft_lock_is_mine(lock)) && weft_likely(!--lock->depth))
        weft_lock_give(lock);
}

/* After leaving a wanted lock: waits until a waiting thread has taken it, or a short time. turns:
 * the lock's turns before it was left. */
void weft_lock_step_back(struct weft_lock *lock, uint32_t turns);

/* Lets a waiting thread take a lock that this thread holds once, and takes it again. */
void weft_lock_pass(struct weft_lock *lock);

#endif
