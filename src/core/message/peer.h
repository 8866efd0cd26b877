// SPDX-License-Identifier: BSD-3-Clause
/*
 * Peers: one object for each process that this one exchanges messages with, for each VCI number
 * (vci.h), made at first contact. A peer belongs to the VCI of its number.
 *
 * Invariant: weft.peers[d][w] is weft_peer_unknown until first contact with world rank w, whose
 * limits are all 0, so that the fast path needs no test for it; then it never changes. The lane of
 * a peer is decided there, once. Peers of other jobs are in a table of their own (foreign.h).
 */
#ifndef WEFT_PEER_H
#define WEFT_PEER_H

#include "core/base/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_request;

/* The numbers of lanes (weft_lanes in core/message/lane.h) are below this; only weft_peer_unknown
 * is on none. */
enum { WEFT_LANES_MAX = 8, WEFT_LANE_UNKNOWN = 0 };

/* The backlog: messages and controls that a lane could not send to a peer yet. Entries leave at the
 * front. Controls that may overtake user messages come first. An entry is a field
 * of a request's lane state or of a control message; kind is the lane's own. */
struct weft_backlog_entry {
    struct weft_backlog_entry *next;
    uint8_t kind;
};

struct weft_backlog {
    struct weft_backlog_entry *first, **controls_end, **end;
    double since; /* seconds: when it last became non-empty */
};

/* Counters of each peer, incremented on general paths only: see core/message/count.h. */
struct weft_peer_counts {
    uint64_t rendezvous;    /* sends announced to it, */
    uint64_t backlogged;    /* messages and controls to it that had to wait, */
    uint64_t backlog;       /* and those that wait now */
    uint64_t registrations; /* of memory, for messages from and to it */
};

/* Bytes for the state of the peer's lane. */
enum { WEFT_PEER_LANE_BYTES = 304 };

struct weft_peer {
    uint8_t lane;       /* its number */
    uint8_t vci_number; /* the table it is in: core/message/vci.h */
    uint8_t vci;        /* the number of the VCI it belongs to */
    bool dead;          /* its process has ended: nothing is sent or posted any more */
    int32_t world;      /* its rank in MPI_COMM_WORLD, or a number: core/message/foreign.h */
    uint32_t sequence;  /* of the next user message to it, where its lane counts them */
    /* Limits of the fast path, in bytes: each takes only what is shorter, so 0 stops it. The lane
     * sets them at first contact; a dead peer has none. */
    size_t send_limit;            /* of a send by the lane's inject function; 0 with
                                     WEFT_COUNTERS=all, or while the lane cannot */
    size_t recv_in_request_limit; /* of a receive from the provider that is received into its
                                     request */
    size_t recv_provider_limit;   /* of any posted to the provider, where the provider matches */
    size_t recv_software_limit;   /* of one posted to the matcher, where software matches */
    /* The state of its lane. The first bytes share a cache line with the members above. */
    _Alignas(8) unsigned char lane_state[WEFT_PEER_LANE_BYTES];
    uint64_t kept; /* bytes of its messages that the matcher keeps, unless its lane counts them */
    struct weft_backlog backlog;
    struct weft_peer_counts counts;
};

extern struct weft_peer weft_peer_unknown;

/* Raises an event of a peer; tag and bytes are 0 if the type does not have them. */
static inline void weft_peer_event(enum weft_event_type type, const struct weft_peer *peer, int tag,
                                   uint64_t bytes)
{
    if (weft_event_wanted(type))
        weft_event_raise(
            type, &(struct weft_event_data){
                      .rank = peer->world, .lane = peer->lane - 1, .tag = tag, .bytes = bytes});
}

/* Makes the table of peers of a VCI number. False if memory is short. */
bool weft_peers_open(unsigned vci_number);
void weft_peers_close(void);

/* The peer of a world rank in the table of a VCI number, or NULL before first contact. */
struct weft_peer *weft_peer_find(unsigned vci_number, int world);

/* The peer, connected if necessary. NULL as for weft_peer_connect. */
struct weft_peer *weft_peer_get(unsigned vci_number, int world);

/* An object for a world rank that has none, not connected. NULL if memory is short. */
struct weft_peer *weft_peer_make(unsigned vci_number, int world);

/* True if a world rank without a peer for that VCI number is dead. weft_failure_check closes the
 * peers that exist, which are dead from then on. */
bool weft_peer_died_before_contact(unsigned vci_number, int world);

/* First contact with a world rank for a VCI number. Returns NULL with the reason in weft_error_set
 * (MPI_ERR_OTHER). */
struct weft_peer *weft_peer_connect(unsigned vci_number, int world);

/* backlog.c: appends an entry; removes the first, which may be freed by now and was followed by
 * rest; removes any, and returns false if it is not there. */
void weft_backlog_append(struct weft_peer *peer, struct weft_backlog_entry *entry, bool overtakes);
void weft_backlog_pop(struct weft_peer *peer, const struct weft_backlog_entry *first,
                      struct weft_backlog_entry *rest);
bool weft_backlog_remove(struct weft_peer *peer, const struct weft_backlog_entry *entry);

#endif
