// SPDX-License-Identifier: BSD-3-Clause
/*
 * Persistent requests (MPI 5.0 section 3.9): arguments are checked and resolved once, MPI_Start
 * sends or receives with them as often as the user likes.
 *
 * Invariant: what an _init call hands out is inactive; MPI_Start makes it active, completion makes
 * it inactive again (core/pt2pt/request.h), and MPI_Request_free ends it.
 */
#include "core/mpi/api.h"
#include "core/mpi/p2p_general.h"
#include "core/mpi/request_call.h"
#include "core/coll/coll.h"
#include "core/comm/raise.h"
#include "core/pt2pt/p2p.h"
#include "core/pt2pt/partitioned.h"
#include "core/process/weft.h"

#include <stdbool.h>
#include <stdio.h>

/* Makes a new request inactive. */
static int finish(MPI_Request handle)
{
    weft_request_of(handle)->flags = WEFT_REQUEST_PERSISTENT | WEFT_REQUEST_INACTIVE;
    return MPI_SUCCESS;
}

int weft_call_send_init(const struct weft_call *call, enum weft_send_mode mode, MPI_Request *handle)
{
    struct weft_resolved to;
    int code;
    if (!weft_call_resolve_start(call, false, handle, &to, &code))
        return code ? code : finish(*handle);
    bool buffered = mode == WEFT_SEND_BUFFERED;
    struct weft_request *request =
        weft_request_get(buffered ? &weft.vcis[0] : call->comm->vci,
                         buffered ? WEFT_REQUEST_BSEND : WEFT_REQUEST_SEND, 0);
    if (!request)
        return MPI_ERR_NO_MEM;
    request->mode = (uint8_t)mode;
    request->tag = call->tag;
    request->bytes = to.bytes;
    request->channel = &call->comm->p2p;
    request->peer = NULL;
    request->type = to.type;
    request->buffer = (void *)call->buffer;
    request->match.source = call->peer;
    request->whole = NULL;
    *handle = (MPI_Request)request;
    return finish(*handle);
}

int weft_call_recv_init(const struct weft_call *call, MPI_Request *handle)
{
    struct weft_resolved from;
    int code;
    if (!weft_call_resolve_start(call, true, handle, &from, &code))
        return code ? code : finish(*handle);
    struct weft_request *request = weft_request_get(call->comm->vci, WEFT_REQUEST_RECV, 0);
    if (!request)
        return MPI_ERR_NO_MEM;
    weft_p2p_describe(request, &call->comm->p2p, (void *)call->buffer, from.bytes, from.type, NULL,
                      call->peer, call->tag);
    *handle = (MPI_Request)request;
    return finish(*handle);
}

/* Whether a handle names an inactive request of the user's; if not, the error is raised. index is
 * its place in an array, or -1. */
static int check(MPI_Request handle, int index, const char *function)
{
    char which[32] = "";
    if (index >= 0)
        snprintf(which, sizeof which, "entry %d of the array, ", index);
    const struct weft_request *request = weft_handle_resolve(handle, WEFT_KIND_REQUEST);
    if (!request)
        return weft_error(NULL, MPI_ERR_REQUEST, function, "%s%p is no request; was it freed?",
                          which, (void *)handle);
    if (request == &weft_request_null)
        return weft_error(NULL, MPI_ERR_REQUEST, function, "%sMPI_REQUEST_NULL cannot be started",
                          which);
    struct weft_comm *comm = request->channel ? request->channel->comm : NULL;
    if (!(request->flags & WEFT_REQUEST_PERSISTENT))
        return weft_error(comm, MPI_ERR_REQUEST, function,
                          "%s%p is not a persistent request; MPI_Send_init and its like make one",
                          which, (void *)handle);
    if (!(request->flags & WEFT_REQUEST_INACTIVE))
        return weft_error(comm, MPI_ERR_REQUEST, function,
                          "%s%p is active; wait for it before it is started again", which,
                          (void *)handle);
    return MPI_SUCCESS;
}

static int start(MPI_Request handle, const char *function)
{
    struct weft_request *request = weft_request_of(handle);
    if (request->op == WEFT_REQUEST_COLL) {
        weft_coll_restart(request);
        return MPI_SUCCESS;
    }
    if (weft_request_is_partitioned(request)) {
        weft_partitioned_start(request);
        return MPI_SUCCESS;
    }
    int code = weft_p2p_restart(request);
    return weft_likely(code == MPI_SUCCESS)
               ? code
               : weft_error_raise(request->channel->comm, code, function);
}

WEFT_EXPORT(Start);
int PMPI_Start(MPI_Request *handle)
{
    struct weft_request_call call;
    int code = weft_request_call_enter(&call, "MPI_Start", 1, handle);
    if (code)
        return code;
    if (!handle) {
        code = weft_error(NULL, MPI_ERR_REQUEST, "MPI_Start", "the pointer to the request is null");
    } else {
        code = check(*handle, -1, "MPI_Start");
        if (code == MPI_SUCCESS)
            code = start(*handle, "MPI_Start");
    }
    weft_request_call_leave(&call);
    return code;
}

/* Nothing is started unless everything can be. */
static int check_all(int count, const MPI_Request *handles)
{
    if (count < 0)
        return weft_error(NULL, MPI_ERR_COUNT, "MPI_Startall", "the count %d is negative", count);
    if (count && !handles)
        return weft_error(NULL, MPI_ERR_REQUEST, "MPI_Startall", "the array of requests is null");
    int code = MPI_SUCCESS;
    for (int i = 0; i < count && code == MPI_SUCCESS; i++)
        code = check(handles[i], i, "MPI_Startall");
    return code;
}

WEFT_EXPORT(Startall);
int PMPI_Startall(int count, MPI_Request *handles)
{
    struct weft_request_call call = {.function = "MPI_Startall"};
    if (weft_unlikely(weft_entry_flags))
        weft_request_call_choose(&call, count, handles);
    call.vcis = 0; /* nothing waits here, so requests of several VCIs take all */
    int code = weft_enter_scope(call.function, call.vci);
    if (code)
        return code;
    code = check_all(count, handles);
    for (int i = 0; i < count && code == MPI_SUCCESS; i++)
        code = start(handles[i], call.function);
    weft_request_call_leave(&call);
    return code;
}
