// SPDX-License-Identifier: BSD-3-Clause
/*
 * The target's handler: applies the packets that arrive for this rank's memory of a window. See
 * message.h.
 *
 * Locks are granted in the order of their requests, with one exception: a shared request is queued
 * before each exclusive request that its rank has not passed yet. MPI_Win_lock_all sends nothing (a
 * message to every rank would connect all ranks), so its request arrives with the first operation,
 * after exclusive requests that were made later than MPI_Win_lock_all. A rank that holds the shared
 * lock may wait for that operation: if the operation waited for an exclusive request, and that for
 * the holder, no rank would go on. After a rank has passed an exclusive request, its next epoch
 * began later than that request, and waits for it: each exclusive request is passed at most once by
 * each rank, and is granted after a bounded number of epochs. No mark in the packet is required: a
 * request of MPI_Win_lock may pass as well.
 *
 * Invariants:
 *  - Nothing here waits; a lock that is not free puts the rank that requests it into a queue, and
 *    one that a dead rank holds, or of a revoked window, is refused.
 *  - An incomplete packet changes nothing but the window's fault.
 */
#include "core/rma/message.h"
#include "core/base/error.h"
#include "core/message/count.h"
#include "core/base/clock.h"
#include "core/base/memory.h"

#include <stdlib.h>
#include <string.h>

struct weft_rma_waiter {
    struct weft_rma_waiter *next;
    int rank;
    enum weft_win_lock type;
    uint64_t number; /* exclusive requests queued so far, this one included */
};

/* ---- Checks */

/* The runs of a packet with real addresses. Returns MPI_SUCCESS, or an error class for the origin.
 */
static int resolve_runs(const struct weft_win *win, const struct weft_rma_packet *packet,
                        struct weft_run *runs)
{
    const struct weft_run *sent = weft_rma_runs(packet);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < packet->runs; i++) {
        char *where;
        if (!weft_win_contains(win, sent[i].at, sent[i].bytes, &where))
            return MPI_ERR_RMA_RANGE;
        runs[i] = (struct weft_run){(MPI_Aint)(intptr_t)where, sent[i].bytes};
        bytes += sent[i].bytes;
    }
    return bytes == packet->bytes ? MPI_SUCCESS : MPI_ERR_INTERN;
}

/* True if the packet is as long as its fields claim. */
static bool is_complete(const struct weft_win *win, const struct weft_rma_packet *packet,
                        size_t length)
{
    if (length < sizeof *packet || length > win->packet || packet->runs > WEFT_RMA_RUNS ||
        packet->bytes > WEFT_RMA_DATA_BYTES)
        return false;
    if (packet->kind == WEFT_RMA_COMPARE_AND_SWAP &&
        (packet->runs != 1 || !packet->bytes || packet->bytes > WEFT_RMA_SWAP_BYTES))
        return false;
    return length == sizeof *packet + packet->runs * sizeof(struct weft_run) +
                         weft_rma_packet_carries(packet);
}

/* ---- Operations */

/* True if each run has complete elements. Only elements with padding in memory may be in two runs.
 */
static bool has_full_elements(const struct weft_rma_packet *packet, const struct weft_run *runs)
{
    enum weft_basic_type element = (enum weft_basic_type)packet->element;
    size_t size = weft_rma_element_bytes(element);
    bool padded = size != weft_basic_size(element);
    for (uint32_t i = 0; i < packet->runs && !padded; i++)
        if (runs[i].bytes % size)
            return false;
    return packet->bytes % size == 0;
}

static bool is_alone(const struct weft_win *win, int source)
{
    return weft_win_is_alone(win, (enum weft_win_lock)win->targets[source].granted);
}

static int apply_to(struct weft_win *win, int source, const struct weft_rma_packet *packet,
                    const struct weft_run *runs, char *out)
{
    const struct weft_op *op =
        packet->op < WEFT_PREDEFINED_HANDLES
            ? weft_handle_resolve((void *)(uintptr_t)packet->op, WEFT_KIND_OP)
            : NULL;
    enum weft_basic_type element = (enum weft_basic_type)packet->element;
    if (!op || op->id == WEFT_OP_USER || element >= WEFT_BASIC_KINDS ||
        weft_op_check(op, element) != MPI_SUCCESS || !has_full_elements(packet, runs))
        return MPI_ERR_INTERN;
    struct weft_rma_apply apply = {.op = op,
                                   .element = element,
                                   .win = win,
                                   .target = win->comm->rank,
                                   .alone = is_alone(win, source)};
    const char *data = op->id == WEFT_OP_NO_OP ? NULL : weft_rma_packet_data(packet);
    return weft_rma_apply(&apply, NULL, runs, packet->runs, data, out);
}

