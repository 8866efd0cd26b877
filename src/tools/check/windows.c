// SPDX-License-Identifier: BSD-3-Clause
/*
 * Windows: the epochs of each process, bounds, and accesses that conflict.
 *
 * Epochs. The state of a window is that of the calls of this process alone: a fence has been
 * called, targets are locked, an access epoch has been started, an exposure epoch posted. A fence
 * leaves open whether an epoch begins, so after a fence operations on the window are permitted, and
 * other epochs may begin until there was one. Whether the operations of such an epoch were between
 * two fences is known at the second one.
 *
 * Conflicts. Two accesses to the same bytes of a target conflict if one of them writes, unless both
 * are accumulates. Accesses of one origin are compared there: all since the epoch began or the
 * target was flushed. Accesses of several origins are compared at the target, which gets a record
 * of each (channel.h), if it is sure that no order exists between them:
 *
 *   between two fences: always; the records have the number of the fence
 *   with shared locks: if both origins have made no call that another process may have
 *   ordered since a common point: the creation of the window, or the last MPI_Barrier or
 *   MPI_Allreduce on MPI_COMM_WORLD. The records have the number of this point.
 *
 * The buffers of operations in the process's own window are accesses to it, too. So are its stores
 * to a short window, which are seen as changes between two of its calls (watch.h); they are
 * compared with the operations of others that read.
 *
 * Invariants:
 *  - windows.lock is not held during a call of MPI that waits for others, nor while a record is
 *    sent.
 *  - What is not sure is not compared: windows with processes that are not in MPI_COMM_WORLD,
 *    accesses of more spans than SPANS_SENT, operations with MPI_Rget. Shared windows, in which
 *    loads and stores order processes, end the comparison of passive accesses.
 */
#include "tools/check/windows.h"
#include "tools/check/blocks.h"
#include "tools/check/buffers.h"
#include "tools/check/channel.h"
#include "tools/check/deadlocks.h"
#include "tools/check/ranges.h"
#include "tools/check/watch.h"

#include <stdlib.h>
#include <string.h>

enum {
    ACCESSES_MAX = 512, /* kept of an epoch at the origin: each new one is compared with all */
    SPANS_SENT = 16,    /* records of one access */
    RECORDS_MAX = 256,  /* sent between two common points, and kept of a window at the target */
    FREED_MAX = 64,     /* windows kept after their free, because records may arrive late */
    STORES_MAX = 64     /* of a window */
};

/* UNKNOWN: accesses that write, of which no records are sent. */
enum how { READS, WRITES, ACCUMULATES, UNKNOWN };
enum lock { UNLOCKED, SHARED, EXCLUSIVE };

/* An operation of this process in an epoch. */
struct access {
    int target;
    enum how how;
    struct check_area area; /* offsets in the target's window */
    struct check_location where;
};

struct peer {
    int64_t size, unit;
    uint64_t key;               /* that of rank 0 is the key of the window */
    int world;                  /* rank in MPI_COMM_WORLD */
    bool is_posted;             /* the exposure epoch is for it */
    uint64_t posts, completes;  /* exposures to it, accesses of it that have been completed */
    bool is_unsure;             /* it has the record of UNKNOWN accesses under locks */
    uint64_t unsure_fences;     /* and of those in this epoch of a fence, counted from 1 */
    uint64_t starts, exposures; /* accesses of it that have been started,
                                   exposures of it to this process */
};

/* Bytes of the own window that have changed between two calls of this process. */
struct store {
    struct check_access access;
    struct check_location before, behind;
    bool is_read, is_written; /* by another process in the same epoch */
    struct check_record reader;
};

struct window {
    MPI_Win handle; /* MPI_WIN_NULL: the program has freed it */
    uint64_t serial;
    int rank, size;
    int flavor;
    bool is_gathered;   /* all members are in MPI_COMM_WORLD: the peers' sizes are known */
    bool is_compared;   /* among origins */
    uint64_t low, high; /* the memory that other processes may write */
    uint64_t base;      /* of the memory of this process */
    bool is_block;      /* which is a block of the heap */
    bool on_stack;      /* or in local variables */
    pthread_t thread;   /* of these */
    struct peer *peers;
    bool has_fence, fence_used; /* a fence permits operations; there was one */
    bool is_between;            /* there was one in another epoch since */
    struct check_location between;
    bool has_lock_all, is_started, is_posted;
    int locked;           /* how many targets */
    unsigned char *locks; /* enum lock of each target */
    bool *started;        /* the targets of MPI_Win_start */
    struct check_location opened;
    uint64_t fences, calls; /* calls: windows.calls at the last common point of this window */
    int sent;
    struct access *accesses;
    int n, capacity;
    struct check_record *records; /* as a target */
    int arrived, arrived_capacity;
    struct store *stores;
    int stored;
    bool is_unsure; /* other processes write under locks without records */
};

