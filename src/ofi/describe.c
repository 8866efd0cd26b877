// SPDX-License-Identifier: BSD-3-Clause
/*
 * The state of an operation of the net lane in words, for the hang report.
 *
 * Invariant: nothing is changed here.
 */
#include "core/message/process.h"
#include "ofi/net.h"
#include "ofi/ofi_internal.h"

#include <stdio.h>

static char words[256];

static bool in_backlog(const struct weft_request *request)
{
    const struct weft_net_request *state = (const struct weft_net_request *)request->lane;
    for (const struct weft_backlog_entry *out = request->peer->backlog.first; out; out = out->next)
        if (out == &state->out)
            return true;
    return false;
}

static const char *describe_rendezvous(const struct weft_request *request)
{
    const struct weft_net_request *state = (const struct weft_net_request *)request->lane;
    if (state->pipeline) {
        snprintf(words, sizeof words,
                 "matched, %zu of %zu bytes are copied from the GPU, for the receiver to read",
                 state->moved, request->capacity);
        return words;
    }
    if (state->reads_out) {
        snprintf(words, sizeof words, "matched, %zu of %zu bytes are pushed", state->moved,
                 request->capacity);
        return words;
    }
    return "announced (RTS sent), waiting for the receiver to match it and fetch the data";
}

static const char *describe_send(const struct weft_request *request)
{
    const struct weft_net_request *state = (const struct weft_net_request *)request->lane;
    if (request->flags & WEFT_REQUEST_CANCELLING)
        return "to be cancelled, waiting for the receiver to report whether it has matched";
    if (in_backlog(request))
        return "in the backlog: that rank takes nothing now; does it call MPI, can it be reached?";
    if (state->out.kind == WEFT_NET_OUT_RTS)
        return describe_rendezvous(request);
    if (weft_net_awaits_ack(request))
        return "sent, waiting for the acknowledgement that a receive matched it";
    snprintf(words, sizeof words, "given to %s, which has not reported it sent", weft_net_name());
    return words;
}

static const char *describe_receive(const struct weft_request *request)
{
    const struct weft_net_request *state = (const struct weft_net_request *)request->lane;
    if (request->flags & WEFT_REQUEST_IN_LANE)
        snprintf(words, sizeof words, "posted in %s, no message matches yet", weft_net_name());
    else if (state->phase == WEFT_NET_NO_RENDEZVOUS)
        snprintf(words, sizeof words,
                 "received, waiting for the send that is part of the operation");
    else if (state->phase == WEFT_NET_AWAITING_HEADER)
        snprintf(words, sizeof words, "matched, waiting for the sender to send its length");
    else if (state->phase == WEFT_NET_READING)
        snprintf(words, sizeof words,
                 "matched, reading: %zu of %zu bytes requested, %d reads in flight", state->moved,
                 request->bytes, state->reads_out);
    else
        snprintf(words, sizeof words, "matched, %zu of %zu bytes have arrived", state->arrived,
                 request->bytes);
    return words;
}

const char *weft_net_describe(const struct weft_request *request)
{
    return weft_request_row(request)->receives ? describe_receive(request) : describe_send(request);
}

uint64_t weft_net_level(enum weft_lane_level level)
{
    uint64_t posts = 0, completed = 0;
    for (unsigned i = 0; i < weft_net.nvcis; i++) {
        posts += weft_net_fast(&weft.vcis[i])->posts;
        completed += weft_net.vcis[i].completed;
    }
    switch (level) {
    case WEFT_LEVEL_EAGER_LIMIT:
        return weft_net.eager_limit;
    case WEFT_LEVEL_POSTED:
        return posts - completed;
    case WEFT_LEVEL_SPACE:
        return weft_net.nvcis * weft_net.post_limit;
    case WEFT_LEVEL_COMPLETED:
        return completed;
    default:
        return 0;
    }
}
