// SPDX-License-Identifier: BSD-3-Clause
/*
 * Point-to-point calls (MPI 5.0 chapter 3): their arguments, the general path, which checks the
 * arguments in their order and calls the core, and the fast path of MPI_Send, MPI_Isend, MPI_Recv
 * and MPI_Irecv, for valid arguments with a predefined or other plain datatype and a rank of the
 * communicator. An entry point tries the fast path while weft_entry_flags is 0, on the channel p2p
 * of the communicator, which rejects all calls if messages are spread over others
 * (core/comm/spread.h); with threads the general path tries it first, with the VCI held.
 *
 * Functions named weft_general_* enter and leave the library. Those named weft_p2p_call_* are
 * called with the VCI of the message held (weft_p2p_vci), and return MPI_SUCCESS or an error class
 * whose sentence was recorded; their callers raise it.
 *
 * Invariant: weft_fast_check accepts only arguments that weft_p2p_call_check accepts.
 */
#ifndef WEFT_P2P_CALL_H
#define WEFT_P2P_CALL_H

#include "core/comm/spread.h"
#include "core/message/process.h"
#include "core/message/sw_match.h"
#include "core/mpi/arg.h"
#include "core/pt2pt/p2p.h"

#include <stdbool.h>

/* The arguments of an entry point. */
struct weft_p2p_call {
    struct weft_comm *comm;
    const void *buffer;
    MPI_Count count;
    MPI_Datatype datatype;
    int peer, tag; /* destination or source */
};

/* The channel of a call's message. */
static inline struct weft_channel *weft_p2p_call_channel(const struct weft_p2p_call *call)
{
    return weft_comm_channel(call->comm, call->peer, call->tag);
}

/* The VCI of a call that sends or receives one message; VCI 0 for an invalid handle, whose error is
 * raised there. */
static inline struct weft_vci *weft_p2p_vci(MPI_Comm handle, int peer, int tag)
{
    struct weft_comm *comm =
        weft_entry_flags & WEFT_ENTRY_CLOSED ? NULL : weft_comm_resolve(handle);
    return comm ? weft_comm_channel(comm, peer, tag)->vci : &weft.vcis[0];
}

/* The VCI of a call that sends one message and receives another; NULL: they have two, so the call
 * takes all. MPI_PROC_NULL has no message. */
struct weft_vci *weft_exchange_vci(MPI_Comm handle, int dest, int sendtag, int source, int recvtag);

/* The results of the checks of valid arguments. */
struct weft_resolved {
    const struct weft_datatype *type;
    size_t bytes; /* count times the size of the type */
};

/* Checks the arguments, and sets *out. receive: wildcards are allowed. With count 0 and
 * MPI_PROC_NULL, MPI_DATATYPE_NULL is accepted as MPI_BYTE. */
int weft_p2p_call_check(const struct weft_p2p_call *call, bool receive, struct weft_resolved *out);

/* As weft_p2p_call_check. True if the call is valid and its peer is a rank, or a wildcard of a
 * receive; else *code is the result of the call (MPI_SUCCESS: the peer is MPI_PROC_NULL). */
bool weft_p2p_call_resolve(const struct weft_p2p_call *call, bool receive,
                           struct weft_resolved *out, int *code);

/* As weft_p2p_call_resolve, for a call that starts a request. False: the call is finished; for
 * MPI_PROC_NULL *request is a complete request. */
bool weft_p2p_call_resolve_start(const struct weft_p2p_call *call, bool receive,
                                 MPI_Request *request, struct weft_resolved *out, int *code);

/* ---- The general path */

/* The standard calls, in both forms; with threads they make the fast attempt first. */
int weft_general_send(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm);
int weft_general_isend(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                       MPI_Comm comm, MPI_Request *request);
int weft_general_recv(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                      MPI_Comm comm, MPI_Status *status);
int weft_general_irecv(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                       MPI_Comm comm, MPI_Request *request);

/* Sends in any mode. */
int weft_p2p_call_send(const struct weft_p2p_call *call, enum weft_send_mode mode);
int weft_p2p_call_isend(const struct weft_p2p_call *call, enum weft_send_mode mode,
                        MPI_Request *request);

/* Buffered sends (bsend.c), persistent (persistent.c) and partitioned requests (partitioned.c): all
 * VCIs are held. call->count: of one partition. */
