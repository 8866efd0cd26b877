// SPDX-License-Identifier: BSD-3-Clause
/*
 * Point-to-point entry points (MPI 5.0 chapter 3): check arguments, resolve handles, call the core.
 *
 * Invariant: the checks on the fast path are exactly those of explain_send and explain_receive, the
 * cold functions that find out which one failed, in the order of the arguments. Neither is ever
 * called for good arguments, except for MPI_PROC_NULL.
 */
#include "core/api/api.h"
#include "core/error.h"
#include "core/p2p.h"
#include "core/weft.h"

#include <stdbool.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* What an entry point was called with, resolved as far as possible. */
struct call {
    const char *function;
    const void *buffer;
    MPI_Count count;
    MPI_Datatype datatype;
    int peer, tag; /* destination or source */
    MPI_Comm comm;
};

/* Finds what is wrong with a call. receive: the wildcards are allowed. Returns MPI_SUCCESS for a
 * good call to MPI_PROC_NULL, else what the error handler lets through. */
WEFT_COLD static int explain(const struct call *call, bool receive, bool null_result)
{
    const char *f = call->function;
    struct weft_comm *comm = weft_comm_resolve(call->comm);
    if (!comm)
        return weft_error(NULL, MPI_ERR_COMM, f, "%p is no communicator; was it freed?",
                          (void *)call->comm);
    if (call->count < 0)
        return weft_error(comm, MPI_ERR_COUNT, f, "the count %lld is negative",
                          (long long)call->count);
    const struct weft_datatype *type = weft_handle_resolve(call->datatype, WEFT_KIND_DATATYPE);
    if (!type)
        return weft_error(comm, MPI_ERR_TYPE, f, "%p is no datatype; was it freed?",
                          (void *)call->datatype);
    if (!(type->flags & WEFT_TYPE_COMMITTED))
        return weft_error(comm, MPI_ERR_TYPE, f,
                          "the datatype is not committed; call MPI_Type_commit first");
    bool any_source = receive && call->peer == MPI_ANY_SOURCE;
    if (call->peer != MPI_PROC_NULL && !any_source &&
        (call->peer < 0 || call->peer >= comm->size))
        return weft_error(comm, MPI_ERR_RANK, f,
                          "rank %d is not in the communicator, which has ranks 0 to %d",
                          call->peer, comm->size - 1);
    bool any_tag = receive && call->tag == MPI_ANY_TAG;
    if (!any_tag && (call->tag < 0 || call->tag > weft.tag_ub))
        return weft_error(comm, MPI_ERR_TAG, f, "the tag %d is not between 0 and MPI_TAG_UB = %d",
                          call->tag, weft.tag_ub);
    size_t bytes;
    if (__builtin_mul_overflow((size_t)call->count, type->size, &bytes) || (MPI_Count)bytes < 0)
        return weft_error(comm, MPI_ERR_COUNT, f, "%lld elements of %zu bytes are too much",
                          (long long)call->count, type->size);
    if (call->peer != MPI_PROC_NULL && !call->buffer && bytes && type->true_lb == 0)
        return weft_error(comm, MPI_ERR_BUFFER, f,
                          "the buffer is a null pointer, but %lld elements are to be %s",
                          (long long)call->count, receive ? "received" : "sent");
    if (null_result)
        return weft_error(comm, MPI_ERR_ARG, f, "the pointer to the request is null");
    return MPI_SUCCESS;
}

/* A call whose arguments are good. */
struct resolved {
    struct weft_comm *comm;
    const struct weft_datatype *type;
    size_t bytes;
};