static struct {
    struct window **list;
    int n, capacity;
    int shared, dynamic;  /* windows of these flavors */
    uint64_t made;        /* windows */
    uint64_t calls;       /* that another process may have ordered */
    uint64_t points;      /* common points of MPI_COMM_WORLD */
    uint64_t point_calls; /* calls at the last of them */
    pthread_mutex_t lock;
} windows = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- Windows */

static struct window *find(const void *handle)
{
    for (int i = 0; i < windows.n; i++)
        if (windows.list[i]->handle == handle && handle != MPI_WIN_NULL)
            return windows.list[i];
    return NULL;
}

bool check_windows_cover(const struct check_area *area)
{
    check_mutex_lock(&windows.lock);
    bool is_covered = windows.dynamic > 0;
    for (int i = 0; i < windows.n; i++)
        is_covered |= windows.list[i]->low < area->high && area->low < windows.list[i]->high;
    check_mutex_unlock(&windows.lock);
    return is_covered;
}

static int *flavor_of(MPI_Win handle)
{
    int *flavor = NULL, found = 0;
    weft_next.Win_get_attr(handle, MPI_WIN_CREATE_FLAVOR, &flavor, &found);
    return found ? flavor : NULL;
}

/* The memory of a shared window, of all its members. */
static void read_shared(struct window *window)
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
static void read_members(struct window *window, MPI_Comm comm)
{
    void *base = NULL;
    MPI_Aint *size = NULL;
    int *unit = NULL, found;
    MPI_Group world, group;
    weft_next.Comm_rank(comm, &window->rank);
    weft_next.Comm_size(comm, &window->size);
    size_t n = (size_t)window->size;
    struct peer own = {.key = (uint64_t)check.rank << 32 | window->serial};
    if (window->flavor != MPI_WIN_FLAVOR_DYNAMIC) {
        weft_next.Win_get_attr(window->handle, MPI_WIN_BASE, &base, &found);
        weft_next.Win_get_attr(window->handle, MPI_WIN_SIZE, &size, &found);
        weft_next.Win_get_attr(window->handle, MPI_WIN_DISP_UNIT, &unit, &found);
        own.size = size ? *size : 0;
        own.unit = unit ? *unit : 1;
    }
    window->peers = tool_allocate(n, sizeof *window->peers);
    int *ranks = tool_allocate(2 * n, sizeof *ranks), *in_world = ranks + n;
    weft_next.Comm_group(MPI_COMM_WORLD, &world);
    weft_next.Comm_group(comm, &group);
    for (int i = 0; i < window->size; i++)
        ranks[i] = i;
    weft_next.Group_translate_ranks(group, window->size, ranks, world, in_world);
    weft_next.Group_free(&group);
    weft_next.Group_free(&world);
    window->is_gathered = true;
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
    struct window *window = tool_allocate(1, sizeof *window);
    for (int i = 0; i < call->function->parameters; i++)
        if (call->function->parameter[i].object == WEFT_OBJECT_WIN)
            window->handle = weft_call_element(call, i, 0);
    int *flavor = flavor_of(window->handle);
    window->flavor = flavor ? *flavor : MPI_WIN_FLAVOR_DYNAMIC;
    check_mutex_lock(&windows.lock);
    window->serial = ++windows.made;
    check_mutex_unlock(&windows.lock);
    read_members(window, weft_call_handle(call, WEFT_OBJECT_COMM));
    window->locks = tool_allocate((size_t)window->size, sizeof *window->locks);
    window->started = tool_allocate((size_t)window->size, sizeof *window->started);
    check_mutex_lock(&windows.lock);
    window->calls = windows.calls;
    windows.shared += window->flavor == MPI_WIN_FLAVOR_SHARED;
    windows.dynamic += window->flavor == MPI_WIN_FLAVOR_DYNAMIC;
    if (windows.n == windows.capacity)
        windows.list =
            check_enlarge(windows.list, windows.n, &windows.capacity, sizeof *windows.list);
    uintptr_t first, end;
    window->is_block =
        window->flavor == MPI_WIN_FLAVOR_CREATE && check_block_find(window->base, &first, &end);
    window->on_stack = check_buffers_are_on_stack(call, window->low, window->high);
    window->thread = pthread_self();
    weft_assert(window->rank < window->size && window->low <= window->high);
    windows.list[windows.n++] = window;
    check_mutex_unlock(&windows.lock);
    if (window->is_compared && window->flavor != MPI_WIN_FLAVOR_SHARED &&
        (check.kinds & CHECK_WINDOWS))
        check_watch_add_window(window->serial, window->low, window->high);
}

