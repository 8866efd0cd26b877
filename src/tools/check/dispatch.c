// SPDX-License-Identifier: BSD-3-Clause
/*
 * The checker's start, end, and the order in which its modules see a call: see check.h.
 */
#include "core/base/hash.h"
#include "tools/check/area.h"
#include "tools/check/blocks.h"
#include "tools/check/buffering.h"
#include "tools/check/buffers.h"
#include "tools/check/changes.h"
#include "tools/check/channel.h"
#include "tools/check/check.h"
#include "tools/check/comms.h"
#include "tools/check/deadlocks.h"
#include "tools/check/files.h"
#include "tools/check/known.h"
#include "tools/check/matching.h"
#include "tools/check/messages.h"
#include "tools/check/order.h"
#include "tools/check/shuffle.h"
#include "tools/check/waits.h"
#include "tools/check/watch.h"
#include "tools/check/windows.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    int kinds;
} words[] = {
    {"1", CHECK_ALL},
    {"all", CHECK_ALL},
    {"objects", CHECK_OBJECTS},
    {"collectives", CHECK_COLLECTIVES},
    {"messages", CHECK_MESSAGES},
    {"deadlocks", CHECK_DEADLOCKS},
    {"buffers", CHECK_BUFFERS},
    {"windows", CHECK_WINDOWS},
    {"files", CHECK_FILES},
    {"races", CHECK_RACES},
    {"fail", 0},
    {"shuffle", 0}, /* and its seed */
};

/* The takers of records, by their kinds. */
static void (*const take[CHECK_RECORDS])(const struct check_record *record) = {
    [CHECK_RECORD_COLLECTIVE] = check_collectives_take,
    [CHECK_RECORD_MESSAGE] = check_matching_take,
    [CHECK_RECORD_ACCESS] = check_windows_take,
    [CHECK_RECORD_FILE] = check_files_take,
    [CHECK_RECORD_POST] = check_windows_take_post,
    [CHECK_RECORD_QUESTION] = check_deadlocks_take,
    [CHECK_RECORD_REPLY] = check_deadlocks_take,
    [CHECK_RECORD_EDGE] = check_deadlocks_take,
    [CHECK_RECORD_LOG] = check_log_take,
    [CHECK_RECORD_END] = check_deadlocks_take,
};

/* ---- The start */

/* True for the sends and receives that known.h has. */
static bool is_message(const struct weft_function *function)
{
    const int others = WEFT_DOES_PERSISTENT | WEFT_DOES_EXCHANGE;
    return (function->does & (WEFT_DOES_SEND | WEFT_DOES_RECEIVE)) && !(function->does & others) &&
           function->parameters >= CHECK_KNOWN_VALUES &&
           function->parameter[0].kind == WEFT_PARAMETER_DATA &&
           function->parameter[CHECK_KNOWN_VALUES - 1].object == WEFT_OBJECT_COMM;
}

static unsigned short read_parameters(const struct weft_function *function)
{
    const int orders = WEFT_DOES_SEND | WEFT_DOES_RECEIVE | WEFT_DOES_EXCHANGE | WEFT_DOES_PROBE |
                       WEFT_DOES_EPOCH | WEFT_DOES_COMPLETE | WEFT_DOES_COLLECTIVE |
                       WEFT_DOES_START;
    int has = function->does & orders ? CHECK_IS_ORDERING : 0;
    if (is_message(function))
        has |= CHECK_IS_MESSAGE |
               (check_wait_is_for_message(function->plain) ? CHECK_IS_BLOCKING_MESSAGE : 0);
    for (int i = 0; i < function->parameters; i++) {
        const struct weft_parameter *parameter = &function->parameter[i];
        const enum weft_object_kind object = parameter->object;
        has |= parameter->kind == WEFT_PARAMETER_DATA ? CHECK_HAS_DATA : 0;
        has |= object == WEFT_OBJECT_WIN ? CHECK_HAS_WINDOW : 0;
        has |= object == WEFT_OBJECT_FILE ? CHECK_HAS_FILE : 0;
        if (object == WEFT_OBJECT_NONE)
            continue;
        if (parameter->flow == WEFT_FLOW_INOUT)
            has |= CHECK_HAS_INOUT_HANDLE;
        if (parameter->flow == WEFT_FLOW_OUT)
            has |= CHECK_HAS_OUT_HANDLE | (check_comm_is_kind(object) ? CHECK_HAS_OUT_COMM : 0);
        if (parameter->flow != WEFT_FLOW_IN && object == WEFT_OBJECT_COMM)
            has |= CHECK_HAS_CHANGED_COMM;
        if (parameter->flow != WEFT_FLOW_IN && object == WEFT_OBJECT_DATATYPE)
            has |= CHECK_HAS_CHANGED_TYPE;
        if (parameter->flow == WEFT_FLOW_IN && object == WEFT_OBJECT_REQUEST)
            has |= CHECK_HAS_IN_REQUEST;
    }
    return (unsigned short)has;
}

