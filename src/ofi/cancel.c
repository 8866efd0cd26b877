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
 * Invariants:
 *  - Every query gets one reply. CANCELLED: the message was unmatched and is dropped. TOO_LATE: it
 *    was matched, or more than one message fits the query; then the send completes as usual.
 *  - A request with a query (WEFT_REQUEST_CANCELLING) counts the reply in pending.
 */
#include "core/base/error.h"
#include "core/message/sw_match.h"
#include "core/message/process.h"
#include "ofi/net.h"
#include "ofi/ofi_internal.h"

#include <stdlib.h>

struct weft_net_query {
    struct weft_net_control control;
    struct weft_net_query *next;
};

/* ---- The sender */

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
    if (!rendezvous && peer->sequence - request->sequence > weft_net.sequence_mask)
        return; /* a later message has the same number */
    state->out.kind = rendezvous ? WEFT_NET_OUT_RTS : WEFT_NET_OUT_EAGER;
    request->flags |= WEFT_REQUEST_CANCELLING;
    request->pending++;
    weft_net_control(peer,
                     (struct weft_net_control){.kind = WEFT_NET_CANCEL,
                                               .count = rendezvous,
                                               .context = request->channel->context,
                                               .tag = request->tag,
                                               .number = request->number,
                                               .other = request->sequence & weft_net.sequence_mask,
                                               .length = peer->sequence,
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
    struct weft_net_query **last = &net->queries, *query = malloc(sizeof *query);
    if (!query)
        weft_fatal(MPI_ERR_NO_MEM, "no memory to answer a cancelled send of rank %d",
                   control->from);
    query->control = *control;
    query->next = NULL;
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
    return !channel || (channel->stream == control->stream &&
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

/* Drops the message of a cancelled send. False if it is not there any more. */
static bool revoke(struct weft_net_vci *net, const struct weft_net_control *control,
                   struct weft_peer *peer)
{
    struct weft_channel *channel =
        weft_channel_of(control->context, (int)control->address, control->tag);
    struct weft_arrival name = {.context = control->context,
                                .source = sender_rank(channel, control),
                                .tag = control->tag,
                                .lane = WEFT_LANE_NET,
                                .id = control->count ? weft_net_rts_id((uint32_t)control->number)
                                                     : (uint32_t)control->other};
    if (name.source < 0)
        return false;
    if (!channel)
        weft_net_collect_unexpected(net);
    else if (!weft_net.software)
        while (weft_net_collect(channel))
            ;
    if (!weft_sw_revoke(&weft.vcis[net->number].matcher, &name))
        return false;
    if (name.location == WEFT_DATA_HERE)
        weft_net_matched_from(peer, name.length);
    return true;
}

static void answer(struct weft_net_vci *net, const struct weft_net_control *control)
{
    struct weft_peer *peer = weft_peer_get(control->stream, control->from);
    if (!peer || peer->lane != WEFT_LANE_NET)
        return;
    bool gone = revoke(net, control, peer);
    weft_net_control(
        peer, (struct weft_net_control){.kind = gone ? WEFT_NET_CANCELLED : WEFT_NET_TOO_LATE,
                                        .number = control->number});
}

static void check_flow(struct weft_net_vci *net, const struct weft_net_control *control)
{
    weft_net_collect_unexpected(net);
    struct weft_peer *peer = weft_peer_get(control->stream, control->from);
    if (peer && peer->lane == WEFT_LANE_NET)
        weft_net_control(peer, (struct weft_net_control){.kind = WEFT_NET_FLOW_CHECKED});
}

/* True if the messages before the query have been delivered, or will never arrive. */
static bool is_due(const struct weft_net_vci *net, const struct weft_net_control *control)
{
    const struct weft_peer *peer = weft_peer_find(control->stream, control->from);
    uint32_t sender = weft_net_sender_number(control->stream, control->from) - net->first_sender;
    return !weft_net.software || control->kind == WEFT_NET_COMPARE ||
           (peer && peer->lane == WEFT_LANE_DEAD) ||
           weft_sequence_reached(&net->sequences, sender, (uint32_t)control->length);
}

int weft_net_answer_queries(struct weft_net_vci *net)
{
    int answers = 0;
    if (net->answering) /* claiming makes progress, which calls this function */
        return 0;
    net->answering = true;
    for (struct weft_net_query **link = &net->queries; *link;) {
        struct weft_net_query *query = *link;
        if (!is_due(net, &query->control)) {
            link = &query->next;
            continue;
        }
        *link = query->next;
        if (query->control.kind == WEFT_NET_FLOW_CHECK)
            check_flow(net, &query->control);
        else if (query->control.kind == WEFT_NET_COMPARE)
            weft_net_compare(net, &query->control);
        else if (query->control.kind == WEFT_NET_CONNECTED)
            weft_net_connect_back(net, query->control.stream, query->control.from);
        else
            answer(net, &query->control);
        free(query);
        answers++;
    }
    net->answering = false;
    return answers;
}
