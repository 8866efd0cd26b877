// SPDX-License-Identifier: BSD-3-Clause
/*
 * Persistent requests (MPI 5.0 section 3.9): arguments are checked and resolved once, MPI_Start
 * sends or receives with them as often as the user likes.
 *
 * Invariant: what an _init call hands out is inactive; MPI_Start makes it active, completion makes
 * it inactive again (core/message/request.h), and MPI_Request_free ends it.
 */
#include "core/mpi/entry.h"
#include "core/mpi/p2p_call.h"
#include "core/pt2pt/p2p.h"
#include "core/message/process.h"

#include <stdbool.h>
#include <stdio.h>

/* Makes a new request inactive. */
static int make_inactive(MPI_Request handle)
{
    weft_assert(!weft_request_of(handle)->pending);
    weft_request_of(handle)->flags = WEFT_REQUEST_PERSISTENT | WEFT_REQUEST_INACTIVE;
    return MPI_SUCCESS;
}

int weft_p2p_call_send_init(const struct weft_p2p_call *call, enum weft_send_mode mode,
                            MPI_Request *handle)
{
    struct weft_resolved to;
    int code;
    if (!weft_p2p_call_resolve_start(call, false, handle, &to, &code))
        return code ? code : make_inactive(*handle);
    bool buffered = mode == WEFT_SEND_BUFFERED;
    struct weft_channel *channel = weft_p2p_call_channel(call);
    struct weft_request *request =
        weft_request_get(buffered ? &weft.vcis[0] : channel->vci,
                         buffered ? WEFT_REQUEST_BSEND : WEFT_REQUEST_SEND, 0);
    if (!request)
        return MPI_ERR_NO_MEM;
    request->mode = (uint8_t)mode;
    request->tag = call->tag;
    request->bytes = to.bytes;
    request->channel = channel;
    request->peer = NULL;
    request->type = to.type;
    request->buffer = (void *)call->buffer;
    request->rank = call->peer;
    request->partner = NULL;
    *handle = (MPI_Request)request;
    return make_inactive(*handle);
}

int weft_p2p_call_recv_init(const struct weft_p2p_call *call, MPI_Request *handle)
{
    struct weft_resolved from;
    int code;
    if (!weft_p2p_call_resolve_start(call, true, handle, &from, &code))
        return code ? code : make_inactive(*handle);
    struct weft_channel *channel = weft_p2p_call_channel(call);
    struct weft_request *request = weft_request_get(channel->vci, WEFT_REQUEST_RECV, 0);
    if (!request)
        return MPI_ERR_NO_MEM;
    weft_p2p_describe(request, channel, (void *)call->buffer, from.bytes, from.type, NULL,
                      call->peer, call->tag);
    *handle = (MPI_Request)request;
    return make_inactive(*handle);
}

/* Checks that a handle names an inactive request of the user's. index: its index in an array, or
 * -1. *comm: whose error it is. */
static int check_inactive(MPI_Request handle, int index, struct weft_comm **comm)
{
    char which[32] = "";
    *comm = NULL;
    if (index >= 0)
        snprintf(which, sizeof which, "entry %d of the array, ", index);
    const struct weft_request *request = weft_handle_resolve(handle, WEFT_KIND_REQUEST);
    if (!request)
        return weft_arg_bad_handle(WEFT_KIND_REQUEST, handle, index);
    if (request == &weft_request_null)
        return weft_error_set(MPI_ERR_REQUEST, "%sMPI_REQUEST_NULL cannot be started", which);
    *comm = weft_request_comm(request);
    if (!(request->flags & WEFT_REQUEST_PERSISTENT))
        return weft_error_set(
            MPI_ERR_REQUEST,
            "%s%p is not a persistent request; MPI_Send_init and its like make one", which,
            (void *)handle);
    if (!(request->flags & WEFT_REQUEST_INACTIVE))
        return weft_error_set(MPI_ERR_REQUEST,
                              "%s%p is active; wait for it before it is started again", which,
                              (void *)handle);
    return MPI_SUCCESS;
}

static int start_request(struct weft_request *request, struct weft_comm **comm)
{
    weft_assert(request->flags & WEFT_REQUEST_INACTIVE && weft_request_row(request)->start);
    *comm = weft_request_comm(request);
    if (*comm && (*comm)->revoked)
        return weft_comm_report_revoked(*comm);
    return weft_request_row(request)->start(request);
}

int weft_mpi_start(MPI_Request *handle, struct weft_comm **comm)
{
    int code = handle ? check_inactive(*handle, -1, comm) : weft_request_call_bad(handle);
    return code ? code : start_request(weft_request_of(*handle), comm);
}

/* Nothing is started unless everything can be, but for a request that has several entries. */
int weft_mpi_startall(int count, MPI_Request handles[], struct weft_comm **comm)
{
    int code = MPI_SUCCESS;
    if (count < 0)
        return weft_error_set(MPI_ERR_COUNT, "the count %d is negative", count);
    if (count && !handles)
        return weft_error_set(MPI_ERR_REQUEST, "the array of requests is null");
    for (int i = 0; i < count && code == MPI_SUCCESS; i++)
        code = check_inactive(handles[i], i, comm);
    for (int i = 0; i < count && code == MPI_SUCCESS; i++) {
        code = check_inactive(handles[i], i, comm); /* an earlier entry may name the same request */
        if (code == MPI_SUCCESS)
            code = start_request(weft_request_of(handles[i]), comm);
    }
    return code;
}