static void read_word(const char *word, size_t length)
{
    if (check.shuffles && strspn(word, "0123456789") == length) { /* also 1, which is all kinds */
        check.seed = strtoull(word, NULL, 10);
        return;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strlen(words[i].name) == length && strncmp(words[i].name, word, length) == 0) {
            check.kinds |= words[i].kinds;
            check.fail |= strcmp(words[i].name, "fail") == 0;
            check.shuffles |= strcmp(words[i].name, "shuffle") == 0;
            return;
        }
    }
    fprintf(stderr,
            "weft check: WEFT_CHECK has the word \"%.*s\"; it takes all, objects, collectives, "
            "messages, deadlocks, buffers, windows, files, races, fail, and shuffle with a seed "
            "behind it\n",
            (int)length, word);
}

static struct check_location init; /* the call of MPI_Init */
static bool has_sessions;          /* MPI_Session_init was called */
static pid_t process;              /* not that of a child, which ends for itself */

/* True in one process of a job that is not checked. */
static bool is_first(void)
{
    const char *rank = getenv("PMIX_RANK");
    return !rank || strcmp(rank, "0") == 0;
}

static void end_process(int status, void *arg)
{
    (void)arg;
    if (getpid() != process)
        return;
    if (has_sessions && !init.function && is_first())
        fputs("weft check: the program uses sessions without MPI_Init, and is not checked\n",
              stderr);
    if (check.began && status == 0 && (check.kinds & CHECK_OBJECTS))
        check_report(CHECK_NOT_FINALIZED, &init, false, "the process ends without MPI_Finalize");
    if (check.began)
        check_findings_print_own();
    if (status == 0 && check.fail && (check.found || check.findings.n)) {
        fflush(NULL);
        _exit(1);
    }
}

/* The program ends itself: what was found is printed. Rank 0 looks for races, too, which need the
 * logs of all ranks, if it is not in a call of MPI. */
__attribute__((visibility("default"), noreturn)) void abort(void)
{
    void (*next)(void);
    void *found = dlsym(RTLD_NEXT, "abort");
    const bool may_call = !check_is_in_call && !check.several_threads;
    bool may_print = check.began && getpid() == process;
    if (may_print && check.several_threads) /* the checker itself may have called it */
        may_print = pthread_mutex_trylock(&check.lock) == 0;
    if (may_print)
        check_unlock();
    if (may_print && may_call && check.rank == 0 && (check.kinds & CHECK_RACES))
        check_log_find_races();
    if (may_print)
        check_findings_print_own();
    if (may_print && check.findings.n)
        check_findings_write_own();
    check.began = false;
    memcpy(&next, &found, sizeof next);
    if (found)
        next();
    _exit(134);
}

__attribute__((constructor)) static void start(void)
{
    const char *list = getenv("WEFT_CHECK");
    weft_next_resolve();
    weft_site_read_modules();
    memcpy(check_channel_take, take, sizeof take);
    for (int i = 0; i < WEFT_CALLS; i++)
        check_functions[i] = read_parameters(&weft_functions[i]);
    for (const char *word = list ? list : ""; *word; word += strspn(word, ",")) {
        size_t length = strcspn(word, ",");
        read_word(word, length);
        word += length;
    }
    check.kinds = check.kinds ? check.kinds : CHECK_ALL;
    process = getpid();
    check_order_read();
    on_exit(end_process, NULL);
}

/* ---- MPI_Init and MPI_Finalize */

