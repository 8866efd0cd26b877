// SPDX-License-Identifier: BSD-3-Clause
/*
 * Calls on windows that wait for other processes (deadlocks.h): MPI_Win_start for MPI_Win_post,
 * MPI_Win_wait for MPI_Win_complete, MPI_Win_lock for MPI_Win_unlock.
 *
 * Locks. The library takes a lock where no records are received. So each window has another one
 * with a word for each target: 0, the number of processes with a shared lock, or the rank of the
 * one with an exclusive lock, plus 1, in the upper half. MPI_Win_lock takes the word first, by
 * MPI_Compare_and_swap, which does not wait, and receives records while another process has it; the
 * real call finds the lock free then. A process that is asked for a word verifies that it still has
 * the lock: PMPI_Win_unlock may have ended it. MPI_Win_lock_all and locks with MPI_MODE_NOCHECK
 * have no word. A process that has waited long for a word takes none of that target any more.
 */
#include "tools/check/deadlocks.h"
#include "tools/check/windows_internal.h"

static void add_want(struct check_wants *wants, enum check_want_kind kind,
                     const struct check_window *window, const struct check_window_peer *peer,
                     uint64_t number)
{
    if (wants->n < CHECK_WANTS_MAX)
        wants->list[wants->n++] = (struct check_want){.kind = kind,
                                                      .comm = window->peers[0].key,
                                                      .number = number,
                                                      .rank = peer->world,
                                                      .tag = -1};
}

/* True if this process has counted fewer completes, or posts, of a rank than that. */
static bool has_fewer(int rank, uint64_t key, bool posts, uint64_t number)
{
    bool fewer = false;
    check_mutex_lock(&check_windows.lock);
    for (int i = 0; i < check_windows.n; i++) {
        const struct check_window *window = check_windows.list[i];
        for (int k = 0; window->peers[0].key == key && k < window->size; k++) {
            const struct check_window_peer *peer = &window->peers[k];
            fewer |= peer->world == rank && (posts ? peer->posts : peer->completes) < number;
        }
    }
    check_mutex_unlock(&check_windows.lock);
    return fewer;
}

/* ---- MPI_Win_wait */

bool check_windows_want_complete(MPI_Win win, struct check_wants *wants)
{
    check_mutex_lock(&check_windows.lock);
    const struct check_window *window = check_window_find(win);
    const bool is_posted = window && window->is_posted;
    if (is_posted && !window->is_gathered)
        wants->is_known = false;
    for (int i = 0; is_posted && window->is_gathered && i < window->size; i++) {
        const struct check_window_peer *peer = &window->peers[i];
        if (peer->is_posted && peer->world != MPI_UNDEFINED)
            add_want(wants, CHECK_WANT_COMPLETE, window, peer, peer->posts);
    }
    check_mutex_unlock(&check_windows.lock);
    return is_posted;
}

bool check_windows_is_incomplete(int rank, uint64_t key, uint64_t number)
{
    return has_fewer(rank, key, false, number);
}

/* ---- MPI_Win_start */

static void want_post(struct check_window *window, int rank, void *arg)
{
    const struct check_window_peer *peer = &window->peers[rank];
    if (peer->exposures <= peer->starts)
        add_want(arg, CHECK_WANT_POST, window, peer, peer->starts);
}

static bool lacks_posts(const struct check_window *window)
{
    bool lacks = false;
    for (int i = 0; window && window->posts_are_late && i < window->size; i++)
        lacks |= window->peers[i].exposures < window->peers[i].starts;
    return lacks;
}

bool check_windows_lack_posts(const struct weft_call *call)
{
    check_mutex_lock(&check_windows.lock);
    const bool lack = lacks_posts(check_window_find(weft_call_handle(call, WEFT_OBJECT_WIN)));
    check_mutex_unlock(&check_windows.lock);
    return lack;
}

/* In the first call after one that has waited long: if records of earlier posts are still missing,
 * these were made by the name PMPI_Win_post, and none will come. */
static void check_late_posts(struct check_window *window)
{
    window->posts_are_unseen |= lacks_posts(window);
    window->posts_are_late = false;
}

bool check_windows_want_post(const struct weft_call *call, struct check_wants *wants)
{
    check_mutex_lock(&check_windows.lock);
    struct check_window *window = check_window_find(weft_call_handle(call, WEFT_OBJECT_WIN));
    if (window && window->posts_are_late)
        check_late_posts(window);
    if (window && window->is_gathered && !window->is_started && !window->posts_are_unseen &&
        weft_call_handle(call, WEFT_OBJECT_GROUP) != MPI_GROUP_NULL &&
        !(check_window_assertion(call) & MPI_MODE_NOCHECK))
        check_window_for_group(window, call, want_post, wants);
    check_mutex_unlock(&check_windows.lock);
    return wants->n > 0;
}

void check_windows_leave_posts(const struct weft_call *call)
{
    check_mutex_lock(&check_windows.lock);
    struct check_window *window = check_window_find(weft_call_handle(call, WEFT_OBJECT_WIN));
    if (window)
        window->posts_are_late = true;
    check_mutex_unlock(&check_windows.lock);
}

bool check_windows_is_unposted(int rank, uint64_t key, uint64_t number)
{
    return has_fewer(rank, key, true, number + 1);
}

void check_windows_take_post(const struct check_record *record)
{
    check_mutex_lock(&check_windows.lock);
    for (int i = 0; i < check_windows.n; i++) {
        struct check_window *window = check_windows.list[i];
        for (int k = 0; window->peers[0].key == record->access.key && k < window->size; k++)
            window->peers[k].exposures += window->peers[k].world == record->rank;
    }
    check_mutex_unlock(&check_windows.lock);
}

