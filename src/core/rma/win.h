// SPDX-License-Identifier: BSD-3-Clause
/*
 * Windows: memory that other ranks read and write (MPI 5.0 chapter 12).
 *
 * A target of a window is reached by one of four mechanisms:
 *  - directly: the target's memory is mapped into this process (`base` of the target). Operations
 *    are loads, stores and processor atomics of the origin, complete when the call returns.
 *  - by messages (core/rma/message.h): a handler at the target, which runs in progress, applies the
 *    operations.
 *  - by messages, but for puts and gets of contiguous data, which the provider writes and reads
 *    (`by_lane` of the target; ofi/rma.h). If any rank's memory cannot be registered, all ranks use
 *    messages.
 *  - by messages, but for puts and gets, which the kernel copies (`pid` of the target): memory of
 *    MPI_Win_create in another process of the node. They are complete when the call returns.
 *
 * Invariants:
 *  - A window has a communicator of its own: its packets use the channel `partitioned`, its
 * collectives the channel `coll`, and nothing else uses either. The communicator's handle is the
 * window's, and its error handler is the window's, so that errors of requests are raised at the
 * window. The window of a file's shared pointer uses the file's communicator instead, whose
 * channel `partitioned` nothing else uses.
 *  - The lock of MPI_Win_lock is one word for each rank (struct weft_win_control). Ranks that share
 *    memory (members) change it themselves; for other ranks the handler of its owner does.
 *  - Before a member takes a shared lock it sets its byte in `shared_by`, and clears it after the
 *    release, or at once if the lock is not free: the byte of a member that waits is clear. A lock
 *    that a dead member holds is never released: a rank that waits for it gets an error.
 *  - Where several processes map a target's memory (`mapped`), accumulate operations exclude each
 *    other by the words `accumulating` and `applying`: see apply.c.
 *
 * Functions that can fail return an MPI error class whose sentence they have recorded.
 */
#ifndef WEFT_WIN_H
#define WEFT_WIN_H

#include "core/coll/op.h"
#include "core/comm/comm.h"
#include "core/base/attribute.h"
#include "core/base/info.h"
#include "core/message/request.h"
#include "core/base/shared_memory.h"
#include "core/message/lane.h"

#include <stdatomic.h>

/* One rank's control block in the segment, beside its memory. Each word has a cache line, because
 * different ranks write them. */
struct weft_win_control {
    _Alignas(64) _Atomic uint64_t lock; /* the exclusive holder's rank + 1 in the upper 32 bits, the
                                           number of shared holders in the lower */
    _Alignas(64) _Atomic uint32_t accumulating; /* the rank + 1 that applies an accumulate operation
                                                   to this memory under the word, or 0 */
    _Alignas(64) _Atomic uint32_t applying; /* the target + 1 to whose elements this rank applies
                                               processor atomics, or 0 */
};

/* Bytes of the record of each rank that all ranks of a new window exchange: make.c. */
enum { WEFT_WIN_RECORD_BYTES = 56 };

/* A lock that this rank holds at a target. */
enum weft_win_lock {
    WEFT_WIN_UNLOCKED,
    WEFT_WIN_SHARED,
    WEFT_WIN_EXCLUSIVE,
    WEFT_WIN_NOCHECK /* the program asserts that no conflicting lock is held */
};

/* The reason for which a rank refuses its lock, also in the message; 0: it does not. */
enum weft_win_refusal { WEFT_WIN_REFUSED_DEAD = 1, WEFT_WIN_REFUSED_REVOKED };

/* The notices that end a wait in post-start-complete-wait. */
enum weft_win_notice { WEFT_WIN_POSTED, WEFT_WIN_COMPLETED, WEFT_WIN_NOTICES };

struct weft_win_target {
    char *base;                         /* its memory in this process; NULL: reached by messages */
    int pid;                            /* not 0: the kernel copies puts and gets */
    uintptr_t remote;                   /* with pid: the address of its memory in its process */
    struct weft_remote_memory location; /* with by_lane: its memory for the lane */
    struct weft_win_control *control;   /* NULL: its lock is reached by messages */
    _Atomic uint8_t *shared_by;         /* with control: which members hold its shared lock */
    MPI_Aint bytes, unit;               /* of its window: size, displacement unit */
    uint8_t lock;                       /* enum weft_win_lock */
    uint8_t granted;                    /* the lock that this rank's handler has granted to it */
    bool acquiring;                     /* a thread waits for the lock after MPI_Win_lock_all */
    uint8_t refused;                    /* enum weft_win_refusal: it has refused its lock */
    int holder; /* where its lock is reached by messages: the rank + 1 that held it exclusively when
                   the target reported it; 0: none */
    uint64_t passed; /* exclusive requests that a shared one of it has passed */
    bool started;    /* in the group of MPI_Win_start */
    bool by_lane;    /* its lane moves puts and gets */
    bool flush;      /* operations without a result were sent after the last one with one */
    uint32_t notices[WEFT_WIN_NOTICES]; /* received, and not yet used by a call */
    uint32_t acks_pending;              /* packets sent that it will acknowledge */
    uint32_t unfinished;                /* operations in the list of the window */
};

