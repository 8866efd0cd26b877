// SPDX-License-Identifier: BSD-3-Clause
/*
 * Synchronization of windows (MPI 5.0 section 12.5): fences, post-start-complete-wait, locks,
 * flushes.
 *
 * Operations on targets that are reached directly are complete when they return; for these a
 * synchronization is a memory fence. For the other targets it waits until their packets are sent
 * and their results have arrived, and, where completion at the target is required, for the ACK of a
 * FLUSH or UNLOCK.
 *
 * Invariants:
 *  - While access is not WEFT_WIN_NO_ACCESS no other access epoch can be opened. A fence opens one
 *    that exists only if operations follow: any other synchronization may follow instead.
 *  - When a rank has died, the wait for it ends with MPIX_ERR_PROC_FAILED; the epoch is closed.
 *  - A post or a start whose group has a dead rank begins an epoch with the others, which get their
 *    notices; the end of the epoch returns the error. So no living rank waits for a notice of
 *    another one in vain.
 */
#include "core/coll/coll.h"
#include "core/base/error.h"
#include "core/progress/failure.h"
#include "core/progress/progress.h"
#include "core/rma/message.h"
#include "core/message/count.h"

#include <stdio.h>

/* ThreadSanitizer does not follow fences; those here order accesses of different processes. */
#ifdef __SANITIZE_THREAD__
#pragma GCC diagnostic ignored "-Wtsan"
#endif

/* The error of this call, or else of an operation before it, or else of the window. */
static int outcome(struct weft_win *win, int code)
{
    int fault = win->fault;
    win->fault = MPI_SUCCESS;
    atomic_thread_fence(memory_order_seq_cst);
    code = code != MPI_SUCCESS ? code : fault;
    return code == MPI_SUCCESS && weft_unlikely(win->comm->revoked)
               ? weft_comm_report_revoked(win->comm)
               : code;
}

/* For waits that another rank ends by a call: false, with the error, if the window is revoked. */
static bool may_wait(struct weft_rma_wait *wait)
{
    if (weft_unlikely(wait->win->comm->revoked) && wait->code == MPI_SUCCESS)
        wait->code = weft_comm_report_revoked(wait->win->comm);
    return wait->code == MPI_SUCCESS;
}

/* An epoch has begun, so this call cannot fail: an error of an operation before it is that of the
 * end of the epoch. */
static int begun(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    return MPI_SUCCESS;
}

/* ---- Waiting for operations */

static bool has_unfinished(struct weft_rma_wait *wait)
{
    return wait->win->targets[wait->rank].unfinished > 0;
}

/* Until the operations on a target need no buffer of this rank. */
static int finish_operations(struct weft_win *win, int rank)
{
    if (!win->targets[rank].unfinished)
        return MPI_SUCCESS;
    struct weft_rma_wait wait = {
        .win = win, .rank = rank, .what = "operations on the window", .waits = has_unfinished};
    return weft_rma_wait_while(&wait);
}

static int finish_all_operations(struct weft_win *win)
{
    int code = MPI_SUCCESS;
    for (int rank = 0; rank < win->comm->size && win->ops; rank++) {
        int failed = finish_operations(win, rank);
        code = failed ? failed : code;
    }
    return code;
}

/* Sends a packet that the target acknowledges. */
static int send_for_ack(struct weft_win *win, int rank, enum weft_rma_packet_kind kind, int op)
{
    int code = weft_rma_notify(win, rank, kind, op);
    win->targets[rank].acks_pending += code == MPI_SUCCESS;
    return code;
}

static bool has_acks_pending(struct weft_rma_wait *wait)
{
    return wait->win->targets[wait->rank].acks_pending > 0;
}

static int await_acks(struct weft_win *win, int rank, const char *what)
{
    if (!win->targets[rank].acks_pending)
        return MPI_SUCCESS;
    struct weft_rma_wait wait = {.win = win, .rank = rank, .what = what, .waits = has_acks_pending};
    int code = weft_rma_wait_while(&wait);
    if (code != MPI_SUCCESS)
        win->targets[rank].acks_pending = 0;
    return code;
}

static const char flush_text[] = "the acknowledgement of operations";

static int send_flush(struct weft_win *win, int rank)
{
    if (!win->targets[rank].flush)
        return MPI_SUCCESS;
    win->targets[rank].flush = false;
    return send_for_ack(win, rank, WEFT_RMA_FLUSH, 0);
}

