// SPDX-License-Identifier: BSD-3-Clause
/*
 * The profile's start and end, and both halves of each call: see profile.h.
 */
#include "tools/profile/messages.h"
#include "tools/profile/routes.h"
#include "tools/profile/trace.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct profile profile;
bool profile_counts_cycles;
static struct profile_clock start_of_program;
char profile_page[4096], profile_json[4096];

/* The state of a thread that has no table of its own. */
static __thread struct profile_now unseen __attribute__((tls_model("initial-exec")));

/* The frame of the call that this thread is in; 0: none. A call of a callback has its frame further
 * below it than arguments on the stack take, while it is still in use: an error handler may have
 * left the call by longjmp. */
static __thread uintptr_t outer __attribute__((tls_model("initial-exec")));
enum { ARGUMENTS = 128 };

/* ---- The clock */

/* The processor's counter costs a third of clock_gettime. The kernel uses it as its clock only if
 * it runs evenly and alike on all cores. */
static bool has_timestamp_counter(void)
{
#ifdef __x86_64__
    char name[16] = "";
    FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
    if (!file)
        return false;
    bool is = fgets(name, sizeof name, file) && strcmp(name, "tsc\n") == 0;
    fclose(file);
    return is;
#else
    return false;
#endif
}

/* Reads both clocks at one time: the attempt that took the fewest ticks counts, because the kernel
 * may run another process between the two. */
static void read_clocks(double *seconds, uint64_t *ticks)
{
    enum { ATTEMPTS = 5 };
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < ATTEMPTS; i++) {
        uint64_t before = profile_ticks();
        double now = weft_seconds();
        uint64_t taken = profile_ticks() - before;
        if (taken >= least)
            continue;
        least = taken;
        *seconds = now;
        *ticks = before + taken / 2;
    }
}

void profile_clock_compare(void)
{
    struct profile_clock *clock = profile.clock;
    double seconds = 0;
    read_clocks(&seconds, &clock->end);
    uint64_t ticks = clock->end - clock->begin;
    clock->seconds_a_tick = ticks ? (seconds - clock->seconds_begin) / (double)ticks : 0;
}

/* ---- MPI_Init and MPI_Finalize */

/* WEFT_PROFILE is a file name, or 1. The program may change its directory. */
static void set_names(void)
{
    const char *value = getenv("WEFT_PROFILE");
    char directory[2048] = "";
    if (!value || !*value || strcmp(value, "1") == 0)
        value = "weft-profile.html";
    if (*value != '/' && !getcwd(directory, sizeof directory))
        directory[0] = '\0';
    size_t length = strlen(value);
    if (length > 5 && strcmp(value + length - 5, ".html") == 0)
        length -= 5;
    snprintf(profile_page, sizeof profile_page, "%s%s%.*s.html", directory, *directory ? "/" : "",
             (int)length, value);
    snprintf(profile_json, sizeof profile_json, "%s%s%.*s.json", directory, *directory ? "/" : "",
             (int)length, value);
}

static bool has_sessions; /* MPI_Session_init was called outside of MPI_Init and MPI_Finalize */
static bool has_init;     /* MPI_Init was called: that of a spawned job is not measured */

/* Without MPI_Init and MPI_Finalize nothing is gathered: one of the processes states that. */
static void end_process(void)
{
    const char *rank = getenv("PMIX_RANK");
    if (has_sessions && !has_init && (!rank || strcmp(rank, "0") == 0))
        fputs("weft profile: the program uses sessions without MPI_Init, and is not measured\n",
              stderr);
    if (profile.running && profile.rank == 0 && profile.shared->pid == getpid())
        fprintf(stderr, "weft profile: rank 0 ends without MPI_Finalize: there is no %s\n",
                profile_traces ? "time line but the files of the ranks" : "profile");
}

__attribute__((constructor)) static void start(void)
{
    weft_next_resolve();
    weft_site_read_modules();
    profile_counts_cycles = has_timestamp_counter();
    profile_bytes_begin();
    set_names();
    profile_trace_begin();
    if (profile_traces && strcmp(profile_json, profile_trace_file) == 0)
        snprintf(profile_json, sizeof profile_json, "%.4080s.figures", profile_trace_file);
    read_clocks(&start_of_program.seconds_begin, &start_of_program.begin);
    atexit(end_process);
}

static void write_files(void)
{
    if (profile_traces)
        profile_trace_write();
    bool reports = !profile_traces || getenv("WEFT_PROFILE");
    struct profile_job *job = reports ? profile_gather() : NULL;
    if (job) {
        profile_json_write(job);
        profile_page_write(job);
        profile_lines_print(job);
        free(job->ranks);
        free(job->rows);
        free(job);
    }
}

/* The delete callback of the attribute on MPI_COMM_SELF: MPI_Finalize calls it while messages may
 * still be sent. Numbers have a decimal point in the files, whatever the locale of the program. */
static int end_job(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    profile.clock->difference_end = profile_clock_difference();
    locale_t point = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    locale_t of_program = point ? uselocale(point) : (locale_t)0;
    write_files();
    if (point) {
        uselocale(of_program);
        freelocale(point);
    }
    weft_next.Comm_free(&profile.channel);
    return MPI_SUCCESS;
}

