// SPDX-License-Identifier: BSD-3-Clause
/*
 * Point-to-point entry points (MPI 5.0 chapter 3): check arguments, resolve handles, call the core.
 *
 * Every call first tries the fast path: one thread, good plain arguments, a peer known on the net
 * lane. Whatever it does not take goes the long way, which checks again, in the order of the
 * arguments, and explains.
 *
 * Invariant: the fast path accepts only what `explain` accepts, and has no effect when it declines.
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
 * good call, else what the error handler lets through. */
static int explain(const struct call *call, bool receive, bool no_result)
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
    if (call->peer != MPI_PROC_NULL && !any_source && (call->peer < 0 || call->peer >= comm->size))
        return weft_error(comm, MPI_ERR_RANK, f,
                          "rank %d is not in the communicator, which has ranks 0 to %d", call->peer,
                          comm->size - 1);
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
    if (no_result)
        return weft_error(comm, MPI_ERR_ARG, f, "the pointer to the request is null");
    return MPI_SUCCESS;
}

/* A call whose arguments are good. */
struct resolved {
    struct weft_comm *comm;
    const struct weft_datatype *type;
    size_t bytes;
};

/* The fast check: true when the call is good and plain (below 2^31 elements of a plain type, with a
 * buffer). False proves nothing: resolve decides. */
ALWAYS_INLINE bool is_plain(const void *buffer, MPI_Count count, MPI_Datatype datatype, int peer,
                            int tag, MPI_Comm handle, bool receive, struct resolved *out)
{
    out->comm = weft_handle_object(handle);
    const struct weft_datatype *type = out->type = weft_handle_object(datatype);
    if (weft_unlikely(out->comm->object.kind != WEFT_KIND_COMM ||
                      type->object.kind != WEFT_KIND_DATATYPE))
        return false;
    bool known_peer = (unsigned)peer < (unsigned)out->comm->size;
    bool known_tag = (unsigned)tag <= (unsigned)weft.tag_ub;
    out->bytes = (size_t)count * type->size;
    return weft_likely(known_peer || (receive && peer == MPI_ANY_SOURCE)) &&
           weft_likely(known_tag || (receive && tag == MPI_ANY_TAG)) &&
           weft_likely(!((uint64_t)count >> 31) && (type->flags & WEFT_TYPE_PLAIN) && buffer);
}

/* The whole check. True when the call is good and its peer a rank, or a wildcard of a receive;
 * else *code is what the entry point returns (MPI_SUCCESS: the peer is MPI_PROC_NULL). */
static __attribute__((noinline)) bool resolve(const struct call *call, bool receive, bool no_result,
                                              struct resolved *out, int *code)
{
    *code = explain(call, receive, no_result);
    if (*code != MPI_SUCCESS || call->peer == MPI_PROC_NULL)
        return false;
    out->comm = weft_comm_resolve(call->comm);
    out->type = weft_handle_resolve(call->datatype, WEFT_KIND_DATATYPE);
    out->bytes = (size_t)call->count * out->type->size;
    return true;
}

static __attribute__((noinline)) int begin_send(const struct call *call, enum weft_send_mode mode,
                                                MPI_Request *request)
{
    struct resolved to;
    int code;
    if (!resolve(call, false, !request, &to, &code)) {
        if (code == MPI_SUCCESS)
            *request = (MPI_Request)weft_request_to_nowhere();
        return code;
    }
    struct weft_request *started;
    code = weft_p2p_isend(&to.comm->p2p, call->buffer, to.bytes, to.type, call->peer, call->tag,
                          mode, &started);
    if (weft_unlikely(code != MPI_SUCCESS))
        return weft_error_raise(to.comm, code, call->function);
    *request = (MPI_Request)started;
    return MPI_SUCCESS;
}

static __attribute__((noinline)) int begin_receive(const struct call *call, MPI_Request *request)
{
    struct resolved from;
    int code;
    if (!resolve(call, true, !request, &from, &code)) {
        if (code == MPI_SUCCESS)
            *request = (MPI_Request)weft_request_to_nowhere();
        return code;
    }
    struct weft_request *started;
    code = weft_p2p_irecv(&from.comm->p2p, (void *)call->buffer, from.bytes, from.type, call->peer,
                          call->tag, &started);
    if (weft_unlikely(code != MPI_SUCCESS))
        return weft_error_raise(from.comm, code, call->function);
    *request = (MPI_Request)started;
    return MPI_SUCCESS;
}

