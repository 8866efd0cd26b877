// SPDX-License-Identifier: BSD-3-Clause
/*
 * side_by_side: two to eight jobs of one benchmark, measured in turns of a few milliseconds.
 *
 *     side_by_side [options] -- COMMAND-A... -- COMMAND-B... [-- COMMAND-C...]...
 *
 * All jobs exist all the time, but only one runs at a time. For each size they take turns, in
 * rounds of one slice each ("pairs", with two jobs); every second round has the reverse order. A
 * machine that changes its speed within seconds, as a virtual one does, changes it for all slices
 * of a round, so the ratios stay valid. Prints the medians of the jobs' figures and, for each job
 * but the last, the median and the quartiles of the rounds' ratios of the last job's figure to its
 * own.
 *
 * A round in which another process took a core from a rank is measured again, for some seconds at
 * most. If undisturbed rounds stay rare, all rounds count; the last column has the number of
 * disturbed rounds among those that count.
 *
 * Works with every benchmark here, raw or MPI, on the same number of ranks, and with any launcher:
 * "--turns PREFIX" is appended to the command lines (turns.h).
 *
 * Invariant: standard output has rows, and lines that begin with '#'; a row represents all its
 * rounds.
 */
#include "figures.h"
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
    int jobs;
    char **commands[JOBS_MAX];
    const char *names[JOBS_MAX];
};

/* The figures of one slice of each job, one after the other. */
struct round {
    double figures[JOBS_MAX];
    bool disturbed;
};

static void usage(FILE *f)
{
    fprintf(f,
            "usage: side_by_side [options] -- COMMAND-A... -- COMMAND-B... [-- COMMAND-C]...\n"
            "  -m, --sizes N[,N]...  message sizes in bytes (8)\n"
            "  -n, --pairs N         rounds for each size, in each one slice of every job (200)\n"
            "  -s, --slice MS        time of a slice in milliseconds, if one iteration is not\n"
            "                        longer (2)\n"
            "  -r, --ranks N         ranks of each job (2)\n"
            "  -N, --names A,B[,...] how the table calls the jobs (A,B,...)\n"
            "  -t, --timeout S       seconds in which a job has to answer (60)\n"
            "  -h, --help            this text\n"
            "Each command is a benchmark of this directory, with launcher and options. Ratios\n"
            "are of the last one's figure to each other's.\n");
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
    int n = 0;
    for (char *one = strtok(text, ","); one; one = strtok(NULL, ",")) {
        if (n == JOBS_MAX)
            wrong("-N takes at most eight names");
        p->names[n++] = one;
    }
    if (n < 2)
        wrong("-N takes a name for each job, parted by commas");
}

/* Cuts what follows the options into commands, parted by "--". */
static void parse_commands(struct plan *p, int argc, char **argv)
{
    p->jobs = 0;
    for (int at = optind; at <= argc; at++) {
        if (p->jobs == JOBS_MAX)
            wrong("at most eight commands can take turns");
        p->commands[p->jobs++] = argv + at;
        if (at == argc || strcmp(argv[at], "--") == 0)
            wrong("two or more commands are needed, parted by \"--\"");
        while (at < argc && strcmp(argv[at], "--") != 0)
            at++;
        if (at == argc)
            break;
        argv[at] = NULL;
    }
    if (p->jobs < 2)
        wrong("two or more commands are needed, parted by \"--\"");
}

static void parse(struct plan *p, int argc, char **argv)
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
    parse_commands(p, argc, argv);
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

/* Adjacent slices of all jobs. backwards: the last job first. */
static struct round measure_round(const struct plan *p, size_t size, const int *timed,
                                  bool backwards)
{
    struct round round = {.disturbed = false};
    for (int turn = 0; turn < p->jobs; turn++) {
        int job = backwards ? p->jobs - 1 - turn : turn;
        /* Caches and branch predictors belonged to another job: the warm-up makes them ours. */
        struct bench_order order = {BENCH_ORDER_RUN, timed[job], timed[job] / 5 + 1, size};
        struct bench_reply reply = jobs_run(job, &order);
        round.figures[job] = reply.figure;
        round.disturbed = round.disturbed || reply.disturbed;
    }
    return round;
}

