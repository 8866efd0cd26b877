// SPDX-License-Identifier: BSD-3-Clause
/*
 * Flow control: credits for eager messages, and flow checks.
 *
 * Credits. An unexpected eager message takes memory at its receiver. So a receiver gives each
 * sender a number of credits, which it publishes with its address, and an eager message costs one
 * for each 256 bytes it begins. The receiver counts the credits of matched messages and returns
 * them in steps of a sixteenth. A send without credits is announced by an RTS instead
 * (prepare_send() in send.c): its data stay at the sender, so order is kept, and no program that
 * posts its receives can deadlock. A message that is no longer than an RTS is always sent, and may
 * make the credits negative.
 *
 * Flow checks. A provider may keep each unexpected message, also an RTS or 8 bytes, in a buffer of
 * the longest length, and receives all that arrives. So a sender requests a confirmation from its
 * peer after about 256 messages, or after 1024 if the provider keeps little: request and reply take
 * the time of two messages, 1 % of 256. The peer replies when it has received the request, has
 * delivered the messages before it, and has claimed those without a receive into software, where
 * they take only their length. While two flow checks are pending, user messages wait in the
 * backlog. This also bounds the sequence numbers that a receiver must distinguish (sequence.c). The
 * reply needs progress of the peer, but no receive, and controls overtake the backlog, so flow
 * checks cannot cause a deadlock.
 *
 * The fast path of a send tests one number, fast.stop of the peer: the sequence number at which
 * credits end or a flow check is due, or the current one while there is a backlog. A message
 * of the fast path costs one credit, so its sequence number counts credits too; a longer message
 * moves these limits.
 *
 * Invariants:
 *  - credits_end - sequence is the number of credits that are left. If it is 0 or less, only
 *    messages shorter than an RTS are sent.
 *  - The credits of an eager message are taken once, when it leaves, and returned once, when it
 *    matches or is cancelled; both sides compute its cost from its length.
 *  - weft_net_settle sets fast.stop before the general path ends.
 */
#include "core/base/memory.h"
#include "core/message/count.h"
#include "core/message/process.h"
#include "ofi/net.h"
#include "ofi/credits.h"
#include "ofi/ofi_internal.h"

enum { STEPS = 16 };

/* The messages, or bytes, between two flow checks, as powers of two: 256, or as many as fit into 16
 * MB of the provider's buffers, but at most 1024, because the provider searches them one by one; or
 * 2 MB. If the buffers are not known it is 256: with 1024 messages that the peer has not received,
 * psm2 blocks in its send. 64 messages or 16 KiB if the bytes in flight must fit into the kernel's
 * smallest buffer. */
enum { INTERVAL = 8, MOST_INTERVAL = 10, INTERVAL_SPACE = 24, INTERVAL_BYTES = 21 };
enum { NARROW_INTERVAL = 6, NARROW_BYTES = 14 };

/* If a message carries 8 bits of its sequence number: half of these may be undelivered. */
enum { SHORT_NUMBER_INTERVAL = 6 };

static unsigned most_interval(void)
{
    bool short_number = weft_net.software && weft_net.sequence_mask <= 0xff;
    return short_number ? SHORT_NUMBER_INTERVAL : MOST_INTERVAL;
}

uint32_t weft_net_undelivered_max(void)
{
    return 2 * ((UINT32_C(1) << most_interval()) + 1);
}

static void choose_interval(const struct weft_provider_row *row)
{
    bool narrow = row->flags & WEFT_PROVIDER_NARROW;
    unsigned interval = narrow ? NARROW_INTERVAL : INTERVAL, most = most_interval();
    size_t each = row->flags & WEFT_PROVIDER_STOPS ? 1 : weft_rxm_buffer(row);
    while (each && interval < most && each << interval < (size_t)1 << INTERVAL_SPACE)
        interval++;
    if (interval > most)
        interval = most;
    weft_net.check_interval = 1U << interval;
    weft_net.check_shift = (narrow ? NARROW_BYTES : INTERVAL_BYTES) - interval;
}

void weft_net_credits_open(void)
{
    weft_net.credits = (uint32_t)(weft.eager_credits >> WEFT_NET_CREDIT_SHIFT);
    weft_net.credits_step = weft_net.credits / STEPS;
    choose_interval(weft_net.choice.row);
    size_t short_most = (1 << WEFT_NET_CREDIT_SHIFT) - 1;
    weft_net.inject_short = weft_net.inject_max < short_most ? weft_net.inject_max : short_most;
}

static struct weft_net_unconnected *unconnected(struct weft_net_vci *net, unsigned vci_number,
                                                int world)
{
    if (!net->unconnected)
        net->unconnected =
            weft_memory_get(weft_net_senders(), sizeof *net->unconnected, "the counts of messages");
    weft_assert(weft_net_sender_number(vci_number, world) - net->first_sender < weft_net_senders());
    return &net->unconnected[weft_net_sender_number(vci_number, world) - net->first_sender];
}

void weft_net_took(struct weft_net_vci *net, unsigned vci_number, int world)
{
    struct weft_peer *peer = weft_peer_find(vci_number, world);
    if (peer)
        weft_net_peer(peer)->taken++;
    else
        unconnected(net, vci_number, world)->taken++;
}

