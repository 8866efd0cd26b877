// SPDX-License-Identifier: BSD-3-Clause
/*
 * Dispatch to the lanes, see lane.h; and the lane self, whose messages go straight to the matcher.
 */
#include "core/pt2pt/lane.h"
#include "core/message/lane_ops.h"
#include "core/message/count.h"

/* ---- Messages of this process to itself */

static struct weft_arrival describe_self(struct weft_request *send)
{
    return (struct weft_arrival){.context = send->channel->context,
                                 .source = send->channel->rank,
                                 .tag = send->tag,
                                 .lane = WEFT_LANE_SELF,
                                 .mode = send->mode,
                                 .location = WEFT_DATA_LOCAL,
                                 .peer = send->peer,
                                 .data = send,
                                 .bytes = send->bytes,
                                 .length = send->bytes,
                                 .id = send->sequence};
}

static int send_self(struct weft_request *send)
{
    send->sequence = send->peer->sequence++;
    weft_count_add(&weft_counts.self_messages, 1);
    weft_count_add(&weft_counts.self_bytes, send->bytes);
    const struct weft_arrival message = describe_self(send);
    return weft_sw_arrive(&send->channel->vci->matcher, &message);
}

/* A send that was copied is complete, and can be cancelled until the copy has matched. */
static void cancel_self(struct weft_request *send)
{
    struct weft_arrival name = describe_self(send);
    if (!weft_sw_revoke(&send->channel->vci->matcher, &name))
        return;
    send->flags |= WEFT_REQUEST_CANCELLED;
    if (send->pending)
        weft_request_event(send);
}

/* ---- Peers */

enum weft_lane weft_lane_to(int world)
{
    return world == weft.job.rank    ? WEFT_LANE_SELF
           : weft_shm_reaches(world) ? WEFT_LANE_SHM
                                     : WEFT_LANE_NET;
}

/* First contact. Returns 0, or -1 with a sentence in why. */
static int connect_peer(struct weft_peer *peer, char *why, size_t len)
{
    if (peer->lane == WEFT_LANE_NET)
        return weft_net_connect(peer, why, len);
    return peer->lane == WEFT_LANE_SHM ? weft_shm_connect(peer, why, len) : 0;
}

/* The process of a peer has ended: takes what it sent completely, and ends what is still to be sent
 * to it and what it was pushing. The peer's lane is WEFT_LANE_DEAD then. */
static void close_dead_peer(struct weft_peer *peer)
{
    weft_shm_close_dead(peer);
    peer->lane = WEFT_LANE_DEAD;
    peer->send_limit = 0;
    peer->recv_in_request_limit = peer->recv_provider_limit = peer->recv_software_limit = 0;
    weft_net_drop_backlog(peer);
    weft_assert(!peer->backlog.first && !peer->counts.backlog);
}

/* ---- Sends */

int weft_lane_send(struct weft_request *request)
{
    weft_assert(request->pending == 1 && weft_vci_is_held(request->vci));
    weft_assert(request->peer->lane != WEFT_LANE_UNKNOWN && request->peer->lane != WEFT_LANE_DEAD);
    request->owner = request->peer->lane;
    if (request->owner == WEFT_LANE_SHM)
        return weft_shm_isend(request);
    return request->owner == WEFT_LANE_NET ? weft_net_isend(request) : send_self(request);
}

void weft_lane_cancel(struct weft_request *request)
{
    weft_assert(request->op == WEFT_REQUEST_SEND);
    if (request->peer->lane == WEFT_LANE_DEAD)
        return; /* no reply will come */
    if (request->owner == WEFT_LANE_SHM)
        weft_shm_cancel(request);
    else if (request->owner == WEFT_LANE_NET)
        weft_net_cancel(request);
    else
        cancel_self(request);
}

/* ---- Matched receives */

/* Fetches the data of a message that was announced by an RTS, and completes the receive. */
static void fetch_message(struct weft_request *receive, const struct weft_arrival *message)
{
    weft_assert(receive->peer && message->location == WEFT_DATA_AT_SENDER);
    receive->owner = message->lane;
    if (message->lane == WEFT_LANE_SHM)
        weft_shm_fetch(receive, message->data);
    else
        weft_net_fetch(receive, message->data);
}