/* Findings are collected from the ranks that live. */
static void leave_dead_ranks(void)
{
    MPI_Comm living;
    if (weft_next.Comm_shrink(check.channel, &living) != MPI_SUCCESS)
        return;
    weft_next.Comm_free(&check.channel);
    check.channel = living;
}

/* The delete callback of the attribute on MPI_COMM_SELF: check.h, "The end". */
static int end_job(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    check.began = false;
    check_order_finish();
    if (check.kinds & CHECK_ACROSS)
        check_channel_finish();
    if (check.kinds & CHECK_WINDOWS)
        check_windows_finish();
    if (check.kinds & CHECK_COLLECTIVES)
        check_collectives_finish();
    if (check.kinds & CHECK_FOLLOW)
        check_matching_finish();
    if (check.kinds & (CHECK_DEADLOCKS | CHECK_RACES))
        check_log_finish();
    if (check.kinds & CHECK_OBJECTS)
        check_objects_finish();
    check_areas_finish();
    if (check.may_lose_ranks)
        leave_dead_ranks();
    check.found = check_findings_end();
    weft_next.Comm_free(&check.channel);
    return MPI_SUCCESS;
}

/* Ranks may run different programs: their paths are exchanged, because one rank prints the lines of
 * all. */
static void exchange_programs(void)
{
    char path[256] = "";
    weft_site_program(path, sizeof path);
    const uint64_t hash = weft_hash_text(path);
    uint64_t both[2] = {hash, ~hash};
    weft_next.Allreduce(MPI_IN_PLACE, both, 2, MPI_UINT64_T, MPI_MAX, check.channel);
    if (both[0] == ~both[1]) /* the largest is the smallest */
        return;
    char *paths = weft_interpose_allocate((size_t)check.size, sizeof path);
    weft_next.Allgather(path, sizeof path, MPI_CHAR, paths, sizeof path, MPI_CHAR, check.channel);
    for (int i = 0; i < check.size; i++)
        weft_site_add_program(paths + (size_t)i * sizeof path);
    free(paths);
}

/* If the job goes on when ranks die: leaves the kinds that need no other rank (check.h). All ranks
 * do so, at the same time, because some checks make collective calls. */
static void leave_kinds_across(void)
{
    int *value = NULL, is_set = 0;
    weft_next.Comm_get_attr(MPI_COMM_WORLD, MPIX_FT, &value, &is_set);
    check.may_lose_ranks = is_set && *value;
    if (!check.may_lose_ranks)
        return;
    weft_next.Comm_set_errhandler(check.channel, MPI_ERRORS_RETURN);
    check.kinds &= ~CHECK_ACROSS;
    if (check.rank == 0)
        fprintf(stderr, "weft check: the job goes on when ranks die (--keep-going), so that only "
                        "objects and buffers are checked; start it without that to check all, and "
                        "to record, repeat or shuffle its order\n");
}

static void begin_job(void)
{
    int keyval, provided, several;
    MPI_Comm parent;
    process = getpid();
    weft_site_read_modules();
    weft_next.Comm_get_parent(&parent);
    check.is_spawned = parent != MPI_COMM_NULL;
    weft_next.Comm_rank(MPI_COMM_WORLD, &check.rank);
    weft_next.Comm_size(MPI_COMM_WORLD, &check.size);
    weft_next.Comm_dup(MPI_COMM_WORLD, &check.channel);
    exchange_programs();
    weft_next.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_job, &keyval, NULL);
    weft_next.Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
    weft_next.Comm_free_keyval(&keyval);
    weft_next.Query_thread(&provided);
    several = provided == MPI_THREAD_MULTIPLE;
    weft_next.Allreduce(MPI_IN_PLACE, &several, 1, MPI_INT, MPI_MAX, check.channel);
    check.several_threads = several;
    leave_kinds_across();
    if (!check.may_lose_ranks)
        check_order_begin_job();
    if (check.kinds & CHECK_ACROSS) {
        check_comms_begin();
        check_matching_begin_job();
        check_log_begin();
        check_channel_begin();
    }
    check_areas_begin();
    if (check.kinds & (CHECK_BUFFERS | CHECK_WINDOWS))
        check_watch_begin_job();
    if (!check.may_lose_ranks)
        check_shuffle_begin_job();
    check.began = true;
}

