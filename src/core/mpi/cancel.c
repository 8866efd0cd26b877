// SPDX-License-Identifier: BSD-3-Clause
/*
 * Cancelling and freeing requests (MPI 5.0 sections 3.7.3 and 3.8.4).
 *
 * Invariant: after an error the request and its handle are as before.
 */
#include "core/mpi/api.h"
#include "core/mpi/request_call.h"
#include "core/comm/raise.h"
#include "core/pt2pt/cancel.h"
#include "core/pt2pt/generalized.h"
#include "core/pt2pt/partitioned.h"
#include "core/process/weft.h"

static int cancel(struct weft_request *request)
{
    if (request->flags & WEFT_REQUEST_INACTIVE)
        return weft_error(weft_request_comm(request), MPI_ERR_REQUEST, "MPI_Cancel",
                          "%p is inactive; there is nothing to cancel before MPI_Start",
                          (void *)request);
    if (request->op == WEFT_REQUEST_COLL || request->op == WEFT_REQUEST_RMA)
        return weft_error(weft_request_comm(request), MPI_ERR_REQUEST, "MPI_Cancel",
                          "%p is a collective or an operation on a window, which cannot be "
                          "cancelled; wait for it",
                          (void *)request);
    if (weft_request_is_partitioned(request))
        return weft_error(weft_request_comm(request), MPI_ERR_REQUEST, "MPI_Cancel",
                          "partitioned communication cannot be cancelled; mark the partitions that "
                          "are missing, and wait for it");
    if (request->op != WEFT_REQUEST_GENERALIZED) {
        weft_cancel(request);
        return MPI_SUCCESS;
    }
    int code = weft_generalized_cancel(request);
    return code == MPI_SUCCESS ? code : weft_error_raise(NULL, code, "MPI_Cancel");
}

/* Frees a valid request; the handle is kept if that is not allowed. */
static int give_up(MPI_Request *handle)
{
    struct weft_request *request = weft_request_of(*handle);
    bool active = !(request->flags & WEFT_REQUEST_INACTIVE);
    if (active && (request->op == WEFT_REQUEST_COLL || request->op == WEFT_REQUEST_RMA))
        return weft_error(weft_request_comm(request), MPI_ERR_REQUEST, "MPI_Request_free",
                          "%p is a collective or an operation on a window that was started; wait "
                          "for it",
                          (void *)request);
    if (active && weft_request_is_partitioned(request))
        return weft_error(weft_request_comm(request), MPI_ERR_REQUEST, "MPI_Request_free",
                          "partitioned communication cannot be freed while it is active; wait for "
                          "it first");
    int code = weft_request_abandon(request);
    *handle = MPI_REQUEST_NULL;
    return weft_likely(code == MPI_SUCCESS) ? code
                                            : weft_error_raise(NULL, code, "MPI_Request_free");
}

static int call_on(const char *function, MPI_Request *handle, bool frees)
{
    struct weft_request_call call;
    int code = weft_request_call_enter(&call, function, 1, handle);
    if (code)
        return code;
    if (!handle || !weft_request_is_valid(*handle) || *handle == MPI_REQUEST_NULL)
        code = weft_request_call_refuse_one(function, handle);
    else
        code = frees ? give_up(handle) : cancel(weft_request_of(*handle));
    weft_request_call_leave(&call);
    return code;
}

WEFT_EXPORT(Cancel);
int PMPI_Cancel(MPI_Request *handle)
{
    return call_on("MPI_Cancel", handle, false);
}

WEFT_EXPORT(Request_free);
int PMPI_Request_free(MPI_Request *handle)
{
    return call_on("MPI_Request_free", handle, true);
}
