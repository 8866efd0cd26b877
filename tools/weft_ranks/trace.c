// SPDX-License-Identifier: BSD-3-Clause
/*
 * weft-report --trace FILE: joins FILE.rank0, FILE.rank1 and so on, which the ranks of a job under
 * weftrun --trace have left, as the time line FILE.
 *
 * Invariant: files of one job are joined: a rank's file of an earlier one is left out.
 */
#include "tools/profile/timeline.h"
#include "rank_memory.h"
#include "ranks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The first file of a job that can be read; NULL: there is none. */
static const struct profile_shared *find_any(const char *file)
{
    enum { TRIED = 4096 };
    char name[4096];
    const char *why = NULL, *first_why = NULL;
    for (int i = 0; i < TRIED; i++) {
        profile_shared_name(file, i, name, sizeof name);
        const struct profile_shared *rank = rank_memory_map(name, &why);
        if (rank)
            return rank;
        first_why = first_why ? first_why : why;
    }
    profile_shared_name(file, 0, name, sizeof name);
    fprintf(stderr, "weft-report: %s cannot be read: %s.\n", name, first_why);
    return NULL;
}

static double last_time(const struct profile_shared *rank)
{
    const struct profile_clock *clock = &rank->clock;
    double last = profile_time(clock, clock->end);
    for (int i = 0; i < PROFILE_BUFFERS; i++) {
        const struct profile_now *now = &rank->threads[i].now;
        if (now->since && profile_time(clock, now->since) > last)
            last = profile_time(clock, now->since);
    }
    return last;
}

/* Calls a function for each rank of the job. Returns how many there are. */
static int each(const char *file, uint64_t job, int size,
                void (*visit)(const struct profile_shared *rank, void *arg), void *arg)
{
    char name[4096];
    const char *why;
    int n = 0;
    for (int i = 0; i < size; i++) {
        profile_shared_name(file, i, name, sizeof name);
        const struct profile_shared *rank = rank_memory_map(name, &why);
        if (rank && rank->job == job && rank->rank == i) {
            visit(rank, arg);
            n++;
        }
        if (rank)
            rank_memory_unmap(rank);
    }
    return n;
}

struct times {
    double base, last;
    FILE *file;
};

static void see(const struct profile_shared *rank, void *arg)
{
    struct times *times = arg;
    double base = profile_time(&rank->clock, rank->clock.begin), last = last_time(rank);
    times->base = base < times->base ? base : times->base;
    times->last = last > times->last ? last : times->last;
}

static void put(const struct profile_shared *rank, void *arg)
{
    struct times *times = arg;
    double first = rank->last > 0 ? times->last - rank->last : 0;
    profile_timeline_put_rank(times->file, rank, times->base, first);
}

int ranks_trace(const char *file)
{
    struct times times = {.base = 1e300};
    const struct profile_shared *any = find_any(file);
    if (!any)
        return 2;
    uint64_t job = any->job;
    int size = any->size;
    rank_memory_unmap(any);
    each(file, job, size, see, &times);
    times.file = fopen(file, "w");
    int n = 0;
    if (times.file) {
        profile_timeline_put_head(times.file);
        n = each(file, job, size, put, &times);
        profile_timeline_put_foot(times.file);
    }
    if (!times.file || fclose(times.file)) {
        fprintf(stderr, "weft-report: %s cannot be written: %s.\n", file, strerror(errno));
        return 1;
    }
    printf("The time line of %d of %d ranks is %s: open it in https://ui.perfetto.dev\n", n, size,
           file);
    return 0;
}
