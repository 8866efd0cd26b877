// SPDX-License-Identifier: BSD-3-Clause
/*
 * Races of messages: see races.h.
 */
#include "tools/check/races.h"

#include <stdlib.h>
#include <string.h>

enum { REPORTS_MAX = 16, NONE = -1 };

static const size_t clocks_max = (size_t)32 << 20; /* numbers: 128 MiB */

static struct {
    const struct check_log *logs;
    bool in_deadlock;
    int *next;             /* of each rank: the first entry that has not been passed */
    size_t *first;         /* of each rank: the index of its first entry among all */
    int *now;              /* the clocks of the ranks */
    int *clocks;           /* of each entry that is a start, or enters a collective call */
    uint64_t comm, number; /* of the last collective call that waits for all, */
    int *joined;           /* and the clock behind it */
} job;

static int *clock_of(int rank, int at)
{
    return job.clocks + (job.first[rank] + (size_t)at) * (size_t)check.size;
}

static int *now_of(int rank)
{
    return job.now + (size_t)rank * (size_t)check.size;
}

static void merge(int *now, const int *clock)
{
    for (int i = 0; i < check.size; i++)
        now[i] = clock[i] > now[i] ? clock[i] : now[i];
}

/* Waits for an entry of another rank; false: that has not been passed. */
static bool await(int rank, int other, int at)
{
    if (at == NONE)
        return true;
    if (job.next[other] <= at)
        return false;
    merge(now_of(rank), clock_of(other, at));
    return true;
}

/* The same for all ranks. The clocks are joined once, not by each rank. */
static bool await_all(int rank, const struct check_log_entry *entry)
{
    if (job.comm != entry->comm || job.number != entry->number) {
        for (int i = 0; i < check.size; i++)
            if (job.next[i] <= check_log_find(i, CHECK_LOG_ENTER, entry->comm, entry->number))
                return false;
        memset(job.joined, 0, (size_t)check.size * sizeof *job.joined);
        for (int i = 0; i < check.size; i++) {
            const int at = check_log_find(i, CHECK_LOG_ENTER, entry->comm, entry->number);
            if (at != NONE)
                merge(job.joined, clock_of(i, at));
        }
        job.comm = entry->comm;
        job.number = entry->number;
    }
    merge(now_of(rank), job.joined);
    return true;
}

/* False: the next entry of a rank waits. */
static bool may_pass(int rank)
{
    const struct check_log *log = &job.logs[rank];
    const struct check_log_entry *entry = &log->entries[job.next[rank]], *post;
    switch (entry->kind) {
    case CHECK_LOG_AWAIT_START:
        post = &log->entries[entry->number];
        return post->from < 0 ||
               await(rank, post->from,
                     check_log_find(post->from, CHECK_LOG_START, (uint64_t)rank, post->number));
    case CHECK_LOG_AWAIT_ALL:
        return await_all(rank, entry);
    case CHECK_LOG_AWAIT_ROOT:
        return await(rank, entry->peer,
                     check_log_find(entry->peer, CHECK_LOG_ENTER, entry->comm, entry->number));
    default:
        return true;
    }
}

static void execute(void)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (int i = 0; i < check.size; i++) {
            while (job.next[i] < job.logs[i].n && may_pass(i)) {
                const int at = job.next[i]++;
                now_of(i)[i] = at + 1;
                memcpy(clock_of(i, at), now_of(i), (size_t)check.size * sizeof(int));
                moved = true;
            }
        }
    }
}

/* The entry at which a receive is complete; NONE: by a test, or not in the log. */
static int end_of(int rank, int post)
{
    const struct check_log *log = &job.logs[rank];
    for (int i = post + 1; i < job.next[rank]; i++)
        if (log->entries[i].kind == CHECK_LOG_AWAIT_START &&
            log->entries[i].number == (uint64_t)post)
            return i;
    return NONE;
}

/* The start of the message of a post; NULL: it is not in the logs. */
static const struct check_log_entry *start_of(int rank, const struct check_log_entry *post, int *at)
{
    *at = post->from < 0
              ? NONE
              : check_log_find(post->from, CHECK_LOG_START, (uint64_t)rank, post->number);
    return *at == NONE || *at >= job.next[post->from] ? NULL : &job.logs[post->from].entries[*at];
}

