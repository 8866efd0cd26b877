// SPDX-License-Identifier: BSD-3-Clause
/*
 * Cancelling sends that have left: the sender asks, the receiver looks, its answer decides.
 *
 * A message is named by its sender, context and tag, and by the number in its RTS or, sent eagerly,
 * its sequence number. The question leaves behind the message. Where the provider matches, it has
 * matched the message before the question, or holds it unexpected: the receiver takes all that the
 * provider holds of the context into software, in order, and looks there. Where the core matches,
 * completions come in any order, so the question says how many messages were sent before it, and
 * waits until these have been delivered.
 *
 * Invariants:
 *  - Every question is answered once. CANCELLED: the message was unmatched and is gone. TOO_LATE: it
 *    was matched, or its name fits more than one message; then it completes as if nobody had asked.
 *  - A request that asked (WEFT_REQUEST_CANCELLING) counts the answer in pending.
 */
#include "core/object/error.h"
#include "core/pt2pt/sw_match.h"
#include "core/process/weft.h"
#include "ofi/net.h"
#include "ofi/ofi_internal.h"

#include <stdlib.h>

struct question {
    struct weft_net_control control;
    struct question *next;
};

static struct question *first, **last = &first;

/* ---- The sender */

void weft_net_cancel(struct weft_request *request)
{
    struct weft_net_request *part = weft_net_part(request);
    struct weft_peer *peer = request->peer;
    if (request->pending && weft_net_take_back(peer, &part->out)) {
        request->flags |= WEFT_REQUEST_CANCELLED;
        request->pending = 1; /* nobody will acknowledge what never left */
        weft_net_sent(request);
        return;
    }
    /* One that was announced for lack of credits and is complete passes for an eager one here: no
     * eager message has its number, and the answer is that it is too late. */
    bool rendezvous = request->pending ? part->out.kind == WEFT_NET_OUT_RTS
                                       : request->bytes > weft_net.eager_limit;
    if (!request->pending && (rendezvous || request->mode == WEFT_SEND_SYNCHRONOUS))
        return; /* complete means matched */
    if (!rendezvous && peer->sequence - request->sequence > weft_net_fast.sequence_mask)
        return; /* its number names a later message too */
    part->out.kind = rendezvous ? WEFT_NET_OUT_RTS : WEFT_NET_OUT_EAGER;
    request->flags |= WEFT_REQUEST_CANCELLING;
    request->pending++;
    weft_net_control(
        peer, (struct weft_net_control){.kind = WEFT_NET_CANCEL,
                                        .count = rendezvous,
                                        .context = request->channel->context,
                                        .tag = request->tag,
                                        .number = request->number,
                                        .other = request->sequence & weft_net_fast.sequence_mask,
                                        .length = peer->sequence});
}

/* A cancelled synchronous send waits for no acknowledgement. If it has one already, that was of a
 * later send, and overtook the answer. False when there is no such send. */
static bool forget_acknowledgement(struct weft_request *request)
{
    if (!weft_net_forget_sync(request))
        return weft_net_acknowledged(request->peer, request->channel->context, request->tag);
    weft_request_event(request);
    return true;
}

bool weft_net_cancel_answered(struct weft_request *request, bool cancelled)
{
    const struct weft_net_request *part = weft_net_part(request);
    bool rendezvous = part->out.kind == WEFT_NET_OUT_RTS;
    bool fits = !cancelled || !rendezvous || part->phase == WEFT_NET_ANNOUNCED;
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

void weft_net_cancel_asked(const struct weft_net_control *control)
{
    struct question *question = malloc(sizeof *question);
    if (!question)
        weft_fatal(MPI_ERR_NO_MEM, "no memory to answer a cancelled send of rank %d",
                   control->from);
    question->control = *control;
    question->next = NULL;
    *last = question;
    last = &question->next;
    weft_net.asked = true;
}

static bool revoke(const struct weft_net_control *control)
{
    struct weft_channel *channel = weft_channel_of(control->context);
    if (!channel)
        return false;
    if (!weft_net.software)
        while (weft_net_collect(channel))
            ;
    bool rendezvous = control->count;
    return weft_sw_revoke(channel, weft_comm_rank_of(channel->comm, control->from), control->tag,
                          rendezvous ? control->number + 1 : 0, (uint32_t)control->other);
}

static void answer(const struct weft_net_control *control)
{
    struct weft_peer *peer = weft_peer_get(0, control->from);
    bool gone = revoke(control);
    if (peer && peer->lane == WEFT_LANE_NET)
        weft_net_control(
            peer, (struct weft_net_control){.kind = gone ? WEFT_NET_CANCELLED : WEFT_NET_TOO_LATE,
                                            .number = control->number});
}

static void relieve(int world)
{
    weft_net_collect_all();
    struct weft_peer *peer = weft_peer_get(0, world);
    if (peer && peer->lane == WEFT_LANE_NET)
        weft_net_control(peer, (struct weft_net_control){.kind = WEFT_NET_RELIEVED});
}

/* Whether what was sent before the question has been delivered, or will never be. */
static bool is_due(const struct weft_net_control *control)
{
    const struct weft_peer *peer = weft_peer_known(0, control->from);
    return !weft_net.software || (peer && peer->lane == WEFT_LANE_DEAD) ||
           weft_sequence_reached(&weft_net.sequences, (uint32_t)control->from,
                                 (uint32_t)control->length);
}

int weft_net_cancel_answer(void)
{
    static bool busy; /* collecting makes progress, which comes back here */
    int answers = 0;
    if (busy)
        return 0;
    busy = true;
    for (struct question **link = &first; *link;) {
        struct question *question = *link;
        if (!is_due(&question->control)) {
            link = &question->next;
            continue;
        }
        *link = question->next;
        if (!*link)
            last = link;
        if (question->control.kind == WEFT_NET_RELIEVE)
            relieve(question->control.from);
        else if (question->control.kind == WEFT_NET_CONNECTED)
            weft_net_connect_back(question->control.from);
        else
            answer(&question->control);
        free(question);
        answers++;
    }
    weft_net.asked = first != NULL;
    busy = false;
    return answers;
}