static int flush_one(struct weft_win *win, int rank)
{
    int code = finish_operations(win, rank);
    if (code == MPI_SUCCESS)
        code = send_flush(win, rank);
    int failed = await_acks(win, rank, flush_text);
    return code ? code : failed;
}

/* All targets acknowledge at the same time. */
static int flush_all(struct weft_win *win)
{
    int code = finish_all_operations(win), failed;
    for (int rank = 0; rank < win->comm->size; rank++)
        if ((failed = send_flush(win, rank)))
            code = failed;
    for (int rank = 0; rank < win->comm->size; rank++)
        if ((failed = await_acks(win, rank, flush_text)))
            code = failed;
    return code;
}

int weft_win_flush(struct weft_win *win, int rank, bool local)
{
    bool inside = win->access == WEFT_WIN_LOCKED_ALL ||
                  (win->access == WEFT_WIN_LOCKED && (rank < 0 || win->targets[rank].lock));
    if (!inside)
        return weft_error_set(MPI_ERR_RMA_SYNC,
                              rank < 0 ? "no target of the window is locked"
                                       : "rank %d of the window is not locked; a flush is for "
                                         "MPI_Win_lock and MPI_Win_lock_all",
                              rank);
    weft_look_sometimes(win->comm->vci);
    return outcome(win, rank < 0 ? local ? finish_all_operations(win) : flush_all(win)
                        : local ? finish_operations(win, rank)
                                 : flush_one(win, rank));
}

int weft_win_sync(struct weft_win *win)
{
    weft_look_sometimes(win->comm->vci);
    return outcome(win, MPI_SUCCESS);
}

/* ---- Order of epochs */

static const char exposed_text[] = "between MPI_Win_post and MPI_Win_wait";
const char *weft_win_epoch(enum weft_win_access access)
{
    static const char *const texts[] = {
        [WEFT_WIN_NO_ACCESS] = "between two fences with operations",
        [WEFT_WIN_STARTED] = "between MPI_Win_start and MPI_Win_complete",
        [WEFT_WIN_LOCKED] = "between MPI_Win_lock and MPI_Win_unlock",
        [WEFT_WIN_LOCKED_ALL] = "between MPI_Win_lock_all and MPI_Win_unlock_all"};
    return texts[access];
}

static int open_epoch(const char *which)
{
    return weft_error_set(MPI_ERR_RMA_SYNC, "the window is %s; end that epoch first", which);
}

static int no_access_yet(const struct weft_win *win)
{
    weft_assert((win->access == WEFT_WIN_LOCKED) == (win->locks > 0));
    weft_assert((win->access == WEFT_WIN_STARTED) == (win->started != NULL));
    bool open = win->access != WEFT_WIN_NO_ACCESS || win->fence_used;
    return open ? open_epoch(weft_win_epoch(win->access)) : MPI_SUCCESS;
}

int weft_win_idle(const struct weft_win *win)
{
    int code = no_access_yet(win);
    return code == MPI_SUCCESS && win->posted ? open_epoch(exposed_text) : code;
}

static int bad_assertion(int assert, int allowed)
{
    if (!(assert & ~allowed))
        return MPI_SUCCESS;
    return weft_error_set(MPI_ERR_ASSERT, "the assertion %d has bits that this call does not take",
                          assert);
}

/* ---- Fence */

int weft_win_fence(struct weft_win *win, int assert)
{
    int code = bad_assertion(assert, MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE |
                                         MPI_MODE_NOSUCCEED);
    if (code == MPI_SUCCESS && (win->access != WEFT_WIN_NO_ACCESS || win->posted))
        code = open_epoch(win->posted ? exposed_text : weft_win_epoch(win->access));
    if (code == MPI_SUCCESS && (assert &MPI_MODE_NOPRECEDE) && win->fence_used)
        code = weft_error_set(MPI_ERR_ASSERT, "MPI_MODE_NOPRECEDE is asserted, but operations of "
                                              "this rank came before this fence");
    if (code != MPI_SUCCESS)
        return code;
    code = flush_all(win);
    atomic_thread_fence(memory_order_seq_cst);
    int failed = weft_coll_barrier(win->comm);
    win->fenced = !(assert &MPI_MODE_NOSUCCEED);
    win->fence_used = false;
    return outcome(win, code ? code : failed);
}

