// SPDX-License-Identifier: BSD-3-Clause
/*
 * The process: everything that exists once per MPI process, in one object.
 *
 * Invariants:
 *  - weft_gate is 0 exactly while MPI is initialised, at most one thread calls it and none of the
 *    rarer bits below is set; then an entry point takes no lock. Any other value sends it through
 *    weft_enter_gated.
 *  - With threads, everything here and below is touched only while weft_lock is held (core/process/lock.h), but
 *    for what belongs to cells (core/pt2pt/cell.h).
 */
#ifndef WEFT_WEFT_H
#define WEFT_WEFT_H

#include "core/process/lock.h"
#include "core/pt2pt/match.h"
#include "core/pt2pt/peer.h"
#include "core/pt2pt/request.h"
#include "pmix/boot.h"

#include <stdbool.h>

struct weft_partitioned;

enum weft_others {
    WEFT_OTHERS_AGREE = 1,  /* agreements are under way: core/comm/context_alloc.h */
    WEFT_OTHERS_COUNT = 2,  /* polls are counted: core/tool/count.h */
    WEFT_OTHERS_WINDOWS = 4 /* there are windows: core/rma/win.h */
};

struct weft_process {
    struct weft_job job;
    struct weft_request_pool requests;
    struct weft_peer **peers; /* by world rank */
    struct weft_matcher matcher;
    struct weft_channel *held; /* channels with receives in software that the net could satisfy */
    uint8_t others;            /* what else progress has to do: enum weft_others */
    struct weft_partitioned *partitioned; /* operations that have something to do */
    int tag_ub;
    bool net;     /* the net lane is open: not every rank is reached through shared memory */
    bool shm;     /* that lane is open: some rank is */
    bool crowded; /* all ranks are on this node, more than it has cores, and are not to share
                     memory: the same at every rank */
    int thread_level;
    int yield_after; /* polls without news before a waiting rank yields */
};

extern WEFT_HIDDEN struct weft_process weft;

enum weft_gate_bit {
    WEFT_GATE_CLOSED = 1,
    WEFT_GATE_THREADS = 2,
    WEFT_GATE_REPORT = 4, /* set by the handler of SIGUSR1: say what this rank waits for */
    WEFT_GATE_COUNT = 8,  /* WEFT_COUNTERS=all: no message goes the short way */
    WEFT_GATE_EVENTS = 16 /* callbacks of MPI_T's events wait to be called */
};
extern WEFT_HIDDEN unsigned weft_gate;

/* The gate and the check of a tag in one comparison: tags below these take the fast path. They are
 * weft.tag_ub + 1 while weft_gate is 0 (and, for receives, no message waits in software), else 0.
 * Kept by weft_gate_update, after every change of what they depend on. */
extern WEFT_HIDDEN uint32_t weft_send_tags, weft_receive_tags;

static inline void weft_gate_update(void)
{
    /* With threads both stay 0 and are only read, which needs no lock then. */
    uint32_t send = weft_gate ? 0 : (uint32_t)weft.tag_ub + 1;
    uint32_t receive = weft.matcher.unexpected ? 0 : send;
    if (weft_send_tags != send)
        weft_send_tags = send;
    if (weft_receive_tags != receive)
        weft_receive_tags = receive;
}

/* Slow path of weft_enter: checks that MPI is initialised, takes the lock when there are threads,
 * answers SIGUSR1.
 * Returns MPI_SUCCESS, or an error class that the entry point returns at once. */
WEFT_COLD int weft_enter_gated(const char *function);
WEFT_COLD void weft_leave_gated(void);

/* Every entry point that touches the process calls these two around its body. */
static inline int weft_enter(const char *function)
{
    return weft_unlikely(weft_gate) ? weft_enter_gated(function) : MPI_SUCCESS;
}

static inline void weft_leave(void)
{
    if (weft_unlikely(weft_gate))
        weft_leave_gated();
}

/* The short way of the two for the first thread as long as it is the only one, with nothing else to do:
 * true when it has the lock now. False has no effect, and then the call goes the way of threads. */
