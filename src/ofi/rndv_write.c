// SPDX-License-Identifier: BSD-3-Clause
/*
 * Rendezvous of data with holes at the sender, or in memory that cannot be registered: packed a
 * piece at a time and written to the receiver while they are in the cache.
 *
 * The receiver replies to the RTS with PLACE, the address of the data. Into a contiguous buffer the
 * whole message is written, and the sender sends WRITTEN once. For a buffer with holes, or one that
 * cannot be registered, there is a ring of slots: the sender sends WRITTEN after each slot, the
 * receiver unpacks it and sends TAKEN when the sender needs that slot again. So packing, transfer
 * and unpacking overlap, and neither side waits for a reply while the ring is not full. If there is
 * no memory for a ring, the receiver replies with CTS, and the sender pushes pieces (rndv_send.c),
 * which need none.
 *
 * After a failed write no other one starts. The receiver gets WRITTEN with the length written so
 * far when all writes in flight have ended, because its buffer belongs to the user then.
 *
 * Invariants:
 *  - WRITTEN is sent after its write was passed to the provider, which keeps them in order
 *    (FI_ORDER_SAW: without it this protocol is not used).
 *  - The sender completes after the provider has finished its writes, the receiver after the last
 *    WRITTEN has arrived. No TAKEN arrives at a send that has ended: it is only sent while the
 *    sender must wait for it.
 */
#include "core/object/error.h"
#include "core/process/weft.h"
#include "ofi/net.h"
#include "ofi/ofi_internal.h"

enum { WRITES_AT_ONCE = 3, RING_BYTES = WEFT_NET_SLOTS * WEFT_NET_SLOT };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- The receiver ---- */

/* The destination of the writes: the buffer, or a ring. NULL if there is no memory or no
 * registration. */
static void *make_place(struct weft_request *request, struct weft_net_control *place)
{
    struct weft_net_request *part = weft_net_part(request);
    struct weft_net_vci *net = weft_net_of(request);
    struct fid_mr *mr;
    void *data = request->buffer;
    if (request->type->flags & WEFT_TYPE_CONTIGUOUS)
        part->mr = weft_net_register_for(request, data, request->bytes, FI_READ | FI_REMOTE_WRITE);
    mr = part->mr;
    place->count = !mr;
    if (!mr) {
        data = part->packed = weft_net_bounce_get(net, smaller(request->bytes, RING_BYTES));
        mr = data ? weft_net_bounce_mr(net, data) : NULL;
    }
    if (!mr)
        return NULL;
    place->key = fi_mr_key(mr);
    place->address = weft_net.virtual_addresses ? (uintptr_t)data : 0;
    return data;
}

void weft_net_rndv_write_fetch(struct weft_request *request)
{
    struct weft_net_request *part = weft_net_part(request);
    struct weft_net_control place = {.kind = WEFT_NET_PLACE,
                                     .number = part->header.number,
                                     .other = request->number,
                                     .length = request->bytes};
    if (request->bytes && !make_place(request, &place)) {
        weft_net_release(request);
        weft_net_pushed_fetch(request);
        return;
    }
    part->phase = WEFT_NET_AWAITING_WRITES;
    weft_net_control(request->peer, place);
    if (!request->bytes)
        weft_net_fetched(request);
}

/* Unpacks the next slot. */
static void take_slot(struct weft_request *request)
{
    struct weft_net_request *part = weft_net_part(request);
    size_t n = smaller(WEFT_NET_SLOT, request->bytes - part->arrived);
    weft_datatype_unpack(request->type, request->buffer, part->arrived,
                         (char *)part->packed + part->arrived % RING_BYTES, n);
    part->arrived += n;
    if (part->arrived + RING_BYTES - WEFT_NET_SLOT < request->bytes)
        weft_net_control(request->peer, (struct weft_net_control){.kind = WEFT_NET_TAKEN,
                                                                  .number = part->header.number});
}

void weft_net_rndv_write_written(struct weft_request *request,
                                 const struct weft_net_control *written)
{
    struct weft_net_request *part = weft_net_part(request);
    if (weft_unlikely(written->count)) {
        request->error = (uint8_t)weft_error_set(
            MPI_ERR_OTHER,
            "rank %d could not write its message of %zu bytes over %s; its own error "
            "has the reason",
            request->peer->world, request->bytes, weft_net_name());
        request->bytes = smaller(request->bytes, written->length);
    } else if (part->packed) {
        take_slot(request);
    } else {
        part->arrived = request->bytes;
    }
    if (part->arrived >= request->bytes)
        weft_net_fetched(request);
}

/* ---- The sender ---- */

/* The bytes that WRITTEN has reported: whole slots of a ring, or nothing. */
static size_t announced(const struct weft_net_request *part)
{
    return part->ring ? part->moved / WEFT_NET_SLOT * WEFT_NET_SLOT : 0;
}

