// SPDX-License-Identifier: BSD-3-Clause
/*
 * Cancelling operations: see cancel.h.
 *
 * Invariant: either an operation is cancelled and no message was taken or delivered for it, or it
 * completes as usual. A receive is cancelled where it is matched (in the provider or the software
 * matcher), a send where its message waits for a match.
 */
#include "core/pt2pt/cancel.h"
#include "core/pt2pt/bsend.h"
#include "core/message/lane.h"

static void cancel_receive(struct weft_request *request)
{
    bool taken_back = false;
    if (request->flags & WEFT_REQUEST_IN_LANE)
        taken_back = weft_lanes[request->owner]->withdraw(request);
    else if (request->match.queued)
        taken_back = weft_sw_withdraw(request);
    if (!taken_back)
        return; /* its message has matched */
    weft_assert(!(request->flags & WEFT_REQUEST_IN_LANE) && !request->match.queued);
    request->channel->took_back = true;
    request->flags |= WEFT_REQUEST_CANCELLED;
    request->source = MPI_ANY_SOURCE;
    request->tag = MPI_ANY_TAG;
    request->bytes = 0;
    weft_request_event(request);
}

void weft_cancel(struct weft_request *request)
{
    if (request->flags & (WEFT_REQUEST_CANCELLED | WEFT_REQUEST_CANCELLING))
        return;
    if (request->op == WEFT_REQUEST_RECV && request->pending)
        cancel_receive(request);
    else if (request->op == WEFT_REQUEST_SEND && !request->error)
        weft_lane_cancel(request);
    else if (request->op == WEFT_REQUEST_PAIR && request->partner)
        cancel_receive(request->partner);
    else if (request->op == WEFT_REQUEST_BSEND)
        weft_bsend_cancel(request);
}