/* ---- Post, start, complete, wait */

static int rank_in_window(const struct weft_win *win, const struct weft_group *group, int i)
{
    return weft_group_rank_of(win->comm->group, weft_group_world(group, i));
}

static int check_group(const struct weft_win *win, const struct weft_group *group)
{
    for (int i = 0; i < group->size; i++)
        if (rank_in_window(win, group, i) < 0)
            return weft_error_set(MPI_ERR_GROUP,
                                  "rank %d of the group (rank %d of the job) is not in the window",
                                  i, weft_group_world(group, i));
    return MPI_SUCCESS;
}

/* Sends POST or COMPLETE to a group. */
static int notify_group(struct weft_win *win, const struct weft_group *group,
                        enum weft_win_notice notice)
{
    int code = MPI_SUCCESS;
    for (int i = 0; i < group->size; i++) {
        int rank = rank_in_window(win, group, i), failed = MPI_SUCCESS;
        if (rank == win->comm->rank)
            win->targets[rank].notices[notice]++;
        else
            failed = weft_rma_notify(
                win, rank, notice == WEFT_WIN_POSTED ? WEFT_RMA_POST : WEFT_RMA_COMPLETE, 0);
        code = failed ? failed : code;
    }
    return code;
}

/* number: the notice. */
static bool lacks_notice(struct weft_rma_wait *wait)
{
    return !wait->win->targets[wait->rank].notices[wait->number] && may_wait(wait);
}

/* Waits for a notice of each rank of a group, and uses it. */
static int await_group(struct weft_win *win, const struct weft_group *group,
                       enum weft_win_notice notice, const char *what)
{
    int code = MPI_SUCCESS;
    for (int i = 0; i < group->size; i++) {
        int rank = rank_in_window(win, group, i);
        struct weft_rma_wait wait = {
            .win = win, .rank = rank, .what = what, .waits = lacks_notice, .number = notice};
        int failed = weft_rma_wait_while(&wait);
        uint32_t *count = &win->targets[rank].notices[notice];
        *count -= *count > 0;
        code = failed ? failed : code;
    }
    return code;
}

int weft_win_post(struct weft_win *win, struct weft_group *group, int assert)
{
    int code = bad_assertion(assert, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT);
    if (code == MPI_SUCCESS)
        code = check_group(win, group);
    if (code == MPI_SUCCESS && (win->posted || win->fence_used))
        code = open_epoch(win->posted ? exposed_text : weft_win_epoch(WEFT_WIN_NO_ACCESS));
    if (code != MPI_SUCCESS)
        return code;
    win->fenced = false;
    win->posted = weft_group_keep(group);
    atomic_thread_fence(memory_order_seq_cst);
    code = assert &MPI_MODE_NOCHECK ? MPI_SUCCESS : notify_group(win, group, WEFT_WIN_POSTED);
    return weft_failure_is_death(code) ? MPI_SUCCESS : code;
}

static void mark_started(struct weft_win *win, const struct weft_group *group, bool started)
{
    for (int i = 0; i < group->size; i++)
        win->targets[rank_in_window(win, group, i)].started = started;
}

int weft_win_start(struct weft_win *win, struct weft_group *group, int assert)
{
    int code = bad_assertion(assert, MPI_MODE_NOCHECK);
    if (code == MPI_SUCCESS)
        code = check_group(win, group);
    if (code == MPI_SUCCESS)
        code = no_access_yet(win);
    if (code == MPI_SUCCESS && !(assert &MPI_MODE_NOCHECK))
        code = await_group(win, group, WEFT_WIN_POSTED, "MPI_Win_post");
    if (code != MPI_SUCCESS && !weft_failure_is_death(code))
        return code;
    win->fenced = false;
    win->access = WEFT_WIN_STARTED;
    weft_assert(!win->started);
    win->started = weft_group_keep(group);
    mark_started(win, group, true);
    return begun();
}

int weft_win_complete(struct weft_win *win)
{
    if (win->access != WEFT_WIN_STARTED)
        return weft_error_set(MPI_ERR_RMA_SYNC, "MPI_Win_start was not called before");
    int code = finish_all_operations(win);
    atomic_thread_fence(memory_order_seq_cst);
    int failed = notify_group(win, win->started, WEFT_WIN_COMPLETED);
    mark_started(win, win->started, false);
    weft_group_release(win->started);
    win->started = NULL;
    win->access = WEFT_WIN_NO_ACCESS;
    return outcome(win, code ? code : failed);
}