/* Drops the accesses to a target (-1: to all). */
static void drop_accesses(struct window *window, int target)
{
    int n = 0;
    for (int i = 0; i < window->n; i++) {
        struct access *access = &window->accesses[i];
        if (target >= 0 && access->target != target)
            window->accesses[n++] = *access;
        else
            check_area_free(&access->area);
    }
    window->n = n;
}

static void erase(struct window *window)
{
    for (int i = 0; i < windows.n; i++)
        if (windows.list[i] == window)
            windows.list[i] = windows.list[--windows.n];
    free(window->accesses);
    free(window->records);
    free(window->stores);
    free(window->peers);
    free(window->locks);
    free(window->started);
    free(window);
}

/* The program frees the window; the oldest of those that it has freed before is erased. */
static void forget(struct window *window)
{
    struct window *oldest = NULL;
    int freed = 0;
    windows.shared -= window->flavor == MPI_WIN_FLAVOR_SHARED;
    windows.dynamic -= window->flavor == MPI_WIN_FLAVOR_DYNAMIC;
    drop_accesses(window, -1);
    check_watch_remove_window(window->serial);
    window->handle = MPI_WIN_NULL;
    window->low = window->high = 0;
    for (int i = 0; i < windows.n; i++) {
        struct window *other = windows.list[i];
        if (other->handle != MPI_WIN_NULL)
            continue;
        freed++;
        oldest = !oldest || other->serial < oldest->serial ? other : oldest;
    }
    if (freed > FREED_MAX)
        erase(oldest);
}

/* ---- Epochs. windows.lock is held */

static void report_epoch(const struct weft_call *call, enum check_rule rule, const char *text)
{
    struct check_location here = check_location_of(call);
    check_report(rule, &here, true, "%s", text);
}

/* Reports that an epoch that another call has begun is open. */
static void report_open(const struct weft_call *call, const struct window *window,
                        enum check_rule rule, const char *what)
{
    struct check_location here = check_location_of(call);
    char text[512];
    check_location_print(&window->opened, text, sizeof text);
    check_report(rule, &here, true, "%s, by %s", what, text);
}

static int rank_argument(const struct weft_call *call)
{
    int parameter = weft_call_find(call, WEFT_KIND_RANK, 0);
    return parameter < 0 ? MPI_PROC_NULL : (int)weft_call_number(call, parameter, 0);
}

static bool is_target(const struct window *window, int rank)
{
    return rank >= 0 && rank < window->size;
}

static int assertion(const struct weft_call *call)
{
    for (int i = 0; i < call->function->parameters; i++)
        if (strcmp(call->function->parameter[i].name, "assert") == 0)
            return (int)weft_call_number(call, i, 0);
    return 0;
}

static bool is_locked(const struct window *window, int target)
{
    return window->has_lock_all || (is_target(window, target) && window->locks[target]);
}

/* A call that begins an epoch of a lock or of MPI_Win_start. */
static void check_begins(const struct weft_call *call, const struct window *window)
{
    const bool is_lock = call->function->plain == WEFT_CALL_Win_lock;
    int target = rank_argument(call);
    if (window->is_started)
        report_open(call, window, CHECK_EPOCH_OVERLAP, "an access epoch is open");
    else if (window->has_lock_all)
        report_open(call, window, CHECK_EPOCH_OVERLAP, "all targets are locked");
    else if (window->locked && (!is_lock || is_locked(window, target)))
        report_open(call, window, CHECK_EPOCH_OVERLAP,
                    is_lock ? "the target is locked" : "a target is locked");
    else if (window->fence_used)
        report_open(call, window, CHECK_EPOCH_OVERLAP,
                    "operations since the last fence are not complete");
}

