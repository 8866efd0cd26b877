// SPDX-License-Identifier: BSD-3-Clause
/*
 * Epochs of windows: the state of a window is that of the calls of this process alone: a fence has
 * been called, targets are locked, an access epoch has been started, an exposure epoch posted. A
 * fence leaves open whether an epoch begins, so after a fence operations on the window are
 * permitted, and other epochs may begin until there was one. Whether the operations of such an
 * epoch were between two fences is known at the second one.
 *
 * check_windows.lock is held in all functions.
 */
#include "tools/check/blocks.h"
#include "tools/check/buffers.h"
#include "tools/check/windows_internal.h"

#include <string.h>

/* ---- Before the call */

static void report_not_open(const struct weft_call *call, const char *text)
{
    struct check_location here = check_location_of(call);
    check_report(CHECK_EPOCH_NOT_OPEN, &here, true, "%s", text);
}

/* Reports that an epoch that another call has begun is open. */
static void report_open(const struct weft_call *call, const struct check_window *window,
                        enum check_rule rule, const char *what)
{
    struct check_location here = check_location_of(call);
    char text[512];
    check_location_print(&window->opened, text, sizeof text);
    check_report(rule, &here, true, "%s, by %s", what, text);
}

bool check_epoch_is_open(const struct check_window *window, int target, bool is_lock)
{
    MPI_Errhandler handler;
    if (weft_next.Win_get_errhandler(window->handle, &handler) != MPI_SUCCESS)
        return false;
    weft_next.Win_set_errhandler(window->handle, MPI_ERRORS_RETURN);
    const bool is_open = is_lock ? weft_next.Win_flush_local(target, window->handle) == MPI_SUCCESS
                                 : weft_next.Put(NULL, 0, MPI_BYTE, target, 0, 0, MPI_BYTE,
                                                 window->handle) == MPI_SUCCESS;
    weft_next.Win_set_errhandler(window->handle, handler);
    if (!weft_object_is_predefined(handler))
        weft_next.Errhandler_free(&handler);
    return is_open;
}

/* Before a call that is in error while targets are locked: forgets the locks that are no more. */
static void refresh_locks(struct check_window *window)
{
    for (int i = 0; i < window->size && window->locked; i++) {
        if (!window->locks[i] || check_epoch_is_open(window, i, true))
            continue;
        window->locks[i] = CHECK_UNLOCKED;
        window->locked--;
        check_window_words_release(window, i);
    }
}

/* A call that begins an epoch of a lock or of MPI_Win_start. */
static void check_begins(const struct weft_call *call, const struct check_window *window)
{
    const bool is_lock = call->function->plain == WEFT_CALL_Win_lock;
    int target = check_window_rank_argument(call);
    if (window->is_started)
        report_open(call, window, CHECK_EPOCH_OVERLAP, "an access epoch is open");
    else if (window->has_lock_all)
        report_open(call, window, CHECK_EPOCH_OVERLAP, "all targets are locked");
    else if (window->locked && (!is_lock || check_window_is_locked(window, target)))
        report_open(call, window, CHECK_EPOCH_OVERLAP,
                    is_lock ? "the target is locked" : "a target is locked");
    else if (window->fence_used)
        report_open(call, window, CHECK_EPOCH_OVERLAP,
                    "operations since the last fence are not complete");
}

static void check_free(const struct weft_call *call, const struct check_window *window)
{
    uintptr_t low, high;
    const struct check_location here = check_location_of(call);
    if (window->is_block && !check_block_find(window->base, &low, &high))
        check_report(CHECK_WINDOW_FREED, &here, true,
                     "the program has freed the memory of the window");
    if (window->on_stack && pthread_equal(window->thread, pthread_self()) &&
        check_buffers_on_thread_stack(call->frame) && window->high <= (uintptr_t)call->frame)
        check_report(
            CHECK_STACK_GONE, &here, true,
            "the memory of the window is a local variable of a function that has returned");
    if (window->locked || window->has_lock_all)
        report_open(call, window, CHECK_EPOCH_NOT_ENDED, "a target is locked");
    else if (window->is_started)
        report_open(call, window, CHECK_EPOCH_NOT_ENDED, "an access epoch is open");
    else if (window->is_posted)
        report_open(call, window, CHECK_EPOCH_NOT_ENDED, "an exposure epoch is open");
    else if (window->fence_used)
        report_open(call, window, CHECK_EPOCH_NOT_ENDED,
                    "operations since the last fence are not complete");
}