/* Measures the rounds of a size into rounds, which has room for all that may be. Returns how many
 * count; they come first. */
static int collect(const struct plan *p, size_t size, const int *timed, struct round *rounds)
{
    int all = 0, clean = 0;
    double end = bench_seconds() + REPEAT_SECONDS;
    while (all < p->pairs ||
           (clean < p->pairs && all < REPEATS * p->pairs && bench_seconds() < end)) {
        struct round round = measure_round(p, size, timed, all % 2);
        rounds[all++] = round;
        if (round.disturbed)
            continue;
        rounds[all - 1] = rounds[clean];
        rounds[clean++] = round;
    }
    return clean * ENOUGH >= p->pairs ? clean : all;
}

/* The value below which the given part of the list lies. Sorts it. */
static double quantile(double *list, int n, double part)
{
    qsort(list, (size_t)n, sizeof *list, bench_by_value);
    double at = part * (n - 1);
    int i = (int)at;
    return i + 1 < n ? list[i] + (at - i) * (list[i + 1] - list[i]) : list[i];
}

static double median_of(const struct round *rounds, int n, int job, double *list)
{
    for (int i = 0; i < n; i++)
        list[i] = rounds[i].figures[job];
    return quantile(list, n, 0.5);
}

static void print_head(const struct plan *p)
{
    printf("# %-8s", "Size");
    for (int job = 0; job < p->jobs; job++)
        printf(" %12s", p->names[job]);
    for (int job = 0; job < p->jobs - 1; job++)
        printf(" %9s %9s %9s", "ratio", "quarter", "3rd");
    printf(" %7s %9s\n", "pairs", "disturbed");
    fflush(stdout);
}

static void print_row(const struct plan *p, size_t size, const struct round *rounds, int n,
                      double *list)
{
    int disturbed = 0, last = p->jobs - 1;
    printf("%-10zu", size);
    for (int job = 0; job < p->jobs; job++)
        printf(" %12.4f", median_of(rounds, n, job, list));
    for (int job = 0; job < last; job++) {
        for (int i = 0; i < n; i++)
            list[i] = rounds[i].figures[last] / rounds[i].figures[job];
        printf(" %9.3f %9.3f %9.3f", quantile(list, n, 0.5), quantile(list, n, 0.25),
               quantile(list, n, 0.75));
    }
    for (int i = 0; i < n; i++)
        disturbed += rounds[i].disturbed;
    printf(" %7d %9d\n", n, disturbed);
    fflush(stdout);
}

static void measure_all(const struct plan *p)
{
    size_t room = (size_t)p->pairs * REPEATS;
    struct round *rounds = calloc(room, sizeof *rounds);
    double *list = calloc(room, sizeof *list);
    if (!rounds || !list)
        jobs_fail("no memory for the figures of %d rounds; lower -n", p->pairs);
    print_head(p);
    for (int i = 0; i < p->size_count; i++) {
        int timed[JOBS_MAX];
        for (int job = 0; job < p->jobs; job++)
            timed[job] = iterations_for(job, p->sizes[i], p->slice);
        int n = collect(p, p->sizes[i], timed, rounds);
        print_row(p, p->sizes[i], rounds, n, list);
    }
    free(rounds);
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
        .names = {"A", "B", "C", "D", "E", "F", "G", "H"},
    };
    parse(&p, argc, argv);
    jobs_open(p.jobs, p.ranks, p.limit);
    for (int job = 0; job < p.jobs; job++)
        jobs_start(job, p.commands[job]);
    jobs_await_all();
    measure_all(&p);
    jobs_close();
    return 0;
}