static int end_exposure(struct weft_win *win)
{
    int code = await_group(win, win->posted, WEFT_WIN_COMPLETED, "MPI_Win_complete");
    weft_group_release(win->posted);
    win->posted = NULL;
    return outcome(win, code);
}

static int not_posted(void)
{
    return weft_error_set(MPI_ERR_RMA_SYNC, "MPI_Win_post was not called before");
}

int weft_win_wait(struct weft_win *win)
{
    return win->posted ? end_exposure(win) : not_posted();
}

int weft_win_test(struct weft_win *win, int *flag)
{
    *flag = 0;
    if (!win->posted)
        return not_posted();
    weft_look(weft_win_scope(win));
    for (int i = 0; i < win->posted->size; i++) {
        int rank = rank_in_window(win, win->posted, i);
        if (!win->targets[rank].notices[WEFT_WIN_COMPLETED] && !weft_rma_is_dead(win, rank) &&
            !win->comm->revoked)
            return MPI_SUCCESS;
    }
    *flag = 1;
    return end_exposure(win);
}

/* ---- Locks */

static int report_dead_holder(const struct weft_win *win, int rank)
{
    if (win->targets[rank].refused == WEFT_WIN_REFUSED_REVOKED)
        return weft_comm_report_revoked(win->comm);
    int holder = win->targets[rank].control ? weft_win_lock_dead_holder(win, rank) : -1;
    char who[32] = "a rank of its node";
    if (holder >= 0)
        snprintf(who, sizeof who, "rank %d", holder);
    return weft_error_set(MPIX_ERR_PROC_FAILED,
                          "%s died while it held the lock of rank %d's window; that lock is never "
                          "released",
                          who, rank);
}

static void note_shared(const struct weft_win *win, int rank, enum weft_win_lock type, bool held)
{
    if (type == WEFT_WIN_SHARED)
        atomic_store(&win->targets[rank].shared_by[win->member], held);
}

/* Takes the lock of a target by its word, if it is free. */
static bool try_word(const struct weft_win *win, int rank, enum weft_win_lock type)
{
    note_shared(win, rank, type, true);
    bool taken = weft_win_lock_try(win->targets[rank].control, type, win->comm->rank);
    if (!taken)
        note_shared(win, rank, type, false);
    return taken;
}

/* number: the turn. */
static bool is_behind_waiters(struct weft_rma_wait *wait)
{
    return weft_rma_has_waiter(wait->win, wait->number);
}

/* number: the type of the lock. While a rank holds it exclusively, the word is only read: else all
 * ranks that wait for a shared lock would write to a cache line again and again. */
static bool is_locked(struct weft_rma_wait *wait)
{
    struct weft_win *win = wait->win;
    enum weft_win_lock type = (enum weft_win_lock)wait->number;
    if (weft_win_lock_holder(win->targets[wait->rank].control) < 0 &&
        try_word(win, wait->rank, type))
        return false;
    if (weft_win_lock_dead_holder(win, wait->rank) >= 0)
        wait->code = report_dead_holder(win, wait->rank);
    return may_wait(wait);
}

/* Takes the lock of a target by its word. */
static int take_word(struct weft_win *win, int rank, enum weft_win_lock type)
{
    int code = MPI_SUCCESS;
    /* Ranks that wait for this one's lock by messages go first: the handler, which takes it for
     * them, runs only when this rank progresses. */
    if (rank == win->comm->rank) {
        struct weft_rma_wait turn = {.win = win,
                                     .rank = rank,
                                     .what = "the lock, behind ranks of other nodes,",
                                     .waits = is_behind_waiters,
                                     .number = weft_rma_turn(win, rank, type)};
        code = weft_rma_wait_while(&turn);
    }
    if (code != MPI_SUCCESS || try_word(win, rank, type))
        return code;
    weft_count_add(&weft_counts.rma_lock_waits, 1);
    struct weft_rma_wait wait = {
        .win = win, .rank = rank, .what = "the lock", .waits = is_locked, .number = type};
    return weft_rma_wait_while(&wait);
}

