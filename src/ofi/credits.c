// SPDX-License-Identifier: BSD-3-Clause
/*
 * Back-pressure: how much a rank may send to another that does not take it.
 *
 * Credits. An eager message that no receive waits for costs memory at its receiver. So a receiver
 * gives each sender a number of credits, says so where it publishes its address, and an eager
 * message costs one for each 256 bytes it begins. The receiver counts what matches and returns
 * credits when a sixteenth of them is owed. A send that cannot pay is announced by an RTS instead
 * (announce() in send.c): its data wait at the sender, order is kept, and nothing can deadlock that
 * has its receives. A message that is no longer than an RTS would gain nothing: it is sent, and
 * overdraws.
 *
 * Relief. A provider may keep each message that waits in it, an RTS or 8 bytes too, in a buffer
 * that could hold the longest, and takes from the wire whatever is there. So a sender asks its peer
 * after every 256 messages or so whether it has taken them, after 1024 where it is known to keep
 * little: question and answer take the time of two messages, 1 % of those of 256. The answer comes
 * when the peer has read the question, the messages before it have been delivered, and those that
 * have no receive have been taken into software, where they cost what they must. While two questions
 * are unanswered user messages wait in the backlog. This also bounds the sequence numbers that a
 * receiver must tell apart (sequence.c). The answer needs a peer that progresses, and no receive;
 * controls overtake the backlog. So nothing can deadlock on it.
 *
 * The short way of a send tests one number, peer->stop: where credits end, where to ask, or here,
 * while there is a backlog. A message of the short way costs one credit, so the sequence number
 * that names it counts credits as well; a longer one brings the ends nearer.
 *
 * Invariants:
 *  - credits_end - sequence is what this rank may still spend. Only messages shorter than an RTS
 *    are sent when it is used up.
 *  - Each eager message is charged once, when it leaves, and returned once, when it matches or is
 *    revoked; both sides compute its cost from its length.
 *  - peer->stop is what weft_net_settle makes it whenever the long way is left.
 */
#include "core/object/error.h"
#include "core/object/settings.h"
#include "core/pt2pt/count.h"
#include "core/process/weft.h"
#include "ofi/net.h"
#include "ofi/ofi_internal.h"

#include <stdlib.h>

enum { STEPS = 16 };

/* After how many messages a question comes, or how many bytes, as powers of two: 256, or as many as
 * 16 MB of the provider's buffers take, but no more than 1024, because it looks at them one by one;
 * or 2 MB. Where the buffers are not known it stays at 256: with 1024 messages that the peer has not
 * taken, psm2 waits in its own send, which no nonblocking send may do. 64 or 16 KiB where the bytes
 * on their way have to fit into the kernel's smallest buffer. */
enum { PART = 8, MOST_PART = 10, PART_ROOM = 24, PART_BYTES = 21 };
enum { NARROW_PART = 6, NARROW_BYTES = 14 };

/* Where a message carries 8 bits of its sequence number: a window is half of these. */
enum { SHORT_NUMBER_PART = 6 };

static const int64_t largest = 16 << 20, smallest = 512 << 10, all_together = INT64_C(2) << 30;

static unsigned most_part(void)
{
    bool short_number = weft_net.software && weft_net.sequence_mask <= 0xff;
    return short_number ? SHORT_NUMBER_PART : MOST_PART;
}

uint32_t weft_net_window(void)
{
    return 2 * ((UINT32_C(1) << most_part()) + 1);
}

static void choose_part(const struct weft_provider_row *row)
{
    bool narrow = row->flags & WEFT_PROVIDER_NARROW;
    unsigned part = narrow ? NARROW_PART : PART, most = most_part();
    size_t each = row->flags & WEFT_PROVIDER_STOPS ? 1 : weft_rxm_buffer(row);
    while (each && part < most && each << part < (size_t)1 << PART_ROOM)
        part++;
    if (part > most)
        part = most;
    weft_net.part = 1U << part;
    weft_net.part_shift = (narrow ? NARROW_BYTES : PART_BYTES) - part;
}

