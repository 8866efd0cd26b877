// SPDX-License-Identifier: BSD-3-Clause
/*
 * Windows: the list of those of this process, and the calls on them. Each call is shown to the
 * epochs (epochs.c) and the accesses (accesses.c) of its window; window_waits.c has the calls that
 * wait for other processes.
 *
 * Invariants:
 *  - check_windows.lock is not held during a call of MPI that waits for others, nor while a record
 *    is sent.
 *  - A window with processes that are not in MPI_COMM_WORLD is not compared with others.
 */
#include "tools/check/windows_internal.h"
#include "tools/check/blocks.h"
#include "tools/check/buffers.h"
#include "tools/check/ranges.h"
#include "tools/check/watch.h"

#include <stdlib.h>

enum { FREED_MAX = 64 }; /* windows kept after their free, because records may arrive late */

struct check_windows check_windows = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct check_window *check_window_find(const void *handle)
{
    for (int i = 0; i < check_windows.n; i++)
        if (check_windows.list[i]->handle == handle && handle != MPI_WIN_NULL)
            return check_windows.list[i];
    return NULL;
}

bool check_windows_are_made(void)
{
    return check_windows.made > 0;
}

bool check_windows_cover(const struct check_area *area)
{
    check_mutex_lock(&check_windows.lock);
    bool is_covered = check_windows.dynamic > 0;
    for (int i = 0; i < check_windows.n; i++)
        is_covered |=
            check_windows.list[i]->low < area->high && area->low < check_windows.list[i]->high;
    check_mutex_unlock(&check_windows.lock);
    return is_covered;
}

int check_window_rank_argument(const struct weft_call *call)
{
    int parameter = weft_call_find(call, WEFT_PARAMETER_RANK, 0);
    return parameter < 0 ? MPI_PROC_NULL : (int)weft_call_number(call, parameter, 0);
}

int check_window_assertion(const struct weft_call *call)
{
    const int parameter = weft_function_find_name(call->function, "assert");
    return parameter < 0 ? 0 : (int)weft_call_number(call, parameter, 0);
}

void check_window_for_group(struct check_window *window, const struct weft_call *call,
                            void (*what)(struct check_window *window, int rank, void *arg),
                            void *arg)
{
    MPI_Group group = weft_call_handle(call, WEFT_OBJECT_GROUP), members;
    int n = 0;
    weft_next.Group_size(group, &n);
    weft_next.Win_get_group(window->handle, &members);
    for (int i = 0; i < n; i++) {
        int rank;
        weft_next.Group_translate_ranks(group, 1, &i, members, &rank);
        if (check_window_is_target(window, rank))
            what(window, rank, arg);
    }
    weft_next.Group_free(&members);
}

static int *flavor_of(MPI_Win handle)
{
    int *flavor = NULL, found = 0;
    weft_next.Win_get_attr(handle, MPI_WIN_CREATE_FLAVOR, &flavor, &found);
    return found ? flavor : NULL;
}

/* The memory of a shared window, of all its members. */
static void read_shared(struct check_window *window)
{
    void *base = NULL;
    MPI_Aint size = 0;
    int unit;
    weft_next.Win_shared_query(window->handle, MPI_PROC_NULL, &size, &unit, &base);
    window->low = window->high = (uintptr_t)base;
    for (int i = 0; i < window->size; i++) {
        weft_next.Win_shared_query(window->handle, i, &size, &unit, &base);
        window->high += (uint64_t)size;
    }
}

/* Fills the members' sizes, and ranks in MPI_COMM_WORLD; collective over the window. Processes of
 * another job may run without this tool: with one of them nothing is gathered. */
static void read_members(struct check_window *window, MPI_Comm comm)
{
    void *base = NULL;
    MPI_Aint *size = NULL;
    int *unit = NULL, found;
    MPI_Group world, group;
    weft_next.Comm_rank(comm, &window->rank);
    weft_next.Comm_size(comm, &window->size);
    size_t n = (size_t)window->size;
    struct check_window_peer own = {.key = (uint64_t)check.rank << 32 | window->serial};
    if (window->flavor != MPI_WIN_FLAVOR_DYNAMIC) {
        weft_next.Win_get_attr(window->handle, MPI_WIN_BASE, &base, &found);
        weft_next.Win_get_attr(window->handle, MPI_WIN_SIZE, &size, &found);
        weft_next.Win_get_attr(window->handle, MPI_WIN_DISP_UNIT, &unit, &found);
        own.size = size ? *size : 0;
        own.unit = unit ? *unit : 1;
    }
    window->peers = weft_interpose_allocate(n, sizeof *window->peers);
    int *ranks = weft_interpose_allocate(2 * n, sizeof *ranks), *in_world = ranks + n;
    weft_next.Comm_group(MPI_COMM_WORLD, &world);
    weft_next.Comm_group(comm, &group);
    for (int i = 0; i < window->size; i++)
        ranks[i] = i;
    weft_next.Group_translate_ranks(group, window->size, ranks, world, in_world);
    weft_next.Group_free(&group);
    weft_next.Group_free(&world);
    window->is_gathered = (check.kinds & CHECK_ACROSS) != 0;
    for (int i = 0; i < window->size; i++)
        window->is_gathered &= in_world[i] != MPI_UNDEFINED;
    window->is_compared = window->is_gathered && window->flavor != MPI_WIN_FLAVOR_DYNAMIC;
    if (window->is_gathered)
        weft_next.Allgather(&own, (int)sizeof own, MPI_BYTE, window->peers, (int)sizeof own,
                            MPI_BYTE, comm);
    for (int i = 0; i < window->size; i++)
        window->peers[i].world = in_world[i];
    free(ranks);
    window->base = window->low = (uintptr_t)base;
    window->high = window->low + (uint64_t)own.size;
    if (window->flavor == MPI_WIN_FLAVOR_SHARED)
        read_shared(window);
}

