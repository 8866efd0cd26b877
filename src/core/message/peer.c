// SPDX-License-Identifier: BSD-3-Clause
/*
 * The tables of peers, and first contact; see peer.h.
 */
#include "core/message/peer.h"

#include "core/base/error.h"
#include "core/message/process.h"
#include "core/message/foreign.h"
#include "core/message/lane.h"
#include "core/message/count.h"

#include <stdlib.h>
#include <string.h>

struct weft_peer weft_peer_unknown = {.lane = WEFT_LANE_UNKNOWN, .world = MPI_PROC_NULL};

bool weft_peers_open(unsigned vci_number)
{
    if (weft.peers[vci_number])
        return true;
    weft.peers[vci_number] = malloc((size_t)weft.job.size * sizeof *weft.peers[vci_number]);
    for (int i = 0; weft.peers[vci_number] && i < weft.job.size; i++)
        weft.peers[vci_number][i] = &weft_peer_unknown;
    return weft.peers[vci_number];
}

void weft_peers_close(void)
{
    for (unsigned vci_number = 0; vci_number < WEFT_VCIS_MAX; vci_number++) {
        for (int i = 0; weft.peers[vci_number] && i < weft.job.size; i++)
            free(weft_peer_find(vci_number, i));
        free(weft.peers[vci_number]);
        weft.peers[vci_number] = NULL;
    }
}

struct weft_peer *weft_peer_find(unsigned vci_number, int world)
{
    if (weft_unlikely(weft_is_foreign(world)))
        return weft_foreign_of(world)->peer;
    struct weft_peer *peer =
        weft.peers[vci_number] ? weft.peers[vci_number][world] : &weft_peer_unknown;
    return peer == &weft_peer_unknown ? NULL : peer;
}

struct weft_peer *weft_peer_get(unsigned vci_number, int world)
{
    struct weft_peer *peer = weft_peer_find(vci_number, world);
    return peer ? peer : weft_peer_connect(vci_number, world);
}

/* The memory of a peer. NULL if there is none. */
static struct weft_peer *allocate(unsigned vci_number, int world)
{
    if (!weft_is_foreign(world))
        return weft_peers_open(vci_number) ? calloc(1, sizeof(struct weft_peer)) : NULL;
    struct weft_foreign *foreign = weft_foreign_of(world);
    struct weft_peer *peer = foreign->spare ? foreign->spare : malloc(sizeof *peer);
    if (peer)
        memset(peer, 0, sizeof *peer);
    foreign->spare = NULL;
    return peer;
}

/* Sets the entry of a process in its table: to a peer, or to weft_peer_unknown. */
static void enter(unsigned vci_number, int world, struct weft_peer *peer)
{
    if (weft_is_foreign(world))
        weft_foreign_of(world)->peer = peer == &weft_peer_unknown ? NULL : peer;
    else
        weft.peers[vci_number][world] = peer;
}

/* A rank of this job has a peer for VCI number 0 once weft_failure_check has closed it; until then
 * its messages may arrive. */
bool weft_peer_died_before_contact(unsigned vci_number, int world)
{
    weft_assert(!weft_peer_find(vci_number, world));
    return (vci_number > 0 || weft_is_foreign(world)) && world != weft.job.rank &&
           weft_process_has_failed(world);
}

struct weft_peer *weft_peer_make(unsigned vci_number, int world)
{
    weft_assert(vci_number < weft.vci_numbers && world >= 0 &&
                (!weft_is_foreign(world) || !vci_number));
    weft_assert(!weft_peer_find(vci_number, world));
    struct weft_peer *peer = allocate(vci_number, world);
    if (!peer)
        return NULL;
    peer->world = world;
    peer->vci_number = (uint8_t)vci_number;
    peer->vci = (uint8_t)(vci_number % weft.nvcis);
    peer->backlog.end = peer->backlog.controls_end = &peer->backlog.first;
    peer->lane = (uint8_t)weft_lane_to(world);
    if (weft_lane_of(peer)->init_peer)
        weft_lane_of(peer)->init_peer(peer);
    peer->dead = weft_peer_died_before_contact(vci_number, world);
    weft_count_add(&weft_counts.contacts, world != weft.job.rank);
    enter(vci_number, world, peer);
    weft_peer_event(WEFT_EVENT_CONTACT, peer, 0, 0);
    return peer;
}

struct weft_peer *weft_peer_connect(unsigned vci_number, int world)
{
    char why[512];
    struct weft_peer *peer = weft_peer_make(vci_number, world);
    if (!peer) {
        weft_error_set(MPI_ERR_OTHER, "no memory for one more peer (rank %d)", world);
        return NULL;
    }
    if (!peer->dead && weft_lane_of(peer)->connect(peer, why, sizeof why)) {
        weft_error_set(MPI_ERR_OTHER, "%s", why);
        enter(vci_number, world, &weft_peer_unknown);
        free(peer);
        return NULL;
    }
    return peer;
}
