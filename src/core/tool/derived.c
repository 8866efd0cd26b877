// SPDX-License-Identifier: BSD-3-Clause
/*
 * Derived counts: see derived.h.
 */
#include "core/tool/derived.h"

#include "core/message/process.h"

#include <stdlib.h>

uint64_t weft_count_sent_to(const struct weft_peer *peer)
{
    const struct weft_lane *lane = weft_lane_of(peer);
    bool self = peer->world == weft.job.rank && peer->vci_number == 0;
    return (lane->sent_to ? lane->sent_to(peer) : 0) +
           (self ? weft_counts.messages[peer->lane] : 0);
}

/* The sum of a function, which may be NULL, over all peers of a lane. */
static uint64_t sum(unsigned lane, uint64_t (*of)(const struct weft_peer *peer))
{
    uint64_t all = 0;
    for (unsigned vci_number = 0; of && vci_number < weft.vci_numbers; vci_number++)
        for (int i = 0; weft.peers[vci_number] && i < weft.job.size; i++) {
            const struct weft_peer *peer = weft_peer_find(vci_number, i);
            if (peer && peer->lane == lane)
                all += of(peer);
        }
    return all;
}

uint64_t weft_count_sent(unsigned lane)
{
    return weft_counts.messages[lane] +
           (weft_lanes[lane] ? sum(lane, weft_lanes[lane]->sent_to) : 0);
}

uint64_t weft_count_arrived(unsigned lane)
{
    return weft_counts.arrived[lane] +
           (weft_lanes[lane] ? sum(lane, weft_lanes[lane]->arrived_from) : 0);
}

uint64_t weft_count_fetching(unsigned lane)
{
    return weft_lanes[lane] ? sum(lane, weft_lanes[lane]->fetching_from) : 0;
}

uint64_t weft_count_lane_level(unsigned lane, enum weft_lane_level level)
{
    bool open = weft.lanes >> lane & 1;
    return open && weft_lanes[lane]->level ? weft_lanes[lane]->level(level) : 0;
}

uint64_t weft_count_peers(void)
{
    uint64_t peers = 0;
    for (int i = 0; i < weft.job.size; i++) {
        bool known = false;
        for (unsigned vci_number = 0; vci_number < weft.vci_numbers; vci_number++)
            known |= weft_peer_find(vci_number, i) != NULL;
        peers += known && i != weft.job.rank;
    }
    return peers;
}

void weft_count_close(void)
{
    unsigned number = 0;
    WEFT_LANES_EACH(lane, number)
    {
        weft_counts.messages[number] = weft_count_sent(number);
        weft_counts.arrived[number] = weft_count_arrived(number);
        weft_counts.completed[number] += weft_count_lane_level(number, WEFT_LEVEL_COMPLETED);
    }
    free(weft_count_ranks);
    weft_count_ranks = NULL;
    weft.others &= (uint8_t)~WEFT_OTHERS_COUNT;
}
