// SPDX-License-Identifier: BSD-3-Clause
/*
 * The command line that all benchmarks share. It follows the OSU micro-benchmarks in names and
 * defaults, so that scripts written for those run these.
 *
 * Invariant: after BENCH_RUN every field is within its bounds. The parser never prints or exits,
 * because under MPI only one rank prints and all ranks must end together.
 */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* The options of a program besides -m, -i, -x, -c and -h. */
enum bench_feature {
    BENCH_WINDOW = 1,   /* -W: messages in flight */
    BENCH_PAIRS = 2,    /* -p: pairs of ranks; --per-message */
    BENCH_RAW = 4,      /* -p, -I, -b: provider, interface, binding: programs without MPI */
    BENCH_THREADS = 16, /* -t: threads of each rank; --share-cores, --one-comm */
    BENCH_TAGGED = 8    /* --cq-data, --directed: raw programs on tagged messages */
};

enum bench_kind { BENCH_LATENCY, BENCH_BANDWIDTH };

struct bench_program {
    const char *name;     /* "weft_latency" */
    const char *title;    /* first line of the table, without "# " */
    enum bench_kind kind; /* decides the default numbers of iterations */
    unsigned features;    /* enum bench_feature */
};

struct bench_options {
    size_t min, max;       /* message sizes in bytes, doubled from one row to the next */
    int iterations;        /* timed iterations; 0 = by size */
    int warmup;            /* untimed iterations before them; -1 = by size */
    int window;            /* messages in flight */
    int pairs;             /* pairs of ranks; 0 = as many as there are */
    int threads;           /* that send or receive, of each rank */
    bool share_cores;      /* thread t of every rank on core t, not each on a core of its own */
    bool one_comm;         /* all threads on one communicator, made with assertions */
    bool multiple;         /* MPI is to be started with MPI_THREAD_MULTIPLE */
    bool validate;         /* check what arrived */
    const char *provider;  /* libfabric's name for it */
    const char *interface; /* network interface or libfabric domain */
    bool bind;             /* the two processes on a core each */
    bool cq_data;          /* send with remote completion data */
    bool directed;         /* receive from the one peer, not from anyone */
    bool per_message;      /* in turns, the figure is microseconds per message */
    const char *turns;     /* begin of the names of the fifos that give turns, or NULL; turns.h */
};

enum bench_outcome { BENCH_RUN, BENCH_HELP, BENCH_WRONG };

/* Fills *o from the defaults and the command line. BENCH_WRONG leaves one sentence in why. */
enum bench_outcome bench_options_parse(struct bench_options *o, const struct bench_program *program,
                                       int argc, char **argv, char *why, size_t len);

/* The same for a program that is alone: after help or a wrong option it ends here. */
void bench_options_or_exit(struct bench_options *o, const struct bench_program *program, int argc,
                           char **argv);

/* Prints the usage text to standard output. */
void bench_options_usage(const struct bench_program *program);

/* Timed and untimed iterations for messages of size bytes. */
int bench_iterations(const struct bench_options *o, enum bench_kind kind, size_t size);
int bench_warmup(const struct bench_options *o, enum bench_kind kind, size_t size);

/* The index of the program whose name the path of this one ends with. Without one the process ends
 * with a sentence. */
int bench_program_of(const char *path, const struct bench_program *programs, int n);

/* The size after this one: 0, 1, 2, 4, ... */
size_t bench_next_size(size_t size);

#endif
