// SPDX-License-Identifier: BSD-3-Clause
/*
 * Point-to-point: starting sends and receives on the lane of their peer. Arguments are resolved
 * objects that were checked; MPI_PROC_NULL never comes here. The collectives use it as the API
 * does, on their own channel.
 */
#ifndef WEFT_P2P_H
#define WEFT_P2P_H

#include "core/request.h"
#include "core/weft.h"
#include "ofi/net.h"

/* Starts a send of bytes = count * type->size bytes of data. Returns an MPI error class; on
 * MPI_SUCCESS *out is the request. */
int weft_p2p_isend(struct weft_channel *channel, const void *buffer, size_t bytes,
                   const struct weft_datatype *type, int dest, int tag, enum weft_send_mode mode,
                   struct weft_request **out);

/* Starts a receive of at most bytes bytes of data; source may be MPI_ANY_SOURCE, tag
 * MPI_ANY_TAG. */
int weft_p2p_irecv(struct weft_channel *channel, void *buffer, size_t bytes,
                   const struct weft_datatype *type, int source, int tag,
                   struct weft_request **out);

/* The fast part of a dense standard send: gives the message to the provider and is done with it.
 * False when it takes the long way (weft_p2p_isend), with nothing sent. */
static inline __attribute__((always_inline)) bool weft_p2p_inject(struct weft_channel *channel,
                                                                  const struct weft_comm *comm,
                                                                  const void *buffer, size_t bytes,
                                                                  int dest, int tag)
{
    struct weft_peer *peer = weft.peers[comm->world[dest]];
    return weft_likely(peer && peer->lane == WEFT_LANE_NET) &&
           weft_likely(weft_net_inject(peer, channel->net_bits, tag, comm->rank, buffer, bytes));
}

/* The rest of weft_p2p_start, for receives that cannot go straight to the provider. Returns
 * MPI_SUCCESS. */
int weft_p2p_receive_slowly(struct weft_request *request);

/* Starts a receive whose request was just made by weft_request_get, with the fields of a receive.
 * peer is NULL for any source, else known. Returns MPI_SUCCESS; what goes wrong is in the request's
 * error. Nothing follows the call of the lane, so that a caller's own last call can be this one. */
static inline __attribute__((always_inline)) int
weft_p2p_start(struct weft_request *request, struct weft_channel *channel, void *buffer,
               size_t bytes, const struct weft_datatype *type, struct weft_peer *peer, int source,
               int tag)
{
    request->channel = channel;
    request->peer = peer;
    request->type = type;
    request->buffer = buffer;
    request->capacity = bytes;
    request->match.context = channel->context;
    request->match.source = source;
    request->match.tag = tag;
    if (weft_unlikely(weft.matcher.unexpected | (size_t)channel->held) ||
        weft_unlikely(peer ? peer->lane != WEFT_LANE_NET : channel->wildcards_held) ||
        weft_unlikely(!(type->flags & WEFT_TYPE_DENSE)))
        return weft_p2p_receive_slowly(request);
    return weft_net_irecv(request, buffer, bytes, peer, tag, channel->net_bits);
}

/* Blocking forms; receive fills status unless it is NULL. They return the operation's error class,
 * its sentence said. */
int weft_p2p_send(struct weft_channel *channel, const void *buffer, size_t bytes,
                  const struct weft_datatype *type, int dest, int tag, enum weft_send_mode mode);
int weft_p2p_recv(struct weft_channel *channel, void *buffer, size_t bytes,
                  const struct weft_datatype *type, int source, int tag, MPI_Status *status);

#endif
