// SPDX-License-Identifier: BSD-3-Clause
/*
 * Progress, and waiting for it.
 *
 * The functions are for calls on a VCI, which they progress, and for calls that hold all VCIs
 * (NULL), for which they progress everything: weft_vci_scope.
 */
#ifndef WEFT_PROGRESS_H
#define WEFT_PROGRESS_H

#include "core/message/process.h"

/* Polls without progress between two checks of a waiting rank; a power of two. */
enum { WEFT_WAIT_POLLS = 256 };

/* Called in a wait after so many polls (a multiple of WEFT_WAIT_POLLS) without progress; on is the
 * request that it waits for, or NULL. core/process sets it. */
extern WEFT_HIDDEN void (*weft_wait_report)(unsigned polls, const struct weft_request *on);

/* The pollers besides the lanes, of modules above this one; core/process sets them. Each
 * returns the number of events. */
struct weft_pollers {
    int (*collectives)(struct weft_vci *vci);
    int (*windows)(struct weft_vci *vci);
    int (*agreements)(void); /* on context ids */
    int (*partitioned)(void);
};
extern WEFT_HIDDEN struct weft_pollers weft_pollers;

/* When MPI starts, with the lanes known: how long a waiting rank polls, and whether locks spin. */
void weft_progress_open(void);

/* Processes of another job run on this host: a waiting rank has no core of its own any more. */
void weft_progress_share_cores(void);

/* A call that waits for another job begins or ends. The processes of that job may need the cores of
 * the waiting ranks, which yield and sleep early meanwhile. */
void weft_progress_yield_early(bool begins);

/* Progresses everything; the caller holds all VCIs. Returns the number of events. */
int weft_progress(void);

/* For a call that tests and does not wait. A program may wait by such calls alone, so the core is
 * yielded after as many of them without an event as in a wait, if it is shared. It never sleeps. */
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

/* Called by a waiting rank between two calls of weft_progress that found nothing; *idle counts them
 * and is to be reset to 0 when something happened. Spins, then yields, then sleeps; with threads it
 * lets others in. A report of a hang names the request first; NULL: the rank waits for none. */
void weft_idle_for(unsigned *idle, const struct weft_request *request);

/* Checks for dead ranks, and reports a hang in a wait that has taken so many polls (0: no wait).
 * For a thread that waits, whatever it holds. Returns whether ranks have died. */
bool weft_wait_check(unsigned polls, const struct weft_request *request);

/* Called by a waiting rank instead, when something happened: it may have happened for a thread that
 * waits for a VCI of this one. */
static inline void weft_share(void)
{
    if (weft_unlikely(atomic_load_explicit(&weft_lock_waiting, memory_order_relaxed)))
        weft_vcis_share();
}

/* One turn of a wait, for a request or for something else (NULL): polls, then shares or idles. For
 * a caller that cannot use weft_wait_while, as it waits for several VCIs, or another library does.
 */
void weft_await(struct weft_vci *vci, unsigned *idle, const struct weft_request *request);

/* Progresses while waits(arg) is true. on names the request that it waits for, which may change,
 * for a report; NULL: none. */
void weft_wait_while(struct weft_vci *vci, bool (*waits)(void *arg), void *arg,
                     struct weft_request *const *on);

/* The same for all VCIs, for what a descriptor reports: after a few polls without an event, sleep
 * is called, without locks; it returns when the descriptor has an event, or after so long. */
void weft_wait_asleep(bool (*waits)(void *arg), void (*sleep)(void *arg, unsigned microseconds),
                      void *arg);

/* The same inside a lane, which progresses itself alone: by a function of one of its VCIs. */
void weft_wait_in_lane(int (*progress)(unsigned vci), unsigned vci, bool (*waits)(void *arg),
                       void *arg);

/* A blocking call begins, and ends. In between a lane may count on it that this rank makes
 * progress, and so move a message with the help of both ends (shm/fetch.c), or hold back an answer
 * (ofi/rndv_read.c). The last call that ends completes these transfers. */
static inline void weft_vci_begin_wait(struct weft_vci *vci)
{
    vci->waiting++;
}

WEFT_COLD void weft_vci_complete_transfers(struct weft_vci *vci);

static inline void weft_vci_end_wait(struct weft_vci *vci)
{
    weft_assert(vci->waiting > 0);
    if (--vci->waiting == 0 && weft_unlikely(vci->transfers))
        weft_vci_complete_transfers(vci);
}

/* Progresses until the request is complete, or stalled. */
void weft_request_wait(struct weft_request *request);

/* The same, and frees the request. Returns its error. bytes: set to those that it has moved. */
int weft_request_end(struct weft_request *request, size_t *bytes);

#endif