/* A program that a script starts may have another binary interface than weftrun has assumed. */
static bool is_other_abi(void)
{
    const char *library = weft_next_other();
    if (library && is_first())
        fprintf(
            stderr,
            "weft check: the program calls %s, which has the binary interface of another MPI, and "
            "is not checked; weftrun --abi openmpi or --abi mpich selects it\n",
            library);
    return library != NULL;
}

/* ---- Each call */

/* Receives records, but not in operations on windows, of which an epoch may have many, nor where
 * nothing is awaited, and in one of 16 calls of point-to-point messages: those that wait for
 * another rank receive records, too. */
static void poll(int does)
{
    static CHECK_THREAD unsigned n;
    const int messages = WEFT_DOES_SEND | WEFT_DOES_RECEIVE | WEFT_DOES_EXCHANGE | WEFT_DOES_PROBE |
                         WEFT_DOES_START | WEFT_DOES_COMPLETE;
    if (does & (WEFT_DOES_RMA | WEFT_DOES_LOCAL))
        return;
    if (!(does & messages) || n++ % 16 == 0)
        check_channel_poll();
}

/* The frame of the outermost call that the thread is in; that of a call inside it is further below
 * than arguments on the stack take. */
static CHECK_THREAD uintptr_t outer;
enum { ARGUMENTS = 128 };

/* Drops what is kept of calls whose frames are below an address, which do not end. */
static void drop_calls(uintptr_t limit)
{
    struct check_changes *changes;
    check_messages_leave(limit);
    while ((changes = check_changes_take_left(limit))) {
        if (check.kinds & CHECK_HANDLES)
            check_objects_leave(changes);
        if (check.kinds & (CHECK_BUFFERS | CHECK_WINDOWS))
            check_buffers_leave(changes);
        check_changes_free_left(changes);
    }
}

/* On stacks of the program's own (makecontext) frames are not compared. */
static bool has_one_stack(const struct weft_call *call)
{
    return check_buffers_on_thread_stack(call->frame) &&
           check_buffers_on_thread_stack((const void *)outer);
}

/* The thread is in a call, and begins another one. False: not inside the first, which was left. */
static bool is_inside(const struct weft_call *call)
{
    const uintptr_t frame = (uintptr_t)call->frame;
    if (!has_one_stack(call))
        return true;
    if (frame + ARGUMENTS < outer && weft_site_is_in_call((const void *)outer)) {
        drop_calls(frame + 1);
        return true;
    }
    check_depth = 0;
    drop_calls(UINTPTR_MAX);
    check_deadlocks_leave();
    return false;
}

/* Memory is not compared after a call that was left: the library may have changed it. */
static void enter(const struct weft_call *call)
{
    const bool has_left = check_depth > 0 && !is_inside(call);
    if (check_depth == 0 && check_watches && !has_left) /* before the library changes the memory */
        check_watch_compare(call);
    if (check_depth == 0)
        outer = (uintptr_t)call->frame;
    check_depth++; /* the checks make progress, too, which runs callbacks of the program */
}

/* Before the end of a call: those inside it have ended, or were left. */
static void drop_inside(const struct weft_call *call)
{
    if (check_depth > 1 && has_one_stack(call))
        drop_calls((uintptr_t)call->frame);
}

static void leave(const struct weft_call *call)
{
    weft_assert(check_depth > 0);
    check_depth = (uintptr_t)call->frame == outer ? 0 : check_depth - 1;
}

/* call->state of a call that has been made by make_known. */
static char made_known;

/* The checks of the arguments of a call that is not known (known.h). */
static void begin_new(struct weft_call *call)
{
    if (check_has(call, CHECK_HAS_CHANGED_COMM) || check_has(call, CHECK_HAS_CHANGED_TYPE))
        check_known_forget();
    check_changes_keep(call);
    if (check.kinds & CHECK_HANDLES)
        check_objects_begin(call);
    if (check.kinds & (CHECK_BUFFERS | CHECK_WINDOWS | CHECK_DEADLOCKS))
        check_windows_begin(call);
    if (check.kinds & (CHECK_BUFFERS | CHECK_WINDOWS))
        check_buffers_begin(call);
    if ((check.kinds & CHECK_FILES) && check_has(call, CHECK_HAS_FILE))
        check_files_begin(call);
    if (check.kinds & CHECK_ACROSS)
        check_collectives_begin(call);
}