static int carry_out(struct weft_win *win, int source, const struct weft_rma_packet *packet,
                     const struct weft_run *runs, char *out)
{
    char *data = weft_rma_packet_data(packet);
    size_t done = 0;
    struct weft_rma_apply swap = {
        .win = win, .target = win->comm->rank, .alone = is_alone(win, source)};
    switch (packet->kind) {
    case WEFT_RMA_PUT:
    case WEFT_RMA_GET:
        for (uint32_t i = 0; i < packet->runs; done += runs[i++].bytes) {
            char *at = (char *)(intptr_t)runs[i].at;
            memcpy(packet->kind == WEFT_RMA_PUT ? at : out + done,
                   packet->kind == WEFT_RMA_PUT ? data + done : at, runs[i].bytes);
        }
        return MPI_SUCCESS;
    case WEFT_RMA_COMPARE_AND_SWAP:
        return weft_rma_compare_and_swap(&swap, (char *)(intptr_t)runs[0].at, (size_t)packet->bytes,
                                         data, data + packet->bytes, out);
    default:
        return apply_to(win, source, packet, runs, out);
    }
}

/* Sends the RESULT or FAULT of an operation, if it has one. */
static void operate(struct weft_win *win, int source, const struct weft_rma_packet *packet)
{
    struct weft_run runs[WEFT_RMA_RUNS];
    struct weft_rma_packet *result = NULL;
    bool has_result = packet->kind != WEFT_RMA_PUT && packet->kind != WEFT_RMA_ACCUMULATE;
    int code = resolve_runs(win, packet, runs);
    if (code == MPI_SUCCESS && has_result)
        result = weft_rma_packet_make(WEFT_RMA_RESULT, 0, (size_t)packet->bytes);
    if (code == MPI_SUCCESS)
        code = carry_out(win, source, packet, runs, result ? weft_rma_packet_data(result) : NULL);
    if (code != MPI_SUCCESS) {
        free(result);
        result = weft_rma_packet_make(WEFT_RMA_FAULT, 0, 0);
        result->bytes = (uint64_t)code;
    }
    if (!result)
        return;
    result->number = packet->number;
    result->offset = packet->offset;
    weft_rma_packet_send(win, source, result);
}

/* ---- Locks */

static void grant(struct weft_win *win, int rank, enum weft_win_lock type)
{
    win->targets[rank].granted = (uint8_t)type;
    weft_rma_notify(win, rank, WEFT_RMA_ACK, 0);
}

uint64_t weft_rma_turn(struct weft_win *win, int rank, enum weft_win_lock type)
{
    uint64_t newest = win->exclusive_requests, passed = win->targets[rank].passed;
    weft_assert(passed <= newest);
    if (type == WEFT_WIN_EXCLUSIVE)
        return newest;
    win->targets[rank].passed = newest;
    return passed;
}

bool weft_rma_has_waiter(const struct weft_win *win, uint64_t turn)
{
    const struct weft_rma_waiter *waiter = win->waiters;
    while (waiter && waiter->number > turn)
        waiter = waiter->next;
    return waiter != NULL;
}

/* Sends the exclusive holder of the lock to the ranks that wait for it, for their hang reports,
 * once it has been the same for a while. A lock that is soon released causes no messages. */
static void report_holder(struct weft_win *win)
{
    static const double AFTER = 0.2; /* seconds: less than the shortest WEFT_HANG_TIMEOUT, 1 s */
    int holder = weft_win_lock_holder(win->control) + 1;
    double now = weft_seconds();
    if (holder != win->reported) {
        win->reported = holder;
        win->report_at = now + AFTER;
    }
    if (!win->report_at || now < win->report_at)
        return;
    win->report_at = 0;
    for (const struct weft_rma_waiter *waiter = win->waiters; waiter; waiter = waiter->next) {
        struct weft_rma_packet *packet = weft_rma_packet_make(WEFT_RMA_HOLDER, 0, 0);
        packet->number = (uint64_t)holder;
        weft_rma_packet_send(win, waiter->rank, packet);
    }
}

