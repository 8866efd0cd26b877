// SPDX-License-Identifier: BSD-3-Clause
/*
 * weftrun --profile: the tool that measures where a program spends its time in MPI.
 *
 * Calls come from the wrappers (tools/interpose/call.h). For each call the profile reads the clock
 * twice and adds time, count and bytes to a slot of the thread's table, which is found by the
 * return address. Modules, in the order in which a call meets them:
 *
 *   profile.c  start, MPI_Init and MPI_Finalize, both halves of each call, the clock
 *   table.c    a table for each thread: call sites, sizes, peers, files
 *   bytes.c    the bytes of a call and the peer, by the kinds of its parameters
 *   binding.c  the host of a rank, its processors, its network
 *   comms.c    ranks of communicators as ranks of MPI_COMM_WORLD
 *   messages.c messages numbered by channel, and the calls that may have waited (messages.h)
 *   posts.c    what is kept of them, in lists of fixed sizes
 *   late.c, clocks.c   what these calls waited for
 *   gather.c   the tables of all ranks, added up at rank 0; files and lines of call sites
 *   lines.c    the summary on stderr
 *   advice.c   sums, and the recommendations
 *   shared.c   the memory of tables and buffers, which other processes read (shared.h)
 *   trace.c, timeline.c   the time line of weftrun --trace
 *   json.c     all figures as a file
 *   page.c, picture.c   the page for a browser, and its pictures
 *   text.c     numbers and call sites as texts
 *
 * Time of a call is counted once: a call that a callback of the program makes inside another call
 * is not counted. Bytes are those that a rank passes to MPI: of sends, puts and writes when
 * the call starts them, of gets and reads as asked for; of a collective those of its send buffer.
 * Persistent and partitioned sends count when they are started, if one thread calls MPI; persistent
 * collectives have time and no bytes. The matrix of messages has those of neighborhood collectives.
 *
 * Waiting in collectives. No clocks are compared. The ranks make the same calls in the same order
 * on communicators of all ranks, so the n-th call has a duration at each rank. No rank leaves a
 * barrier, an allreduce, an allgather or an alltoall before the last one has entered, so the
 * shortest duration is that of the operation itself, and what a rank has above it is waiting. This
 * holds with one thread that calls MPI; the first PROFILE_DURATIONS calls are kept.
 *
 * Memory. All tables have fixed sizes and are in zeroed pages: below 8 MiB a rank, of which the
 * kernel gives what is used. A call site that finds its table full is counted in one
 * slot for all such.
 *
 * Invariants:
 *  - The profile calls MPI only by weft_next, so its own calls are not seen; between MPI_Init and
 *    MPI_Finalize it sends no message.
 *  - A table is written by the thread that holds it alone; the last one, which all threads share
 *    that found no other, under its lock.
 *  - Arguments and results of the program's calls are not changed.
 */
#ifndef WEFT_PROFILE_H
#define WEFT_PROFILE_H

#include "tools/interpose/call.h"
#include "tools/interpose/site.h"
#include "tools/profile/shared.h"

#include <pthread.h>
#include <stdio.h>

