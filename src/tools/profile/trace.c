// SPDX-License-Identifier: BSD-3-Clause
/*
 * weftrun --trace: the calls of each thread with their times, and messages as arrows, in the format
 * of Chrome's traces, which Perfetto and chrome://tracing read.
 *
 * Each thread writes its calls into a buffer of the rank's memory (shared.h); the oldest events are
 * overwritten. The first PROFILE_BUFFERS threads of a rank have one. In MPI_Finalize each rank
 * writes its events as text, and sends it to rank 0, which writes the file; then the files of the
 * ranks are deleted. If the job ends otherwise they remain, and weft-report --trace joins them.
 *
 * Arrows connect the n-th send of a channel with the n-th receive (messages.h): from the call that
 * begins the send to the call that completes the receive. They are left out once several threads
 * call MPI.
 */
#include "tools/profile/trace.h"
#include "tools/profile/timeline.h"
#include "core/base/assert.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    AHEAD = 4,          /* ranks that may send before rank 0 has received from those before them */
    PIECE = 256 * 1024, /* bytes */
    REFUSED = 64,       /* groups that are known to be refused */
    TAG_TRACE = 6,
    TAG_TURN
};

bool profile_traces;
char profile_trace_file[4096];

static struct {
    double last; /* seconds that are written; 0: all */
    bool has_buffer[PROFILE_BUFFERS];
    uint64_t compare; /* ticks: the clock is to be compared then */
} trace;

/* ---- While the program runs */

void profile_trace_begin(void)
{
    const char *name = getenv("WEFT_TRACE"), *last = getenv("WEFT_TRACE_LAST");
    char directory[2048] = "";
    if (!name || !*name)
        return;
    if (strcmp(name, "1") == 0)
        name = "weft-trace.json";
    if (*name != '/' && !getcwd(directory, sizeof directory))
        directory[0] = '\0';
    snprintf(profile_trace_file, sizeof profile_trace_file, "%s%s%s", directory,
             *directory ? "/" : "", name);
    trace.last = last ? strtod(last, NULL) : 0;
    profile_traces = true;
}

/* MPI_T calls it when the library has reported that the rank waits for long. */
static void on_hang(MPI_T_event_instance instance, MPI_T_event_registration registration,
                    MPI_T_cb_safety safety, void *data)
{
    static int reports;
    (void)instance, (void)registration, (void)safety, (void)data;
    if (__atomic_fetch_add(&reports, 1, __ATOMIC_RELAXED) == 0)
        fprintf(stderr,
                "weft trace: the last calls of rank %d are in %s.rank%d; weft-report --trace %s "
                "writes the time line of all ranks\n",
                profile.rank, profile_trace_file, profile.rank, profile_trace_file);
}

void profile_trace_open(void)
{
    profile.shared->last = trace.last;
    profile_event_register("weft_hang", on_hang);
}

/* The buffer of a thread; NULL: it has none. */
static struct profile_buffer *buffer_of(const struct profile_thread *thread)
{
    ptrdiff_t i = thread - profile.threads;
    weft_assert(i >= 0 && i <= PROFILE_THREADS);
    if (i >= PROFILE_BUFFERS)
        return NULL;
    struct profile_buffer *buffer = &profile.shared->buffers[i];
    if (__builtin_expect(!trace.has_buffer[i], 0)) {
        profile_shared_reserve(buffer, sizeof *buffer);
        trace.has_buffer[i] = true;
    }
    return buffer;
}

/* A reader finds only events that are complete. */
static bool add(const struct profile_thread *thread, const struct profile_event *event)
{
    struct profile_buffer *buffer = buffer_of(thread);
    if (!buffer)
        return false;
    buffer->event[buffer->n % PROFILE_EVENTS] = *event;
    __atomic_store_n(&buffer->n, buffer->n + 1, __ATOMIC_RELEASE);
    return true;
}

