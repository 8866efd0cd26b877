// SPDX-License-Identifier: BSD-3-Clause
/*
 * Accesses to windows: bounds, and those that conflict.
 *
 * Two accesses to the same bytes of a target conflict if one of them writes, unless both are
 * accumulates. Accesses of one origin are compared there: all since the epoch began or the target
 * was flushed. Accesses of several origins are compared at the target, which gets a record of each
 * (channel.h), if it is sure that no order exists between them:
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
 *  - The lock of the windows is not held while a record is sent.
 *  - What is not sure is not compared: accesses of more spans than SPANS_SENT, operations with
 *    MPI_Rget. Shared windows, in which loads and stores order processes, end the comparison of
 *    passive accesses.
 */
#include "tools/check/windows_internal.h"

#include <stdlib.h>

enum {
    ACCESSES_MAX = 512, /* kept of an epoch at the origin: each new one is compared with all */
    SPANS_SENT = 16,    /* records of one access */
    STORES_MAX = 64     /* of a window */
};

/* UNKNOWN: accesses that write, of which no records are sent. */
enum how { READS, WRITES, ACCUMULATES, UNKNOWN };

/* An operation of this process in an epoch. */
struct check_window_access {
    int target;
    enum how how;
    struct check_area area; /* offsets in the target's window */
    struct check_location where;
};

/* Bytes of the own window that have changed between two calls of this process. */
struct check_window_store {
    struct check_access access;
    struct check_location before, behind;
    bool is_read, is_written; /* by another process in the same epoch */
    struct check_record reader;
};

/* ---- At the origin */

static int find_target(const struct weft_call *call)
{
    return weft_call_find(call, WEFT_PARAMETER_TARGET, 0);
}

