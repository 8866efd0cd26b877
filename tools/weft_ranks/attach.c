// SPDX-License-Identifier: BSD-3-Clause
/*
 * weft-report --attach PID, weftrun --top: what the ranks of a running job do. PID is a rank, or a
 * process above ranks of this host, such as weftrun.
 *
 * The ranks of a job under weftrun --profile or --trace have their counters in memory that is one
 * of their descriptors. It is mapped and read twice; the differences are rates. The ranks do
 * nothing for it.
 *
 * Invariant: the memory may change and be damaged; no number of it is used as an index untested.
 */
#include "rank_memory.h"
#include "ranks.h"
#include "core/base/clock.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

enum {
    ROWS = 40,      /* ranks that have a row */
    CALLS_SHOWN = 3 /* functions with the most time */
};

/* Waiting shorter than this is not reported: seconds. */
static const double noticeable = 0.01;

struct counts {
    uint64_t calls, messages, bytes, ticks;
};

struct rank {
    const struct profile_shared *memory;
    struct counts before, now;
};

struct job {
    int n, space;
    struct rank *ranks;
    uint64_t functions[2][WEFT_CALLS]; /* ticks of all ranks, before and now */
};

static void *grow(void *list, size_t n, size_t each)
{
    void *grown = realloc(list, n * each);
    if (!grown) {
        fprintf(stderr, "weft-report: no memory for %zu ranks.\n", n);
        exit(1);
    }
    return grown;
}

/* ---- Ranks below a process */

static void add_rank(struct job *job, const struct profile_shared *memory)
{
    for (int i = 0; i < job->n; i++)
        if (job->ranks[i].memory->job == memory->job &&
            job->ranks[i].memory->rank == memory->rank) {
            rank_memory_unmap(memory);
            return;
        }
    if (job->n == job->space) {
        job->space = job->space * 2 + 16;
        job->ranks = grow(job->ranks, (size_t)job->space, sizeof *job->ranks);
    }
    job->ranks[job->n++] = (struct rank){.memory = memory};
}

/* The name of a file that may be the memory of a rank. */
static bool is_memory(const char *target)
{
    const char *dot = strrchr(target, '.');
    return strncmp(target, "/memfd:weft-rank", 16) == 0 || (dot && strncmp(dot, ".rank", 5) == 0);
}

/* Adds the rank that a process is, if it is one. */
static void add_process(struct job *job, long pid)
{
    char folder[64], name[384], target[4096];
    const char *why;
    snprintf(folder, sizeof folder, "/proc/%ld/fd", pid);
    DIR *descriptors = opendir(folder);
    if (!descriptors)
        return;
    for (const struct dirent *entry; (entry = readdir(descriptors));) {
        snprintf(name, sizeof name, "%s/%s", folder, entry->d_name);
        ssize_t n = readlink(name, target, sizeof target - 1);
        target[n < 0 ? 0 : n] = '\0';
        if (!is_memory(target))
            continue;
        const struct profile_shared *memory = rank_memory_map(name, &why);
        if (memory)
            add_rank(job, memory);
    }
    closedir(descriptors);
}

static long parent_of(long pid)
{
    char name[64], text[512];
    long parent = 0;
    snprintf(name, sizeof name, "/proc/%ld/stat", pid);
    FILE *file = fopen(name, "re");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[n] = '\0';
    const char *behind = strrchr(text, ')'); /* a program's name may have any character */
    return behind && sscanf(behind, ") %*c %ld", &parent) == 1 ? parent : 0;
}

static bool is_below(long pid, long top)
{
    enum { DEPTH = 64 };
    for (int i = 0; i < DEPTH && pid > 1; i++, pid = parent_of(pid))
        if (pid == top)
            return true;
    return false;
}

static int by_rank(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;
    return (x->memory->rank > y->memory->rank) - (x->memory->rank < y->memory->rank);
}

static void find_ranks(struct job *job, long top)
{
    DIR *processes = opendir("/proc");
    if (!processes)
        return;
    for (const struct dirent *entry; (entry = readdir(processes));) {
        long pid = strtol(entry->d_name, NULL, 10);
        if (pid > 0 && is_below(pid, top))
            add_process(job, pid);
    }
    closedir(processes);
    if (job->n)
        qsort(job->ranks, (size_t)job->n, sizeof *job->ranks, by_rank);
}

/* ---- Counters */

static uint64_t read_ticks(const struct profile_shared *memory)
{
#ifdef __x86_64__
    if (memory->clock.timestamp_counter)
        return __rdtsc();
#endif
    (void)memory;
    return weft_nanoseconds();
}

/* The time of the call that runs; 0: the thread is outside of MPI. */
static uint64_t running_ticks(const struct profile_shared *memory, const struct profile_now *now)
{
    uint64_t since = now->since, ticks = read_ticks(memory);
    return since && now->function >= 0 && ticks > since ? ticks - since : 0;
}

