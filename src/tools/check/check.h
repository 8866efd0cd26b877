// SPDX-License-Identifier: BSD-3-Clause
/*
 * weftrun --check: the tool that finds mistakes in the use of MPI while the program runs.
 *
 * Calls come from the wrappers (tools/interpose/call.h). dispatch.c shows each call to the modules
 * whose kind is asked for, in the order below, before and after the real call:
 *
 *   objects      tables of live and freed handles, by the kinds of parameters alone: no function is
 *                named that only makes, reads or frees an object
 *   comms        communicators by a key that all their members compute alike, without a message
 *   buffers      the memory of operations in flight, also of those on windows
 *   watch        memory that the library alone may change
 *   windows      their epochs (epochs.c), accesses that conflict (accesses.c), and calls on them
 *                that wait (window_waits.c)
 *   files        accesses to files that overlap, or do not fit the view
 *   collectives  a record of each collective call, compared by one rank of the communicator
 *   messages     a record of each send, compared with the receive by the receiver (matching.h);
 *                repeats.h: those that are alike are counted; known.h: calls that come again
 *   waits        waits in which records are received; gathering.h: of collective calls
 *   deadlocks    sets of ranks that wait for each other
 *   buffering    sets of ranks that would, if no message were buffered
 *   order        records the order of a run, and repeats it
 *   shuffle      chooses among legal orders, if that is asked for
 *   races        receives that could have taken other messages
 *
 * State. One struct check for the process, with the tables of the modules. One lock protects the
 * tables; it is not held during the real call, nor when a message is sent or received.
 *
 * Messages between ranks (channel.h). MPI_Init duplicates MPI_COMM_WORLD; all messages of the
 * checker are on the duplicate, by ranks of MPI_COMM_WORLD, so that the order of the program's
 * messages, wildcards included, is not changed. A message is a record of fixed size. Records are
 * sent nonblocking and received in waits and at other calls of the program. The checker never
 * blocks on a record but in MPI_Finalize, so it adds no deadlock.
 *
 * Dead ranks. A job with WEFT_KEEP_GOING goes on when ranks die. Records would be missing then, and
 * a wait that is made by tests has other errors than the real call. So in such a job only the kinds
 * that need no other rank are checked, objects and buffers, and each call is the real one.
 *
 * Errors that end the job. A finding that may be followed by an abort or a hang is printed at once
 * (check_report, now); the others are printed by rank 0 at the end, joined over ranks.
 *
 * The end. MPI_Init sets an attribute on MPI_COMM_SELF, the first one; MPI_Finalize deletes
 * attributes in the reverse order, so the callback of this one runs when all those of the program
 * have freed their objects, and messages may still be sent.
 *
 * Calls that do not end. An error handler of the program may leave a call by longjmp or an
 * exception. A later call, whose frame is not below that of the first, shows it (dispatch.c): what
 * is kept of the first one is dropped, and what it may have changed is not known.
 *
 * Settings: WEFT_CHECK=1, or a list of kinds and words: objects, collectives, messages, deadlocks,
 * buffers, windows, files, races, fail (exit code 1 after findings), shuffle and its seed;
 * WEFT_CHECK_SARIF=FILE, WEFT_CHECK_SVG=FILE, WEFT_CHECK_RECORD=FILE, WEFT_CHECK_REPLAY=FILE.
 *
 * Invariants:
 *  - The checker calls MPI only by weft_next, so its own calls are not seen.
 *  - The results of the program's calls are those of the real calls, statuses included.
 */
#ifndef WEFT_CHECK_H
#define WEFT_CHECK_H

#include "core/base/assert.h"
#include "tools/check/finding.h"
#include "tools/interpose/call.h"

#include <pthread.h>

struct check {
    int kinds;            /* bits of enum check_kind */
    bool fail;            /* exit code 1 after findings */
    bool shuffles;        /* shuffle.h */
    uint64_t seed;        /* 0: any */
    bool repeats;         /* the order of a record (order.h), perhaps of another program */
    bool has_order;       /* an order is recorded, repeated or shuffled */
    bool began;           /* MPI_Init has returned, and the end has not come */
    bool is_spawned;      /* the job, by MPI_Comm_spawn */
    bool may_lose_ranks;  /* the job goes on when ranks die */
    int rank, size;       /* in MPI_COMM_WORLD */
    bool several_threads; /* MPI_THREAD_MULTIPLE, in a process of the job */
    MPI_Comm channel;
    int found;             /* findings of the job, after the end */
    size_t races_left_out; /* bytes that the search for races would need; 0: it was made */
    pthread_mutex_t lock;
    struct check_findings findings;
};

