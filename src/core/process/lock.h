// SPDX-License-Identifier: BSD-3-Clause
/*
 * The lock of the process: with MPI_THREAD_MULTIPLE every call that touches it holds this.
 *
 * One word says which thread has it; taking a free one is one atomic instruction, giving it back a
 * plain store. Nobody hands it over unasked: a thread that polls keeps it until others wait
 * (weft_lock_wanted), and then lets one of them in before it takes it again. Who waits spins, then
 * yields, then sleeps on a futex.
 *
 * As long as one thread only has ever called MPI, it takes the lock without an atomic instruction:
 * it says that it is inside (alone) and looks whether others may be (shared). The second thread that
 * comes sets shared for good, makes everyone pass a fence (membarrier), and waits until the first is
 * not inside.
 *
 * Invariants:
 *  - owner is the number of the thread that holds it, 0 when nobody does; only that thread reads and
 *    writes depth.
 *  - alone is true only while the first thread has taken the lock in that way, or is about to see
 *    that it may not. No other thread has ever tried to take it before it saw alone false and shared
 *    true with that fence between.
 *  - A thread takes the lock at most STREAK times in a row while others wait.
 *  - Who sleeps looked at the lock after it was counted in sleepers; who gives the lock back looks
 *    at sleepers afterwards. What orders the two is a fence that the sleeper makes everyone pass.
 */
#ifndef WEFT_LOCK_H
#define WEFT_LOCK_H

#include "core/object/handle.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct weft_lock {
    _Atomic uint32_t owner;
    _Atomic bool alone, shared;
    uint32_t depth;            /* calls that the owner has made inside one another */
    uint32_t last, streak;     /* who took it last; how often in a row while others waited */
    _Atomic uint32_t waiters;  /* threads that wait, asleep or not */
    _Atomic uint32_t sleepers; /* those of them that may sleep */
    _Atomic uint32_t turns;    /* how often somebody who waited has got it */
    uint32_t cells;            /* the holder's: a bit for each cell in use (core/pt2pt/cell.h) */
};

extern WEFT_HIDDEN struct weft_lock weft_lock;

/* The number of this thread, or 0 before its first call. Its place is known when the library is
 * loaded, so reading it is one instruction. */
extern WEFT_HIDDEN _Thread_local uint32_t weft_lock_thread
    __attribute__((tls_model("initial-exec")));

/* The slow ways of the functions below. */
WEFT_COLD void weft_lock_wait(void);
WEFT_COLD void weft_lock_wake(void);
WEFT_COLD void weft_lock_number_thread(void);
WEFT_COLD void weft_lock_defer(void);

/* The holder of the lock takes, and gives back, all cells in use: core/pt2pt/cell.c. */
WEFT_COLD void weft_cells_stop(void);
WEFT_COLD void weft_cells_go(void);

/* A moment of doing nothing, for loops that wait for another thread. */
static inline void weft_lock_pause(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
}

/* Prepares for threads, several times if need be: before there are any. may_spin: this process has
 * more than one core. */
void weft_lock_open(bool may_spin);

/* False while no thread but the first can be at the lock. */
static inline bool weft_lock_is_shared(void)
{
    return atomic_load_explicit(&weft_lock.shared, memory_order_relaxed);
}

/* The only thread takes a lock that it does not have. False: it has it, or another thread has come. */
static inline bool weft_lock_take_alone(uint32_t me)
{
    if (weft_unlikely(atomic_load_explicit(&weft_lock.owner, memory_order_relaxed)))
        return false;
    atomic_store_explicit(&weft_lock.alone, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* the other thread's fence does the rest */
    if (weft_unlikely(weft_lock_is_shared())) {
        atomic_store_explicit(&weft_lock.alone, false, memory_order_release);
        return false;
    }
    atomic_store_explicit(&weft_lock.owner, me, memory_order_relaxed);
    return true;
}

/* Takes the lock if it is free; true when this thread has it now, or had it before. */
static inline bool weft_lock_try(void)
{
    uint32_t none = 0;
    if (weft_unlikely(!weft_lock_thread))
        weft_lock_number_thread();
    uint32_t me = weft_lock_thread;
    if (!(weft_likely(!weft_lock_is_shared()) && weft_lock_take_alone(me)) &&
        weft_unlikely(!atomic_compare_exchange_strong_explicit(
            &weft_lock.owner, &none, me, memory_order_acquire, memory_order_relaxed))) {
        if (none != me)
            return false;
        weft_lock.depth++;
        return true;
    }
    weft_lock.depth = 1;
    if (weft_unlikely(weft_lock.cells))
        weft_cells_stop();
    return true;
}

/* True when others wait for the lock. */
static inline bool weft_lock_wanted(void)
{
    return atomic_load_explicit(&weft_lock.waiters, memory_order_relaxed) != 0;
}

/* Takes the lock; the thread that has it may take it again. */
static inline void weft_lock_enter(void)
{
    if (weft_unlikely(!weft_lock_try()))
        weft_lock_wait();
    else if (weft_unlikely(weft_lock_wanted()))
        weft_lock_defer();
}

static inline void weft_lock_let_go(void)
{
    atomic_store_explicit(&weft_lock.owner, 0, memory_order_release);
    atomic_store_explicit(&weft_lock.alone, false, memory_order_release);
}

/* Gives it back: this thread has it. */
static inline void weft_lock_give(void)
{
    if (weft_unlikely(--weft_lock.depth))
        return;
    if (weft_unlikely(weft_lock.cells))
        weft_cells_go();
    weft_lock_let_go();
    atomic_signal_fence(memory_order_seq_cst); /* the sleeper's fence does the rest */
    if (weft_unlikely(atomic_load_explicit(&weft_lock.sleepers, memory_order_relaxed)))
        weft_lock_wake();
}

/* True when this thread has the lock. */
static inline bool weft_lock_is_mine(void)
{
    return weft_lock_thread &&
           atomic_load_explicit(&weft_lock.owner, memory_order_relaxed) == weft_lock_thread;
}

/* The same, but nothing happens if this thread does not have it: it came before there were threads. */
static inline void weft_lock_leave(void)
{
    if (weft_likely(weft_lock_is_mine()))
        weft_lock_give();
}

/* True when this thread has the lock and no call of its own is inside another: then it may give the
 * lock away in the middle of a call. */
static inline bool weft_lock_is_outermost(void)
{
    return weft_lock.depth == 1;
}

/* Lets one of those who wait have the lock, and takes it again. */
void weft_lock_pass(void);

#endif
