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
 *   plan.c     what each function does with messages
 *   messages.c messages numbered by channel, and the calls that may have waited (messages.h)
 *   routes.c   sends and receives whose channel is known from an earlier one
 *   operations.c   operations that a later call completes
 *   posts.c    what is kept of messages and calls, in lists of fixed sizes
 *   late.c, clocks.c   what these calls waited for
 *   gather.c   the tables of all ranks, added up at rank 0; files and lines of call sites
 *   lines.c    the summary on stderr
 *   advice.c   sums, and the recommendations
 *   shared.c   the memory of tables and buffers, which other processes read (shared.h)
 *   trace.c, timeline.c   the time line of weftrun --trace
 *   job.h      the figures of the job, their sums and texts
 *   json.c     all figures as a file
 *   page.c, page_*.c, picture.c   the page for a browser: sections.h
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
 * holds with one thread that calls MPI; the first PROFILE_DURATIONS calls are kept. It does not
 * hold for MPI_Alltoallv and MPI_Alltoallw, in which each rank moves another amount, nor for
 * MPI_Allgatherv and MPI_Reduce_scatter with a count of 0.
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
#include "tools/profile/job.h"

#include "core/base/clock.h"

#include <pthread.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

struct profile {
    bool running;    /* between MPI_Init and MPI_Finalize */
    bool multiple;   /* MPI_THREAD_MULTIPLE */
    bool one_thread; /* calls MPI at a time; with MPI_THREAD_MULTIPLE: only one has called it yet */
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

/* The processor's counter is the clock; else it is nanoseconds. */
extern bool profile_counts_cycles;

static inline uint64_t profile_ticks(void)
{
#ifdef __x86_64__
    if (profile_counts_cycles)
        return __rdtsc();
#endif
    return weft_nanoseconds();
}

/* Compares ticks with seconds, so that profile_time is exact. */
void profile_clock_compare(void);

/* Names of the files of WEFT_PROFILE, the page and the same with .json; and of WEFT_TRACE. */
extern char profile_page[4096], profile_json[4096], profile_trace_file[4096];

/* ---- Tables */

/* The table of this thread; NULL: it has taken none. */
extern __thread struct profile_thread *profile_mine __attribute__((tls_model("initial-exec")));
extern pthread_mutex_t profile_shared_lock;

struct profile_thread *profile_thread_take(void);

static inline struct profile_thread *profile_thread_mine(void)
{
    return __builtin_expect(profile_mine != NULL, 1) ? profile_mine : profile_thread_take();
}

/* The table that threads share. */
static inline bool profile_is_shared(const struct profile_thread *thread)
{
    return __builtin_expect(thread == &profile.threads[PROFILE_THREADS], 0);
}

/* The table of this thread, locked if it is the shared one. */
static inline struct profile_thread *profile_thread_enter(void)
{
    struct profile_thread *thread = profile_thread_mine();
    if (profile_is_shared(thread))
        pthread_mutex_lock(&profile_shared_lock);
    return thread;
}

static inline void profile_thread_leave(struct profile_thread *thread)
{
    if (profile_is_shared(thread))
        pthread_mutex_unlock(&profile_shared_lock);
}

/* The table of this thread; NULL: it shares one. */
static inline struct profile_thread *profile_thread_own(void)
{
    struct profile_thread *thread = profile_thread_mine();
    return profile_is_shared(thread) ? NULL : thread;
}

/* The index at which the search for the slot of a call site begins. */
static inline unsigned profile_slot_index(const void *site, uint32_t function)
{
    uint64_t hash = ((uintptr_t)site ^ (uint64_t)function << 48) * 0x9e3779b97f4a7c15U;
    return (unsigned)(hash >> 32) % PROFILE_SLOTS;
}

struct profile_slot *profile_slot_search(struct profile_thread *thread,
                                         const struct weft_call *call);

/* The slot of a call site; the last one if the table is full. */
static inline struct profile_slot *profile_slot_of(struct profile_thread *thread,
                                                   const struct weft_call *call)
{
    const uint32_t function = (uint32_t)(call->function - weft_functions);
    struct profile_slot *slot = &thread->slots[profile_slot_index(call->site, function)];
    if (__builtin_expect(slot->site == call->site && slot->function == function && !slot->through,
                         1))
        return slot;
    return profile_slot_search(thread, call);
}

static inline void profile_slot_add_bytes(struct profile_slot *slot, uint64_t bytes)
{
    if (!bytes)
        return;
    slot->bytes += bytes;
    slot->least_bytes = bytes < slot->least_bytes ? bytes : slot->least_bytes;
    slot->most_bytes = bytes > slot->most_bytes ? bytes : slot->most_bytes;
}

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

/* True for functions that pass bytes. */
extern bool profile_has_bytes[WEFT_CALLS];

/* Adds the bytes of such a call that succeeded to the table of its thread, and returns them. peer:
 * the rank that its message goes to; -1: it is looked up. */
uint64_t profile_bytes_add(struct profile_thread *thread, const struct weft_call *call,
                           uint64_t ticks, int peer);

/* The bytes of a send that the call prepares. */
uint64_t profile_bytes_of_send(const struct weft_call *call);

/* Adds a message to a rank of MPI_COMM_WORLD; -1: to another rank. */
void profile_bytes_add_message(struct profile_thread *thread, int world, uint64_t bytes);

/* A blocking collective on an intra-communicator, for the time line. */
struct profile_collective {
    const struct profile_comm *comm;
    int32_t root;      /* -1: it has none */
    uint64_t received; /* bytes in this rank's buffer */
};

/* False: the call failed, or is none that the time line describes. */
bool profile_collective_read(const struct weft_call *call, struct profile_collective *collective);

/* True if no rank leaves the call before all ranks of the job have entered it. */
bool profile_is_synchronizing(const struct weft_call *call);

/* ---- Performance variables */
void profile_counters_begin(void);
void profile_counters_read(void);

/* Calls back for an event of MPI_T from now on, if the library has it. */
void profile_event_register(const char *event, MPI_T_event_cb_function *callback);

/* ---- Communicators */
struct profile_comm {
    const void *handle; /* also of a window */
    uint64_t id;        /* the same at all ranks; communicators of one group share it */
    int size, rank;
    bool inter;
    bool all;   /* its members are all ranks of MPI_COMM_WORLD */
    int held;   /* by receives that are not complete */
    int *world; /* ranks in MPI_COMM_WORLD (of the remote group), -1: others; NULL: the same */
    int n_neighbors, *neighbors; /* ranks that neighborhood collectives send to */
};

/* A rank of a communicator in MPI_COMM_WORLD; -1: it is none, or of another job. */
static inline int profile_world_of(const struct profile_comm *comm, int64_t rank)
{
    if (rank < 0 || rank >= comm->size)
        return -1;
    return comm->world ? comm->world[rank] : (int)rank;
}

void profile_comms_begin(void);

/* NULL: not known, because there are too many. The object is one of a call that succeeded. */
const struct profile_comm *profile_comm_of(MPI_Comm handle);
const struct profile_comm *profile_comm_of_win(MPI_Win handle);

/* NULL also: it has not been in a call that succeeded, and may be no communicator. */
const struct profile_comm *profile_comm_known(MPI_Comm handle);

/* A receive that is not complete holds its communicator, which the program may free meanwhile. One
 * thread calls MPI. */
void profile_comm_hold(const struct profile_comm *comm);
void profile_comm_release(const struct profile_comm *comm);

/* ---- Bindings */

void profile_binding_find(struct profile_binding *binding);

/* Collective: adds up the tables of all ranks. Returns the job at rank 0, else NULL. */
struct profile_job *profile_gather(void);

void profile_lines_print(const struct profile_job *job);
void profile_json_write(const struct profile_job *job);
void profile_page_write(const struct profile_job *job);

#endif
