// SPDX-License-Identifier: BSD-3-Clause
/*
 * Credits and flow checks: how many user messages a peer may be sent before it has taken earlier
 * ones (credits.c).
 */
#ifndef WEFT_OFI_CREDITS_H
#define WEFT_OFI_CREDITS_H

#include "ofi/state.h"

/* The credits that this rank gives to each peer. Called once, when the eager limit and the tag word
 * are known. */
void weft_net_credits_open(void);

/* The undelivered user messages that a sender may have. One message may be sent after a flow check
 * is due, and two flow checks may be pending. */
uint32_t weft_net_undelivered_max(void);

/* A message was taken: of a rank that may have no connection; of a sender in a channel, as the
 * completion data claim it, where the provider matches. */
void weft_net_took(struct weft_net_vci *net, unsigned vci_number, int world);
void weft_net_took_from(const struct weft_channel *channel, int source);

/* Messages of a peer, user messages and controls, that this rank has taken, modulo 2^32. */
uint32_t weft_net_taken(const struct weft_net_vci *net, const struct weft_peer *peer);

/* First contact: the peer gives this rank so many. */
void weft_net_credits_start(struct weft_peer *peer, uint32_t credits);

/* The credits that an eager message costs: one for each 256 bytes it begins, but at least one. */
enum { WEFT_NET_CREDIT_SHIFT = 8 };

static inline uint32_t weft_net_cost(size_t bytes)
{
    return 1 + (uint32_t)(bytes >> WEFT_NET_CREDIT_SHIFT);
}

/* The credits that are left; below 0 after messages shorter than an RTS, which are always sent. */
static inline int32_t weft_net_credits_left(const struct weft_peer *peer)
{
    return (int32_t)(weft_net_peer(peer)->credits_end - peer->sequence);
}

/* True if user messages to a peer wait in the backlog for the reply to a flow check, or for a
 * tunnel. */
enum { WEFT_NET_FLOW_CHECKS_MAX = 2 };

static inline bool weft_net_must_wait(const struct weft_peer *peer)
{
    const struct weft_net_peer *to = weft_net_peer(peer);
    return to->flow_checks_pending >= WEFT_NET_FLOW_CHECKS_MAX || to->held;
}

static inline bool weft_net_affordable(const struct weft_peer *peer, size_t bytes)
{
    return bytes <= WEFT_NET_HEADER_BYTES ||
           (int32_t)weft_net_cost(bytes) <= weft_net_credits_left(peer);
}

/* Recomputes the sequence number at which the fast path must stop: the current one while there is a
 * backlog or too many flow checks are pending, else where credits end or a flow check is due. To be
 * called after each change of these. */
static inline void weft_net_settle(struct weft_peer *peer)
{
    weft_assert(weft_vci_is_held(&weft.vcis[peer->vci]));
    weft_assert(weft_net_peer(peer)->flow_checks_pending <= WEFT_NET_FLOW_CHECKS_MAX);
    int32_t credits = weft_net_credits_left(peer);
    int32_t messages = (int32_t)(weft_net_peer(peer)->flow_check_at - peer->sequence);
    int32_t first = credits < messages ? credits : messages;
    bool here = peer->backlog.first || weft_net_must_wait(peer) || first < 0;
    weft_net_peer(peer)->fast.stop = peer->sequence + (here ? 0 : (uint32_t)first);
}

/* Counts a user message that has left, one of so many bytes, and so many credits (an RTS: 0).
 * Returns its number. */
uint32_t weft_net_number(struct weft_peer *peer, size_t bytes, uint32_t cost);

/* Sends a flow check to a peer, if one is due. Not within weft_net_push. */
void weft_net_flow_check(struct weft_peer *peer);

/* The reply to a flow check arrived. False if none is pending. */
bool weft_net_flow_checked(struct weft_peer *peer);

/* Credits were returned. False if the peer never got that many. */
bool weft_net_credits_arrived(struct weft_peer *peer, uint64_t credits);

/* With software matching: an eager message of that length from a sender number is dropped. */
WEFT_COLD void weft_net_matched_number(uint32_t sender, size_t length);

/* Returns the credits of a peer. */
WEFT_COLD void weft_net_credits_return(struct weft_peer *peer);

/* An eager message of that length has matched a receive from one source. */
static inline void weft_net_matched_from(struct weft_peer *peer, size_t length)
{
    weft_assert(weft_vci_is_held(&weft.vcis[peer->vci]));
    weft_net_peer(peer)->credits_to_return += weft_net_cost(length);
    if (weft_unlikely(weft_net_peer(peer)->credits_to_return >= weft_net.credits_step))
        weft_net_credits_return(peer);
}

#endif
