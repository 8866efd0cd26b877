// SPDX-License-Identifier: BSD-3-Clause
/*
 * The process: everything that exists once per MPI process, in one object.
 *
 * Invariants:
 *  - weft_entry_flags is 0 exactly while MPI is initialised, at most one thread calls it and none
 * of the other flags below is set; then an entry point takes no lock. Any other value takes the
 *    general path of weft_enter or weft_enter_on.
 *  - Flags are set and cleared by atomic operations only: the handler of SIGUSR1 sets one.
 *  - With threads, everything here and below is read with one VCI held and written with all of them
 *    held, but for what belongs to a VCI (core/message/vci.h).
 */
#ifndef WEFT_WEFT_H
#define WEFT_WEFT_H

#include "core/message/vci.h"
#include "pmix/boot.h"

#include <stdbool.h>

struct weft_file;
struct weft_partitioned;

enum weft_others {
    WEFT_OTHERS_AGREE = 1,    /* agreements are under way: core/comm/context_alloc.h */
    WEFT_OTHERS_COUNT = 2,    /* polls are counted: core/message/count.h */
    WEFT_OTHERS_DEFERRED = 4, /* a VCI has deferred requests; set by a thread that holds one VCI */
    WEFT_OTHERS_WINDOWS = 8   /* there are windows: core/rma/win.h */
};

struct weft_process {
    struct weft_vci vcis[WEFT_VCIS_MAX]; /* nvcis of them are in use */
    unsigned nvcis;
    /* Communicators are dealt onto this many numbers: nvcis, unless this process has one VCI and
     * rank 0 has more. */
    unsigned deals;
    struct weft_job job;
    struct weft_peer **peers[WEFT_VCIS_MAX]; /* by deal and world rank; or NULL */
    struct weft_partitioned *partitioned;    /* operations that have something to do */
    struct weft_file *files;                 /* that are open: core/file/file.h */
    uint8_t others;                          /* what else progress has to do: enum weft_others */
    int tag_ub;
    bool net;     /* the net lane is open: not every rank is reached through shared memory */
    bool shm;     /* that lane is open: some rank is */
    bool crowded; /* all ranks are on this node, more than it has cores, and are not to share
                     memory: the same at every rank */
    int thread_level;
    uint64_t eager_credits; /* bytes that a sender may have unmatched at a receiver */
    int yield_after;        /* polls without an event before a waiting rank yields */
};

extern WEFT_HIDDEN struct weft_process weft;

/* What an entry point has to do besides its operation. */
enum weft_entry_flag {
    WEFT_ENTRY_CLOSED = 1,  /* MPI is not initialised: report that */
    WEFT_ENTRY_THREADS = 2, /* take VCIs */
    WEFT_ENTRY_REPORT = 4,  /* set by the handler of SIGUSR1: report what this rank waits for */
    WEFT_ENTRY_COUNT = 8,   /* WEFT_COUNTERS=all: every message takes the general path */
    WEFT_ENTRY_EVENTS = 16, /* callbacks of MPI_T's events wait to be called */
    WEFT_ENTRY_FORKED = 32  /* this is a forked child of a rank: report that; set alone */
};
extern WEFT_HIDDEN unsigned weft_entry_flags;

/* True when this thread holds all VCIs, or when there is one thread. */
static inline bool weft_vcis_hold_all(void)
{
    for (unsigned i = 0; weft_entry_flags & WEFT_ENTRY_THREADS && i < weft.nvcis; i++)
        if (!weft_lock_is_mine(&weft.vcis[i].lock))
            return false;
    return true;
}

/* True when this thread holds a VCI, or when there is one thread. */
static inline bool weft_vci_is_held(const struct weft_vci *vci)
{
    return !(weft_entry_flags & WEFT_ENTRY_THREADS) || weft_lock_is_mine(&vci->lock);
}

/* What a wait on a VCI may progress: that VCI, or everything (NULL) if this thread holds all. */
static inline struct weft_vci *weft_vci_scope(struct weft_vci *vci)
{
    return weft_vcis_hold_all() ? NULL : vci;
}

/* General path of weft_enter: checks that MPI is initialised, takes all VCIs when there are
 * threads, answers SIGUSR1. Returns MPI_SUCCESS, or an error class that the entry point returns at
 * once. */
WEFT_COLD int weft_enter_general(const char *function);
WEFT_COLD void weft_leave_general(void);

/* Every entry point that touches the process calls these two around its body, or the pair below. */
static inline int weft_enter(const char *function)
{
    return weft_unlikely(weft_entry_flags) ? weft_enter_general(function) : MPI_SUCCESS;
}

static inline void weft_leave(void)
{
    if (weft_unlikely(weft_entry_flags))
        weft_leave_general();
}

/* The same for operations that need one VCI only. Inside a call that holds all VCIs, and when flags
 * other than WEFT_ENTRY_THREADS are set, all are taken (once more); so weft_leave_on releases what
 * is held. */
static inline int weft_enter_on(const char *function, struct weft_vci *vci)
{
    if (weft_likely(!weft_entry_flags))
        return MPI_SUCCESS;
    if (weft_unlikely(weft_entry_flags != WEFT_ENTRY_THREADS) ||
        weft_unlikely(weft_vcis_hold_all()))
        return weft_enter_general(function);
    weft_lock_enter(&vci->lock);
    return MPI_SUCCESS;
}