static void add_thread(struct job *job, struct counts *counts, const struct profile_shared *memory,
                       const struct profile_thread *thread)
{
    uint64_t running = running_ticks(memory, &thread->now);
    uint32_t function = (uint32_t)thread->now.function;
    counts->ticks += running;
    if (function < WEFT_CALLS)
        job->functions[1][function] += running;
    for (int i = 0; i < profile_slots_of(thread) && thread->n; i++) {
        const struct profile_slot *slot = &thread->slots[i];
        if (!slot->calls)
            continue;
        counts->calls += slot->calls;
        counts->ticks += slot->ticks;
        if (slot->function < WEFT_CALLS)
            job->functions[1][slot->function] += slot->ticks;
    }
    for (int i = 0; i < PROFILE_SIZES; i++) {
        counts->messages += thread->sizes[0][i].n;
        counts->bytes += thread->sizes[0][i].bytes + thread->sizes[1][i].bytes;
    }
}

static void read_counters(struct job *job)
{
    memcpy(job->functions[0], job->functions[1], sizeof job->functions[0]);
    memset(job->functions[1], 0, sizeof job->functions[1]);
    for (int i = 0; i < job->n; i++) {
        struct rank *rank = &job->ranks[i];
        rank->before = rank->now;
        rank->now = (struct counts){0};
        for (int k = 0; k < profile_threads_of(rank->memory); k++)
            add_thread(job, &rank->now, rank->memory, &rank->memory->threads[k]);
    }
}

/* ---- What a rank does */

/* The thread that has been in a call for longest; NULL: all are outside of MPI. */
static const struct profile_now *longest(const struct profile_shared *memory)
{
    const struct profile_now *found = NULL;
    for (int i = 0; i < PROFILE_THREADS; i++) {
        const struct profile_now *now = &memory->threads[i].now;
        if (running_ticks(memory, now) && (!found || now->since < found->since))
            found = now;
    }
    return found;
}

static double seconds_in(const struct profile_shared *memory, const struct profile_now *now)
{
    return (double)running_ticks(memory, now) * memory->clock.seconds_a_tick;
}

static const char *name_of(const struct profile_now *now)
{
    uint32_t function = now ? (uint32_t)now->function : WEFT_CALLS;
    return function < WEFT_CALLS ? weft_functions[function].name : "outside of MPI";
}

static const char *text_of_rate(double value, char *text, size_t size)
{
    static const char *const units[] = {"", " k", " M", " G"};
    int unit = 0;
    for (; value >= 9999.5 && unit < 3; value /= 1000)
        unit++;
    snprintf(text, size, "%.0f%s", value, units[unit]);
    return text;
}

static const char *text_of_peers(const struct profile_now *now, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; now && i < now->n && i < PROFILE_PEERS && used < size; i++)
        used +=
            (size_t)(now->peers[i] < 0 ? snprintf(text + used, size - used, "%sany", i ? ", " : "")
                                       : snprintf(text + used, size - used, "%s%d", i ? ", " : "",
                                                  now->peers[i]));
    return text;
}

static void print_row(const struct rank *rank, double interval)
{
    char calls[32], messages[32], bytes[32], peers[64], since[32] = "";
    const struct profile_shared *memory = rank->memory;
    const struct profile_now *now = longest(memory);
    double in_mpi = (double)(int64_t)(rank->now.ticks - rank->before.ticks) *
                    memory->clock.seconds_a_tick / interval * 100;
    if (now && seconds_in(memory, now) >= noticeable)
        snprintf(since, sizeof since, "%.2f s", seconds_in(memory, now));
    printf("%5d %7.0f %% %8s %8s %8s  %-26s %8s  %s\n", memory->rank, in_mpi < 0 ? 0 : in_mpi,
           text_of_rate((double)(rank->now.calls - rank->before.calls) / interval, calls,
                        sizeof calls),
           text_of_rate((double)(rank->now.messages - rank->before.messages) / interval, messages,
                        sizeof messages),
           text_of_rate((double)(rank->now.bytes - rank->before.bytes) / interval, bytes,
                        sizeof bytes),
           name_of(now), since, text_of_peers(now, peers, sizeof peers));
}

/* ---- Who waits for whom */

static bool waits_for(const struct rank *rank, int peer)
{
    const struct profile_now *now = longest(rank->memory);
    if (!now || seconds_in(rank->memory, now) < noticeable)
        return false;
    for (int i = 0; i < now->n && i < PROFILE_PEERS; i++)
        if (now->peers[i] == peer)
            return true;
    return false;
}

