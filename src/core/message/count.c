// SPDX-License-Identifier: BSD-3-Clause
/*
 * Counters: see count.h.
 *
 * Invariant: messages of a dead rank are counted for the lane that it had.
 */
#include "core/message/count.h"

#include "core/base/settings.h"
#include "core/pt2pt/lane.h"
#include "core/base/clock.h"

#include <stdlib.h>

struct weft_counts weft_counts;
struct weft_count_rank *weft_count_ranks;

static unsigned slot_of(int world)
{
    return (unsigned)weft_lane_to(world) - WEFT_LANE_SELF;
}

void weft_count_open(void)
{
    if (weft_settings.counters != WEFT_COUNTERS_ALL)
        return;
    weft_count_ranks = calloc((size_t)weft.job.size, sizeof *weft_count_ranks);
    if (!weft_count_ranks)
        weft_fatal(MPI_ERR_NO_MEM,
                   "no memory to count the messages of %d ranks; unset "
                   "WEFT_COUNTERS",
                   weft.job.size);
    weft.others |= WEFT_OTHERS_COUNT;
}

void weft_count_close(void)
{
    weft_counts.net_messages = weft_count_sent(WEFT_LANE_NET);
    weft_counts.shm_messages = weft_count_sent(WEFT_LANE_SHM);
    weft_counts.shm_arrived = weft_count_shm_arrived();
    weft_counts.net_receives += weft_net_levels().completed;
    free(weft_count_ranks);
    weft_count_ranks = NULL;
    weft.others &= (uint8_t)~WEFT_OTHERS_COUNT;
}

/* ---- With WEFT_COUNTERS=all */

void weft_count_send(const struct weft_request *request)
{
    int world = request->peer->world;
    weft_counts.bytes_sent[slot_of(world)] += request->bytes;
    weft_count_ranks[world].bytes_sent += request->bytes;
}

void weft_count_receive(struct weft_request *request)
{
    request->flags |= WEFT_REQUEST_COUNTED;
}

void weft_count_received(const struct weft_request *request)
{
    if ((request->flags & WEFT_REQUEST_CANCELLED) || !weft_count_ranks ||
        (request->error && request->error != MPI_ERR_TRUNCATE))
        return;
    int world = weft_comm_world_of(request->channel->comm, request->source);
    weft_counts.received[slot_of(world)]++;
    weft_counts.bytes_received[slot_of(world)] += request->bytes;
    weft_count_ranks[world].received++;
    weft_count_ranks[world].bytes_received += request->bytes;
}

void weft_count_unexpected_of_rank(uint32_t context, int source)
{
    const struct weft_channel *channel = weft_channel_of(context);
    if (channel)
        weft_count_ranks[weft_comm_world_of(channel->comm, source)].unexpected_messages++;
}

void weft_count_waited(unsigned polls)
{
    static _Thread_local double
        last; /* seconds: time of this thread's last poll without an event */
    double now = weft_seconds();
    if (polls > 1)
        weft_counts.waited += (uint64_t)((now - last) * 1e9);
    last = now;
}

/* ---- Derived */

uint64_t weft_count_sent_to(const struct weft_peer *peer)
{
    bool self = peer->lane == WEFT_LANE_SELF && peer->deal == 0;
    return weft_net_sent_to(peer) + weft_shm_sent_to(peer) + (self ? weft_counts.self_messages : 0);
}

/* The sum of a function over all peers. */
static uint64_t sum(uint64_t (*of)(const struct weft_peer *peer))
{
    uint64_t all = 0;
    for (unsigned deal = 0; deal < weft.deals; deal++)
        for (int i = 0; weft.peers[deal] && i < weft.job.size; i++) {
            const struct weft_peer *peer = weft_peer_known(deal, i);
            if (peer)
                all += of(peer);
        }
    return all;
}

uint64_t weft_count_sent(enum weft_lane lane)
{
    return lane == WEFT_LANE_SELF  ? weft_counts.self_messages
           : lane == WEFT_LANE_SHM ? weft_counts.shm_messages + sum(weft_shm_sent_to)
                                   : weft_counts.net_messages + sum(weft_net_sent_to);
}

uint64_t weft_count_shm_arrived(void)
{
    return weft_counts.shm_arrived + sum(weft_shm_arrived_from);
}

uint64_t weft_count_fetching(void)
{
    return sum(weft_net_fetching_from);
}

uint64_t weft_count_peers(void)
{
    uint64_t peers = 0;
    for (int i = 0; i < weft.job.size; i++) {
        bool known = false;
        for (unsigned deal = 0; deal < weft.deals; deal++)
            known |= weft_peer_known(deal, i) != NULL;
        peers += known && i != weft.job.rank;
    }
    return peers;
}
