// SPDX-License-Identifier: BSD-3-Clause
/*
 * Peers: one object for each process that this one exchanges messages with, in each deal (vci.h),
 * made at first contact. A peer belongs to the VCI of its deal.
 *
 * Invariant: weft.peers[d][w] is weft_peer_unknown until first contact with world rank w, whose limits
 * are all 0, so that the fast path needs no test for it; then it never changes. The lane of a peer is
 * decided there, once, and changes only to WEFT_LANE_DEAD.
 */
#ifndef WEFT_PEER_H
#define WEFT_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_request;
struct weft_net_out;
struct weft_shm_link;

enum { WEFT_FINS_AT_ONCE = 10 };

enum weft_lane {
    WEFT_LANE_UNKNOWN, /* only weft_peer_unknown has it */
    WEFT_LANE_SELF,
    WEFT_LANE_SHM,
    WEFT_LANE_NET,
    WEFT_LANE_DEAD /* its process has ended: nothing is sent or posted any more */
};

/* What is counted of each peer, on slow ways only: see core/tool/count.h. */
struct weft_peer_counts {
    uint64_t rendezvous;    /* sends announced to it, */
    uint64_t backlogged;    /* messages and controls to it that had to wait, */
    uint64_t backlog;       /* and those that wait now */
    uint64_t registrations; /* of memory, for messages from and to it */
};

struct weft_peer {
    uint8_t lane;      /* enum weft_lane */
    bool reached;      /* the provider took something for it */
    bool backlogged;   /* in the net lane's list of peers with a backlog */
    uint8_t deal;      /* the table it is in: core/pt2pt/vci.h */
    int32_t world;     /* its rank in MPI_COMM_WORLD */
    uint32_t sequence; /* of the next user message to it on the net lane, or to itself */
    uint64_t net_addr; /* fi_addr_t */
    uint32_t stop;     /* the sequence number from which on sends go the long way: ofi/credits.c */
    uint32_t credits_end; /* the one at which the credits end */
    uint32_t relieve_at;  /* the one at which it is to be asked whether it has taken all */
    uint32_t owed;        /* credits of its messages that matched here, not returned yet */
    uint8_t unanswered;   /* questions whether it has taken all */
    bool connected_back;  /* it can send to this rank without waiting for this rank */
    size_t inject_below;  /* bytes below which a message may be injected at once on the net lane, if
                            nothing stops it; else 0 */
    size_t land_below;    /* the same for posting a receive from it that lands in its request to the
                            provider; 0 where that is not given such ones */
    size_t post_below;   /* the same for posting a receive from it to the provider: 2 GiB where that
                             matches, or 0 */
    size_t listen_below; /* the same for posting one in the software matcher: 2 GiB where that
                             matches, or 0 */
    size_t share_below;  /* bytes below which a message may be written to shared memory at once: on
                            that lane, while its backlog is empty, else 0 */
    struct weft_shm_link *shm; /* what the shared-memory lane has of it; stays when it is dead */
    struct weft_net_out *backlog, **controls_end,
        **backlog_end;    /* what was not sent yet: controls, then user messages, in order */
    double report_after;  /* seconds without a connection before the next report; 0: the first */
    double backlog_since; /* when its head began to wait */
    struct weft_request *sync, **sync_end; /* eager synchronous sends not yet matched */
    struct weft_peer *next_backlogged;
    struct weft_request *readers, **readers_end; /* receives whose reads wait for room */
    size_t reading;                              /* bytes of its messages that are being read */
    uint32_t fetching;                           /* rendezvous receives from it under way */
    uint32_t fins;                               /* how many of the following wait to be sent */
    uint32_t fin_numbers[WEFT_FINS_AT_ONCE];     /* its sends whose data are all here */
    uint32_t sent_mark;   /* a value that sequence had, not 2^32 messages ago, */
    uint64_t sent_before; /* and how many messages there had been then */
    struct weft_peer_counts counts;
};

extern struct weft_peer weft_peer_unknown;

/* Makes the table of peers of a deal. False when memory is short. */
bool weft_peers_open(unsigned deal);
void weft_peers_close(void);

/* The peer of a world rank in the table of a deal, or NULL before first contact. */
struct weft_peer *weft_peer_known(unsigned deal, int world);

/* The peer, known or not. NULL as for weft_peer_connect. */
struct weft_peer *weft_peer_get(unsigned deal, int world);

/* An object for a world rank that has none, not connected. NULL when memory is short. */
struct weft_peer *weft_peer_make(unsigned deal, int world);

/* First contact with a world rank in a deal. Returns NULL with the reason in weft_error_set
 * (MPI_ERR_OTHER). */
struct weft_peer *weft_peer_connect(unsigned deal, int world);

#endif