void check_window_waits_posted(const struct weft_call *call, const struct check_window *window)
{
    struct check_record record = {.kind = CHECK_RECORD_POST, .call = call->function->plain};
    record.access.key = window->peers[0].key;
    for (int i = 0; i < window->size; i++)
        if (window->peers[i].is_posted && window->is_gathered)
            check_channel_send(window->peers[i].world, &record);
}

/* ---- MPI_Win_lock */

void check_window_words_make(struct check_window *window, MPI_Comm comm)
{
    uint64_t *word = NULL;
    window->words = MPI_WIN_NULL;
    if (!(check.kinds & CHECK_DEADLOCKS) || check.several_threads || !window->is_gathered ||
        weft_next.Win_allocate(sizeof *word, sizeof *word, MPI_INFO_NULL, comm, (void *)&word,
                               &window->words) != MPI_SUCCESS)
        return;
    window->words_held = weft_interpose_allocate((size_t)window->size, sizeof *window->words_held);
    window->words_left = weft_interpose_allocate((size_t)window->size, sizeof *window->words_left);
    weft_next.Win_set_errhandler(window->words, MPI_ERRORS_RETURN);
    *word = 0;
    weft_next.Win_lock_all(MPI_MODE_NOCHECK, window->words);
    weft_next.Win_sync(window->words);
    weft_next.Barrier(comm);
}

void check_window_words_free(struct check_window *window)
{
    if (window->words == MPI_WIN_NULL)
        return;
    weft_next.Win_unlock_all(window->words);
    weft_next.Win_free(&window->words);
}

/* The window of MPI_Win_lock, if it has to take a word; NULL: it does not wait, or is in error. */
static struct check_window *find_for_lock(const struct weft_call *call)
{
    struct check_window *window = check_window_find(weft_call_handle(call, WEFT_OBJECT_WIN));
    const int target = check_window_rank_argument(call);
    const bool takes = window && window->words != MPI_WIN_NULL && !window->is_started &&
                       check_window_is_target(window, target) &&
                       !check_window_is_locked(window, target) && !window->words_left[target] &&
                       !(check_window_assertion(call) & MPI_MODE_NOCHECK);
    return takes ? window : NULL;
}

static bool is_exclusive(const struct weft_call *call)
{
    return weft_call_number(call, 0, 0) == MPI_LOCK_EXCLUSIVE;
}

bool check_windows_take_word(const struct weft_call *call)
{
    struct check_window *window = find_for_lock(call);
    if (!window)
        return true;
    const int target = check_window_rank_argument(call);
    const uint64_t own = (uint64_t)(window->rank + 1) << 32;
    uint64_t expected = 0, seen = 0;
    for (;;) {
        const uint64_t word = is_exclusive(call) ? own : expected + 1;
        if (weft_next.Compare_and_swap(&word, &expected, &seen, MPI_UINT64_T, target, 0,
                                       window->words) != MPI_SUCCESS ||
            weft_next.Win_flush(target, window->words) != MPI_SUCCESS)
            return true; /* a process has died, which the real call reports */
        if (seen == expected)
            break;
        window->holder = (int)(seen >> 32) - 1;
        if (is_exclusive(call) || window->holder >= 0)
            return false;
        expected = seen;
    }
    window->words_held[target] = is_exclusive(call) ? CHECK_EXCLUSIVE : CHECK_SHARED;
    return true;
}

void check_windows_leave_word(const struct weft_call *call)
{
    struct check_window *window = find_for_lock(call);
    if (window)
        window->words_left[check_window_rank_argument(call)] = true;
}

void check_window_words_release(struct check_window *window, int target)
{
    if (!window->words_held || !check_window_is_target(window, target) ||
        window->words_held[target] == CHECK_UNLOCKED)
        return;
    const bool was_exclusive = window->words_held[target] == CHECK_EXCLUSIVE;
    const uint64_t own = was_exclusive ? (uint64_t)(window->rank + 1) << 32 : 1, less = -own;
    window->words_held[target] = CHECK_UNLOCKED;
    weft_next.Accumulate(&less, 1, MPI_UINT64_T, target, 0, 1, MPI_UINT64_T, MPI_SUM,
                         window->words);
    weft_next.Win_flush(target, window->words);
}

void check_windows_want_unlock(const struct weft_call *call, struct check_wants *wants)
{
    const struct check_window *window = find_for_lock(call);
    const uint64_t number =
        (uint64_t)check_window_rank_argument(call) * 2 + (uint64_t)is_exclusive(call);
    for (int i = 0; window && i < window->size; i++)
        if (i != window->rank && (window->holder < 0 || window->holder == i))
            add_want(wants, CHECK_WANT_UNLOCK, window, &window->peers[i], number);
}

/* False: a call by the name PMPI_Win_unlock has ended the lock, and its word is given back now. */
static bool keeps_lock(struct check_window *window, int target)
{
    if (window->handle == MPI_WIN_NULL || check_epoch_is_open(window, target, true))
        return true;
    window->locked -= window->locks[target] != CHECK_UNLOCKED;
    window->locks[target] = CHECK_UNLOCKED;
    check_window_words_release(window, target);
    return false;
}

bool check_windows_holds_word(uint64_t key, uint64_t number)
{
    for (int i = 0; i < check_windows.n; i++) {
        struct check_window *window = check_windows.list[i];
        const int target = (int)(number / 2);
        if (window->peers[0].key == key && window->words_held &&
            check_window_is_target(window, target))
            return window->words_held[target] > (number % 2 ? CHECK_UNLOCKED : CHECK_SHARED) &&
                   keeps_lock(window, target);
    }
    return false;
}