static void check_free(const struct weft_call *call, const struct window *window)
{
    uintptr_t low, high;
    const struct check_location here = check_location_of(call);
    if (window->is_block && !check_block_find(window->base, &low, &high))
        check_report(CHECK_WINDOW_FREED, &here, true,
                     "the program has freed the memory of the window");
    if (window->on_stack && pthread_equal(window->thread, pthread_self()) &&
        window->high <= (uintptr_t)call->frame)
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
static void report_between(const struct weft_call *call, const struct window *window)
{
    const struct check_location here = check_location_of(call);
    char text[512];
    check_location_print(&here, text, sizeof text);
    check_report(CHECK_EPOCH_OVERLAP, &window->between, false,
                 "the operation of another epoch is between two fences, the second in %s, without "
                 "MPI_MODE_NOSUCCEED or MPI_MODE_NOPRECEDE",
                 text);
}

static void check_synchronization(const struct weft_call *call, const struct window *window)
{
    const bool is_passive = window->locked || window->has_lock_all;
    int target = rank_argument(call);
    switch (call->function->plain) {
    case WEFT_CALL_Win_fence:
        if (is_passive)
            report_open(call, window, CHECK_EPOCH_OVERLAP, "a target is locked");
        else if (window->is_started)
            report_open(call, window, CHECK_EPOCH_OVERLAP, "an access epoch is open");
        else if (window->is_between && !(assertion(call) & MPI_MODE_NOPRECEDE))
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
        if (is_target(window, target) && !window->locks[target])
            report_epoch(call, CHECK_EPOCH_NOT_OPEN,
                         window->has_lock_all ? "MPI_Win_lock_all is ended by MPI_Win_unlock_all"
                                              : "the target is not locked");
        break;
    case WEFT_CALL_Win_unlock_all:
        if (!window->has_lock_all)
            report_epoch(call, CHECK_EPOCH_NOT_OPEN, "MPI_Win_lock_all has not been called");
        break;
    case WEFT_CALL_Win_flush:
    case WEFT_CALL_Win_flush_local:
        if (is_target(window, target) && !is_locked(window, target))
            report_epoch(call, CHECK_EPOCH_NOT_OPEN, "the target is not locked");
        break;
    case WEFT_CALL_Win_flush_all:
    case WEFT_CALL_Win_flush_local_all:
        if (!is_passive)
            report_epoch(call, CHECK_EPOCH_NOT_OPEN, "no target is locked");
        break;
    case WEFT_CALL_Win_complete:
        if (!window->is_started)
            report_epoch(call, CHECK_EPOCH_NOT_OPEN, "MPI_Win_start has not been called");
        break;
    case WEFT_CALL_Win_wait:
    case WEFT_CALL_Win_test:
        if (!window->is_posted)
            report_epoch(call, CHECK_EPOCH_NOT_OPEN, "MPI_Win_post has not been called");
        break;
    case WEFT_CALL_Win_free:
        check_free(call, window);
        break;
    default:
        break;
    }
}

/* Calls what for the index in the window of each process of the group that a
 * call has. */
static void for_group(struct window *window, const struct weft_call *call,
                      void (*what)(struct window *window, int rank, void *arg), void *arg)
{
    MPI_Group group = weft_call_handle(call, WEFT_OBJECT_GROUP), members;
    int n = 0;
    weft_next.Group_size(group, &n);
    weft_next.Win_get_group(window->handle, &members);
    for (int i = 0; i < n; i++) {
        int rank;
        weft_next.Group_translate_ranks(group, 1, &i, members, &rank);
        if (is_target(window, rank))
            what(window, rank, arg);
    }
    weft_next.Group_free(&members);
}

static void add_member(struct window *window, int rank, void *arg)
{
    struct peer *peer = &window->peers[rank];
    if (*(const bool *)arg) {
        peer->is_posted = true;
        peer->posts++;
    } else {
        window->started[rank] = true;
        peer->starts++;
    }
}

static void set_members(struct window *window, const struct weft_call *call, bool is_post)
{
    for_group(window, call, add_member, &is_post);
}

static void end_exposure(struct window *window)
{
    window->is_posted = false;
    for (int i = 0; i < window->size; i++)
        window->peers[i].is_posted = false;
}

/* The call has returned. One that ends an epoch has ended it also if it returns an error. */
static void set_epoch(const struct weft_call *call, struct window *window)
{
    const bool begins = call->function->plain == WEFT_CALL_Win_lock ||
                        call->function->plain == WEFT_CALL_Win_lock_all ||
                        call->function->plain == WEFT_CALL_Win_start ||
                        call->function->plain == WEFT_CALL_Win_post;
    int target = rank_argument(call), kind;
    if (begins && call->result != MPI_SUCCESS)
        return;
    switch (call->function->plain) {
    case WEFT_CALL_Win_fence:
        window->has_fence = !(assertion(call) & MPI_MODE_NOSUCCEED);
        window->fence_used = false;
        window->is_between = false;
        window->fences++;
        window->sent = 0;
        window->opened = check_location_of(call);
        break;
    case WEFT_CALL_Win_lock:
        kind = weft_call_number(call, 0, 0) == MPI_LOCK_SHARED ? SHARED : EXCLUSIVE;
        if (is_target(window, target)) {
            window->locked += !window->locks[target];
            window->locks[target] = (unsigned char)kind;
        }
        window->opened = check_location_of(call);
        break;
    case WEFT_CALL_Win_unlock:
        if (is_target(window, target)) {
            window->locked -= window->locks[target] != UNLOCKED;
            window->locks[target] = UNLOCKED;
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

/* The target whose operations a call completes, there and at the origin, or at the origin alone.
 * -1: all targets. */
enum { NONE = -2 };

static int completes_remotely(const struct weft_call *call)
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
        return rank_argument(call) < 0 ? NONE : rank_argument(call);
    default:
        return NONE;
    }
}

static int completes_locally(const struct weft_call *call)
{
    switch (call->function->plain) {
    case WEFT_CALL_Win_flush_local_all:
        return -1;
    case WEFT_CALL_Win_flush_local:
        return rank_argument(call) < 0 ? NONE : rank_argument(call);
    default:
        return completes_remotely(call);
    }
}

/* ---- Operations. windows.lock is held */

static int find_target(const struct weft_call *call)
{
    return weft_call_find(call, WEFT_KIND_TARGET, 0);
}

/* The access of a call to its target; false: it accesses nothing. */
static bool describe(const struct weft_call *call, const struct window *window,
                     struct access *access)
{
    const struct weft_function *function = call->function;
    int target = find_target(call);
    if (target < 0)
        return false;
    const struct weft_parameter *parameter = &function->parameter[target];
    int count = parameter->about[0], type = parameter->about[1];
    *access = (struct access){.target = rank_argument(call),
                              .how = parameter->flow == WEFT_FLOW_IN    ? READS
                                     : parameter->flow == WEFT_FLOW_OUT ? WRITES
                                                                        : ACCUMULATES,
                              .area = check_area_empty(),
                              .where = check_location_of(call)};
    if (!is_target(window, access->target) || type < 0)
        return false;
    if (!window->is_gathered && window->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return false; /* the target's unit is not known */
    int64_t unit =
        window->flavor == MPI_WIN_FLAVOR_DYNAMIC ? 1 : window->peers[access->target].unit;
    check_area_add(&access->area, (uint64_t)(weft_call_number(call, target, 0) * unit),
                   count < 0 ? 1 : weft_call_number(call, count, 0),
                   weft_call_element(call, type, 0));
    check_area_seal(&access->area);
    return access->area.low != access->area.high;
}

static bool may_access(const struct window *window, int target)
{
    return window->has_fence || is_locked(window, target) ||
           (window->is_started && window->started[target]);
}

static bool conflict(enum how a, enum how b)
{
    return a != UNKNOWN && b != UNKNOWN && !(a == READS && b == READS) &&
           !(a == ACCUMULATES && b == ACCUMULATES);
}

static void check_operation(const struct weft_call *call, const struct window *window)
{
    struct access access;
    char text[512];
    if (!describe(call, window, &access))
        return;
    if (!may_access(window, access.target))
        check_report(CHECK_NO_EPOCH, &access.where, true,
                     "no epoch is open for the target, rank %d of the window", access.target);
    if (window->flavor != MPI_WIN_FLAVOR_DYNAMIC &&
        access.area.high > (uint64_t)window->peers[access.target].size)
        check_report(CHECK_TARGET_RANGE, &access.where, true,
                     "the access ends at byte %lld of the window of rank %d, which has %lld",
                     (long long)access.area.high, access.target,
                     (long long)window->peers[access.target].size);
    for (int i = 0; i < window->n; i++) {
        const struct access *other = &window->accesses[i];
        if (other->target != access.target || !conflict(other->how, access.how) ||
            !check_areas_overlap(&other->area, &access.area))
            continue;
        check_location_print(&other->where, text, sizeof text);
        check_report(CHECK_WINDOW_CONFLICT, &access.where, false,
                     "the access to rank %d of the window overlaps that of %s, which is not "
                     "complete",
                     access.target, text);
        break;
    }
    check_area_free(&access.area);
}

/* ---- Waits (deadlocks.h) */

static void add_want(struct check_wants *wants, enum check_want_kind kind,
                     const struct window *window, const struct peer *peer, uint64_t number)
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
    check_mutex_lock(&windows.lock);
    for (int i = 0; i < windows.n; i++) {
        const struct window *window = windows.list[i];
        for (int k = 0; window->peers[0].key == key && k < window->size; k++) {
            const struct peer *peer = &window->peers[k];
            fewer |= peer->world == rank && (posts ? peer->posts : peer->completes) < number;
        }
    }
    check_mutex_unlock(&windows.lock);
    return fewer;
}

bool check_windows_want_complete(MPI_Win win, struct check_wants *wants)
{
    check_mutex_lock(&windows.lock);
    const struct window *window = find(win);
    const bool is_posted = window && window->is_posted;
    if (is_posted && !window->is_gathered)
        wants->is_known = false;
    for (int i = 0; is_posted && window->is_gathered && i < window->size; i++) {
        const struct peer *peer = &window->peers[i];
        if (peer->is_posted && peer->world != MPI_UNDEFINED)
            add_want(wants, CHECK_WANT_COMPLETE, window, peer, peer->posts);
    }
    check_mutex_unlock(&windows.lock);
    return is_posted;
}

bool check_windows_is_incomplete(int rank, uint64_t key, uint64_t number)
{
    return has_fewer(rank, key, false, number);
}

static void want_post(struct window *window, int rank, void *arg)
{
    const struct peer *peer = &window->peers[rank];
    if (peer->exposures <= peer->starts)
        add_want(arg, CHECK_WANT_POST, window, peer, peer->starts);
}

bool check_windows_want_post(const struct weft_call *call, struct check_wants *wants)
{
    check_mutex_lock(&windows.lock);
    struct window *window = find(weft_call_handle(call, WEFT_OBJECT_WIN));
    if (window && window->is_gathered && !window->is_started &&
        weft_call_handle(call, WEFT_OBJECT_GROUP) != MPI_GROUP_NULL &&
        !(assertion(call) & MPI_MODE_NOCHECK))
        for_group(window, call, want_post, wants);
    check_mutex_unlock(&windows.lock);
    return wants->n > 0;
}

bool check_windows_is_unposted(int rank, uint64_t key, uint64_t number)
{
    return has_fewer(rank, key, true, number + 1);
}

void check_windows_take_post(const struct check_record *record)
{
    check_mutex_lock(&windows.lock);
    for (int i = 0; i < windows.n; i++) {
        struct window *window = windows.list[i];
        for (int k = 0; window->peers[0].key == record->access.key && k < window->size; k++)
            window->peers[k].exposures += window->peers[k].world == record->rank;
    }
    check_mutex_unlock(&windows.lock);
}

/* MPI_Win_post has returned: the origins get a record, for which their
 * MPI_Win_start waits. */
static void send_posts(const struct weft_call *call, const struct window *window)
{
    struct check_record record = {.kind = CHECK_RECORD_POST, .call = call->function->plain};
    record.access.key = window->peers[0].key;
    for (int i = 0; i < window->size; i++)
        if (window->peers[i].is_posted && window->is_gathered)
            check_channel_send(window->peers[i].world, &record);
}

/* ---- Several origins */

/* The number of the last common point; false: it is not sure that accesses of other processes since
 * are concurrent. */
static bool find_point(const struct window *window, int target, bool is_passive,
                       struct check_access *record)
{
    record->key = window->peers[0].key;
    record->fences = window->fences;
    record->point = 0;
    if (!window->is_compared || !(check.kinds & CHECK_WINDOWS))
        return false;
    if (window->locks[target] == EXCLUSIVE || window->is_started)
        return false;
    record->is_passive = is_passive;
    if (!is_passive)
        return window->has_fence;
    record->point = windows.points + 1;
    return !windows.shared &&
           (windows.calls == window->calls || windows.calls == windows.point_calls);
}

/* The target cannot take what changes in its window as its own stores: in this epoch of a fence, or
 * under locks at any time. */
static void send_unknown(struct window *window, int target, enum how how, bool is_passive,
                         struct check_record *record)
{
    struct peer *peer = &window->peers[target];
    if (how == READS || !window->is_compared || !(check.kinds & CHECK_WINDOWS) ||
        (is_passive ? peer->is_unsure : peer->unsure_fences == window->fences + 1))
        return;
    if (is_passive)
        peer->is_unsure = true;
    else
        peer->unsure_fences = window->fences + 1;
    record->access = (struct check_access){.key = window->peers[0].key,
                                           .fences = window->fences,
                                           .high = UINT64_MAX,
                                           .how = UNKNOWN,
                                           .is_passive = is_passive};
    const int world = peer->world;
    check_mutex_unlock(&windows.lock);
    check_channel_send(world, record);
    check_mutex_lock(&windows.lock);
}

/* Sends the spans of an area to the process whose window has it; the lock is released meanwhile. */
static void send_records(struct window *window, int target, const struct check_area *area,
                         enum how how, bool is_passive, const struct weft_call *call)
{
    struct check_location here = check_location_of(call);
    struct check_record record = {.kind = CHECK_RECORD_ACCESS,
                                  .call = call->function->plain,
                                  .site = weft_site_pack(here.site)};
    if (!area->is_exact || area->n > SPANS_SENT || window->sent + area->n > RECORDS_MAX ||
        !find_point(window, target, is_passive, &record.access)) {
        send_unknown(window, target, how, is_passive, &record);
        return;
    }
    window->sent += area->n;
    record.access.how = how;
    int world = window->peers[target].world;
    check_mutex_unlock(&windows.lock);
    for (int i = 0; i < area->n; i++) {
        const struct check_span *span = area->spans ? &area->spans[i] : &area->first;
        record.access.low = span->low;
        record.access.high = span->high;
        check_channel_send(world, &record);
    }
    check_mutex_lock(&windows.lock);
}

/* The buffers of an operation in the memory that this process exposes. */
static void send_local(struct window *window, bool is_passive, const struct weft_call *call)
{
    const struct weft_function *function = call->function;
    if (!window->is_compared || window->flavor == MPI_WIN_FLAVOR_SHARED ||
        weft_call_handle(call, WEFT_OBJECT_OP) == MPI_NO_OP)
        return;
    for (int i = 0; i < function->parameters; i++) {
        if (function->parameter[i].kind != WEFT_KIND_DATA)
            continue;
        struct check_area area = check_area_empty(), within = check_area_empty();
        check_area_add_data(&area, call, i, 1, 1);
        check_area_seal(&area);
        if (area.is_exact && area.n > 0 && area.low >= window->low && area.high <= window->high) {
            for (int k = 0; k < area.n; k++) {
                const struct check_span *span = area.spans ? &area.spans[k] : &area.first;
                check_area_add(&within, span->low - window->base, (int64_t)(span->high - span->low),
                               MPI_BYTE);
            }
            check_area_seal(&within);
            send_records(window, window->rank, &within,
                         function->parameter[i].flow == WEFT_FLOW_IN ? READS : WRITES, is_passive,
                         call);
        }
        check_area_free(&area);
        check_area_free(&within);
    }
}

/* An operation has been issued. */
static void add_operation(const struct weft_call *call, struct window *window)
{
    struct access access;
    if (!describe(call, window, &access))
        return;
    const bool is_passive = is_locked(window, access.target);
    if (!is_passive && !window->is_started) {
        window->fence_used = true;
    } else if (window->has_fence && !window->is_between) {
        window->is_between = true;
        window->between = access.where;
    }
    bool is_request = call->function->does & WEFT_DOES_NONBLOCKING;
    send_local(window, is_passive, call);
    send_records(window, access.target, &access.area, access.how, is_passive, call);
    if (window->n == ACCESSES_MAX || (is_request && access.how != WRITES)) {
        check_area_free(&access.area);
        return;
    }
    if (window->n == window->capacity)
        window->accesses =
            check_enlarge(window->accesses, window->n, &window->capacity, sizeof *window->accesses);
    window->accesses[window->n++] = access;
}

static struct check_location location_of(const struct check_record *record)
{
    return (struct check_location){&weft_functions[record->call], weft_site_unpack(record->site)};
}

/* Reports at the call of the higher rank, whichever record came first. */
static void compare(const struct check_record *a, const struct check_record *b)
{
    const struct check_access *x = &a->access, *y = &b->access;
    const struct check_record *low = a->rank < b->rank ? a : b, *high = low == a ? b : a;
    if (a->rank == b->rank || x->fences != y->fences || x->point != y->point ||
        x->is_passive != y->is_passive || !conflict(x->how, y->how) || x->low >= y->high ||
        y->low >= x->high)
        return;
    struct check_location location = location_of(high), other = location_of(low);
    char text[512];
    check_location_print(&other, text, sizeof text);
    check_report_of(high->rank, CHECK_WINDOW_CONFLICT, &location, false,
                    "the access to the window of rank %d overlaps that of rank %d, by %s, in the "
                    "same epoch",
                    check.rank, low->rank, text);
}

/* ---- Stores of the target. A change between two calls is a store of this process, unless another
 * one has written to the bytes. Those before its first epoch are left out: many programs fill a
 * window so. */

static void compare_store(struct store *store, const struct check_record *record)
{
    const struct check_access *x = &store->access, *y = &record->access;
    if (x->fences != y->fences || x->point != y->point || x->is_passive != y->is_passive ||
        x->low >= y->high || y->low >= x->high)
        return;
    if (y->how != READS) {
        store->is_written = true;
    } else if (record->rank != check.rank) {
        store->is_read = true;
        store->reader = *record;
    }
}

void check_windows_stored(uint64_t serial, uint64_t low, uint64_t high,
                          const struct check_location *before, const struct check_location *behind)
{
    struct store store = {.before = *before, .behind = *behind};
    check_mutex_lock(&windows.lock);
    struct window *window = NULL;
    for (int i = 0; i < windows.n && !window; i++)
        if (windows.list[i]->serial == serial)
            window = windows.list[i];
    const bool is_within = window && (window->has_fence || window->locked || window->has_lock_all);
    if (is_within && window->stored < STORES_MAX &&
        find_point(window, window->rank, !window->has_fence, &store.access)) {
        store.access.low = low;
        store.access.high = high;
        for (int i = 0; i < window->arrived; i++)
            compare_store(&store, &window->records[i]);
        if (!window->stores)
            window->stores = tool_allocate(STORES_MAX, sizeof *window->stores);
        window->stores[window->stored++] = store;
    }
    check_mutex_unlock(&windows.lock);
}

static void report_store(const struct store *store)
{
    struct check_location location = location_of(&store->reader);
    char before[384], behind[384];
    check_location_print(&store->before, before, sizeof before);
    check_location_print(&store->behind, behind, sizeof behind);
    check_report_of(store->reader.rank, CHECK_WINDOW_CONFLICT, &location, false,
                    "the access to the window of rank %d overlaps what that rank stores there "
                    "between %s and %s, in the same epoch",
                    check.rank, before, behind);
}

void check_windows_finish(void)
{
    for (int i = 0; i < windows.n; i++) {
        const struct window *window = windows.list[i];
        for (int k = 0; k < window->stored; k++) {
            const struct store *store = &window->stores[k];
            if (store->is_read && !store->is_written &&
                !(store->access.is_passive && window->is_unsure))
                report_store(store);
        }
    }
}

void check_windows_take(const struct check_record *record)
{
    check_mutex_lock(&windows.lock);
    struct window *window = NULL;
    for (int i = 0; i < windows.n && !window; i++)
        if (windows.list[i]->is_compared && windows.list[i]->peers[0].key == record->access.key)
            window = windows.list[i];
    if (window && record->access.how == UNKNOWN && record->access.is_passive) {
        window->is_unsure = true;
    } else if (window) {
        int n = 0;
        for (int i = 0; i < window->stored; i++)
            compare_store(&window->stores[i], record);
        for (int i = 0; i < window->arrived; i++) { /* older than the fence before the last: gone */
            compare(&window->records[i], record);
            if (window->records[i].access.fences + 1 >= window->fences &&
                window->records[i].access.point + 1 >= windows.points)
                window->records[n++] = window->records[i];
        }
        window->arrived = n;
        if (n == window->arrived_capacity && n < RECORDS_MAX * 4)
            window->records = check_enlarge(window->records, n, &window->arrived_capacity,
                                            sizeof *window->records);
        if (n < window->arrived_capacity)
            window->records[window->arrived++] = *record;
    }
    check_mutex_unlock(&windows.lock);
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
    windows.calls++;
    if ((function->plain != WEFT_CALL_Barrier && function->plain != WEFT_CALL_Allreduce) ||
        weft_call_handle(call, WEFT_OBJECT_COMM) != MPI_COMM_WORLD)
        return;
    int count = weft_call_find(call, WEFT_KIND_COUNT, 0);
    if (count >= 0 && weft_call_number(call, count, 0) <= 0)
        return;
    windows.points++;
    windows.point_calls = windows.calls;
    for (int i = 0; i < windows.n; i++)
        windows.list[i]->sent = 0;
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
    int target = completes_locally(call);
    if (target != NONE)
        check_buffers_verify(call, handle, target);
    check_mutex_lock(&windows.lock);
    struct window *window = find(handle);
    if (window && (check.kinds & CHECK_WINDOWS)) {
        if (function->does & WEFT_DOES_RMA)
            check_operation(call, window);
        else
            check_synchronization(call, window);
    }
    if (window && function->plain == WEFT_CALL_Win_free)
        forget(window);
    check_mutex_unlock(&windows.lock);
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
    check_mutex_lock(&windows.lock);
    count_call(call);
    if (!check_has(call, CHECK_HAS_WINDOW)) {
        check_mutex_unlock(&windows.lock);
        return;
    }
    void *handle = weft_call_handle(call, WEFT_OBJECT_WIN);
    struct window *window = handle ? find(handle) : NULL;
    int remote = completes_remotely(call);
    if (window && (function->does & WEFT_DOES_RMA) && call->result == MPI_SUCCESS)
        add_operation(call, window);
    else if (window && (function->does & WEFT_DOES_EPOCH))
        set_epoch(call, window);
    if (window && remote != NONE)
        drop_accesses(window, remote);
    check_mutex_unlock(&windows.lock);
    if (window && function->plain == WEFT_CALL_Win_post && call->result == MPI_SUCCESS &&
        (check.kinds & CHECK_DEADLOCKS) && !check.several_threads)
        send_posts(call, window);
    if (window && completes_locally(call) != NONE)
        check_buffers_complete(handle, completes_locally(call));
    if (call->result == MPI_SUCCESS && makes_window(function))
        make(call);
}
