// SPDX-License-Identifier: BSD-3-Clause
/*
 * weftrun --trace: the calls of each thread with their times, and messages as arrows, in the format
 * of Chrome's traces, which Perfetto and chrome://tracing read.
 *
 * Each thread writes its calls into a ring of EVENTS events, which is 2 MiB; the oldest ones are
 * overwritten. The first THREADS threads of a rank have a ring. In MPI_Finalize each rank writes
 * its events as text, and sends it to rank 0, which writes the file. Times are those of the clock
 * of rank 0 (clocks.c).
 *
 * Arrows connect the n-th send of a channel with the n-th receive (messages.h): from the call that
 * begins the send to the call that completes the receive. They are left out if several threads may
 * call MPI.
 *
 * Limits: a job that ends without MPI_Finalize leaves no file. Of each rank the last JOB_EVENTS
 * events over the number of ranks are written, RANK_EVENTS at least.
 */
#include "tools/profile/trace.h"
#include "core/base/clock.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    EVENTS = 65536, /* a power of 2 */
    THREADS = 16,
    JOB_EVENTS = 1 << 22,
    RANK_EVENTS = 4096,
    AHEAD = 4, /* ranks that may send before rank 0 has received from those before them */
    TAG_LENGTH = 6,
    TAG_TRACE,
    TAG_TURN
};

enum kind { CALL, SEND, RECEIVE };

struct event {
    uint64_t begin;
    uint64_t value; /* ticks of a call; identifies a message */
    uint64_t bytes;
    uint32_t kind, function;
};

struct ring {
    uint64_t n; /* written so far */
    struct event event[EVENTS];
};

bool profile_traces;

static struct {
    char file[4096];
    double last; /* seconds that are written; 0: all */
    struct ring *rings[THREADS];
    uint64_t dropped; /* calls of threads without a ring; all threads add to it */
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
    snprintf(trace.file, sizeof trace.file, "%s%s%s", directory, *directory ? "/" : "", name);
    trace.last = last ? strtod(last, NULL) : 0;
    profile_traces = true;
}