static __attribute__((noinline)) int send_now(const struct call *call, enum weft_send_mode mode)
{
    struct resolved to;
    int code;
    if (!resolve(call, false, false, &to, &code))
        return code;
    code =
        weft_p2p_send(&to.comm->p2p, call->buffer, to.bytes, to.type, call->peer, call->tag, mode);
    return code == MPI_SUCCESS ? code : weft_error_raise(to.comm, code, call->function);
}

/* The status of a receive from MPI_PROC_NULL (MPI 5.0, 3.10). */
static void null_status(MPI_Status *status)
{
    weft_status_empty(status, false);
    if (status != MPI_STATUS_IGNORE)
        status->MPI_SOURCE = MPI_PROC_NULL;
}

static __attribute__((noinline)) int receive_now(const struct call *call, MPI_Status *status)
{
    struct resolved from;
    int code;
    if (!resolve(call, true, false, &from, &code)) {
        if (code == MPI_SUCCESS)
            null_status(status);
        return code;
    }
    code = weft_p2p_recv(&from.comm->p2p, (void *)call->buffer, from.bytes, from.type, call->peer,
                         call->tag, status);
    return code == MPI_SUCCESS ? code : weft_error_raise(from.comm, code, call->function);
}

/* The way of every call that the fast path does not take; a null request means a blocking call. */

static __attribute__((noinline)) int long_send(const struct call call, enum weft_send_mode mode,
                                               bool blocking, MPI_Request *request)
{
    int code = weft_enter(call.function);
    if (code)
        return code;
    code = blocking ? send_now(&call, mode) : begin_send(&call, mode, request);
    weft_leave();
    return code;
}

static __attribute__((noinline)) int long_receive(const struct call call, bool blocking,
                                                  MPI_Request *request, MPI_Status *status)
{
    int code = weft_enter(call.function);
    if (code)
        return code;
    code = blocking ? receive_now(&call, status) : begin_receive(&call, request);
    weft_leave();
    return code;
}

/* The long way of each entry point with a fast path: the same arguments in the same places, so that
 * the fast path has nothing to save before it knows that it is not taken. */

#define LONG_WAY static __attribute__((noinline)) int

LONG_WAY send_long(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                   MPI_Comm comm)
{
    return long_send((struct call){"MPI_Send", buf, count, datatype, dest, tag, comm},
                     WEFT_SEND_STANDARD, true, NULL);
}

LONG_WAY rsend_long(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm)
{
    return long_send((struct call){"MPI_Rsend", buf, count, datatype, dest, tag, comm},
                     WEFT_SEND_READY, true, NULL);
}

LONG_WAY isend_long(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Request *request)
{
    return long_send((struct call){"MPI_Isend", buf, count, datatype, dest, tag, comm},
                     WEFT_SEND_STANDARD, false, request);
}

LONG_WAY irsend_long(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Request *request)
{
    return long_send((struct call){"MPI_Irsend", buf, count, datatype, dest, tag, comm},
                     WEFT_SEND_READY, false, request);
}

LONG_WAY recv_long(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                   MPI_Comm comm, MPI_Status *status)
{
    return long_receive((struct call){"MPI_Recv", buf, count, datatype, source, tag, comm}, true,
                        NULL, status);
}

LONG_WAY irecv_long(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                    MPI_Comm comm, MPI_Request *request)
{
    return long_receive((struct call){"MPI_Irecv", buf, count, datatype, source, tag, comm}, false,
                        request, NULL);
}

/* A plain standard or ready send that the provider takes at once. */
ALWAYS_INLINE bool send_fast(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
                             int tag, MPI_Comm comm)
{
    struct resolved to;
    return weft_likely(!weft_gate) &&
           weft_likely(is_plain(buf, count, datatype, dest, tag, comm, false, &to)) &&
           weft_p2p_inject(&to.comm->p2p, to.comm, buf, to.bytes, dest, tag);
}

struct receive {
    struct resolved to;
    struct weft_peer *peer; /* NULL for any source */
    struct weft_request *request;
};

