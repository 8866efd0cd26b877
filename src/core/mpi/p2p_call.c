// SPDX-License-Identifier: BSD-3-Clause
/*
 * Checks of the arguments of point-to-point calls, and their general path; see p2p_call.h.
 *
 * Invariant: arguments are checked in their order, so that the first wrong one is reported.
 */
#include "core/mpi/p2p_call.h"
#include "core/datatype/device.h"
#include "core/progress/progress.h"

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

/* ---- With the VCI held */

int weft_call_send(const struct weft_call *call, enum weft_send_mode mode)
{
    struct weft_resolved to;
    int code;
    if (!weft_call_resolve(call, false, &to, &code))
        return code;
    return weft_p2p_send(&call->comm->p2p, call->buffer, to.bytes, to.type, call->peer, call->tag,
                         mode);
}

/* Returns the request of a send. */
static MPI_Request started(struct weft_request *send)
{
    if (weft_unlikely(send->peer->lane == WEFT_LANE_SELF))
        weft_look_sometimes(send->channel->comm->vci);
    return (MPI_Request)send;
}

int weft_call_isend(const struct weft_call *call, enum weft_send_mode mode, MPI_Request *request)
{
    struct weft_resolved to;
    struct weft_request *send;
    int code;
    if (!weft_call_resolve_start(call, false, request, &to, &code))
        return code;
    code = weft_p2p_isend(&call->comm->p2p, call->buffer, to.bytes, to.type, call->peer, call->tag,
                          mode, &send);
    if (weft_likely(code == MPI_SUCCESS))
        *request = started(send);
    return code;
}

static int call_recv(const struct weft_call *call, MPI_Status *status)
{
    struct weft_resolved from;
    int code;
    if (weft_call_resolve(call, true, &from, &code))
        return weft_p2p_recv(&call->comm->p2p, (void *)call->buffer, from.bytes, from.type,
                             call->peer, call->tag, status);
    if (code == MPI_SUCCESS)
        weft_status_proc_null(status);
    return code;
}

static int call_irecv(const struct weft_call *call, MPI_Request *request)
{
    struct weft_resolved from;
    struct weft_request *receive;
    int code;
    if (!weft_call_resolve_start(call, true, request, &from, &code))
        return code;
    code = weft_p2p_irecv(&call->comm->p2p, (void *)call->buffer, from.bytes, from.type, call->peer,
                          call->tag, &receive);
    if (weft_likely(code == MPI_SUCCESS))
        *request = (MPI_Request)receive;
    return code;
}

/* ---- With checked arguments and a plain type */

static int raised(struct weft_comm *comm, int code, const char *function)
{
    return weft_likely(code == MPI_SUCCESS) ? code : weft_error_raise(comm, code, function);
}

int weft_checked_send(struct weft_comm *comm, const void *buffer, size_t bytes, int dest, int tag)
{
    return raised(comm,
                  weft_p2p_send(&comm->p2p, buffer, bytes, weft_datatype_byte(), dest, tag,
                                WEFT_SEND_STANDARD),
                  "MPI_Send");
}

int weft_checked_isend(struct weft_comm *comm, const void *buffer, size_t bytes, int dest, int tag,
                       MPI_Request *request)
{
    struct weft_request *send;
    int code = weft_p2p_isend(&comm->p2p, buffer, bytes, weft_datatype_byte(), dest, tag,
                              WEFT_SEND_STANDARD, &send);
    if (weft_likely(code == MPI_SUCCESS))
        *request = started(send);
    return raised(comm, code, "MPI_Isend");
}

int weft_checked_recv(struct weft_comm *comm, void *buffer, size_t bytes, int source, int tag,
                      MPI_Status *status)
{
    return raised(
        comm, weft_p2p_recv(&comm->p2p, buffer, bytes, weft_datatype_byte(), source, tag, status),
        "MPI_Recv");
}

int weft_checked_irecv(struct weft_comm *comm, void *buffer, size_t bytes, int source, int tag,
                       MPI_Request *request)
{
    struct weft_request *receive;
    int code =
        weft_p2p_irecv(&comm->p2p, buffer, bytes, weft_datatype_byte(), source, tag, &receive);
    if (weft_likely(code == MPI_SUCCESS))
        *request = (MPI_Request)receive;
    return raised(comm, code, "MPI_Irecv");
}

WEFT_HOT int weft_finish_recv(struct weft_request *receive, MPI_Status *status)
{
    weft_request_wait(receive);
    int code = receive->error;
    struct weft_comm *comm = receive->channel->comm;
    weft_request_status(receive, status, false);
    weft_request_put(receive);
    return raised(comm, code, "MPI_Recv");
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
    int code;
    comm = weft_enter_comm("MPI_Send", handle, &code);
    if (!comm)
        return code;
    const struct weft_call call = {comm, buf, count, datatype, dest, tag};
    return weft_leave_comm(comm, weft_call_send(&call, WEFT_SEND_STANDARD), "MPI_Send");
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
    int code;
    comm = weft_enter_comm("MPI_Isend", handle, &code);
    if (!comm)
        return code;
    const struct weft_call call = {comm, buf, count, datatype, dest, tag};
    return weft_leave_comm(comm, weft_call_isend(&call, WEFT_SEND_STANDARD, request), "MPI_Isend");
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
    int code;
    comm = weft_enter_comm("MPI_Recv", handle, &code);
    if (!comm)
        return code;
    const struct weft_call call = {comm, buf, count, datatype, source, tag};
    return weft_leave_comm(comm, call_recv(&call, status), "MPI_Recv");
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
    int code;
    comm = weft_enter_comm("MPI_Irecv", handle, &code);
    if (!comm)
        return code;
    const struct weft_call call = {comm, buf, count, datatype, source, tag};
    return weft_leave_comm(comm, call_irecv(&call, request), "MPI_Irecv");
}
