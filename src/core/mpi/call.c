// SPDX-License-Identifier: BSD-3-Clause
/*
 * Checking the arguments of point-to-point calls: see call.h.
 *
 * Invariant: arguments are checked in their order, so that the first wrong one is reported.
 */
#include "core/mpi/call.h"

#include "core/mpi/arg.h"
#include "core/datatype/device.h"
#include "core/message/process.h"

int weft_call_check(const struct weft_call *call, bool receive, struct weft_resolved *out)
{
    struct weft_datatype *type;
    bool to_null = call->peer == MPI_PROC_NULL;
    bool nothing = to_null && call->count == 0 && call->datatype == MPI_DATATYPE_NULL;
    bool any_source = receive && call->peer == MPI_ANY_SOURCE;
    int code = weft_arg_count(call->count);
    if (code == MPI_SUCCESS)
        code = weft_arg_committed(nothing ? MPI_BYTE : call->datatype, &type);
    if (code == MPI_SUCCESS && !to_null && !any_source)
        code = weft_arg_rank(call->peer, call->comm);
    if (code == MPI_SUCCESS && (!receive || call->tag != MPI_ANY_TAG))
        code = weft_arg_tag(call->tag);
    if (code == MPI_SUCCESS)
        code = weft_arg_bytes(call->count, type, &out->bytes);
    if (code != MPI_SUCCESS)
        return code;
    if (!to_null && !call->buffer && out->bytes && type->true_lb == 0)
        return weft_error_set(MPI_ERR_BUFFER,
                              "the buffer is a null pointer, but %lld elements are to be %s",
                              (long long)call->count, receive ? "received" : "sent");
    out->type = out->bytes && !to_null ? weft_datatype_at(type, call->buffer) : type;
    return MPI_SUCCESS;
}

bool weft_call_resolve(const struct weft_call *call, bool receive, struct weft_resolved *out,
                       int *code)
{
    *code = weft_call_check(call, receive, out);
    return *code == MPI_SUCCESS && call->peer != MPI_PROC_NULL;
}

bool weft_call_resolve_start(const struct weft_call *call, bool receive, MPI_Request *request,
                             struct weft_resolved *out, int *code)
{
    bool good = weft_call_resolve(call, receive, out, code);
    if (*code == MPI_SUCCESS)
        *code = weft_arg_result(request != NULL, "request");
    if (!good && *code == MPI_SUCCESS)
        *request = (MPI_Request)weft_request_to_nowhere(call->comm->vci);
    return good && *code == MPI_SUCCESS;
}
