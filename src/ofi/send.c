// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sending: inject, eager, RTS; the backlog.
 *
 * Invariant: while a peer's backlog is not empty only the
 * head of the backlog is passed to the provider. So messages to a peer leave in the order in which
 * they were started. Controls are inserted before user messages, because a message may wait for
 * them.
 *
 * A message is registered, packed or exposed when it is the next to leave. So while no connection
 * to a peer exists, its messages take no locked memory, which the connection may need
 * (weft_net_connect).
 */
#include "core/base/error.h"
#include "core/base/settings.h"
#include "core/message/sw_match.h"
#include "core/message/count.h"
#include "core/base/clock.h"
#include "ofi/net.h"
#include "ofi/credits.h"
#include "ofi/ofi_internal.h"
#include "ofi/rendezvous.h"

#include <stdlib.h>

static inline uint64_t cq_data(const struct weft_peer *peer, const struct weft_request *request)
{
    return weft_net_fast_channel(request->channel)->rank | weft_net_number_bits(peer->sequence);
}

static void *data_of(struct weft_request *request)
{
    void *packed = weft_net_state(request)->packed;
    return packed ? packed : request->buffer;
}

/* The registration of data_of(request). */
static struct fid_mr *mr_of(struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    return state->packed && weft_net.local_mr
               ? weft_net_bounce_mr(weft_net_of(request), state->packed)
               : state->mr;
}

static int send_rts(struct weft_peer *peer, struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    weft_assert(state->phase == WEFT_NET_NO_RENDEZVOUS && state->header.number == request->number);
    uint64_t word = (uint64_t)WEFT_MESSAGE_RTS << weft_net.form_shift |
                    weft_net_fast_channel(request->channel)->word | (uint32_t)request->tag;
    uint64_t data = weft_net.in_place_space ? weft_net_fast_channel(request->channel)->rank |
                                                  weft_net_number_bits(request->number)
                                            : cq_data(peer, request);
    int rc = weft_net_send_own(peer, &state->header, sizeof state->header, data, word, false);
    if (rc)
        return rc;
    request->sequence = weft_net_number(peer, sizeof state->header, 0);
    state->phase = WEFT_NET_ANNOUNCED;
    return 0;
}

/* Counts a rendezvous send that begins. */
static void note_rendezvous(const struct weft_request *request)
{
    weft_net_of(request)->announced++;
    weft_count_add(&weft_counts.net_rendezvous, 1);
    weft_count_add(&weft_counts.net_rendezvous_bytes, request->bytes);
    request->peer->counts.rendezvous++;
    weft_peer_event(WEFT_EVENT_RENDEZVOUS, request->peer, request->tag, request->bytes);
}

/* Counts a rendezvous send that ends. */
static void end_rendezvous(const struct weft_request *request)
{
    weft_assert(weft_net_of(request)->announced > 0);
    weft_net_of(request)->announced--;
    weft_count_add(&weft_counts.net_rendezvous_over, 1);
}

static int send_eager(struct weft_peer *peer, struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    weft_assert(state->phase == WEFT_NET_NO_RENDEZVOUS && !state->op.in_flight);
    struct fid_ep *ep = weft_net_of(request)->objects.ep;
    bool sync = request->mode == WEFT_SEND_SYNCHRONOUS;
    uint64_t form =
        sync ? (uint64_t)WEFT_MESSAGE_SYNC << weft_net.form_shift
             : weft_net_mode_bits(weft_net_fast(request->vci), (enum weft_send_mode)request->mode);
    uint64_t word = form | weft_net_fast_channel(request->channel)->word | (uint32_t)request->tag;
    uint64_t data = cq_data(peer, request);
    bool inject = request->bytes <= weft_net.inject_max;
    int rc;
    if (inject)
        rc = (int)fi_tinjectdata(ep, data_of(request), request->bytes, data,
                                 weft_net_peer(peer)->fast.address, word);
    else
        rc = (int)fi_tsenddata(ep, data_of(request), request->bytes,
                               weft_net_descriptor(mr_of(request)), data,
                               weft_net_peer(peer)->fast.address, word, &state->op);
    if (rc)
        return rc;
    state->op.in_flight = !inject;
    request->sequence = weft_net_number(peer, request->bytes, weft_net_cost(request->bytes));
    if (sync) {
        request->next = NULL;
        *weft_net_peer(peer)->sync_end = request;
        weft_net_peer(peer)->sync_end = &request->next;
    }
    if (inject)
        weft_net_sent(request);
    return 0;
}

static struct weft_request *request_of(struct weft_backlog_entry *out)
{
    return weft_net_request_of(
        (struct weft_net_request *)((char *)out - offsetof(struct weft_net_request, out)));
}

static bool is_control(const struct weft_backlog_entry *out)
{
    return out->kind == WEFT_NET_OUT_CONTROL || out->kind == WEFT_NET_OUT_PIECE;
}

/* Makes the data of an eager message ready: registered where that is needed, or packed. False where
 * there is no memory for that. */