enum weft_win_access {
    WEFT_WIN_NO_ACCESS, /* with `fenced`: between two fences */
    WEFT_WIN_STARTED,   /* MPI_Win_start */
    WEFT_WIN_LOCKED,    /* MPI_Win_lock of one or more targets */
    WEFT_WIN_LOCKED_ALL
};

/* A rank's memory as this process sees it; base is NULL if it has none that this process can reach.
 */
struct weft_win_memory {
    void *base;
    MPI_Aint bytes, unit;
};

/* Memory attached to a dynamic window. */
struct weft_win_region {
    char *base;
    MPI_Aint bytes;
};

struct weft_rma_op;
struct weft_rma_slot;
struct weft_rma_waiter;

struct weft_win {
    struct weft_object object;
    struct weft_comm *comm;
    bool joined;                     /* comm is not the window's own: weft_win_arguments */
    struct weft_win_target *targets; /* by rank */
    MPI_Win handle;
    /* As the attributes show them; disp_unit is MPI_UNDEFINED if the unit is above INT_MAX. */
    int flavor, model, disp_unit;
    void *base;
    MPI_Aint bytes;
    struct weft_attribute *attributes;
    struct weft_info *info;
    char name[MPI_MAX_OBJECT_NAME];
    bool no_locks;
    bool host_only; /* the user asserts that no buffer of an operation is in device memory */

    /* Epochs */
    enum weft_win_access access;
    bool fenced;     /* the last fence allows operations after it */
    bool fence_used; /* operations were started since */
    bool lock_all_nocheck;
    int locks;                           /* targets locked by MPI_Win_lock */
    struct weft_group *started, *posted; /* of the open epochs, one reference each; or NULL */
    int fault; /* the error class of an operation that had ended for its caller; the next
             synchronization returns it */
    const char *waits_for; /* for the hang report; NULL: no call on this window waits */
    int waits_at;

    /* Memory */
    struct weft_shared_memory segment; /* control words, and memory that MPI allocated */
    int *members, nmembers, member;    /* the ranks that share it, ascending; this one's index */
    struct weft_win_control *control;  /* this rank's */
    bool mapped;                       /* other processes map memory of the window */
    struct weft_win_region *regions;   /* attached, `nregions` of them */
    size_t nregions;
    struct weft_remote_region *exposed; /* this rank's memory, registered; or NULL */
    unsigned remote_flags; /* enum weft_remote_flag: what the lane does for this window */

    /* Messages: message.c */
    struct weft_rma_slot *slots; /* posted receives, in the order of their posting */
    int head;
    struct weft_request parent;         /* of its messages, with the flag WEFT_REQUEST_SUB */
    size_t packet;                      /* bytes of the largest packet */
    struct weft_rma_op *ops, **ops_end; /* operations that are not complete, in order */
    struct weft_rma_op *unsent;         /* the first of them that has more to send; or NULL */
    uint64_t next_number;
    int results_pending;             /* packets sent whose RESULT or FAULT has not arrived */
    int sends_pending;               /* packets and transfers that the lane has not completed */
    struct weft_rma_waiter *waiters; /* ranks that wait for the lock of this one, in order */
    uint64_t exclusive_requests;     /* that were ever queued there */
    int reported;                    /* the rank + 1 whose exclusive lock they wait for */
    double report_at;                /* when WEFT_RMA_HOLDER is sent to them; 0: it was sent */
    struct weft_win *next;           /* of all windows of its VCI */
};

static inline struct weft_attributed weft_win_attributed(struct weft_win *win)
{
    return (struct weft_attributed){WEFT_KIND_WIN, win->handle, &win->attributes};
}

/* ---- make.c: collective over a communicator; hints.c and attach.c */

struct weft_win_arguments {
    int flavor; /* MPI_WIN_FLAVOR_* */
    void *base; /* of MPI_WIN_FLAVOR_CREATE */
    MPI_Aint bytes, unit;
    const struct weft_info *info; /* NULL: none */
    bool same_bytes;              /* `bytes` is the same at all ranks */
    bool joins; /* the window uses the communicator itself, over which nobody else makes a window or
                   a partitioned request; it is freed after the window */
    int failed; /* an error class of this rank: the call fails at all ranks */
};

int weft_win_make(struct weft_comm *over, const struct weft_win_arguments *arguments,
                  struct weft_win **out);

/* Waits for all ranks, before the window is freed: weft_win_free cannot fail. */
int weft_win_finish(struct weft_win *win);
void weft_win_free(struct weft_win *win);

/* Uses the hints that may change after the window was made. */
int weft_win_take_hints(struct weft_win *win, const struct weft_info *info);

