// SPDX-License-Identifier: BSD-3-Clause
/*
 * Point-to-point: starting sends and receives on the lane of their peer. Arguments are resolved
 * objects that were checked; MPI_PROC_NULL never comes here. The collectives use it as the API
 * does, on their own channel.
 */
#ifndef WEFT_P2P_H
#define WEFT_P2P_H

#include "core/pt2pt/request.h"
#include "core/process/weft.h"
#include "ofi/net.h"
#include "shm/shm.h"

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

/* Starts an inactive persistent request: a send, a receive, or nothing to MPI_PROC_NULL. Returns
 * MPI_SUCCESS, or an error class whose sentence is said; then the request is inactive still. */
int weft_p2p_restart(struct weft_request *request);

/* What a receive's request holds when it starts. */
static inline __attribute__((always_inline)) void
weft_p2p_describe(struct weft_request *request, struct weft_channel *channel, void *buffer,
                  size_t bytes, const struct weft_datatype *type, struct weft_peer *peer,
                  int source, int tag)
{
    request->channel = channel;
    request->peer = peer;
    request->type = type;
    request->buffer = buffer;
    request->capacity = bytes;
    request->match.source = source;
    request->match.tag = tag;
}

/* Sends a contiguous message in one of the ways that need no request, if there is one now. Not for the
 * synchronous mode. */
static inline bool weft_p2p_inject(struct weft_peer *peer, const struct weft_channel *channel,
                                   int tag, enum weft_send_mode mode, const void *data,
                                   size_t bytes)
{
    if (bytes < peer->inject_below)
        return weft_net_inject(peer, channel, tag, weft_net_mode_bits(mode), data, bytes);
    return mode == WEFT_SEND_STANDARD && bytes < peer->share_below && data &&
           weft_shm_inject(peer, channel, tag, data, bytes);
}

/* Blocking forms; receive fills status unless it is NULL. They return the operation's error class,
 * its sentence said. */
int weft_p2p_send(struct weft_channel *channel, const void *buffer, size_t bytes,
                  const struct weft_datatype *type, int dest, int tag, enum weft_send_mode mode);
int weft_p2p_recv(struct weft_channel *channel, void *buffer, size_t bytes,
                  const struct weft_datatype *type, int source, int tag, MPI_Status *status);

#endif
