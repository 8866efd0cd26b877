// SPDX-License-Identifier: BSD-3-Clause
/*
 * Point-to-point: starting sends and receives on the lane of their peer. Arguments are resolved
 * objects that were checked; MPI_PROC_NULL never comes here. The collectives use it as the API
 * does, on their own channel.
 */
#ifndef WEFT_P2P_H
#define WEFT_P2P_H

#include "core/pt2pt/lane.h"

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
 * MPI_SUCCESS, or an error class whose sentence is recorded; then the request is inactive still. */
int weft_p2p_restart(struct weft_request *request);

/* Sets the fields of a receive's request before it starts. */
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

/* Blocking forms; receive fills status unless it is NULL. They return the operation's error class,
 * its sentence recorded. */
int weft_p2p_send(struct weft_channel *channel, const void *buffer, size_t bytes,
                  const struct weft_datatype *type, int dest, int tag, enum weft_send_mode mode);
int weft_p2p_recv(struct weft_channel *channel, void *buffer, size_t bytes,
                  const struct weft_datatype *type, int source, int tag, MPI_Status *status);

#endif
