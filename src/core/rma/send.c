// SPDX-License-Identifier: BSD-3-Clause
/*
 * Operations by messages, at their origin: cut into packets, sent as space allows, and completed by
 * results where there are any. Puts and gets of contiguous data are transfers of the provider
 * instead, where the window has them.
 *
 * Invariants:
 *  - The list of a window holds its operations in the order in which they were started; one is sent
 *    only when all before it were. So packets to one target leave in that order.
 *  - A packet has a copy of its data: a put or an accumulate without a result needs the origin's
 *    buffer until its last packet is sent, no longer.
 *  - Each packet of an operation with a result has one RESULT or FAULT as its reply, each transfer
 *    a completion. The operation stays in the list until all of them are here, also if it has
 *    failed: so nothing arrives for an operation that does not exist, and nothing is in flight when
 *    the window is freed.
 *  - Transfers keep no order, among each other or with packets sent before them: only accumulate
 *    operations have an order, and these are packets.
 */
#include "core/base/error.h"
#include "core/progress/progress.h"
#include "core/message/count.h"
#include "core/rma/message.h"

#include <stdlib.h>
#include <string.h>

struct weft_rma_op {
    struct weft_rma_op *next;
    struct weft_rma_call call;
    uint64_t number;
    size_t sent;         /* bytes of its packed form */
    bool by_lane;        /* transfers; else packets */
    bool ended;          /* for the program */
    int results_pending; /* packets without a reply, or transfers in flight */
    int error;           /* the class of its first FAULT; nothing is sent after it */
    struct weft_request *request;
    char pair[2 *
              WEFT_RMA_SWAP_BYTES]; /* compare_and_swap: the value to compare with, the new one */
};

static bool has_result(const struct weft_rma_op *op)
{
    return op->call.kind == WEFT_RMA_GET || op->call.kind == WEFT_RMA_GET_ACCUMULATE ||
           op->call.kind == WEFT_RMA_COMPARE_AND_SWAP;
}

/* The destination of results. */
static struct weft_rma_data destination(const struct weft_rma_op *op)
{
    return op->call.kind == WEFT_RMA_GET ? op->call.origin : op->call.result;
}

/* ---- Beginning and end */

static void hold_types(const struct weft_rma_call *call, void (*act)(const struct weft_datatype *))
{
    act(call->type);
    if (call->origin.type)
        act(call->origin.type);
    if (call->result.type)
        act(call->result.type);
}

/* References to types are dropped only with all VCIs held. */
static bool is_freed_later(const struct weft_rma_call *call)
{
    const struct weft_datatype *origin = call->origin.type, *result = call->result.type;
    bool counted = !(call->type->flags & WEFT_TYPE_PREDEFINED) ||
                   (origin && !(origin->flags & WEFT_TYPE_PREDEFINED)) ||
                   (result && !(result->flags & WEFT_TYPE_PREDEFINED));
    return counted && !weft_vcis_hold_all();
}

static void release_operation(struct weft_rma_op *op)
{
    hold_types(&op->call, weft_datatype_release);
    free(op);
}

void weft_rma_free_spent(struct weft_vci *vci)
{
    for (struct weft_rma_op *op; (op = vci->windows.spent) != NULL;) {
        vci->windows.spent = op->next;
        release_operation(op);
    }
}

static bool is_finished(const struct weft_rma_op *op)
{
    return (op->sent == op->call.bytes || op->error) && !op->results_pending;
}

/* The end that the program sees. */
static void end_operation(struct weft_win *win, struct weft_rma_op *op)
{
    if (op->ended)
        return;
    op->ended = true;
    weft_assert(win->targets[op->call.target].unfinished > 0);
    win->targets[op->call.target].unfinished--;
    if (op->request) {
        op->request->error = (uint8_t)op->error;
        weft_request_event(op->request);
    } else if (op->error) {
        win->fault = op->error;
    }
}

static void finish_operation(struct weft_win *win, struct weft_rma_op *op)
{
    weft_assert(op->by_lane ? !op->results_pending : op->results_pending <= win->results_pending);
    struct weft_rma_op **link = &win->ops;
    while (*link != op)
        link = &(*link)->next;
    *link = op->next;
    if (!op->next)
        win->ops_end = link;
    if (win->unsent == op)
        win->unsent = op->next;
    if (!op->by_lane)
        win->results_pending -= op->results_pending;
    end_operation(win, op);
    if (!is_freed_later(&op->call)) {
        release_operation(op);
        return;
    }
    op->next = win->comm->vci->windows.spent;
    win->comm->vci->windows.spent = op;
    __atomic_fetch_or(&weft.others, WEFT_OTHERS_DEFERRED, __ATOMIC_RELAXED);
}

