// SPDX-License-Identifier: BSD-3-Clause
/*
 * Rendezvous through a pipeline, for long messages from device memory: the sender copies pieces of
 * the message to a registered bounce buffer, its pipeline. The receiver reads each piece that is
 * filled, and the sender fills it again. So the copies of both ranks and the transfer overlap, and
 * the memory of a message is bounded.
 *
 *     sender                                receiver
 *       | RTS: staged                          |
 *       |------------------------------------->| match
 *       |            CTS: pieces can be read   |
 *       |<-------------------------------------|
 *  copy | FILLED: offset, length, address, key |
 *       |------------------------------------->|
 *  copy |                            fi_read   |
 *       |=====================================>|
 *       |                      EMPTY: offset   | unpack
 *       |<-------------------------------------|
 *
 * Invariants:
 *  - A send has a pipeline from its CTS to its end at most. A pipeline is therefore never held for
 *    a message that has not matched.
 *  - A send that gets no pipeline, because others take the memory, pushes pieces (rndv_send.c), and
 *    tries again before each. So messages to one rank do not wait for another rank.
 *  - At most WEFT_NET_PIPELINE_PIECES pieces of a message are filled and not empty. The receiver
 *    drops a FILLED beyond that, and lengths and offsets that do not fit its receive; the sender
 *    drops an EMPTY for a piece that is not filled.
 *  - Memory of a pipeline is not given back while a copy to it is executed.
 */
#include "core/base/error.h"
#include "core/datatype/device.h"
#include "core/progress/failure.h"
#include "ofi/ofi_internal.h"
#include "ofi/rendezvous.h"

#include <stdlib.h>

enum piece_state {
    EMPTY,
    COPYING, /* sends: the copy to it has started */
    FILLED   /* sends: FILLED was sent; receives: FILLED has arrived, and the read has not started
              */
};

struct piece {
    enum piece_state state;
    size_t offset, bytes;        /* of the packed form */
    uint64_t address, key;       /* receives: of the sender's piece */
    struct weft_gpu_event event; /* sends: of the copy */
};

struct weft_net_pipeline {
    char *data; /* sends: a bounce buffer of WEFT_NET_PIPELINE_BYTES */
    struct piece pieces[WEFT_NET_PIPELINE_PIECES];
};

static struct piece *find_piece(struct weft_net_pipeline *pipeline, enum piece_state state)
{
    for (struct piece *p = pipeline->pieces; p < pipeline->pieces + WEFT_NET_PIPELINE_PIECES; p++)
        if (p->state == state)
            return p;
    return NULL;
}

static bool is_used(struct weft_net_pipeline *pipeline)
{
    return find_piece(pipeline, COPYING) || find_piece(pipeline, FILLED);
}

void weft_net_pipeline_close(struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    struct weft_net_pipeline *pipeline = state->pipeline;
    struct piece *p;
    if (!pipeline)
        return;
    while ((p = find_piece(pipeline, COPYING)) != NULL)
        if (weft_gpu_has_ended(&p->event))
            p->state = EMPTY;
    weft_net_bounce_put(weft_net_of(request), pipeline->data);
    free(pipeline);
    state->pipeline = NULL;
}

/* ---- The sender */

/* A pipeline for a send that has none, if its receiver reads pieces and there is memory. */
static void open_pipeline(struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    struct weft_net_vci *net = weft_net_of(request);
    if (!state->may_pipeline || request->capacity - state->moved <= WEFT_NET_PIPELINE_PIECE ||
        !weft_net_bounce_allows(net, WEFT_NET_PIPELINE_BYTES))
        return;
    state->pipeline = calloc(1, sizeof *state->pipeline);
    if (!state->pipeline)
        return;
    state->pipeline->data = weft_net_bounce_get(net, WEFT_NET_PIPELINE_BYTES);
    if (state->pipeline->data && weft_net_bounce_mr(net, state->pipeline->data))
        return;
    state->may_pipeline = false; /* the provider registers no more */
    weft_net_pipeline_close(request);
}

static char *data_of(const struct weft_net_pipeline *pipeline, const struct piece *p)
{
    return pipeline->data + (size_t)(p - pipeline->pieces) * WEFT_NET_PIPELINE_PIECE;
}

static void start_copy(struct weft_request *request, struct piece *p)
{
    struct weft_net_request *state = weft_net_state(request);
    size_t left = request->capacity - state->moved;
    p->offset = state->moved;
    p->bytes = left < WEFT_NET_PIPELINE_PIECE ? left : WEFT_NET_PIPELINE_PIECE;
    p->state = COPYING;
    p->event = weft_device_copy_start(WEFT_PACK, request->type, request->buffer, p->offset,
                                      data_of(state->pipeline, p), p->bytes);
    state->moved += p->bytes;
}

static void announce(struct weft_request *request, struct piece *p)
{
    struct weft_net_request *state = weft_net_state(request);
    char *data = data_of(state->pipeline, p);
    struct fid_mr *mr = weft_net_bounce_mr(weft_net_of(request), state->pipeline->data);
    p->state = FILLED;
    weft_net_control(request->peer, (struct weft_net_control){
                                        .kind = WEFT_NET_FILLED,
                                        .number = state->receive,
                                        .other = p->offset,
                                        .length = p->bytes,
                                        .address = weft_net.virtual_addresses
                                                       ? (uintptr_t)data
                                                       : (uintptr_t)(data - state->pipeline->data),
                                        .key = fi_mr_key(mr)});
}

/* The copies of a pipeline end in the order in which they were started. */
static struct piece *oldest_copy(struct weft_net_pipeline *pipeline)
{
    struct piece *oldest = NULL;
    for (struct piece *p = pipeline->pieces; p < pipeline->pieces + WEFT_NET_PIPELINE_PIECES; p++)
        if (p->state == COPYING && (!oldest || p->offset < oldest->offset))
            oldest = p;
    return oldest;
}

