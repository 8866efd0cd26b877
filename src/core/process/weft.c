// SPDX-License-Identifier: BSD-3-Clause
/*
 * The life of the process: start, entry flags, end.
 *
 * Invariant: the steps of weft_init are undone by weft_finalize in reverse order; between the
 * fence that ends weft_init and the one in weft_finalize every rank of the job can be reached.
 */
#include "core/pt2pt/bsend.h"
#include "core/pt2pt/p2p.h"
#include "core/pt2pt/generalized.h"
#include "core/pt2pt/probe.h"
#include "core/comm/context_alloc.h"
#include "core/base/clock.h"
#include "core/base/membarrier.h"
#include "core/base/phases.h"
#include "core/base/shared_memory.h"
#include "core/process/weft.h"
#include "core/progress/progress.h"
#include "core/coll/coll.h"
#include "core/comm/raise.h"
#include "core/process/hang.h"
#include "core/process/left.h"
#include "core/base/info.h"
#include "core/comm/nodes.h"
#include "core/coll/op.h"
#include "core/progress/progress_thread.h"
#include "core/pt2pt/partitioned.h"
#include "core/base/settings.h"
#include "gpu/gpu.h"
#include "core/tool/derived.h"
#include "core/file/file.h"
#include "core/rma/win.h"
#include "core/tool/event.h"
#include "core/message/lane.h"
#include "lanes/lanes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_t main_thread;

/* The users of MPI. It runs from the first user to the end: see weft_stop. */
static enum { WORLD_NEVER, WORLD_IS, WORLD_WAS } world;
static int sessions, threaded; /* open ones; those with a thread level beyond MPI_THREAD_SINGLE */

enum { CORES_SECONDS = 60 };

int weft_check_forked(void)
{
    if (!(weft_entry_flags & WEFT_ENTRY_FORKED))
        return MPI_SUCCESS;
    return weft_error_set(
        MPI_ERR_OTHER,
        "process %d is a forked child of this rank and cannot use MPI; call MPI in "
        "the rank's own process, or start a program by exec",
        (int)getpid());
}

static int enter_rarely(const char *function)
{
    if (weft_entry_flags & WEFT_ENTRY_FORKED)
        return weft_error_raise(NULL, weft_check_forked(), function);
    if (weft_entry_flags & WEFT_ENTRY_CLOSED)
        weft_fatal(MPI_ERR_OTHER, "%s was called %s; call it between MPI_Init and MPI_Finalize",
                   function,
                   world == WORLD_WAS ? "after MPI_Finalize"
                   : weft.running     ? "when all sessions were finalized"
                                      : "before MPI_Init");
    if (weft_entry_flags & WEFT_ENTRY_EVENTS)
        weft_event_deliver();
    if (weft_entry_flags & WEFT_ENTRY_THREADS)
        weft_vcis_enter();
    if (weft_entry_flags & WEFT_ENTRY_REPORT)
        weft_hang_answer(function);
    return MPI_SUCCESS;
}

int weft_enter_general(const char *function)
{
    if (weft_unlikely(weft_entry_flags != WEFT_ENTRY_THREADS))
        return enter_rarely(function);
    weft_vcis_enter();
    return MPI_SUCCESS;
}

void weft_leave_general(void)
{
    if (weft_entry_flags & WEFT_ENTRY_THREADS)
        weft_vcis_leave();
}

static bool identify(int *rank, const char **host)
{
    *rank = weft.job.rank;
    *host = weft.job.host;
    return weft.job.size > 0;
}

/* The launcher need not print the sentence again. */
static void end_job(int code)
{
    weft_boot_abort(code, NULL);
}

static unsigned release_for_handler(void)
{
    return weft_vcis_hold_all() ? 0 : weft_vcis_release();
}

static void init_tables(void)
{
    weft_error_hooks = (struct weft_error_hooks){.identify = identify,
                                                 .end_job = end_job,
                                                 .release = release_for_handler,
                                                 .retake = weft_vcis_retake,
                                                 .function = weft_hang_function};
    memcpy(weft_lanes, weft_lane_list, sizeof weft_lanes);
    weft_channel_ops = weft_comm_channel_ops;
    weft_comm_collectives = weft_coll_for_comm;
    weft_bsend_owner_of = weft_comm_bsend_owner_of;
    weft_request_init();
    weft_request_ops[WEFT_REQUEST_GENERALIZED] = weft_generalized_request_ops;
    weft_request_ops[WEFT_REQUEST_BSEND] = weft_bsend_request_ops;
    weft_partitioned_init();
    weft_p2p_init();
    weft_hang_init();
    weft_request_ops[WEFT_REQUEST_COLL] = weft_coll_request_ops;
    weft_request_ops[WEFT_REQUEST_RMA] = weft_rma_request_ops;
    weft_request_ops[WEFT_REQUEST_FILE] = weft_file_request_ops;
    weft_wait_report = weft_hang_check;
    weft_pollers = (struct weft_pollers){.collectives = weft_coll_progress,
                                         .windows = weft_rma_progress,
                                         .agreements = weft_context_alloc_progress,
                                         .partitioned = weft_partitioned_progress};
    weft_probe_init();
    weft_datatype_init();
    weft_op_init();
    weft_vcis_open(1);
}