void weft_win_set_name(struct weft_win *win, const char *name);

/* The memory of a rank; MPI_PROC_NULL: of the lowest rank that has some. */
struct weft_win_memory weft_win_shared(const struct weft_win *win, int rank);

int weft_win_attach(struct weft_win *win, void *base, MPI_Aint bytes);
int weft_win_detach(struct weft_win *win, const void *base);

/* True if [at, at + bytes) of this rank is inside its window; *where is its address. */
bool weft_win_contains(const struct weft_win *win, int64_t at, uint64_t bytes, char **where);

/* ---- epoch.c: synchronization. It also returns errors of operations that ended before. */

enum { WEFT_WIN_ALL_RANKS = -1 };

int weft_win_fence(struct weft_win *win, int assert);
int weft_win_post(struct weft_win *win, struct weft_group *group, int assert);
int weft_win_start(struct weft_win *win, struct weft_group *group, int assert);
int weft_win_complete(struct weft_win *win);
int weft_win_wait(struct weft_win *win);
int weft_win_test(struct weft_win *win, int *flag);
int weft_win_lock(struct weft_win *win, int type, int rank, int assert);
int weft_win_unlock(struct weft_win *win, int rank);
int weft_win_lock_all(struct weft_win *win, int assert);
int weft_win_unlock_all(struct weft_win *win);

/* Takes the lock of a rank that shares memory by its word, without an epoch, if it is free. The
 * caller releases it before it waits for anything. Another lock of this target is not held. */
int weft_win_take_word(struct weft_win *win, int rank, enum weft_win_lock type, bool *taken);
void weft_win_release_word(struct weft_win *win, int rank, enum weft_win_lock type);

/* local: until the origin's buffers may be used again. rank may be WEFT_WIN_ALL_RANKS. */
int weft_win_flush(struct weft_win *win, int rank, bool local);
int weft_win_sync(struct weft_win *win);

/* "between MPI_Win_lock and MPI_Win_unlock": an open epoch, for sentences. */
const char *weft_win_epoch(enum weft_win_access access);

/* MPI_SUCCESS if no epoch is open. */
int weft_win_idle(const struct weft_win *win);

/* MPI_SUCCESS if an operation on a target is allowed now. After MPI_Win_lock_all the first
 * operation on a target takes its lock here. */
int weft_win_access(struct weft_win *win, int target);

/* ---- operation.c */

enum weft_rma_kind {
    WEFT_RMA_PUT,
    WEFT_RMA_GET,
    WEFT_RMA_ACCUMULATE,
    WEFT_RMA_GET_ACCUMULATE,
    WEFT_RMA_COMPARE_AND_SWAP
};

/* `bytes` bytes of data in elements of a type at an address. */
struct weft_rma_data {
    void *at;
    const struct weft_datatype *type;
};

/* An operation whose arguments are checked. The three data have as many bytes in packed form. */
struct weft_rma_call {
    enum weft_rma_kind kind;
    int target;
    size_t bytes;                /* more than 0 */
    struct weft_rma_data origin; /* of a get: where the data go */
    struct weft_rma_data result; /* of get_accumulate and compare_and_swap */
    const void *compare;         /* of compare_and_swap */
    int64_t at;        /* of the first element, from the beginning of the target's window */
    int64_t low, high; /* the bytes from low to before high of it contain the data */
    const struct weft_datatype *type; /* at the target */
    const struct weft_op *op;         /* of accumulate operations */
};

/* Starts an operation. request: NULL, or where a request is stored that completes with it. */
int weft_rma_start(struct weft_win *win, const struct weft_rma_call *call,
                   struct weft_request **request);

/* ---- apply.c */

/* An accumulate operation at its target. */
struct weft_rma_apply {
    const struct weft_op *op; /* weft_op_check accepts it for the element */
    enum weft_basic_type element;
    struct weft_win *win;
    int target;
    bool alone; /* no other process applies operations there */
};

/* True if no other process applies operations to a target whose lock is held as stated. */
static inline bool weft_win_is_alone(const struct weft_win *win, enum weft_win_lock lock)
{
    return !win->mapped || lock == WEFT_WIN_EXCLUSIVE;
}

/* Applies the operation to elements that follow each other in memory as in packed form; `in` and
 * `out` as for weft_rma_apply (message.h). */
int weft_rma_apply_run(const struct weft_rma_apply *apply, char *at, size_t bytes, const char *in,
                       char *out);

/* ---- For the rest of the core */

/* Operations on windows, and the windows' messages, which are sub-requests. */
extern const struct weft_request_ops weft_rma_request_ops;

/* Progresses the windows of a VCI, which the caller holds; returns the number of events. */
int weft_rma_progress(struct weft_vci *vci);

/* Calls see(arg, text) for each window on which a call waits, and for each open epoch. */
void weft_rma_each_wait(void (*see)(void *arg, const char *text), void *arg);

#endif