/* Reports a fence that ends an epoch of its kind with operations of a lock or of MPI_Win_start. */
static void report_between(const struct weft_call *call, const struct check_window *window)
{
    const struct check_location here = check_location_of(call);
    char text[512];
    check_location_print(&here, text, sizeof text);
    check_report(CHECK_EPOCH_OVERLAP, &window->between, false,
                 "the operation of another epoch is between two fences, the second in %s, without "
                 "MPI_MODE_NOSUCCEED or MPI_MODE_NOPRECEDE",
                 text);
}

/* True if the call reports a target that is locked. */
static bool refuses_locks(const struct weft_call *call, const struct check_window *window)
{
    switch (call->function->plain) {
    case WEFT_CALL_Win_fence:
    case WEFT_CALL_Win_lock_all:
    case WEFT_CALL_Win_start:
    case WEFT_CALL_Win_free:
        return window->locked > 0;
    case WEFT_CALL_Win_lock:
        return window->locked && check_window_is_locked(window, check_window_rank_argument(call));
    default:
        return false;
    }
}

void check_epochs_begin(const struct weft_call *call, struct check_window *window)
{
    if (refuses_locks(call, window))
        refresh_locks(window);
    const bool is_passive = window->locked || window->has_lock_all;
    int target = check_window_rank_argument(call);
    switch (call->function->plain) {
    case WEFT_CALL_Win_fence:
        if (is_passive)
            report_open(call, window, CHECK_EPOCH_OVERLAP, "a target is locked");
        else if (window->is_started)
            report_open(call, window, CHECK_EPOCH_OVERLAP, "an access epoch is open");
        else if (window->is_between && !(check_window_assertion(call) & MPI_MODE_NOPRECEDE))
            report_between(call, window);
        break;
    case WEFT_CALL_Win_lock:
    case WEFT_CALL_Win_lock_all:
    case WEFT_CALL_Win_start:
        if (target != MPI_PROC_NULL || call->function->plain != WEFT_CALL_Win_lock)
            check_begins(call, window);
        break;
    case WEFT_CALL_Win_post:
        if (window->is_posted)
            report_open(call, window, CHECK_EPOCH_OVERLAP, "an exposure epoch is open");
        break;
    case WEFT_CALL_Win_unlock:
        if (check_window_is_target(window, target) && !window->locks[target] &&
            (window->has_lock_all || !check_epoch_is_open(window, target, true)))
            report_not_open(call, window->has_lock_all
                                      ? "MPI_Win_lock_all is ended by MPI_Win_unlock_all"
                                      : "the target is not locked");
        break;
    case WEFT_CALL_Win_unlock_all:
        if (!window->has_lock_all)
            report_not_open(call, "MPI_Win_lock_all has not been called");
        break;
    case WEFT_CALL_Win_flush:
    case WEFT_CALL_Win_flush_local:
        if (check_window_is_target(window, target) && !check_window_is_locked(window, target) &&
            !check_epoch_is_open(window, target, true))
            report_not_open(call, "the target is not locked");
        break;
    case WEFT_CALL_Win_flush_all:
    case WEFT_CALL_Win_flush_local_all:
        if (!is_passive)
            report_not_open(call, "no target is locked");
        break;
    case WEFT_CALL_Win_complete:
        if (!window->is_started)
            report_not_open(call, "MPI_Win_start has not been called");
        break;
    case WEFT_CALL_Win_wait:
    case WEFT_CALL_Win_test:
        if (!window->is_posted)
            report_not_open(call, "MPI_Win_post has not been called");
        break;
    case WEFT_CALL_Win_free:
        check_free(call, window);
        break;
    default:
        break;
    }
}

/* ---- After the call */