static inline void weft_leave_on(struct weft_vci *vci)
{
    if (weft_likely(!weft_entry_flags))
        return;
    if (weft_unlikely(weft_vcis_hold_all()))
        weft_leave_general();
    else
        weft_lock_leave(&vci->lock);
}

/* The same on one VCI, or on all (NULL). */
static inline int weft_enter_scope(const char *function, struct weft_vci *vci)
{
    return vci ? weft_enter_on(function, vci) : weft_enter(function);
}

static inline void weft_leave_scope(struct weft_vci *vci)
{
    if (vci)
        weft_leave_on(vci);
    else
        weft_leave();
}

/* MPI_Init and MPI_Finalize: starts MPI unless a session has; thread_level is the required level.
 * Return an error class after recording its sentence. */
int weft_init(int thread_level);
int weft_finalize(void);

/* A session begins or ends to use MPI. While MPI has no user, after the first, it sleeps: nothing
 * is closed until MPI_Finalize or the exit of the process, because other ranks may go on. */
void weft_enter_use(int thread_level);
void weft_leave_use(int thread_level);

/* In a forked child of a rank, which cannot use MPI: records the error and returns its class;
 * elsewhere MPI_SUCCESS. */
int weft_check_forked(void);

bool weft_is_initialized(void);
bool weft_is_finalized(void);
bool weft_is_main_thread(void);

/* True while MPI runs, whether it has a user or not. */
bool weft_is_running(void);

/* The level of thread support that a program which requires one gets. */
int weft_thread_level(int required);

/* Deferred events wait to be delivered by the next entry point, or do not: core/tool/event.h. */
void weft_entry_set_events(bool waiting);

/* When MPI starts, with the lanes known: how long a waiting rank polls, and whether locks spin. */
void weft_progress_open(void);

/* Progresses everything; the caller holds all VCIs. Returns the number of events. */
int weft_progress(void);

/* The functions below are for calls on a VCI, which they progress, and for calls that hold all VCIs
 * (NULL), for which they progress everything: weft_vci_scope. */

/* For a call that tests and does not wait. A program may wait by such calls alone, so the core is
 * yielded after as many of them without an event as in a wait. It never sleeps here. */
void weft_look(struct weft_vci *vci);

/* For a call that is complete without progress: every LOOK_TURN-th progresses, because a program
 * may make only such calls for long (messages to itself, collectives of one rank, tests of
 * MPI_REQUEST_NULL) while other ranks need its progress. */
static inline void weft_look_sometimes(struct weft_vci *vci)
{
    enum { LOOK_TURN = 256 };
    if (weft_unlikely(++(vci ? vci : &weft.vcis[0])->quick_calls % LOOK_TURN == 0))
        weft_look(vci ? weft_vci_scope(vci) : NULL);
}

/* For a rank that does nothing but wait: polls the network, which costs more, at every NET_TURN-th
 * call only, where there is shared memory too. */
int weft_poll(struct weft_vci *vci);

/* Takes note of ranks that the launcher reported dead: every operation that needs one ends with
 * MPI_ERR_PROC_ABORTED. Returns the number of deaths. Ends the job when the launcher is gone, or a
 * host does not answer (weft_net_check_hosts). */
int weft_failure_check(void);

/* True if the launcher reports a rank as dead; for a caller whose connection to it has failed
 * (NULL: the rank is unknown). The launcher's report can arrive later than the failure, so the
 * function waits for it for a moment, once for all operations that fail together. */
WEFT_COLD bool weft_failure_confirm(const struct weft_peer *peer);

/* Records that a rank is dead, for an operation that needs it. Returns MPI_ERR_PROC_ABORTED. */
WEFT_COLD int weft_failure_say(const struct weft_peer *peer);

/* Called by a waiting rank between two calls of weft_progress that found nothing; *idle counts them
 * and is to be reset to 0 when something happened. Spins, then yields, then sleeps; with threads it
 * lets others in. */
void weft_idle(unsigned *idle);

/* The same for a rank that waits for one request: a report of a hang names it first. */
void weft_idle_for(unsigned *idle, const struct weft_request *request);

/* Checks for dead ranks, and reports a hang in a wait that has taken so many polls (0: no wait).
 * For a thread that waits, whatever it holds. Returns whether ranks have died. */
bool weft_wait_check(unsigned polls, const struct weft_request *request);

/* At the end of a wait with threads: how it went decides how soon the thread yields in the next. */
void weft_idle_end(void);

/* Called by a waiting rank instead, when something happened: it may have happened for a thread that
 * waits for a VCI of this one. */
static inline void weft_share(void)
{
    if (weft_unlikely(atomic_load_explicit(&weft_lock_waiting, memory_order_relaxed)))
        weft_vcis_share();
}

/* One turn of a loop that waits, for a request or for something else (NULL): progresses, then
 * shares or idles. */
void weft_await(struct weft_vci *vci, unsigned *idle, const struct weft_request *request);

/* Seconds, monotonic. */
double weft_seconds(void);

#endif
