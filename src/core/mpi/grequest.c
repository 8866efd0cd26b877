// SPDX-License-Identifier: BSD-3-Clause
/*
 * Generalized requests (MPI 5.0 section 13.2): made, and completed by the user. Waiting for them is
 * in request.c, as for all requests.
 *
 * Invariant: an error that a function of the user returned is raised, as the error it is, on
 * MPI_COMM_SELF: such a request has no communicator of its own.
 */
#include "core/mpi/api.h"
#include "core/object/error.h"
#include "core/pt2pt/generalized.h"
#include "core/process/weft.h"

WEFT_EXPORT(Grequest_start);
int PMPI_Grequest_start(MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn,
                        MPI_Grequest_cancel_function *cancel_fn, void *extra_state,
                        MPI_Request *request)
{
    int code = weft_enter("MPI_Grequest_start");
    if (code)
        return code;
    const struct weft_generalized functions = {query_fn, free_fn, cancel_fn, extra_state};
    struct weft_request *made = NULL;
    if (!request)
        code = weft_error(NULL, MPI_ERR_ARG, "MPI_Grequest_start",
                          "the pointer to the request is null");
    else if (!(made = weft_generalized_new(&functions)))
        code = weft_error_raise(NULL, MPI_ERR_NO_MEM, "MPI_Grequest_start");
    else
        *request = (MPI_Request)made;
    weft_leave();
    return code;
}

WEFT_EXPORT(Grequest_complete);
int PMPI_Grequest_complete(MPI_Request handle)
{
    int code = weft_enter("MPI_Grequest_complete");
    if (code)
        return code;
    struct weft_request *request = weft_handle_resolve(handle, WEFT_KIND_REQUEST);
    if (!request || request->op != WEFT_REQUEST_GENERALIZED) {
        code =
            weft_error(NULL, MPI_ERR_REQUEST, "MPI_Grequest_complete",
                       "%p is no request of MPI_Grequest_start; was it completed and waited for?",
                       (void *)handle);
    } else if (!request->pending) {
        code = weft_error(NULL, MPI_ERR_REQUEST, "MPI_Grequest_complete",
                          "%p has been completed before", (void *)handle);
    } else {
        code = weft_generalized_complete(request);
        if (code != MPI_SUCCESS)
            code = weft_error_raise(NULL, code, "MPI_Grequest_complete");
    }
    weft_leave();
    return code;
}