int weft_win_take_word(struct weft_win *win, int rank, enum weft_win_lock type, bool *taken)
{
    weft_assert(win->targets[rank].control && win->targets[rank].lock == WEFT_WIN_UNLOCKED);
    *taken = try_word(win, rank, type);
    return !*taken && weft_win_lock_dead_holder(win, rank) >= 0 ? report_dead_holder(win, rank)
                                                                : MPI_SUCCESS;
}

void weft_win_release_word(struct weft_win *win, int rank, enum weft_win_lock type)
{
    weft_win_lock_release(win->targets[rank].control, type);
    note_shared(win, rank, type, false);
}

/* Takes the lock of a target by its handler. */
static int request_lock(struct weft_win *win, int rank, enum weft_win_lock type)
{
    struct weft_win_target *target = &win->targets[rank];
    int code = send_for_ack(win, rank, WEFT_RMA_LOCK, type);
    int failed = await_acks(win, rank, "the lock");
    if (code != MPI_SUCCESS || failed != MPI_SUCCESS || !target->refused)
        return code ? code : failed;
    code = report_dead_holder(win, rank);
    target->refused = 0;
    return code;
}

static int acquire(struct weft_win *win, int rank, enum weft_win_lock type, bool nocheck)
{
    struct weft_win_target *target = &win->targets[rank];
    weft_assert(target->lock == WEFT_WIN_UNLOCKED);
    int code = nocheck           ? MPI_SUCCESS
               : target->control ? take_word(win, rank, type)
                                 : request_lock(win, rank, type);
    if (code == MPI_SUCCESS)
        target->lock = nocheck ? WEFT_WIN_NOCHECK : (uint8_t)type;
    return code;
}

/* Begins to release a lock; operations on the target are sent. Where the target's handler releases
 * it, an ACK follows. */
static int begin_release(struct weft_win *win, int rank)
{
    struct weft_win_target *target = &win->targets[rank];
    enum weft_win_lock type = (enum weft_win_lock)target->lock;
    weft_assert(type != WEFT_WIN_UNLOCKED);
    target->lock = WEFT_WIN_UNLOCKED;
    if (type == WEFT_WIN_NOCHECK)
        return MPI_SUCCESS;
    if (target->control) {
        weft_win_lock_release(target->control, type);
        note_shared(win, rank, type, false);
        if (rank == win->comm->rank)
            weft_rma_grant(win);
        return MPI_SUCCESS;
    }
    target->flush = false; /* the ACK of UNLOCK acknowledges operations, too */
    return send_for_ack(win, rank, WEFT_RMA_UNLOCK, 0);
}

/* True if the target must acknowledge operations before its lock is released by its word. */
static bool needs_flush(const struct weft_win_target *target)
{
    return target->control || target->lock == WEFT_WIN_NOCHECK;
}

static int no_locks(const struct weft_win *win)
{
    return win->no_locks
               ? weft_error_set(MPI_ERR_RMA_SYNC, "the window was made with the info key no_locks")
               : MPI_SUCCESS;
}

int weft_win_lock(struct weft_win *win, int type, int rank, int assert)
{
    int code = no_locks(win);
    if (code == MPI_SUCCESS)
        code = bad_assertion(assert, MPI_MODE_NOCHECK);
    if (code == MPI_SUCCESS && win->access != WEFT_WIN_LOCKED)
        code = no_access_yet(win);
    if (code == MPI_SUCCESS && rank == win->comm->rank && win->posted)
        code = open_epoch(exposed_text);
    if (code == MPI_SUCCESS && win->targets[rank].lock)
        code = weft_error_set(MPI_ERR_RMA_SYNC, "rank %d of the window is locked already", rank);
    if (code == MPI_SUCCESS)
        code = acquire(win, rank, type == MPI_LOCK_EXCLUSIVE ? WEFT_WIN_EXCLUSIVE : WEFT_WIN_SHARED,
                       assert &MPI_MODE_NOCHECK);
    if (code != MPI_SUCCESS)
        return code;
    win->fenced = false;
    win->access = WEFT_WIN_LOCKED;
    win->locks++;
    return begun();
}

