// SPDX-License-Identifier: BSD-3-Clause
/*
 * Derived counts: see derived.h.
 */
#include "core/tool/derived.h"

#include "core/pt2pt/lane.h"

#include <stdlib.h>

uint64_t weft_count_sent_to(const struct weft_peer *peer)
{
    bool self = peer->lane == WEFT_LANE_SELF && peer->stream == 0;
    return weft_net_sent_to(peer) + weft_shm_sent_to(peer) + (self ? weft_counts.self_messages : 0);
}

/* The sum of a function over all peers. */
static uint64_t sum(uint64_t (*of)(const struct weft_peer *peer))
{
    uint64_t all = 0;
    for (unsigned stream = 0; stream < weft.streams; stream++)
        for (int i = 0; weft.peers[stream] && i < weft.job.size; i++) {
            const struct weft_peer *peer = weft_peer_find(stream, i);
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
        for (unsigned stream = 0; stream < weft.streams; stream++)
            known |= weft_peer_find(stream, i) != NULL;
        peers += known && i != weft.job.rank;
    }
    return peers;
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