static void add_member(struct check_window *window, int rank, void *arg)
{
    struct check_window_peer *peer = &window->peers[rank];
    if (*(const bool *)arg) {
        peer->is_posted = true;
        peer->posts++;
    } else {
        window->started[rank] = true;
        peer->starts++;
    }
}

static void set_members(struct check_window *window, const struct weft_call *call, bool is_post)
{
    check_window_for_group(window, call, add_member, &is_post);
}

static void end_exposure(struct check_window *window)
{
    window->is_posted = false;
    for (int i = 0; i < window->size; i++)
        window->peers[i].is_posted = false;
}

void check_epochs_end(const struct weft_call *call, struct check_window *window)
{
    const bool begins = call->function->plain == WEFT_CALL_Win_lock ||
                        call->function->plain == WEFT_CALL_Win_lock_all ||
                        call->function->plain == WEFT_CALL_Win_start ||
                        call->function->plain == WEFT_CALL_Win_post;
    int target = check_window_rank_argument(call), kind;
    if (begins && call->result != MPI_SUCCESS)
        return;
    switch (call->function->plain) {
    case WEFT_CALL_Win_fence:
        window->has_fence = !(check_window_assertion(call) & MPI_MODE_NOSUCCEED);
        window->fence_used = false;
        window->is_between = false;
        window->fences++;
        window->sent = 0;
        window->opened = check_location_of(call);
        break;
    case WEFT_CALL_Win_lock:
        kind = weft_call_number(call, 0, 0) == MPI_LOCK_SHARED ? CHECK_SHARED : CHECK_EXCLUSIVE;
        if (check_window_is_target(window, target)) {
            window->locked += !window->locks[target];
            window->locks[target] = (unsigned char)kind;
        }
        window->opened = check_location_of(call);
        break;
    case WEFT_CALL_Win_unlock:
        if (check_window_is_target(window, target)) {
            window->locked -= window->locks[target] != CHECK_UNLOCKED;
            window->locks[target] = CHECK_UNLOCKED;
        }
        break;
    case WEFT_CALL_Win_lock_all:
        window->has_lock_all = true;
        window->opened = check_location_of(call);
        break;
    case WEFT_CALL_Win_unlock_all:
        window->has_lock_all = false;
        break;
    case WEFT_CALL_Win_start:
        window->is_started = true;
        window->opened = check_location_of(call);
        set_members(window, call, false);
        break;
    case WEFT_CALL_Win_complete:
        window->is_started = false;
        for (int i = 0; i < window->size; i++)
            window->peers[i].completes += window->started[i];
        memset(window->started, 0, (size_t)window->size * sizeof *window->started);
        break;
    case WEFT_CALL_Win_post:
        window->is_posted = true;
        set_members(window, call, true);
        if (!window->is_started)
            window->opened = check_location_of(call);
        break;
    case WEFT_CALL_Win_wait:
        end_exposure(window);
        break;
    case WEFT_CALL_Win_test:
        if (weft_call_number(call, 1, 0))
            end_exposure(window);
        break;
    default:
        break;
    }
}

/* ---- The operations that a call completes */

int check_epochs_completed(const struct weft_call *call)
{
    switch (call->function->plain) {
    case WEFT_CALL_Win_fence:
    case WEFT_CALL_Win_complete:
    case WEFT_CALL_Win_unlock_all:
    case WEFT_CALL_Win_flush_all:
    case WEFT_CALL_Win_free:
        return -1;
    case WEFT_CALL_Win_unlock:
    case WEFT_CALL_Win_flush:
        return check_window_rank_argument(call) < 0 ? CHECK_NO_TARGET
                                                    : check_window_rank_argument(call);
    default:
        return CHECK_NO_TARGET;
    }
}

int check_epochs_completed_locally(const struct weft_call *call)
{
    switch (call->function->plain) {
    case WEFT_CALL_Win_flush_local_all:
        return -1;
    case WEFT_CALL_Win_flush_local:
        return check_window_rank_argument(call) < 0 ? CHECK_NO_TARGET
                                                    : check_window_rank_argument(call);
    default:
        return check_epochs_completed(call);
    }
}