int weft_p2p_call_bsend(const struct weft_p2p_call *call);
int weft_p2p_call_ibsend(const struct weft_p2p_call *call, MPI_Request *request);
int weft_p2p_call_send_init(const struct weft_p2p_call *call, enum weft_send_mode mode,
                            MPI_Request *request);
int weft_p2p_call_recv_init(const struct weft_p2p_call *call, MPI_Request *request);
int weft_p2p_call_partitioned_init(const struct weft_p2p_call *call, bool receive, int partitions,
                                   MPI_Info info, MPI_Request *request);

/* The exchanges (sendrecv.c). replace: both calls have one buffer, so a copy of it is sent. */
int weft_p2p_call_sendrecv(struct weft_p2p_call out, const struct weft_p2p_call *in, bool replace,
                           MPI_Status *status);
int weft_p2p_call_isendrecv(struct weft_p2p_call out, const struct weft_p2p_call *in, bool replace,
                            MPI_Request *request);

/* Probes (probe.c). flag: whether there is a message; NULL: waits until there is one. message: into
 * it the message is taken; NULL: the message stays. */
int weft_p2p_call_probe(struct weft_comm *comm, int source, int tag, int *flag,
                        MPI_Message *message, MPI_Status *status);

/* The VCI of a message that a matched probe took; VCI 0 for an invalid handle. */
struct weft_vci *weft_message_vci(const MPI_Message *handle);

/* Completes the receive of MPI_Recv. */
int weft_finish_recv(struct weft_request *receive, MPI_Status *status);

/* ---- The fast path */

/* The communicator of a handle, or NULL; MPI_COMM_WORLD without a load. */
static inline __attribute__((always_inline)) struct weft_comm *weft_fast_comm(MPI_Comm handle)
{
    return weft_likely(handle == MPI_COMM_WORLD) ? &weft_comm_world : weft_comm_resolve(handle);
}

/* Checks the arguments that sends and receives have in common. A count above INT32_MAX takes the
 * general path, so that the product with the size cannot overflow. ranks: how many ranks the call
 * may name: `size` of the channel for a send, `sources` for a receive. */
static inline __attribute__((always_inline)) bool
weft_fast_check(const void *buffer, MPI_Count count, MPI_Datatype datatype, int rank, int tag,
                uint32_t ranks, size_t *bytes)
{
    size_t size = weft_datatype_plain_size(datatype);
    if (weft_unlikely(!size) || weft_unlikely(!weft_is_address(buffer)) ||
        weft_unlikely((uint64_t)count > INT32_MAX) || weft_unlikely((uint32_t)rank >= ranks) ||
        weft_unlikely((uint32_t)tag > (uint32_t)weft.tag_ub))
        return false;
    *bytes = (size_t)count * size;
    return true;
}

/* The attempts with checked arguments, and weft_lane_inject for MPI_Send; channel: of the message
 * (weft_comm_channel). True: the call is finished, with *code or MPI_SUCCESS. False, without
 * effect: the general path is required. */

static inline __attribute__((always_inline)) bool weft_fast_isend(struct weft_channel *channel,
                                                                  const void *buffer, size_t bytes,
                                                                  int dest, int tag,
                                                                  MPI_Request *request, int *code)
{
    struct weft_peer *peer = channel->peers[dest];
    struct weft_vci *vci = channel->vci;
    struct weft_request *send = vci->requests.free;
    if (weft_unlikely(!send) || weft_unlikely(bytes >= peer->send_limit))
        return false;
    weft_request_pop(&vci->requests, WEFT_REQUEST_SEND, 0, WEFT_LANE_UNKNOWN, 1);
    send->tag = tag;
    send->bytes = bytes;
    send->channel = channel;
    send->peer = peer;
    send->type = weft_datatype_byte();
    send->buffer = (void *)buffer;
    *request = (MPI_Request)send;
    *code = weft_lane_isend_short(vci, send);
    return true;
}

static inline __attribute__((always_inline)) bool weft_fast_recv(struct weft_channel *channel,
                                                                 void *buffer, size_t bytes,
                                                                 int source, int tag,
                                                                 MPI_Status *status, int *code)
{
    struct weft_request *receive =
        weft_p2p_post(channel, channel->peers[source], buffer, bytes, source, tag);
    if (weft_unlikely(!receive))
        return false;
    *code = weft_finish_recv(receive, status);
    return true;
}