/* Adds the ranks of a communicator. False: it has ranks of other jobs, or there is no space. */
static bool add_group(struct profile_groups *groups, const struct profile_comm *comm)
{
    const bool is_world = comm->id == profile_comm_of(MPI_COMM_WORLD)->id; /* or a duplicate */
    const int n = is_world ? 0 : comm->size;
    if (groups->n == PROFILE_GROUPS || n > PROFILE_GROUP_RANKS - groups->ranks_n)
        return false;
    for (int i = 0; i < n; i++) {
        if (comm->world[i] < 0)
            return false; /* of another job */
        groups->ranks[groups->ranks_n + i] = comm->world[i];
    }
    groups->group[groups->n] =
        (struct profile_group){.id = comm->id, .first = groups->ranks_n, .n = is_world ? -1 : n};
    groups->ranks_n += n;
    __atomic_store_n(&groups->n, groups->n + 1, __ATOMIC_RELEASE);
    return true;
}

/* False: the group of the communicator is not on the time line. One that is refused stays so. */
static bool has_group(const struct profile_comm *comm)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t refused[REFUSED];
    uint64_t *last = &refused[comm->id % REFUSED];
    if (__atomic_load_n(last, __ATOMIC_RELAXED) == comm->id)
        return false;
    struct profile_groups *groups = &profile.shared->groups;
    int i = 0, n = __atomic_load_n(&groups->n, __ATOMIC_ACQUIRE);
    while (i < n && groups->group[i].id != comm->id)
        i++;
    if (i < n)
        return true;
    pthread_mutex_lock(&lock);
    for (; i < groups->n && groups->group[i].id != comm->id; i++)
        ;
    bool has = i < groups->n || add_group(groups, comm);
    pthread_mutex_unlock(&lock);
    if (!has)
        __atomic_store_n(last, comm->id, __ATOMIC_RELAXED);
    return has;
}

static void add_collective(const struct profile_thread *thread,
                           const struct profile_collective *collective, uint64_t begin)
{
    if (has_group(collective->comm))
        add(thread, &(struct profile_event){.begin = begin,
                                            .value = collective->comm->id,
                                            .bytes = collective->received,
                                            .kind = PROFILE_MORE,
                                            .function = (uint32_t)collective->root});
    else
        __atomic_fetch_add(&profile.shared->refused, 1, __ATOMIC_RELAXED);
}

void profile_trace_call(const struct profile_thread *thread, const struct weft_call *call,
                        uint64_t begin, uint64_t ticks, uint64_t bytes)
{
    const uint32_t function = (uint32_t)(call->function - weft_functions);
    struct profile_collective collective;
    weft_assert(function < WEFT_CALLS);
    if (!add(thread, &(struct profile_event){.begin = begin,
                                             .value = ticks,
                                             .bytes = bytes,
                                             .kind = PROFILE_CALL,
                                             .function = function}))
        __atomic_fetch_add(&profile.shared->dropped, 1, __ATOMIC_RELAXED);
    else if (call->function->does & WEFT_DOES_COLLECTIVE &&
             profile_collective_read(call, &collective))
        add_collective(thread, &collective, begin);
    if (begin >= trace.compare && thread == profile.threads) {
        profile_clock_compare();
        trace.compare = begin + profile.ticks_of_us * 1000000;
    }
}

void profile_trace_message(const struct profile_thread *thread, enum profile_end end, uint64_t key,
                           uint32_t n, uint64_t ticks, uint64_t bytes, int32_t tag)
{
    weft_assert(end < PROFILE_ENDS);
    add(thread,
        &(struct profile_event){.begin = ticks,
                                .value = key + (uint64_t)n * 2,
                                .bytes = bytes,
                                .function = (uint32_t)tag,
                                .kind = end == PROFILE_SENDER ? PROFILE_SEND : PROFILE_RECEIVE});
}

/* ---- The file */

/* The time from which on events are written, on the clock of rank 0. */
static double first_time(void)
{
    return trace.last > 0 ? profile_time(profile.clock, profile.clock->end) - trace.last : 0;
}