int weft_net_pipeline_fill(struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    struct piece *p;
    int events = 0;
    if (!state->pipeline)
        open_pipeline(request);
    if (!state->pipeline)
        return 0;
    state->reads_out++; /* the death of the peer, found in a send, does not end this one here */
    for (; (p = oldest_copy(state->pipeline)) != NULL && weft_gpu_has_ended(&p->event); events++)
        announce(request, p);
    while (state->moved < request->capacity && (p = find_piece(state->pipeline, EMPTY)) != NULL) {
        start_copy(request, p);
        events++;
    }
    state->reads_out--;
    if (find_piece(state->pipeline, COPYING))
        weft_net_stall(request);
    return events;
}

bool weft_net_pipeline_is_empty(const struct weft_request *request)
{
    const struct weft_net_request *state = (const struct weft_net_request *)request->lane;
    return !state->pipeline || !is_used(state->pipeline);
}

bool weft_net_piece_emptied(struct weft_request *send, uint64_t offset)
{
    struct weft_net_pipeline *pipeline = weft_net_state(send)->pipeline;
    if (!pipeline)
        return false;
    for (struct piece *p = pipeline->pieces; p < pipeline->pieces + WEFT_NET_PIPELINE_PIECES; p++)
        if (p->state == FILLED && p->offset == offset) {
            p->state = EMPTY;
            weft_net_push_more(send);
            return true;
        }
    return false;
}

/* ---- The receiver */

bool weft_net_reads_pieces(void)
{
    if (!weft_net.can_read)
        return false;
    size_t most = weft_net.choice.info->ep_attr->max_msg_size;
    return !most || most >= WEFT_NET_PIPELINE_PIECE;
}

static void end_if_complete(struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    bool dead = request->peer->dead;
    if (state->reads_out || state->stalled || (state->arrived < request->bytes && !dead))
        return;
    if (state->arrived < request->bytes) {
        request->error = (uint8_t)weft_failure_report(request->peer);
        request->bytes = 0;
    }
    weft_net_pipeline_close(request);
    weft_net_fetched(request);
}

void weft_net_pieces_arrived(struct weft_request *request, size_t bytes)
{
    weft_net_state(request)->arrived += bytes;
    end_if_complete(request);
}

/* The sender may fill a piece again. */
static void report_empty(const struct weft_request *request, size_t offset)
{
    const struct weft_net_request *state = (const struct weft_net_request *)request->lane;
    if (!request->peer->dead)
        weft_net_control(request->peer, (struct weft_net_control){.kind = WEFT_NET_EMPTY,
                                                                  .number = state->header.number,
                                                                  .other = offset});
}

void weft_net_piece_read(struct weft_request *request, size_t offset, int error, const char *text)
{
    weft_assert(weft_net_state(request)->reads_out > 0); /* the peer's death does not end it here */
    if (weft_unlikely(error))
        request->error = (uint8_t)weft_net_transfer_failed(request, "reading", "from", text);
    report_empty(request, offset);
}

/* The bytes of a piece that cannot be read count as arrived, so that the send ends too. */
static void fail_piece(struct weft_request *request, const struct piece *p, int rc)
{
    struct weft_net_request *state = weft_net_state(request);
    state->reads_out++;
    weft_net_piece_read(request, p->offset, -rc, fi_strerror(-rc));
    state->reads_out--;
    state->arrived += p->bytes;
}

int weft_net_pipeline_read_on(struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    struct piece *p;
    int issued = 0;
    while (state->pipeline && (p = find_piece(state->pipeline, FILLED)) != NULL) {
        int rc = 0;
        if (!request->peer->dead)
            rc = weft_net_has_space(request)
                     ? weft_net_begin_read(request, p->offset, p->bytes, p->address, p->key)
                     : -FI_EAGAIN;
        if (rc == -FI_EAGAIN && !request->peer->dead) {
            weft_net_stall(request);
            return issued;
        }
        p->state = EMPTY;
        issued++;
        if (rc && !request->peer->dead)
            fail_piece(request, p, rc);
    }
    end_if_complete(request);
    return issued;
}

bool weft_net_piece_filled(struct weft_request *request, const struct weft_net_control *filled)
{
    struct weft_net_request *state = weft_net_state(request);
    weft_assert(state->moved <= request->bytes);
    if (!filled->length || filled->length > WEFT_NET_PIPELINE_PIECE ||
        filled->other > request->bytes || filled->length > request->bytes - filled->other ||
        filled->length > request->bytes - state->moved || !weft_net_reads_pieces())
        return false;
    bool first = !state->pipeline;
    int unread = 0;
    for (int i = 0; i < WEFT_NET_PIPELINE_PIECES && !first; i++)
        unread += state->pipeline->pieces[i].state == FILLED;
    if (unread + state->reads_out >= WEFT_NET_PIPELINE_PIECES)
        return false;
    if (first && !(state->pipeline = calloc(1, sizeof *state->pipeline)))
        weft_fatal(MPI_ERR_NO_MEM,
                   "no memory to read a message of %zu bytes from rank %d; free memory, or run "
                   "fewer ranks on this host",
                   request->bytes, request->peer->world);
    if (first)
        weft_net_register_receive(request);
    *find_piece(state->pipeline, EMPTY) = (struct piece){.state = FILLED,
                                                         .offset = filled->other,
                                                         .bytes = filled->length,
                                                         .address = filled->address,
                                                         .key = filled->key};
    state->moved += filled->length;
    weft_net_pipeline_read_on(request);
    return true;
}
