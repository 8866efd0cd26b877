// SPDX-License-Identifier: BSD-3-Clause
/*
 * The process: everything that exists once per MPI process, in one object.
 *
 * Invariants:
 *  - weft_entry_flags is 0 exactly while MPI is initialised, at most one thread calls it and none
 * of the other flags below is set; then an entry point takes no lock. Any other value takes the
 *    general path of weft_enter or weft_enter_on.
 *  - Flags are set and cleared by atomic operations only: the handler of SIGUSR1 sets one.
 *  - With threads, everything here and below is read with one VCI held and written with all of them
 *    held, but for what belongs to a VCI (core/message/vci.h).
 */
#ifndef WEFT_PROCESS_H
#define WEFT_PROCESS_H

#include "core/message/vci.h"
#include "pmix/boot.h"

#include <stdbool.h>

struct weft_file;
struct weft_partitioned;

enum weft_others {
    WEFT_OTHERS_AGREE = 1,     /* agreements are active: core/comm/context_alloc.h */
    WEFT_OTHERS_COUNT = 2,     /* polls are counted: core/message/count.h */
    WEFT_OTHERS_DEFERRED = 4,  /* a VCI has deferred requests; set by a thread that holds one VCI */
    WEFT_OTHERS_WINDOWS = 8,   /* there are windows: core/rma/win.h */
    WEFT_OTHERS_RECOVERY = 16, /* communicators have agreements: core/comm/agree.h */
    WEFT_OTHERS_REVOKED = 32   /* revocations have arrived: core/comm/revoke.h; set by a lane, with
                                  one VCI held */
};

struct weft_process {
    struct weft_vci vcis[WEFT_VCIS_MAX]; /* nvcis of them are in use */
    unsigned nvcis;
    /* Communicators have so many VCI numbers: nvcis, unless this process has one VCI and
     * rank 0 has more. */
    unsigned vci_numbers;
    struct weft_job job;
    struct weft_peer **peers[WEFT_VCIS_MAX]; /* by VCI number and world rank; or NULL */
    struct weft_partitioned *partitioned;    /* operations that have something to do */
    struct weft_file *files;                 /* that are open: core/file/file.h */
    struct weft_file_form *file_forms;       /* of MPI_Register_datarep */
    uint8_t others;                          /* what else progress has to do: enum weft_others */
    int tag_ub;
    int processes; /* of the job, and foreign ones met so far: no communicator is larger */
    bool running;  /* MPI has started and not ended, whether it has a user or not */
    /* The open lanes, a bit for each, and the numbers of those that match receives, expose memory
     * and wake this process; 0: none. See core/message/lane.h. */
    unsigned lanes;
    uint8_t posts, exposes, sleeps;
    /* The functions that progress polls: of the lanes that are cheap, so many, of the others, NULL.
     */
    int (*polls[WEFT_LANES_MAX + 1])(unsigned vci);
    unsigned cheap_polls;
    bool crowded; /* all ranks are on this node, more than it has cores, and are not to share
                     memory: the same at every rank */
    int thread_level;
    uint64_t eager_credits; /* bytes that a sender may have unmatched at a receiver */
    int yield_after;        /* polls without an event before a waiting rank yields */
    unsigned yields;        /* that many times before it sleeps */
};

extern WEFT_HIDDEN struct weft_process weft;

/* The duties of an entry point besides its operation. */
enum weft_entry_flag {
    WEFT_ENTRY_CLOSED = 1,    /* MPI is not initialised: report that */
    WEFT_ENTRY_THREADS = 2,   /* take VCIs */
    WEFT_ENTRY_REPORT = 4,    /* set by the handler of SIGUSR1: report what this rank waits for */
    WEFT_ENTRY_COUNT = 8,     /* WEFT_COUNTERS=all: every message takes the general path */
    WEFT_ENTRY_EVENTS = 16,   /* callbacks of MPI_T's events wait to be called */
    WEFT_ENTRY_GPU = 64,      /* buffers may be in GPU memory: every call takes the general path */
    WEFT_ENTRY_REVOKED = 128, /* a communicator was revoked: every call takes the general path */
    WEFT_ENTRY_FORKED = 32    /* this is a forked child of a rank: report that; set alone */
};
extern WEFT_HIDDEN unsigned weft_entry_flags;

/* True when this thread holds all VCIs, or when there is one thread. */
static inline bool weft_vcis_hold_all(void)
{
    for (unsigned i = 0; weft_entry_flags & WEFT_ENTRY_THREADS && i < weft.nvcis; i++)
        if (!weft_lock_is_mine(&weft.vcis[i].lock))
            return false;
    return true;
}

/* True when this thread holds a VCI, or when there is one thread. */
static inline bool weft_vci_is_held(const struct weft_vci *vci)
{
    return !(weft_entry_flags & WEFT_ENTRY_THREADS) || weft_lock_is_mine(&vci->lock);
}

/* The scope that a wait on a VCI may progress: that VCI, or everything (NULL) if this thread holds
 * all. */
static inline struct weft_vci *weft_vci_scope(struct weft_vci *vci)
{
    return weft_vcis_hold_all() ? NULL : vci;
}

#endif