/* The memory of tables, and a first comparison of clocks. */
static void open_memory(void)
{
    uint64_t job = weft_nanoseconds() ^ (uint64_t)getpid() << 40;
    weft_next.Bcast(&job, 1, MPI_UINT64_T, 0, profile.channel);
    profile.shared = profile_shared_open(job, profile.rank, profile.size,
                                         profile_traces ? profile_trace_file : NULL);
    profile.clock = &profile.shared->clock;
    profile.threads = profile.shared->threads;
    *profile.clock = start_of_program;
    profile.clock->timestamp_counter = profile_counts_cycles;
    profile_clock_compare();
    profile.ticks_of_us = (uint64_t)(1e-6 / profile.clock->seconds_a_tick);
}

static void begin_job(void)
{
    int keyval, level;
    MPI_Comm parent;
    weft_next.Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        return;
    weft_site_read_modules();
    weft_next.Comm_rank(MPI_COMM_WORLD, &profile.rank);
    weft_next.Comm_size(MPI_COMM_WORLD, &profile.size);
    weft_next.Query_thread(&level);
    profile.multiple = level == MPI_THREAD_MULTIPLE;
    profile.one_thread = true;
    profile.fold = (profile.size + PROFILE_BINS - 1) / PROFILE_BINS;
    weft_next.Comm_dup(MPI_COMM_WORLD, &profile.channel);
    weft_next.Comm_set_errhandler(profile.channel, MPI_ERRORS_RETURN);
    weft_next.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_job, &keyval, NULL);
    weft_next.Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
    weft_next.Comm_free_keyval(&keyval);
    profile_comms_begin();
    open_memory();
    profile_messages_begin();
    double difference = profile_clock_difference();
    profile_counters_begin();
    if (profile_traces)
        profile_trace_open();
    struct profile_clock *clock = profile.clock;
    clock->difference_begin = clock->difference_end = difference;
    read_clocks(&clock->seconds_begin, &clock->begin);
    clock->end = profile_messages.left = clock->begin;
    profile.running = true;
}

static void stop(void)
{
    profile.running = false;
    profile_counters_read();
    profile_clock_compare();
    profile_absence_end(profile.clock->end, profile.clock->end);
}

/* ---- Each call */

static inline bool is_one_thread(void)
{
    return __atomic_load_n(&profile.one_thread, __ATOMIC_RELAXED);
}

bool weft_call_begin(struct weft_call *call)
{
    if (!profile.running) {
        has_sessions |= call->function->plain == WEFT_CALL_Session_init;
        return true;
    }
    if (call->function->plain == WEFT_CALL_Finalize) {
        stop();
        return true;
    }
    if (__builtin_expect((uintptr_t)call->frame + ARGUMENTS < outer, 0) &&
        weft_site_is_in_call((const void *)outer)) {
        call->state = &profile;
        return true;
    }
    outer = (uintptr_t)call->frame;
    struct profile_thread *own = profile_thread_own();
    struct profile_now *now = own ? &own->now : &unseen;
    now->n = 0;
    if (is_one_thread())
        profile_message_before(call, now);
    now->function = (int32_t)(call->function - weft_functions);
    now->since = profile_ticks();
    call->state = (void *)(uintptr_t)now->since;
    return true;
}

static void keep_duration(const struct weft_call *call, struct profile_slot *slot, uint64_t ticks)
{
    int i = profile.collectives.n;
    uint64_t function = (uint64_t)call->function->plain + 1;
    if (i < PROFILE_DURATIONS) {
        profile.collectives.ticks[i] = (float)ticks;
        profile.collectives.slots[i] = slot;
        profile.collectives.hash = (profile.collectives.hash ^ function) * 0x100000001b3U;
    }
    profile.collectives.n = i + 1;
}

static void end_init(const struct weft_call *call)
{
    has_init = true;
    if (call->result == MPI_SUCCESS)
        begin_job();
}

void weft_call_end(struct weft_call *call)
{
    if (!call->state || call->state == &profile) {
        if (call->function->plain == WEFT_CALL_Init ||
            call->function->plain == WEFT_CALL_Init_thread)
            end_init(call);
        return;
    }
    uint64_t ticks = profile_ticks() - (uintptr_t)call->state;
    outer = 0;
    struct profile_thread *thread = profile_thread_enter();
    thread->now.function = -1;
    thread->now.since = (uintptr_t)call->state + ticks;
    struct profile_slot *slot = profile_slot_of(thread, call);
    slot->calls++;
    slot->ticks += ticks;
    slot->least = ticks < slot->least ? ticks : slot->least;
    slot->most = ticks > slot->most ? ticks : slot->most;
    const bool succeeded = call->result == MPI_SUCCESS, alone = is_one_thread();
    uint64_t bytes = 0;
    if (succeeded && profile_has_bytes[call->function - weft_functions])
        bytes = profile_bytes_add(thread, call, ticks,
                                  alone && profile_route ? profile_route->peer : -1);
    profile_slot_add_bytes(slot, bytes);
    if (__builtin_expect(profile_traces, 0))
        profile_trace_call(thread, call, (uintptr_t)call->state, ticks, bytes);
    if (alone) {
        if (call->function->does & WEFT_DOES_COLLECTIVE && succeeded &&
            profile_is_synchronizing(call))
            keep_duration(call, slot, ticks);
        profile_message_after(call, thread, slot, (uintptr_t)call->state, ticks, bytes);
    }
    profile_thread_leave(thread);
}