/* True when everything is good and the peer is a rank, or a wildcard of a receive. */
ALWAYS_INLINE bool resolve(const struct call *call, bool receive, bool null_result,
                           struct resolved *out)
{
    struct weft_comm *comm = weft_handle_object(call->comm);
    struct weft_datatype *type = weft_handle_object(call->datatype);
    if (weft_unlikely((comm->object.kind ^ WEFT_KIND_COMM) |
                      (type->object.kind ^ WEFT_KIND_DATATYPE)))
        return false;
    bool peer_bad = (unsigned)call->peer >= (unsigned)comm->size;
    bool tag_bad = (unsigned)call->tag > (unsigned)weft.tag_ub;
    if (receive) {
        peer_bad &= call->peer != MPI_ANY_SOURCE;
        tag_bad &= call->tag != MPI_ANY_TAG;
    }
    out->comm = comm;
    out->type = type;
    bool too_much = __builtin_mul_overflow((size_t)call->count, type->size, &out->bytes);
    bool null_buffer = !call->buffer & (out->bytes != 0) & (type->true_lb == 0);
    return weft_likely(!(peer_bad | tag_bad | too_much | null_buffer | null_result |
                         (call->count < 0) | ((MPI_Count)out->bytes < 0) |
                         !(type->flags & WEFT_TYPE_COMMITTED)));
}

ALWAYS_INLINE int begin_send(const struct call *call, enum weft_send_mode mode,
                             MPI_Request *request)
{
    struct resolved to;
    struct weft_request *started;
    if (weft_unlikely(!resolve(call, false, !request, &to))) {
        int code = explain(call, false, !request);
        if (code == MPI_SUCCESS)
            *request = (MPI_Request)weft_request_to_nowhere();
        return code;
    }
    int code = weft_p2p_isend(&to.comm->p2p, call->buffer, to.bytes, to.type, call->peer, call->tag,
                              mode, &started);
    if (weft_unlikely(code != MPI_SUCCESS))
        return weft_error_raise(to.comm, code, call->function);
    *request = (MPI_Request)started;
    return MPI_SUCCESS;
}

ALWAYS_INLINE int begin_receive(const struct call *call, MPI_Request *request)
{
    struct resolved from;
    struct weft_request *started;
    if (weft_unlikely(!resolve(call, true, !request, &from))) {
        int code = explain(call, true, !request);
        if (code == MPI_SUCCESS)
            *request = (MPI_Request)weft_request_to_nowhere();
        return code;
    }
    int code = weft_p2p_irecv(&from.comm->p2p, (void *)call->buffer, from.bytes, from.type,
                              call->peer, call->tag, &started);
    if (weft_unlikely(code != MPI_SUCCESS))
        return weft_error_raise(from.comm, code, call->function);
    *request = (MPI_Request)started;
    return MPI_SUCCESS;
}

ALWAYS_INLINE int send_now(const struct call *call, enum weft_send_mode mode)
{
    struct resolved to;
    if (weft_unlikely(!resolve(call, false, false, &to)))
        return explain(call, false, false);
    int code = weft_p2p_send(&to.comm->p2p, call->buffer, to.bytes, to.type, call->peer, call->tag,
                             mode);
    return weft_likely(code == MPI_SUCCESS) ? code
                                            : weft_error_raise(to.comm, code, call->function);
}

/* The status of a receive from MPI_PROC_NULL (MPI 5.0, 3.10). */
static void null_status(MPI_Status *status)
{
    weft_status_empty(status, false);
    if (status != MPI_STATUS_IGNORE)
        status->MPI_SOURCE = MPI_PROC_NULL;
}

ALWAYS_INLINE int receive_now(const struct call *call, MPI_Status *status)
{
    struct resolved from;
    if (weft_unlikely(!resolve(call, true, false, &from))) {
        int code = explain(call, true, false);
        if (code == MPI_SUCCESS)
            null_status(status);
        return code;
    }
    int code = weft_p2p_recv(&from.comm->p2p, (void *)call->buffer, from.bytes, from.type,
                             call->peer, call->tag, status);
    return weft_likely(code == MPI_SUCCESS) ? code
                                            : weft_error_raise(from.comm, code, call->function);
}

/* The gate is open nearly always; behind it everything is the same, with the lock held. */

static __attribute__((noinline)) int gated_send(const struct call *call, enum weft_send_mode mode,
                                                MPI_Request *request)
{
    int code = weft_enter(call->function);
    if (code)
        return code;
    code = request ? begin_send(call, mode, request) : send_now(call, mode);
    weft_leave();
    return code;
}

static __attribute__((noinline)) int gated_receive(const struct call *call, MPI_Request *request,
                                                   MPI_Status *status)
{
    int code = weft_enter(call->function);
    if (code)
        return code;
    code = request ? begin_receive(call, request) : receive_now(call, status);
    weft_leave();
    return code;
}

