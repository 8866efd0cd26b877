// SPDX-License-Identifier: BSD-3-Clause
/*
 * Point-to-point: the choice of the lane, and where a receive is matched.
 *
 * Invariants:
 *  - A message in software is older than everything of its context still inside the provider, so a
 *    receive looks into software first.
 *  - A receive is either in the provider or in the software, never in both. From the first message
 * to or from itself on a channel, a process keeps its wildcard receives there in software, for both
 *    lanes; those already posted are withdrawn from the provider, the newest first, so that
 *    a message arriving meanwhile still finds the oldest that matches.
 */
#include "core/pt2pt/p2p.h"
#include "core/pt2pt/bsend.h"
#include "core/pt2pt/cancel.h"
#include "core/message/sw_match.h"
#include "core/message/count.h"
#include "core/progress/failure.h"
#include "core/progress/progress.h"

#include <stdlib.h>

static struct weft_peer *peer_of(struct weft_channel *channel, int rank)
{
    struct weft_peer *peer = channel->peers[rank];
    return weft_likely(peer->lane != WEFT_LANE_UNKNOWN) ? peer
                                                        : weft_channel_connect(channel, rank);
}

/* False if a message has matched it meanwhile. */
static bool withdraw(struct weft_request *request)
{
    return request->flags & WEFT_REQUEST_IN_LANE ? weft_lanes[request->owner]->withdraw(request)
                                                 : weft_sw_withdraw(request);
}

/* The lanes of a channel begin to mix: its wildcards move into software, and so does every receive
 * posted after the first of them. */
WEFT_COLD static void mix_lanes(struct weft_channel *channel)
{
    size_t n, taken = 0, end = 0; /* of the receives that move */
    channel->wildcards_held = channel->took_back = true;
    weft_match_use_bins(&channel->vci->matcher); /* from here on their order counts */
    struct weft_request **items = weft_request_posted(channel->vci, channel, false, &n);
    for (size_t i = 0; i < n; i++)
        if (items[i]->flags & WEFT_REQUEST_IN_LANE && !items[i]->peer)
            end = i + 1;
    for (size_t i = 0; i < end; i++)
        if (withdraw(items[i]))
            items[taken++] = items[i];
    while (taken > 0)
        weft_sw_receive(items[--taken]);
    free(items);
}

/* The peer of a send. Returns MPI_SUCCESS, or an error whose sentence is recorded. */
static int destination(struct weft_channel *channel, int dest, struct weft_peer **peer)
{
    *peer = peer_of(channel, dest);
    if (weft_unlikely(!*peer))
        return MPI_ERR_OTHER;
    return weft_unlikely((*peer)->dead) ? weft_failure_report(*peer) : MPI_SUCCESS;
}

/* Sends what the request describes; pending is 1. */
static int start_send(struct weft_request *request)
{
    struct weft_channel *channel = request->channel;
    weft_assert(request->pending == 1);
    if (weft_unlikely(weft_count_all()))
        weft_count_send(request);
    if (request->peer->world == weft.job.rank && !channel->wildcards_held)
        mix_lanes(channel);
    return weft_lane_send(request);
}

/* Contiguous data are bytes, whatever their type: nothing has to be packed. */
static void simplify(const void **buffer, const struct weft_datatype **type, size_t bytes)
{
    void *run =
        (*type)->flags & WEFT_TYPE_CONTIGUOUS ? NULL : weft_datatype_run(*type, *buffer, bytes);
    if (!run)
        return;
    *buffer = run;
    *type = weft_datatype_byte();
}

int weft_p2p_isend(struct weft_channel *channel, const void *buffer, size_t bytes,
                   const struct weft_datatype *type, int dest, int tag, enum weft_send_mode mode,
                   struct weft_request **out)
{
    struct weft_peer *peer;
    weft_assert(dest >= 0 && dest < channel->size && tag >= 0 && tag <= weft.tag_ub);
    weft_assert(type->flags & WEFT_TYPE_COMMITTED && weft_vci_is_held(channel->vci));
    simplify(&buffer, &type, bytes);
    int code = destination(channel, dest, &peer);
    if (weft_unlikely(code != MPI_SUCCESS))
        return code;
    struct weft_request *request = weft_request_get(channel->vci, WEFT_REQUEST_SEND, 1);
    if (weft_unlikely(!request))
        return MPI_ERR_NO_MEM;
    request->mode = (uint8_t)mode;
    request->tag = tag;
    request->bytes = bytes;
    request->channel = channel;
    request->peer = peer;
    request->type = type;
    request->buffer = (void *)buffer;
    *out = request;
    code = start_send(request);
    if (weft_unlikely(code != MPI_SUCCESS))
        weft_request_put(request);
    return code;
}

/* Starts a receive where its message will be matched. Returns MPI_SUCCESS. */
static int start_receive(struct weft_request *request)
{
    struct weft_match_receive *match = &request->match;
    struct weft_channel *channel = request->channel;
    weft_assert(request->pending == 1 && !match->queued);
    match->context = channel->context;
    if (!request->peer)
        request->order = channel->vci->from_any_source++;
    if (weft_unlikely(weft_count_all()))
        weft_count_receive(request);
    bool local = request->peer && request->peer->lane != weft.posts; /* software matches it */
    struct weft_matcher *matcher = &channel->vci->matcher;
    bool arrived = weft_match_find(matcher, match->context, match->source, match->tag) != NULL;
    if (request->peer && request->peer->dead && !arrived) {
        weft_request_end_receive(request, weft_failure_report(request->peer));
        return MPI_SUCCESS;
    }
    int code = request->peer || arrived ? MPI_SUCCESS : weft_failure_stall(request);
    if (weft_unlikely(code != MPI_SUCCESS)) {
        weft_request_end_receive(request, code);
        return MPI_SUCCESS;
    }
    if (local && !channel->wildcards_held)
        mix_lanes(channel);
    if (local || channel->held || (!request->peer && channel->wildcards_held) || arrived) {
        weft_sw_receive(request);
        return MPI_SUCCESS;
    }
    return weft_lanes[weft.posts]->post(request);
}

