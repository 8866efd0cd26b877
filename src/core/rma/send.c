// SPDX-License-Identifier: BSD-3-Clause
/*
 * Operations by messages, at their origin: cut into packets, sent as room allows, and completed by
 * results where there are any.
 *
 * Invariants:
 *  - The list of a window holds its operations in the order in which they were started; one is sent
 *    only when all before it were. So packets to one target leave in that order.
 *  - A packet has a copy of its data: a put or an accumulate without a result needs the origin's
 *    buffer until its last packet is sent, no longer.
 */
#include "core/object/error.h"
#include "core/process/weft.h"
#include "core/rma/message.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ELEMENT = 32 };

struct weft_rma_op {
    struct weft_rma_op *next;
    struct weft_rma_call call;
    uint64_t number;
    size_t sent, received; /* bytes of its packed form */
    struct weft_request *request;
    char pair[2 * MOST_ELEMENT]; /* compare_and_swap: the value to compare with, the new value */
};

static bool has_result(const struct weft_rma_op *op)
{
    return op->call.kind == WEFT_RMA_GET || op->call.kind == WEFT_RMA_GET_ACCUMULATE ||
           op->call.kind == WEFT_RMA_COMPARE_AND_SWAP;
}

/* Where results go. */
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

static bool is_finished(const struct weft_rma_op *op)
{
    return op->sent == op->call.bytes && (!has_result(op) || op->received == op->call.bytes);
}

static void finish(struct weft_win *win, struct weft_rma_op *op, int code)
{
    struct weft_rma_op **link = &win->ops;
    while (*link != op)
        link = &(*link)->next;
    *link = op->next;
    if (!op->next)
        win->ops_end = link;
    struct weft_win_target *target = &win->targets[op->call.target];
    target->unfinished--;
    target->unsent -= op->sent < op->call.bytes;
    if (op->request) {
        op->request->error = (uint8_t)code;
        weft_request_event(op->request);
    }
    hold_types(&op->call, weft_datatype_release);
    free(op);
}

void weft_rma_abandon(struct weft_win *win, int rank)
{
    for (struct weft_rma_op *op = win->ops, *next; op; op = next) {
        next = op->next;
        if (op->call.target == rank)
            finish(win, op, weft_rma_dead(win, rank));
    }
}

/* ---- Packets */

/* Lists the runs at the target behind the next part of the packed form: as much as a packet takes,
 * whole elements of an accumulate operation. Returns the bytes. */
static size_t list_runs(const struct weft_rma_op *op, struct weft_run *runs, size_t *nruns)
{
    const struct weft_datatype *type = op->call.type;
    size_t left = op->call.bytes - op->sent;
    size_t most = left < WEFT_RMA_DATA_BYTES ? left : WEFT_RMA_DATA_BYTES, bytes = 0;
    *nruns = weft_layout_runs_of_many(type->layout, type->extent, (MPI_Aint)op->call.at, op->sent,
                                      op->sent + most, runs, WEFT_RMA_RUNS);
    for (size_t i = 0; i < *nruns; i++)
        bytes += runs[i].bytes;
    size_t surplus = op->call.op ? bytes % weft_rma_element_bytes(type->basic_type) : 0;
    for (bytes -= surplus; surplus;) {
        struct weft_run *last = &runs[*nruns - 1];
        size_t cut = surplus < last->bytes ? surplus : last->bytes;
        last->bytes -= cut;
        surplus -= cut;
        *nruns -= last->bytes == 0;
    }
    return bytes;
}

static void write_data(const struct weft_rma_op *op, struct weft_rma_packet *packet, size_t bytes)
{
    const struct weft_rma_data *origin = &op->call.origin;
    char *data = weft_rma_packet_data(packet);
    if (op->call.kind == WEFT_RMA_COMPARE_AND_SWAP)
        memcpy(data, op->pair, 2 * bytes);
    else if (op->call.kind != WEFT_RMA_GET && origin->type)
        weft_datatype_pack(origin->type, origin->at, op->sent, data, bytes);
}