int weft_win_unlock(struct weft_win *win, int rank)
{
    struct weft_win_target *target = &win->targets[rank];
    if (win->access != WEFT_WIN_LOCKED || !target->lock)
        return weft_error_set(MPI_ERR_RMA_SYNC, "rank %d of the window is not locked", rank);
    int code = needs_flush(target) ? flush_one(win, rank) : finish_operations(win, rank);
    int failed = begin_release(win, rank);
    code = code ? code : failed;
    failed = await_acks(win, rank, "the end of the lock");
    weft_assert(win->locks > 0 && target->lock == WEFT_WIN_UNLOCKED);
    if (--win->locks == 0)
        win->access = WEFT_WIN_NO_ACCESS;
    weft_look_sometimes(win->comm->vci);
    return outcome(win, code ? code : failed);
}

/* Releases all locks of MPI_Win_lock_all. */
static int release_all(struct weft_win *win)
{
    int code = MPI_SUCCESS, failed;
    for (int rank = 0; rank < win->comm->size; rank++)
        if (win->targets[rank].lock && (failed = begin_release(win, rank)))
            code = failed;
    for (int rank = 0; rank < win->comm->size; rank++)
        if ((failed = await_acks(win, rank, "the end of the lock")))
            code = failed;
    return code;
}

/* The locks of memory that the program can load and store are taken here, all others with the first
 * operation on the target. */
int weft_win_lock_all(struct weft_win *win, int assert)
{
    bool nocheck = assert &MPI_MODE_NOCHECK;
    int code = no_locks(win);
    if (code == MPI_SUCCESS)
        code = bad_assertion(assert, MPI_MODE_NOCHECK);
    if (code == MPI_SUCCESS)
        code = win->posted ? open_epoch(exposed_text) : no_access_yet(win);
    if (code != MPI_SUCCESS)
        return code;
    for (int rank = 0; rank < win->comm->size && code == MPI_SUCCESS; rank++)
        if (win->targets[rank].base || rank == win->comm->rank)
            code = acquire(win, rank, WEFT_WIN_SHARED, nocheck);
    if (code != MPI_SUCCESS) {
        release_all(win);
        return code;
    }
    win->fenced = false;
    win->access = WEFT_WIN_LOCKED_ALL;
    win->lock_all_nocheck = nocheck;
    return begun();
}

int weft_win_unlock_all(struct weft_win *win)
{
    if (win->access != WEFT_WIN_LOCKED_ALL)
        return weft_error_set(MPI_ERR_RMA_SYNC, "MPI_Win_lock_all was not called before");
    int code = flush_all(win), failed = release_all(win);
    win->access = WEFT_WIN_NO_ACCESS;
    return outcome(win, code ? code : failed);
}

/* ---- Operations */

static bool is_acquired(struct weft_rma_wait *wait)
{
    return wait->win->targets[wait->rank].acquiring;
}

/* The first operation on a target after MPI_Win_lock_all. Another thread may be about to lock the
 * same target, and locks it once for both. */
static int acquire_once(struct weft_win *win, int rank)
{
    struct weft_win_target *target = &win->targets[rank];
    struct weft_rma_wait wait = {
        .win = win, .rank = rank, .what = "the lock", .waits = is_acquired};
    int code = weft_rma_wait_while(&wait);
    if (target->lock || code != MPI_SUCCESS)
        return code;
    target->acquiring = true;
    code = acquire(win, rank, WEFT_WIN_SHARED, win->lock_all_nocheck);
    target->acquiring = false;
    return code;
}

int weft_win_access(struct weft_win *win, int target)
{
    struct weft_win_target *at = &win->targets[target];
    switch (win->access) {
    case WEFT_WIN_LOCKED:
        if (weft_likely(at->lock))
            return MPI_SUCCESS;
        return weft_error_set(MPI_ERR_RMA_SYNC, "rank %d of the window is not locked", target);
    case WEFT_WIN_LOCKED_ALL:
        if (weft_likely(at->lock))
            return MPI_SUCCESS;
        return acquire_once(win, target);
    case WEFT_WIN_STARTED:
        if (weft_likely(at->started))
            return MPI_SUCCESS;
        return weft_error_set(MPI_ERR_RMA_SYNC, "rank %d is not in the group of MPI_Win_start",
                              target);
    case WEFT_WIN_NO_ACCESS:
        break;
    }
    if (!win->fenced)
        return weft_error_set(MPI_ERR_RMA_SYNC,
                              "no epoch is open: call MPI_Win_fence, MPI_Win_start, MPI_Win_lock "
                              "or MPI_Win_lock_all first");
    win->fence_used = true;
    return MPI_SUCCESS;
}
