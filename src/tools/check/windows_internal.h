// SPDX-License-Identifier: BSD-3-Clause
/*
 * Windows of this process, as the files of the checker that follow them share it: windows.c (the
 * list), epochs.c, accesses.c and window_waits.c.
 */
#ifndef WEFT_CHECK_WINDOWS_INTERNAL_H
#define WEFT_CHECK_WINDOWS_INTERNAL_H

#include "tools/check/channel.h"
#include "tools/check/check.h"
#include "tools/check/windows.h"

enum { CHECK_UNLOCKED, CHECK_SHARED, CHECK_EXCLUSIVE };

/* Targets beside ranks: all, and none. */
enum { CHECK_ALL_TARGETS = -1, CHECK_NO_TARGET = -2 };

/* Records sent between two common points, and a quarter of those kept of a window at the target. */
enum { CHECK_ACCESSES_SENT_MAX = 256 };

struct check_window_peer {
    int64_t size, unit;
    uint64_t key;               /* that of rank 0 is the key of the window */
    int world;                  /* rank in MPI_COMM_WORLD */
    bool is_posted;             /* the exposure epoch is for it */
    uint64_t posts, completes;  /* exposures to it, accesses of it that have been completed */
    bool is_unsure;             /* it has the record of unknown accesses under locks */
    uint64_t unsure_fences;     /* and of those in this epoch of a fence, counted from 1 */
    uint64_t starts, exposures; /* accesses of it that have been started,
                                   exposures of it to this process */
};

struct check_window {
    MPI_Win handle; /* MPI_WIN_NULL: the program has freed it */
    uint64_t serial;
    int rank, size;
    int flavor;
    bool is_gathered;   /* the peers' sizes are known: all members are in MPI_COMM_WORLD */
    bool is_compared;   /* among origins */
    uint64_t low, high; /* the memory that other processes may write */
    uint64_t base;      /* of the memory of this process */
    bool is_block;      /* which is a block of the heap */
    bool on_stack;      /* or in local variables */
    pthread_t thread;   /* of these */
    struct check_window_peer *peers;
    bool has_fence, fence_used; /* a fence permits operations; there was one */
    bool is_between;            /* there was one in another epoch since */
    struct check_location between;
    bool has_lock_all, is_started, is_posted;
    int locked;           /* how many targets */
    unsigned char *locks; /* of each target: CHECK_SHARED, for example */
    bool *started;        /* the targets of MPI_Win_start */
    struct check_location opened;
    uint64_t fences, calls; /* calls: check_windows.calls at the last common point of this window */
    int sent;               /* records of accesses, since that point or the last fence */
    struct check_window_access *accesses;
    int n, capacity;
    struct check_record *records; /* as a target */
    int arrived, arrived_capacity;
    struct check_window_store *stores;
    int stored;
    bool is_unsure;                        /* other processes write under locks without records */
    bool posts_are_late, posts_are_unseen; /* window_waits.c */
    MPI_Win words;                         /* of the locks; MPI_WIN_NULL: there are none */
    unsigned char *words_held;             /* of each target, as in locks */
    bool *words_left;                      /* of each target: it is taken no more */
    int holder;                            /* of the word that was seen last; -1: several */
};

extern struct check_windows {
    struct check_window **list;
    int n, capacity;
    int shared, dynamic;  /* windows of these flavors */
    uint64_t made;        /* windows */
    uint64_t calls;       /* that another process may have ordered */
    uint64_t points;      /* common points of MPI_COMM_WORLD */
    uint64_t point_calls; /* calls at the last of them */
    pthread_mutex_t lock;
} check_windows;

/* ---- windows.c. The lock is held by the caller of all functions below, if not stated otherwise.
 */

struct check_window *check_window_find(const void *handle);

/* The first rank that a call has; MPI_PROC_NULL: it has none. */
int check_window_rank_argument(const struct weft_call *call);
int check_window_assertion(const struct weft_call *call);

static inline bool check_window_is_target(const struct check_window *window, int rank)
{
    return rank >= 0 && rank < window->size;
}

static inline bool check_window_is_locked(const struct check_window *window, int target)
{
    return window->has_lock_all ||
           (check_window_is_target(window, target) && window->locks[target]);
}

/* Calls what for the index in the window of each process of the group that a call has. */
void check_window_for_group(struct check_window *window, const struct weft_call *call,
                            void (*what)(struct check_window *window, int rank, void *arg),
                            void *arg);

/* ---- epochs.c */

/* Before the call: whether it fits the epochs that are open. */
void check_epochs_begin(const struct weft_call *call, struct check_window *window);

/* True if the library permits an operation on a target, which may be behind MPI_Win_lock_all the
 * first one and then waits for the lock; is_lock: a flush, which waits for no other rank's lock. A
 * call by its name PMPI_ may have begun or ended the epoch. */
bool check_epoch_is_open(const struct check_window *window, int target, bool is_lock);

/* The call has returned. One that ends an epoch has ended it also if it returns an error. */
void check_epochs_end(const struct weft_call *call, struct check_window *window);

/* The target whose operations a call completes, there and at the origin, or at the origin alone. */
int check_epochs_completed(const struct weft_call *call);
int check_epochs_completed_locally(const struct weft_call *call);

/* ---- window_waits.c, without the lock */

/* MPI_Win_post has returned: the origins get a record, for which their MPI_Win_start waits. */
void check_window_waits_posted(const struct weft_call *call, const struct check_window *window);

/* Makes and frees the words of a window's locks; collective. */
void check_window_words_make(struct check_window *window, MPI_Comm comm);
void check_window_words_free(struct check_window *window);

/* MPI_Win_unlock, or MPI_Win_lock in error, has returned: gives back the word. */
void check_window_words_release(struct check_window *window, int target);

/* ---- accesses.c */

void check_accesses_begin(const struct weft_call *call, const struct check_window *window);

/* An operation has been issued. The lock is released while records are sent. */
void check_accesses_end(const struct weft_call *call, struct check_window *window);

/* Forgets the accesses to a target, or those that only read. */
void check_accesses_drop(struct check_window *window, int target, bool only_reads);

#endif
