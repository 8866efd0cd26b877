// SPDX-License-Identifier: BSD-3-Clause
/*
 * Settings. Each tunable of Weft is one row of weft_settings_table, which defines the environment
 * variable, the line of weft_info, the row in docs/GUIDE.md, and
 * the MPI_T control variable.
 *
 * Invariant: weft_settings is read only after weft_settings_load has returned 0. From then on each
 * field is within the bounds of its row. While MPI runs, only rows with WEFT_SETTING_LIVE change,
 * under the lock.
 */
#ifndef WEFT_SETTINGS_H
#define WEFT_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum weft_matching { WEFT_MATCHING_AUTO, WEFT_MATCHING_PROVIDER, WEFT_MATCHING_SOFTWARE };

enum weft_counters { WEFT_COUNTERS_BASIC, WEFT_COUNTERS_ALL };

enum weft_shm_copy { WEFT_SHM_COPY_AUTO, WEFT_SHM_COPY_DIRECT, WEFT_SHM_COPY_STAGED };

enum weft_rendezvous { WEFT_RENDEZVOUS_AUTO, WEFT_RENDEZVOUS_READ, WEFT_RENDEZVOUS_PUSH };

enum weft_progress_mode { WEFT_PROGRESS_OFF, WEFT_PROGRESS_SLEEPS, WEFT_PROGRESS_POLLS };

struct weft_settings {
    const char *provider;    /* provider to use, by name or glob; "" = choose */
    const char *iface;       /* interface by name, glob, address or CIDR; "" = choose */
    const char *nics;        /* "auto", "first", or the NICs that the ranks of a node share */
    int64_t rails;           /* NICs that a rank reads a long message through, at most */
    int matching;            /* enum weft_matching */
    int64_t eager_limit;     /* bytes; 0 = the limit of the provider table */
    int64_t eager_credits;   /* bytes a sender may have unmatched at a receiver; 0 = by job size */
    int rendezvous;          /* enum weft_rendezvous */
    int64_t read_limit;      /* bytes being read from one peer; 0 = by provider */
    int shm;                 /* 1: shared memory on the node */
    int64_t shm_eager;       /* bytes; longest eager message in shared memory, 0 = choose */
    int shm_copy;            /* enum weft_shm_copy */
    int64_t shm_coll;        /* collective calls before the ranks share memory for them */
    int64_t spin;            /* polls without an event before a waiting rank yields; 0 = auto */
    int progress_thread;     /* enum weft_progress_mode */
    int64_t vcis;            /* VCIs of a process with MPI_THREAD_MULTIPLE */
    int64_t connect_timeout; /* seconds without a connection to a peer before it is reported */
    int64_t network_timeout; /* seconds without an answer of a host until the job ends; 0 = never */
    int64_t hang_timeout;    /* seconds a wait may last before the rank reports it; 0 = never */
    /* Algorithms of collectives: 0 = by the rules of core/coll/choose.c, i = option i - 1 of the
     * family there */
    int coll_barrier, coll_bcast, coll_reduce, coll_allreduce, coll_gather, coll_scatter,
        coll_allgather, coll_alltoall, coll_reduce_scatter, coll_scan;
    const char *file_hints;  /* of files: "key=value;..." */
    const char *names;       /* the folder of published names; "" = in the home directory */
    int gpu;                 /* enum weft_gpu_setting */
    int gpu_ipc;             /* 1: processes of a node map each other's GPU memory */
    int gpu_direct;          /* enum weft_gpu_setting: adapters read and write GPU memory */
    int keep_going;          /* 1: the job goes on when ranks die */
    int initial_errhandler;  /* index in weft_errhandlers_initial */
    int64_t stopped_timeout; /* seconds without running, after which a rank counts as dead then */
    int64_t spawn_timeout;   /* seconds for which spawned processes may not connect */
    int child;               /* 1: a program that a rank starts is a job of its own */
    int counters;            /* enum weft_counters */
    int verbose;             /* 0 silent, 1 one line per job, 2 one line per rank and peer */
};

extern struct weft_settings weft_settings;

enum weft_setting_type {
    WEFT_SETTING_STRING,
    WEFT_SETTING_CHOICE,
    WEFT_SETTING_INT,
    WEFT_SETTING_BYTES
};

enum weft_setting_flag {
    WEFT_SETTING_SAME = 1, /* all ranks must have the same value */
    WEFT_SETTING_LIVE = 2, /* read at each use, so that a tool may change it while MPI runs */
    WEFT_SETTING_TUNES = 4 /* for tuning only */
};

struct weft_setting {
    const char *name; /* of the environment variable: "WEFT_EAGER_LIMIT" */
    enum weft_setting_type type;
    size_t offset;       /* of the field in struct weft_settings */
    const char *initial; /* default, as a user would write it */
    int64_t min, max;    /* bounds of INT and BYTES; a default of 0 is allowed below min; of STRING:
                            max is the length in bytes */
    const char *choices; /* for CHOICE: "auto|provider|software", in the order of the enum */
    const char *help;    /* one line */
    unsigned flags;      /* enum weft_setting_flag */
};

extern const struct weft_setting weft_settings_table[];
extern const size_t weft_settings_count;

/* Reads the values of all rows from the environment. Returns 0, or -1 with a sentence in why that
 * names the variable, its value, the allowed values and the remedy. A WEFT_ variable without a row
 * is an error, except WEFT_TEST_* and "WEFT_CC". After -1, rejected rows have their defaults. May
 * be called again; rows set by weft_settings_set are not changed. */
int weft_settings_load(char *why, size_t len);

/* Sets a row, from text, until the process ends; overrides the environment. Returns false, without
 * effect, if the row does not allow the value. */
bool weft_settings_set(const struct weft_setting *row, const char *text);

/* The text of a choice in "a|b|c", not terminated, and its length. */
const char *weft_settings_choice(const char *choices, int index, int *len);

/* Writes the current value of a row in the syntax of the environment variable. Returns buf. */
char *weft_settings_format(const struct weft_setting *row, char *buf, size_t len);

/* Writes the allowed values: "64K to 1G", "0, or 256 to 1M", "auto|provider|software". Returns
 * buf. */
char *weft_settings_bounds(const struct weft_setting *row, char *buf, size_t len);

/* For tests: WEFT_TEST_NODE_SIZE=k pretends that a node ends after every k ranks. Returns k, or 0.
 */
int weft_settings_test_node(void);

/* For tests: a number above 0 that the environment gives by a name, or 0. */
int weft_settings_test_number(const char *name);

#endif
