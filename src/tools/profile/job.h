// SPDX-License-Identifier: BSD-3-Clause
/*
 * The figures of a job, at rank 0 after MPI_Finalize has begun, and their sums and texts: what the
 * lines, the page and the file of figures are made from.
 */
#ifndef WEFT_PROFILE_JOB_H
#define WEFT_PROFILE_JOB_H

#include "tools/interpose/site.h"
#include "tools/profile/shared.h"

enum {
    PROFILE_RECORDS = 512,     /* call sites that a rank reports; and one for each function */
    PROFILE_SITES = 2048,      /* call sites of the job; and one for each function */
    PROFILE_DURATIONS = 32768, /* collectives whose duration is kept */
    PROFILE_SMALL = 64 * 1024, /* bytes: accesses to files below it are small */
    PROFILE_ALIGNED = 4096,    /* bytes: a page, and a block of most file systems */
    PROFILE_ROWS = 65536,    /* pairs of a call site and a rank that calls it; more are left out */
    PROFILE_ALGORITHMS = 64, /* pairs of function and algorithm that a rank reports */
};

/* Messages by rendezvous: through shared memory, over the network. */
enum { PROFILE_RENDEZVOUS_LANES = 2 };

/* Kinds of calls, for sums. */
enum profile_class {
    PROFILE_P2P,
    PROFILE_COMPLETE,
    PROFILE_COLLECTIVE,
    PROFILE_RMA,
    PROFILE_FILE,
    PROFILE_OTHER,
    PROFILE_CLASSES
};

/* Performance variables of the library: counters.c. */
enum profile_counter {
    PROFILE_SELF,
    PROFILE_SELF_BYTES,
    PROFILE_SHM,
    PROFILE_SHM_RENDEZVOUS,
    PROFILE_SHM_RENDEZVOUS_BYTES,
    PROFILE_SHM_PIECES,
    PROFILE_NET,
    PROFILE_NET_RENDEZVOUS,
    PROFILE_NET_RENDEZVOUS_BYTES,
    PROFILE_UNEXPECTED,
    PROFILE_SHM_CREDIT_WAITS,
    PROFILE_NET_CREDIT_WAITS,
    PROFILE_COLLECTIVES_SHARED,
    PROFILE_MEMORY_REQUESTS, /* bytes, from here on */
    PROFILE_MEMORY_UNEXPECTED,
    PROFILE_MEMORY_COLLECTIVES,
    PROFILE_MEMORY_BOUNCE,
    PROFILE_MEMORY_SEGMENT, /* of the node */
    PROFILE_COUNTERS
};

/* The counters of a lane in a summary. */
struct profile_lane {
    const char *name;  /* in the file */
    const char *title; /* for a reader */
    uint64_t messages, rendezvous, rendezvous_bytes, credit_waits;
};

enum { PROFILE_LANES = 3 };

/* The lanes, by their counters. Returns the number of messages of all. */
uint64_t profile_lanes_of(const uint64_t counters[PROFILE_COUNTERS],
                          struct profile_lane lanes[PROFILE_LANES]);

/* Collectives that took messages. */
struct profile_algorithm {
    uint32_t function;
    int32_t number;    /* as the event numbers it */
    uint64_t n, bytes; /* bytes: what the library chooses by */
};

const char *profile_algorithm_name(int32_t number);

/* Adds to a list of at most `space` entries; one that is full leaves out what is new. */
void profile_algorithm_add(struct profile_algorithm *list, int *n, int space,
                           const struct profile_algorithm *algorithm);

/* The host, hardware threads and network of a rank. */
struct profile_binding {
    char host[PROFILE_HOST];
    char cpus[64];     /* hardware threads that it may run on, "0-3,8" */
    char network[64];  /* "": none is open, because all ranks are on one node */
    uint64_t resident; /* bytes: the most memory that the process has had */
    int32_t n_cpus;    /* hardware threads that it may run on */
};

/* ---- The job, at rank 0 after MPI_Finalize has begun */
struct profile_rank {
    double wall, mpi, classes[PROFILE_CLASSES]; /* seconds */
    double wait;                                /* of mpi, for other ranks in collectives */
    double late[PROFILE_LATES];                 /* of mpi, in messages */
    double late_in_messages; /* of late, in PROFILE_P2P; the rest is in PROFILE_COMPLETE */
    double read_seconds, write_seconds;
    struct profile_access reads, writes;
    struct profile_open open[PROFILE_OPENS];
    double open_seconds[PROFILE_OPENS], inside_seconds[PROFILE_OPENS]; /* of these */
    uint64_t rma;
    uint64_t counters[PROFILE_COUNTERS];
    struct profile_count distances[PROFILE_DISTANCES];
    struct profile_binding binding;
    uint64_t program; /* the hash of its name */
    int32_t cores;    /* hardware threads of the node */
    int32_t node;     /* number, in the order of the lowest ranks */
    int32_t threads;  /* tables in use; 0: the rank did not report */
    int32_t records;
};