enum {
    PROFILE_SLOTS_USED = 448,  /* at most: so that searches end soon */
    PROFILE_RECORDS = 512,     /* call sites that a rank reports */
    PROFILE_SITES = 2048,      /* call sites of the job */
    PROFILE_DURATIONS = 32768, /* collectives whose duration is kept */
    PROFILE_SMALL = 64 * 1024, /* bytes: accesses to files below it are small */
    PROFILE_ALIGNED = 4096,    /* bytes: a page, and a block of most file systems */
    PROFILE_ALGORITHMS = 64,   /* pairs of function and algorithm that a rank reports */
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

void profile_vote(struct profile_vote *vote, int rank, double weight);

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

struct profile {
    bool running;    /* between MPI_Init and MPI_Finalize */
    bool one_thread; /* calls MPI at a time */
    int rank, size;
    int fold; /* ranks of a bin */
    MPI_Comm channel;
    uint8_t *distances;                  /* enum profile_distance of each rank; NULL: not known */
    uint64_t counters[PROFILE_COUNTERS]; /* in MPI_Finalize */
    struct profile_count rendezvous[PROFILE_RENDEZVOUS_LANES][PROFILE_SIZES];
    struct profile_algorithm algorithms[PROFILE_ALGORITHMS];
    int n_algorithms;
    uint64_t ticks_of_us;           /* of a microsecond, known from MPI_Init on */
    struct profile_shared *shared;  /* from MPI_Init on: shared.h */
    struct profile_clock *clock;    /* in it */
    struct profile_thread *threads; /* in it */
    struct {
        int n;         /* also those that were not kept */
        uint64_t hash; /* of the functions in their order */
        float ticks[PROFILE_DURATIONS];
        struct profile_slot *slots[PROFILE_DURATIONS];
    } collectives;
};

extern struct profile profile;

/* Compares ticks with seconds, so that profile_time is exact. */
void profile_clock_compare(void);

/* Names of the files of WEFT_PROFILE, the page and the same with .json; and of WEFT_TRACE. */
extern char profile_page[4096], profile_json[4096], profile_trace_file[4096];

/* ---- Tables */

/* The table of this thread, locked if it is the shared one. */
struct profile_thread *profile_thread_enter(void);
void profile_thread_leave(struct profile_thread *thread);

/* The table of this thread; NULL: it shares one. */
struct profile_thread *profile_thread_own(void);

/* The slot of a call site; the last one if the table is full. */
struct profile_slot *profile_slot_of(struct profile_thread *thread, const struct weft_call *call);

/* The index of a size in a histogram: 0 for 0, 1 for 1 byte, 2 for 2-3, 3 for 4-7, ... */
static inline int profile_size_index(uint64_t bytes)
{
    int index = bytes ? 64 - __builtin_clzll(bytes) : 0;
    return index < PROFILE_SIZES ? index : PROFILE_SIZES - 1;
}

/* ---- Bytes */

/* Prepares what is known of each function. */
void profile_bytes_begin(void);

enum profile_class profile_class_of(uint32_t function);

/* Adds the bytes of a call that succeeded to the table of its thread, and returns them. */
uint64_t profile_bytes_add(struct profile_thread *thread, const struct weft_call *call,
                           uint64_t ticks);

/* The bytes of a send that the call prepares. */
uint64_t profile_bytes_of_send(const struct weft_call *call);

/* Adds a message to a rank of MPI_COMM_WORLD; -1: to another rank. */
void profile_bytes_add_message(struct profile_thread *thread, int world, uint64_t bytes);

/* True if no rank leaves the call before all ranks of the job have entered it. */
bool profile_is_synchronizing(const struct weft_call *call);

/* ---- Performance variables */
void profile_counters_begin(void);
void profile_counters_read(void);

/* ---- Communicators */
struct profile_comm {
    const void *handle; /* also of a window */
    uint64_t id;        /* the same at all ranks; communicators of one group share it */
    int size, rank;
    bool inter;
    bool all;   /* its members are all ranks of MPI_COMM_WORLD */
    int *world; /* ranks in MPI_COMM_WORLD (of the remote group), -1: others; NULL: the same */
    int n_neighbors, *neighbors; /* ranks that neighborhood collectives send to */
};

void profile_comms_begin(void);

/* NULL: not known, because there are too many or it is of another job. */
const struct profile_comm *profile_comm_of(MPI_Comm handle);
const struct profile_comm *profile_comm_of_win(MPI_Win handle);

/* ---- Bindings */

/* The host, hardware threads and network of a rank. */
struct profile_binding {
    char host[PROFILE_HOST];
    char cpus[64];     /* hardware threads that it may run on, "0-3,8" */
    char network[64];  /* "": none is open, because all ranks are on one node */
    uint64_t resident; /* bytes: the most memory that the process has had */
    int32_t n_cpus;    /* hardware threads that it may run on */
};

void profile_binding_find(struct profile_binding *binding);

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

struct profile_site {
    struct weft_portable_site where;
    uint64_t program;
    uint32_t function;
    int first; /* the lowest rank */
    int ranks; /* that made calls here */
    int least_rank, most_rank;
    uint64_t calls, bytes;
    double sum, least, most;    /* seconds: of all ranks, of one rank */
    double longest;             /* one call */
    double wait;                /* of sum, for other ranks in collectives */
    double late[PROFILE_LATES]; /* of sum, in messages */
    struct profile_vote late_most;
    struct weft_site text;
};

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
    int n;
    struct profile_site sites[PROFILE_SITES]; /* in the order of their time */
};

/* Collective: adds up the tables of all ranks. Returns the job at rank 0, else NULL. */
struct profile_job *profile_gather(void);

void profile_lines_print(const struct profile_job *job);
void profile_json_write(const struct profile_job *job);
void profile_page_write(const struct profile_job *job);

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

/* "MPI_Send"; of PROFILE_REST "other call sites". */
const char *profile_text_function(uint32_t function);

/* "a late sender", "late senders" */
extern const char *const profile_text_late[PROFILE_LATES], *const profile_text_lates[PROFILE_LATES];

/* "MPI_Send at file.c:12 (main)" */
void profile_text_site(const struct profile_site *site, char *text, size_t size);

#endif
