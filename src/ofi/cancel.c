// SPDX-License-Identifier: BSD-3-Clause
/*
 * Cancelling sends that have left: the sender sends a query, and the receiver's reply decides.
 *
 * A message is named by its sender, context and tag, and by the number in its RTS or, sent eagerly,
 * its sequence number. The query is sent after the message. If the provider matches, it has
 * matched the message before the query, or holds it unexpected: the receiver claims all messages of
 * the context into software, in order, and searches there. With software matching, completions come
 * in any order, so the query contains the number of messages that were sent before it, and waits
 * until these have been delivered.
 *
 * Where the completion data have 8 bits of a sequence number, a message sent later may have the
 * same one. A standard send is not cancelled then: it completes in any case. A synchronous send,
 * whose message may never be received, is cancelled if no other one without an ACK has its context,
 * tag and number, because the receiver searches among synchronous messages.
 *
 * A PEEK of a provider with the row flag WEFT_PROVIDER_MISSES may miss a message. So a search ends
 * when SEARCHES consecutive PEEKs have found nothing. The query contains the number of messages,
 * user messages and controls, that were sent before it, and the search is repeated until this rank
 * has taken as many. The number alone would not do, because messages sent after the query count
 * too.
 *
 * Invariants:
 *  - Every query gets one reply. CANCELLED: the message was unmatched and is dropped. TOO_LATE: it
 *    was matched, or more than one message fits the query; then the send completes as usual. A
 *    message that is neither found nor taken is TOO_LATE when no message of its sender has arrived
 *    for PATIENCE seconds: one that the provider failed to send has been counted, too.
 *  - A request with a query (WEFT_REQUEST_CANCELLING) counts the reply in pending.
 */
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/message/sw_match.h"
#include "core/message/process.h"
#include "ofi/net.h"
#include "ofi/credits.h"
#include "ofi/ofi_internal.h"

#include <stdlib.h>

enum { SEARCHES = 16, PATIENCE = 2 };

struct weft_net_query {
    struct weft_net_control control;
    struct weft_net_query *next;
    /* of a cancel whose message was not found: */
    int32_t missing; /* messages sent before it that have not been taken, or 0 */
    double since;    /* so many since then */
};

/* ---- The sender */

/* True for a synchronous eager send if no other one has its context, tag and number. */
static bool is_unique(const struct weft_request *request)
{
    const struct weft_request *other = weft_net_peer(request->peer)->sync;
    for (; other; other = other->next)
        if (other != request && other->channel->context == request->channel->context &&
            other->tag == request->tag &&
            !((other->sequence ^ request->sequence) & weft_net.sequence_mask))
            return false;
    return request->mode == WEFT_SEND_SYNCHRONOUS;
}

void weft_net_cancel(struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    struct weft_peer *peer = request->peer;
    weft_assert(!(request->flags & (WEFT_REQUEST_CANCELLED | WEFT_REQUEST_CANCELLING)));
    if (request->pending && weft_net_take_back(peer, &state->out)) {
        request->flags |= WEFT_REQUEST_CANCELLED;
        request->pending = 1; /* no ACK comes for a message that never left */
        weft_net_sent(request);
        return;
    }
    /* A complete send that was announced without credits is treated as eager here: no eager message
     * has its number, and the reply is TOO_LATE. */
    bool rendezvous = request->pending ? state->out.kind == WEFT_NET_OUT_RTS
                                       : request->bytes > weft_net.eager_limit;
    if (!request->pending && (rendezvous || request->mode == WEFT_SEND_SYNCHRONOUS))
        return; /* complete means matched */
    if (!rendezvous && peer->sequence - request->sequence > weft_net.sequence_mask &&
        !is_unique(request))
        return; /* a later message has the same number */
    enum weft_net_named named = rendezvous                               ? WEFT_NET_NAMED_RTS
                                : request->mode == WEFT_SEND_SYNCHRONOUS ? WEFT_NET_NAMED_SYNC
                                                                         : WEFT_NET_NAMED_EAGER;
    state->out.kind = rendezvous ? WEFT_NET_OUT_RTS : WEFT_NET_OUT_EAGER;
    request->flags |= WEFT_REQUEST_CANCELLING;
    request->pending++;
    weft_net_control(
        peer, (struct weft_net_control){.kind = WEFT_NET_CANCEL,
                                        .count = named,
                                        .context = request->channel->context,
                                        .tag = request->tag,
                                        .number = request->number,
                                        .other = request->sequence & weft_net.sequence_mask,
                                        .length = peer->sequence,
                                        .key = weft_net_peer(peer)->controls + peer->sequence,
                                        .address = (uint32_t)request->channel->rank});
}

