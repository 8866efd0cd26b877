// SPDX-License-Identifier: BSD-3-Clause
/*
 * Buffered sends (MPI 5.0 section 3.4), and the buffers they need (section 3.6): attaching,
 * detaching and flushing those of the process, of communicators and of sessions.
 *
 * Invariant: errors go to the handler of the buffer's owner, those of the process's buffer to that
 * of MPI_COMM_SELF.
 */
#include "core/mpi/api.h"
#include "core/mpi/call.h"
#include "core/mpi/arg.h"
#include "core/pt2pt/bsend.h"
#include "core/comm/raise.h"
#include "core/comm/session.h"
#include "core/process/weft.h"

#include <limits.h>

static int bsend(const struct weft_call *call)
{
    struct weft_resolved to;
    int code;
    if (!weft_call_resolve(call, false, &to, &code))
        return code;
    code = weft_bsend_send(&to.comm->p2p, call->buffer, to.bytes, to.type, call->peer, call->tag);
    return weft_likely(code == MPI_SUCCESS) ? code
                                            : weft_error_raise(to.comm, code, call->function);
}

static int ibsend(const struct weft_call *call, MPI_Request *request)
{
    struct weft_resolved to;
    struct weft_request *started;
    int code;
    if (!weft_call_resolve_start(call, false, request, &to, &code))
        return code;
    code = weft_bsend_isend(&to.comm->p2p, call->buffer, to.bytes, to.type, call->peer, call->tag,
                            &started);
    if (weft_unlikely(code != MPI_SUCCESS))
        return weft_error_raise(to.comm, code, call->function);
    *request = (MPI_Request)started;
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

/* ---- Buffers; errors go to the error handler of the owner */

static int raised(struct weft_bsend_owner owner, int code, const char *function)
{
    if (weft_likely(code == MPI_SUCCESS))
        return code;
    return owner.session ? weft_error_raise_in_session(owner.session, code, function)
                         : weft_error_raise(owner.comm, code, function);
}

static int attach(struct weft_bsend_owner owner, void *buffer, MPI_Count size)
{
    if (buffer != MPI_BUFFER_AUTOMATIC && size < 0)
        return weft_error_set(MPI_ERR_ARG, "the buffer's size %lld is negative", (long long)size);
    if (!buffer && size > 0)
        return weft_error_set(MPI_ERR_BUFFER,
                              "the buffer is a null pointer, but its size is %lld bytes",
                              (long long)size);
    return weft_bsend_attach(owner, buffer, (size_t)size);
}

/* What a detach gives to the user: the buffer's address wherever the user wants it. */
static int detach(struct weft_bsend_owner owner, void *buffer_addr, MPI_Count *size)
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
static int detach_int(struct weft_bsend_owner owner, void *buffer_addr, int *size)
{
    MPI_Count bytes = 0;
    int code = detach(owner, buffer_addr, size ? &bytes : NULL);
    if (size)
        *size = bytes > INT_MAX ? MPI_UNDEFINED : (int)bytes;
    return code;
}

static int iflush(struct weft_bsend_owner owner, MPI_Request *request)
{
    struct weft_request *started;
    if (!request)
        return weft_error_set(MPI_ERR_ARG, "the pointer to the request is null");
    int code = weft_bsend_iflush(owner, &started);
    if (code == MPI_SUCCESS)
        *request = (MPI_Request)started;
    return code;
}

/* Entering for a buffer of the process, of a communicator and of a session. False: *code is to be
 * returned. */

static bool of_process(const char *function, struct weft_bsend_owner *owner, int *code)
{
    *owner = (struct weft_bsend_owner){NULL, NULL};
    *code = weft_enter(function);
    return *code == MPI_SUCCESS;
}

static bool of_comm(const char *function, MPI_Comm handle, struct weft_bsend_owner *owner,
                    int *code)
{
    *owner = (struct weft_bsend_owner){.comm = weft_enter_comm(function, handle, code)};
    return owner->comm != NULL;
}

static bool of_session(const char *function, MPI_Session handle, struct weft_bsend_owner *owner,
                       int *code)
{
    *owner = (struct weft_bsend_owner){.session = weft_enter_session(function, handle, code)};
    return owner->session != NULL;
}

static int leave(struct weft_bsend_owner owner, int code, const char *function)
{
    code = raised(owner, code, function);
    if (owner.session)
        weft_leave_anytime();
    else
        weft_leave();
    return code;
}

WEFT_EXPORT(Buffer_attach_c);
int PMPI_Buffer_attach_c(void *buffer, MPI_Count size)
{
    const char *function = "MPI_Buffer_attach";
    struct weft_bsend_owner owner;
    int code;
    if (!of_process(function, &owner, &code))
        return code;
    return leave(owner, attach(owner, buffer, size), function);
}

WEFT_EXPORT(Buffer_detach);
int PMPI_Buffer_detach(void *buffer_addr, int *size)
{
    const char *function = "MPI_Buffer_detach";
    struct weft_bsend_owner owner;
    int code;
    if (!of_process(function, &owner, &code))
        return code;
    return leave(owner, detach_int(owner, buffer_addr, size), function);
}

WEFT_EXPORT(Buffer_detach_c);
int PMPI_Buffer_detach_c(void *buffer_addr, MPI_Count *size)
{
    const char *function = "MPI_Buffer_detach";
    struct weft_bsend_owner owner;
    int code;
    if (!of_process(function, &owner, &code))
        return code;
    return leave(owner, detach(owner, buffer_addr, size), function);
}

WEFT_EXPORT(Buffer_flush);
int PMPI_Buffer_flush(void)
{
    const char *function = "MPI_Buffer_flush";
    struct weft_bsend_owner owner;
    int code;
    if (!of_process(function, &owner, &code))
        return code;
    return leave(owner, weft_bsend_flush(owner), function);
}

WEFT_EXPORT(Buffer_iflush);
int PMPI_Buffer_iflush(MPI_Request *request)
{
    const char *function = "MPI_Buffer_iflush";
    struct weft_bsend_owner owner;
    int code;
    if (!of_process(function, &owner, &code))
        return code;
    return leave(owner, iflush(owner, request), function);
}

WEFT_EXPORT(Comm_attach_buffer_c);
int PMPI_Comm_attach_buffer_c(MPI_Comm comm, void *buffer, MPI_Count size)
{
    const char *function = "MPI_Comm_attach_buffer";
    struct weft_bsend_owner owner;
    int code;
    if (!of_comm(function, comm, &owner, &code))
        return code;
    return leave(owner, attach(owner, buffer, size), function);
}

WEFT_EXPORT(Comm_detach_buffer);
int PMPI_Comm_detach_buffer(MPI_Comm comm, void *buffer_addr, int *size)
{
    const char *function = "MPI_Comm_detach_buffer";
    struct weft_bsend_owner owner;
    int code;
    if (!of_comm(function, comm, &owner, &code))
        return code;
    return leave(owner, detach_int(owner, buffer_addr, size), function);
}

WEFT_EXPORT(Comm_detach_buffer_c);
int PMPI_Comm_detach_buffer_c(MPI_Comm comm, void *buffer_addr, MPI_Count *size)
{
    const char *function = "MPI_Comm_detach_buffer";
    struct weft_bsend_owner owner;
    int code;
    if (!of_comm(function, comm, &owner, &code))
        return code;
    return leave(owner, detach(owner, buffer_addr, size), function);
}

WEFT_EXPORT(Comm_flush_buffer);
int PMPI_Comm_flush_buffer(MPI_Comm comm)
{
    const char *function = "MPI_Comm_flush_buffer";
    struct weft_bsend_owner owner;
    int code;
    if (!of_comm(function, comm, &owner, &code))
        return code;
    return leave(owner, weft_bsend_flush(owner), function);
}

WEFT_EXPORT(Comm_iflush_buffer);
int PMPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request *request)
{
    const char *function = "MPI_Comm_iflush_buffer";
    struct weft_bsend_owner owner;
    int code;
    if (!of_comm(function, comm, &owner, &code))
        return code;
    return leave(owner, iflush(owner, request), function);
}

