// SPDX-License-Identifier: BSD-3-Clause
/*
 * Cancelling sends that have left, as src/ofi/cancel.c does: the sender asks, the receiver looks, its
 * answer decides. The question comes behind the message in the ring, so that the receiver has seen
 * the message; its turn names it.
 *
 * Invariant: every question is answered once, at once. CANCELLED: the message was unmatched and is
 * gone. TOO_LATE: it was matched, and completes as if nobody had asked.
 */
#include "core/pt2pt/sw_match.h"
#include "core/process/weft.h"
#include "shm/shm_internal.h"

void weft_shm_cancel(struct weft_request *request)
{
    struct weft_shm_request *part = weft_shm_part(request);
    struct weft_shm_link *link = request->peer->shm;
    if (request->pending && part->state == WEFT_SHM_QUEUED &&
        weft_shm_take_from_backlog(link, &part->out)) {
        request->flags |= WEFT_REQUEST_CANCELLED;
        weft_shm_matched(request);
        return;
    }
    if (part->state != WEFT_SHM_SENT && part->state != WEFT_SHM_AWAITED)
        return; /* the receiver has it */
    request->flags |= WEFT_REQUEST_CANCELLING;
    request->pending++;
    weft_shm_control(link, &(struct weft_shm_body){.kind = WEFT_SHM_CANCEL,
                                                   .bytes = request->sequence,
                                                   .context = request->channel->context,
                                                   .source = request->channel->comm->rank,
                                                   .tag = request->tag,
                                                   .word.cookie = (uintptr_t)request});
}

void weft_shm_cancel_answered(struct weft_request *request, bool cancelled)
{
    request->flags &= (uint8_t)~WEFT_REQUEST_CANCELLING;
    if (cancelled) {
        request->flags |= WEFT_REQUEST_CANCELLED;
        if (weft_shm_part(request)->state == WEFT_SHM_AWAITED)
            weft_shm_matched(request); /* no other word will come */
    }
    weft_request_event(request);
}

void weft_shm_cancel_asked(struct weft_shm_link *link, const struct weft_shm_body *body)
{
    bool gone =
        weft_sw_revoke_shared(link->matcher, body->context, body->source, body->tag, body->bytes);
    weft_shm_control(link,
                     &(struct weft_shm_body){.kind = gone ? WEFT_SHM_CANCELLED : WEFT_SHM_TOO_LATE,
                                             .word.cookie = body->word.cookie});
}