static inline bool weft_enter_alone(void)
{
    uint32_t me = weft_lock_thread;
    if (weft_unlikely(weft_gate != WEFT_GATE_THREADS) || weft_unlikely(!me) ||
        weft_unlikely(weft_lock_is_shared()) || weft_unlikely(weft_lock.cells) ||
        weft_unlikely(!weft_lock_take_alone(me)))
        return false;
    weft_lock.depth = 1;
    return true;
}

/* Others may have come meanwhile. */
static inline void weft_leave_alone(void)
{
    if (weft_likely(!weft_lock_is_shared()) && weft_likely(!weft_lock.cells))
        weft_lock_let_go();
    else
        weft_leave_gated();
}

/* For functions that may be called at any time, by any thread, before and after MPI too: takes the
 * lock whatever the gate says. They touch nothing that weft_start sets up. */
void weft_enter_anytime(void);
void weft_leave_anytime(void);

/* MPI_Init and MPI_Finalize: starts MPI unless a session has; thread_level is what the user asks
 * for, *provided what there is. Return an error class after saying why. */
int weft_init(int thread_level, int *provided);
int weft_finalize(void);

/* A session begins or ends to use MPI. While MPI has no user, after the first, it sleeps: nothing is
 * closed until MPI_Finalize or the exit of the process, because other ranks may go on. */
void weft_enter_use(int thread_level);
void weft_leave_use(int thread_level);

/* True between the first call of MPI_Init and the end of MPI_Finalize. */
bool weft_is_world(void);
bool weft_is_initialized(void);
bool weft_is_finalized(void);
bool weft_is_main_thread(void);

/* True while MPI runs, whether it has a user or not. */
bool weft_is_running(void);

/* The level of thread support that a request for `asked` gets. */
int weft_thread_level(int asked);

/* Closes the gate until deferred events were delivered, or opens it again: core/tool/event.h. */
void weft_gate_set_events(bool waiting);

/* When MPI starts, with the lanes known: how long a waiting rank polls, and whether locks spin. */
void weft_progress_open(void);

/* Moves everything along. Returns the number of events: 0 means nothing happened. */
int weft_progress(void);

/* The same for a call that looks and does not wait. A program may wait by such calls alone: then its
 * core is given away after as many in vain as in a wait. It never sleeps here. */
void weft_look(void);

/* The same for a rank that does nothing but wait: looks at the network, which costs more, at every
 * NET_TURN-th call only, where there is shared memory too. */
int weft_poll(void);

/* Takes note of ranks that the launcher reported dead: every operation that needs one ends with
 * MPI_ERR_PROC_ABORTED. Returns the number of deaths. Ends the job when the launcher is gone. */
int weft_failure_check(void);

/* Whether the launcher says that a rank is dead, for who found the way to it cut (NULL: to whom is not
 * known, anybody). The launcher's word can come later than that, so it is waited for a moment, once for many
 * operations that fail together. */
WEFT_COLD bool weft_failure_confirm(const struct weft_peer *peer);

/* Says that a rank is dead, for an operation that needs it. Returns MPI_ERR_PROC_ABORTED. */
WEFT_COLD int weft_failure_say(const struct weft_peer *peer);

/* Called by a waiting rank between two calls of weft_progress that found nothing; *idle counts them
 * and is to be reset to 0 when something happened. Spins, then yields, then sleeps; with threads it
 * lets others in. */
void weft_idle(unsigned *idle);

/* The same for a rank that waits for one request: a report of a hang names it first. */
void weft_idle_for(unsigned *idle, const struct weft_request *request);

/* Called by a waiting rank instead, when something happened: with threads, those who wait for the lock
 * may be the ones that it happened for. */
static inline void weft_share(void)
{
    if (weft_unlikely(weft_gate & WEFT_GATE_THREADS) && weft_lock_wanted() &&
        weft_lock_is_outermost())
        weft_lock_pass();
}

/* One turn of a loop that waits, for a request or for something else (NULL): progresses, then shares
 * or idles. */
void weft_await(unsigned *idle, const struct weft_request *request);

/* Seconds, monotonic. */
double weft_seconds(void);

#endif
