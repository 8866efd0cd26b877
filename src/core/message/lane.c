// SPDX-License-Identifier: BSD-3-Clause
/*
 * The lanes that are open, and what is the same for all of them: see lane.h.
 */
#include "core/message/lane.h"

#include "core/message/foreign.h"

#include <string.h>

const struct weft_lane *weft_lanes[WEFT_LANES_MAX];

/* ---- The open lanes */

const struct weft_lane *weft_lane_next(unsigned *number)
{
    while (*number < WEFT_LANES_MAX && !(weft.lanes >> *number & 1))
        ++*number;
    return *number < WEFT_LANES_MAX ? weft_lanes[*number] : NULL;
}

/* Adds the progress of the lanes that are cheap to poll, or of the others. */
static void add_polls(bool cheap)
{
    unsigned number = 0, n = 0;
    while (weft.polls[n])
        n++;
    WEFT_LANES_EACH(lane, number)
    if (lane->progress && lane->cheap == cheap)
        weft.polls[n++] = lane->progress;
    if (cheap)
        weft.cheap_polls = n;
}

static void find_roles(void)
{
    unsigned number = 0;
    weft.posts = weft.exposes = weft.sleeps = 0;
    memset(weft.polls, 0, sizeof weft.polls);
    add_polls(true);
    add_polls(false);
    WEFT_LANES_EACH(lane, number)
    {
        if (!weft.posts && lane->matches && lane->matches())
            weft.posts = (uint8_t)number;
        if (!weft.exposes && lane->remote)
            weft.exposes = (uint8_t)number;
        if (!weft.sleeps && lane->sleep && (!lane->foreign || weft.job.size == 1))
            weft.sleeps = (uint8_t)number;
    }
}

void weft_lane_opened(unsigned number)
{
    weft_assert(number > 0 && number < WEFT_LANES_MAX && weft_lanes[number]);
    weft.lanes |= 1u << number;
    find_roles();
}

void weft_lane_closed(unsigned number)
{
    weft.lanes &= ~(1u << number);
    find_roles();
}

/* ---- Peers */

unsigned weft_lane_to(int world)
{
    unsigned number = 0, last = WEFT_LANE_UNKNOWN;
    if (weft_is_foreign(world))
        return weft_lane_foreign();
    WEFT_LANES_EACH(lane, number)
    {
        if (!lane->reaches)
            last = number;
        else if (lane->reaches(world))
            return number;
    }
    return last;
}

unsigned weft_lane_foreign(void)
{
    unsigned number = 1;
    while (number < WEFT_LANES_MAX - 1 && !(weft_lanes[number] && weft_lanes[number]->foreign))
        number++;
    return weft_lanes[number] && weft_lanes[number]->foreign ? number : WEFT_LANE_UNKNOWN;
}

const struct weft_lane_monitor *weft_lane_monitor(void)
{
    for (unsigned number = 0; number < WEFT_LANES_MAX; number++)
        if (weft_lanes[number] && weft_lanes[number]->monitor)
            return weft_lanes[number]->monitor;
    return NULL;
}

const struct weft_lane_node *weft_lane_node(int world)
{
    const struct weft_lane *lane = weft_lanes[weft_lane_to(world)];
    return lane ? lane->node : NULL;
}

void weft_lane_close_dead(struct weft_peer *peer)
{
    weft_assert(!peer->dead);
    peer->dead = true;
    peer->send_limit = 0;
    peer->recv_in_request_limit = peer->recv_provider_limit = peer->recv_software_limit = 0;
    weft_lane_of(peer)->close_dead(peer);
    weft_assert(!peer->backlog.first && !peer->counts.backlog);
}

/* ---- Messages */

int weft_lane_send(struct weft_request *request)
{
    weft_assert(request->pending == 1 && weft_vci_is_held(request->vci));
    weft_assert(!request->peer->dead);
    request->owner = request->peer->lane;
    return weft_lane_of(request->peer)->send(request);
}

void weft_lane_cancel(struct weft_request *request)
{
    weft_assert(request->owner == request->peer->lane);
    if (!request->peer->dead) /* else no reply will come */
        weft_lane_of(request->peer)->cancel(request);
}

void weft_lane_kept(const struct weft_arrival *message, int by)
{
    enum { LEAST = 256 };
    struct weft_peer *peer = message->peer;
    void (*kept)(const struct weft_peer *) = weft_lanes[message->lane]->kept;
    if (!kept || !peer || message->location != WEFT_DATA_HERE)
        return;
    uint64_t cost = message->bytes < LEAST ? LEAST : message->bytes;
    weft_assert(by > 0 || peer->kept >= cost);
    peer->kept += by > 0 ? cost : -cost;
    kept(peer);
}

/* ---- Active requests */

bool weft_lane_is_idle(void)
{
    unsigned number = 0;
    WEFT_LANES_EACH(lane, number)
    if (lane->is_idle && !lane->is_idle())
        return false;
    return true;
}

void weft_lane_collect_all(void)
{
    unsigned number = 0;
    WEFT_LANES_EACH(lane, number)
    if (lane->collect_all)
        lane->collect_all();
}

bool weft_lane_waits_for_peer(const struct weft_request *request)
{
    const struct weft_lane *owner = weft_lanes[request->owner];
    if (request->flags & WEFT_REQUEST_CANCELLING)
        return true;
    return owner && owner->waits_for_peer && owner->waits_for_peer(request);
}

void weft_lane_abandon(struct weft_request *request)
{
    weft_assert(request->pending > 0 && request->peer->dead);
    if (request->flags & WEFT_REQUEST_CANCELLING) {
        bool last = request->pending == 1;
        request->flags &= (uint8_t)~WEFT_REQUEST_CANCELLING;
        weft_request_event(request);
        if (last)
            return;
    }
    weft_lanes[request->owner]->abandon(request);
}

const char *weft_lane_describe(const struct weft_request *request)
{
    const struct weft_lane *owner = weft_lanes[request->owner];
    return owner ? owner->describe(request) : "held in software, no message matches yet";
}
