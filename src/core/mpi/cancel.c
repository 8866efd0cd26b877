// SPDX-License-Identifier: BSD-3-Clause
/*
 * Cancelling and freeing requests (MPI 5.0 sections 3.7.3 and 3.8.4).
 *
 * Invariant: after an error the request and its handle are as before.
 */
#include "core/mpi/entry.h"
#include "core/pt2pt/cancel.h"
#include "core/pt2pt/generalized.h"
#include "core/pt2pt/partitioned.h"

/* The request of a handle; NULL: it is none, or MPI_REQUEST_NULL. */
static struct weft_request *resolve(const MPI_Request *handle, struct weft_comm **comm)
{
    if (!handle || !weft_request_is_valid(*handle) || *handle == MPI_REQUEST_NULL)
        return NULL;
    struct weft_request *request = weft_request_of(*handle);
    *comm = weft_request_comm(request);
    return request;
}

static bool is_collective(const struct weft_request *request)
{
    return request->op == WEFT_REQUEST_COLL || request->op == WEFT_REQUEST_FILE;
}

int weft_mpi_cancel(MPI_Request *handle, struct weft_comm **comm)
{
    struct weft_request *request = resolve(handle, comm);
    if (!request)
        return weft_request_call_bad(handle);
    if (request->flags & WEFT_REQUEST_INACTIVE)
        return weft_error_set(MPI_ERR_REQUEST,
                              "%p is inactive; there is nothing to cancel before MPI_Start",
                              (void *)request);
    if (is_collective(request) || request->op == WEFT_REQUEST_RMA)
        return weft_error_set(MPI_ERR_REQUEST,
                              "%p is a collective or an operation on a window, which cannot be "
                              "cancelled; wait for it",
                              (void *)request);
    if (weft_request_is_partitioned(request))
        return weft_error_set(MPI_ERR_REQUEST,
                              "partitioned communication cannot be cancelled; mark the partitions "
                              "that are missing, and wait for it");
    if (request->op == WEFT_REQUEST_GENERALIZED)
        return weft_generalized_cancel(request);
    weft_cancel(request);
    return MPI_SUCCESS;
}

int weft_mpi_request_free(MPI_Request *handle, struct weft_comm **comm)
{
    struct weft_request *request = resolve(handle, comm);
    if (!request)
        return weft_request_call_bad(handle);
    bool active = !(request->flags & WEFT_REQUEST_INACTIVE);
    if (active && (is_collective(request) || request->op == WEFT_REQUEST_RMA))
        return weft_error_set(MPI_ERR_REQUEST,
                              "%p is a collective or an operation on a window that was started; "
                              "wait for it",
                              (void *)request);
    if (active && weft_request_is_partitioned(request))
        return weft_error_set(MPI_ERR_REQUEST, "partitioned communication cannot be freed while it "
                                               "is active; wait for it first");
    if (request->op == WEFT_REQUEST_GENERALIZED) {
        int code = weft_generalized_check(request);
        if (code != MPI_SUCCESS)
            return code;
    }
    *handle = MPI_REQUEST_NULL;
    return weft_request_abandon(request);
}
