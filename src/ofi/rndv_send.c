// SPDX-License-Identifier: BSD-3-Clause
/*
 * Pushed rendezvous, where the provider has no remote reads or writes that can be trusted: the
 * receiver answers the RTS with CTS, and the sender sends pieces of at most the eager limit as
 * control messages, several at a time, each with its offset.
 *
 * Invariants:
 *  - A piece lies in a stage, packed, until the provider has sent it: nothing is allocated for one
 *    that an earlier one has not left behind.
 *  - A send's capacity is what the receiver asked for.
 */
#include "core/object/error.h"
#include "core/process/weft.h"
#include "ofi/net.h"
#include "ofi/ofi_internal.h"

enum { PIECES_AT_ONCE = 8 };

struct weft_net_piece {
    struct weft_net_op op;
    struct weft_net_out out;
    struct weft_request *request; /* the send it is a part of */
    size_t bytes;
    struct weft_net_control control; /* the data follow */
};

static size_t piece_room(void)
{
    return weft_net.eager_limit - sizeof(struct weft_net_control);
}

static int push_one(struct weft_request *request)
{
    struct weft_net_request *part = weft_net_part(request);
    size_t n = request->capacity - part->moved;
    if (n > piece_room())
        n = piece_room();
    struct weft_net_piece *piece = weft_net_bounce_get(sizeof *piece + n);
    if (!piece)
        return 0;
    piece->op.kind = WEFT_NET_PIECE;
    piece->out.kind = WEFT_NET_OUT_PIECE;
    piece->request = request;
    piece->bytes = n;
    piece->control = (struct weft_net_control){.version = WEFT_NET_WIRE_VERSION,
                                               .kind = WEFT_NET_DATA,
                                               .from = weft.job.rank,
                                               .cookie = part->header.key,
                                               .other = part->moved};
    weft_datatype_pack(request->type, request->buffer, part->moved, piece + 1, n);
    part->moved += n;
    part->reads_out++;
    weft_net.outstanding++;
    weft_net_push(request->peer, &piece->out);
    return 1;
}

/* As many pieces as may be under way. Where memory is short at least one must be: its end goes on. */
static void push_some(struct weft_request *request)
{
    struct weft_net_request *part = weft_net_part(request);
    while (part->moved < request->capacity && part->reads_out < PIECES_AT_ONCE)
        if (!push_one(request))
            break;
    if (part->moved < request->capacity && !part->reads_out)
        weft_fatal(MPI_ERR_NO_MEM, "no memory to push a message of %zu bytes to rank %d%s",
                   request->capacity, request->peer->world, weft_net_bounce_advice());
}

void weft_net_push_pieces(struct weft_request *request, uint64_t receiver, size_t length)
{
    struct weft_net_request *part = weft_net_part(request);
    part->header.key = receiver;
    part->moved = 0;
    part->reads_out = 0;
    request->capacity = length;
    if (!length) {
        weft_net_sent(request);
        return;
    }
    push_some(request);
}

int weft_net_piece_send(struct weft_peer *peer, struct weft_net_out *out)
{
    struct weft_net_piece *piece =
        (struct weft_net_piece *)((char *)out - offsetof(struct weft_net_piece, out));
    struct fid_mr *mr = weft_net.local_mr ? weft_net_bounce_mr(piece) : NULL;
    return (int)fi_tsenddata(weft_net.ep, &piece->control, sizeof piece->control + piece->bytes,
                             weft_net_descriptor(mr), (uint32_t)weft.job.rank, peer->net_addr,
                             weft_net.space_bit, &piece->op);
}

void weft_net_piece_done(struct weft_net_op *op, int error, const char *text)
{
    struct weft_net_piece *piece = (struct weft_net_piece *)op;
    struct weft_request *request = piece->request;
    struct weft_net_request *part = weft_net_part(request);
    weft_net_bounce_put(piece);
    part->reads_out--;
    weft_net.outstanding--;
    if (error)
        request->error =
            weft_net_failed(request->peer, "sending %zu bytes to rank %d over %s failed: %s",
                            request->bytes, request->peer->world, weft_net_name(), text);
    if (part->moved < request->capacity)
        push_some(request);
    else if (!part->reads_out)
        weft_net_sent(request);
}

void weft_net_piece_failed(struct weft_net_out *out, const char *text)
{
    struct weft_net_piece *piece =
        (struct weft_net_piece *)((char *)out - offsetof(struct weft_net_piece, out));
    weft_net_part(piece->request)->moved = piece->request->capacity; /* no more pieces */
    weft_net_piece_done(&piece->op, FI_EIO, text);
}

void weft_net_piece_arrived(const struct weft_net_control *control, const void *data, size_t bytes)
{
    struct weft_request *request = (struct weft_request *)(uintptr_t)control->cookie;
    struct weft_net_request *part = weft_net_part(request);
    weft_datatype_unpack(request->type, request->buffer, control->other, data, bytes);
    part->arrived += bytes;
    if (part->arrived >= request->bytes)
        weft_net_fetched(request);
}
