// SPDX-License-Identifier: BSD-3-Clause
/*
 * The fast path of MPI_Send, MPI_Isend, MPI_Recv and MPI_Irecv (MPI 5.0 chapter 3): a predefined or
 * other plain datatype, a rank of the communicator, a peer that is connected, and a lane that takes
 * the message at once. An entry point tries it while weft_gate is 0; with threads the general path
 * (p2p_general.c) tries it first, with the VCI held.
 *
 * Invariants:
 *  - The fast path accepts only calls that weft_call_explain accepts.
 *  - A function here that returns false or NULL has had no effect.
 */
#ifndef WEFT_P2P_FAST_H
#define WEFT_P2P_FAST_H

#include "core/comm/comm.h"
#include "core/process/weft.h"
#include "core/pt2pt/p2p.h"
#include "core/pt2pt/sw_match.h"

#include <stdbool.h>

/* The communicator of a handle, or NULL; MPI_COMM_WORLD without a load. */
static inline __attribute__((always_inline)) struct weft_comm *weft_fast_comm(MPI_Comm handle)
{
    return weft_likely(handle == MPI_COMM_WORLD) ? &weft_comm_world : weft_comm_resolve(handle);
}

/* Checks the arguments that sends and receives have in common. A count above INT32_MAX takes the
 * general path, so that the product with the size cannot overflow. ranks: how many ranks the call
 * may name. */
static inline __attribute__((always_inline)) bool
weft_fast_check(const void *buffer, MPI_Count count, MPI_Datatype datatype, int rank, int tag,
                uint32_t ranks, size_t *bytes)
{
    size_t size = weft_datatype_plain_size(datatype);
    *bytes = (size_t)count * size;
    return weft_likely(buffer != NULL) && weft_likely((uint64_t)count <= INT32_MAX) &&
           weft_likely(size != 0) && weft_likely((uint32_t)rank < ranks) &&
           weft_likely((uint32_t)tag <= (uint32_t)weft.tag_ub);
}

static inline __attribute__((always_inline)) bool weft_fast_send(const void *buffer,
                                                                 MPI_Count count,
                                                                 MPI_Datatype datatype, int dest,
                                                                 int tag, MPI_Comm handle)
{
    struct weft_comm *comm = weft_fast_comm(handle);
    size_t bytes;
    if (weft_unlikely(!comm) ||
        !weft_fast_check(buffer, count, datatype, dest, tag, (uint32_t)comm->size, &bytes))
        return false;
    return weft_lane_inject(comm->peers[dest], &comm->p2p, tag, WEFT_SEND_STANDARD, buffer, bytes);
}

/* The request of a message that the net lane has taken; complete from the beginning. */
static inline __attribute__((always_inline)) struct weft_request *
weft_fast_isend(const void *buffer, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                MPI_Comm handle)
{
    struct weft_comm *comm = weft_fast_comm(handle);
    size_t bytes;
    if (weft_unlikely(!comm) ||
        !weft_fast_check(buffer, count, datatype, dest, tag, (uint32_t)comm->size, &bytes) ||
        weft_unlikely(!comm->vci->requests.free))
        return NULL;
    struct weft_peer *peer = comm->peers[dest];
    uint32_t sequence = peer->sequence;
    if (weft_unlikely(bytes >= peer->send_limit))
        return NULL;
    if (peer->lane == WEFT_LANE_SHM)
        return weft_shm_inject_request(peer, &comm->p2p, tag, buffer, bytes);
    if (weft_unlikely(!weft_net_inject(&comm->vci->net, peer, &comm->p2p, tag, 0, buffer, bytes)))
        return NULL;
    struct weft_request *send =
        weft_request_pop(&comm->vci->requests, WEFT_REQUEST_SEND, 0, WEFT_LANE_NET, 0);
    send->tag = tag;
    send->sequence = sequence; /* for MPI_Cancel */
    send->bytes = bytes;
    send->channel = &comm->p2p;
    send->peer = peer;
    send->buffer = (void *)buffer;
    return send;
}

/* A receive from one rank, posted where the messages of that rank are matched: in the provider,
 * landing in its request or in its buffer, or in the software matcher. Returns its request, or
 * NULL. */
static inline __attribute__((always_inline)) struct weft_request *
weft_fast_post(void *buffer, MPI_Count count, MPI_Datatype datatype, int source, int tag,
               MPI_Comm handle)
{
    struct weft_comm *comm = weft_fast_comm(handle);
    size_t bytes;
    if (weft_unlikely(!comm) ||
        !weft_fast_check(buffer, count, datatype, source, tag, comm->p2p.sources, &bytes))
        return NULL;
    struct weft_channel *channel = &comm->p2p;
    struct weft_peer *peer = comm->peers[source];
    struct weft_vci *vci = comm->vci;
    struct weft_request *receive = vci->requests.free;
    if (weft_unlikely(vci->matcher.unexpected) || weft_unlikely(!receive))
        return NULL;
    if (bytes < peer->recv_in_request_limit && weft_likely(weft_net_may_post(&vci->net))) {
        weft_request_pop(&vci->requests, WEFT_REQUEST_RECV, WEFT_REQUEST_IN_NET, WEFT_LANE_NET, 1);
        weft_p2p_describe(receive, channel, buffer, bytes, weft_datatype_byte(), peer, source, tag);
        weft_net_irecv_from(&vci->net, receive, peer, channel->net_bits | (uint32_t)tag);
    } else if (bytes < peer->recv_software_limit) {
        weft_request_pop(&vci->requests, WEFT_REQUEST_RECV, 0, WEFT_LANE_UNKNOWN, 1);
        weft_p2p_describe(receive, channel, buffer, bytes, weft_datatype_byte(), peer, source, tag);
        weft_sw_post(&vci->matcher, receive);
    } else if (bytes < peer->recv_provider_limit) {
        weft_request_pop(&vci->requests, WEFT_REQUEST_RECV, WEFT_REQUEST_IN_NET, WEFT_LANE_NET, 1);
        weft_p2p_describe(receive, channel, buffer, bytes, weft_datatype_byte(), peer, source, tag);
        weft_net_irecv_plain(receive);
    } else {
        return NULL;
    }
    return receive;
}

#endif