static struct event *next_event(const struct profile_thread *thread)
{
    ptrdiff_t i = thread - profile.threads;
    if (i >= THREADS)
        return NULL;
    if (!trace.rings[i]) {
        void *ring = mmap(NULL, sizeof **trace.rings, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (ring == MAP_FAILED)
            return NULL;
        trace.rings[i] = ring;
    }
    return &trace.rings[i]->event[trace.rings[i]->n++ % EVENTS];
}

void profile_trace_call(const struct profile_thread *thread, uint32_t function, uint64_t begin,
                        uint64_t ticks, uint64_t bytes)
{
    struct event *event = next_event(thread);
    if (event)
        *event = (struct event){
            .begin = begin, .value = ticks, .bytes = bytes, .kind = CALL, .function = function};
    else
        __atomic_fetch_add(&trace.dropped, 1, __ATOMIC_RELAXED);
}

void profile_trace_message(const struct profile_thread *thread, enum profile_end end, uint64_t key,
                           uint32_t n, uint64_t ticks)
{
    struct event *event = next_event(thread);
    if (event)
        *event = (struct event){.begin = ticks,
                                .value = key + (uint64_t)n * 2,
                                .kind = end == PROFILE_SENDER ? SEND : RECEIVE};
}

/* ---- The file */

static void put_event(FILE *file, int thread, const struct event *event, double base)
{
    double at = (profile_time_of(event->begin) - base) * 1e6;
    if (event->kind != CALL) {
        fprintf(file,
                ",\n{\"ph\":\"%s\",\"cat\":\"message\",\"name\":\"message\",\"id\":\"%llx\","
                "\"pid\":%d,\"tid\":%d,\"ts\":%.3f%s}",
                event->kind == SEND ? "s" : "f", (unsigned long long)event->value, profile.rank,
                thread, at, event->kind == SEND ? "" : ",\"bp\":\"e\"");
        return;
    }
    fprintf(file, ",\n{\"ph\":\"X\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f",
            weft_functions[event->function].name, profile.rank, thread, at,
            (double)event->value * profile.seconds_a_tick * 1e6);
    if (event->bytes)
        fprintf(file, ",\"args\":{\"bytes\":%llu}", (unsigned long long)event->bytes);
    fputc('}', file);
}

static void put_thread(FILE *file, int thread, uint64_t most, double base)
{
    const struct ring *ring = trace.rings[thread];
    uint64_t kept = ring->n < EVENTS ? ring->n : EVENTS;
    double first = profile_time_of(profile.end) - trace.last;
    kept = kept < most ? kept : most;
    for (uint64_t i = ring->n - kept; i < ring->n; i++) {
        const struct event *event = &ring->event[i % EVENTS];
        uint64_t end = event->begin + (event->kind == CALL ? event->value : 0);
        if (trace.last <= 0 || profile_time_of(end) >= first)
            put_event(file, thread, event, base);
    }
}

static void put_rank(FILE *file, double base)
{
    char host[256] = "";
    uint64_t most = (uint64_t)(JOB_EVENTS / profile.size);
    int threads = 0;
    gethostname(host, sizeof host - 1);
    fprintf(file,
            ",\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":\"rank %d "
            "on %s\"}},\n{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":%d,\"args\":"
            "{\"sort_index\":%d}}",
            profile.rank, profile.rank, host, profile.rank, profile.rank);
    for (int i = 0; i < THREADS; i++)
        threads += trace.rings[i] != NULL;
    most = (most > RANK_EVENTS ? most : RANK_EVENTS) / (uint64_t)(threads ? threads : 1);
    for (int i = 0; i < THREADS; i++)
        if (trace.rings[i])
            put_thread(file, i, most, base);
}

/* The text of this rank, to be freed. */
static char *make_text(double base, size_t *length)
{
    char *text = NULL;
    FILE *file = open_memstream(&text, length);
    if (!file)
        abort();
    put_rank(file, base);
    if (fclose(file) || *length > INT_MAX)
        abort();
    return text;
}

static void send_text(double base)
{
    size_t length;
    if (profile.rank > AHEAD &&
        weft_next.Recv(NULL, 0, MPI_BYTE, 0, TAG_TURN, profile.channel, MPI_STATUS_IGNORE))
        return;
    char *text = make_text(base, &length);
    int n = (int)length;
    if (weft_next.Send(&n, 1, MPI_INT, 0, TAG_LENGTH, profile.channel) == MPI_SUCCESS)
        weft_next.Send(text, n, MPI_BYTE, 0, TAG_TRACE, profile.channel);
    free(text);
}

static void copy_text(FILE *file, int rank)
{
    int n = 0;
    if (weft_next.Recv(&n, 1, MPI_INT, rank, TAG_LENGTH, profile.channel, MPI_STATUS_IGNORE))
        return;
    char *text = malloc((size_t)n + 1);
    if (!text)
        abort();
    if (weft_next.Recv(text, n, MPI_BYTE, rank, TAG_TRACE, profile.channel, MPI_STATUS_IGNORE) ==
            MPI_SUCCESS &&
        file)
        fwrite(text, 1, (size_t)n, file);
    free(text);
}

void profile_trace_write(void)
{
    double own = profile_time_of(profile.begin), base = own;
    uint64_t dropped = 0;
    weft_next.Allreduce(&own, &base, 1, MPI_DOUBLE, MPI_MIN, profile.channel);
    weft_next.Reduce(&trace.dropped, &dropped, 1, MPI_UINT64_T, MPI_SUM, 0, profile.channel);
    if (profile.rank) {
        send_text(base);
        return;
    }
    FILE *file = fopen(trace.file, "w");
    if (file) {
        fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"trace\","
              "\"pid\":0,"
              "\"args\":{\"tool\":\"weftrun --trace\"}}",
              file);
        put_rank(file, base);
    }
    for (int rank = 1; rank < profile.size; rank++) {
        copy_text(file, rank);
        if (rank + AHEAD < profile.size)
            weft_next.Send(NULL, 0, MPI_BYTE, rank + AHEAD, TAG_TURN, profile.channel);
    }
    if (file)
        fputs("\n]}\n", file);
    if (!file || fclose(file))
        fprintf(stderr, "weft trace: %s cannot be written: %s\n", trace.file, strerror(errno));
    else
        fprintf(stderr, "weft trace: the time line is %s: open it in https://ui.perfetto.dev\n",
                trace.file);
    if (dropped)
        fprintf(stderr,
                "weft trace: %llu calls are missing: only %d threads of a rank are on the time "
                "line\n",
                (unsigned long long)dropped, THREADS);
}
