// SPDX-License-Identifier: BSD-3-Clause
/*
 * Point-to-point entry points (MPI 5.0 chapter 3): check arguments, resolve handles, call the core.
 *
 * Every call first tries the fast path: one thread, good plain arguments, a peer known on the net
 * lane. Whatever it does not take goes the long way, which checks again, in the order of the
 * arguments, and explains.
 *
 * Invariant: the fast path accepts only what weft_call_explain accepts, and has no effect when it declines.
 */
#include "core/api/api.h"
#include "core/api/call.h"
#include "core/error.h"
#include "core/p2p.h"
#include "core/weft.h"

#include <stdbool.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* The fast check: true when the call is good and plain (below 2^31 elements of a plain type, with a
 * buffer, to or from a rank, with a tag). False proves nothing: weft_call_resolve decides. */
ALWAYS_INLINE bool is_plain(const void *buffer, MPI_Count count, MPI_Datatype datatype, int peer,
                            int tag, MPI_Comm handle, struct weft_resolved *out)
{
    out->comm = weft_handle_object(handle);
    out->type = weft_handle_object(datatype);
    if (weft_unlikely(out->comm->object.kind != WEFT_KIND_COMM ||
                      out->type->object.kind != WEFT_KIND_DATATYPE))
        return false;
    return weft_likely((unsigned)peer < (unsigned)out->comm->size) &&
           weft_likely((unsigned)tag <= (unsigned)weft.tag_ub) &&
           weft_likely((uint64_t)count <= INT32_MAX && (out->type->flags & WEFT_TYPE_PLAIN) &&
                       buffer);
}

/* The bytes of data of a plain call. */
ALWAYS_INLINE size_t plain_bytes(MPI_Count count, const struct weft_resolved *plain)
{
    return (size_t)count * plain->type->size;
}

/* The peer of a plain call if it is known and on the net lane, else NULL. */
ALWAYS_INLINE struct weft_peer *net_peer(const struct weft_comm *comm, int rank)
{
    struct weft_peer *peer = comm->peers[rank];
    return weft_likely(peer->lane == WEFT_LANE_NET) ? peer : NULL;
}