/* True: the call has been made, from its begin to its end: a send or receive that is known, while
 * no other operation and no order has to be followed. */
static bool make_known(struct weft_call *call, int has)
{
    if (!(has & CHECK_IS_BLOCKING_MESSAGE) || check_flights || check_watches || check.has_order)
        return false;
    check_messages_begin(call);
    check_wait_for_message(call);
    drop_inside(call);
    check_messages_end(call);
    if (check_windows_are_made())
        check_windows_end(call);
    call->state = &made_known;
    return true;
}

bool weft_call_begin(struct weft_call *call)
{
    check_is_in_call = true;
    if (!check.began)
        return true;
    const int has = check_functions[call->function - weft_functions];
    call->site = weft_site_of(call->site);
    if (call->function->plain == WEFT_CALL_Abort) {
        check_findings_print_own();
        if (check.findings.n)
            check_findings_write_own();
    }
    enter(call);
    if (check.kinds & CHECK_ACROSS)
        poll(call->function->does);
    if (has & CHECK_IS_ORDERING)
        check_files_count_call();
    const bool is_known = !check.several_threads && check_known_begin(call);
    if (is_known && make_known(call, has)) {
        leave(call);
        return false;
    }
    if (!is_known)
        begin_new(call);
    else if (check_flights)
        check_buffers_begin(call);
    if (check.kinds & CHECK_FOLLOW)
        check_messages_begin(call);
    const bool is_made =
        (check.has_order && (check_order_begin(call) || check_shuffle(call))) || check_wait(call);
    if ((check.kinds & CHECK_ACROSS) && (has & CHECK_HAS_INOUT_HANDLE))
        check_comms_free(call);
    return !is_made;
}

/* Shows the modules the handles that a call has changed, and its operation. */
static void end_changes(struct weft_call *call)
{
    if (check_has(call, CHECK_HAS_CHANGED_TYPE))
        check_area_forget_layouts();
    if (check.kinds & CHECK_HANDLES)
        check_objects_end(call);
    if (check.kinds & (CHECK_BUFFERS | CHECK_WINDOWS | CHECK_DEADLOCKS))
        check_windows_end(call);
    if (check.kinds & (CHECK_BUFFERS | CHECK_WINDOWS))
        check_buffers_end(call);
}

static bool joins_jobs(enum weft_call_number plain)
{
    return plain == WEFT_CALL_Comm_spawn || plain == WEFT_CALL_Comm_spawn_multiple ||
           plain == WEFT_CALL_Comm_accept || plain == WEFT_CALL_Comm_connect ||
           plain == WEFT_CALL_Comm_join;
}

static void end_call(struct weft_call *call)
{
    if (call->function->plain == WEFT_CALL_Init || call->function->plain == WEFT_CALL_Init_thread) {
        if (call->result == MPI_SUCCESS && !is_other_abi()) {
            init = check_location_of(call);
            begin_job();
        }
        return;
    }
    has_sessions |= call->function->plain == WEFT_CALL_Session_init;
    if (!check.began) {
        check_changes_free(call);
        return;
    }
    const int has = check_functions[call->function - weft_functions];
    drop_inside(call);
    if (check.has_order)
        check_order_end(call);
    if (!(has & CHECK_IS_BLOCKING_MESSAGE) || check_windows_are_made())
        end_changes(call);
    if (check.kinds & CHECK_FOLLOW)
        check_messages_end(call);
    if ((check.kinds & CHECK_ACROSS) && call->result == MPI_SUCCESS && (has & CHECK_HAS_OUT_COMM))
        check_comms_end(call);
    if ((check.kinds & CHECK_FILES) && (has & CHECK_HAS_FILE))
        check_files_end(call);
    if (has & (CHECK_HAS_CHANGED_COMM | CHECK_HAS_CHANGED_TYPE))
        check_known_forget();
    if ((has & CHECK_HAS_OUT_COMM) && joins_jobs(call->function->plain))
        check_watch_stop();
    check_changes_free(call);
    leave(call);
    if (check_depth == 0 && check_watches)
        check_watch_keep(call);
}

void weft_call_end(struct weft_call *call)
{
    if (call->state != &made_known)
        end_call(call);
    check_is_in_call = check_depth > 0;
}