static bool prepare_data(struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    bool contiguous = (request->type->flags & WEFT_TYPE_CONTIGUOUS) || !request->bytes;
    bool registered = weft_net.local_mr && request->bytes > weft_net.inject_max;
    if (contiguous && registered)
        state->mr = weft_net_register_for(request, request->buffer, request->bytes, FI_SEND);
    if (contiguous && (!registered || state->mr))
        return true;
    state->packed = weft_net_bounce_get(weft_net_of(request), request->bytes);
    if (state->packed)
        weft_datatype_pack(request->type, request->buffer, 0, state->packed, request->bytes);
    return state->packed;
}

/* Chooses between eager and RTS, and makes the message ready for it. A short message without
 * credits or without memory is announced too: its data wait in the user's buffer. */
static void prepare_send(struct weft_peer *peer, struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    weft_assert(!state->packed && !state->mr);
    bool is_short = request->bytes <= weft_net.eager_limit;
    bool paid = weft_net_affordable(peer, request->bytes);
    bool eager = is_short && paid && prepare_data(request);
    state->out.kind = eager ? WEFT_NET_OUT_EAGER : WEFT_NET_OUT_RTS;
    if (eager) {
        request->pending = request->mode == WEFT_SEND_SYNCHRONOUS ? 2 : 1;
        return;
    }
    weft_count_add(&weft_counts.net_credit_waits, is_short && !paid);
    weft_net_expose(request);
    note_rendezvous(request);
}

static int try_out(struct weft_peer *peer, struct weft_backlog_entry *out)
{
    weft_assert(!peer->backlog.first || is_control(out) || peer->backlog.first == out);
    if (!is_control(out) && weft_unlikely(weft_net_must_wait(peer)))
        return -FI_EAGAIN;
    if (out->kind == WEFT_NET_OUT_UNPREPARED)
        prepare_send(peer, request_of(out));
    switch ((enum weft_net_out_kind)out->kind) {
    case WEFT_NET_OUT_EAGER:
        return send_eager(peer, request_of(out));
    case WEFT_NET_OUT_RTS:
        return send_rts(peer, request_of(out));
    case WEFT_NET_OUT_CONTROL:
        return weft_net_control_send(peer, out);
    case WEFT_NET_OUT_PIECE:
        return weft_net_piece_send(peer, out);
    case WEFT_NET_OUT_UNPREPARED:
        break;
    }
    return -FI_EOPNOTSUPP;
}

WEFT_COLD static void fail_out(struct weft_peer *peer, struct weft_backlog_entry *out,
                               const char *why)
{
    if (out->kind == WEFT_NET_OUT_CONTROL) {
        weft_net_control_failed(peer, why);
        weft_net_control_drop(out);
        return;
    }
    if (out->kind == WEFT_NET_OUT_PIECE) {
        weft_net_piece_failed(out, why);
        return;
    }
    struct weft_request *request = request_of(out);
    if (out->kind == WEFT_NET_OUT_RTS)
        end_rendezvous(request);
    request->error = (uint8_t)weft_net_send_failed(request, why);
    weft_net_release(request);
    request->pending = 1;
    weft_request_event(request);
}

static void append_out(struct weft_peer *peer, struct weft_backlog_entry *out)
{
    struct weft_net_peer *to = weft_net_peer(peer);
    if (!to->backlogged) {
        to->backlogged = true;
        struct weft_net_vci *net = weft_net_of_peer(peer);
        to->next_backlogged = net->backlogged;
        net->backlogged = peer;
    }
    weft_backlog_append(peer, out, is_control(out));
    weft_net_settle(peer);
}

bool weft_net_may_send_control(const struct weft_peer *peer)
{
    return !peer->backlog.first || !is_control(peer->backlog.first);
}

void weft_net_push(struct weft_peer *peer, struct weft_backlog_entry *out)
{
    int rc = -FI_EAGAIN;
    if (!peer->backlog.first || (is_control(out) && weft_net_may_send_control(peer)))
        rc = try_out(peer, out);
    if (rc == -FI_EAGAIN)
        append_out(peer, out);
    else if (rc)
        fail_out(peer, out, fi_strerror(-rc));
}

static void pop(struct weft_peer *peer, const struct weft_backlog_entry *head,
                struct weft_backlog_entry *rest)
{
    weft_backlog_pop(peer, head, rest);
    weft_net_settle(peer);
}

bool weft_net_take_back(struct weft_peer *peer, const struct weft_backlog_entry *out)
{
    bool found = weft_backlog_remove(peer, out);
    weft_net_settle(peer);
    return found;
}

/* A peer that never accepted a message may be unreachable, or outside of MPI. This rank cannot
 * distinguish these, so it reports what it waits for, at doubling intervals, and continues. */
void weft_net_report_unreachable(struct weft_peer *peer, const char *address)
{
    struct weft_net_peer *to = weft_net_peer(peer);
    double waited = weft_seconds() - peer->backlog.since;
    double next = to->report_after > 0 ? to->report_after : weft_settings.connect_timeout;
    if (waited < next)
        return;
    to->report_after = 2 * next;
    char here[128], host[256];
    weft_warn("no connection from %s to %s (rank %d on %s) over %s for %.0f seconds; still trying. "
              "If that rank is not just busy outside MPI, see whether its address can be reached "
              "(weft_info shows the interfaces, WEFT_IFACE chooses one)",
              weft_net_own_address(peer, here, sizeof here), address, peer->world,
              weft_boot_host(peer->world, host, sizeof host), weft_net_name(), waited);
}

