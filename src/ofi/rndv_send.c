// SPDX-License-Identifier: BSD-3-Clause
/*
 * Pushed rendezvous, if the sender's data have holes, the provider has no reliable remote reads, or
 * no more memory can be registered: the receiver replies to the RTS with CTS, and the sender sends
 * pieces of at most the eager limit as control messages, several at a time, each with its offset. A
 * long message from device memory passes through a pipeline instead, if there is one
 * (rndv_pipeline.c).
 *
 * Invariants:
 *  - A piece is packed in a bounce buffer until the provider has sent it; the buffers of earlier
 *    pieces are reused.
 *  - The capacity of a send is the length that the receiver requested. While bytes are left, pieces
 *    are in flight or the send is stalled.
 */
#include "core/base/error.h"
#include "core/message/process.h"
#include "core/progress/failure.h"
#include "ofi/ofi_internal.h"
#include "ofi/rendezvous.h"

enum { PIECES_AT_ONCE = 8 };

struct weft_net_piece {
    struct weft_backlog_entry out;
    struct weft_request *request; /* the send that it belongs to */
    size_t bytes;
    struct weft_net_control control; /* the data follow */
};

/* ---- The receiver ---- */

void weft_net_pushed_fetch(struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    state->phase = WEFT_NET_AWAITING_PIECES;
    weft_net_control(request->peer, (struct weft_net_control){.kind = WEFT_NET_CTS,
                                                              .number = state->header.number,
                                                              .count = weft_net_reads_pieces(),
                                                              .other = request->number,
                                                              .length = request->bytes});
    if (!request->bytes)
        weft_net_fetched(request);
}

void weft_net_piece_arrived(struct weft_request *request, size_t offset, const void *data,
                            size_t bytes)
{
    weft_datatype_unpack(request->type, request->buffer, offset, data, bytes);
    weft_net_pieces_arrived(request, bytes);
}

/* ---- The sender ---- */

static size_t piece_space(void)
{
    return weft_net.eager_limit - sizeof(struct weft_net_control);
}

/* Returns 0, -FI_EAGAIN or an error. */
static int push_one(struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    struct weft_net_vci *net = weft_net_of(request);
    size_t n = request->capacity - state->moved;
    weft_assert(state->phase == WEFT_NET_PUSHING && state->moved < request->capacity);
    int rc = 0;
    if (n > piece_space())
        n = piece_space();
    struct weft_net_piece *piece =
        weft_net_bounce_get_reserved(net, WEFT_NET_RESERVE_PIECE, sizeof *piece + n, &rc);
    if (!piece)
        return rc;
    piece->out.kind = WEFT_NET_OUT_PIECE;
    piece->request = request;
    piece->bytes = n;
    piece->control = (struct weft_net_control){.version = WEFT_NET_WIRE_VERSION,
                                               .kind = WEFT_NET_DATA,
                                               .vci_number = request->peer->vci_number,
                                               .from = (int32_t)weft_net_mark(weft.job.rank),
                                               .number = state->receive,
                                               .other = state->moved};
    weft_datatype_pack(request->type, request->buffer, state->moved, piece + 1, n);
    state->moved += n;
    state->reads_out++;
    net->outstanding++;
    weft_net_push(request->peer, &piece->out);
    return 0;
}

/* The peer has died, or counts as dead: no more is pushed. */
static void give_up(struct weft_request *request)
{
    request->error = (uint8_t)weft_failure_report(request->peer);
    request->capacity = weft_net_state(request)->moved;
}

int weft_net_push_more(struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    weft_assert(request->pending > 0 && state->reads_out <= PIECES_AT_ONCE);
    int pushed = 0, rc = 0;
    if (state->may_pipeline && !request->peer->dead)
        pushed = weft_net_pipeline_fill(request);
    bool dead = request->peer->dead;
    if (weft_unlikely(dead))
        give_up(request);
    state->reads_out++; /* a piece that fails at once does not end the request within push_one */
    while (!state->pipeline && !rc && state->moved < request->capacity &&
           state->reads_out <= PIECES_AT_ONCE) {
        rc = push_one(request);
        pushed += !rc;
    }
    state->reads_out--;
    if (state->moved >= request->capacity && !state->reads_out && !state->stalled &&
        (dead || weft_net_pipeline_is_empty(request))) {
        weft_net_pipeline_close(request);
        weft_net_sent(request);
    } else if (rc && !state->reads_out) { /* else the end of a piece continues */
        if (rc != -FI_EAGAIN)
            weft_fatal(MPI_ERR_NO_MEM,
                       "no memory to push a message of %zu bytes with tag %d to rank %d; free "
                       "memory, or run fewer ranks on this host",
                       request->capacity, request->tag, request->peer->world);
        weft_net_stall(request);
    }
    return pushed;
}

void weft_net_push_pieces(struct weft_request *request, uint64_t receive, size_t length,
                          bool may_pipeline)
{
    struct weft_net_request *state = weft_net_state(request);
    state->phase = WEFT_NET_PUSHING;
    state->receive = (uint32_t)receive;
    state->may_pipeline = may_pipeline && request->type->flags & WEFT_TYPE_DEVICE;
    state->moved = 0;
    state->reads_out = 0;
    request->capacity = length;
    weft_net_push_more(request);
}

int weft_net_piece_send(struct weft_peer *peer, struct weft_backlog_entry *out)
{
    struct weft_net_piece *piece =
        (struct weft_net_piece *)((char *)out - offsetof(struct weft_net_piece, out));
    struct weft_net_vci *net = weft_net_of_peer(peer);
    struct fid_mr *mr = weft_net.local_mr ? weft_net_bounce_mr(net, piece) : NULL;
    struct weft_net_slot *slot = weft_net_slot_get(net, WEFT_NET_PIECE);
    if (!slot)
        return -FI_EAGAIN;
    slot->data = piece;
    slot->request = piece->request;
    int rc =
        (int)fi_tsenddata(net->objects.ep, &piece->control, sizeof piece->control + piece->bytes,
                          weft_net_descriptor(mr), (uint32_t)weft.job.rank,
                          weft_net_peer(peer)->fast.address, weft_net.space_bit, &slot->op);
    if (rc)
        weft_net_slot_put(net, slot);
    else
        weft_net_peer(peer)->controls++;
    return rc;
}

/* failure: why the piece could not be sent, or NULL. */
static void end_piece(struct weft_net_piece *piece, const char *failure)
{
    struct weft_request *request = piece->request;
    struct weft_net_vci *net = weft_net_of(request);
    weft_assert(weft_net_state(request)->reads_out > 0 && net->outstanding > 0);
    weft_net_bounce_put(net, piece);
    weft_net_state(request)->reads_out--;
    net->outstanding--;
    if (failure) { /* the receiver waits for all pieces */
        weft_net_control_failed(request->peer, failure);
        give_up(request);
    }
    weft_net_push_more(request);
}

void weft_net_piece_done(struct weft_net_slot *slot, int error, const char *text)
{
    struct weft_net_piece *piece = slot->data;
    weft_net_slot_put(weft_net_of(piece->request), slot);
    end_piece(piece, error ? text : NULL);
}

void weft_net_piece_failed(struct weft_backlog_entry *out, const char *text)
{
    struct weft_net_piece *piece =
        (struct weft_net_piece *)((char *)out - offsetof(struct weft_net_piece, out));
    end_piece(piece, text);
}