void weft_net_credits_open(int ranks)
{
    int64_t bytes = weft_settings.eager_credits;
    if (!bytes) {
        bytes = all_together / ranks;
        bytes = bytes > largest ? largest : bytes < smallest ? smallest : bytes;
    }
    weft_net.credits = (uint32_t)(bytes >> WEFT_NET_CREDIT_SHIFT);
    weft_net.credits_step = weft_net.credits / STEPS;
    choose_part(weft_net.choice.row);
    size_t short_most = (1 << WEFT_NET_CREDIT_SHIFT) - 1;
    weft_net.inject_short = weft_net.inject_max < short_most ? weft_net.inject_max : short_most;
}

/* What is owed to a rank that is no peer yet. */
static uint32_t *stranger(const struct weft_net_vci *net, unsigned deal, int world)
{
    return &net->strangers[weft_net_sender_number(deal, world) - net->first_sender];
}

void weft_net_credits_meet(struct weft_peer *peer, uint32_t credits)
{
    peer->credits_end = peer->sequence + credits;
    peer->relieve_at = peer->sequence + weft_net.part;
    struct weft_net_vci *net = weft_net_of_peer(peer);
    if (net->strangers) {
        uint32_t *owed = stranger(net, peer->deal, peer->world);
        peer->owed += *owed;
        *owed = 0;
    }
    weft_net_settle(peer);
}

uint32_t weft_net_number(struct weft_peer *peer, size_t bytes, uint32_t cost)
{
    uint32_t number = peer->sequence++;
    peer->credits_end += 1 - cost;
    peer->relieve_at -= (uint32_t)(bytes >> weft_net.part_shift);
    weft_net_settle(peer);
    return number;
}

void weft_net_relieve(struct weft_peer *peer)
{
    if (weft_likely((int32_t)(peer->relieve_at - peer->sequence) > 0) || weft_net_must_wait(peer) ||
        peer->lane != WEFT_LANE_NET)
        return;
    peer->sent_before += peer->sequence - peer->sent_mark; /* sequence wraps around */
    peer->sent_mark = peer->sequence;
    peer->relieve_at = peer->sequence + weft_net.part;
    peer->unanswered++;
    weft_count_add(&weft_counts.net_flow_checks, 1);
    peer->reached = true;
    weft_net_settle(peer);
    weft_net_control(peer,
                     (struct weft_net_control){.kind = WEFT_NET_RELIEVE, .length = peer->sequence});
}

bool weft_net_relieved(struct weft_peer *peer)
{
    if (!peer->unanswered)
        return false;
    peer->unanswered--;
    weft_net_settle(peer);
    return true;
}

void weft_net_credits_arrived(struct weft_peer *peer, uint64_t credits)
{
    peer->credits_end += (uint32_t)credits;
    weft_net_settle(peer);
}

void weft_net_credits_return(struct weft_peer *peer)
{
    uint32_t owed = peer->owed;
    peer->owed = 0;
    if (peer->lane == WEFT_LANE_NET)
        weft_net_control(peer, (struct weft_net_control){.kind = WEFT_NET_CREDITS, .length = owed});
}

/* A rank that only ever sends to wildcards needs no contact before it has earned a return. */
static void matched_stranger(unsigned deal, int world, size_t length)
{
    struct weft_net_vci *net = &weft_net.vcis[deal % weft.nvcis];
    if (!net->strangers)
        net->strangers = calloc(weft_net_senders(), sizeof *net->strangers);
    if (!net->strangers)
        weft_fatal(MPI_ERR_NO_MEM, "no memory to count the messages of %d ranks", weft.job.size);
    uint32_t *owed = stranger(net, deal, world);
    *owed += weft_net_cost(length);
    if (*owed < weft_net.credits_step)
        return;
    struct weft_peer *peer = weft_peer_connect(deal, world); /* takes the count over */
    if (peer)
        weft_net_credits_return(peer);
}

void weft_net_matched(const struct weft_channel *channel, int source, size_t length)
{
    struct weft_peer *peer = weft_comm_peer(channel->comm, source);
    if (!peer)
        matched_stranger(channel->comm->deal, weft_comm_world_of(channel->comm, source), length);
    else if (peer->lane == WEFT_LANE_NET)
        weft_net_matched_from(peer, length);
}
