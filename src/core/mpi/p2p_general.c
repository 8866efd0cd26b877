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

/* A call with resolved arguments; function, peer and tag are those of `call`. */

static int isend(const struct weft_call *call, const struct weft_resolved *to,
                 enum weft_send_mode mode, MPI_Request *request)
{
    struct weft_request *send;
    int code = weft_p2p_isend(&to->comm->p2p, call->buffer, to->bytes, to->type, call->peer,
                              call->tag, mode, &send);
    if (weft_unlikely(code != MPI_SUCCESS))
        return weft_error_raise(to->comm, code, call->function);
    *request = (MPI_Request)send;
    return MPI_SUCCESS;
}

static int irecv(const struct weft_call *call, const struct weft_resolved *from,
                 MPI_Request *request)
{
    struct weft_request *receive;
    int code = weft_p2p_irecv(&from->comm->p2p, (void *)call->buffer, from->bytes, from->type,
                              call->peer, call->tag, &receive);
    if (weft_unlikely(code != MPI_SUCCESS))
        return weft_error_raise(from->comm, code, call->function);
    *request = (MPI_Request)receive;
    return MPI_SUCCESS;
}

static int send(const struct weft_call *call, const struct weft_resolved *to,
                enum weft_send_mode mode)
{
    int code = weft_p2p_send(&to->comm->p2p, call->buffer, to->bytes, to->type, call->peer,
                             call->tag, mode);
    return code == MPI_SUCCESS ? code : weft_error_raise(to->comm, code, call->function);
}

static int recv(const struct weft_call *call, const struct weft_resolved *from, MPI_Status *status)
{
    int code = weft_p2p_recv(&from->comm->p2p, (void *)call->buffer, from->bytes, from->type,
                             call->peer, call->tag, status);
    return code == MPI_SUCCESS ? code : weft_error_raise(from->comm, code, call->function);
}

static int call_isend(const struct weft_call *call, enum weft_send_mode mode, MPI_Request *request)
{
    struct weft_resolved to;
    int code;
    return weft_call_resolve_start(call, false, request, &to, &code)
               ? isend(call, &to, mode, request)
               : code;
}

static int call_irecv(const struct weft_call *call, MPI_Request *request)
{
    struct weft_resolved from;
    int code;
    return weft_call_resolve_start(call, true, request, &from, &code) ? irecv(call, &from, request)
                                                                      : code;
}

int weft_call_send(const struct weft_call *call, enum weft_send_mode mode)
{
    struct weft_resolved to;
    int code;
    return weft_call_resolve(call, false, &to, &code) ? send(call, &to, mode) : code;
}

static int call_recv(const struct weft_call *call, MPI_Status *status)
{
    struct weft_resolved from;
    int code;
    if (weft_call_resolve(call, true, &from, &code))
        return recv(call, &from, status);
    if (code == MPI_SUCCESS)
        weft_status_proc_null(status);
    return code;
}

/* ---- With checked arguments and a plain type */

int weft_checked_send(struct weft_comm *comm, const void *buffer, size_t bytes, int dest, int tag)
{
    const struct weft_call call = {"MPI_Send", buffer, .peer = dest, .tag = tag};
    return send(&call, &(struct weft_resolved){comm, weft_datatype_byte(), bytes},
                WEFT_SEND_STANDARD);
}

int weft_checked_isend(struct weft_comm *comm, const void *buffer, size_t bytes, int dest, int tag,
                       MPI_Request *request)
{
    const struct weft_call call = {"MPI_Isend", buffer, .peer = dest, .tag = tag};
    return isend(&call, &(struct weft_resolved){comm, weft_datatype_byte(), bytes},
                 WEFT_SEND_STANDARD, request);
}

int weft_checked_recv(struct weft_comm *comm, void *buffer, size_t bytes, int source, int tag,
                      MPI_Status *status)
{
    const struct weft_call call = {"MPI_Recv", buffer, .peer = source, .tag = tag};
    return recv(&call, &(struct weft_resolved){comm, weft_datatype_byte(), bytes}, status);
}

