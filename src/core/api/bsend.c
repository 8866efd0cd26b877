// SPDX-License-Identifier: BSD-3-Clause
/*
 * Buffered sends (MPI 5.0 section 3.4), and the buffers they need (section 3.6): attaching,
 * detaching and flushing those of the process and of communicators.
 *
 * Invariant: a null comm below means the process's own buffer; its errors go to the handler of
 * MPI_COMM_SELF.
 */
#include "core/api/api.h"
#include "core/api/call.h"
#include "core/bsend.h"
#include "core/error.h"
#include "core/weft.h"

#include <limits.h>

static int bsend(const struct weft_call *call)
{
    struct weft_resolved to;
    int code;
    if (!weft_call_resolve(call, false, &to, &code))
        return code;
    code = weft_bsend_start(&to.comm->p2p, call->buffer, to.bytes, to.type, call->peer, call->tag);
    return weft_likely(code == MPI_SUCCESS) ? code
                                            : weft_error_raise(to.comm, code, call->function);
}

/* A buffered send is complete at once, and its request with it: there is nothing left to be
 * cancelled. */
static int ibsend(const struct weft_call *call, MPI_Request *request)
{
    if (!request)
        return weft_call_explain(call, false, true);
    struct weft_request *done = weft_request_to_nowhere();
    int code = bsend(call);
    if (code != MPI_SUCCESS) {
        weft_request_put(done);
        return code;
    }
    if (call->peer != MPI_PROC_NULL)
        done->source = MPI_ANY_SOURCE; /* the empty status of a send */
    *request = (MPI_Request)done;
    return MPI_SUCCESS;
}

WEFT_EXPORT(Bsend_c);
int PMPI_Bsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm)
{
    struct weft_call call = {"MPI_Bsend", buf, count, datatype, dest, tag, comm};
    int code = weft_enter(call.function);
    if (code)
        return code;
    code = bsend(&call);
    weft_leave();
    return code;
}

WEFT_EXPORT(Ibsend_c);
int PMPI_Ibsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    struct weft_call call = {"MPI_Ibsend", buf, count, datatype, dest, tag, comm};
    int code = weft_enter(call.function);
    if (code)
        return code;
    code = ibsend(&call, request);
    weft_leave();
    return code;
}

/* The communicator of a handle; NULL after raising the error, which is then *code. */
static struct weft_comm *comm_of(MPI_Comm handle, const char *function, int *code)
{
    struct weft_comm *comm = weft_comm_resolve(handle);
    if (!comm)
        *code = weft_error(NULL, MPI_ERR_COMM, function, "%p is no communicator; was it freed?",
                           (void *)handle);
    return comm;
}

static int raised(struct weft_comm *comm, int code, const char *function)
{
    return weft_likely(code == MPI_SUCCESS) ? code : weft_error_raise(comm, code, function);
}

static int attach(struct weft_comm *comm, void *buffer, MPI_Count size, const char *function)
{
    if (buffer != MPI_BUFFER_AUTOMATIC && size < 0)
        return weft_error(comm, MPI_ERR_ARG, function, "the buffer's size %lld is negative",
                          (long long)size);
    if (!buffer && size > 0)
        return weft_error(comm, MPI_ERR_BUFFER, function,
                          "the buffer is a null pointer, but its size is %lld bytes",
                          (long long)size);
    return raised(comm, weft_bsend_attach(comm, buffer, (size_t)size), function);
}

/* What a detach gives to the user: the buffer's address wherever the user wants it. */
static int detach(struct weft_comm *comm, void *buffer_addr, MPI_Count *size, const char *function)
{
    void *base = NULL;
    size_t bytes = 0;
    if (!buffer_addr || !size)
        return weft_error(comm, MPI_ERR_ARG, function, "the pointer to the buffer's %s is null",
                          buffer_addr ? "size" : "address");
    int code = weft_bsend_detach(comm, &base, &bytes);
    *(void **)buffer_addr = base;
    *size = (MPI_Count)bytes;
    return raised(comm, code, function);
}

/* The same for a size that may be too large for an int (MPI 5.0, 3.6: then it is MPI_UNDEFINED). */
static int detach_int(struct weft_comm *comm, void *buffer_addr, int *size, const char *function)
{
    MPI_Count bytes = 0;
    int code = detach(comm, buffer_addr, size ? &bytes : NULL, function);
    if (size)
        *size = bytes > INT_MAX ? MPI_UNDEFINED : (int)bytes;
    return code;
}

