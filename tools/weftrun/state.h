// SPDX-License-Identifier: BSD-3-Clause
/*
 * The state of a job: options, applications (one for each section of the command line between ':'),
 * ranks. The first job is that of the command line; those that ranks spawn follow it in a list, and
 * have its options.
 *
 * Invariants:
 *  - Only the main thread accesses it, except rank.phase, which PMIx's thread sets, too.
 *  - The arrays of a job do not move after its start, so pointers to ranks and streams stay valid.
 */
#ifndef WEFTRUN_STATE_H
#define WEFTRUN_STATE_H

#include "hosts.h"
#include "placement.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The phase in which a rank ends decides whether the others can continue. */
enum phase {
    PHASE_STARTED, /* has not called PMIx_Init */
    PHASE_JOINED,  /* between PMIx_Init and PMIx_Finalize: peers may wait for it */
    PHASE_LEFT,    /* has called PMIx_Finalize: no peer waits for it */
};

/* VAR=VAL of -x, -env and -genv */
struct variables {
    const char **list;
    int n;
};

/* The other hosts that the job has ranks on: see starter.h. */
enum elsewhere {
    ELSEWHERE_NOT,   /* all ranks are on this host */
    ELSEWHERE_HOSTS, /* on those of a list */
    ELSEWHERE_SLURM, /* on the nodes of Slurm's allocation */
};

struct app {
    char **argv;         /* NULL-terminated, as typed */
    char *path;          /* the executable, found in PATH */
    const char *dir;     /* working directory or NULL */
    const char *search;  /* directories of the program before those of PATH, or NULL */
    const char *set;     /* the process set of its ranks, or NULL */
    char *front_end;     /* folders for LD_LIBRARY_PATH, or NULL: see front_end.h */
    char *front_library; /* path of the front end that the program uses, or NULL */
    char *preload;       /* libraries for LD_PRELOAD, or NULL */
    struct variables env;
    struct variables exports; /* names of -x alone */
    struct host_list hosts;   /* of -H or a file among the options of this program */
    bool names_hosts;         /* they are those of -H */
    int first, count; /* world ranks first .. first + count - 1; while options are read 0: no -n */
    int per_node;     /* 0: no limit */
};

/* The files that the output of ranks goes to. */
struct output {
    const char *out, *err; /* names, in which %r is the rank; or NULL */
    const char *dir;       /* the directory that has DIR/JOB/rank.N/stdout and stderr, or NULL */
    bool only;             /* nothing goes to weftrun's stdout and stderr */
};

enum { READER_NONE = -1, READER_ALL = -2 };

/* The stdout or stderr of a rank: its pipe and its unfinished line. */
struct stream {
    int fd;   /* read end, -1 once closed */
    int file; /* a file that gets all bytes, or 0 */
    int rank;
    int job;          /* its number */
    bool err;         /* stderr, else stdout */
    bool mid_line;    /* the last byte queued was not a newline */
    char *unfinished; /* bytes of the unfinished line */
    size_t len, cap;
    double show_at; /* weft_seconds() at which a terminal gets the unfinished line */
};

struct job;

struct rank {
    struct job *job;
    int rank;
    int index; /* of app */
    const struct app *app;
    pid_t pid; /* also its process group */
    bool running;
    int status;        /* of waitpid, once it has ended */
    _Atomic int phase; /* enum phase */
    struct stream out, err;
    cpu_set_t cpus; /* meaningful if bound */
    bool bound;
    pid_t terminal; /* of its debugger, until that has attached; -1 before it is opened; or 0 */
};

struct job {
    /* options */
    struct placement placement;
    bool ignores; /* a line about options that tune another MPI has been printed */
    bool report_bindings, tag, keep_going, verbose, here;
    bool plans;           /* bindings are printed, and nothing is started */
    bool stamp;           /* lines of output begin with the time */
    bool prints_codes;    /* the exit codes of all ranks are printed at the end */
    bool one_each;        /* no more ranks than slots or cores */
    int reader;           /* the rank that reads stdin; READER_NONE; READER_ALL */
    struct output output; /* files of the ranks' output */
    bool traced;          /* there is to be a debugger of ranks */
    const char *debug;    /* the ranks of --debug, as typed, "": all; or NULL */
    struct variables env; /* for all ranks */
    const char *abi;      /* --abi: of programs without an MPI of their own; "none"; or NULL */
    const char *check;    /* the kinds of --check, "": all; or NULL */
    const char *record;   /* the files of --record and --replay, or NULL */
    const char *replay;
    const char *trace;      /* the file of --trace, "": the usual one; or NULL */
    const char *trace_last; /* seconds of --trace-last, or NULL */
    bool top;               /* a table of what ranks do is printed each second */
    const char *profile;    /* the file of --profile, "": the usual one; or NULL */
    int slots;              /* of --host or a file, 0: not stated */
    enum elsewhere elsewhere;
    struct host_list hosts;    /* of --host, a file or an allocation */
    const char *default_hosts; /* a file of hosts for a line that names none, or NULL */
    const char *starter;       /* the launcher of --starter, or NULL */
    const char *remote_shell;  /* the command instead of ssh, or NULL */
    bool by_node;              /* ranks go round the hosts */
    int slurm_tasks;           /* of Slurm's allocation, 0: not stated */
    double timeout;            /* seconds, 0: none */
    const char *timeout_from;  /* the option or variable that set it */

    int universe;           /* of --usize, 0: not stated */
    int joined_fd;          /* gets a byte when all ranks have joined; 0: none */
    const char *slurm_step; /* a step in the allocation of an outer one, by this --mpi, or NULL */

    struct app *apps;
    int napps;
    struct rank *ranks;
    int size;
    int launched; /* the ranks below it have been started */

    int number;     /* 1: of the command line */
    char words[24]; /* of messages about its ranks: " of job 2"; "" for the first job */
    struct job *next;
    struct spawn_call *call; /* that made the job, NULL for the first one */
    bool answered;           /* the call has its result; true for the first job */
    bool failed;             /* its ranks are killed, because the call failed */

    int file; /* the job file: see phases.h */
    char *file_name;

    char host[256];
    char nspace[256];
    char scratch[4096]; /* the scratch directory, removed at the end */
};

#endif