static int send_one(struct weft_win *win, struct weft_rma_op *op)
{
    struct weft_run runs[WEFT_RMA_RUNS];
    size_t nruns, bytes = list_runs(op, runs, &nruns);
    size_t room = op->call.kind == WEFT_RMA_COMPARE_AND_SWAP ? 2 * bytes
                  : op->call.kind == WEFT_RMA_GET            ? 0
                                                             : bytes;
    struct weft_rma_packet *packet =
        weft_rma_packet_make((enum weft_rma_packet_kind)op->call.kind, nruns, room);
    packet->bytes = bytes;
    packet->number = op->number;
    packet->offset = op->sent;
    packet->element = (uint8_t)op->call.type->basic_type;
    packet->op = op->call.op ? (uint16_t)(uintptr_t)op->call.op->handle : 0;
    memcpy(weft_rma_runs(packet), runs, nruns * sizeof *runs);
    write_data(op, packet, bytes);
    int code = weft_rma_packet_send(win, op->call.target, packet);
    if (code != MPI_SUCCESS)
        return code;
    op->sent += bytes;
    struct weft_win_target *target = &win->targets[op->call.target];
    target->flush = true;
    target->unsent -= op->sent == op->call.bytes;
    win->asked += has_result(op);
    return MPI_SUCCESS;
}

int weft_rma_issue(struct weft_win *win)
{
    int packets = 0;
    for (struct weft_rma_op *op = win->ops, *next; op; op = next) {
        int code = MPI_SUCCESS;
        next = op->next;
        while (op->sent < op->call.bytes && code == MPI_SUCCESS) {
            if (win->outgoing >= WEFT_RMA_OUTGOING ||
                (has_result(op) && win->asked >= WEFT_RMA_ASKED))
                return packets;
            code = send_one(win, op);
            packets++;
        }
        if (code != MPI_SUCCESS)
            win->fault = code;
        if (code != MPI_SUCCESS || is_finished(op))
            finish(win, op, code);
    }
    return packets;
}

int weft_rma_send(struct weft_win *win, const struct weft_rma_call *call,
                  struct weft_request *request)
{
    struct weft_rma_op *op = calloc(1, sizeof *op);
    struct weft_win_target *target = &win->targets[call->target];
    if (!op)
        return weft_error_set(MPI_ERR_NO_MEM, "no memory for an operation on rank %d's window",
                              call->target);
    op->call = *call;
    op->number = ++win->next_number;
    op->request = request;
    if (call->kind == WEFT_RMA_COMPARE_AND_SWAP) {
        memcpy(op->pair, call->compare, call->bytes);
        memcpy(op->pair + call->bytes, call->origin.at, call->bytes);
    }
    hold_types(call, weft_datatype_retain);
    target->unsent++;
    target->unfinished++;
    *win->ops_end = op;
    win->ops_end = &op->next;
    weft_rma_issue(win);
    if (win->ops)
        weft_rma_wake();
    return MPI_SUCCESS;
}

/* ---- Results */

static struct weft_rma_op *find(struct weft_win *win, int source, uint64_t number)
{
    struct weft_rma_op *op = win->ops;
    while (op && (op->number != number || op->call.target != source))
        op = op->next;
    return op;
}

void weft_rma_result(struct weft_win *win, int source, const struct weft_rma_packet *packet)
{
    struct weft_rma_op *op = find(win, source, packet->number);
    bool fault = packet->kind == WEFT_RMA_FAULT;
    if (fault)
        win->fault =
            weft_error_set(packet->bytes < MPI_ERR_LASTCODE ? (int)packet->bytes : MPI_ERR_OTHER,
                           "an operation on the window of rank %d failed there: the "
                           "memory is not attached, or not in the window",
                           source);
    if (!op)
        return;
    win->asked -= has_result(op);
    if (fault) {
        finish(win, op, win->fault);
        return;
    }
    struct weft_rma_data to = destination(op);
    if (!has_result(op) || packet->offset > op->sent || packet->bytes > op->sent - packet->offset)
        return; /* not an answer to what was sent */
    weft_datatype_unpack(to.type, to.at, packet->offset, weft_rma_packet_data(packet),
                         packet->bytes);
    op->received += packet->bytes;
    if (is_finished(op))
        finish(win, op, MPI_SUCCESS);
}