/* A cancelled synchronous send waits for no ACK. If it has one already, that ACK was for a later
 * send and overtook the reply. False if there is no such send. */
static bool forget_acknowledgement(struct weft_request *request)
{
    if (!weft_net_forget_sync(request))
        return weft_net_acknowledged(request->peer, request->channel->context, request->tag);
    weft_request_event(request);
    return true;
}

bool weft_net_cancel_replied(struct weft_request *request, bool cancelled)
{
    const struct weft_net_request *state = weft_net_state(request);
    weft_assert(request->pending > 0);
    bool rendezvous = state->out.kind == WEFT_NET_OUT_RTS;
    bool fits = !cancelled || !rendezvous || state->phase == WEFT_NET_ANNOUNCED;
    request->flags &= (uint8_t)~WEFT_REQUEST_CANCELLING;
    if (cancelled && fits) {
        request->flags |= WEFT_REQUEST_CANCELLED;
        if (rendezvous)
            weft_net_sent(request); /* there will be no FIN */
        else if (request->mode == WEFT_SEND_SYNCHRONOUS)
            fits = forget_acknowledgement(request);
    }
    weft_request_event(request);
    return fits;
}

/* ---- The receiver */

void weft_net_query_arrived(struct weft_net_vci *net, const struct weft_net_control *control)
{
    struct weft_net_query **last = &net->queries;
    struct weft_net_query *query =
        weft_memory_get(1, sizeof *query, "the reply to a cancelled send");
    *query = (struct weft_net_query){.control = *control};
    while (*last)
        last = &(*last)->next;
    *last = query;
}

/* The sender's rank in its communicator, or -1 if the message claims another one. The sender may
 * have made a communicator that this rank has not opened yet, or has freed: then it names its rank.
 */
static int sender_rank(const struct weft_channel *channel, const struct weft_net_control *control)
{
    int rank = control->address > INT32_MAX ? -1 : (int)control->address;
    return !channel || (channel->vci_number == control->vci_number &&
                        (unsigned)rank < (unsigned)channel->size &&
                        weft_channel_world(channel, rank) == control->from)
               ? rank
               : -1;
}

void weft_net_queries_close(struct weft_net_vci *net)
{
    struct weft_net_query *query;
    while ((query = net->queries) != NULL) {
        net->queries = query->next;
        free(query);
    }
}

static bool may_miss(void)
{
    return !weft_net.software && weft_net.choice.row->flags & WEFT_PROVIDER_MISSES;
}

/* Claims the unexpected messages of a channel, NULL: of all. */
static void search(struct weft_net_vci *net, struct weft_channel *channel)
{
    int searches = may_miss() ? SEARCHES : 1;
    for (int left = weft_net.software ? 0 : searches; left > 0;)
        left = weft_net_collect_one(net, channel) ? searches : left - 1;
}