static void make(const struct weft_call *call)
{
    struct check_window *window = weft_interpose_allocate(1, sizeof *window);
    for (int i = 0; i < call->function->parameters; i++)
        if (call->function->parameter[i].object == WEFT_OBJECT_WIN)
            window->handle = weft_call_element(call, i, 0);
    int *flavor = flavor_of(window->handle);
    window->flavor = flavor ? *flavor : MPI_WIN_FLAVOR_DYNAMIC;
    check_mutex_lock(&check_windows.lock);
    window->serial = ++check_windows.made;
    check_mutex_unlock(&check_windows.lock);
    read_members(window, weft_call_handle(call, WEFT_OBJECT_COMM));
    window->locks = weft_interpose_allocate((size_t)window->size, sizeof *window->locks);
    window->started = weft_interpose_allocate((size_t)window->size, sizeof *window->started);
    check_window_words_make(window, weft_call_handle(call, WEFT_OBJECT_COMM));
    check_mutex_lock(&check_windows.lock);
    window->calls = check_windows.calls;
    check_windows.shared += window->flavor == MPI_WIN_FLAVOR_SHARED;
    check_windows.dynamic += window->flavor == MPI_WIN_FLAVOR_DYNAMIC;
    if (check_windows.n == check_windows.capacity)
        check_windows.list = check_enlarge(check_windows.list, check_windows.n,
                                           &check_windows.capacity, sizeof *check_windows.list);
    uintptr_t first, end;
    window->is_block =
        window->flavor == MPI_WIN_FLAVOR_CREATE && check_block_find(window->base, &first, &end);
    window->on_stack = check_buffers_are_on_stack(call, window->low, window->high);
    window->thread = pthread_self();
    weft_assert(window->rank < window->size && window->low <= window->high);
    check_windows.list[check_windows.n++] = window;
    check_mutex_unlock(&check_windows.lock);
    if (window->is_compared && window->flavor != MPI_WIN_FLAVOR_SHARED &&
        (check.kinds & CHECK_WINDOWS))
        check_watch_add_window(window->serial, window->low, window->high);
}

static void erase(struct check_window *window)
{
    for (int i = 0; i < check_windows.n; i++)
        if (check_windows.list[i] == window)
            check_windows.list[i] = check_windows.list[--check_windows.n];
    free(window->accesses);
    free(window->records);
    free(window->stores);
    free(window->peers);
    free(window->locks);
    free(window->words_held);
    free(window->words_left);
    free(window->started);
    free(window);
}

/* The program frees the window; the oldest of those that it has freed before is erased. */
static void forget(struct check_window *window)
{
    struct check_window *oldest = NULL;
    int freed = 0;
    check_windows.shared -= window->flavor == MPI_WIN_FLAVOR_SHARED;
    check_windows.dynamic -= window->flavor == MPI_WIN_FLAVOR_DYNAMIC;
    check_accesses_drop(window, CHECK_ALL_TARGETS, false);
    check_watch_remove_window(window->serial);
    window->handle = MPI_WIN_NULL;
    window->low = window->high = 0;
    for (int i = 0; i < check_windows.n; i++) {
        struct check_window *other = check_windows.list[i];
        if (other->handle != MPI_WIN_NULL)
            continue;
        freed++;
        oldest = !oldest || other->serial < oldest->serial ? other : oldest;
    }
    if (freed > FREED_MAX)
        erase(oldest);
}

/* MPI_Win_free has returned: all processes free the words, too. */
static void free_words(int result)
{
    if (check.several_threads) /* there are none, and others may change the list */
        return;
    for (int i = 0; i < check_windows.n; i++) {
        struct check_window *window = check_windows.list[i];
        if (window->handle == MPI_WIN_NULL && result == MPI_SUCCESS)
            check_window_words_free(window);
        if (window->handle == MPI_WIN_NULL)
            window->words = MPI_WIN_NULL;
    }
}

