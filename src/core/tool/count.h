// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the library counts of itself, for MPI_T's performance variables.
 *
 * Counting costs the short way of a message nothing. What every process counts is either added up
 * on slow ways (a rendezvous, a message kept, a send that waits), or derived, when somebody asks,
 * from what is there anyway: messages from sequence numbers and ring positions, queues from their
 * lengths. The rest (bytes, receives by sender, polls, time waited) is counted with
 * WEFT_COUNTERS=all only. Then no message takes the short way: the gate is never open, peers take
 * nothing at once, and a receive carries a flag that its last event looks at anyway.
 *
 * Invariants:
 *  - Sums never go back while the process lives; weft_count_close keeps what was derived from
 *    objects that are about to go.
 *  - Whoever is in the core adds (under the lock, with threads), anybody reads: words are read and
 *    written whole.
 */
#ifndef WEFT_COUNT_H
#define WEFT_COUNT_H

#include "core/handle.h"
#include "core/peer.h"

#include <stdbool.h>
#include <stdint.h>

struct weft_request;

enum { WEFT_COUNT_LANES = 3 }; /* self, shared memory, net: enum weft_lane less WEFT_LANE_SELF */

/* The most that something has been since somebody asked for that: see weft_count_level. */
struct weft_peak {
    uint64_t now, most;
};

struct weft_counts {
    /* the net lane */
    uint64_t net_receives;        /* that a provider had completed when it was closed */
    uint64_t net_messages;        /* to peers that are gone */
    uint64_t net_rendezvous;      /* sends announced, */
    uint64_t net_rendezvous_over; /* and ended */
    uint64_t net_rendezvous_bytes;
    uint64_t net_unpaid;     /* of them, eager ones for which there were no credits */
    uint64_t net_backlogged; /* messages and controls that had to wait */
    uint64_t net_controls;
    uint64_t net_questions; /* whether a peer has taken what was sent */
    uint64_t net_dropped;   /* what came and does not fit what this rank has under way */
    uint64_t net_registrations;
    uint64_t net_stages; /* bytes of staging memory */
    struct weft_peak net_backlog;
    /* shared memory */
    uint64_t shm_messages, shm_arrived; /* to and from peers that are gone */
    uint64_t shm_rendezvous, shm_rendezvous_bytes, shm_pieces, shm_backlogged;
    struct weft_peak shm_backlog;
    /* this process to itself */
    uint64_t self_messages, self_bytes;
    /* the software matcher */
    uint64_t kept; /* messages that no receive waited for */
    struct weft_peak unexpected, unexpected_bytes;
    /* waiting, and the rest */
    uint64_t yields, sleeps, asleep; /* the last in nanoseconds */
    uint64_t collectives, contacts, deaths;
    /* with WEFT_COUNTERS=all only */
    uint64_t polls, news, waited; /* polls that brought something; nanoseconds */
    uint64_t bytes_sent[WEFT_COUNT_LANES], received[WEFT_COUNT_LANES],
        bytes_received[WEFT_COUNT_LANES];
};

extern WEFT_HIDDEN struct weft_counts weft_counts;

/* With WEFT_COUNTERS=all: counted for each rank of the job. */
struct weft_count_rank {
    uint64_t bytes_sent, received, bytes_received, kept;
};

/* By world rank; NULL without WEFT_COUNTERS=all, and while MPI does not run. */
extern WEFT_HIDDEN struct weft_count_rank *weft_count_ranks;

/* True from weft_count_open to weft_count_close with WEFT_COUNTERS=all. */
static inline bool weft_count_all(void)
{
    return weft_count_ranks != NULL;
}

/* MPI starts (settings and job are known), or is about to give up its peers. */
void weft_count_open(void);
void weft_count_close(void);

/* Sets how much there is of something. */
static inline void weft_count_level(struct weft_peak *peak, uint64_t now)
{
    peak->now = now;
    if (now > peak->most)
        peak->most = now;
}

/* Something that is sent to a peer begins to wait, or waits no more; *total and *backlog are those of
 * its lane. */
static inline void weft_count_waits(struct weft_peer *peer, uint64_t *total,
                                    struct weft_peak *backlog)
{
    ++*total;
    weft_count_level(backlog, backlog->now + 1);
    peer->counts.backlogged++;
    peer->counts.backlog++;
}

static inline void weft_count_waits_no_more(struct weft_peer *peer, struct weft_peak *backlog)
{
    backlog->now--;
    peer->counts.backlog--;
}

/* A message of a rank is kept. Its communicator may not be known here yet: then it is counted for no
 * rank. */
WEFT_COLD void weft_count_kept_of_rank(uint32_t context, int source);

static inline void weft_count_kept(uint32_t context, int source)
{
    weft_counts.kept++;
    if (weft_unlikely(weft_count_ranks != NULL))
        weft_count_kept_of_rank(context, source);
}

/* With WEFT_COUNTERS=all: a send starts (its bytes and peer are set); a receive starts, or is
 * complete; so many polls in a row brought nothing, this one at the end of the first ones. */
WEFT_COLD void weft_count_send(const struct weft_request *request);
WEFT_COLD void weft_count_receive(struct weft_request *request);
WEFT_COLD void weft_count_received(const struct weft_request *request);
WEFT_COLD void weft_count_waited(unsigned polls);

/* User messages sent to a peer, over whatever lane, those of collectives included. */
uint64_t weft_count_sent_to(const struct weft_peer *peer);

/* User messages sent on a lane, and received through shared memory, so far. */
uint64_t weft_count_sent(enum weft_lane lane);
uint64_t weft_count_shm_arrived(void);

/* Announced messages that have matched and are being fetched. */
uint64_t weft_count_fetching(void);

/* Peers that this process is in contact with. */
uint64_t weft_count_peers(void);

#endif