void weft_rma_fail_operations(struct weft_win *win, int rank)
{
    for (struct weft_rma_op *op = win->ops, *next; op; op = next) {
        next = op->next;
        if (op->call.target != rank)
            continue;
        op->error = weft_rma_report_dead(win, rank);
        if (op->by_lane && op->results_pending)
            end_operation(win, op); /* the provider completes its transfers */
        else
            finish_operation(win, op);
    }
}

/* ---- Packets */

static void write_data(const struct weft_rma_op *op, struct weft_rma_packet *packet, size_t bytes)
{
    const struct weft_rma_data *origin = &op->call.origin;
    char *data = weft_rma_packet_data(packet);
    if (op->call.kind == WEFT_RMA_COMPARE_AND_SWAP)
        memcpy(data, op->pair, 2 * bytes);
    else if (op->call.kind != WEFT_RMA_GET && origin->type)
        weft_datatype_pack(origin->type, origin->at, op->sent, data, bytes);
}

/* True if the last packet of an operation without a result is to be acknowledged, so that a flush
 * needs no packet of its own: one at a time for each target, in epochs whose end waits for ACKs. */
static bool wants_ack(const struct weft_win *win, const struct weft_rma_op *op, size_t bytes)
{
    return !has_result(op) && op->sent + bytes == op->call.bytes &&
           !win->targets[op->call.target].acks_pending &&
           (win->access == WEFT_WIN_LOCKED_ALL || win->access == WEFT_WIN_NO_ACCESS);
}

static int send_one(struct weft_win *win, struct weft_rma_op *op)
{
    struct weft_win_target *target = &win->targets[op->call.target];
    struct weft_run runs[WEFT_RMA_RUNS];
    size_t nruns, bytes;
    bytes = weft_rma_list_runs(&op->call, op->sent, WEFT_RMA_DATA_BYTES, runs, &nruns);
    weft_assert(bytes > 0 && op->sent + bytes <= op->call.bytes);
    size_t space = op->call.kind == WEFT_RMA_COMPARE_AND_SWAP ? 2 * bytes
                   : op->call.kind == WEFT_RMA_GET            ? 0
                                                              : bytes;
    struct weft_rma_packet *packet =
        weft_rma_packet_make((enum weft_rma_packet_kind)op->call.kind, nruns, space);
    packet->bytes = bytes;
    packet->number = op->number;
    packet->offset = op->sent;
    packet->element = (uint8_t)op->call.type->basic_type;
    packet->op = op->call.op ? (uint16_t)(uintptr_t)op->call.op->handle : 0;
    bool ack = wants_ack(win, op, bytes);
    packet->acknowledge = ack;
    memcpy(weft_rma_runs(packet), runs, nruns * sizeof *runs);
    write_data(op, packet, bytes);
    int code = weft_rma_packet_send(win, op->call.target, packet);
    if (code != MPI_SUCCESS)
        return code;
    op->sent += bytes;
    target->acks_pending += ack;
    target->flush = !has_result(op) && !ack; /* both acknowledge what was sent before */
    op->results_pending += has_result(op);
    win->results_pending += has_result(op);
    return MPI_SUCCESS;
}

/* ---- Transfers */

static bool may_transfer(const struct weft_win *win, const struct weft_rma_call *call)
{
    enum weft_remote_flag needed = call->kind == WEFT_RMA_PUT ? WEFT_REMOTE_PUTS : WEFT_REMOTE_GETS;
    return call->kind <= WEFT_RMA_GET && win->targets[call->target].by_lane &&
           win->remote_flags & needed && weft_datatype_is_run(call->type, call->bytes) &&
           weft_datatype_is_run(call->origin.type, call->bytes);
}

static int transfer_one(struct weft_win *win, struct weft_rma_op *op)
{
    weft_assert(op->by_lane && op->sent < op->call.bytes);
    const struct weft_rma_call *call = &op->call;
    struct weft_win_target *target = &win->targets[call->target];
    struct weft_remote_memory at = target->location;
    struct weft_peer *peer = weft_comm_connect(win->comm, call->target);
    struct weft_request *sub = peer ? weft_request_get(win->comm->vci, WEFT_REQUEST_RMA, 1) : NULL;
    if (!sub)
        return peer ? MPI_ERR_NO_MEM : MPI_ERR_OTHER;
    sub->flags = WEFT_REQUEST_SUB;
    sub->parent = &win->parent;
    sub->copy = op;
    sub->channel = &win->comm->partitioned;
    sub->peer = peer;
    sub->owner = peer->lane;
    sub->type = weft_datatype_byte(); /* the report of a failure names the message's size by it */
    sub->buffer =
        (char *)weft_datatype_run(call->origin.type, call->origin.at, call->bytes) + op->sent;
    sub->bytes = call->bytes - op->sent;
    at.address += (uint64_t)call->low + op->sent;
    const struct weft_lane_remote *remote = weft_lane_of(peer)->remote;
    int code = (call->kind == WEFT_RMA_PUT ? remote->write : remote->read)(sub, at);
    if (code != MPI_SUCCESS) {
        weft_request_put(sub);
        return code;
    }
    op->sent += sub->bytes;
    op->results_pending++;
    win->sends_pending++;
    target->flush |= call->kind == WEFT_RMA_PUT && !(win->remote_flags & WEFT_REMOTE_DELIVERS);
    return MPI_SUCCESS;
}