static void lock_requested(struct weft_win *win, int rank, enum weft_win_lock type)
{
    if (win->targets[rank].granted || (type != WEFT_WIN_SHARED && type != WEFT_WIN_EXCLUSIVE))
        return; /* not what a rank sends */
    uint64_t turn = weft_rma_turn(win, rank, type);
    struct weft_rma_waiter **link = &win->waiters;
    while (*link && ((*link)->type == WEFT_WIN_SHARED || (*link)->number <= turn))
        link = &(*link)->next;
    if (link == &win->waiters && weft_win_lock_try(win->control, type, rank)) {
        grant(win, rank, type);
        return;
    }
    weft_count_add(&weft_counts.rma_lock_waits, 1);
    struct weft_rma_waiter *waiter =
        weft_memory_get(1, sizeof *waiter, "the queue of a window's lock");
    win->exclusive_requests += type == WEFT_WIN_EXCLUSIVE;
    *waiter = (struct weft_rma_waiter){*link, rank, type, win->exclusive_requests};
    *link = waiter;
    win->reported = -1; /* the new waiter gets a report, too */
}

int weft_rma_grant(struct weft_win *win)
{
    int events = 0;
    for (struct weft_rma_waiter *waiter; (waiter = win->waiters) != NULL; events++) {
        if (weft_win_lock_try(win->control, waiter->type, waiter->rank))
            grant(win, waiter->rank, waiter->type);
        else if (weft_win_lock_dead_holder(win, win->comm->rank) >= 0)
            weft_rma_notify(win, waiter->rank, WEFT_RMA_ACK, WEFT_WIN_REFUSED_DEAD);
        else if (win->comm->revoked)
            weft_rma_notify(win, waiter->rank, WEFT_RMA_ACK, WEFT_WIN_REFUSED_REVOKED);
        else {
            report_holder(win);
            return events;
        }
        win->waiters = waiter->next;
        free(waiter);
    }
    return events;
}

static void unlock(struct weft_win *win, int rank)
{
    weft_win_lock_release(win->control, (enum weft_win_lock)win->targets[rank].granted);
    win->targets[rank].granted = WEFT_WIN_UNLOCKED;
}

void weft_rma_release_dead(struct weft_win *win)
{
    for (int rank = 0; rank < win->comm->size; rank++)
        if (win->targets[rank].granted && weft_rma_is_dead(win, rank))
            unlock(win, rank);
    for (struct weft_rma_waiter **link = &win->waiters; *link;) {
        struct weft_rma_waiter *waiter = *link;
        if (!weft_rma_is_dead(win, waiter->rank)) {
            link = &waiter->next;
            continue;
        }
        *link = waiter->next;
        free(waiter);
    }
}

/* ---- Packets */

void weft_rma_handle(struct weft_win *win, int source, const struct weft_rma_packet *packet,
                     size_t length)
{
    if (source < 0 || source >= win->comm->size || !is_complete(win, packet, length)) {
        win->fault = weft_error_set(MPI_ERR_INTERN,
                                    "a packet of %zu bytes from rank %d for a window is damaged",
                                    length, source);
        return;
    }
    struct weft_win_target *origin = &win->targets[source];
    switch (packet->kind) {
    case WEFT_RMA_PUT:
    case WEFT_RMA_GET:
    case WEFT_RMA_ACCUMULATE:
    case WEFT_RMA_GET_ACCUMULATE:
    case WEFT_RMA_COMPARE_AND_SWAP:
        operate(win, source, packet);
        if (packet->acknowledge)
            weft_rma_notify(win, source, WEFT_RMA_ACK, 0);
        return;
    case WEFT_RMA_RESULT:
    case WEFT_RMA_FAULT:
        weft_rma_result(win, source, packet);
        return;
    case WEFT_RMA_LOCK:
        lock_requested(win, source, (enum weft_win_lock)packet->op);
        return;
    case WEFT_RMA_UNLOCK:
        unlock(win, source);
        weft_rma_notify(win, source, WEFT_RMA_ACK, 0);
        return;
    case WEFT_RMA_FLUSH:
        weft_rma_notify(win, source, WEFT_RMA_ACK, 0);
        return;
    case WEFT_RMA_ACK:
        origin->acks_pending -= origin->acks_pending > 0;
        origin->holder = 0;
        if (packet->op)
            origin->refused = packet->op == WEFT_WIN_REFUSED_REVOKED ? WEFT_WIN_REFUSED_REVOKED
                                                                     : WEFT_WIN_REFUSED_DEAD;
        return;
    case WEFT_RMA_POST:
        origin->notices[WEFT_WIN_POSTED]++;
        return;
    case WEFT_RMA_COMPLETE:
        origin->notices[WEFT_WIN_COMPLETED]++;
        return;
    case WEFT_RMA_HOLDER:
        if (packet->number <= (uint64_t)win->comm->size && origin->acks_pending)
            origin->holder = (int)packet->number;
        return;
    default:
        return;
    }
}