int weft_thread_level(int required)
{
    return required < MPI_THREAD_FUNNELED     ? MPI_THREAD_SINGLE
           : required < MPI_THREAD_SERIALIZED ? MPI_THREAD_FUNNELED
           : required < MPI_THREAD_MULTIPLE   ? MPI_THREAD_SERIALIZED
                                              : MPI_THREAD_MULTIPLE;
}

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

/* In a forked child, which has one thread, no rank and no thread of PMIx or of a provider. */
static void mark_forked(void)
{
    if (!weft.running)
        return;
    weft_entry_flags = WEFT_ENTRY_FORKED;
    weft_boot_forked();
}

/* ---- The lanes. They are opened in this order: those that reach some ranks, then those that reach
 * all; of each kind by number. */

enum { POSITIONS = 2 * WEFT_LANES_MAX };

/* The lane at a position of that order, or NULL. */
static const struct weft_lane *lane_at(unsigned position)
{
    const struct weft_lane *lane = weft_lanes[position % WEFT_LANES_MAX];
    bool some = position < WEFT_LANES_MAX;
    return lane && some == (lane->reaches != NULL) ? lane : NULL;
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

/* Moves a lane to the network that all nodes share, if their choices differ. One rank of a node
 * compares the choices. */
static void settle_network(unsigned number, bool threads)
{
    const struct weft_lane *lane = weft_lanes[number];
    const struct weft_lane_node *node = first_node();
    uint64_t network = !node || node->is_first() ? lane->compare_networks(&weft.job) : 0;
    if (node)
        network = node->hand_down(network);
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

/* Settles the number of streams for the job. A rank that has fewer ends on a lane than there are
 * streams has one VCI. */
static void open_vcis(bool threads)
{
    char why[768];
    unsigned number = 0;
    bool several = threads;
    weft.streams = threads ? (unsigned)weft_settings.vcis : 1;
    WEFT_LANES_EACH(lane, number)
    {
        if (lane->agree && lane->agree(&weft.job, &weft.streams, why, sizeof why))
            weft_fatal(MPI_ERR_OTHER, "%s", why);
        if (lane->tag_ub && lane->tag_ub() < weft.tag_ub)
            weft.tag_ub = lane->tag_ub();
        several &= !lane->has_all_streams || lane->has_all_streams();
    }
    weft_vcis_open(several ? weft.streams : 1);
    weft_assert(weft.nvcis == 1 || weft.nvcis == weft.streams);
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
    unsigned streams = lane->streams ? lane->streams() : weft.streams;
    for (unsigned stream = 0; stream < streams; stream++)
        for (int i = 0; i < weft.job.size; i++)
            if (weft_lane_to(i) == number && !weft_peer_connect(stream, i))
                weft_error_raise(NULL, MPI_ERR_OTHER, "MPI_Init");
    weft_phase_end("connections");
    synchronize();
}

/* All senders together may have 2 GiB at a rank, each of them 512 KiB to 16 MiB. */
static uint64_t choose_credits(void)
{
    static const uint64_t most = 16 << 20, least = 512 << 10, all = UINT64_C(2) << 30;
    uint64_t bytes = all / (uint64_t)weft.job.size;
    if (weft_settings.eager_credits)
        return (uint64_t)weft_settings.eager_credits;
    return bytes > most ? most : bytes < least ? least : bytes;
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

/* The lanes after one that reaches all ranks are not needed; whether it does, all ranks see after
 * the fence. */
static void join(bool threads)
{
    bool all = false;
    unsigned number = 0;
    publish_cores(); /* before a lane publishes its address, which sends both */
    for (unsigned position = 0; position < POSITIONS && !all;)
        position = open_and_join(position, threads, &all);
    settle_networks(threads);
    open_vcis(threads);
    fetch_cores();
    weft_phase_end("VCIs and rings");
    WEFT_LANES_EACH(lane, number)
    if (lane->connects_all && lane->connects_all())
        connect_all(number);
}

/* A job of one rank synchronizes with none. */
static void open_alone(bool threads)
{
    bool all;
    open_lanes(0, threads, &all);
    weft_assert(all);
    open_vcis(threads);
}

static void open_gpu(void)
{
    char driver[160];
    weft_gpu_open();
    if (!weft_settings.verbose || (weft_settings.verbose < 2 && weft.job.rank > 0) ||
        !weft_gpu_enabled)
        return;
    weft_warn("buffers may be in GPU memory: %s",
              weft_gpu_describe(driver, sizeof driver) ? driver : "no driver is loaded yet");
}

static void prepare_lanes(void)
{
    for (unsigned i = 0; i < WEFT_LANES_MAX; i++)
        if (weft_lanes[i] && weft_lanes[i]->prepare)
            weft_lanes[i]->prepare();
}

/* From nothing to a process that can communicate, at a level of thread support. */
static void weft_start(int thread_level)
{
    char why[768];
    weft_assert(!weft.running);
    weft_phases_begin();
    init_tables();
    prepare_lanes();
    if (weft_settings_load(why, sizeof why))
        weft_fatal(MPI_ERR_OTHER, "%s", why);
    weft_membarrier_register(); /* while there is one thread */
    weft_phase_end("tables and settings");
    if (weft_boot_init(&weft.job, weft_settings.child, why, sizeof why)) {
        weft.job.size = 0;
        if (world == WORLD_WAS)
            weft_fatal(MPI_ERR_OTHER,
                       "MPI cannot start again after MPI_Finalize, because this launcher does not "
                       "let a process join its job twice (%s); open a session before MPI_Finalize "
                       "and finalize it last",
                       why);
        weft_fatal(MPI_ERR_OTHER, "%s", why);
    }
    weft_phase_end("join the job");
    bool threads = thread_level == MPI_THREAD_MULTIPLE;
    open_gpu();
    weft_phase_end("look for GPUs");
    weft_count_open();
    weft.tag_ub = INT32_MAX;
    weft.eager_credits = choose_credits();
    if (weft.job.size > 1)
        join(threads);
    else
        open_alone(threads);
    if (weft_comm_init() != MPI_SUCCESS)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for MPI_COMM_WORLD of %d ranks", weft.job.size);
    weft_progress_open();
    main_thread = pthread_self();
    weft.running = true;
    static bool registered;
    if (!registered)
        registered = pthread_atfork(NULL, NULL, mark_forked) == 0;
    weft_phase_end("communicators");
    weft_phases_report("the start of MPI");
}

/* Starts the progress thread too, if it is wanted and MPI has a user. */
static void set_entry_flags(void)
{
    bool used = world == WORLD_IS || sessions;
    bool helped = used && weft_settings.progress_thread && weft.job.size > 1;
    bool threads =
        (world == WORLD_IS && weft.thread_level == MPI_THREAD_MULTIPLE) || threaded || helped;
    threads |= weft.nvcis > 1;
    unsigned bits = 0;
    if (!used)
        bits = WEFT_ENTRY_CLOSED;
    else
        bits = (threads ? WEFT_ENTRY_THREADS : 0) | (weft_count_all() ? WEFT_ENTRY_COUNT : 0) |
               (weft_event_waits() ? WEFT_ENTRY_EVENTS : 0) |
               (weft_gpu_enabled ? WEFT_ENTRY_GPU : 0);
    /* The handler of SIGUSR1 may set its bit at any moment, which is kept. */
    __atomic_fetch_and(&weft_entry_flags, bits | WEFT_ENTRY_REPORT, __ATOMIC_RELAXED);
    __atomic_fetch_or(&weft_entry_flags, bits, __ATOMIC_RELAXED);
    int rc = helped ? weft_progress_thread_start() : 0;
    if (rc)
        weft_warn("the progress thread cannot be started: %s; raise the limit of processes "
                  "(ulimit -u) or unset WEFT_PROGRESS_THREAD",
                  strerror(rc));
}

int weft_init(int thread_level)
{
    if (weft_check_forked())
        return MPI_ERR_OTHER;
    if (world == WORLD_WAS)
        weft_fatal(MPI_ERR_OTHER,
                   "MPI_Init was called after MPI_Finalize; a process can initialise MPI once");
    if (world == WORLD_IS)
        return weft_error_set(MPI_ERR_OTHER,
                              "it was called twice; a process can initialise MPI once");
    if (!weft.running)
        weft_start(weft_thread_level(thread_level));
    weft.thread_level = weft_thread_level(thread_level);
    main_thread = pthread_self();
    if (weft_info_fill_env(&weft_info_env, weft.job.size, 0, NULL))
        weft_fatal(MPI_ERR_NO_MEM, "no memory for MPI_INFO_ENV");
    world = WORLD_IS;
    weft_comm_expose(true);
    set_entry_flags();
    weft_hang_open();
    return MPI_SUCCESS;
}

static void see_orphan_send(void *arg, struct weft_request *request)
{
    if (weft_request_row(request)->sends && request->pending > 0)
        *(bool *)arg = true;
}

static bool sends_active(void)
{
    bool any = false;
    weft_request_each(see_orphan_send, &any);
    return any || !weft_lane_is_idle();
}

static void progress_for_fence(void *arg)
{
    weft_await(NULL, arg, NULL);
}

static void drain(void)
{
    unsigned idle = 0;
    while (sends_active())
        if (!weft_progress())
            weft_idle(&idle);
}

/* From here on this rank needs no message. */
static void leave_lanes(void)
{
    unsigned number = 0;
    WEFT_LANES_EACH(lane, number)
    if (lane->leave)
        lane->leave();
}

static void close_lanes(void)
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

/* Leaves the job. Every rank comes here once: all have to be there before the fabric is closed. */
static void weft_stop(void)
{
    char why[768];
    unsigned idle = 0;
    drain();
    weft_phase_end("drain");
    weft_assert(weft.running && weft_lane_is_idle());
    weft_gpu_close(); /* before the owners of the memory may free it */
    leave_lanes();
    /* The fence fails if a rank has died; it has waited for the living ranks all the same. */
    if (weft.job.size > 1 && weft_boot_fence(progress_for_fence, &idle, why, sizeof why) &&
        !weft_boot_has_failed(WEFT_BOOT_ANYBODY))
        weft_warn("MPI_Finalize: %s", why);
    weft_phase_end("fence");
    weft.running = false;
    weft_file_close_all();
    weft_pvar_freeze();
    weft_count_close();
    close_lanes();
    if (weft_boot_finalize(why, sizeof why))
        weft_warn("MPI_Finalize: %s", why);
    weft_phase_end("leave the job");
    weft_partitioned_close();
    weft_context_alloc_finalize();
    weft_comm_finalize();
    weft_nodes_finalize();
    weft_info_free(&weft_info_env);
    weft_peers_close();
    weft_coll_finalize();
    weft_shared_memory_close();
    weft_request_finalize();
    weft_datatype_finalize();
    weft_vcis_close();
    weft_phase_end("memory");
    weft_phases_report("the end of MPI");
}

/* The attributes of the predefined communicators are deleted first, while MPI can still be used
 * (MPI 5.0, 11.2.4). */
static void delete_attributes(void)
{
    struct weft_comm *const of[] = {&weft_comm_self, &weft_comm_world};
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        int code = weft_attribute_delete_all(weft_comm_attributed(of[i]));
        if (code != MPI_SUCCESS)
            weft_error_raise(of[i], code, "MPI_Finalize");
    }
}

int weft_finalize(void)
{
    weft_phases_begin();
    weft_progress_thread_stop(); /* from here on this thread progresses until the end */
    delete_attributes();
    if (weft.job.size > 1) {
        /* Our own barrier waits for late ranks, where progress and errors are ours; the fence after
         * it is short. */
        int code = weft_coll_barrier(&weft_comm_job);
        if (code != MPI_SUCCESS && code != MPI_ERR_PROC_ABORTED)
            weft_error_raise(&weft_comm_world, code, "MPI_Finalize");
    }
    weft_phase_end("barrier");
    drain();
    weft_hang_close();
    if (sessions) {
        weft_comm_expose(false);
    } else {
        if (!weft_counts.deaths)
            weft_lane_collect_all();
        weft_left_report();
        weft_stop();
    }
    world = WORLD_WAS;
    set_entry_flags();
    return MPI_SUCCESS;
}

/* The process that registered it: a child that it forked may exit too, and is no rank of the job.
 */
static pid_t stops_at_exit;

static void stop_at_exit(void)
{
    if (getpid() != stops_at_exit)
        return;
    weft_progress_thread_stop();
    weft_phases_begin();
    if (weft.running && world != WORLD_IS && !sessions)
        weft_stop();
}

void weft_enter_use(int thread_level)
{
    if (!weft.running)
        weft_start(thread_level);
    if (!stops_at_exit) {
        stops_at_exit = getpid();
        atexit(stop_at_exit);
    }
    sessions++;
    threaded += thread_level > MPI_THREAD_SINGLE;
    set_entry_flags();
}

void weft_leave_use(int thread_level)
{
    weft_assert(sessions > 0);
    weft_progress_thread_stop();
    drain();
    sessions--;
    threaded -= thread_level > MPI_THREAD_SINGLE;
    set_entry_flags();
}

bool weft_is_initialized(void)
{
    return world != WORLD_NEVER;
}

bool weft_is_finalized(void)
{
    return world == WORLD_WAS;
}

bool weft_is_main_thread(void)
{
    return pthread_equal(pthread_self(), main_thread);
}