void weft_rma_moved(struct weft_win *win, struct weft_rma_op *op, int error)
{
    weft_assert(op->by_lane && op->results_pending > 0);
    op->results_pending--;
    op->error = op->error ? op->error : error;
    if (is_finished(op))
        finish_operation(win, op);
}

/* ---- */

int weft_rma_issue(struct weft_win *win)
{
    weft_assert(weft_vci_is_held(win->comm->vci));
    int started = 0;
    for (struct weft_rma_op *op; (op = win->unsent) != NULL; started++) {
        while (op->sent < op->call.bytes && !op->error) {
            if (win->sends_pending >= WEFT_RMA_SENDS_MAX ||
                (has_result(op) && win->results_pending >= WEFT_RMA_RESULTS_MAX))
                return started;
            int code = op->by_lane ? transfer_one(win, op) : send_one(win, op);
            if (code == WEFT_REMOTE_LATER)
                return started;
            op->error = code;
            started++;
        }
        win->unsent = op->next;
        if (is_finished(op))
            finish_operation(win, op);
    }
    return started;
}

int weft_rma_send(struct weft_win *win, const struct weft_rma_call *call,
                  struct weft_request *request)
{
    struct weft_rma_op *op = calloc(1, sizeof *op);
    if (!op)
        return weft_error_set(MPI_ERR_NO_MEM, "no memory for an operation on rank %d's window",
                              call->target);
    op->call = *call;
    op->number = ++win->next_number;
    op->by_lane = may_transfer(win, call);
    weft_count_add(op->by_lane ? &weft_counts.rma_by_net : &weft_counts.rma_by_messages, 1);
    op->request = request;
    if (call->kind == WEFT_RMA_COMPARE_AND_SWAP) {
        memcpy(op->pair, call->compare, call->bytes);
        weft_datatype_pack(call->origin.type, call->origin.at, 0, op->pair + call->bytes,
                           call->bytes);
    }
    hold_types(call, weft_datatype_retain);
    win->targets[call->target].unfinished++;
    weft_assert(!*win->ops_end);
    *win->ops_end = op;
    win->ops_end = &op->next;
    if (!win->unsent)
        win->unsent = op;
    weft_rma_issue(win);
    if (win->unsent) {
        win->comm->vci->windows.busy = true;
        weft_look(weft_win_scope(win)); /* so that a program's loop does not only fill the list */
    }
    return MPI_SUCCESS;
}

/* ---- Results */

static struct weft_rma_op *find_operation(struct weft_win *win, int source, uint64_t number)
{
    struct weft_rma_op *op = win->ops;
    while (op && (op->number != number || op->call.target != source))
        op = op->next;
    return op;
}

void weft_rma_result(struct weft_win *win, int source, const struct weft_rma_packet *packet)
{
    struct weft_rma_op *op = find_operation(win, source, packet->number);
    int error = MPI_SUCCESS;
    if (packet->kind == WEFT_RMA_FAULT)
        error =
            weft_error_set(packet->bytes < MPI_ERR_LASTCODE ? (int)packet->bytes : MPI_ERR_OTHER,
                           "an operation on the window of rank %d failed there: the memory is "
                           "not attached, or not in the window",
                           source);
    if (!op || !has_result(op) || op->by_lane || !op->results_pending) {
        win->fault = error ? error : win->fault; /* of a put or accumulate; a RESULT is dropped */
        if (op && error)
            op->error = error;
        return;
    }
    weft_assert(win->results_pending >= op->results_pending);
    op->results_pending--;
    win->results_pending--;
    struct weft_rma_data to = destination(op);
    if (error)
        op->error = error;
    else if (packet->offset <= op->sent && packet->bytes <= op->sent - packet->offset)
        weft_datatype_unpack(to.type, to.at, packet->offset, weft_rma_packet_data(packet),
                             packet->bytes);
    if (is_finished(op))
        finish_operation(win, op);
}