static __attribute__((noinline)) int begin_send(const struct weft_call *call,
                                                enum weft_send_mode mode, MPI_Request *request)
{
    struct weft_resolved to;
    int code;
    if (!request)
        return weft_call_explain(call, false, true);
    if (!weft_call_resolve(call, false, &to, &code)) {
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

static __attribute__((noinline)) int begin_receive(const struct weft_call *call,
                                                   MPI_Request *request)
{
    struct weft_resolved from;
    int code;
    if (!request)
        return weft_call_explain(call, true, true);
    if (!weft_call_resolve(call, true, &from, &code)) {
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

static __attribute__((noinline)) int send_now(const struct weft_call *call,
                                              enum weft_send_mode mode)
{
    struct weft_resolved to;
    int code;
    if (!weft_call_resolve(call, false, &to, &code))
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

static __attribute__((noinline)) int receive_now(const struct weft_call *call, MPI_Status *status)
{
    struct weft_resolved from;
    int code;
    if (!weft_call_resolve(call, true, &from, &code)) {
        if (code == MPI_SUCCESS)
            null_status(status);
        return code;
    }
    code = weft_p2p_recv(&from.comm->p2p, (void *)call->buffer, from.bytes, from.type, call->peer,
                         call->tag, status);
    return code == MPI_SUCCESS ? code : weft_error_raise(from.comm, code, call->function);
}

/* The way of every call that the fast path does not take; a null request means a blocking call. */

static __attribute__((noinline)) int long_send(const struct weft_call call,
                                               enum weft_send_mode mode, bool blocking,
                                               MPI_Request *request)
{
    int code = weft_enter(call.function);
    if (code)
        return code;
    code = blocking ? send_now(&call, mode) : begin_send(&call, mode, request);
    weft_leave();
    return code;
}

static __attribute__((noinline)) int long_receive(const struct weft_call call, bool blocking,
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
    return long_send((struct weft_call){"MPI_Send", buf, count, datatype, dest, tag, comm},
                     WEFT_SEND_STANDARD, true, NULL);
}

LONG_WAY rsend_long(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm)
{
    return long_send((struct weft_call){"MPI_Rsend", buf, count, datatype, dest, tag, comm},
                     WEFT_SEND_READY, true, NULL);
}

LONG_WAY isend_long(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Request *request)
{
    return long_send((struct weft_call){"MPI_Isend", buf, count, datatype, dest, tag, comm},
                     WEFT_SEND_STANDARD, false, request);
}

LONG_WAY irsend_long(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Request *request)
{
    return long_send((struct weft_call){"MPI_Irsend", buf, count, datatype, dest, tag, comm},
                     WEFT_SEND_READY, false, request);
}

LONG_WAY recv_long(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                   MPI_Comm comm, MPI_Status *status)
{
    return long_receive((struct weft_call){"MPI_Recv", buf, count, datatype, source, tag, comm},
                        true, NULL, status);
}

LONG_WAY irecv_long(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                    MPI_Comm comm, MPI_Request *request)
{
    return long_receive((struct weft_call){"MPI_Irecv", buf, count, datatype, source, tag, comm},
                        false, request, NULL);
}

/* Plain standard or ready sends: blocking ones are injected without a request; false means that
 * nothing was sent. */
ALWAYS_INLINE bool send_fast(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
                             int tag, MPI_Comm comm)
{
    struct weft_resolved to;
    if (weft_unlikely(weft_gate) ||
        weft_unlikely(!is_plain(buf, count, datatype, dest, tag, comm, &to)))
        return false;
    struct weft_peer *peer = net_peer(to.comm, dest);
    return peer && weft_net_inject(peer, to.comm->p2p.net_bits, tag, to.comm->rank, buf,
                                   plain_bytes(count, &to));
}

/* Nonblocking ones get a request first. The lane's function is the last thing called, so that
 * nothing is saved around it. False: nothing was done. */
ALWAYS_INLINE bool isend_fast(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
                              int tag, MPI_Comm comm, enum weft_send_mode mode,
                              MPI_Request *request, int *code)
{
    struct weft_resolved to;
    if (weft_unlikely(weft_gate) ||
        weft_unlikely(!is_plain(buf, count, datatype, dest, tag, comm, &to)))
        return false;
    struct weft_peer *peer = net_peer(to.comm, dest);
    if (weft_unlikely(!peer || !weft.requests.free || !request))
        return false;
    size_t bytes = plain_bytes(count, &to);
    struct weft_request *started = weft_request_pop(&weft.requests, WEFT_REQUEST_SEND, 0, 0);
    if (mode != WEFT_SEND_STANDARD)
        started->mode = (uint8_t)mode;
    started->tag = tag;
    started->bytes = bytes;
    started->channel = &to.comm->p2p;
    started->peer = peer;
    started->type = to.type;
    started->buffer = (void *)buf;
    *request = (MPI_Request)started;
    *code = weft_net_isend_plain(started, peer, buf, bytes, to.comm->p2p.net_bits | (uint32_t)tag,
                                 to.comm->rank);
    return true;
}

/* A plain receive from one rank, posted to the provider. NULL: nothing was done. */
ALWAYS_INLINE struct weft_request *receive_fast(void *buf, MPI_Count count, MPI_Datatype datatype,
                                                int source, int tag, MPI_Comm comm,
                                                MPI_Request *request, int *code)
{
    struct weft_resolved from;
    if (weft_unlikely(weft_receive_gate) ||
        weft_unlikely(!is_plain(buf, count, datatype, source, tag, comm, &from)))
        return NULL;
    struct weft_peer *peer = net_peer(from.comm, source);
    struct weft_channel *channel = &from.comm->p2p;
    if (weft_unlikely(!peer) || weft_unlikely(!weft.requests.free) || weft_unlikely(channel->held))
        return NULL;
    size_t bytes = plain_bytes(count, &from);
    struct weft_request *posted =
        weft_request_pop(&weft.requests, WEFT_REQUEST_RECV, WEFT_REQUEST_IN_NET, 1);
    weft_p2p_describe(posted, channel, buf, bytes, from.type, peer, source, tag);
    *request = (MPI_Request)posted;
    *code =
        weft_net_irecv_plain(posted, buf, bytes, peer->net_addr, channel->net_bits | (uint32_t)tag);
    return posted;
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
    return long_send((struct weft_call){"MPI_Ssend", buf, count, datatype, dest, tag, comm},
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
    int code;
    if (weft_likely(
            isend_fast(buf, count, datatype, dest, tag, comm, WEFT_SEND_STANDARD, request, &code)))
        return code;
    return isend_long(buf, count, datatype, dest, tag, comm, request);
}

WEFT_EXPORT(Issend_c);
int PMPI_Issend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    return long_send((struct weft_call){"MPI_Issend", buf, count, datatype, dest, tag, comm},
                     WEFT_SEND_SYNCHRONOUS, false, request);
}

WEFT_EXPORT(Irsend_c);
int PMPI_Irsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    int code;
    if (weft_likely(
            isend_fast(buf, count, datatype, dest, tag, comm, WEFT_SEND_READY, request, &code)))
        return code;
    return irsend_long(buf, count, datatype, dest, tag, comm, request);
}

WEFT_EXPORT(Recv_c);
int PMPI_Recv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                MPI_Comm comm, MPI_Status *status)
{
    MPI_Request posted;
    int code;
    struct weft_request *it = receive_fast(buf, count, datatype, source, tag, comm, &posted, &code);
    if (weft_unlikely(!it))
        return recv_long(buf, count, datatype, source, tag, comm, status);
    weft_request_wait(it);
    code = it->error;
    struct weft_comm *owner = it->channel->comm;
    weft_request_status(it, status, false);
    weft_request_put(it);
    return weft_likely(code == MPI_SUCCESS) ? code : weft_error_raise(owner, code, "MPI_Recv");
}

WEFT_EXPORT(Irecv_c);
int PMPI_Irecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                 MPI_Comm comm, MPI_Request *request)
{
    int code;
    if (weft_likely(request &&
                    receive_fast(buf, count, datatype, source, tag, comm, request, &code)))
        return code;
    return irecv_long(buf, count, datatype, source, tag, comm, request);
}