void weft_net_took_from(const struct weft_channel *channel, int source)
{
    struct weft_peer *peer = weft_channel_peer(channel, source);
    if (peer)
        weft_net_peer(peer)->taken++;
    else
        weft_net_took(weft_net_of_channel(channel), channel->vci_number,
                      weft_channel_world(channel, source));
}

uint32_t weft_net_taken(const struct weft_net_vci *net, const struct weft_peer *peer)
{
    uint32_t sender = weft_net_sender_number(peer->vci_number, peer->world) - net->first_sender;
    return weft_net_peer(peer)->taken + weft_sequence_delivered(&net->sequences, sender);
}

void weft_net_credits_start(struct weft_peer *peer, uint32_t credits)
{
    struct weft_net_peer *to = weft_net_peer(peer);
    weft_assert(peer->lane == WEFT_LANE_NET && !peer->backlog.first);
    to->credits = credits;
    to->credits_end = peer->sequence + credits;
    to->flow_check_at = peer->sequence + weft_net.check_interval;
    struct weft_net_vci *net = weft_net_of_peer(peer);
    if (net->unconnected) {
        struct weft_net_unconnected *counts = unconnected(net, peer->vci_number, peer->world);
        to->credits_to_return += counts->credits;
        to->taken += counts->taken;
        *counts = (struct weft_net_unconnected){0};
    }
    weft_net_settle(peer);
}

uint32_t weft_net_number(struct weft_peer *peer, size_t bytes, uint32_t cost)
{
    struct weft_net_peer *to = weft_net_peer(peer);
    weft_assert(!cost || weft_net_affordable(peer, bytes));
    weft_assert(!weft_net_must_wait(peer));
    uint32_t number = peer->sequence++;
    to->credits_end += 1 - cost;
    to->flow_check_at -= (uint32_t)(bytes >> weft_net.check_shift);
    weft_net_settle(peer);
    return number;
}

void weft_net_flow_check(struct weft_peer *peer)
{
    struct weft_net_peer *to = weft_net_peer(peer);
    if (weft_likely((int32_t)(to->flow_check_at - peer->sequence) > 0) ||
        weft_net_must_wait(peer) || !weft_net_is_alive(peer))
        return;
    to->sent_before += peer->sequence - to->sent_mark; /* sequence wraps around */
    to->sent_mark = peer->sequence;
    to->flow_check_at = peer->sequence + weft_net.check_interval;
    to->flow_checks_pending++;
    weft_count_add(&weft_counts.net_flow_checks, 1);
    to->reached = true;
    weft_net_settle(peer);
    weft_net_control(
        peer, (struct weft_net_control){.kind = WEFT_NET_FLOW_CHECK, .length = peer->sequence});
}

uint64_t weft_net_sent_to(const struct weft_peer *peer)
{
    const struct weft_net_peer *to = weft_net_peer(peer);
    return to->sent_before + (peer->sequence - to->sent_mark);
}

bool weft_net_flow_checked(struct weft_peer *peer)
{
    struct weft_net_peer *to = weft_net_peer(peer);
    if (!to->flow_checks_pending)
        return false;
    to->flow_checks_pending--;
    weft_net_settle(peer);
    return true;
}

bool weft_net_credits_arrived(struct weft_peer *peer, uint64_t credits)
{
    struct weft_net_peer *to = weft_net_peer(peer);
    if (credits > to->credits ||
        weft_net_credits_left(peer) + (int64_t)credits > (int64_t)to->credits)
        return false;
    to->credits_end += (uint32_t)credits;
    weft_net_settle(peer);
    return true;
}

void weft_net_credits_return(struct weft_peer *peer)
{
    struct weft_net_peer *to = weft_net_peer(peer);
    uint32_t credits = to->credits_to_return;
    to->credits_to_return = 0;
    if (weft_net_is_alive(peer))
        weft_net_control(peer,
                         (struct weft_net_control){.kind = WEFT_NET_CREDITS, .length = credits});
}

/* To a rank that only sends to this one, first contact is made when a step of credits is due. */
static void matched_unconnected(unsigned vci_number, int world, size_t length)
{
    struct weft_net_vci *net = &weft_net.vcis[vci_number % weft.nvcis];
    uint32_t *credits = &unconnected(net, vci_number, world)->credits;
    *credits += weft_net_cost(length);
    if (*credits < weft_net.credits_step)
        return;
    struct weft_peer *peer = weft_peer_connect(vci_number, world); /* moves the count to the peer */
    if (peer)
        weft_net_credits_return(peer);
}

static void matched_peer(struct weft_peer *peer, unsigned vci_number, int world, size_t length)
{
    if (!peer)
        matched_unconnected(vci_number, world, length);
    else if (weft_net_is_alive(peer))
        weft_net_matched_from(peer, length);
}

void weft_net_matched_number(uint32_t sender, size_t length)
{
    unsigned vci_number = sender / (uint32_t)weft.job.size;
    int world = (int)(sender % (uint32_t)weft.job.size);
    matched_peer(weft_peer_find(vci_number, world), vci_number, world, length);
}

void weft_net_matched(const struct weft_channel *channel, int source, size_t length)
{
    struct weft_peer *peer = weft_channel_peer(channel, source);
    int world = peer ? peer->world : weft_channel_world(channel, source);
    matched_peer(peer, channel->vci_number, world, length);
}
