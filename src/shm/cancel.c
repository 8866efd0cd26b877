// SPDX-License-Identifier: BSD-3-Clause
/*
 * Cancelling sends that have left, as src/ofi/cancel.c does: the sender sends CANCEL, the receiver
 * looks for the message, its reply decides. CANCEL follows the message in the ring, so the receiver
 * has read the message by then; the turn of the message's line names it.
 *
 * Invariant: every CANCEL is replied to once, at once. CANCELLED: the message was unmatched and is
 * discarded. TOO_LATE: the message had matched, and its send completes as usual.
 */
#include "core/message/sw_match.h"
#include "shm/shm_internal.h"

void weft_shm_cancel(struct weft_request *request)
{
    struct weft_shm_request *state = weft_shm_state(request);
    struct weft_shm_link *link = weft_shm_link(request->peer);
    weft_assert(!(request->flags & (WEFT_REQUEST_CANCELLED | WEFT_REQUEST_CANCELLING)));
    if (request->pending && state->phase == WEFT_SHM_QUEUED &&
        weft_shm_take_back(link, &state->out)) {
        request->flags |= WEFT_REQUEST_CANCELLED;
        weft_shm_matched(request);
        return;
    }
    if (state->phase != WEFT_SHM_SENT && state->phase != WEFT_SHM_AWAITED)
        return; /* the receiver has it */
    request->flags |= WEFT_REQUEST_CANCELLING;
    request->pending++;
    weft_shm_control(link, &(struct weft_shm_body){.kind = WEFT_SHM_CANCEL,
                                                   .bytes = request->sequence,
                                                   .context = request->channel->context,
                                                   .source = request->channel->rank,
                                                   .tag = request->tag,
                                                   .word.cookie = (uintptr_t)request});
}

void weft_shm_cancel_replied(struct weft_request *request, bool cancelled)
{
    request->flags &= (uint8_t)~WEFT_REQUEST_CANCELLING;
    if (cancelled) {
        request->flags |= WEFT_REQUEST_CANCELLED;
        if (weft_shm_state(request)->phase == WEFT_SHM_AWAITED)
            weft_shm_matched(request); /* no ACK or FIN will come */
    }
    weft_request_event(request);
}

void weft_shm_cancel_requested(struct weft_shm_link *link, const struct weft_shm_body *body)
{
    struct weft_arrival name = {.context = body->context,
                                .source = body->source,
                                .tag = body->tag,
                                .lane = WEFT_LANE_SHM,
                                .id = body->bytes};
    bool gone = weft_sw_revoke(link->matcher, &name);
    weft_shm_control(link,
                     &(struct weft_shm_body){.kind = gone ? WEFT_SHM_CANCELLED : WEFT_SHM_TOO_LATE,
                                             .word.cookie = body->word.cookie});
}
