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
#include "core/comm/agree.h"
#include "core/comm/context_alloc.h"
#include "core/base/membarrier.h"
#include "core/base/phases.h"
#include "core/base/shared_memory.h"
#include "core/process/weft.h"
#include "core/progress/failure.h"
#include "core/progress/progress.h"
#include "core/coll/coll.h"
#include "core/comm/raise.h"
#include "core/comm/spawn.h"
#include "core/process/hang.h"
#include "core/process/lanes.h"
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
#include "core/message/foreign.h"
#include "core/message/lane.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_t main_thread;

/* The users of MPI. It runs from the first user to the end: see weft_stop. */
static enum { WORLD_NEVER, WORLD_IS, WORLD_WAS } world;
static int sessions, threaded; /* open ones; those with a thread level beyond MPI_THREAD_SINGLE */

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
    weft_request_ops[WEFT_REQUEST_FILE_OWN] = weft_file_own_request_ops;
    weft_wait_report = weft_hang_check;
    weft_pollers = (struct weft_pollers){.collectives = weft_coll_progress,
                                         .windows = weft_rma_progress,
                                         .agreements = weft_agree_progress,
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

/* This process and all others detect deaths. */
static bool is_monitored(void)
{
    const struct weft_lane_monitor *monitor = weft_lane_monitor();
    return monitor && monitor->runs();
}

/* In a forked child, which has one thread, no rank and no thread of PMIx or of a provider. */
static void mark_forked(void)
{
    if (!weft.running)
        return;
    weft_entry_flags = WEFT_ENTRY_FORKED;
    if (is_monitored())
        weft_lane_monitor()->forked();
    weft_boot_forked();
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

/* weftrun sets these variables and preloads the tools; under other launchers the user does both. */
static void warn_of_tools(void)
{
    static const struct {
        const char *variable, *tool;
    } tools[] = {{"WEFT_PROFILE", "profile"}, {"WEFT_TRACE", "profile"}, {"WEFT_CHECK", "check"}};
    const char *preload = getenv("LD_PRELOAD");
    for (int i = 0; i < 3 && weft.job.rank == 0; i++) {
        const char *value = getenv(tools[i].variable);
        if (value && *value && (!preload || !strstr(preload, "libweft_")))
            weft_warn("%s is set, but nothing is measured or checked without its tool: preload "
                      "libweft_%s.so (LD_PRELOAD; it is in weft/tools beside the library), or use "
                      "weftrun",
                      tools[i].variable, tools[i].tool);
    }
}

/* From nothing to a process that can communicate, at a level of thread support. */
static void weft_start(int thread_level)
{
    char why[768];
    weft_assert(!weft.running);
    weft_phases_begin();
    init_tables();
    weft_lanes_init();
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
    warn_of_tools();
    bool threads = thread_level == MPI_THREAD_MULTIPLE;
    open_gpu();
    weft_phase_end("look for GPUs");
    weft_count_open();
    weft.tag_ub = INT32_MAX;
    weft.processes = weft.job.size;
    weft.eager_credits = choose_credits();
    weft_lanes_open(threads);
    if (weft_comm_init() != MPI_SUCCESS)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for MPI_COMM_WORLD of %d ranks", weft.job.size);
    weft_settings.initial_errhandler = weft_spawn_errhandler(weft_settings.initial_errhandler);
    weft_comm_set_initial_errhandler(&weft_comm_world);
    weft_comm_set_initial_errhandler(&weft_comm_self);
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

/* The key weft_network: the network that is open, for tools. */
static int add_network(struct weft_info *info)
{
    unsigned number = 0;
    int code = MPI_SUCCESS;
    WEFT_LANES_EACH(lane, number)
    {
        char text[MPI_MAX_INFO_VAL];
        if (!lane->network || code)
            continue;
        snprintf(text, sizeof text, "%s", lane->network());
        code = weft_info_set(info, "weft_network", text);
    }
    return code;
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
    if (weft_info_fill_env(&weft_info_env, weft.job.size, 0, NULL) || add_network(&weft_info_env))
        weft_fatal(MPI_ERR_NO_MEM, "no memory for MPI_INFO_ENV");
    world = WORLD_IS;
    weft_comm_expose(true);
    set_entry_flags();
    weft_hang_open();
    int code = weft_spawn_connect();
    if (weft_spawn_parent())
        weft_comm_set_initial_errhandler(weft_spawn_parent());
    return code;
}

static void see_orphan_send(void *arg, struct weft_request *request)
{
    if (weft_request_row(request)->sends && request->pending > 0)
        *(bool *)arg = true;
}

static bool sends_active(void *none)
{
    bool any = false;
    (void)none;
    weft_request_each(see_orphan_send, &any);
    return any || !weft_lane_is_idle();
}

static void progress_for_fence(void *arg)
{
    weft_await(NULL, arg, NULL);
}

static void drain(void)
{
    weft_wait_while(NULL, sends_active, NULL, NULL);
}

static bool waits_for_living(void *request)
{
    bool waits = ((struct weft_request *)request)->pending || sends_active(NULL);
    return waits && !weft_lane_monitor()->any_left();
}

/* Waits for all living ranks, whichever die meanwhile. One that has left has had the decision, so
 * that all others may leave, too, and takes no message any more. */
static void await_living(void)
{
    int flag = 1;
    struct weft_request *request = NULL;
    if (weft_comm_agree_flag(&weft_comm_job, &flag, &request) != MPI_SUCCESS)
        return;
    weft_wait_while(NULL, waits_for_living, request, NULL);
}

/* A launcher's fence fails if a rank has died, or waits for the dead one; if the ranks detect
 * deaths by themselves, those that live agree then. */
static void synchronize(void)
{
    char why[768];
    unsigned idle = 0;
    bool monitored = is_monitored();
    if (weft.job.size == 1)
        return;
    if ((!monitored || !weft_boot_has_failed(WEFT_BOOT_ANYBODY)) &&
        weft_boot_fence(progress_for_fence, &idle, why, sizeof why) &&
        !weft_boot_has_failed(WEFT_BOOT_ANYBODY))
        weft_warn("MPI_Finalize: %s", why);
    if (monitored && weft_boot_has_failed(WEFT_BOOT_ANYBODY))
        await_living();
    if (monitored)
        weft_lane_monitor()->end();
}

/* Leaves the job. Every rank comes here once: all have to be there before the fabric is closed. */
static void weft_stop(void)
{
    char why[768];
    drain();
    weft_phase_end("drain");
    weft_assert(weft.running && weft_lane_is_idle());
    weft_gpu_close(); /* before the owners of the memory may free it */
    weft_lanes_leave();
    synchronize();
    weft_phase_end("fence");
    weft.running = false;
    weft_file_close_all();
    weft_pvar_freeze();
    weft_count_close();
    weft_lanes_close();
    if (weft_boot_finalize(why, sizeof why))
        weft_warn("MPI_Finalize: %s", why);
    weft_phase_end("leave the job");
    weft_partitioned_close();
    weft_agree_finalize();
    weft_context_alloc_finalize();
    weft_comm_finalize();
    weft_foreign_finalize();
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
 * (MPI 5.0, 11.2.4). Returns the error that MPI_Finalize returns when it has finished. */
static int delete_attributes(void)
{
    struct weft_comm *const of[] = {&weft_comm_self, &weft_comm_world};
    int returned = MPI_SUCCESS;
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        int code = weft_attribute_delete_finally(weft_comm_attributed(of[i]));
        if (code != MPI_SUCCESS)
            returned = weft_error_raise(of[i], code, "MPI_Finalize");
    }
    return returned;
}

int weft_finalize(void)
{
    weft_phases_begin();
    weft_progress_thread_stop(); /* from here on this thread progresses until the end */
    int returned = delete_attributes();
    if (weft.job.size > 1) {
        /* Our own barrier waits for late ranks, where progress and errors are ours; the fence after
         * it is short. */
        int code = weft_coll_last_barrier(&weft_comm_job);
        if (code != MPI_SUCCESS && !weft_failure_is_death(code))
            weft_error_raise(&weft_comm_world, code, "MPI_Finalize");
    }
    weft_phase_end("barrier");
    if (!sessions) /* their sends may need calls that follow */
        drain();
    weft_hang_close();
    if (sessions) {
        weft_comm_expose(false);
        weft_comm_set_initial_errhandler(&weft_comm_self);
    } else {
        if (!weft_counts.deaths)
            weft_lane_collect_all();
        weft_left_report();
        weft_stop();
    }
    world = WORLD_WAS;
    set_entry_flags();
    return returned;
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
    if (sessions == 1 && world != WORLD_IS) /* other users' sends may need calls that follow */
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