/* Drops the message of a cancelled send. False if it is not there. */
static bool revoke(struct weft_net_vci *net, const struct weft_net_query *query,
                   struct weft_peer *peer)
{
    const struct weft_net_control *control = &query->control;
    struct weft_channel *channel =
        weft_channel_of(control->context, (int)control->address, control->tag);
    struct weft_arrival name = {
        .context = control->context,
        .source = sender_rank(channel, control),
        .tag = control->tag,
        .lane = WEFT_LANE_NET,
        .mode = control->count == WEFT_NET_NAMED_SYNC ? WEFT_SEND_SYNCHRONOUS : WEFT_SEND_STANDARD,
        .id = control->count == WEFT_NET_NAMED_RTS ? weft_net_rts_id((uint32_t)control->number)
                                                   : (uint32_t)control->other};
    if (name.source < 0)
        return false;
    search(net, query->missing ? NULL : channel);
    if (!weft_sw_revoke(&weft.vcis[net->number].matcher, &name))
        return false;
    if (name.location == WEFT_DATA_HERE)
        weft_net_matched_from(peer, name.length);
    return true;
}

/* True if the search for the message of a query has to be repeated. The query itself has been
 * taken too. */
static bool may_be_missed(const struct weft_net_vci *net, struct weft_net_query *query,
                          const struct weft_peer *peer)
{
    int32_t missing = (int32_t)((uint32_t)query->control.key + 1 - weft_net_taken(net, peer));
    double now = weft_seconds();
    if (!may_miss() || missing <= 0 || (uint32_t)missing <= net->unattributed)
        return false;
    if (missing != query->missing) {
        query->missing = missing;
        query->since = now;
    }
    return now - query->since < PATIENCE;
}

/* False if the reply has to wait. */
static bool answer(struct weft_net_vci *net, struct weft_net_query *query)
{
    const struct weft_net_control *control = &query->control;
    struct weft_peer *peer = weft_peer_get(control->vci_number, control->from);
    if (!peer || !weft_net_is_alive(peer))
        return true;
    bool gone = revoke(net, query, peer);
    if (!gone && may_be_missed(net, query, peer))
        return false;
    weft_net_control(
        peer, (struct weft_net_control){.kind = gone ? WEFT_NET_CANCELLED : WEFT_NET_TOO_LATE,
                                        .number = control->number});
    return true;
}

static void check_flow(struct weft_net_vci *net, const struct weft_net_control *control)
{
    weft_net_collect_unexpected(net);
    struct weft_peer *peer = weft_peer_get(control->vci_number, control->from);
    if (peer && weft_net_is_alive(peer))
        weft_net_control(peer, (struct weft_net_control){.kind = WEFT_NET_FLOW_CHECKED});
}

/* True if the messages before the query have been delivered, or will never arrive. */
static bool is_due(const struct weft_net_vci *net, const struct weft_net_control *control)
{
    const struct weft_peer *peer = weft_peer_find(control->vci_number, control->from);
    uint32_t sender =
        weft_net_sender_number(control->vci_number, control->from) - net->first_sender;
    return !weft_net.software || control->kind == WEFT_NET_COMPARE || (peer && peer->dead) ||
           weft_sequence_reached(&net->sequences, sender, (uint32_t)control->length);
}

/* False if the reply has to wait. */
static bool reply(struct weft_net_vci *net, struct weft_net_query *query)
{
    const struct weft_net_control *control = &query->control;
    if (!is_due(net, control))
        return false;
    if (control->kind == WEFT_NET_CANCEL)
        return answer(net, query);
    if (control->kind == WEFT_NET_FLOW_CHECK)
        check_flow(net, control);
    else if (control->kind == WEFT_NET_COMPARE)
        weft_net_compare(net, control);
    else
        weft_net_connect_back(net, control->vci_number, control->from);
    return true;
}

int weft_net_answer_queries(struct weft_net_vci *net)
{
    int answers = 0;
    if (net->answering) /* claiming makes progress, which calls this function */
        return 0;
    net->answering = true;
    for (struct weft_net_query **link = &net->queries; *link;) {
        struct weft_net_query *query = *link; /* those that arrive meanwhile are appended */
        if (!reply(net, query)) {
            link = &query->next;
            continue;
        }
        *link = query->next;
        free(query);
        answers++;
    }
    net->answering = false;
    return answers;
}
