// SPDX-License-Identifier: BSD-3-Clause
/*
 * Progress, and waiting for it: polls, then gives the core away, then sleeps.
 *
 * Invariant: who yields or sleeps here has given the lock of the process back before, unless a call
 * of the same thread is around this one.
 */
#include "core/comm/context_alloc.h"
#include "core/coll/coll.h"
#include "core/process/hang.h"
#include "core/pt2pt/partitioned.h"
#include "core/object/settings.h"
#include "core/rma/win.h"
#include "core/tool/count.h"
#include "core/process/weft.h"
#include "ofi/net.h"
#include "shm/shm.h"

#include <sched.h>
#include <unistd.h>

/* Polls without news before a rank that has a core of its own yields; one that shares its core
 * yields almost at once. */
enum {
    SPIN_ALONE = 20000,
    SPIN_SHARED = 4,
    SPIN_NET = 1, /* a poll of the network alone is a call into the kernel itself: that is dear */
    YIELDS_BEFORE_SLEEP = 4000,
    SLEEP_US = 50
};

/* In shared memory a writer wakes who sleeps, so one that shares its core can go to sleep sooner, and
 * longer each time: what else may happen (a death, the end of a fence) is looked for between. */
enum {
    YIELDS_BEFORE_BELL = 32,
    SLEEPS_OF_A_LENGTH = 16,
    LONG_SLEEP_US = 1000,
    LONGEST_SLEEP_US = 16000
};

enum { NET_TURN = 8 };

/* Every so many calls of weft_progress without news it asks whether a rank has died. */
enum { QUIET_TURN = 1024 };

/* What progress moves besides the lanes, while there is any of it. */
static inline bool others_move(void)
{
    return weft.others || weft_coll_active || weft.partitioned;
}

static int move_others(int events)
{
    events += weft_context_alloc_progress() + weft_coll_progress() + weft_partitioned_progress();
    if (weft.others & WEFT_OTHERS_WINDOWS)
        events += weft_rma_progress();
    if (weft_count_all()) {
        weft_counts.polls++;
        weft_counts.polls_with_events += events > 0;
    }
    return events;
}

WEFT_HOT int weft_progress(void)
{
    static unsigned quiet;
    int events = weft.shm ? weft_shm_progress() : 0;
    if (weft.net)
        events += weft_net_progress();
    if (weft_unlikely(others_move()))
        events = move_others(events);
    /* A program may wait by tests alone, and for a rank that is dead. */
    if (!events && ++quiet % QUIET_TURN == 0)
        events = weft_failure_check();
    return events;
}

WEFT_HOT int weft_poll(void)
{
    static unsigned turn;
    if (!weft.shm || weft_unlikely(others_move()))
        return weft_progress();
    int events = weft_shm_progress();
    if (!weft.net || ++turn % NET_TURN)
        return events;
    return events + weft_net_progress();
}

static void yield_core(void)
{
    __atomic_fetch_add(&weft_counts.yields, 1, __ATOMIC_RELAXED);
    sched_yield();
}

WEFT_COLD static void yield_between_looks(void)
{
    bool threads = weft_gate & WEFT_GATE_THREADS && weft_lock_is_outermost();
    if (threads)
        weft_lock_leave();
    yield_core();
    if (threads)
        weft_lock_enter();
}

void weft_look(void)
{
    static unsigned in_vain;
    if (weft_progress())
        in_vain = 0;
    else if (++in_vain >= (unsigned)weft.yield_after)
        yield_between_looks();
}

/* How long a rank sleeps after so many sleeps without news. */
static unsigned sleep_length(unsigned sleeps)
{
    unsigned doublings = sleeps / SLEEPS_OF_A_LENGTH;
    if (weft.net || !weft_shm_is_idle())
        return SLEEP_US; /* others bring news that ring no bell */
    return doublings < 9 ? SLEEP_US << doublings : LONGEST_SLEEP_US;
}

/* Gives the core away after so many polls without news. True after a sleep so long that what else a
 * waiting rank looks for is due. */
static bool yield_or_sleep(unsigned polls, bool threads)
{
    /* Threads come here without the lock. */
    bool bell = weft.shm && !threads;
    unsigned yields =
        bell && weft.yield_after == SPIN_SHARED ? YIELDS_BEFORE_BELL : YIELDS_BEFORE_SLEEP;
    unsigned begin = (unsigned)weft.yield_after + yields;
    if (polls <= begin) {
        yield_core();
        return false;
    }
    double begun = weft_seconds();
    unsigned length = bell ? sleep_length(polls - begin) : SLEEP_US;
    if (bell)
        weft_shm_sleep(length);
    else
        usleep(length);
    __atomic_fetch_add(&weft_counts.sleeps, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&weft_counts.asleep, (uint64_t)((weft_seconds() - begun) * 1e9),
                       __ATOMIC_RELAXED);
    return length >= LONG_SLEEP_US;
}

/* What weft_idle_for does beside counting, in turn n. */
static __attribute__((noinline)) void idle_at(unsigned *idle, unsigned n,
                                              const struct weft_request *request)
{
    unsigned gate = weft_gate;
    if (n % WEFT_HANG_POLLS == 0) {
        if (weft_failure_check())
            return;
        weft_hang_check(n, request);
    }
    if (n < (unsigned)weft.yield_after && gate == WEFT_GATE_THREADS && !weft_lock_wanted() &&
        !weft_lock.cells)
        return;
    if (gate & WEFT_GATE_COUNT)
        weft_count_waited(n);
    bool threads = gate & WEFT_GATE_THREADS && weft_lock_is_outermost();
    if (n < (unsigned)weft.yield_after) {
        if (threads && (weft_lock_wanted() || weft_lock.cells))
            weft_lock_pass();
        return;
    }
    if (threads)
        weft_lock_leave();
    if (yield_or_sleep(n, gate & WEFT_GATE_THREADS))
        *idle = n | (WEFT_HANG_POLLS / 4 - 1); /* four of them are as good as so many polls */
    if (threads)
        weft_lock_enter();
}

WEFT_HOT void weft_idle_for(unsigned *idle, const struct weft_request *request)
{
    unsigned n = ++*idle;
    if (weft_unlikely(n % WEFT_HANG_POLLS == 0) || weft_gate || n >= (unsigned)weft.yield_after)
        idle_at(idle, n, request);
}

void weft_idle(unsigned *idle)
{
    weft_idle_for(idle, NULL);
}

void weft_await(unsigned *idle, const struct weft_request *request)
{
    if (!weft_progress()) {
        weft_idle_for(idle, request);
        return;
    }
    *idle = 0;
    weft_share();
}

/* The cores that the ranks of this node have together. Without shared memory only this rank's own set
 * is known; a set of one core is taken for a binding that gives the other ranks cores of their own. */
static int cores_of_node(int own)
{
    if (weft.shm)
        return weft_shm_cores();
    return own > 1 ? own : (int)sysconf(_SC_NPROCESSORS_ONLN);
}

void weft_progress_open(void)
{
    cpu_set_t set;
    int own = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    bool shared = weft.job.local_size > cores_of_node(own);
    weft.yield_after = weft_settings.spin ? (int)weft_settings.spin
                       : !shared          ? SPIN_ALONE
                       : weft.shm         ? SPIN_SHARED
                                          : SPIN_NET;
    weft_lock_open(own > 1);
}
