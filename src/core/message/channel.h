// SPDX-License-Identifier: BSD-3-Clause
/*
 * Channels: the context ids of a communicator, one for each use, with what lanes and matching
 * read of the communicator.
 *
 * Invariants:
 *  - A channel's context id belongs to one communicator while any of its messages can be in flight.
 *  - A channel with held != 0 posts no receive to the provider, because an older receive that could
 *    match a message of the net, or an older message taken out of the provider, is in software.
 *  - rank, size, vci_number, vci and peers are those of the communicator (core/comm/comm.h) from
 *    weft_comm_open on, unless its point-to-point messages are spread: core/comm/spread.h.
 */
#ifndef WEFT_CHANNEL_H
#define WEFT_CHANNEL_H

#include "core/message/peer.h"

#include <stdbool.h>
#include <stdint.h>

/* The uses of a communicator's channels. A context id is its block of ids times WEFT_CONTEXTS, plus
 * the use. */
enum weft_context_use {
    WEFT_CONTEXT_P2P,
    WEFT_CONTEXT_COLL,
    WEFT_CONTEXT_PARTITIONED, /* and operations on windows */
    WEFT_CONTEXT_ANNOUNCING,  /* partitioned sends, with a user's tag */
    WEFT_CONTEXT_MAKING,      /* calls that make communicators, collective over this one */
    WEFT_CONTEXT_GROUPING,    /* the same calls by some of its processes, with a user's tag */
    WEFT_CONTEXT_LOCAL_COLL,  /* the next two: the local group of an inter-communicator */
    WEFT_CONTEXT_LOCAL_MAKING,
    WEFT_CONTEXTS
};

enum {
    WEFT_CONTEXT_BITS = 20,  /* bits of a context id that fit into every provider's tag word */
    WEFT_LEAST_TAG_BITS = 15 /* beside a message tag: a collective's kind and sequence number */
};

/* In the software matcher: set in the context id of a message of a freed communicator, so that no
 * receive matches it. */
enum { WEFT_CONTEXT_FREED = 1 << 30 };

/* No peer on a lane that matches: every receive stays in software. */
enum { WEFT_HELD_ALWAYS = 1 << 30, WEFT_CHANNEL_LANE_BYTES = 16 };

struct weft_comm;
struct weft_vci;

struct weft_channel {
    uint32_t context;
    int32_t held; /* see the invariant; starts at WEFT_HELD_ALWAYS or 0 */
    uint32_t
        sources;         /* the communicator's size, or 0 while a receive that the provider could
                            match is in software; a receive from a rank below it may be posted at
                            once where its peer's lane matches: recv_provider_limit, recv_software_limit */
    bool wildcards_held; /* receives from any source stay in software, because lanes are mixed */
    bool took_back;      /* posted receives were withdrawn, so a ready send may find no receive */
    bool listed;         /* in the VCI's list `held`: progress peeks into the provider for it */
    /* The state of the lane that matches receives: lane_fast.h. */
    _Alignas(8) unsigned char lane_state[WEFT_CHANNEL_LANE_BYTES];
    struct weft_vci *vci;
    struct weft_peer **peers; /* by rank; weft_peer_unknown before first contact */
    int rank, size;           /* messages carry this rank, and go to ranks below size */
    unsigned vci_number;      /* index of the table of peers: core/message/vci.h */
    int uses;                 /* messages that matched probes took, and no receive yet */
    struct weft_comm *comm;
    struct weft_channel *next_held;
    struct weft_channel
        *alike; /* the circular list of channels with its context on its VCI; NULL: none */
};

/* The calls of matching and lanes to communicators, which are above them; core/process sets them.
 */
struct weft_channel_ops {
    struct weft_channel *(*of)(uint32_t context, int source, int tag);
    int (*world)(const struct weft_channel *channel, int rank);
    const char *(*name)(const struct weft_channel *channel);
    bool (*expects)(uint32_t context);
    /* A process that may send on a channel of the program's messages, is dead, and not acknowledged
     * by the program (core/comm/recovery.h), or -1. */
    int (*unacknowledged)(const struct weft_channel *channel);
    void (*revoked)(int world, uint32_t context); /* for lanes: core/comm/revoke.h */
    /* MPIX_ERR_REVOKED, recorded, if the communicator is revoked, else MPI_SUCCESS. */
    int (*check)(const struct weft_channel *channel);
};

extern WEFT_HIDDEN struct weft_channel_ops weft_channel_ops;

static inline enum weft_context_use weft_channel_use(const struct weft_channel *channel)
{
    return (enum weft_context_use)(channel->context % WEFT_CONTEXTS);
}

/* The channel of a message to this process, or NULL. A context id may have several channels, of
 * which source and tag select one: core/comm/spread.h. */
static inline struct weft_channel *weft_channel_of(uint32_t context, int source, int tag)
{
    return weft_channel_ops.of(context, source, tag);
}

/* True if a message of that context id may be for a communicator that this process has, or is
 * making; else nobody will receive it. */
static inline bool weft_channel_expects(uint32_t context)
{
    return weft_channel_ops.expects(context);
}

/* The world rank of a rank. */
static inline int weft_channel_world(const struct weft_channel *channel, int rank)
{
    return weft_channel_ops.world(channel, rank);
}

/* The peer of a rank, or NULL before first contact through any communicator. */
static inline struct weft_peer *weft_channel_peer(const struct weft_channel *channel, int rank)
{
    weft_assert(rank >= 0 && rank < channel->size);
    struct weft_peer *peer = channel->peers[rank];
    return weft_likely(peer != &weft_peer_unknown)
               ? peer
               : weft_peer_find(channel->vci_number, weft_channel_world(channel, rank));
}

/* True if the process of a rank is dead, also before first contact. */
static inline bool weft_channel_is_dead(const struct weft_channel *channel, int rank)
{
    const struct weft_peer *peer = weft_channel_peer(channel, rank);
    return peer ? peer->dead
                : weft_peer_died_before_contact(channel->vci_number,
                                                weft_channel_world(channel, rank));
}

/* As weft_channel_peer, with first contact if necessary. NULL as for weft_peer_connect. */
struct weft_peer *weft_channel_connect(const struct weft_channel *channel, int rank);

#endif