/* ---- Calls */

/* A call by which processes may order their accesses, or a common point of all. */
static void count_call(const struct weft_call *call)
{
    const struct weft_function *function = call->function;
    const int orders = WEFT_DOES_SEND | WEFT_DOES_RECEIVE | WEFT_DOES_EXCHANGE | WEFT_DOES_PROBE |
                       WEFT_DOES_FILE | WEFT_DOES_EPOCH | WEFT_DOES_COMPLETE |
                       WEFT_DOES_COLLECTIVE | WEFT_DOES_START;
    if (!(function->does & orders) || function->plain == WEFT_CALL_Win_lock ||
        function->plain == WEFT_CALL_Win_lock_all)
        return;
    check_windows.calls++;
    if ((function->plain != WEFT_CALL_Barrier && function->plain != WEFT_CALL_Allreduce) ||
        weft_call_handle(call, WEFT_OBJECT_COMM) != MPI_COMM_WORLD)
        return;
    int count = weft_call_find(call, WEFT_PARAMETER_COUNT, 0);
    if (count >= 0 && weft_call_number(call, count, 0) <= 0)
        return;
    check_windows.points++;
    check_windows.point_calls = check_windows.calls;
    for (int i = 0; i < check_windows.n; i++)
        check_windows.list[i]->sent = 0;
}

void check_windows_begin(const struct weft_call *call)
{
    const struct weft_function *function = call->function;
    if (function->plain == WEFT_CALL_Win_create && (check.kinds & CHECK_WINDOWS))
        check_range_of_window(call);
    void *handle =
        check_has(call, CHECK_HAS_WINDOW) ? weft_call_handle(call, WEFT_OBJECT_WIN) : NULL;
    if (!handle)
        return;
    int target = check_epochs_completed_locally(call);
    if (target != CHECK_NO_TARGET)
        check_buffers_verify(call, handle, target);
    check_mutex_lock(&check_windows.lock);
    struct check_window *window = check_window_find(handle);
    if (window && (check.kinds & CHECK_WINDOWS)) {
        if (function->does & WEFT_DOES_RMA)
            check_accesses_begin(call, window);
        else
            check_epochs_begin(call, window);
    }
    if (window && function->plain == WEFT_CALL_Win_free)
        forget(window);
    check_mutex_unlock(&check_windows.lock);
    if (function->plain == WEFT_CALL_Win_free)
        check_buffers_complete(handle, -1);
}

static bool makes_window(const struct weft_function *function)
{
    switch (function->plain) {
    case WEFT_CALL_Win_create:
    case WEFT_CALL_Win_create_dynamic:
    case WEFT_CALL_Win_allocate:
    case WEFT_CALL_Win_allocate_shared:
        return true;
    default:
        return false;
    }
}

void check_windows_end(const struct weft_call *call)
{
    const struct weft_function *function = call->function;
    check_mutex_lock(&check_windows.lock);
    count_call(call);
    if (!check_has(call, CHECK_HAS_WINDOW)) {
        check_mutex_unlock(&check_windows.lock);
        return;
    }
    void *handle = weft_call_handle(call, WEFT_OBJECT_WIN);
    struct check_window *window = handle ? check_window_find(handle) : NULL;
    const int remote = check_epochs_completed(call), local = check_epochs_completed_locally(call);
    if (window && (function->does & WEFT_DOES_RMA) && call->result == MPI_SUCCESS)
        check_accesses_end(call, window);
    else if (window && (function->does & WEFT_DOES_EPOCH))
        check_epochs_end(call, window);
    if (window && remote != CHECK_NO_TARGET)
        check_accesses_drop(window, remote, false);
    else if (window && local != CHECK_NO_TARGET) /* what a get has brought is read */
        check_accesses_drop(window, local, true);
    check_mutex_unlock(&check_windows.lock);
    if (window && function->plain == WEFT_CALL_Win_post && call->result == MPI_SUCCESS &&
        (check.kinds & CHECK_DEADLOCKS) && !check.several_threads)
        check_window_waits_posted(call, window);
    const int target = check_window_rank_argument(call);
    if (window && (function->plain == WEFT_CALL_Win_unlock ||
                   (function->plain == WEFT_CALL_Win_lock && call->result != MPI_SUCCESS &&
                    !check_window_is_locked(window, target))))
        check_window_words_release(window, target);
    if (function->plain == WEFT_CALL_Win_free)
        free_words(call->result);
    if (window && local != CHECK_NO_TARGET)
        check_buffers_complete(handle, local);
    if (call->result == MPI_SUCCESS && makes_window(function))
        make(call);
}