static int retry_peer(struct weft_peer *peer, bool look_at_clock)
{
    struct weft_net_peer *to = weft_net_peer(peer);
    int sent = 0;
    weft_assert(to->backlogged);
    if (weft_unlikely(peer->dead)) {
        weft_net_drop_backlog(peer); /* replies to what it had sent */
        return 0;
    }
    while (peer->backlog.first) {
        struct weft_backlog_entry *out = peer->backlog.first, *rest = out->next;
        int rc = try_out(peer, out); /* may free out */
        if (rc == -FI_EAGAIN) {
            if (look_at_clock && !to->reached) {
                char there[128];
                weft_net_report_unreachable(peer, weft_net_peer_address(peer, there, sizeof there));
            }
            break;
        }
        pop(peer, out, rest);
        to->reached = true;
        if (rc)
            fail_out(peer, out, fi_strerror(-rc));
        weft_net_flow_check(peer);
        sent++;
    }
    return sent;
}

int weft_net_retry(struct weft_net_vci *net)
{
    bool look_at_clock = (++net->retries & 1023) == 0;
    int sent = 0;
    struct weft_peer **link = &net->backlogged;
    while (*link) {
        struct weft_peer *peer = *link;
        sent += retry_peer(peer, look_at_clock);
        if (peer->backlog.first) {
            link = &weft_net_peer(peer)->next_backlogged;
            continue;
        }
        weft_net_peer(peer)->backlogged = false;
        *link = weft_net_peer(peer)->next_backlogged;
    }
    return sent;
}

/* A send that is not injected at once. */
static __attribute__((noinline)) int send_slowly(struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    struct weft_peer *peer = request->peer;
    weft_assert(!state->op.in_flight && state->phase == WEFT_NET_NO_RENDEZVOUS);
    state->reads_out = 0;
    state->out.kind = WEFT_NET_OUT_UNPREPARED;
    request->pending = 1;
    if (!peer->backlog.first && request->bytes <= weft_net.eager_limit &&
        !weft_net_affordable(peer, request->bytes))
        weft_net_progress(peer->vci); /* credits may have arrived */
    weft_net_push(peer, &state->out);
    weft_net_flow_check(peer);
    return MPI_SUCCESS;
}

int weft_net_isend(struct weft_request *request)
{
    const struct weft_net_fast *net = weft_net_fast(request->vci);
    struct weft_peer *peer = request->peer;
    weft_assert(request->pending == 1 && request->owner == WEFT_LANE_NET);
    request->sequence = peer->sequence;
    if (request->bytes < peer->send_limit && request->mode != WEFT_SEND_SYNCHRONOUS &&
        (request->type->flags & WEFT_TYPE_CONTIGUOUS) &&
        weft_net_inject(net, peer, request->channel, request->tag,
                        weft_net_mode_bits(net, (enum weft_send_mode)request->mode),
                        request->buffer, request->bytes)) {
        request->pending = 0;
        return MPI_SUCCESS;
    }
    return send_slowly(request);
}

void weft_net_sent(struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    weft_assert(weft_request_row(request)->sends && !state->op.in_flight);
    if (weft_unlikely(state->out.kind == WEFT_NET_OUT_RTS)) {
        end_rendezvous(request);
        weft_request_transferred(request);
    }
    state->phase = WEFT_NET_NO_RENDEZVOUS;
    weft_net_release(request);
    weft_request_event(request);
}

bool weft_net_awaits_ack(const struct weft_request *request)
{
    for (const struct weft_request *r = weft_net_peer(request->peer)->sync; r; r = r->next)
        if (r == request)
            return true;
    return false;
}

bool weft_net_waits_for_peer(const struct weft_request *request)
{
    const struct weft_net_request *state = (const struct weft_net_request *)request->lane;
    if (weft_request_row(request)->receives)
        return weft_net_fetch_waits(request);
    return state->out.kind == WEFT_NET_OUT_RTS ? state->reads_out == 0 && !state->stalled
                                               : weft_net_awaits_ack(request);
}

void weft_net_abandon(struct weft_request *request)
{
    const struct weft_net_request *state = weft_net_state(request);
    if (weft_request_row(request)->receives)
        weft_net_fetch_abandon(request);
    else if (weft_net_forget_sync(request))
        weft_request_event(request);
    else if (!state->op.in_flight && !state->reads_out && !state->stalled) {
        weft_net_pipeline_close(request);
        weft_net_sent(request);
    } /* else the provider, or weft_net_push_more, ends it */
}

void weft_net_drop_backlog(struct weft_peer *peer)
{
    weft_assert(peer->dead);
    while (peer->backlog.first) {
        struct weft_backlog_entry *out = peer->backlog.first;
        pop(peer, out, out->next);
        if (out->kind == WEFT_NET_OUT_CONTROL)
            weft_net_control_drop(out);
        else
            fail_out(peer, out, "the rank has ended");
    }
}
