// SPDX-License-Identifier: BSD-3-Clause
/*
 * The tables and buffers of a rank in memory that other processes read: weft-report --attach while
 * the program runs, weft-report --trace after it was killed.
 *
 * With weftrun --trace the memory is the file FILE.rankN, which remains if the job ends without
 * MPI_Finalize; else a file without a name (memfd), which ends with the process. Either is found as
 * a descriptor of the process in /proc. If neither can be made, the memory is private.
 *
 * Invariants:
 *  - Readers use the same version of Weft: the head has its version and that of the struct.
 *  - A file has space for what is written (profile_shared_reserve), so that a full disk
 *    does not end the program. A range without space is private memory, and empty in the file.
 *  - Only the rank writes. Values that change meanwhile are read as they are: a reader trusts no
 *    number that it uses as an index.
 */
#ifndef WEFT_PROFILE_SHARED_H
#define WEFT_PROFILE_SHARED_H

#include "tools/interpose/call.h"

#include <stdio.h>

enum {
    PROFILE_SLOTS = 512,      /* of a thread's hash table */
    PROFILE_SLOTS_USED = 448, /* at most: so that searches end soon */
    PROFILE_THREADS = 64,     /* that have a table of their own at one time */
    PROFILE_BINS = 64,        /* of the matrix of ranks: each is one rank, or several */
    PROFILE_SIZES = 48,       /* of a histogram: powers of two */
    PROFILE_PEERS = 4,        /* of a call that runs: as many are kept */
    PROFILE_PAGE = 4096,
    PROFILE_EVENTS = 65536,      /* of a buffer, a power of 2; 2 MiB */
    PROFILE_BUFFERS = 16,        /* threads that have one */
    PROFILE_GROUPS = 256,        /* of communicators with collectives on the time line */
    PROFILE_GROUP_RANKS = 16384, /* of all of them: 64 KiB */
    PROFILE_HOST = 64
};

struct profile_count {
    uint64_t n, bytes;
};

/* Ends of a message. */
enum profile_end { PROFILE_SENDER, PROFILE_RECEIVER, PROFILE_ENDS };

/* Causes of waiting in a message: its other end began late, or both ends had begun and the other
 * rank made no progress. */
enum profile_late {
    PROFILE_LATE_SENDER = PROFILE_SENDER,
    PROFILE_LATE_RECEIVER = PROFILE_RECEIVER,
    PROFILE_LATE_PROGRESS,
    PROFILE_LATES
};

/* The rank that has more than half of a sum, if one has; else one of those that have much. */
struct profile_vote {
    int rank;
    double weight;
};

static inline void profile_vote(struct profile_vote *vote, int rank, double weight)
{
    if (vote->rank == rank || vote->weight == 0) {
        vote->rank = rank;
        vote->weight += weight;
    } else if (vote->weight >= weight) {
        vote->weight -= weight;
    } else {
        vote->rank = rank;
        vote->weight = weight - vote->weight;
    }
}

struct profile_slot {
    const void *site; /* NULL: the slot is free */
    uint32_t function;
    bool through; /* the site is in an MPI library, above which the program is found by unwinding */
    int32_t offset; /* of the program's return address in the stack: table.c; 0: not known */
    uint64_t calls, ticks, least, most;      /* least, most: of a call */
    uint64_t bytes, least_bytes, most_bytes; /* of a call that has some */
    /* Seconds, set at the end: for other ranks in collectives; in messages, and the rank that was
     * late most. */
    double wait, late[PROFILE_LATES];
    struct profile_vote late_most[PROFILE_LATES];
};

/* Ranks that a message goes to: this one, one of its node, one of another node. */
enum profile_distance { PROFILE_ITSELF, PROFILE_NODE, PROFILE_FAR, PROFILE_DISTANCES };

/* Kinds of nonblocking operations. */
enum profile_open_kind { PROFILE_OPEN_MESSAGE, PROFILE_OPEN_OTHER, PROFILE_OPENS };

/* Accesses to files. located: those whose first byte in the file is known; of these aligned: begin
 * and length are multiples of PROFILE_ALIGNED. */
struct profile_access {
    uint64_t calls, small, bytes, ticks, located, aligned;
};

/* Nonblocking operations: ticks between start and completion, and of these inside the calls that
 * completed them. */
struct profile_open {
    uint64_t n, ticks, inside;
};

/* The state of a thread: in a call of MPI, or outside. */
struct profile_now {
    uint64_t since;               /* ticks */
    int32_t function;             /* -1: outside of MPI */
    int32_t n;                    /* of peers */
    int32_t peers[PROFILE_PEERS]; /* ranks of MPI_COMM_WORLD that the call may wait for; -1: any */
};