/* A plain receive from a known peer or from any, and its request. */
ALWAYS_INLINE bool receive_fast(const void *buf, MPI_Count count, MPI_Datatype datatype, int source,
                                int tag, MPI_Comm comm, struct receive *out)
{
    if (weft_unlikely(weft_gate) ||
        weft_unlikely(!is_plain(buf, count, datatype, source, tag, comm, true, &out->to)))
        return false;
    out->peer = NULL;
    if (source >= 0) {
        out->peer = weft.peers[out->to.comm->world[source]];
        if (weft_unlikely(!out->peer))
            return false;
    }
    if (weft_unlikely(!weft.requests.free)) /* the long way makes the pool grow: no call here */
        return false;
    out->request = weft_request_get(&weft.requests, WEFT_REQUEST_RECV, 1);
    return true;
}

WEFT_EXPORT(Send_c);
int PMPI_Send_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                MPI_Comm comm)
{
    if (weft_likely(send_fast(buf, count, datatype, dest, tag, comm)))
        return MPI_SUCCESS;
    return send_long(buf, count, datatype, dest, tag, comm);
}

WEFT_EXPORT(Ssend_c);
int PMPI_Ssend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm)
{
    return long_send((struct call){"MPI_Ssend", buf, count, datatype, dest, tag, comm},
                     WEFT_SEND_SYNCHRONOUS, true, NULL);
}

WEFT_EXPORT(Rsend_c);
int PMPI_Rsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm)
{
    if (weft_likely(send_fast(buf, count, datatype, dest, tag, comm)))
        return MPI_SUCCESS;
    return rsend_long(buf, count, datatype, dest, tag, comm);
}

WEFT_EXPORT(Isend_c);
int PMPI_Isend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm, MPI_Request *request)
{
    if (weft_likely(request && weft.requests.free &&
                    send_fast(buf, count, datatype, dest, tag, comm))) {
        *request = (MPI_Request)weft_request_get(&weft.requests, WEFT_REQUEST_SEND, 0);
        return MPI_SUCCESS;
    }
    return isend_long(buf, count, datatype, dest, tag, comm, request);
}

WEFT_EXPORT(Issend_c);
int PMPI_Issend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    return long_send((struct call){"MPI_Issend", buf, count, datatype, dest, tag, comm},
                     WEFT_SEND_SYNCHRONOUS, false, request);
}

WEFT_EXPORT(Irsend_c);
int PMPI_Irsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    if (weft_likely(request && weft.requests.free &&
                    send_fast(buf, count, datatype, dest, tag, comm))) {
        *request = (MPI_Request)weft_request_get(&weft.requests, WEFT_REQUEST_SEND, 0);
        return MPI_SUCCESS;
    }
    return irsend_long(buf, count, datatype, dest, tag, comm, request);
}

WEFT_EXPORT(Recv_c);
int PMPI_Recv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                MPI_Comm comm, MPI_Status *status)
{
    struct receive it;
    if (weft_likely(receive_fast(buf, count, datatype, source, tag, comm, &it))) {
        weft_p2p_start(it.request, &it.to.comm->p2p, buf, it.to.bytes, it.to.type, it.peer, source,
                       tag);
        weft_request_wait(it.request);
        int code = it.request->error;
        weft_request_status(it.request, status, false);
        weft_request_put(it.request);
        return weft_likely(code == MPI_SUCCESS) ? code
                                                : weft_error_raise(it.to.comm, code, "MPI_Recv");
    }
    return recv_long(buf, count, datatype, source, tag, comm, status);
}

WEFT_EXPORT(Irecv_c);
int PMPI_Irecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                 MPI_Comm comm, MPI_Request *request)
{
    struct receive it;
    if (weft_likely(request && receive_fast(buf, count, datatype, source, tag, comm, &it))) {
        *request = (MPI_Request)it.request;
        return weft_p2p_start(it.request, &it.to.comm->p2p, buf, it.to.bytes, it.to.type, it.peer,
                              source, tag);
    }
    return irecv_long(buf, count, datatype, source, tag, comm, request);
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
    code = explain(&out, false, false); /* nothing is posted for a send that cannot be */
    if (code == MPI_SUCCESS)
        code = sendrecv(&out, &in, status);
    weft_leave();
    return code;
}