static void report(int rank, const struct check_log_entry *post,
                   const struct check_log_entry *taken, const struct check_log_entry *other,
                   int other_rank)
{
    char first[384], second[384];
    const struct check_location here = check_log_location(post), from = check_log_location(taken),
                                or_from = check_log_location(other);
    check_location_print(&from, first, sizeof first);
    check_location_print(&or_from, second, sizeof second);
    check_report_of(
        rank, CHECK_MESSAGE_RACE, &here, false,
        "it has received the message of rank %d, in %s, and may receive that of rank %d, "
        "in %s",
        post->from, first, other_rank, second);
}

static bool is_received(int rank, int from, uint64_t number)
{
    const struct check_log *log = &job.logs[rank];
    for (int i = 0; i < log->n; i++)
        if (log->entries[i].kind == CHECK_LOG_POST && log->entries[i].from == from &&
            log->entries[i].number == number)
            return true;
    return false;
}

/* A message to a rank that no receive has taken, and that the receive, which is complete at the
 * entry `end`, could have taken; NULL: there is none. */
static const struct check_log_entry *find_waiting(int rank, const struct check_log_entry *post,
                                                  int end, int *from)
{
    for (int i = 0; i < check.size; i++) {
        const struct check_log *log = &job.logs[i];
        for (int k = 0; k < job.next[i] && i != post->from; k++) {
            const struct check_log_entry *start = &log->entries[k];
            if (start->kind != CHECK_LOG_START || start->peer != rank ||
                start->comm != post->comm || (post->tag >= 0 && start->tag != post->tag) ||
                clock_of(i, k)[rank] > end || is_received(rank, i, start->number))
                continue;
            *from = i;
            return start;
        }
    }
    return NULL;
}

/* True: a race of a wildcard receive has been reported. */
static bool find_race(int rank, int at)
{
    const struct check_log *log = &job.logs[rank];
    const struct check_log_entry *post = &log->entries[at];
    int start;
    const struct check_log_entry *taken = start_of(rank, post, &start);
    const int end = taken ? end_of(rank, at) : NONE;
    for (int i = at + 1; end != NONE && i < log->n; i++) {
        const struct check_log_entry *later = &log->entries[i];
        if (later->kind != CHECK_LOG_POST || later->from == post->from || later->comm != post->comm)
            continue;
        const struct check_log_entry *other = start_of(rank, later, &start);
        if (!other || (post->tag >= 0 && other->tag != post->tag) ||
            clock_of(later->from, start)[rank] > end)
            continue;
        report(rank, post, taken, other, later->from);
        return true;
    }
    int from;
    const struct check_log_entry *waiting =
        end != NONE && job.in_deadlock ? find_waiting(rank, post, end, &from) : NULL;
    if (waiting)
        report(rank, post, taken, waiting, from);
    return waiting != NULL;
}

static void find_races(void)
{
    struct weft_portable_site reported[REPORTS_MAX];
    int n = 0;
    for (int i = 0; i < check.size; i++) {
        for (int k = 0; k < job.next[i] && n < REPORTS_MAX; k++) {
            const struct check_log_entry *entry = &job.logs[i].entries[k];
            if (entry->kind == CHECK_LOG_POST && entry->peer < 0 &&
                !check_log_is_among(entry, reported, n) && find_race(i, k))
                reported[n++] = entry->site;
        }
    }
}

void check_races_find(const struct check_log *logs, bool in_deadlock)
{
    const size_t size = (size_t)check.size;
    size_t all = 0;
    job.logs = logs;
    job.in_deadlock = in_deadlock;
    job.first = weft_interpose_allocate(size, sizeof *job.first);
    for (int i = 0; i < check.size; i++) {
        job.first[i] = all;
        weft_assert(logs[i].n >= 0 && (!logs[i].n || logs[i].entries));
        all += (size_t)logs[i].n;
    }
    if (all > clocks_max / size) {
        check.races_left_out = all * size * sizeof *job.clocks;
    } else {
        job.next = weft_interpose_allocate(size, sizeof *job.next);
        job.now = weft_interpose_allocate(size * size, sizeof *job.now);
        job.clocks = weft_interpose_allocate(all * size, sizeof *job.clocks);
        job.joined = weft_interpose_allocate(size, sizeof *job.joined);
        job.comm = 0;
        execute();
        find_races();
        free(job.next);
        free(job.now);
        free(job.clocks);
        free(job.joined);
    }
    free(job.first);
}
