// SPDX-License-Identifier: BSD-3-Clause
/*
 * The time line in the format of Chrome's traces, which Perfetto and chrome://tracing read: a slice
 * for each call, and an arrow for each message. Times are those of the clock of rank 0.
 *
 * A collective has its communicator, root (-1: none) and bytes received among its arguments; the
 * ranks of each communicator are in lines of its first rank, no ranks: all of MPI_COMM_WORLD.
 *
 * A call that a rank had not left, when it was killed, is a slice without an end. Of each rank the
 * last JOB_EVENTS events over the number of ranks are written, RANK_EVENTS at least.
 *
 * Invariant: the memory of a rank may be damaged; nothing outside of it is read.
 */
#include "tools/profile/timeline.h"
#include "core/base/assert.h"
#include "tools/interpose/json.h"

#include <string.h>

enum { JOB_EVENTS = 1 << 22, RANK_EVENTS = 4096 };

static const char *name_of(uint32_t function)
{
    return function < WEFT_CALLS ? weft_functions[function].name : "?";
}

void profile_timeline_put_head(FILE *file)
{
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"trace\","
          "\"pid\":0,\"args\":{\"tool\":\"weftrun --trace\"}}",
          file);
}

void profile_timeline_put_foot(FILE *file)
{
    fputs("\n]}\n", file);
}

static void put_call(FILE *file, const struct profile_shared *rank, int thread,
                     const struct profile_event *event, const struct profile_event *more,
                     double base)
{
    fprintf(file, ",\n{\"ph\":\"X\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f",
            name_of(event->function), rank->rank, thread,
            (profile_time(&rank->clock, event->begin) - base) * 1e6,
            (double)event->value * rank->clock.seconds_a_tick * 1e6);
    if (event->bytes || more)
        fprintf(file, ",\"args\":{\"bytes\":%llu", (unsigned long long)event->bytes);
    if (more)
        fprintf(file, ",\"comm\":\"%llx\",\"root\":%d,\"received\":%llu",
                (unsigned long long)more->value, (int32_t)more->function,
                (unsigned long long)more->bytes);
    fputs(event->bytes || more ? "}}" : "}", file);
}

static void put_message(FILE *file, const struct profile_shared *rank, int thread,
                        const struct profile_event *event, double base)
{
    double at = (profile_time(&rank->clock, event->begin) - base) * 1e6;
    fprintf(file,
            ",\n{\"ph\":\"%s\",\"cat\":\"message\",\"name\":\"message\",\"id\":\"%llx\","
            "\"pid\":%d,\"tid\":%d,\"ts\":%.3f",
            event->kind == PROFILE_SEND ? "s" : "f", (unsigned long long)event->value, rank->rank,
            thread, at);
    if (event->kind == PROFILE_SEND)
        fprintf(file, ",\"args\":{\"bytes\":%llu,\"tag\":%d}}", (unsigned long long)event->bytes,
                (int32_t)event->function);
    else
        fputs(",\"bp\":\"e\"}", file);
}

/* The call that the thread is in: a slice that begins, with the ranks that it may wait for. */
static void put_open(FILE *file, const struct profile_shared *rank, int thread, double base)
{
    const struct profile_now *now = &rank->threads[thread].now;
    if (now->function < 0 || !now->since)
        return;
    fprintf(file, ",\n{\"ph\":\"B\",\"name\":\"%s (not left)\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f",
            name_of((uint32_t)now->function), rank->rank, thread,
            (profile_time(&rank->clock, now->since) - base) * 1e6);
    for (int i = 0; i < now->n && i < PROFILE_PEERS; i++)
        fprintf(file, "%s%d", i ? "," : ",\"args\":{\"ranks\":[", now->peers[i]);
    fputs(now->n > 0 ? "]}}" : "}", file);
}

static void put_thread(FILE *file, const struct profile_shared *rank, int thread, uint64_t most,
                       double base, double first)
{
    const struct profile_buffer *buffer = &rank->buffers[thread];
    uint64_t n = __atomic_load_n(&buffer->n, __ATOMIC_ACQUIRE);
    uint64_t kept = n < PROFILE_EVENTS ? n : PROFILE_EVENTS;
    kept = kept < most ? kept : most;
    weft_assert(kept <= PROFILE_EVENTS && kept <= n);
    for (uint64_t i = n - kept; i < n; i++) {
        const struct profile_event *event = &buffer->event[i % PROFILE_EVENTS];
        const struct profile_event *next = &buffer->event[(i + 1) % PROFILE_EVENTS];
        uint64_t end = event->begin + (event->kind == PROFILE_CALL ? event->value : 0);
        if (profile_time(&rank->clock, end) < first)
            continue;
        if (event->kind == PROFILE_CALL)
            put_call(file, rank, thread, event,
                     i + 1 < n && next->kind == PROFILE_MORE ? next : NULL, base);
        else if (event->kind != PROFILE_MORE)
            put_message(file, rank, thread, event, base);
    }
}

/* Communicators whose first rank this is, in lines that a reader with a small buffer reads. */
static void put_groups(FILE *file, const struct profile_shared *rank)
{
    enum { RANKS_A_LINE = 64 };
    const struct profile_groups *groups = &rank->groups;
    int n = __atomic_load_n(&groups->n, __ATOMIC_ACQUIRE);
    for (int i = 0; i < n && i < PROFILE_GROUPS; i++) {
        const struct profile_group *group = &groups->group[i];
        const bool is_world = group->n < 0;
        if (!is_world && (group->n == 0 || group->n > PROFILE_GROUP_RANKS || group->first < 0 ||
                          group->first > PROFILE_GROUP_RANKS - group->n))
            continue;
        const int32_t *ranks = groups->ranks + (is_world ? 0 : group->first);
        if (rank->rank != (is_world ? 0 : ranks[0]))
            continue;
        for (int at = 0; at == 0 || at < group->n; at += RANKS_A_LINE) {
            fprintf(
                file,
                ",\n{\"ph\":\"M\",\"name\":\"communicator\",\"pid\":%d,\"args\":{\"comm\":\"%llx\","
                "\"ranks\":[",
                rank->rank, (unsigned long long)group->id);
            for (int j = at; j < group->n && j < at + RANKS_A_LINE; j++)
                fprintf(file, j > at ? ",%d" : "%d", ranks[j]);
            fputs("]}}", file);
        }
    }
}

void profile_timeline_put_rank(FILE *file, const struct profile_shared *rank, double base,
                               double first)
{
    uint64_t most = (uint64_t)(JOB_EVENTS / (rank->size > 0 ? rank->size : 1));
    int threads = 0;
    char name[PROFILE_HOST + 32];
    fprintf(
        file,
        ",\n{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":%d,\"args\":{\"sort_index\":%d}}"
        ",\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":",
        rank->rank, rank->rank, rank->rank);
    snprintf(name, sizeof name, "rank %d on %.*s", rank->rank, PROFILE_HOST, rank->host);
    weft_json_put_string(file, name);
    fputs("}}", file);
    put_groups(file, rank);
    for (int i = 0; i < PROFILE_BUFFERS; i++)
        threads += rank->buffers[i].n > 0;
    most = (most > RANK_EVENTS ? most : RANK_EVENTS) / (uint64_t)(threads ? threads : 1);
    for (int i = 0; i < PROFILE_BUFFERS; i++) {
        put_thread(file, rank, i, most, base, first);
        put_open(file, rank, i, base);
    }
}