ALWAYS_INLINE int isend(const struct call call, enum weft_send_mode mode, MPI_Request *request)
{
    if (weft_unlikely(weft_gate && request))
        return gated_send(&call, mode, request);
    return begin_send(&call, mode, request);
}

ALWAYS_INLINE int send(const struct call call, enum weft_send_mode mode)
{
    return weft_unlikely(weft_gate) ? gated_send(&call, mode, NULL) : send_now(&call, mode);
}

WEFT_EXPORT(Send_c);
int PMPI_Send_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                MPI_Comm comm)
{
    return send((struct call){"MPI_Send", buf, count, datatype, dest, tag, comm},
                WEFT_SEND_STANDARD);
}

WEFT_EXPORT(Ssend_c);
int PMPI_Ssend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm)
{
    return send((struct call){"MPI_Ssend", buf, count, datatype, dest, tag, comm},
                WEFT_SEND_SYNCHRONOUS);
}

WEFT_EXPORT(Rsend_c);
int PMPI_Rsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm)
{
    return send((struct call){"MPI_Rsend", buf, count, datatype, dest, tag, comm},
                WEFT_SEND_READY);
}

WEFT_EXPORT(Isend_c);
int PMPI_Isend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm, MPI_Request *request)
{
    return isend((struct call){"MPI_Isend", buf, count, datatype, dest, tag, comm},
                 WEFT_SEND_STANDARD, request);
}

WEFT_EXPORT(Issend_c);
int PMPI_Issend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    return isend((struct call){"MPI_Issend", buf, count, datatype, dest, tag, comm},
                 WEFT_SEND_SYNCHRONOUS, request);
}

WEFT_EXPORT(Irsend_c);
int PMPI_Irsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    return isend((struct call){"MPI_Irsend", buf, count, datatype, dest, tag, comm},
                 WEFT_SEND_READY, request);
}

WEFT_EXPORT(Recv_c);
int PMPI_Recv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                MPI_Comm comm, MPI_Status *status)
{
    struct call call = {"MPI_Recv", buf, count, datatype, source, tag, comm};
    return weft_unlikely(weft_gate) ? gated_receive(&call, NULL, status)
                                    : receive_now(&call, status);
}

WEFT_EXPORT(Irecv_c);
int PMPI_Irecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                 MPI_Comm comm, MPI_Request *request)
{
    struct call call = {"MPI_Irecv", buf, count, datatype, source, tag, comm};
    if (weft_unlikely(weft_gate && request))
        return gated_receive(&call, request, NULL);
    return begin_receive(&call, request);
}

/* Both halves at once: the receive is posted first, so that neither waits for the other. */
static int sendrecv(const struct call *out, const struct call *in, MPI_Status *status)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int code = begin_receive(in, &request);
    if (code != MPI_SUCCESS)
        return code;
    struct weft_request *receive = (struct weft_request *)request;
    code = send_now(out, WEFT_SEND_STANDARD);
    if (code != MPI_SUCCESS) {
        if (receive->pending) /* its buffer stays the library's until a message comes */
            receive->flags |= WEFT_REQUEST_ORPHAN;
        else
            weft_request_put(receive);
        return code;
    }
    weft_request_wait(receive);
    code = receive->error;
    weft_request_status(receive, status, false);
    weft_request_put(receive);
    if (code != MPI_SUCCESS)
        code = weft_error_raise(weft_comm_resolve(in->comm), code, in->function);
    return code;
}

WEFT_EXPORT(Sendrecv_c);
int PMPI_Sendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                    int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                    int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    struct call out = {"MPI_Sendrecv", sendbuf, sendcount, sendtype, dest, sendtag, comm};
    struct call in = {"MPI_Sendrecv", recvbuf, recvcount, recvtype, source, recvtag, comm};
    int code = weft_enter("MPI_Sendrecv");
    if (code)
        return code;
    struct resolved to;
    if (!resolve(&out, false, false, &to)) /* nothing is posted for a send that cannot be */
        code = explain(&out, false, false);
    if (code == MPI_SUCCESS)
        code = sendrecv(&out, &in, status);
    weft_leave();
    return code;
}