/* Sends a piece of the text to rank 0, as a stream does. */
static ssize_t send_piece(void *cookie, const char *text, size_t size)
{
    (void)cookie;
    for (size_t sent = 0; sent < size;) {
        size_t n = size - sent < PIECE ? size - sent : PIECE;
        if (weft_next.Send(text + sent, (int)n, MPI_BYTE, 0, TAG_TRACE, profile.channel))
            return 0;
        sent += n;
    }
    return (ssize_t)size;
}

/* The text goes in pieces, so that it takes little memory; an empty one ends it. */
static void send_text(double base)
{
    static char buffer[PIECE];
    if (profile.rank > AHEAD &&
        weft_next.Recv(NULL, 0, MPI_BYTE, 0, TAG_TURN, profile.channel, MPI_STATUS_IGNORE))
        return;
    FILE *file = fopencookie(NULL, "w", (cookie_io_functions_t){.write = send_piece});
    if (file) {
        setvbuf(file, buffer, _IOFBF, sizeof buffer);
        profile_timeline_put_rank(file, profile.shared, base, first_time());
        fclose(file);
    }
    weft_next.Send(NULL, 0, MPI_BYTE, 0, TAG_TRACE, profile.channel);
}

static void copy_text(FILE *file, int rank)
{
    static char piece[PIECE];
    MPI_Status status;
    int n = 0;
    do {
        if (weft_next.Recv(piece, PIECE, MPI_BYTE, rank, TAG_TRACE, profile.channel, &status) ||
            weft_next.Get_count(&status, MPI_BYTE, &n))
            return;
        if (file)
            fwrite(piece, 1, (size_t)n, file);
    } while (n > 0);
}

static bool write_file(double base)
{
    FILE *file = fopen(profile_trace_file, "w");
    if (file) {
        profile_timeline_put_head(file);
        profile_timeline_put_rank(file, profile.shared, base, first_time());
    }
    for (int rank = 1; rank < profile.size; rank++) {
        copy_text(file, rank);
        if (rank + AHEAD < profile.size)
            weft_next.Send(NULL, 0, MPI_BYTE, rank + AHEAD, TAG_TURN, profile.channel);
    }
    if (file)
        profile_timeline_put_foot(file);
    return file && fclose(file) == 0;
}

static void print_result(bool is_written, uint64_t dropped, uint64_t refused)
{
    if (!is_written)
        fprintf(stderr,
                "weft trace: %s cannot be written: %s; weft-report --trace joins %s.rank*\n",
                profile_trace_file, strerror(errno), profile_trace_file);
    else
        fprintf(stderr, "weft trace: the time line is %s: open it in https://ui.perfetto.dev\n",
                profile_trace_file);
    if (dropped)
        fprintf(stderr,
                "weft trace: %llu calls are missing: only %d threads of a rank are on the time "
                "line\n",
                (unsigned long long)dropped, PROFILE_BUFFERS);
    if (refused)
        fprintf(
            stderr,
            "weft trace: %llu collectives lack their communicator: a rank keeps %d of them, with "
            "%d ranks in sum, and none with ranks of another job\n",
            (unsigned long long)refused, PROFILE_GROUPS, PROFILE_GROUP_RANKS);
}

void profile_trace_write(void)
{
    double own = profile_time(profile.clock, profile.clock->begin), base = own;
    const uint64_t missing[] = {profile.shared->dropped, profile.shared->refused};
    uint64_t sum[] = {0, 0};
    weft_next.Allreduce(&own, &base, 1, MPI_DOUBLE, MPI_MIN, profile.channel);
    weft_next.Reduce(missing, sum, 2, MPI_UINT64_T, MPI_SUM, 0, profile.channel);
    int is_written = 0;
    if (profile.rank)
        send_text(base);
    else
        is_written = write_file(base);
    if (!profile.rank)
        print_result(is_written, sum[0], sum[1]);
    weft_next.Bcast(&is_written, 1, MPI_INT, 0, profile.channel);
    if (is_written)
        profile_shared_delete();
}
