// SPDX-License-Identifier: BSD-3-Clause
/*
 * Dead ranks. The launcher reports them (weftrun --keep-going; other launchers end the job).
 * Operations that need a dead rank complete with MPIX_ERR_PROC_FAILED; other operations continue.
 *
 * Invariant: an operation that the provider has accepted is completed by the provider. An operation
 * that waits for a message of the dead peer is completed here; if that message still arrives, it is
 * dropped, because the peer is marked as dead.
 */
#include "core/base/error.h"
#include "core/message/foreign.h"
#include "core/message/lane.h"
#include "core/message/sw_match.h"
#include "core/message/count.h"
#include "core/base/clock.h"
#include "core/base/settings.h"
#include "core/progress/failure.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int weft_failure_report_process(int world)
{
    char host[256];
    if (weft_is_foreign(world))
        return weft_error_set(MPIX_ERR_PROC_FAILED, "%s", weft_foreign_of(world)->why);
    return weft_error_set(MPIX_ERR_PROC_FAILED,
                          "rank %d on %s ended before it called MPI_Finalize; see its output or "
                          "the launcher's for the reason",
                          world, weft_boot_host(world, host, sizeof host));
}

int weft_failure_report(const struct weft_peer *peer)
{
    return weft_failure_report_process(peer->world);
}

bool weft_failure_await(bool (*is_dead)(const void *arg), const void *arg, int ms)
{
    static _Atomic double waited = -1.0; /* the end of the last wait in vain, in seconds */
    bool dead = is_dead(arg);
    if (dead || ms == 0 || (waited >= 0.0 && weft_seconds() - waited < 1.0))
        return dead;
    for (; ms > 0 && !dead; ms--) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        dead = is_dead(arg);
    }
    if (!dead)
        waited = weft_seconds();
    return dead;
}

static bool is_dead_process(const void *arg)
{
    return weft_process_has_failed(*(const int *)arg);
}

bool weft_failure_confirm(int world)
{
    return weft_failure_await(is_dead_process, &world,
                              weft_is_foreign(world) ? 0 : WEFT_FAILURE_REPORT_MS);
}

void weft_failure_lost(int world, int code, const char *format, ...)
{
    char sentence[1024];
    va_list args;
    if (weft_failure_confirm(world))
        return;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    if (!weft_settings.keep_going)
        weft_fatal(code, "%s", sentence);
    weft_warn("%s; rank %d counts as dead from now on", sentence, world);
    weft_failure_add(world);
}

/* ---- The record of the dead */

static struct {
    int *processes;
    int count, space;
} record;

static void record_death(int world)
{
    weft_assert(weft_vcis_hold_all());
    for (int i = 0; weft_is_foreign(world) && i < record.count; i++)
        if (record.processes[i] == world)
            record.processes[i] = -1; /* the number has been used again */
    if (record.count == record.space) {
        record.space = record.space ? 2 * record.space : 16;
        record.processes = realloc(record.processes, (size_t)record.space * sizeof(int));
        if (!record.processes)
            weft_fatal(MPI_ERR_NO_MEM, "no memory for a record of %d dead processes", record.space);
    }
    record.processes[record.count++] = world;
}

int weft_failure_count(void)
{
    return record.count;
}

int weft_failure_at(int index)
{
    weft_assert(index >= 0 && index < record.count);
    int world = record.processes[index];
    return world >= 0 && weft_is_foreign(world) && !weft_foreign_is_dead(world) ? -1 : world;
}

void weft_failure_add(int world)
{
    if (weft_is_foreign(world))
        weft_foreign_died(
            weft_foreign_of(world),
            "another process has found a process of another job dead; see its output");
    else
        weft_boot_report_failure(world);
}

void weft_failure_forget_all(void)
{
    free(record.processes);
    record.processes = NULL;
    record.count = record.space = 0;
}

/* ---- Receives and probes from any source */

int weft_failure_report_unacknowledged(const struct weft_channel *channel)
{
    if (weft_likely(!record.count) || weft_channel_use(channel) != WEFT_CONTEXT_P2P)
        return MPI_SUCCESS;
    int dead = weft_channel_ops.unacknowledged(channel);
    return dead >= 0 ? weft_failure_report_process(dead) : MPI_SUCCESS;
}

int weft_failure_stall(struct weft_request *receive)
{
    int code = weft_failure_report_unacknowledged(receive->channel);
    if (code == MPI_SUCCESS || receive->mode == WEFT_RECEIVE_BLOCKING)
        return code;
    receive->mode = WEFT_RECEIVE_STALLED;
    return MPI_SUCCESS;
}

