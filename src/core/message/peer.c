// SPDX-License-Identifier: BSD-3-Clause
/*
 * The tables of peers, and first contact; see peer.h.
 */
#include "core/message/peer.h"

#include "core/base/error.h"
#include "core/message/process.h"
#include "core/message/lane.h"
#include "core/message/count.h"

#include <stdlib.h>

struct weft_peer weft_peer_unknown = {.lane = WEFT_LANE_UNKNOWN, .world = MPI_PROC_NULL};

bool weft_peers_open(unsigned stream)
{
    if (weft.peers[stream])
        return true;
    weft.peers[stream] = malloc((size_t)weft.job.size * sizeof *weft.peers[stream]);
    for (int i = 0; weft.peers[stream] && i < weft.job.size; i++)
        weft.peers[stream][i] = &weft_peer_unknown;
    return weft.peers[stream];
}

void weft_peers_close(void)
{
    for (unsigned stream = 0; stream < WEFT_VCIS_MAX; stream++) {
        for (int i = 0; weft.peers[stream] && i < weft.job.size; i++)
            free(weft_peer_find(stream, i));
        free(weft.peers[stream]);
        weft.peers[stream] = NULL;
    }
}

struct weft_peer *weft_peer_find(unsigned stream, int world)
{
    struct weft_peer *peer = weft.peers[stream] ? weft.peers[stream][world] : &weft_peer_unknown;
    return peer == &weft_peer_unknown ? NULL : peer;
}

struct weft_peer *weft_peer_get(unsigned stream, int world)
{
    struct weft_peer *peer = weft_peer_find(stream, world);
    return peer ? peer : weft_peer_connect(stream, world);
}

struct weft_peer *weft_peer_make(unsigned stream, int world)
{
    weft_assert(stream < weft.streams && world >= 0 && world < weft.job.size);
    weft_assert(!weft_peer_find(stream, world));
    struct weft_peer *peer = weft_peers_open(stream) ? calloc(1, sizeof *peer) : NULL;
    if (!peer)
        return NULL;
    peer->world = world;
    peer->stream = (uint8_t)stream;
    peer->vci = (uint8_t)(stream % weft.nvcis);
    peer->sequence = world == weft.job.rank; /* of a message to itself: never WEFT_NO_SEQUENCE */
    peer->backlog.end = peer->backlog.controls_end = &peer->backlog.first;
    peer->lane = (uint8_t)weft_lane_to(world);
    if (weft_lane_of(peer)->init_peer)
        weft_lane_of(peer)->init_peer(peer);
    /* weft_failure_check may have seen the other streams only. */
    peer->dead = stream > 0 && world != weft.job.rank && weft_boot_has_failed(world);
    weft_count_add(&weft_counts.contacts, world != weft.job.rank);
    weft.peers[stream][world] = peer;
    weft_peer_event(WEFT_EVENT_CONTACT, peer, 0, 0);
    return peer;
}

struct weft_peer *weft_peer_connect(unsigned stream, int world)
{
    char why[512];
    struct weft_peer *peer = weft_peer_make(stream, world);
    if (!peer) {
        weft_error_set(MPI_ERR_OTHER, "no memory for one more peer (rank %d)", world);
        return NULL;
    }
    if (!peer->dead && weft_lane_of(peer)->connect(peer, why, sizeof why)) {
        weft_error_set(MPI_ERR_OTHER, "%s", why);
        weft.peers[stream][world] = &weft_peer_unknown;
        free(peer);
        return NULL;
    }
    return peer;
}