static void tell_written(struct weft_request *request, bool failed)
{
    const struct weft_net_request *part = weft_net_part(request);
    weft_net_control(request->peer, (struct weft_net_control){.kind = WEFT_NET_WRITTEN,
                                                              .count = failed,
                                                              .number = part->receive,
                                                              .length = announced(part)});
}

/* Starts no more writes. */
static void fail(struct weft_request *request, int error)
{
    struct weft_net_request *part = weft_net_part(request);
    part->cut |= part->moved < request->capacity;
    request->error = (uint8_t)error;
    request->capacity = part->moved;
}

/* All writes in flight have ended. */
static void end(struct weft_request *request)
{
    if (weft_unlikely(weft_net_part(request)->cut) && request->peer->lane != WEFT_LANE_DEAD)
        tell_written(request, true);
    weft_net_sent(request);
}

static int fail_to_write(struct weft_request *request, const char *text)
{
    return weft_net_failed(
        request->peer,
        "writing %zu bytes to rank %d over %s failed: %s; see whether that rank still runs",
        request->bytes, request->peer->world, weft_net_name(), text);
}

/* Writes the next piece. Returns 0, -FI_EAGAIN (it stays packed) or an error. */
static int write_piece(struct weft_request *request)
{
    struct weft_net_request *part = weft_net_part(request);
    size_t n = smaller(weft_net_piece_bytes(request->capacity), request->capacity - part->moved);
    struct weft_net_vci *net = weft_net_of(request);
    struct weft_net_transfer *write = weft_net_transfer_get(net);
    if (!write)
        return -FI_EAGAIN;
    int rc = 0;
    if (!part->packed &&
        (part->packed = weft_net_bounce_get_reserved(net, WEFT_NET_RESERVE_PIECE, n, &rc)) != NULL)
        weft_datatype_pack(request->type, request->buffer, part->moved, part->packed, n);
    if (!rc) {
        *write = (struct weft_net_transfer){
            .op.kind = WEFT_NET_WRITE, .request = request, .bytes = n, .stage = part->packed};
        uint64_t at = part->ring ? part->moved % RING_BYTES : part->moved;
        rc = (int)fi_write(
            net->objects.ep, part->packed, n,
            weft_net_descriptor(weft_net.local_mr ? weft_net_bounce_mr(net, part->packed) : NULL),
            request->peer->net.addr, part->header.address + at, part->header.key, &write->op);
    }
    if (rc) {
        weft_net_transfer_put(net, write);
        return rc;
    }
    part->packed = NULL;
    part->moved += n;
    part->reads_out++;
    net->outstanding++;
    if (part->moved == request->capacity || (part->ring && part->moved % WEFT_NET_SLOT == 0))
        tell_written(request, false);
    return 0;
}

static bool may_write(const struct weft_request *request)
{
    const struct weft_net_request *part = (const struct weft_net_request *)request->lane;
    return part->moved < request->capacity && part->reads_out < WRITES_AT_ONCE &&
           (!part->ring || part->moved < part->arrived + RING_BYTES);
}

int weft_net_rndv_write_write(struct weft_request *request)
{
    struct weft_net_request *part = weft_net_part(request);
    int written = 0, rc = 0;
    if (weft_unlikely(request->peer->lane == WEFT_LANE_DEAD) && part->moved < request->capacity)
        fail(request, weft_failure_say(request->peer));
    while (!rc && may_write(request)) {
        rc = write_piece(request);
        written += !rc;
    }
    if (rc == -FI_EAGAIN)
        weft_net_stall(request);
    else if (rc)
        fail(request, fail_to_write(request, fi_strerror(-rc)));
    if (part->moved >= request->capacity && !part->reads_out && !part->stalled)
        end(request);
    return written;
}

void weft_net_rndv_write_begin(struct weft_request *request, const struct weft_net_control *place)
{
    struct weft_net_request *part = weft_net_part(request);
    part->phase = WEFT_NET_WRITING;
    part->receive = (uint32_t)place->other;
    part->header.address = place->address;
    part->header.key = place->key;
    part->ring = place->count;
    part->cut = false;
    part->moved = part->arrived = 0;
    part->reads_out = 0;
    request->capacity = place->length;
    weft_net_rndv_write_write(request);
}

bool weft_net_rndv_write_taken(struct weft_request *request)
{
    struct weft_net_request *part = weft_net_part(request);
    if (!part->ring || part->arrived + WEFT_NET_SLOT > part->moved)
        return false;
    part->arrived += WEFT_NET_SLOT;
    weft_net_rndv_write_write(request);
    return true;
}

void weft_net_write_done(struct weft_net_op *op, int error, const char *text)
{
    struct weft_net_transfer *write = (struct weft_net_transfer *)op;
    struct weft_request *request = write->request;
    struct weft_net_vci *net = weft_net_of(request);
    weft_net_bounce_put(net, write->stage);
    weft_net_transfer_put(net, write);
    weft_net_part(request)->reads_out--;
    net->outstanding--;
    if (weft_unlikely(error))
        fail(request, fail_to_write(request, text));
    weft_net_rndv_write_write(request);
}