int weft_failure_report_stalled(const struct weft_request *request)
{
    if (request->op == WEFT_REQUEST_PAIR)
        request = request->partner;
    weft_assert(weft_request_is_stalled(request));
    return weft_error_set(MPIX_ERR_PROC_FAILED_PENDING,
                          "rank %d of the job has died, which may have sent the message; the "
                          "receive from any source goes on after MPIX_Comm_failure_ack",
                          weft_channel_ops.unacknowledged(request->channel));
}

static void resume(void *arg, struct weft_request *request)
{
    (void)arg;
    if (!weft_request_row(request)->receives || request->mode != WEFT_RECEIVE_STALLED)
        return;
    request->mode = WEFT_RECEIVE_STANDARD;
    if (request->pending)
        weft_failure_stall(request);
}

void weft_failure_resume(void)
{
    weft_assert(weft_vcis_hold_all());
    weft_request_each(resume, NULL);
}

/* ---- Operations that need a dead process */

struct death {
    struct weft_peer *peer;
    struct weft_request *found;
};

/* Finds the first operation to end. One at a time, because ending it may start others. */
static void find_stranded(void *arg, struct weft_request *request)
{
    struct death *death = arg;
    if (death->found || request->pending <= 0 || request->peer != death->peer)
        return;
    if (weft_request_is_posted(request) || weft_lane_waits_for_peer(request))
        death->found = request;
}

void weft_failure_end(struct weft_request *request, int code)
{
    weft_assert(request->pending > 0);
    if (!weft_request_is_posted(request)) {
        request->error = (uint8_t)code;
        weft_lane_abandon(request);
        return;
    }
    if (request->flags & WEFT_REQUEST_IN_LANE) {
        if (!weft_lanes[request->owner]->withdraw(request))
            return; /* a message had matched before */
    } else {
        weft_sw_withdraw(request);
    }
    weft_request_end_receive(request, code);
}

void weft_failure_end_fetch(struct weft_request *receive)
{
    weft_assert(weft_request_row(receive)->receives && receive->pending > 0);
    receive->error = (uint8_t)weft_failure_report(receive->peer);
    receive->bytes = 0;
    weft_request_event(receive);
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
            weft_failure_end(death.found, weft_failure_report(peer));
    } while (death.found);
}

static void find_blocking(void *arg, struct weft_request *request)
{
    struct death *death = arg;
    if (death->found || request->pending <= 0 || !weft_request_is_posted(request) ||
        request->peer || request->match.source != WEFT_MATCH_ANY_SOURCE)
        return;
    if (weft_failure_stall(request) != MPI_SUCCESS)
        death->found = request;
}

/* After new deaths, the lanes of the dead being closed. */
static void end_wildcards(void)
{
    struct death death = {0};
    do {
        death.found = NULL;
        weft_request_each(find_blocking, &death);
        if (death.found)
            weft_failure_end(death.found, weft_failure_report_unacknowledged(death.found->channel));
    } while (death.found);
}

/* Processes of other jobs that the lane found dead. */
static int foreign_deaths(void)
{
    int deaths = 0;
    struct weft_foreign *foreign = NULL;
    while ((foreign = weft_foreign_next(foreign))) {
        if (!foreign->dead || foreign->reported)
            continue;
        foreign->reported = true;
        record_death(foreign->number);
        weft_counts.deaths++;
        deaths++;
        if (!foreign->peer || foreign->peer->dead)
            continue;
        weft_peer_event(WEFT_EVENT_DEATH, foreign->peer, 0, 0);
        close_dead(foreign->peer);
    }
    return deaths;
}

/* First contact with the rank may still come, for any VCI number: weft_peer_make sees to the
 * others. */
static void died(int rank)
{
    for (unsigned vci_number = 0; vci_number < weft.vci_numbers; vci_number++) {
        struct weft_peer *peer = weft_peer_find(vci_number, rank);
        if (!peer && vci_number == 0)
            peer = weft_peer_make(vci_number, rank);
        if (!peer || peer->dead)
            continue;
        if (vci_number == 0) {
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
            record_death(rank);
            died(rank);
            deaths++;
        }
    }
    if (weft_unlikely(weft_foreign_count > 0))
        deaths += foreign_deaths();
    if (weft_unlikely(deaths > 0))
        end_wildcards();
    unsigned number = 0;
    WEFT_LANES_EACH(lane, number)
    if (lane->check_hosts)
        lane->check_hosts();
    return deaths;
}
