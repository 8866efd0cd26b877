// SPDX-License-Identifier: BSD-3-Clause
/*
 * Cancelling operations: see cancel.h.
 *
 * Invariant: either an operation is cancelled and no message was taken or delivered for it, or it
 * completes as usual. A receive is cancelled where it is matched (in the provider or the software
 * matcher), a send where its message waits for a match.
 */
#include "core/pt2pt/cancel.h"
#include "core/message/lane.h"

int weft_cancel_receive(struct weft_request *request)
{
    bool taken_back = false;
    weft_assert(weft_request_row(request)->receives);
    if (!request->pending)
        return MPI_SUCCESS;
    if (request->flags & WEFT_REQUEST_IN_LANE)
        taken_back = weft_lanes[request->owner]->withdraw(request);
    else if (request->match.queued)
        taken_back = weft_sw_withdraw(request);
    if (!taken_back)
        return MPI_SUCCESS; /* its message has matched */
    weft_assert(!(request->flags & WEFT_REQUEST_IN_LANE) && !request->match.queued);
    request->channel->took_back = true;
    request->flags |= WEFT_REQUEST_CANCELLED;
    request->source = MPI_ANY_SOURCE;
    request->tag = MPI_ANY_TAG;
    request->bytes = 0;
    weft_request_event(request);
    return MPI_SUCCESS;
}

int weft_cancel_send(struct weft_request *request)
{
    if (!request->error)
        weft_lane_cancel(request);
    return MPI_SUCCESS;
}

int weft_cancel_pair(struct weft_request *request)
{
    return request->partner ? weft_cancel_receive(request->partner) : MPI_SUCCESS;
}

int weft_cancel(struct weft_request *request)
{
    int (*cancel)(struct weft_request *) = weft_request_row(request)->cancel;
    if (!cancel || request->flags & (WEFT_REQUEST_CANCELLED | WEFT_REQUEST_CANCELLING))
        return MPI_SUCCESS;
    return cancel(request);
}
