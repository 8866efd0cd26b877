// SPDX-License-Identifier: BSD-3-Clause
/*
 * The lanes of the process, from their opening to their end.
 *
 * Invariants:
 *  - All ranks open the same lanes in the same order: those that reach some ranks, then those that
 *    reach all, of each kind by number, up to the first that reaches every rank.
 *  - The VCIs are opened after the lanes, whose ends limit their number.
 */
#include "core/process/lanes.h"
#include "core/base/clock.h"
#include "core/base/phases.h"
#include "core/base/settings.h"
#include "core/comm/raise.h"
#include "core/message/foreign.h"
#include "core/message/lane.h"
#include "core/message/process.h"
#include "lanes/lanes.h"

#include <string.h>
#include <unistd.h>

enum { CORES_SECONDS = 60 };

/* The members that each lane has, and those that need each other. */
static void check(const struct weft_lane *lane)
{
    weft_assert(lane->name && lane->connect && lane->close_dead);
    weft_assert(lane->send && lane->cancel && lane->describe);
    weft_assert(!lane->matches == !lane->post && !lane->post == !lane->withdraw);
    weft_assert(lane->progress || !lane->open);
}

void weft_lanes_init(void)
{
    memcpy(weft_lanes, weft_lane_list, sizeof weft_lanes);
    for (unsigned i = 0; i < WEFT_LANES_MAX; i++) {
        if (!weft_lanes[i])
            continue;
        check(weft_lanes[i]);
        if (weft_lanes[i]->prepare)
            weft_lanes[i]->prepare();
    }
}

/* ---- The number of cores */

/* Ranks of a node may count its cores differently, and differ in whether they have shared memory.
 * All must use the same number of cores, so rank 0 publishes its count. */
static const char cores_key[] = "weft-cores";

static bool exchanges_cores(void)
{
    /* not the open lanes, which may differ between ranks */
    return weft.job.one_node && weft.job.size > 1 && !weft_settings.shm;
}

