// SPDX-License-Identifier: BSD-3-Clause
/*
 * Cancelling and freeing requests (MPI 5.0 sections 3.7.3 and 3.8.4).
 *
 * Invariant: after an error the request and its handle are as before.
 */
#include "core/mpi/entry.h"
#include "core/pt2pt/cancel.h"

/* The request of a handle; NULL: it is none, or MPI_REQUEST_NULL. */
static struct weft_request *resolve(const MPI_Request *handle, struct weft_comm **comm)
{
    if (!handle || !weft_request_is_valid(*handle) || *handle == MPI_REQUEST_NULL)
        return NULL;
    struct weft_request *request = weft_request_of(*handle);
    *comm = weft_request_comm(request);
    return request;
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
    return weft_cancel(request);
}

int weft_mpi_request_free(MPI_Request *handle, struct weft_comm **comm)
{
    struct weft_request *request = resolve(handle, comm);
    if (!request)
        return weft_request_call_bad(handle);
    const struct weft_request_ops *row = weft_request_row(request);
    bool active = !(request->flags & WEFT_REQUEST_INACTIVE);
    int code = active && row->may_free ? row->may_free(request) : MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        return code;
    weft_assert(request != &weft_request_null);
    *handle = MPI_REQUEST_NULL;
    return weft_request_abandon(request);
}
