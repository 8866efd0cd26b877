// SPDX-License-Identifier: BSD-3-Clause
/*
 * Checking the arguments of point-to-point calls: see call.h.
 *
 * Invariant: arguments are checked in their order, so that the first wrong one is reported.
 */
#include "core/mpi/call.h"

#include "core/comm/raise.h"
#include "core/mpi/arg.h"
#include "core/process/weft.h"

const struct weft_datatype *weft_call_type(const struct weft_call *call)
{
    bool nothing = call->peer == MPI_PROC_NULL && call->count == 0;
    if (nothing && call->datatype == MPI_DATATYPE_NULL)
        return weft_handle_object(MPI_BYTE);
    return weft_handle_resolve(call->datatype, WEFT_KIND_DATATYPE);
}

int weft_call_explain(const struct weft_call *call, bool receive, bool no_result)
{
    const char *f = call->function;
    struct weft_comm *comm = weft_comm_resolve(call->comm);
    if (!comm)
        return weft_error(NULL, MPI_ERR_COMM, f, "%p is no communicator; was it freed?",
                          (void *)call->comm);
    if (call->count < 0)
        return weft_error(comm, MPI_ERR_COUNT, f, "the count %lld is negative",
                          (long long)call->count);
    const struct weft_datatype *type = weft_call_type(call);
    if (!type)
        return weft_error(comm, MPI_ERR_TYPE, f, "%p is no datatype; was it freed?",
                          (void *)call->datatype);
    if (!(type->flags & WEFT_TYPE_COMMITTED))
        return weft_error(comm, MPI_ERR_TYPE, f,
                          "the datatype is not committed; call MPI_Type_commit first");
    bool any_source = receive && call->peer == MPI_ANY_SOURCE;
    if (call->peer != MPI_PROC_NULL && !any_source && (call->peer < 0 || call->peer >= comm->size))
        return weft_error(comm, MPI_ERR_RANK, f,
                          "rank %d is not in the communicator, which has ranks 0 to %d", call->peer,
                          comm->size - 1);
    bool any_tag = receive && call->tag == MPI_ANY_TAG;
    if (!any_tag && (call->tag < 0 || call->tag > weft.tag_ub))
        return weft_error(comm, MPI_ERR_TAG, f, "the tag %d is not between 0 and MPI_TAG_UB = %d",
                          call->tag, weft.tag_ub);
    size_t bytes;
    if (weft_arg_bytes(call->count, type, &bytes) != MPI_SUCCESS)
        return weft_error_raise(comm, MPI_ERR_COUNT, f);
    if (call->peer != MPI_PROC_NULL && !call->buffer && bytes && type->true_lb == 0)
        return weft_error(comm, MPI_ERR_BUFFER, f,
                          "the buffer is a null pointer, but %lld elements are to be %s",
                          (long long)call->count, receive ? "received" : "sent");
    if (no_result)
        return weft_error(comm, MPI_ERR_ARG, f, "the pointer to the request is null");
    return MPI_SUCCESS;
}

bool weft_call_resolve(const struct weft_call *call, bool receive, struct weft_resolved *out,
                       int *code)
{
    *code = weft_call_explain(call, receive, false);
    if (*code != MPI_SUCCESS || call->peer == MPI_PROC_NULL)
        return false;
    out->comm = weft_comm_resolve(call->comm);
    out->type = weft_handle_resolve(call->datatype, WEFT_KIND_DATATYPE);
    out->bytes = (size_t)call->count * out->type->size;
    return true;
}

bool weft_call_resolve_start(const struct weft_call *call, bool receive, MPI_Request *request,
                             struct weft_resolved *out, int *code)
{
    if (!request) {
        *code = weft_call_explain(call, receive, true);
        return false;
    }
    if (weft_call_resolve(call, receive, out, code))
        return true;
    if (*code == MPI_SUCCESS)
        *request = (MPI_Request)weft_request_to_nowhere(weft_call_vci(call->comm));
    return false;
}