static int iflush(struct weft_comm *comm, MPI_Request *request, const char *function)
{
    struct weft_request *started;
    if (!request)
        return weft_error(comm, MPI_ERR_ARG, function, "the pointer to the request is null");
    int code = weft_bsend_iflush(comm, &started);
    if (code == MPI_SUCCESS)
        *request = (MPI_Request)started;
    return raised(comm, code, function);
}

WEFT_EXPORT(Buffer_attach_c);
int PMPI_Buffer_attach_c(void *buffer, MPI_Count size)
{
    int code = weft_enter("MPI_Buffer_attach");
    if (code)
        return code;
    code = attach(NULL, buffer, size, "MPI_Buffer_attach");
    weft_leave();
    return code;
}

WEFT_EXPORT(Buffer_detach);
int PMPI_Buffer_detach(void *buffer_addr, int *size)
{
    int code = weft_enter("MPI_Buffer_detach");
    if (code)
        return code;
    code = detach_int(NULL, buffer_addr, size, "MPI_Buffer_detach");
    weft_leave();
    return code;
}

WEFT_EXPORT(Buffer_detach_c);
int PMPI_Buffer_detach_c(void *buffer_addr, MPI_Count *size)
{
    int code = weft_enter("MPI_Buffer_detach");
    if (code)
        return code;
    code = detach(NULL, buffer_addr, size, "MPI_Buffer_detach");
    weft_leave();
    return code;
}

WEFT_EXPORT(Buffer_flush);
int PMPI_Buffer_flush(void)
{
    int code = weft_enter("MPI_Buffer_flush");
    if (code)
        return code;
    code = raised(NULL, weft_bsend_flush(NULL), "MPI_Buffer_flush");
    weft_leave();
    return code;
}

WEFT_EXPORT(Buffer_iflush);
int PMPI_Buffer_iflush(MPI_Request *request)
{
    int code = weft_enter("MPI_Buffer_iflush");
    if (code)
        return code;
    code = iflush(NULL, request, "MPI_Buffer_iflush");
    weft_leave();
    return code;
}

WEFT_EXPORT(Comm_attach_buffer_c);
int PMPI_Comm_attach_buffer_c(MPI_Comm handle, void *buffer, MPI_Count size)
{
    const char *function = "MPI_Comm_attach_buffer";
    int code = weft_enter(function);
    if (code)
        return code;
    struct weft_comm *comm = comm_of(handle, function, &code);
    if (comm)
        code = attach(comm, buffer, size, function);
    weft_leave();
    return code;
}

WEFT_EXPORT(Comm_detach_buffer);
int PMPI_Comm_detach_buffer(MPI_Comm handle, void *buffer_addr, int *size)
{
    const char *function = "MPI_Comm_detach_buffer";
    int code = weft_enter(function);
    if (code)
        return code;
    struct weft_comm *comm = comm_of(handle, function, &code);
    if (comm)
        code = detach_int(comm, buffer_addr, size, function);
    weft_leave();
    return code;
}

WEFT_EXPORT(Comm_detach_buffer_c);
int PMPI_Comm_detach_buffer_c(MPI_Comm handle, void *buffer_addr, MPI_Count *size)
{
    const char *function = "MPI_Comm_detach_buffer";
    int code = weft_enter(function);
    if (code)
        return code;
    struct weft_comm *comm = comm_of(handle, function, &code);
    if (comm)
        code = detach(comm, buffer_addr, size, function);
    weft_leave();
    return code;
}

WEFT_EXPORT(Comm_flush_buffer);
int PMPI_Comm_flush_buffer(MPI_Comm handle)
{
    const char *function = "MPI_Comm_flush_buffer";
    int code = weft_enter(function);
    if (code)
        return code;
    struct weft_comm *comm = comm_of(handle, function, &code);
    if (comm)
        code = raised(comm, weft_bsend_flush(comm), function);
    weft_leave();
    return code;
}

WEFT_EXPORT(Comm_iflush_buffer);
int PMPI_Comm_iflush_buffer(MPI_Comm handle, MPI_Request *request)
{
    const char *function = "MPI_Comm_iflush_buffer";
    int code = weft_enter(function);
    if (code)
        return code;
    struct weft_comm *comm = comm_of(handle, function, &code);
    if (comm)
        code = iflush(comm, request, function);
    weft_leave();
    return code;
}