static int post_receive(struct weft_channel *channel, void *buffer, size_t bytes,
                        const struct weft_datatype *type, int source, int tag,
                        enum weft_receive_mode mode, struct weft_request **out)
{
    struct weft_peer *peer = NULL;
    weft_assert(source < channel->size && tag <= weft.tag_ub);
    weft_assert(type->flags & WEFT_TYPE_COMMITTED && weft_vci_is_held(channel->vci));
    simplify((const void **)&buffer, &type, bytes);
    if (source >= 0) {
        peer = peer_of(channel, source);
        if (weft_unlikely(!peer))
            return MPI_ERR_OTHER;
    }
    struct weft_request *request = weft_request_get(channel->vci, WEFT_REQUEST_RECV, 1);
    *out = request;
    if (weft_unlikely(!request))
        return MPI_ERR_NO_MEM;
    weft_p2p_describe(request, channel, buffer, bytes, type, peer, source, tag);
    request->mode = (uint8_t)mode;
    return start_receive(request);
}

int weft_p2p_irecv(struct weft_channel *channel, void *buffer, size_t bytes,
                   const struct weft_datatype *type, int source, int tag, struct weft_request **out)
{
    return post_receive(channel, buffer, bytes, type, source, tag, WEFT_RECEIVE_STANDARD, out);
}

int weft_p2p_irecv_blocking(struct weft_channel *channel, void *buffer, size_t bytes,
                            const struct weft_datatype *type, int source, int tag,
                            struct weft_request **out)
{
    return post_receive(channel, buffer, bytes, type, source, tag, WEFT_RECEIVE_BLOCKING, out);
}

/* ---- Persistent requests */

static void activate(struct weft_request *request, int pending)
{
    weft_assert(request->flags & WEFT_REQUEST_INACTIVE && !request->pending);
    request->flags = WEFT_REQUEST_PERSISTENT;
    request->error = MPI_SUCCESS;
    request->pending = (int16_t)pending;
}

static int restart_nothing(struct weft_request *request)
{
    activate(request, 0);
    return MPI_SUCCESS;
}

static int restart_send(struct weft_request *request)
{
    int code = destination(request->channel, request->rank, &request->peer);
    if (weft_unlikely(code != MPI_SUCCESS))
        return code;
    activate(request, 1);
    code = start_send(request);
    if (weft_unlikely(code != MPI_SUCCESS)) {
        request->pending = 0;
        request->flags |= WEFT_REQUEST_INACTIVE;
    }
    return code;
}

static int restart_receive(struct weft_request *request)
{
    int rank = request->match.source;
    request->peer = rank < 0 ? NULL : peer_of(request->channel, rank);
    if (weft_unlikely(rank >= 0 && !request->peer))
        return MPI_ERR_OTHER;
    activate(request, 1);
    request->mode = WEFT_RECEIVE_STANDARD;
    return start_receive(request);
}

void weft_p2p_init(void)
{
    weft_request_ops[WEFT_REQUEST_NONE].start = restart_nothing;
    weft_request_ops[WEFT_REQUEST_SEND].start = restart_send;
    weft_request_ops[WEFT_REQUEST_SEND].cancel = weft_cancel_send;
    weft_request_ops[WEFT_REQUEST_SEND].observed = weft_bsend_sent;
    weft_request_ops[WEFT_REQUEST_RECV].start = restart_receive;
    weft_request_ops[WEFT_REQUEST_RECV].cancel = weft_cancel_receive;
    weft_request_ops[WEFT_REQUEST_PAIR].cancel = weft_cancel_pair;
}

/* ---- Blocking forms */

int weft_p2p_send(struct weft_channel *channel, const void *buffer, size_t bytes,
                  const struct weft_datatype *type, int dest, int tag, enum weft_send_mode mode)
{
    struct weft_request *request;
    struct weft_peer *peer = channel->peers[dest];
    if (mode != WEFT_SEND_SYNCHRONOUS && (type->flags & WEFT_TYPE_CONTIGUOUS) &&
        weft_lane_inject(peer, channel, tag, mode, buffer, bytes))
        return MPI_SUCCESS;
    int code = weft_p2p_isend(channel, buffer, bytes, type, dest, tag, mode, &request);
    if (code != MPI_SUCCESS)
        return code;
    weft_request_wait(request);
    code = request->error;
    weft_request_put(request);
    return code;
}

int weft_p2p_recv(struct weft_channel *channel, void *buffer, size_t bytes,
                  const struct weft_datatype *type, int source, int tag, MPI_Status *status)
{
    struct weft_request *request;
    struct weft_vci *vci = channel->vci;
    weft_vci_begin_wait(vci);
    int code = weft_p2p_irecv_blocking(channel, buffer, bytes, type, source, tag, &request);
    if (code == MPI_SUCCESS) {
        weft_request_wait(request);
        code = request->error;
        weft_request_status(request, status, false);
        weft_request_put(request);
    }
    weft_vci_end_wait(vci);
    return code;
}