/* The access of a call to its target; false: it accesses nothing. */
static bool describe(const struct weft_call *call, const struct check_window *window,
                     struct check_window_access *access)
{
    const struct weft_function *function = call->function;
    int target = find_target(call);
    if (target < 0)
        return false;
    const struct weft_parameter *parameter = &function->parameter[target];
    int count = parameter->about[0], type = parameter->about[1];
    *access = (struct check_window_access){.target = check_window_rank_argument(call),
                                           .how = parameter->flow == WEFT_FLOW_IN    ? READS
                                                  : parameter->flow == WEFT_FLOW_OUT ? WRITES
                                                                                     : ACCUMULATES,
                                           .area = check_area_empty(),
                                           .where = check_location_of(call)};
    if (!check_window_is_target(window, access->target) || type < 0)
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

static bool may_access(const struct check_window *window, int target)
{
    return window->has_fence || check_window_is_locked(window, target) ||
           (window->is_started && window->started[target]);
}

static bool conflict(enum how a, enum how b)
{
    return a != UNKNOWN && b != UNKNOWN && !(a == READS && b == READS) &&
           !(a == ACCUMULATES && b == ACCUMULATES);
}

void check_accesses_begin(const struct weft_call *call, const struct check_window *window)
{
    struct check_window_access access;
    char text[512];
    if (!describe(call, window, &access))
        return;
    if (!may_access(window, access.target) && !check_epoch_is_open(window, access.target, false))
        check_report(CHECK_NO_EPOCH, &access.where, true,
                     "no epoch is open for the target, rank %d of the window", access.target);
    if (window->flavor != MPI_WIN_FLAVOR_DYNAMIC &&
        access.area.high > (uint64_t)window->peers[access.target].size)
        check_report(CHECK_TARGET_RANGE, &access.where, true,
                     "the access ends at byte %lld of the window of rank %d, which has %lld",
                     (long long)access.area.high, access.target,
                     (long long)window->peers[access.target].size);
    for (int i = 0; i < window->n; i++) {
        const struct check_window_access *other = &window->accesses[i];
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

void check_accesses_drop(struct check_window *window, int target, bool only_reads)
{
    int n = 0;
    for (int i = 0; i < window->n; i++) {
        struct check_window_access *access = &window->accesses[i];
        if ((target >= 0 && access->target != target) || (only_reads && access->how != READS))
            window->accesses[n++] = *access;
        else
            check_area_free(&access->area);
    }
    window->n = n;
}

/* ---- Several origins */

/* The number of the last common point; false: it is not sure that accesses of other processes since
 * are concurrent. */
static bool find_point(const struct check_window *window, int target, bool is_passive,
                       struct check_access *record)
{
    record->key = window->peers[0].key;
    record->fences = window->fences;
    record->point = 0;
    if (!window->is_compared || !(check.kinds & CHECK_WINDOWS))
        return false;
    if (window->locks[target] == CHECK_EXCLUSIVE || window->is_started)
        return false;
    record->is_passive = is_passive;
    if (!is_passive)
        return window->has_fence;
    record->point = check_windows.points + 1;
    return !check_windows.shared && (check_windows.calls == window->calls ||
                                     check_windows.calls == check_windows.point_calls);
}

/* The target cannot take what changes in its window as its own stores: in this epoch of a fence, or
 * under locks at any time. */
static void send_unknown(struct check_window *window, int target, enum how how, bool is_passive,
                         struct check_record *record)
{
    struct check_window_peer *peer = &window->peers[target];
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
    check_mutex_unlock(&check_windows.lock);
    check_channel_send(world, record);
    check_mutex_lock(&check_windows.lock);
}

/* Sends the spans of an area to the process whose window has it; the lock is released meanwhile. */
static void send_records(struct check_window *window, int target, const struct check_area *area,
                         enum how how, bool is_passive, const struct weft_call *call)
{
    struct check_location here = check_location_of(call);
    struct check_record record = {.kind = CHECK_RECORD_ACCESS,
                                  .call = call->function->plain,
                                  .site = weft_site_pack(here.site)};
    if (!area->is_exact || area->n > SPANS_SENT ||
        window->sent + area->n > CHECK_ACCESSES_SENT_MAX ||
        !find_point(window, target, is_passive, &record.access)) {
        send_unknown(window, target, how, is_passive, &record);
        return;
    }
    window->sent += area->n;
    record.access.how = how;
    int world = window->peers[target].world;
    check_mutex_unlock(&check_windows.lock);
    for (int i = 0; i < area->n; i++) {
        const struct check_span *span = &check_area_spans(area)[i];
        record.access.low = span->low;
        record.access.high = span->high;
        check_channel_send(world, &record);
    }
    check_mutex_lock(&check_windows.lock);
}

/* The buffers of an operation in the memory that this process exposes. */
static void send_local(struct check_window *window, bool is_passive, const struct weft_call *call)
{
    const struct weft_function *function = call->function;
    if (!window->is_compared || window->flavor == MPI_WIN_FLAVOR_SHARED ||
        weft_call_handle(call, WEFT_OBJECT_OP) == MPI_NO_OP)
        return;
    for (int i = 0; i < function->parameters; i++) {
        if (function->parameter[i].kind != WEFT_PARAMETER_DATA)
            continue;
        struct check_area area = check_area_empty(), within = check_area_empty();
        check_area_add_data(&area, call, i, 1, 1);
        check_area_seal(&area);
        if (area.is_exact && area.n > 0 && area.low >= window->low && area.high <= window->high) {
            for (int k = 0; k < area.n; k++) {
                const struct check_span *span = &check_area_spans(&area)[k];
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

void check_accesses_end(const struct weft_call *call, struct check_window *window)
{
    struct check_window_access access;
    if (!describe(call, window, &access))
        return;
    const bool is_passive = check_window_is_locked(window, access.target);
    if (!is_passive && !window->is_started) {
        window->fence_used = window->has_fence; /* else PMPI_Win_lock has begun the epoch */
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

/* Reports at the call of the higher rank, whichever record came first. */
static void compare(const struct check_record *a, const struct check_record *b)
{
    const struct check_access *x = &a->access, *y = &b->access;
    const struct check_record *low = a->rank < b->rank ? a : b, *high = low == a ? b : a;
    if (a->rank == b->rank || x->fences != y->fences || x->point != y->point ||
        x->is_passive != y->is_passive || !conflict(x->how, y->how) || x->low >= y->high ||
        y->low >= x->high)
        return;
    struct check_location location = check_location_in(high), other = check_location_in(low);
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

static void compare_store(struct check_window_store *store, const struct check_record *record)
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
    struct check_window_store store = {.before = *before, .behind = *behind};
    check_mutex_lock(&check_windows.lock);
    struct check_window *window = NULL;
    for (int i = 0; i < check_windows.n && !window; i++)
        if (check_windows.list[i]->serial == serial)
            window = check_windows.list[i];
    const bool is_within = window && (window->has_fence || window->locked || window->has_lock_all);
    if (is_within && window->stored < STORES_MAX &&
        find_point(window, window->rank, !window->has_fence, &store.access)) {
        store.access.low = low;
        store.access.high = high;
        for (int i = 0; i < window->arrived; i++)
            compare_store(&store, &window->records[i]);
        if (!window->stores)
            window->stores = weft_interpose_allocate(STORES_MAX, sizeof *window->stores);
        window->stores[window->stored++] = store;
    }
    check_mutex_unlock(&check_windows.lock);
}

static void report_store(const struct check_window_store *store)
{
    struct check_location location = check_location_in(&store->reader);
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
    for (int i = 0; i < check_windows.n; i++) {
        const struct check_window *window = check_windows.list[i];
        for (int k = 0; k < window->stored; k++) {
            const struct check_window_store *store = &window->stores[k];
            if (store->is_read && !store->is_written &&
                !(store->access.is_passive && window->is_unsure))
                report_store(store);
        }
    }
}

void check_windows_take(const struct check_record *record)
{
    check_mutex_lock(&check_windows.lock);
    struct check_window *window = NULL;
    for (int i = 0; i < check_windows.n && !window; i++)
        if (check_windows.list[i]->is_compared &&
            check_windows.list[i]->peers[0].key == record->access.key)
            window = check_windows.list[i];
    if (window && record->access.how == UNKNOWN && record->access.is_passive) {
        window->is_unsure = true;
    } else if (window) {
        int n = 0;
        for (int i = 0; i < window->stored; i++)
            compare_store(&window->stores[i], record);
        for (int i = 0; i < window->arrived; i++) { /* older than the fence before the last: gone */
            compare(&window->records[i], record);
            if (window->records[i].access.fences + 1 >= window->fences &&
                window->records[i].access.point + 1 >= check_windows.points)
                window->records[n++] = window->records[i];
        }
        window->arrived = n;
        if (n == window->arrived_capacity && n < CHECK_ACCESSES_SENT_MAX * 4)
            window->records = check_enlarge(window->records, n, &window->arrived_capacity,
                                            sizeof *window->records);
        if (n < window->arrived_capacity)
            window->records[window->arrived++] = *record;
    }
    check_mutex_unlock(&check_windows.lock);
}
