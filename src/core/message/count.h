// SPDX-License-Identifier: BSD-3-Clause
/*
 * Counters, for the performance variables of MPI_T.
 *
 * Counting costs the fast path nothing. Counters are incremented on general paths (a rendezvous, an
 * unexpected message, a send in the backlog), or derived when they are read: messages from sequence
 * numbers and ring positions, queues from their lengths. Bytes, receives by sender, polls and time
 * waited are counted with WEFT_COUNTERS=all only, which disables the fast path: each message takes
 * the general path, and each receive has WEFT_REQUEST_OBSERVED, which its completion tests.
 *
 * Invariants:
 *  - Sums never decrease; weft_count_close stores sums derived from objects that are about to be
 *    freed.
 *  - What threads that hold different VCIs may count at the same time is counted by weft_count_add
 *    and weft_count_level; the rest is counted by threads that hold all VCIs. Any thread reads.
 */
#ifndef WEFT_COUNT_H
#define WEFT_COUNT_H

#include "core/base/handle.h"
#include "core/base/lock.h"
#include "core/message/peer.h"

#include <stdbool.h>
#include <stdint.h>

struct weft_request;

/* A level, and its maximum since tracking was last restarted. */
struct weft_peak {
    uint64_t now, most;
};

struct weft_counts {
    /* by lane */
    uint64_t messages[WEFT_LANES_MAX];   /* sent to peers that are freed, or to this process */
    uint64_t arrived[WEFT_LANES_MAX];    /* from peers that are freed */
    uint64_t completed[WEFT_LANES_MAX];  /* receives, by lanes that are closed */
    uint64_t backlogged[WEFT_LANES_MAX]; /* messages and controls that entered the backlog */
    struct weft_peak backlog[WEFT_LANES_MAX];
    /* the net lane */
    uint64_t net_rendezvous;      /* sends announced by an RTS */
    uint64_t net_rendezvous_over; /* of these, completed */
    uint64_t net_rendezvous_bytes;
    uint64_t net_credit_waits; /* of these, eager messages without credits */
    uint64_t net_controls;
    uint64_t net_flow_checks; /* requests to a peer to confirm what it has received */
    uint64_t net_dropped;     /* control messages that named no operation of this process */
    uint64_t net_registrations;
    uint64_t net_bounce_bytes;
    /* shared memory */
    uint64_t shm_rendezvous, shm_rendezvous_bytes, shm_pieces;
    uint64_t shm_credit_waits; /* of shm_rendezvous, eager messages without credits */
    uint64_t self_bytes;       /* of messages of this process to itself */
    /* the software matcher */
    uint64_t unexpected_messages;
    struct weft_peak unexpected, unexpected_bytes;
    /* windows */
    uint64_t rma_direct, rma_by_net, rma_by_messages; /* operations */
    uint64_t rma_packets, rma_lock_waits;
    /* files */
    uint64_t file_opens, file_calls, file_read, file_written, file_sieved;
    uint64_t file_rounds, file_merged; /* of collective accesses by file domains */
    /* waiting, and others */
    uint64_t yields, sleeps, asleep; /* asleep: nanoseconds */
    uint64_t collectives, contacts, deaths;
    uint64_t collectives_shared; /* of the collectives, without messages */
    struct weft_peak areas;      /* bytes of shared memory for collectives */
    uint64_t algorithm;          /* enum weft_algorithm of the last event weft_collective */
    /* with WEFT_COUNTERS=all only */
    uint64_t polls, polls_with_events, waited; /* waited: nanoseconds */
    uint64_t bytes_sent[WEFT_LANES_MAX], received[WEFT_LANES_MAX], bytes_received[WEFT_LANES_MAX];
};

extern WEFT_HIDDEN struct weft_counts weft_counts;

/* Counted for each rank of the job with WEFT_COUNTERS=all. */
struct weft_count_rank {
    uint64_t bytes_sent, received, bytes_received, unexpected_messages;
};

/* By rank in MPI_COMM_WORLD; NULL without WEFT_COUNTERS=all, and while MPI does not run. */
extern WEFT_HIDDEN struct weft_count_rank *weft_count_ranks;

/* True if MPI runs with WEFT_COUNTERS=all. */
static inline bool weft_count_all(void)
{
    return weft_count_ranks != NULL;
}

/* Called when MPI starts, with settings and job set, and before the peers are freed. */
void weft_count_open(void);

/* Adds to a counter, which another thread that holds another VCI may add to at the same time. */
static inline void weft_count_add(uint64_t *counter, uint64_t by)
{
    if (weft_likely(!weft_lock_is_shared()))
        *counter += by;
    else
        __atomic_fetch_add(counter, by, __ATOMIC_RELAXED);
}

/* Changes how much there is of something; by may be negative. */
static inline void weft_count_level(struct weft_peak *peak, int64_t by)
{
    uint64_t now = __atomic_add_fetch(&peak->now, (uint64_t)by, __ATOMIC_RELAXED);
    weft_assert((int64_t)now >= 0);
    uint64_t most = __atomic_load_n(&peak->most, __ATOMIC_RELAXED);
    while (by > 0 && now > most &&
           !__atomic_compare_exchange_n(&peak->most, &most, now, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
        ;
}

/* Counts an unexpected message; for no rank if this process does not have its communicator yet. */
WEFT_COLD void weft_count_unexpected_of_rank(uint32_t context, int source);

static inline void weft_count_unexpected(uint32_t context, int source)
{
    weft_count_add(&weft_counts.unexpected_messages, 1);
    if (weft_unlikely(weft_count_ranks != NULL))
        weft_count_unexpected_of_rank(context, source);
}

/* With WEFT_COUNTERS=all: a send starts, with bytes and peer set; a receive starts, and completes;
 * `polls` polls in sequence found no event. */
WEFT_COLD void weft_count_send(const struct weft_request *request);
WEFT_COLD void weft_count_receive(struct weft_request *request);
WEFT_COLD void weft_count_received(const struct weft_request *request);
WEFT_COLD void weft_count_waited(unsigned polls);

#endif
