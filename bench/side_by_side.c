// SPDX-License-Identifier: BSD-3-Clause
/*
 * side_by_side: two jobs of one benchmark, measured in turns of a few milliseconds.
 *
 *     side_by_side [options] -- COMMAND-A... -- COMMAND-B...
 *
 * Both jobs live all the time, but only one is ever awake. For each size they take turns, in pairs
 * of slices; every second pair has the other order. A machine that changes its pace within seconds,
 * as a virtual one does, changes it for both slices of a pair: their ratio does not see it. Printed
 * are the medians of both jobs' figures, the median of the pairs' ratios B/A, and its quartiles.
 *
 * Works with every benchmark here that is started on the same number of ranks, raw or MPI, and with
 * any launcher: the command lines are given, and only "--turns PREFIX" is appended (turns.h).
 *
 * Invariant: standard output has rows and lines that begin with '#'; a row stands for all pairs.
 */
#include "jobs.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SIZES = 64, MAX_PAIRS = 100000 };

struct plan {
    size_t sizes[MAX_SIZES];
    int size_count;
    int pairs, ranks, limit;
    double slice; /* seconds */
    const char *names[JOBS];
};

static void usage(FILE *f)
{
    fprintf(f, "usage: side_by_side [options] -- COMMAND-A... -- COMMAND-B...\n"
               "  -m, --sizes N[,N]...  message sizes in bytes (8)\n"
               "  -n, --pairs N         pairs of slices, A and B, for each size (200)\n"
               "  -s, --slice MS        time of a slice in milliseconds, if one iteration is not\n"
               "                        longer (4)\n"
               "  -r, --ranks N         ranks of each job (2)\n"
               "  -N, --names A,B       how the table calls the jobs (A,B)\n"
               "  -t, --timeout S       seconds in which a job has to answer (60)\n"
               "  -h, --help            this text\n"
               "A and B are a benchmark of this directory each, with launcher and options.\n");
}

_Noreturn static void wrong(const char *what)
{
    fprintf(stderr, "side_by_side: %s; see side_by_side -h\n", what);
    exit(2);
}

static int number(const char *text, int min, int max, const char *what)
{
    char *end;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (errno || end == text || *end || n < min || n > max)
        wrong(what);
    return (int)n;
}

static void parse_sizes(struct plan *p, char *text)
{
    p->size_count = 0;
    for (char *one = strtok(text, ","); one; one = strtok(NULL, ",")) {
        if (p->size_count == MAX_SIZES)
            wrong("-m takes at most 64 sizes");
        p->sizes[p->size_count++] =
            (size_t)number(one, 0, INT_MAX, "-m takes sizes in bytes, parted by commas");
    }
    if (p->size_count == 0)
        wrong("-m takes sizes in bytes, parted by commas");
}

static void parse_names(struct plan *p, char *text)
{
    p->names[0] = strtok(text, ",");
    p->names[1] = strtok(NULL, ",");
    if (!p->names[1] || strtok(NULL, ","))
        wrong("-N takes two names, parted by a comma");
}

/* Returns the index of the first command's first word in argv; cuts argv into the commands. */
static void parse(struct plan *p, int argc, char **argv, char **commands[JOBS])
{
    static const struct option options[] = {
        {"sizes", required_argument, NULL, 'm'}, {"pairs", required_argument, NULL, 'n'},
        {"slice", required_argument, NULL, 's'}, {"ranks", required_argument, NULL, 'r'},
        {"names", required_argument, NULL, 'N'}, {"timeout", required_argument, NULL, 't'},
        {"help", no_argument, NULL, 'h'},        {NULL, 0, NULL, 0},
    };
    for (int o; (o = getopt_long(argc, argv, "+m:n:s:r:N:t:h", options, NULL)) != -1;)
        switch (o) {
        case 'm':
            parse_sizes(p, optarg);
            break;
        case 'n':
            p->pairs = number(optarg, 1, MAX_PAIRS, "-n takes a number from 1 to 100000");
            break;
        case 's':
            p->slice = number(optarg, 1, 10000, "-s takes 1 to 10000 milliseconds") * 1e-3;
            break;
        case 'r':
            p->ranks = number(optarg, 1, JOBS_MAX_RANKS, "-r takes a number from 1 to 64");
            break;
        case 'N':
            parse_names(p, optarg);
            break;
        case 't':
            p->limit = number(optarg, 1, 3600, "-t takes 1 to 3600 seconds");
            break;
        case 'h':
            usage(stdout);
            exit(0);
        default:
            usage(stderr);
            exit(2);
        }
    int parting = optind;
    while (parting < argc && strcmp(argv[parting], "--") != 0)
        parting++;
    if (parting == optind || parting + 1 >= argc)
        wrong("two commands are needed, parted by \"--\"");
    argv[parting] = NULL;
    commands[0] = argv + optind;
    commands[1] = argv + parting + 1;
}

