// SPDX-License-Identifier: BSD-3-Clause
/*
 * The one table of settings. Every tunable of Weft is one row of weft_settings_table: name, type,
 * default, bounds, help. The row gives the environment variable (WEFT_ and the name in capitals),
 * the line in weft_info, the table in docs/GUIDE.md, and the MPI_T control variable.
 *
 * Invariant: after weft_settings_load has returned 0 every field of weft_settings lies within its
 * row's bounds; while MPI runs only rows that are WEFT_SETTING_LIVE change, under the lock. Before
 * that nothing may read it.
 */
#ifndef WEFT_SETTINGS_H
#define WEFT_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum weft_matching { WEFT_MATCHING_AUTO, WEFT_MATCHING_PROVIDER, WEFT_MATCHING_SOFTWARE };

enum weft_counters { WEFT_COUNTERS_BASIC, WEFT_COUNTERS_ALL };

enum weft_shm_copy { WEFT_SHM_COPY_AUTO, WEFT_SHM_COPY_STAGED };

enum weft_rendezvous { WEFT_RENDEZVOUS_AUTO, WEFT_RENDEZVOUS_READ, WEFT_RENDEZVOUS_PUSH };

struct weft_settings {
    const char *provider;  /* provider name or pattern the user insists on; "" = choose */
    const char *iface;     /* interface by name, glob, address or CIDR; "" = choose */
    int matching;          /* enum weft_matching */
    int64_t eager_limit;   /* bytes; 0 = the provider row's own limit */
    int64_t eager_credits; /* bytes a sender may have unmatched at a receiver; 0 = by job size */
    int rendezvous;        /* enum weft_rendezvous */
    int64_t read_chunk;    /* bytes of one fi_read of a rendezvous */
    int64_t read_window;   /* bytes being read from one peer; 0 = as the provider likes it */
    int shm;               /* 1: shared memory on the node */
    int64_t shm_eager;     /* bytes; longest message that shared memory takes at once, 0 = choose */
    int shm_copy;          /* enum weft_shm_copy */
    int64_t spin;          /* polls without news before a waiting rank yields its core; 0 = auto */
    int progress_thread;   /* 1: one that progresses while the program computes */
    int64_t vcis;          /* VCIs of a process with MPI_THREAD_MULTIPLE */
    int64_t connect_timeout; /* seconds without a connection to a peer before it is reported */
    int64_t hang_timeout;    /* seconds a wait may last before the rank reports it; 0 = never */
    /* Algorithms of collectives: 0 = what the table says, i = option i - 1 of the family in
     * core/coll/choose.c */
    int coll_barrier, coll_bcast, coll_reduce, coll_allreduce, coll_gather, coll_scatter,
        coll_allgather, coll_alltoall, coll_reduce_scatter, coll_scan;
    int counters; /* enum weft_counters */
    int verbose;  /* 0 silent, 1 one line per job, 2 one line per rank and peer */
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
    WEFT_SETTING_LIVE =
        2, /* is looked at whenever it matters, so a tool may change it while MPI runs */
    WEFT_SETTING_TUNES = 4 /* of no concern to a user before the program is tuned */
};

struct weft_setting {
    const char *name; /* lower case, words joined by '_': "eager_limit" */
    enum weft_setting_type type;
    size_t offset;       /* of the field in struct weft_settings */
    const char *initial; /* default, as a user would write it */
    int64_t min, max;    /* bounds for INT and BYTES (sizes accept the suffixes K, M, G); where the
                            default is 0 it is allowed below min too */
    const char *choices; /* for CHOICE: "auto|provider|software", in the order of the enum */
    const char *help;    /* one line */
    unsigned flags;      /* enum weft_setting_flag */
};

extern const struct weft_setting weft_settings_table[];
extern const size_t weft_settings_count;

/* Reads every WEFT_* variable of the table from the environment. Returns 0, or -1 with a sentence
 * in why that names the variable, its value, what is allowed, and what to do. A WEFT_ variable that
 * is in no row (a misspelt one) is an error too, with the nearest name that exists; variables that
 * begin with WEFT_TEST_ or WEFTRUN_, and WEFT_CC, belong to others and are passed over.
 * After -1 the rows that were refused hold their defaults, for weft_info to show. May be called
 * again: what weft_settings_set has set stays. */
int weft_settings_load(char *why, size_t len);

/* Gives a row a value, as text, that stands until the process ends, whatever the environment says:
 * weft_settings_load leaves it alone. False when the row does not allow it: then nothing changed. */
bool weft_settings_set(const struct weft_setting *row, const char *text);

/* Writes the value now in force of one row as a user would write it. Returns buf. */
char *weft_settings_format(const struct weft_setting *row, char *buf, size_t len);

/* Writes what a row allows: "64K to 1G", "0, or 256 to 1M", "auto|provider|software". Returns
 * buf. */
char *weft_settings_bounds(const struct weft_setting *row, char *buf, size_t len);

/* "WEFT_EAGER_LIMIT" for "eager_limit". Returns buf. */
char *weft_settings_variable(const struct weft_setting *row, char *buf, size_t len);

#endif