/* Ranks that others wait for in messages, and what they do. */
static void print_delays(const struct job *job)
{
    for (int i = 0; i < job->n; i++) {
        const struct profile_shared *late = job->ranks[i].memory;
        int n = 0, first = -1;
        for (int k = 0; k < job->n; k++)
            if (k != i && waits_for(&job->ranks[k], late->rank)) {
                first = n++ ? first : job->ranks[k].memory->rank;
            }
        if (n == 1)
            printf("rank %d waits for rank %d, which is ", first, late->rank);
        else if (n)
            printf("rank %d and %d more wait for rank %d, which is ", first, n - 1, late->rank);
        const struct profile_now *now = longest(late);
        if (n)
            printf("%s%s\n", now ? "in " : "", name_of(now));
    }
}

/* The collective that most ranks are in for long, and those that are elsewhere. */
static void print_collective(const struct job *job)
{
    int functions[WEFT_CALLS] = {0}, most = 0, shown = 0;
    for (int i = 0; i < job->n; i++) {
        const struct profile_now *now = longest(job->ranks[i].memory);
        uint32_t function = now ? (uint32_t)now->function : WEFT_CALLS;
        if (function < WEFT_CALLS && weft_functions[function].does & WEFT_DOES_COLLECTIVE &&
            seconds_in(job->ranks[i].memory, now) >= noticeable &&
            ++functions[function] > functions[most])
            most = (int)function;
    }
    int missing = job->n - functions[most];
    if (!functions[most] || !missing)
        return;
    printf("%d rank%s in %s, and not rank", functions[most], functions[most] == 1 ? " is" : "s are",
           weft_functions[most].name);
    for (int i = 0; i < job->n && shown < 8; i++) {
        const struct profile_now *now = longest(job->ranks[i].memory);
        if (!now || now->function != most)
            printf("%s %d (%s)", shown++ ? "," : "", job->ranks[i].memory->rank, name_of(now));
    }
    printf(missing > shown ? " and %d more\n" : "\n", missing - shown);
}

static void print_functions(const struct job *job)
{
    int64_t all = 0, below = INT64_MAX;
    for (int i = 0; i < WEFT_CALLS; i++) {
        int64_t ticks = (int64_t)(job->functions[1][i] - job->functions[0][i]);
        all += ticks > 0 ? ticks : 0;
    }
    for (int shown = 0; shown < CALLS_SHOWN && all > 0; shown++) {
        int64_t most = 0;
        int of = 0;
        for (int i = 0; i < WEFT_CALLS; i++) {
            int64_t ticks = (int64_t)(job->functions[1][i] - job->functions[0][i]);
            if (ticks > most && ticks < below) {
                most = ticks;
                of = i;
            }
        }
        if (!most)
            break;
        printf("%s%s %.0f %%", shown ? ", " : "time in MPI: ", weft_functions[of].name,
               (double)most / (double)all * 100);
        below = most;
    }
    printf(all > 0 ? "\n" : "");
}

static void print_job(const struct job *job, double interval)
{
    const struct profile_shared *first = job->ranks[0].memory;
    double age = (double)(read_ticks(first) - first->clock.begin) * first->clock.seconds_a_tick;
    printf("%d of %d ranks of %s on %s, %.1f s since MPI_Init; rates of the last %.1f s\n", job->n,
           first->size, first->program, first->host, age, interval);
    printf(" rank    in MPI  calls/s   msgs/s  bytes/s  %-26s %8s  %s\n", "now", "since",
           "waits for");
    for (int i = 0; i < job->n && i < ROWS; i++)
        print_row(&job->ranks[i], interval);
    if (job->n > ROWS)
        printf("  and %d more ranks\n", job->n - ROWS);
    print_functions(job);
    print_delays(job);
    print_collective(job);
}

static void forget_ranks(struct job *job)
{
    for (int i = 0; i < job->n; i++)
        rank_memory_unmap(job->ranks[i].memory);
    job->n = 0;
}

static bool is_alive(long pid)
{
    return kill((pid_t)pid, 0) == 0 || errno == EPERM;
}

int ranks_attach(long pid, int tables, bool waits)
{
    struct job job = {0};
    bool clears = isatty(STDOUT_FILENO) && tables != 1;
    int shown = 0;
    while (is_alive(pid) && (tables <= 0 || shown < tables)) {
        if (!job.n)
            find_ranks(&job, pid);
        if (!job.n && !waits)
            break;
        read_counters(&job);
        double before = weft_seconds();
        sleep(1);
        if (!job.n || !is_alive(pid))
            continue;
        read_counters(&job);
        if (clears)
            printf("\033[H\033[J");
        print_job(&job, weft_seconds() - before);
        fflush(stdout);
        shown++;
        if (!is_alive(job.ranks[0].memory->pid))
            forget_ranks(&job);
    }
    if (shown || waits)
        return 0;
    if (is_alive(pid))
        fprintf(stderr,
                "weft-report: process %ld is no rank of a job under weftrun --profile or --trace "
                "that you may look into, and none is below it on this host.\n",
                pid);
    else
        fprintf(stderr, "weft-report: there is no process %ld on this host.\n", pid);
    return 2;
}