/* How many iterations of this job take about a slice. Its first batches are slow (buffers are
 * touched, connections made), so that it may take some to find out; none of them is counted. */
static int iterations_for(int job, size_t size, double slice)
{
    double timed = 1, seconds = 0;
    for (int i = 0; i < 20; i++) {
        struct bench_order order = {BENCH_ORDER_RUN, (int)timed, 1, size};
        seconds = jobs_run(job, &order).seconds;
        double fit = timed * slice / seconds;
        if (fit < 1)
            return 1;
        if (seconds > slice / 2)
            return (int)(fit + 0.5);
        timed = fit < timed * 8 ? fit : timed * 8;
        timed = timed < 1e8 ? timed : 1e8;
    }
    return (int)timed;
}

/* Caches and branch predictors belonged to the other job: a tenth of a slice makes them ours. */
static double slice(int job, size_t size, int timed)
{
    struct bench_order order = {BENCH_ORDER_RUN, timed, timed / 10 + 1, size};
    return jobs_run(job, &order).figure;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value below which the given part of the sorted list lies. */
static double quantile(const double *sorted, int n, double part)
{
    double at = part * (n - 1);
    int i = (int)at;
    return i + 1 < n ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]) : sorted[i];
}

static void measure(const struct plan *p, size_t size, double *lists)
{
    double *figures[JOBS] = {lists, lists + p->pairs}, *ratios = lists + 2 * (size_t)p->pairs;
    int timed[JOBS];
    for (int job = 0; job < JOBS; job++)
        timed[job] = iterations_for(job, size, p->slice);
    for (int i = 0; i < p->pairs; i++) {
        for (int turn = 0; turn < JOBS; turn++) {
            int job = (turn + i) % JOBS;
            figures[job][i] = slice(job, size, timed[job]);
        }
        ratios[i] = figures[1][i] / figures[0][i];
    }
    for (int list = 0; list < 3; list++)
        qsort(lists + (size_t)list * (size_t)p->pairs, (size_t)p->pairs, sizeof *lists, by_value);
    printf("%-10zu %12.2f %12.2f %9.3f %9.3f %9.3f %7d\n", size,
           quantile(figures[0], p->pairs, 0.5), quantile(figures[1], p->pairs, 0.5),
           quantile(ratios, p->pairs, 0.5), quantile(ratios, p->pairs, 0.25),
           quantile(ratios, p->pairs, 0.75), p->pairs);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct plan p = {
        .sizes = {8},
        .size_count = 1,
        .pairs = 200,
        .ranks = 2,
        .limit = 60,
        .slice = 4e-3,
        .names = {"A", "B"},
    };
    char **commands[JOBS];
    parse(&p, argc, argv, commands);
    jobs_open(p.ranks, p.limit);
    double *lists = calloc(3 * (size_t)p.pairs, sizeof *lists);
    if (!lists)
        jobs_fail("no memory for the figures of %d pairs; lower -n", p.pairs);
    for (int job = 0; job < JOBS; job++)
        jobs_start(job, commands[job]);
    jobs_await_all();
    printf("# %-8s %12s %12s %9s %9s %9s %7s\n", "Size", p.names[0], p.names[1], "ratio", "quarter",
           "3rd", "pairs");
    for (int i = 0; i < p.size_count; i++)
        measure(&p, p.sizes[i], lists);
    jobs_close();
    free(lists);
    return 0;
}