int weft_checked_irecv(struct weft_comm *comm, void *buffer, size_t bytes, int source, int tag,
                       MPI_Request *request)
{
    const struct weft_call call = {"MPI_Irecv", buffer, .peer = source, .tag = tag};
    return irecv(&call, &(struct weft_resolved){comm, weft_datatype_byte(), bytes}, request);
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

/* The communicator of a call whose VCI was taken for its fast attempt; NULL: something other than
 * threads prevents that. */
static inline __attribute__((always_inline)) struct weft_comm *take(MPI_Comm handle)
{
    if (weft_unlikely(weft_entry_flags != WEFT_ENTRY_THREADS))
        return NULL;
    struct weft_comm *comm = weft_fast_comm(handle);
    return weft_likely(comm != NULL) && weft_likely(weft_lock_take(&comm->vci->lock)) ? comm : NULL;
}

WEFT_HOT int weft_general_send(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
                               int tag, MPI_Comm handle)
{
    size_t bytes;
    struct weft_comm *comm = take(handle);
    if (weft_likely(comm != NULL)) {
        bool good = weft_fast_check_send(comm, buf, count, datatype, dest, tag, &bytes);
        int code = good ? weft_fast_send(comm, buf, bytes, dest, tag) : MPI_SUCCESS;
        weft_lock_give(&comm->vci->lock);
        if (weft_likely(good))
            return code;
    }
    const struct weft_call call = {"MPI_Send", buf, count, datatype, dest, tag, handle};
    return weft_general_send_mode(&call, WEFT_SEND_STANDARD);
}

WEFT_HOT int weft_general_isend(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
                                int tag, MPI_Comm handle, MPI_Request *request)
{
    size_t bytes;
    struct weft_comm *comm = weft_likely(request != NULL) ? take(handle) : NULL;
    if (weft_likely(comm != NULL)) {
        bool good = weft_fast_check_send(comm, buf, count, datatype, dest, tag, &bytes);
        int code = good ? weft_fast_isend(comm, buf, bytes, dest, tag, request) : MPI_SUCCESS;
        weft_lock_give(&comm->vci->lock);
        if (weft_likely(good))
            return code;
    }
    const struct weft_call call = {"MPI_Isend", buf, count, datatype, dest, tag, handle};
    return weft_general_isend_mode(&call, WEFT_SEND_STANDARD, request);
}

WEFT_HOT int weft_general_recv(void *buf, MPI_Count count, MPI_Datatype datatype, int source,
                               int tag, MPI_Comm handle, MPI_Status *status)
{
    size_t bytes;
    struct weft_comm *comm = take(handle);
    if (weft_likely(comm != NULL)) {
        bool good = weft_fast_check_receive(comm, buf, count, datatype, source, tag, &bytes);
        int code = good ? weft_fast_recv(comm, buf, bytes, source, tag, status) : MPI_SUCCESS;
        weft_lock_give(&comm->vci->lock);
        if (weft_likely(good))
            return code;
    }
    const struct weft_call call = {"MPI_Recv", buf, count, datatype, source, tag, handle};
    struct weft_vci *vci = weft_call_vci(handle);
    int code = weft_enter_on("MPI_Recv", vci);
    if (code)
        return code;
    code = call_recv(&call, status);
    weft_leave_on(vci);
    return code;
}

WEFT_HOT int weft_general_irecv(void *buf, MPI_Count count, MPI_Datatype datatype, int source,
                                int tag, MPI_Comm handle, MPI_Request *request)
{
    size_t bytes;
    struct weft_comm *comm = weft_likely(request != NULL) ? take(handle) : NULL;
    if (weft_likely(comm != NULL)) {
        bool good = weft_fast_check_receive(comm, buf, count, datatype, source, tag, &bytes);
        int code = good ? weft_fast_irecv(comm, buf, bytes, source, tag, request) : MPI_SUCCESS;
        weft_lock_give(&comm->vci->lock);
        if (weft_likely(good))
            return code;
    }
    const struct weft_call call = {"MPI_Irecv", buf, count, datatype, source, tag, handle};
    struct weft_vci *vci = weft_call_vci(handle);
    int code = weft_enter_on("MPI_Irecv", vci);
    if (code)
        return code;
    code = call_irecv(&call, request);
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
    code = call_isend(call, mode, request);
    weft_leave_on(vci);
    return code;
}
