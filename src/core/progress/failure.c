// SPDX-License-Identifier: BSD-3-Clause
/*
 * Dead ranks. The launcher reports them (weftrun --keep-going; other launchers end the job).
 * Operations that need a dead rank complete with MPI_ERR_PROC_ABORTED; other operations continue.
 *
 * Invariant: an operation that the provider has accepted is completed by the provider. An operation
 * that waits for a message of the dead peer is completed here; if that message still arrives, it is
 * dropped, because the peer is marked as dead.
 */
#include "core/base/error.h"
#include "core/message/lane.h"
#include "core/message/sw_match.h"
#include "core/message/count.h"
#include "core/base/clock.h"
#include "core/progress/failure.h"

#include <stdlib.h>
#include <time.h>

int weft_failure_report(const struct weft_peer *peer)
{
    char host[256];
    return weft_error_set(MPI_ERR_PROC_ABORTED,
                          "rank %d on %s ended before it called MPI_Finalize; see its output or "
                          "the launcher's for the reason",
                          peer->world, weft_boot_host(peer->world, host, sizeof host));
}

bool weft_failure_confirm(const struct weft_peer *peer)
{
    enum { WAIT_MS = 300 };              /* a launcher's report can follow the provider's error */
    static _Atomic double waited = -1.0; /* the end of the last such wait, in seconds */
    int rank = peer ? peer->world : WEFT_BOOT_ANYBODY;
    bool dead = weft_boot_has_failed(rank);
    if (dead || (waited >= 0.0 && weft_seconds() - waited < 1.0))
        return dead;
    for (int ms = 0; ms < WAIT_MS && !dead; ms++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        dead = weft_boot_has_failed(rank);
    }
    waited = weft_seconds();
    return dead;
}

struct death {
    struct weft_peer *peer;
    struct weft_request *found;
};

static bool is_posted(const struct weft_request *request)
{
    return weft_request_row(request)->receives &&
           (request->match.queued || (request->flags & WEFT_REQUEST_IN_LANE));
}

/* Finds the first operation to end. One at a time, because ending it may start others. */
static void find_stranded(void *arg, struct weft_request *request)
{
    struct death *death = arg;
    if (death->found || request->pending <= 0 || request->peer != death->peer)
        return;
    if (is_posted(request) || weft_lane_waits_for_peer(request))
        death->found = request;
}

static void end_request(struct weft_request *request)
{
    weft_assert(request->pending > 0);
    if (!is_posted(request)) {
        request->error = (uint8_t)weft_failure_report(request->peer);
        weft_lane_abandon(request);
        return;
    }
    if (request->flags & WEFT_REQUEST_IN_LANE) {
        if (!weft_lanes[request->owner]->withdraw(request))
            return; /* a message had matched before */
    } else {
        weft_sw_withdraw(request);
    }
    request->error = (uint8_t)weft_failure_report(request->peer);
    request->source = MPI_ANY_SOURCE;
    request->tag = MPI_ANY_TAG;
    request->bytes = 0;
    weft_request_event(request);
}

static void close_dead(struct weft_peer *peer)
{
    weft_assert(peer->world != weft.job.rank);
    weft_lane_close_dead(peer);
    struct death death = {.peer = peer};
    do {
        death.found = NULL;
        weft_request_each(find_stranded, &death);
        if (death.found)
            end_request(death.found);
    } while (death.found);
}

/* First contact with the rank may still come, in any stream: weft_peer_make sees to the others. */
static void died(int rank)
{
    for (unsigned stream = 0; stream < weft.streams; stream++) {
        struct weft_peer *peer = weft_peer_find(stream, rank);
        if (!peer && stream == 0)
            peer = weft_peer_make(stream, rank);
        if (!peer || peer->dead)
            continue;
        if (stream == 0) {
            weft_counts.deaths++;
            weft_peer_event(WEFT_EVENT_DEATH, peer, 0, 0);
        }
        close_dead(peer);
    }
}

int weft_failure_check(void)
{
    int rank, deaths = 0;
    weft_assert(weft_vcis_hold_all());
    while (weft_boot_next_failure(&rank)) {
        if (rank == WEFT_BOOT_LAUNCHER)
            weft_fatal(MPI_ERR_OTHER,
                       "the connection to the launcher (%s) is lost, and the job cannot go on "
                       "without it; see the launcher's output or the system's log",
                       weft.job.launcher);
        if (rank != weft.job.rank && rank >= 0 && rank < weft.job.size) {
            died(rank);
            deaths++;
        }
    }
    unsigned number = 0;
    WEFT_LANES_EACH(lane, number)
    if (lane->check_hosts)
        lane->check_hosts();
    return deaths;
}