WEFT_EXPORT(Session_attach_buffer_c);
int PMPI_Session_attach_buffer_c(MPI_Session session, void *buffer, MPI_Count size)
{
    const char *function = "MPI_Session_attach_buffer";
    struct weft_bsend_owner owner;
    int code;
    if (!of_session(function, session, &owner, &code))
        return code;
    return leave(owner, attach(owner, buffer, size), function);
}

WEFT_EXPORT(Session_detach_buffer);
int PMPI_Session_detach_buffer(MPI_Session session, void *buffer_addr, int *size)
{
    const char *function = "MPI_Session_detach_buffer";
    struct weft_bsend_owner owner;
    int code;
    if (!of_session(function, session, &owner, &code))
        return code;
    return leave(owner, detach_int(owner, buffer_addr, size), function);
}

WEFT_EXPORT(Session_detach_buffer_c);
int PMPI_Session_detach_buffer_c(MPI_Session session, void *buffer_addr, MPI_Count *size)
{
    const char *function = "MPI_Session_detach_buffer";
    struct weft_bsend_owner owner;
    int code;
    if (!of_session(function, session, &owner, &code))
        return code;
    return leave(owner, detach(owner, buffer_addr, size), function);
}

WEFT_EXPORT(Session_flush_buffer);
int PMPI_Session_flush_buffer(MPI_Session session)
{
    const char *function = "MPI_Session_flush_buffer";
    struct weft_bsend_owner owner;
    int code;
    if (!of_session(function, session, &owner, &code))
        return code;
    return leave(owner, weft_bsend_flush(owner), function);
}

WEFT_EXPORT(Session_iflush_buffer);
int PMPI_Session_iflush_buffer(MPI_Session session, MPI_Request *request)
{
    const char *function = "MPI_Session_iflush_buffer";
    struct weft_bsend_owner owner;
    int code;
    if (!of_session(function, session, &owner, &code))
        return code;
    return leave(owner, iflush(owner, request), function);
}