static inline __attribute__((always_inline)) bool weft_fast_irecv(struct weft_channel *channel,
                                                                  void *buffer, size_t bytes,
                                                                  int source, int tag,
                                                                  MPI_Request *request)
{
    struct weft_request *receive =
        weft_p2p_post(channel, channel->peers[source], buffer, bytes, source, tag);
    if (weft_unlikely(!receive))
        return false;
    *request = (MPI_Request)receive;
    return true;
}

/* ---- The entry points, with an int count or an MPI_Count. A failed attempt continues with the
 * channel and the bytes, so that the attempt need not keep the other arguments in registers. */

static inline __attribute__((always_inline)) int weft_entry_send(const void *buf, MPI_Count count,
                                                                 MPI_Datatype datatype, int dest,
                                                                 int tag, MPI_Comm handle)
{
    size_t bytes;
    struct weft_comm *comm = weft_likely(!weft_entry_flags) ? weft_fast_comm(handle) : NULL;
    if (weft_unlikely(!comm) || weft_unlikely(!weft_fast_check(buf, count, datatype, dest, tag,
                                                               (uint32_t)comm->p2p.size, &bytes)))
        return weft_general_send(buf, count, datatype, dest, tag, handle);
    if (weft_likely(weft_lane_inject(comm->p2p.peers[dest], &comm->p2p, tag, WEFT_SEND_STANDARD,
                                     buf, bytes)))
        return MPI_SUCCESS;
    return weft_general_send(buf, (MPI_Count)bytes, MPI_BYTE, dest, tag, (MPI_Comm)comm);
}

static inline __attribute__((always_inline)) int weft_entry_isend(const void *buf, MPI_Count count,
                                                                  MPI_Datatype datatype, int dest,
                                                                  int tag, MPI_Comm handle,
                                                                  MPI_Request *request)
{
    size_t bytes;
    int code;
    struct weft_comm *comm = weft_likely(!weft_entry_flags) ? weft_fast_comm(handle) : NULL;
    if (weft_unlikely(!comm) ||
        weft_unlikely(
            !weft_fast_check(buf, count, datatype, dest, tag, (uint32_t)comm->p2p.size, &bytes)) ||
        weft_unlikely(!request))
        return weft_general_isend(buf, count, datatype, dest, tag, handle, request);
    if (weft_likely(weft_fast_isend(&comm->p2p, buf, bytes, dest, tag, request, &code)))
        return code;
    return weft_general_isend(buf, (MPI_Count)bytes, MPI_BYTE, dest, tag, (MPI_Comm)comm, request);
}

static inline __attribute__((always_inline)) int weft_entry_recv(void *buf, MPI_Count count,
                                                                 MPI_Datatype datatype, int source,
                                                                 int tag, MPI_Comm handle,
                                                                 MPI_Status *status)
{
    size_t bytes;
    int code;
    struct weft_comm *comm = weft_likely(!weft_entry_flags) ? weft_fast_comm(handle) : NULL;
    if (weft_unlikely(!comm) || weft_unlikely(!weft_fast_check(buf, count, datatype, source, tag,
                                                               comm->p2p.sources, &bytes)))
        return weft_general_recv(buf, count, datatype, source, tag, handle, status);
    if (weft_likely(weft_fast_recv(&comm->p2p, buf, bytes, source, tag, status, &code)))
        return code;
    return weft_general_recv(buf, (MPI_Count)bytes, MPI_BYTE, source, tag, (MPI_Comm)comm, status);
}

static inline __attribute__((always_inline)) int weft_entry_irecv(void *buf, MPI_Count count,
                                                                  MPI_Datatype datatype, int source,
                                                                  int tag, MPI_Comm handle,
                                                                  MPI_Request *request)
{
    size_t bytes;
    struct weft_comm *comm = weft_likely(!weft_entry_flags) ? weft_fast_comm(handle) : NULL;
    if (weft_unlikely(!comm) ||
        weft_unlikely(
            !weft_fast_check(buf, count, datatype, source, tag, comm->p2p.sources, &bytes)) ||
        weft_unlikely(!request))
        return weft_general_irecv(buf, count, datatype, source, tag, handle, request);
    if (weft_likely(weft_fast_irecv(&comm->p2p, buf, bytes, source, tag, request)))
        return MPI_SUCCESS;
    return weft_general_irecv(buf, (MPI_Count)bytes, MPI_BYTE, source, tag, (MPI_Comm)comm,
                              request);
}

#endif