extern struct check check;

/* Without MPI_THREAD_MULTIPLE the program makes one call at a time. */
static inline void check_mutex_lock(pthread_mutex_t *lock)
{
    if (check.several_threads)
        pthread_mutex_lock(lock);
}

static inline void check_mutex_unlock(pthread_mutex_t *lock)
{
    if (check.several_threads)
        pthread_mutex_unlock(lock);
}

static inline void check_lock(void)
{
    check_mutex_lock(&check.lock);
}

static inline void check_unlock(void)
{
    check_mutex_unlock(&check.lock);
}

/* Kinds of parameters that a function has, as bits, by its index in weft_functions: most modules
 * have nothing to do for most functions. */
enum check_has {
    CHECK_HAS_DATA = 1 << 0,
    CHECK_HAS_INOUT_HANDLE = 1 << 1,
    CHECK_HAS_OUT_HANDLE = 1 << 2,
    CHECK_HAS_OUT_COMM = 1 << 3, /* or a window or file */
    CHECK_HAS_CHANGED_TYPE = 1 << 4,
    CHECK_HAS_WINDOW = 1 << 5,
    CHECK_HAS_FILE = 1 << 6,
    CHECK_HAS_IN_REQUEST = 1 << 7,
    CHECK_HAS_CHANGED_COMM = 1 << 8,
    CHECK_IS_MESSAGE = 1 << 9,           /* known.h */
    CHECK_IS_BLOCKING_MESSAGE = 1 << 10, /* which waits.c makes */
    CHECK_IS_ORDERING = 1 << 11          /* by it processes may order their accesses to files */
};
extern unsigned short check_functions[WEFT_CALLS];

static inline bool check_has(const struct weft_call *call, enum check_has bit)
{
    return check_functions[call->function - weft_functions] & bit;
}

/* A hash of two numbers. */
static inline uint64_t check_mix(uint64_t a, uint64_t b)
{
    a = (a ^ b) * UINT64_C(0xff51afd7ed558ccd);
    return a ^ a >> 32;
}

static inline struct check_location check_location_of(const struct weft_call *call)
{
    return (struct check_location){call->function, weft_site_of(call->site)};
}

/* Storage of a thread. The library is loaded with the program: its address is known then. */
#define CHECK_THREAD __thread __attribute__((tls_model("initial-exec")))

/* Calls that the thread is in: callbacks of the program make calls inside others. */
extern CHECK_THREAD int check_depth;

/* The same list with twice the capacity, of n entries; the old one is freed. */
void *check_enlarge(void *list, int n, int *capacity, size_t size);

/* Keys of communicators: of those that are not compared any more. */
struct check_keys {
    uint64_t *list;
    int n, capacity;
};

static inline bool check_keys_has(const struct check_keys *keys, uint64_t key)
{
    for (int i = 0; i < keys->n; i++)
        if (keys->list[i] == key)
            return true;
    return false;
}

void check_keys_add(struct check_keys *keys, uint64_t key);

/* Blocks of one size that are freed and allocated in each call: a list of free ones. Not for
 * several threads. */
struct check_pool {
    size_t size; /* at least that of a pointer */
    struct check_free_block {
        struct check_free_block *next;
    } * first;
};

/* A block, not zeroed. */
static inline void *check_pool_take(struct check_pool *pool)
{
    struct check_free_block *block = pool->first;
    if (!block)
        return weft_interpose_allocate(1, pool->size);
    pool->first = block->next;
    return block;
}

static inline void check_pool_give(struct check_pool *pool, void *memory)
{
    struct check_free_block *block = memory;
    weft_assert(block != pool->first); /* given twice */
    block->next = pool->first;
    pool->first = block;
}

/* ---- Modules: before and after the real call, and at the end of the job */
void check_objects_begin(struct weft_call *call);
void check_objects_end(struct weft_call *call);
struct check_changes;
void check_objects_leave(const struct check_changes *changes); /* of a call that does not end */
void check_objects_finish(void);

void check_buffers_begin(struct weft_call *call);
void check_buffers_end(struct weft_call *call);
void check_buffers_leave(const struct check_changes *changes);

void check_collectives_begin(struct weft_call *call);

/* Rank 0 of the communicator waits up to a second for the records of a call that synchronizes. */
void check_collectives_await(void);
void check_collectives_finish(void);
struct check_record;
void check_collectives_take(const struct check_record *record);

#endif
