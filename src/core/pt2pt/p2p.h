// SPDX-License-Identifier: BSD-3-Clause
/*
 * Point-to-point: starting sends and receives on the lane of their peer. Arguments are resolved
 * objects that were checked; MPI_PROC_NULL never comes here. The collectives use it as the API
 * does, on their own channel.
 */
#ifndef WEFT_P2P_H
#define WEFT_P2P_H

#include "core/message/lane.h"
#include "core/message/lane_fast.h"

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

/* The same for a call that waits for the receive. */
int weft_p2p_irecv_blocking(struct weft_channel *channel, void *buffer, size_t bytes,
                            const struct weft_datatype *type, int source, int tag,
                            struct weft_request **out);

/* Writes to weft_request_ops how messages start, are cancelled and end when they are observed. */
void weft_p2p_init(void);

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

/* The fast attempt of all receives: posts a contiguous receive with a tag from a known source,
 * where the messages of that source are matched: in its lane, received in the request or in its
 * buffer, or in the software matcher. The channel holds no receive (source < channel->sources).
 * NULL, without effect: weft_p2p_irecv is required, because a message waits in software, there is
 * no free request, or the peer's limits are lower. */
static inline __attribute__((always_inline)) struct weft_request *
weft_p2p_post(struct weft_channel *channel, struct weft_peer *peer, void *buffer, size_t bytes,
              int source, int tag)
{
    struct weft_vci *vci = channel->vci;
    struct weft_request *receive = vci->requests.free;
    if (weft_unlikely(vci->matcher.unexpected) || weft_unlikely(!receive))
        return NULL;
    if (weft_lane_may_post_short(vci, peer, bytes)) {
        weft_request_pop(&vci->requests, WEFT_REQUEST_RECV, WEFT_REQUEST_IN_LANE,
                         WEFT_LANE_FAST_OWNER, 1);
        weft_p2p_describe(receive, channel, buffer, bytes, weft_datatype_byte(), peer, source, tag);
        weft_lane_post_short(vci, receive, peer, tag);
    } else if (bytes < peer->recv_software_limit) {
        weft_request_pop(&vci->requests, WEFT_REQUEST_RECV, 0, WEFT_LANE_UNKNOWN, 1);
        weft_p2p_describe(receive, channel, buffer, bytes, weft_datatype_byte(), peer, source, tag);
        weft_sw_post(&vci->matcher, receive);
    } else if (bytes < peer->recv_provider_limit) {
        weft_request_pop(&vci->requests, WEFT_REQUEST_RECV, WEFT_REQUEST_IN_LANE,
                         WEFT_LANE_FAST_OWNER, 1);
        weft_p2p_describe(receive, channel, buffer, bytes, weft_datatype_byte(), peer, source, tag);
        weft_lane_post_plain(receive);
    } else {
        return NULL;
    }
    return receive;
}

/* Blocking forms; receive fills status unless it is NULL. They return the operation's error class,
 * its sentence recorded. */
int weft_p2p_send(struct weft_channel *channel, const void *buffer, size_t bytes,
                  const struct weft_datatype *type, int dest, int tag, enum weft_send_mode mode);
int weft_p2p_recv(struct weft_channel *channel, void *buffer, size_t bytes,
                  const struct weft_datatype *type, int source, int tag, MPI_Status *status);

#endif
