// SPDX-License-Identifier: BSD-3-Clause
/*
 * The command line that all benchmarks share; see options.h.
 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 8192 }; /* above it fewer iterations do: each takes long enough to be timed well */

enum {
    OPT_CQ_DATA = 256,
    OPT_DIRECTED,
    OPT_TURNS,
    OPT_PER_MESSAGE,
    OPT_MULTIPLE,
    OPT_SHARE_CORES,
    OPT_ONE_COMM
};

static const struct option long_options[] = {
    {"message-size", required_argument, NULL, 'm'},
    {"iterations", required_argument, NULL, 'i'},
    {"warmup", required_argument, NULL, 'x'},
    {"window-size", required_argument, NULL, 'W'},
    {"pairs", required_argument, NULL, 'P'},
    {"provider", required_argument, NULL, 'R'},
    {"interface", required_argument, NULL, 'I'},
    {"validation", no_argument, NULL, 'c'},
    {"bind", no_argument, NULL, 'b'},
    {"cq-data", no_argument, NULL, OPT_CQ_DATA},
    {"directed", no_argument, NULL, OPT_DIRECTED},
    {"threads", required_argument, NULL, 't'},
    {"share-cores", no_argument, NULL, OPT_SHARE_CORES},
    {"one-comm", no_argument, NULL, OPT_ONE_COMM},
    {"thread-multiple", no_argument, NULL, OPT_MULTIPLE},
    {"per-message", no_argument, NULL, OPT_PER_MESSAGE},
    {"turns", required_argument, NULL, OPT_TURNS},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* A number of bytes with an optional suffix K, M or G, ended by a character of stop or the end of
 * the text; *end is left there. Returns false when there is none. */
static bool parse_size(const char *text, const char *stop, size_t *value, char **end)
{
    errno = 0;
    if (*text < '0' || *text > '9')
        return false;
    unsigned long long n = strtoull(text, end, 10);
    unsigned shift = 0;
    switch (**end) {
    case 'k':
    case 'K':
        shift = 10;
        break;
    case 'm':
    case 'M':
        shift = 20;
        break;
    case 'g':
    case 'G':
        shift = 30;
        break;
    default:
        break;
    }
    if (shift)
        ++*end;
    if (errno || n > (unsigned long long)INT_MAX >> shift)
        return false;
    *value = (size_t)n << shift;
    return **end == '\0' || strchr(stop, **end);
}

/* "MAX", "MIN:", "MIN:MAX" or ":MAX", as OSU writes them. */
static bool parse_range(const char *text, struct bench_options *o)
{
    char *end = (char *)text;
    if (*text != ':') {
        size_t first;
        if (!parse_size(text, ":", &first, &end))
            return false;
        if (*end == '\0') {
            o->max = first;
            if (o->min > o->max)
                o->min = o->max;
            return true;
        }
        o->min = first;
    }
    if (end[1] != '\0' && !parse_size(end + 1, "", &o->max, &end))
        return false;
    return o->min <= o->max;
}

static bool parse_count(const char *text, int min, int *value)
{
    char *end;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (errno || end == text || *end || n < min || n > INT_MAX)
        return false;
    *value = (int)n;
    return true;
}

static bool feature_of(int option, unsigned features)
{
    switch (option) {
    case 'W':
        return features & BENCH_WINDOW;
    case 'P':
    case OPT_PER_MESSAGE:
        return features & BENCH_PAIRS;
    case 't':
    case OPT_SHARE_CORES:
    case OPT_ONE_COMM:
        return features & BENCH_THREADS;
    case OPT_MULTIPLE:
        return !(features & BENCH_RAW);
    case 'R':
    case 'I':
    case 'b':
        return features & BENCH_RAW;
    case OPT_CQ_DATA:
    case OPT_DIRECTED:
        return features & BENCH_TAGGED;
    default:
        return true;
    }
}

/* Takes one option. Returns NULL, or what its value should have been. */
static const char *take(struct bench_options *o, int option, const char *value)
{
    switch (option) {
    case 'm':
        return parse_range(value, o) ? NULL : "MIN:MAX in bytes, MIN at most MAX, below 2G";
    case 'i':
        return parse_count(value, 1, &o->iterations) ? NULL : "a number of at least 1";
    case 'x':
        return parse_count(value, 0, &o->warmup) ? NULL : "a number of at least 0";
    case 'W':
        return parse_count(value, 1, &o->window) ? NULL : "a number of at least 1";
    case 'P':
        return parse_count(value, 1, &o->pairs) ? NULL : "a number of at least 1";
    case 'R':
        o->provider = value;
        return NULL;
    case 'I':
        o->interface = value;
        return NULL;
    case 'c':
        o->validate = true;
        return NULL;
    case 'b':
        o->bind = true;
        return NULL;
    case OPT_CQ_DATA:
        o->cq_data = true;
        return NULL;
    case 't':
        return parse_count(value, 1, &o->threads) ? NULL : "a number of at least 1";
    case OPT_SHARE_CORES:
        o->share_cores = true;
        return NULL;
    case OPT_ONE_COMM:
        o->one_comm = true;
        return NULL;
    case OPT_MULTIPLE:
        o->multiple = true;
        return NULL;
    case OPT_PER_MESSAGE:
        o->per_message = true;
        return NULL;
    case OPT_TURNS:
        o->turns = value;
        return NULL;
    default:
        o->directed = true;
        return NULL;
    }
}

static enum bench_outcome parse(struct bench_options *o, const struct bench_program *program,
                                int argc, char **argv, char *why, size_t len)
{
    int option, at = optind;
    for (; (option = getopt_long(argc, argv, ":m:i:x:W:p:I:t:cbh", long_options, NULL)) != -1;
         at = optind) {
        if (option == 'h')
            return BENCH_HELP;
        if (option == 'p')
            option = program->features & BENCH_RAW ? 'R' : 'P';
        if (option == ':') {
            snprintf(why, len, "%s: the option %s needs a value; see %s -h", program->name,
                     argv[at], program->name);
            return BENCH_WRONG;
        }
        if (option == '?' || !feature_of(option, program->features)) {
            snprintf(why, len, "%s: there is no option %s here; see %s -h", program->name, argv[at],
                     program->name);
            return BENCH_WRONG;
        }
        const char *wanted = take(o, option, optarg);
        if (wanted) {
            snprintf(why, len, "%s: the value of \"%s %s\" does not fit; it takes %s",
                     program->name, argv[at], optarg, wanted);
            return BENCH_WRONG;
        }
    }
    if (optind < argc) {
        snprintf(why, len, "%s: the argument \"%s\" is not understood; see %s -h", program->name,
                 argv[optind], program->name);
        return BENCH_WRONG;
    }
    return BENCH_RUN;
}

enum bench_outcome bench_options_parse(struct bench_options *o, const struct bench_program *program,
                                       int argc, char **argv, char *why, size_t len)
{
    *o = (struct bench_options){
        .min = program->kind == BENCH_LATENCY ? 0 : 1,
        .max = (size_t)4 << 20,
        .warmup = -1,
        .window = 64,
        .provider = "tcp;ofi_rxm",
        .interface = "lo",
        .threads = 1,
    };
    optind = 1;
    return parse(o, program, argc, argv, why, len);
}

void bench_options_usage(const struct bench_program *program)
{
    unsigned f = program->features;
    bool latency = program->kind == BENCH_LATENCY;
    printf("usage: %s [options]\n", program->name);
    printf("  -m, --message-size [MIN:]MAX  sizes in bytes, suffixes K, M, G (%d:4M)\n",
           latency ? 0 : 1);
    printf("  -i, --iterations N            timed iterations of every size (%s, above 8K %s)\n",
           latency ? "10000" : "100", latency ? "1000" : "20");
    printf("  -x, --warmup N                untimed iterations before them (%s, above 8K %s)\n",
           latency ? "100" : "10", latency ? "10" : "2");
    if (f & BENCH_WINDOW)
        printf("  -W, --window-size N           messages in flight (64)\n");
    if (f & BENCH_PAIRS) {
        printf("  -p, --pairs N                 pairs of ranks (half of all ranks)\n");
        printf(
            "      --per-message             with --turns: microseconds per message, not MB/s\n");
    }
    if (f & BENCH_THREADS) {
        printf("  -t, --threads N               threads of each rank that send or receive (1)\n");
        printf("      --share-cores             thread N of every rank on core N\n");
        printf(
            "      --one-comm                all threads on one communicator, with assertions\n");
    }
    if (!(f & BENCH_RAW))
        printf("      --thread-multiple         start MPI with MPI_THREAD_MULTIPLE\n");
    if (f & BENCH_RAW) {
        printf("  -p, --provider NAME           libfabric provider (tcp;ofi_rxm)\n");
        printf("  -I, --interface NAME          network interface or domain (lo)\n");
        printf("  -b, --bind                    each of the two processes on a core of its own\n");
    }
    if (f & BENCH_TAGGED) {
        printf("      --cq-data                 send with remote completion data\n");
        printf("      --directed                receive from the one peer, not from anyone\n");
    }
    printf("  -c, --validation              check the data that arrived\n");
    printf("      --turns PREFIX            take turns with others: bench/side_by_side\n");
    printf("  -h, --help                    this text\n");
}

int bench_iterations(const struct bench_options *o, enum bench_kind kind, size_t size)
{
    if (o->iterations)
        return o->iterations;
    if (kind == BENCH_LATENCY)
        return size > LARGE ? 1000 : 10000;
    return size > LARGE ? 20 : 100;
}

int bench_warmup(const struct bench_options *o, enum bench_kind kind, size_t size)
{
    if (o->warmup >= 0)
        return o->warmup;
    if (kind == BENCH_LATENCY)
        return size > LARGE ? 10 : 100;
    return size > LARGE ? 2 : 10;
}

int bench_program_of(const char *path, const struct bench_program *programs, int n)
{
    for (int i = 0; i < n; i++) {
        size_t length = strlen(path), end = strlen(programs[i].name);
        if (length >= end && strcmp(path + length - end, programs[i].name) == 0)
            return i;
    }
    fprintf(stderr, "%s: call it by one of the names", path);
    for (int i = 0; i < n; i++)
        fprintf(stderr, "%s %s", i ? "," : "", programs[i].name);
    fprintf(stderr, "\n");
    exit(2);
}

size_t bench_next_size(size_t size)
{
    return size ? size * 2 : 1;
}

void bench_options_or_exit(struct bench_options *o, const struct bench_program *program, int argc,
                           char **argv)
{
    char why[256];
    switch (bench_options_parse(o, program, argc, argv, why, sizeof why)) {
    case BENCH_HELP:
        bench_options_usage(program);
        exit(0);
    case BENCH_WRONG:
        fprintf(stderr, "%s\n", why);
        exit(2);
    case BENCH_RUN:
        break;
    }
}