/* A message has matched: returns its credits, and acknowledges it if it is synchronous. */
static void message_matched(const struct weft_request *receive, const struct weft_arrival *message)
{
    bool synchronous = message->mode == WEFT_SEND_SYNCHRONOUS;
    if (message->lane == WEFT_LANE_SHM && synchronous)
        weft_shm_acknowledge(receive->peer, message->cookie);
    if (message->lane != WEFT_LANE_NET)
        return;
    if (synchronous)
        weft_net_acknowledge(receive->peer, receive->channel, message->tag);
    weft_net_matched(receive->channel, message->source, message->length);
}

/* A message is kept without a receive (+1), or is not any more (-1): counts its bytes, of which its
 * sender may have weft.eager_credits. The net lane counts when messages match. */
static void count_kept(const struct weft_arrival *message, int by)
{
    enum { LEAST = 256 };
    struct weft_peer *peer = message->peer;
    if (message->lane == WEFT_LANE_NET || message->location != WEFT_DATA_HERE)
        return;
    uint64_t cost = message->bytes < LEAST ? LEAST : message->bytes;
    weft_assert(by > 0 || peer->kept >= cost);
    peer->kept += by > 0 ? cost : -cost;
    if (message->lane == WEFT_LANE_SHM)
        weft_shm_kept(peer);
}

/* ---- Active requests */

bool weft_lane_is_idle(void)
{
    return weft_shm_is_idle() && (!weft.net || weft_net_idle());
}

/* True for an operation that only waits for a message of its peer. */
static bool waits_for_peer(const struct weft_request *request)
{
    if (request->flags & WEFT_REQUEST_CANCELLING)
        return true;
    if (request->owner == WEFT_LANE_SHM)
        return weft_shm_waits_for_peer(request);
    return request->owner == WEFT_LANE_NET && weft_net_waits_for_peer(request);
}

/* Ends such an operation, whose error is set, because the peer is dead. */
static void abandon_request(struct weft_request *request)
{
    weft_assert(request->pending > 0 && request->peer->lane == WEFT_LANE_DEAD);
    if (request->flags & WEFT_REQUEST_CANCELLING) {
        bool last = request->pending == 1;
        request->flags &= (uint8_t)~WEFT_REQUEST_CANCELLING;
        weft_request_event(request);
        if (last)
            return;
    }
    if (request->owner == WEFT_LANE_SHM)
        weft_shm_matched(request);
    else
        weft_net_abandon(request);
}

const char *weft_lane_describe(const struct weft_request *request)
{
    if (request->owner == WEFT_LANE_SHM)
        return weft_shm_describe(request);
    if (request->owner == WEFT_LANE_NET)
        return weft_net_describe(request);
    return request->op == WEFT_REQUEST_RECV ? "held in software, no message matches yet"
                                            : "in this process, no receive matches yet";
}

/* ---- For the modules below */

void weft_lane_init(void)
{
    static const struct weft_lane_ops ops = {
        .to = weft_lane_to,
        .init_peer = weft_net_peer_init,
        .connect = connect_peer,
        .init_request = weft_net_adopt,
        .fetch = fetch_message,
        .matched = message_matched,
        .kept = count_kept,
        .close_dead = close_dead_peer,
        .waits_for_peer = waits_for_peer,
        .abandon = abandon_request,
        .net_withdraw = weft_net_withdraw,
        .net_check_hosts = weft_net_check_hosts,
        .shm_progress = weft_shm_progress,
        .shm_is_idle = weft_shm_is_idle,
        .shm_set_doorbell = weft_shm_set_doorbell,
        .shm_await_doorbell = weft_shm_await_doorbell,
        .shm_wake_self = weft_shm_wake_self,
        .shm_sleep = weft_shm_sleep,
        .shm_cores = weft_shm_cores,
        .net_progress = weft_net_progress,
        .net_wait_fds = weft_net_wait_fds,
    };
    weft_lane_ops = &ops;
}
