// SPDX-License-Identifier: BSD-3-Clause
/*
 * Operations of the user (MPI 5.0 section 6.9.5), MPI_Reduce_local and generalized requests
 * (section 13.2): what their entry points check and do beside abi/entry_points.txt.
 *
 * Invariant: an operation freed while collectives use it lives until they have ended
 * (core/coll/op.h).
 */
#include "core/mpi/entry.h"
#include "core/pt2pt/generalized.h"
int weft_mpi_op_free(struct weft_op *op)
{
    if (op->id != WEFT_OP_USER)
        return weft_error_set(MPI_ERR_OP, "the predefined operation with handle %p cannot be freed",
                              (void *)op->handle);
    weft_handle_retire(&op->object);
    weft_op_release(op);
    return MPI_SUCCESS;
}

int weft_mpi_check_local_buffers(const void *inbuf, void *inoutbuf, MPI_Count count,
                                 struct weft_datatype *type)
{
    if (inbuf == MPI_IN_PLACE || inoutbuf == MPI_IN_PLACE)
        return weft_error_set(MPI_ERR_BUFFER, "MPI_IN_PLACE is not allowed here");
    if (!type->size || type->true_lb != 0)
        return MPI_SUCCESS;
    uintptr_t ahead = (uintptr_t)inoutbuf - (uintptr_t)inbuf; /* modulo 2^64 */
    size_t bytes = type->flags & WEFT_TYPE_CONTIGUOUS ? type->size * (size_t)count : 1;
    if (count && (ahead < bytes || -ahead < bytes))
        return weft_error_set(MPI_ERR_BUFFER,
                              "the buffers overlap: the second begins %td bytes after the first",
                              (ptrdiff_t)ahead);
    if (count && (!inbuf || !inoutbuf))
        return weft_error_set(MPI_ERR_BUFFER, "a buffer is a null pointer, but the count is %lld",
                              (long long)count);
    return MPI_SUCCESS;
}

int weft_mpi_grequest_complete(MPI_Request handle)
{
    struct weft_request *request = weft_handle_resolve(handle, WEFT_KIND_REQUEST);
    if (!request || !weft_request_row(request)->query)
        return weft_error_set(MPI_ERR_REQUEST,
                              "%p is not a request of MPI_Grequest_start, or was waited for before",
                              (void *)handle);
    if (!request->pending)
        return weft_error_set(MPI_ERR_REQUEST, "%p has been completed before", (void *)handle);
    return weft_generalized_complete(request);
}
