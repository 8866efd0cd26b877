// SPDX-License-Identifier: BSD-3-Clause
/*
 * The general path of point-to-point calls; see p2p_general.h.
 *
 * Invariant: the first wrong argument is the one that is reported.
 */
#include "core/mpi/p2p_general.h"
#include "core/mpi/p2p_fast.h"
#include "core/comm/raise.h"
#include "core/process/weft.h"

int weft_call_isend(const struct weft_call *call, enum weft_send_mode mode, MPI_Request *request)
{
    struct weft_resolved to;
    struct weft_request *send;
    int code;
    if (!weft_call_resolve_start(call, false, request, &to, &code))
        return code;
    code = weft_p2p_isend(&to.comm->p2p, call->buffer, to.bytes, to.type, call->peer, call->tag,
                          mode, &send);
    if (weft_unlikely(code != MPI_SUCCESS))
        return weft_error_raise(to.comm, code, call->function);
    *request = (MPI_Request)send;
    return MPI_SUCCESS;
}

int weft_call_irecv(const struct weft_call *call, MPI_Request *request)
{
    struct weft_resolved from;
    struct weft_request *receive;
    int code;
    if (!weft_call_resolve_start(call, true, request, &from, &code))
        return code;
    code = weft_p2p_irecv(&from.comm->p2p, (void *)call->buffer, from.bytes, from.type, call->peer,
                          call->tag, &receive);
    if (weft_unlikely(code != MPI_SUCCESS))
        return weft_error_raise(from.comm, code, call->function);
    *request = (MPI_Request)receive;
    return MPI_SUCCESS;
}

int weft_call_send(const struct weft_call *call, enum weft_send_mode mode)
{
    struct weft_resolved to;
    int code;
    if (!weft_call_resolve(call, false, &to, &code))
        return code;
    code =
        weft_p2p_send(&to.comm->p2p, call->buffer, to.bytes, to.type, call->peer, call->tag, mode);
    return code == MPI_SUCCESS ? code : weft_error_raise(to.comm, code, call->function);
}

int weft_call_recv(const struct weft_call *call, MPI_Status *status)
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

WEFT_HOT int weft_finish_recv(struct weft_request *receive, MPI_Status *status)
{
    weft_request_wait(receive);
    int code = receive->error;
    struct weft_comm *comm = receive->channel->comm;
    weft_request_status(receive, status, false);
    weft_request_put(receive);
    return weft_likely(code == MPI_SUCCESS) ? code : weft_error_raise(comm, code, "MPI_Recv");
}

/* ---- With entering and leaving */

/* Takes the VCI of a call for its fast attempt. False: something other than threads is in the way.
 */
static inline __attribute__((always_inline)) bool take(struct weft_vci *vci)
{
    return weft_likely(weft_gate == WEFT_GATE_THREADS) && weft_likely(weft_lock_take(&vci->lock));
}

WEFT_HOT int weft_general_send(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
                               int tag, MPI_Comm comm)
{
    struct weft_vci *vci = weft_call_vci(comm);
    if (take(vci)) {
        bool sent = weft_fast_send(buf, count, datatype, dest, tag, comm);
        weft_lock_give(&vci->lock);
        if (weft_likely(sent))
            return MPI_SUCCESS;
    }
    const struct weft_call call = {"MPI_Send", buf, count, datatype, dest, tag, comm};
    return weft_general_send_mode(&call, WEFT_SEND_STANDARD);
}

WEFT_HOT int weft_general_isend(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
                                int tag, MPI_Comm comm, MPI_Request *request)
{
    struct weft_vci *vci = weft_call_vci(comm);
    if (weft_likely(request != NULL) && take(vci)) {
        struct weft_request *sent = weft_fast_isend(buf, count, datatype, dest, tag, comm);
        weft_lock_give(&vci->lock);
        if (weft_likely(sent != NULL)) {
            *request = (MPI_Request)sent;
            return MPI_SUCCESS;
        }
    }
    const struct weft_call call = {"MPI_Isend", buf, count, datatype, dest, tag, comm};
    return weft_general_isend_mode(&call, WEFT_SEND_STANDARD, request);
}

WEFT_HOT int weft_general_recv(void *buf, MPI_Count count, MPI_Datatype datatype, int source,
                               int tag, MPI_Comm comm, MPI_Status *status)
{
    struct weft_vci *vci = weft_call_vci(comm);
    if (take(vci)) {
        struct weft_request *receive = weft_fast_post(buf, count, datatype, source, tag, comm);
        int code = receive ? weft_finish_recv(receive, status) : MPI_SUCCESS;
        weft_lock_leave(&vci->lock);
        if (weft_likely(receive != NULL))
            return code;
    }
    const struct weft_call call = {"MPI_Recv", buf, count, datatype, source, tag, comm};
    int code = weft_enter_on("MPI_Recv", vci);
    if (code)
        return code;
    code = weft_call_recv(&call, status);
    weft_leave_on(vci);
    return code;
}

WEFT_HOT int weft_general_irecv(void *buf, MPI_Count count, MPI_Datatype datatype, int source,
                                int tag, MPI_Comm comm, MPI_Request *request)
{
    struct weft_vci *vci = weft_call_vci(comm);
    if (weft_likely(request != NULL) && take(vci)) {
        struct weft_request *receive = weft_fast_post(buf, count, datatype, source, tag, comm);
        weft_lock_give(&vci->lock);
        if (weft_likely(receive != NULL)) {
            *request = (MPI_Request)receive;
            return MPI_SUCCESS;
        }
    }
    const struct weft_call call = {"MPI_Irecv", buf, count, datatype, source, tag, comm};
    int code = weft_enter_on("MPI_Irecv", vci);
    if (code)
        return code;
    code = weft_call_irecv(&call, request);
    weft_leave_on(vci);
    return code;
}

int weft_general_send_mode(const struct weft_call *call, enum weft_send_mode mode)
{
    struct weft_vci *vci = weft_call_vci(call->comm);
    int code = weft_enter_on(call->function, vci);
    if (code)
        return code;
    code = weft_call_send(call, mode);
    weft_leave_on(vci);
    return code;
}

int weft_general_isend_mode(const struct weft_call *call, enum weft_send_mode mode,
                            MPI_Request *request)
{
    struct weft_vci *vci = weft_call_vci(call->comm);
    int code = weft_enter_on(call->function, vci);
    if (code)
        return code;
    code = weft_call_isend(call, mode, request);
    weft_leave_on(vci);
    return code;
}