/* Call sites of a rank, as rank 0 has them: calls, seconds and bytes; least, most: of one call. */
struct profile_figures {
    uint64_t calls, bytes, least_bytes, most_bytes;
    double seconds, least, most;
};

struct profile_row {
    int site; /* its id */
    int rank;
    struct profile_figures figures;
};

struct profile_site {
    int id;                          /* in the order in which sites were found */
    struct weft_portable_site where; /* offset 0: other lines, or one that is not known */
    uint64_t program;
    uint32_t function;
    int first, last; /* ranks: the lowest, the highest of those that were added */
    int ranks;       /* that made calls here */
    int least_rank, most_rank;
    uint64_t calls, bytes;
    uint64_t least_bytes, most_bytes; /* one call that has some */
    double sum, squares, least, most; /* seconds: of all ranks, of one rank */
    double shortest, longest;         /* one call */
    double wait;                      /* of sum, for other ranks in collectives */
    double late[PROFILE_LATES];       /* of sum, in messages */
    struct profile_vote late_most[PROFILE_LATES];
    struct weft_site text;
};

/* The standard deviation of the ranks' seconds over their mean. */
double profile_variation(const struct profile_site *site);

/* The cause of the longest waiting in messages. */
static inline enum profile_late profile_late_main(const struct profile_site *site)
{
    enum profile_late most = PROFILE_LATE_SENDER;
    for (int i = 1; i < PROFILE_LATES; i++)
        most = site->late[i] > site->late[most] ? (enum profile_late)i : most;
    return most;
}

/* A function of MPI, over all its sites. */
struct profile_function {
    int ranks;
    uint64_t calls;
    double sum, least, most; /* seconds: of all ranks, of one rank that calls it */
};

struct profile_job {
    int size, reported, nodes, threads;
    int neighbors; /* ranks on the node of rank 0 */
    int bins, fold;
    bool waits;   /* waiting in collectives is known */
    int waits_of; /* calls that it is known of, at each rank */
    bool lates;   /* waiting in messages is known */
    struct profile_rank *ranks;
    struct profile_count sizes[2][PROFILE_SIZES];
    struct profile_count rendezvous[PROFILE_RENDEZVOUS_LANES][PROFILE_SIZES];
    struct profile_function functions[WEFT_CALLS];
    struct profile_algorithm algorithms[PROFILE_ALGORITHMS * 4];
    int n_algorithms;
    struct profile_count matrix[PROFILE_BINS][PROFILE_BINS];   /* [source][target] */
    struct profile_count accesses[PROFILE_BINS][PROFILE_BINS]; /* of windows: [origin][target] */
    double late[PROFILE_BINS][PROFILE_BINS]; /* seconds: [rank that waits][rank that is late] */
    int n_rows, rows_left_out;
    struct profile_row *rows;
    int n;
    struct profile_site sites[PROFILE_SITES + WEFT_CALLS]; /* in the order of their time */
};

/* Sums over ranks that reported, for lines and pages */
struct profile_sums {
    double wall;          /* the longest */
    double all_wall;      /* of all ranks, times the threads of each */
    double mpi, most_mpi; /* of all ranks; of one */
    double least_mpi;
    int most_mpi_rank, least_mpi_rank;
    double compute, most_compute; /* outside of MPI: the mean; the most */
    int most_compute_rank;
    double classes[PROFILE_CLASSES], wait, late[PROFILE_LATES];
    struct profile_vote late_most[PROFILE_LATES]; /* the rank that was late */
    struct profile_count messages, collectives;
    struct profile_access reads, writes;
    double read_seconds, write_seconds;
    uint64_t open[PROFILE_OPENS];
    double open_seconds[PROFILE_OPENS], inside_seconds[PROFILE_OPENS];
    uint64_t rma;
    uint64_t counters[PROFILE_COUNTERS], most[PROFILE_COUNTERS]; /* of one rank */
    struct profile_count distances[PROFILE_DISTANCES];
};

void profile_sums_make(const struct profile_job *job, struct profile_sums *sums);

/* Recommendations, the most useful first: at most PROFILE_ADVICE sentences. Returns how many. */
enum { PROFILE_ADVICE = 4, PROFILE_SENTENCE = 640 };
int profile_advice(const struct profile_job *job, const struct profile_sums *sums,
                   char list[PROFILE_ADVICE][PROFILE_SENTENCE]);

/* ---- Numbers as texts of at most PROFILE_TEXT bytes */
enum { PROFILE_TEXT = 32 };
const char *profile_text_bytes(double bytes, char *text);
const char *profile_text_seconds(double seconds, char *text);

/* "a late sender", "late senders" */
extern const char *const profile_text_late[PROFILE_LATES], *const profile_text_lates[PROFILE_LATES];

/* "MPI_Send at file.c:12 (main)" */
void profile_text_site(const struct profile_site *site, char *text, size_t size);

/* The same for a picture: its beginning, if it is long. */
enum { PROFILE_LABEL = 56 };
void profile_text_label(const struct profile_site *site, char text[PROFILE_LABEL]);

#endif