struct profile_thread {
    bool used;
    int n; /* slots in use */
    struct profile_now now;
    /* Behind the hash table a slot for each function: of sites that found no other. */
    struct profile_slot slots[PROFILE_SLOTS + WEFT_CALLS];
    struct profile_count sizes[2][PROFILE_SIZES];                    /* messages; collectives */
    struct profile_count peers[PROFILE_BINS], targets[PROFILE_BINS]; /* messages; windows */
    struct profile_count distances[PROFILE_DISTANCES];
    struct profile_access reads, writes;
    struct profile_open open[PROFILE_OPENS];
    uint64_t rma;
} __attribute__((aligned(PROFILE_PAGE)));

/* Slots that may be in use. */
static inline int profile_slots_of(const struct profile_thread *thread)
{
    return thread->n < PROFILE_SLOTS_USED ? PROFILE_SLOTS : PROFILE_SLOTS + WEFT_CALLS;
}

/* The clock of a rank: ticks since MPI_Init as seconds, and what is to be added for the clock of
 * rank 0. */
struct profile_clock {
    bool timestamp_counter; /* ticks are those of the processor's counter; else nanoseconds */
    uint64_t begin, end; /* ticks: of MPI_Init; of MPI_Finalize, or the last that were compared */
    double seconds_begin, seconds_a_tick;
    double difference_begin, difference_end; /* to the clock of rank 0 */
};

/* The time on the clock of rank 0. */
static inline double profile_time(const struct profile_clock *clock, uint64_t ticks)
{
    double since = (double)(int64_t)(ticks - clock->begin);
    double fraction = since / (double)(clock->end - clock->begin + 1);
    return clock->seconds_begin + since * clock->seconds_a_tick + clock->difference_begin +
           (clock->difference_end - clock->difference_begin) * fraction;
}

/* PROFILE_MORE: a collective is the call before it. */
enum profile_event_kind { PROFILE_CALL, PROFILE_SEND, PROFILE_RECEIVE, PROFILE_MORE };

/* An event of the time line. */
struct profile_event {
    uint64_t begin;
    uint64_t value; /* ticks of a call; identifies a message; of a collective: the group */
    uint64_t bytes; /* of a collective: received */
    uint32_t kind;
    uint32_t function; /* of a send: the tag; of a collective: the root as int32_t, -1: none */
};

/* The ranks of a communicator whose ranks are all of the job. */
struct profile_group {
    uint64_t id;      /* the same at all ranks */
    int32_t first, n; /* in the list of ranks; n -1: all ranks of MPI_COMM_WORLD, in their order */
};

struct profile_groups {
    int32_t n, ranks_n; /* written last */
    struct profile_group group[PROFILE_GROUPS];
    int32_t ranks[PROFILE_GROUP_RANKS];
};

struct profile_buffer {
    uint64_t n; /* events written so far; the oldest are overwritten */
    struct profile_event event[PROFILE_EVENTS];
} __attribute__((aligned(PROFILE_PAGE)));

#define PROFILE_MAGIC "weft rank\n"

struct profile_shared {
    char magic[16];
    char version[32];
    uint64_t bytes;                 /* of this struct */
    uint64_t job;                   /* the same at all ranks */
    uint64_t dropped;               /* calls of threads without a buffer */
    uint64_t refused;               /* collectives on communicators that are not in groups */
    int32_t rank, size, pid, calls; /* calls: WEFT_CALLS */
    int32_t taken; /* tables that threads have taken; the others are untouched pages */
    char host[PROFILE_HOST], program[PROFILE_HOST];
    double last; /* seconds of --trace-last; 0: all */
    struct profile_clock clock;
    struct profile_groups groups;                       /* of the time line */
    struct profile_thread threads[PROFILE_THREADS + 1]; /* the last one: shared by threads */
    struct profile_buffer buffers[PROFILE_BUFFERS];     /* of the first threads */
};

/* Tables that may have figures. */
static inline int profile_threads_of(const struct profile_shared *rank)
{
    int taken = __atomic_load_n(&rank->taken, __ATOMIC_RELAXED);
    return taken < 0 ? 0 : taken > PROFILE_THREADS + 1 ? PROFILE_THREADS + 1 : taken;
}

/* Makes the memory of a rank. file: the name of the time line; NULL: there is none. */
struct profile_shared *profile_shared_open(uint64_t job, int rank, int size, const char *file);

/* Called before a range of the memory is written. */
void profile_shared_reserve(void *range, size_t size);

/* Deletes the file. */
void profile_shared_delete(void);

/* The name of the file of a rank: of this rank's memory, and for a reader. */
static inline void profile_shared_name(const char *file, int rank, char *name, size_t size)
{
    snprintf(name, size, "%s.rank%d", file, rank);
}

#endif
