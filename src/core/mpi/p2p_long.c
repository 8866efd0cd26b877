// SPDX-License-Identifier: BSD-3-Clause
/*
 * The long way of point-to-point calls; see p2p_long.h.
 *
 * Invariant: whatever is wrong with a call is found here, in the order of its arguments.
 */
#include "core/mpi/p2p_long.h"
#include "core/object/error.h"
#include "core/pt2pt/p2p.h"
#include "core/process/weft.h"

int weft_long_begin_send(const struct weft_call *call, enum weft_send_mode mode,
                         MPI_Request *request)
{
    struct weft_resolved to;
    int code;
    if (!weft_call_resolve_start(call, false, request, &to, &code))
        return code;
    struct weft_request *started;
    code = weft_p2p_isend(&to.comm->p2p, call->buffer, to.bytes, to.type, call->peer, call->tag,
                          mode, &started);
    if (weft_unlikely(code != MPI_SUCCESS))
        return weft_error_raise(to.comm, code, call->function);
    *request = (MPI_Request)started;
    return MPI_SUCCESS;
}

int weft_long_begin_receive(const struct weft_call *call, MPI_Request *request)
{
    struct weft_resolved from;
    int code;
    if (request)
        *request = MPI_REQUEST_NULL; /* irecv_fast left something there */
    if (!weft_call_resolve_start(call, true, request, &from, &code))
        return code;
    struct weft_request *started;
    code = weft_p2p_irecv(&from.comm->p2p, (void *)call->buffer, from.bytes, from.type, call->peer,
                          call->tag, &started);
    if (weft_unlikely(code != MPI_SUCCESS))
        return weft_error_raise(from.comm, code, call->function);
    *request = (MPI_Request)started;
    return MPI_SUCCESS;
}

int weft_long_send_now(const struct weft_call *call, enum weft_send_mode mode)
{
    struct weft_resolved to;
    int code;
    if (!weft_call_resolve(call, false, &to, &code))
        return code;
    code =
        weft_p2p_send(&to.comm->p2p, call->buffer, to.bytes, to.type, call->peer, call->tag, mode);
    return code == MPI_SUCCESS ? code : weft_error_raise(to.comm, code, call->function);
}

int weft_long_receive_now(const struct weft_call *call, MPI_Status *status)
{
    struct weft_resolved from;
    int code;
    if (!weft_call_resolve(call, true, &from, &code)) {
        if (code == MPI_SUCCESS)
            weft_status_proc_null(status);
        return code;
    }
    code = weft_p2p_recv(&from.comm->p2p, (void *)call->buffer, from.bytes, from.type, call->peer,
                         call->tag, status);
    return code == MPI_SUCCESS ? code : weft_error_raise(from.comm, code, call->function);
}

int weft_long_send_mode(const struct weft_call *call, enum weft_send_mode mode)
{
    int code = weft_enter(call->function);
    if (code)
        return code;
    code = weft_long_send_now(call, mode);
    weft_leave();
    return code;
}

int weft_long_isend_mode(const struct weft_call *call, enum weft_send_mode mode,
                         MPI_Request *request)
{
    int code = weft_enter(call->function);
    if (code)
        return code;
    code = weft_long_begin_send(call, mode, request);
    weft_leave();
    return code;
}

int weft_long_send(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                   MPI_Comm comm)
{
    if (weft_unlikely(weft_gate))
        return weft_gated_send(buf, count, datatype, dest, tag, comm);
    return weft_long_send_now(
        &(struct weft_call){"MPI_Send", buf, count, datatype, dest, tag, comm}, WEFT_SEND_STANDARD);
}

int weft_long_isend(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Request *request)
{
    if (weft_unlikely(weft_gate))
        return weft_gated_isend(buf, count, datatype, dest, tag, comm, request);
    return weft_long_begin_send(
        &(struct weft_call){"MPI_Isend", buf, count, datatype, dest, tag, comm}, WEFT_SEND_STANDARD,
        request);
}

int weft_long_recv(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                   MPI_Comm comm, MPI_Status *status)
{
    if (weft_unlikely(weft_gate))
        return weft_gated_recv(buf, count, datatype, source, tag, comm, status);
    return weft_long_receive_now(
        &(struct weft_call){"MPI_Recv", buf, count, datatype, source, tag, comm}, status);
}

int weft_long_irecv(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                    MPI_Comm comm, MPI_Request *request)
{
    if (weft_unlikely(weft_gate))
        return weft_gated_irecv(buf, count, datatype, source, tag, comm, request);
    return weft_long_begin_receive(
        &(struct weft_call){"MPI_Irecv", buf, count, datatype, source, tag, comm}, request);
}
