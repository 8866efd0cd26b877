// SPDX-License-Identifier: BSD-3-Clause
/*
 * VCIs (virtual communication interfaces): what several threads can work on at the same time.
 *
 * A VCI has a lock, a software matcher, a pool of requests, a table of peers, and its state of the
 * lanes: rings of its own to each process of the node, and an endpoint of its own (struct
 * weft_net_vci, ofi/state.h). Each communicator belongs to one VCI with all its channels, so
 * threads that each use their own communicator do not wait for each other. If assertions permit it,
 * the point-to-point messages of a communicator have a channel on each VCI, which the tag or the
 * ranks select (core/comm/spread.h).
 *
 * A process has one VCI. With MPI_THREAD_MULTIPLE it has WEFT_VCIS of them, if rank 0 has. Each
 * communicator has a VCI number below weft.vci_numbers, which is the same on all ranks: 0 for
 * the predefined ones, and by context id for those that the program makes. A process with several
 * VCIs has the communicator on the VCI with that number. If rank 0 has one endpoint for several
 * VCIs, the VCI number of a communicator with ranks of other nodes is 0 (weft_net_vci_numbers). If
 * another rank has one endpoint where rank 0 has several, it has one VCI.
 *
 * Peer objects are for each VCI number, and so are rings, sequence numbers and credits. A process
 * with one VCI has them for each VCI number that messages come on, so that both ends agree.
 *
 * Locking, with MPI_THREAD_MULTIPLE:
 *  - A message holds the lock of its channel's VCI (weft_enter_on), a collective that of the
 *    communicator's, an operation on a window and most of its synchronizations that of the
 *    window's. Calls on requests of several VCIs take one after the other
 *    (core/mpi/request_call.h); a call that sends on one VCI and receives on another holds all.
 *  - Everything else holds the locks of all VCIs (weft_enter): calls on communicators, datatypes,
 *    attributes and so on, partitioned and buffered communication, finalize, reports, MPI_T.
 *  - So process-wide state is read by a thread that holds any VCI, and written by a thread that
 *    holds all of them. The exceptions are counters (core/message/count.h), the last error sentence
 *    (core/base/error.c) and events (core/tool/event.c), which have means of their own.
 *  - The locks of several VCIs are taken in ascending order (core/base/lock.h).
 *  - A waiting thread holds what its operation holds. It progresses only the VCI that it holds, and
 *    now and then the others whose locks are free.
 *  - A call on one VCI releases it before it calls an error handler of the program, so that the
 *    handler may call MPI and wait there.
 *
 * Invariants:
 *  - A request belongs to the VCI whose pool it came from, for good. A send or a receive belongs to
 *    the VCI of its channel, a collective to that of its communicator, an operation on a window to
 *    that of the window; all other kinds of requests belong to VCI 0, and a thread that holds all
 *    VCIs completes them.
 *  - The lists `deferred` hold complete requests (weft_request_last) and complete collectives
 *    (weft_schedule_put) whose end needs all VCIs: the next thread that takes all VCIs ends them.
 */
#ifndef WEFT_VCI_H
#define WEFT_VCI_H

#include "core/base/lock.h"
#include "core/message/match.h"
#include "core/message/peer.h"
#include "core/message/request.h"

struct weft_rma_op;
struct weft_schedule;
struct weft_win;

enum { WEFT_VCIS_MAX = WEFT_LOCKS_MAX, WEFT_VCI_LANE_BYTES = 72 };

struct weft_vci {
    struct weft_lock lock;
    struct weft_request_pool requests;
    uint32_t number;
    uint32_t from_any_source;  /* receives from any source that were started so far */
    struct weft_channel *held; /* channels with receives in software that the net could satisfy */
    struct weft_channel *held_last;
    struct weft_request *deferred; /* complete requests whose end needs all VCIs */
    unsigned turn;                 /* polls: the network is polled at every NET_TURN-th */
    unsigned idle_looks;           /* calls of weft_look without an event */
    unsigned quick_calls;          /* calls of weft_look_sometimes */
    unsigned polls;                /* since the other VCIs were progressed last */
    unsigned waiting;              /* active blocking calls that wait for messages */
    unsigned transfers;            /* messages that a lane moves with the peer's help, and peers
                                      that it answers at the end of the blocking calls */
    /* The state of the lane that matches receives: lane_fast.h. */
    _Alignas(8) unsigned char lane_state[WEFT_VCI_LANE_BYTES];
    struct weft_matcher matcher;
    struct {
        struct weft_schedule *blocking; /* of the active calls: core/coll/call.c */
        struct weft_schedule *active;   /* with a request, not complete */
        struct weft_schedule **active_end;
        struct weft_schedule *deferred; /* complete; their end needs all VCIs */
        struct weft_schedule *kept;     /* for reuse: core/coll/schedule.c */
        unsigned kept_count;
        struct weft_memory *spare; /* long memory, for reuse */
        struct {
            char *at; /* NULL: none, or in use */
            bool pinned;
        } segments;      /* copies of device memory: core/coll/stage.c */
        unsigned shared; /* active ones through shared memory, and agreements: see sleep_length */
        bool advancing;  /* a thread is in weft_coll_progress */
    } coll;
    struct {
        struct weft_win *first;
        struct weft_rma_op *spent; /* to be freed with all VCIs held */
        bool arrived;              /* a packet of a window may be complete */
        bool busy;                 /* operations or lock requests may be queued */
        uint64_t deaths;           /* weft_counts.deaths when progress saw it last */
        unsigned waits;            /* calls that wait, perhaps for a word that others store to */
    } windows;                     /* of its communicators: core/rma/message.c */
};

/* A request's number has the number of its VCI from this bit on. */
enum { WEFT_VCI_REQUEST_SHIFT = 26 };

static inline void weft_request_push(struct weft_request *request)
{
    struct weft_request_pool *pool = &request->vci->requests;
    weft_assert(request->object.kind == WEFT_KIND_REQUEST);
    weft_assert(!(request->flags & WEFT_REQUEST_IN_LANE));
    weft_handle_retire(&request->object);
    request->next = pool->free;
    pool->free = request;
}

/* The process gets `count` VCIs; before MPI starts it has one. Ends the job when memory is short.
 */
void weft_vcis_open(unsigned count);
void weft_vcis_close(void);

/* Takes and releases all VCIs, for any value of weft_entry_flags: for functions that may be called
 * at any time, before and after MPI too, and touch nothing that weft_start sets up. */
void weft_vcis_enter(void);
void weft_vcis_leave(void);

/* Takes all VCIs if none of them is held by another thread. */
bool weft_vcis_try(void);

/* Releases the VCIs that this thread holds, if it holds each of them once, and returns a bit for
 * each: 0 means that nothing was released. Retake takes them again. */
unsigned weft_vcis_release(void);
void weft_vcis_retake(unsigned held);

/* Lets other threads that wait for a VCI of this thread have it for a while. */
void weft_vcis_share(void);

/* The sum over all VCIs, and calls of weft_match_each_message for each matcher. */
size_t weft_vcis_posted(void);
void weft_vcis_each_message(void (*see)(void *arg, struct weft_match_message *message), void *arg);

#endif
