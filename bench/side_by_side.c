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
 * A pair in which another process took a core from a rank is measured again, for some seconds at
 * most. Where undisturbed pairs stay rare all pairs count; the last column says how many of those
 * that count were disturbed.
 *
 * Works with every benchmark here that is started on the same number of ranks, raw or MPI, and with
 * any launcher: the command lines are given, and only "--turns PREFIX" is appended (turns.h).
 *
 * Invariant: standard output has rows and lines that begin with '#'; a row stands for all its pairs.
 */
#include "jobs.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SIZES = 64, MAX_PAIRS = 100000 };

enum {
    REPEAT_SECONDS = 8, /* how long a size may take when its pairs are disturbed */
    REPEATS = 4,        /* how many times as many pairs as wanted it may then measure */
    ENOUGH = 3,         /* a third of the pairs wanted is enough to do without disturbed ones */
};

struct plan {
    size_t sizes[MAX_SIZES];
    int size_count;
    int pairs, ranks, limit;
    double slice; /* seconds */
    const char *names[JOBS];
};

/* The figures of one slice of each job, one after the other. */
struct pair {
    double figures[JOBS];
    bool disturbed;
};

static void usage(FILE *f)
{
    fprintf(f, "usage: side_by_side [options] -- COMMAND-A... -- COMMAND-B...\n"
               "  -m, --sizes N[,N]...  message sizes in bytes (8)\n"
               "  -n, --pairs N         pairs of slices, A and B, for each size (200)\n"
               "  -s, --slice MS        time of a slice in milliseconds, if one iteration is not\n"
               "                        longer (2)\n"
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

/* Reads the options and cuts argv into the two commands. */
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

/* Two adjacent slices. */
static struct pair measure_pair(size_t size, const int timed[JOBS], int first)
{
    struct pair pair = {{0, 0}, false};
    for (int turn = 0; turn < JOBS; turn++) {
        int job = turn ? 1 - first : first;
        /* Caches and branch predictors belonged to the other job: the warm-up makes them ours. */
        struct bench_order order = {BENCH_ORDER_RUN, timed[job], timed[job] / 5 + 1, size};
        struct bench_reply reply = jobs_run(job, &order);
        pair.figures[job] = reply.figure;
        pair.disturbed = pair.disturbed || reply.disturbed;
    }
    return pair;
}

/* Measures the pairs of a size into pairs, which has room for all that may be. Returns how many
 * count; they come first. */
static int collect(const struct plan *p, size_t size, const int timed[JOBS], struct pair *pairs)
{
    int all = 0, clean = 0;
    double end = jobs_now() + REPEAT_SECONDS;
    while (all < p->pairs || (clean < p->pairs && all < REPEATS * p->pairs && jobs_now() < end)) {
        struct pair pair = measure_pair(size, timed, all % JOBS);
        pairs[all++] = pair;
        if (pair.disturbed)
            continue;
        pairs[all - 1] = pairs[clean];
        pairs[clean++] = pair;
    }
    return clean * ENOUGH >= p->pairs ? clean : all;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value below which the given part of the list lies. Sorts it. */
static double quantile(double *list, int n, double part)
{
    qsort(list, (size_t)n, sizeof *list, by_value);
    double at = part * (n - 1);
    int i = (int)at;
    return i + 1 < n ? list[i] + (at - i) * (list[i + 1] - list[i]) : list[i];
}

static void print_row(size_t size, struct pair *pairs, int n, double *list)
{
    int disturbed = 0;
    printf("%-10zu", size);
    for (int job = 0; job < JOBS; job++) {
        for (int i = 0; i < n; i++)
            list[i] = pairs[i].figures[job];
        printf(" %12.2f", quantile(list, n, 0.5));
    }
    for (int i = 0; i < n; i++) {
        list[i] = pairs[i].figures[1] / pairs[i].figures[0];
        disturbed += pairs[i].disturbed;
    }
    printf(" %9.3f %9.3f %9.3f %7d %9d\n", quantile(list, n, 0.5), quantile(list, n, 0.25),
           quantile(list, n, 0.75), n, disturbed);
    fflush(stdout);
}

static void measure_all(const struct plan *p)
{
    size_t room = (size_t)p->pairs * REPEATS;
    struct pair *pairs = calloc(room, sizeof *pairs);
    double *list = calloc(room, sizeof *list);
    if (!pairs || !list)
        jobs_fail("no memory for the figures of %d pairs; lower -n", p->pairs);
    printf("# %-8s %12s %12s %9s %9s %9s %7s %9s\n", "Size", p->names[0], p->names[1], "ratio",
           "quarter", "3rd", "pairs", "disturbed");
    fflush(stdout);
    for (int i = 0; i < p->size_count; i++) {
        int timed[JOBS];
        for (int job = 0; job < JOBS; job++)
            timed[job] = iterations_for(job, p->sizes[i], p->slice);
        int n = collect(p, p->sizes[i], timed, pairs);
        print_row(p->sizes[i], pairs, n, list);
    }
    free(pairs);
    free(list);
}

int main(int argc, char **argv)
{
    struct plan p = {
        .sizes = {8},
        .size_count = 1,
        .pairs = 200,
        .ranks = 2,
        .limit = 60,
        .slice = 2e-3,
        .names = {"A", "B"},
    };
    char **commands[JOBS];
    parse(&p, argc, argv, commands);
    jobs_open(p.ranks, p.limit);
    for (int job = 0; job < JOBS; job++)
        jobs_start(job, commands[job]);
    jobs_await_all();
    measure_all(&p);
    jobs_close();
    return 0;
}
