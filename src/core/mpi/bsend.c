// SPDX-License-Identifier: BSD-3-Clause
/*
 * Buffered sends (MPI 5.0 section 3.4), and the buffers they need (section 3.6): attaching and
 * detaching those of the process, of communicators and of sessions.
 */
#include "core/mpi/entry.h"
#include "core/mpi/p2p_call.h"

#include <limits.h>

int weft_p2p_call_bsend(const struct weft_p2p_call *call)
{
    struct weft_resolved to;
    int code;
    if (!weft_p2p_call_resolve(call, false, &to, &code))
        return code;
    return weft_bsend_send(weft_p2p_call_channel(call), call->buffer, to.bytes, to.type, call->peer,
                           call->tag);
}

int weft_p2p_call_ibsend(const struct weft_p2p_call *call, MPI_Request *request)
{
    struct weft_resolved to;
    struct weft_request *started;
    int code;
    if (!weft_p2p_call_resolve_start(call, false, request, &to, &code))
        return code;
    code = weft_bsend_isend(weft_p2p_call_channel(call), call->buffer, to.bytes, to.type,
                            call->peer, call->tag, &started);
    if (weft_likely(code == MPI_SUCCESS))
        *request = (MPI_Request)started;
    return code;
}

/* ---- Buffers */

int weft_mpi_buffer_attach(struct weft_bsend_owner owner, void *buffer, MPI_Count size)
{
    if (buffer != MPI_BUFFER_AUTOMATIC && size < 0)
        return weft_error_set(MPI_ERR_ARG, "the buffer's size %lld is negative", (long long)size);
    if (!buffer && size > 0)
        return weft_error_set(MPI_ERR_BUFFER,
                              "the buffer is a null pointer, but its size is %lld bytes",
                              (long long)size);
    return weft_bsend_attach(owner, buffer, (size_t)size);
}

/* A detach gives the user the buffer's address, wherever the user wants it. */
int weft_mpi_buffer_detach(struct weft_bsend_owner owner, void *buffer_addr, MPI_Count *size)
{
    void *base = NULL;
    size_t bytes = 0;
    if (!buffer_addr || !size)
        return weft_error_set(MPI_ERR_ARG, "the pointer to the buffer's %s is null",
                              buffer_addr ? "size" : "address");
    int code = weft_bsend_detach(owner, &base, &bytes);
    *(void **)buffer_addr = base;
    *size = (MPI_Count)bytes;
    return code;
}

/* The same for a size that may be too large for an int (MPI 5.0, 3.6: then it is MPI_UNDEFINED). */
int weft_mpi_buffer_detach_int(struct weft_bsend_owner owner, void *buffer_addr, int *size)
{
    MPI_Count bytes = 0;
    int code = weft_mpi_buffer_detach(owner, buffer_addr, size ? &bytes : NULL);
    weft_assert(bytes >= 0);
    if (size)
        *size = bytes > INT_MAX ? MPI_UNDEFINED : (int)bytes;
    return code;
}