static void publish_cores(void)
{
    char why[512];
    if (!exchanges_cores() || weft.job.rank > 0)
        return;
    int32_t cores = (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
    if (weft_boot_put(cores_key, &cores, sizeof cores, why, sizeof why))
        weft_fatal(MPI_ERR_OTHER, "%s", why);
}

static void fetch_cores(void)
{
    char why[512];
    int32_t cores = 0;
    size_t bytes = sizeof cores;
    if (!exchanges_cores())
        return;
    if (weft_boot_fetch(0, cores_key, &cores, &bytes, CORES_SECONDS, why, sizeof why))
        weft_fatal(MPI_ERR_OTHER, "%s", why);
    weft.crowded = weft.job.size > cores;
}

/* ---- One end of each lane. Positions count in the order of opening. */

enum { POSITIONS = 2 * WEFT_LANES_MAX };

/* The lane at a position, or NULL. */
static const struct weft_lane *lane_at(unsigned position)
{
    const struct weft_lane *lane = weft_lanes[position % WEFT_LANES_MAX];
    bool some = position < WEFT_LANES_MAX;
    bool early = lane && !lane->foreign;
    return early && some == (lane->reaches != NULL) ? lane : NULL;
}

/* Opens this rank's end of a lane on a network, or on the best of this node (0). */
static void open_lane(unsigned number, bool threads, uint64_t network)
{
    char why[768];
    const struct weft_lane *lane = weft_lanes[number];
    unsigned vcis = threads ? (unsigned)weft_settings.vcis : 1;
    if (lane->open && lane->open(&weft.job, vcis, network, why, sizeof why))
        weft_fatal(MPI_ERR_OTHER, "%s", why);
    if (!lane->join)
        weft_lane_opened(number);
    weft_phase_end(lane->name);
}

/* Opens the lanes from a position on, up to the first that is expected to reach every rank. Returns
 * the position after it. */
static unsigned open_lanes(unsigned position, bool threads, bool *all)
{
    *all = false;
    for (; position < POSITIONS && !*all; position++) {
        const struct weft_lane *lane = lane_at(position);
        *all = lane && lane->expects_all && lane->expects_all(&weft.job);
        if (lane)
            open_lane(position % WEFT_LANES_MAX, threads, 0);
    }
    return position;
}

/* True if one of these lanes finds what other ranks have published before the fence. */
static bool any_joins(unsigned position, unsigned end)
{
    for (; position < end; position++)
        if (lane_at(position) && lane_at(position)->join)
            return true;
    return false;
}

static void join_lanes(unsigned position, unsigned end)
{
    for (; position < end; position++) {
        const struct weft_lane *lane = lane_at(position);
        if (!lane || !lane->join)
            continue;
        if (lane->join(&weft.job))
            weft_lane_opened(position % WEFT_LANES_MAX);
        weft_phase_end(lane->name);
    }
}

/* ---- Together with the other ranks */

/* Before the addresses are exchanged only the launcher can name the missing ranks. */
static void report_waiting(void *arg)
{
    double *times = arg, now = weft_seconds(); /* of the start, and of the next report */
    if (now < times[1])
        return;
    weft_warn("waiting for %.1f s in MPI_Init or MPI_Session_init for other ranks, which have not "
              "called it: are all started, and do all call it? (weftrun names the missing ranks "
              "when it gets SIGUSR1, or at its --timeout)",
              now - times[0]);
    times[1] = times[0] + 2 * (now - times[0]);
}

static void synchronize(void)
{
    char why[768];
    double times[2] = {weft_seconds()};
    times[1] = times[0] + (double)weft_settings.hang_timeout;
    if (weft_boot_fence_idle(weft_settings.hang_timeout > 0 ? report_waiting : NULL, times, why,
                             sizeof why))
        weft_fatal(MPI_ERR_OTHER, "starting MPI: %s", why);
    weft_phase_end("fence");
}

/* The member `node` of the first lane that has it, or NULL. */
static const struct weft_lane_node *first_node(void)
{
    unsigned number = 0;
    WEFT_LANES_EACH(lane, number)
    if (lane->node)
        return lane->node;
    return NULL;
}

/* One rank of a node compares the choices of all nodes and hands the result down. */
static uint64_t compare_networks(const struct weft_lane *lane)
{
    const struct weft_lane_node *node = first_node();
    uint64_t network = !node || node->is_first() ? lane->compare_networks(&weft.job) : 0;
    return node ? node->hand_down(network) : network;
}

/* Moves a lane to the network that all nodes share, if their choices differ. */
static void settle_network(unsigned number, bool threads)
{
    const struct weft_lane *lane = weft_lanes[number];
    uint64_t network = compare_networks(lane);
    if (network == WEFT_NETWORK_LATER) {
        synchronize();
        network = compare_networks(lane);
    }
    weft_assert(network != WEFT_NETWORK_LATER);
    if (network == WEFT_NETWORK_UNCHANGED)
        return;
    weft_lane_closed(number);
    lane->close();
    open_lane(number, threads, network);
    synchronize();
}

static void settle_networks(bool threads)
{
    unsigned number = 0;
    WEFT_LANES_EACH(lane, number)
    if (lane->compare_networks && !weft.job.one_node)
        settle_network(number, threads);
    weft_phase_end("networks");
}

/* Settles how many VCI numbers the job has. A rank that has fewer ends on a lane than there are
 * VCI numbers has one VCI. */
static void open_vcis(bool threads)
{
    char why[768];
    unsigned number = 0;
    bool several = threads;
    weft.vci_numbers = threads ? (unsigned)weft_settings.vcis : 1;
    WEFT_LANES_EACH(lane, number)
    {
        if (lane->agree && lane->agree(&weft.job, &weft.vci_numbers, why, sizeof why))
            weft_fatal(MPI_ERR_OTHER, "%s", why);
        if (lane->tag_ub && lane->tag_ub() < weft.tag_ub)
            weft.tag_ub = lane->tag_ub();
        several &= !lane->has_all_vcis || lane->has_all_vcis();
    }
    weft_vcis_open(several ? weft.vci_numbers : 1);
    weft_assert(weft.nvcis == 1 || weft.nvcis == weft.vci_numbers);
    if (!weft_peers_open(0))
        weft_fatal(MPI_ERR_NO_MEM, "no memory for a table of %d peers", weft.job.size);
    number = 0;
    WEFT_LANES_EACH(lane, number)
    if (lane->begin)
        lane->begin();
}

/* Makes the connections of a lane that has to have all before the first message. */
static void connect_all(unsigned number)
{
    const struct weft_lane *lane = weft_lanes[number];
    unsigned vci_numbers = lane->vci_numbers ? lane->vci_numbers() : weft.vci_numbers;
    for (unsigned vci_number = 0; vci_number < vci_numbers; vci_number++)
        for (int i = 0; i < weft.job.size; i++)
            if (weft_lane_to(i) == number && !weft_peer_connect(vci_number, i))
                weft_error_raise(NULL, MPI_ERR_OTHER, "MPI_Init");
    weft_phase_end("connections");
    synchronize();
}

/* Opens lanes from a position on, as open_lanes, and synchronizes with the other ranks. */
static unsigned open_and_join(unsigned position, bool threads, bool *all)
{
    unsigned end = open_lanes(position, threads, all);
    if (any_joins(position, end) && !weft_boot_fetch_waits())
        synchronize();
    join_lanes(position, end);
    synchronize();
    unsigned last = (end - 1) % WEFT_LANES_MAX;
    const struct weft_lane *lane = weft_lanes[last];
    *all = *all && weft.lanes >> last & 1 && (!lane->has_all || lane->has_all());
    return end;
}

/* Deaths are detected from here on, if the job goes on when ranks die. */
static void start_monitor(void)
{
    char why[512];
    const struct weft_lane_monitor *monitor = weft_lane_monitor();
    if (!weft_settings.keep_going || !monitor)
        return;
    if (monitor->publish(why, sizeof why))
        weft_fatal(MPI_ERR_OTHER, "%s", why);
    synchronize();
    if (monitor->begin(why, sizeof why))
        weft_fatal(MPI_ERR_OTHER, "%s", why);
    synchronize();
    weft_phase_end("detection of deaths");
}

/* The lanes after one that reaches all ranks are not needed; whether it does, all ranks see after
 * the fence. */
static void join(bool threads)
{
    bool all = false;
    unsigned number = 0;
    publish_cores(); /* before a lane publishes its address, which sends all */
    weft_contact_publish();
    for (unsigned position = 0; position < POSITIONS && !all;)
        position = open_and_join(position, threads, &all);
    settle_networks(threads);
    open_vcis(threads);
    fetch_cores();
    weft_phase_end("VCIs and rings");
    WEFT_LANES_EACH(lane, number)
    if (lane->connects_all && lane->connects_all())
        connect_all(number);
    start_monitor();
}

/* A job of one rank synchronizes with none. */
static void open_alone(bool threads)
{
    bool all;
    open_lanes(0, threads, &all);
    weft_assert(all);
    open_vcis(threads);
}

void weft_lanes_open(bool threads)
{
    if (weft.job.size > 1)
        join(threads);
    else
        open_alone(threads);
}

/* ---- The end */

void weft_lanes_leave(void)
{
    unsigned number = 0;
    WEFT_LANES_EACH(lane, number)
    if (lane->leave)
        lane->leave();
}

void weft_lanes_close(void)
{
    unsigned number = 0;
    WEFT_LANES_EACH(lane, number)
    {
        if (lane->close)
            lane->close();
        weft_lane_closed(number);
        weft_phase_end(lane->name);
    }
}
