// SPDX-License-Identifier: BSD-3-Clause
/*
 * What weftrun knows about a job: its options, its applications (one for each part of the command
 * line between ':'), its ranks.
 *
 * Invariant: everything here belongs to the main thread, except rank.phase, which PMIx's thread
 * sets and which only ever grows. After start-up the arrays never move, so pointers to ranks and
 * streams stay good until the end.
 */
#ifndef WEFTRUN_STATE_H
#define WEFTRUN_STATE_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum bind_kind { BIND_NONE, BIND_HWTHREAD, BIND_CORE, BIND_NUMA };

/* How far a rank got: the difference decides what its end means for the others. */
enum phase {
    PHASE_STARTED, /* runs, has not called PMIx_Init */
    PHASE_JOINED,  /* PMIx_Init seen: peers may be waiting for it */
    PHASE_LEFT,    /* PMIx_Finalize seen: nobody waits for it any more */
};

struct app {
    char **argv;      /* NULL-terminated, as typed */
    char *path;       /* what to execute, found in PATH */
    const char *dir;  /* working directory or NULL */
    const char *set;  /* the process set that its ranks are, or NULL */
    const char **env; /* VAR=VAL settings of -x, nenv of them */
    int nenv;
    int first, count; /* world ranks first .. first + count - 1 */
};

/* One direction of one rank's output: the pipe and the line that is not complete yet. */
struct stream {
    int fd; /* read end, -1 once closed */
    int rank;
    bool err;      /* stderr, else stdout */
    bool mid_line; /* the last byte handed on was not a newline */
    char *part;    /* bytes of the unfinished line */
    size_t len, cap;
};

struct rank {
    int rank;
    int index; /* of app */
    const struct app *app;
    pid_t pid; /* also its process group */
    bool running;
    _Atomic int phase; /* enum phase */
    struct stream out, err;
    cpu_set_t cpus; /* meaningful if bound */
    bool bound;
};

struct job {
    /* options */
    enum bind_kind bind;
    bool report_bindings, tag, keep_going, verbose;
    double timeout;           /* seconds, 0: none */
    const char *timeout_from; /* the option or variable that gave it */

    struct app *apps;
    int napps;
    struct rank *ranks;
    int size;

    char host[256];
    char nspace[256];
    char scratch[4096]; /* our directory, removed at the end */
};

#endif
