// SPDX-License-Identifier: BSD-3-Clause
/*
 * Cancelling operations: see cancel.h.
 *
 * Invariant: either an operation is cancelled and no message was taken or delivered for it, or it
 * completes as usual. A receive is cancelled by whoever matches it (the provider or the software
 * matcher), a send by the side where its message waits for a match.
 */
#include "core/pt2pt/cancel.h"
#include "core/pt2pt/bsend.h"
#include "core/pt2pt/sw_match.h"
#include "core/process/weft.h"
#include "ofi/net.h"
#include "shm/shm.h"

static void cancel_receive(struct weft_request *request)
{
    bool taken_back = false;
    if (request->flags & WEFT_REQUEST_IN_NET)
        taken_back = weft_net_withdraw(request);
    else if (request->match.queued)
        taken_back = weft_sw_withdraw(request);
    if (!taken_back)
        return; /* its message is here, or on its way */
    request->channel->took_back = true;
    request->flags |= WEFT_REQUEST_CANCELLED;
    request->source = MPI_ANY_SOURCE;
    request->tag = MPI_ANY_TAG;
    request->bytes = 0;
    weft_request_event(request);
}

/* A send of this process to itself, pending or, if it was copied, complete. */
static void cancel_self(struct weft_request *request)
{
    const struct weft_arrival name = {.context = request->channel->context,
                                      .source = request->channel->comm->rank,
                                      .tag = request->tag,
                                      .lane = WEFT_LANE_SELF,
                                      .id = request->sequence};
    if (!weft_sw_revoke(&request->channel->comm->vci->matcher, &name))
        return;
    request->flags |= WEFT_REQUEST_CANCELLED;
    if (request->pending)
        weft_request_event(request);
}

static void cancel_send(struct weft_request *request)
{
    switch ((enum weft_lane)request->peer->lane) {
    case WEFT_LANE_NET:
        weft_net_cancel(request);
        return;
    case WEFT_LANE_SHM:
        weft_shm_cancel(request);
        return;
    case WEFT_LANE_SELF:
        cancel_self(request);
        return;
    default:
        return; /* nobody is left to say what became of it */
    }
}

void weft_cancel(struct weft_request *request)
{
    if (request->flags & (WEFT_REQUEST_CANCELLED | WEFT_REQUEST_CANCELLING))
        return;
    if (request->op == WEFT_REQUEST_RECV && request->pending)
        cancel_receive(request);
    else if (request->op == WEFT_REQUEST_SEND && !request->error)
        cancel_send(request);
    else if (request->op == WEFT_REQUEST_BSEND)
        weft_bsend_cancel(request);
}
