// SPDX-License-Identifier: BSD-3-Clause
/*
 * The fast attempts of the lanes: short sends and receives, inline. This is the only header of the
 * core that names lanes, and the only one above src/ofi that has a name of libfabric. Each attempt
 * is made where a limit of the peer permits it (core/message/peer.h), so a lane that sets no limits
 * needs none: its messages take the general path (lane.h). src/ofi/net.h and src/shm/shm.h describe
 * the rest of the lanes.
 */
#ifndef WEFT_LANE_FAST_H
#define WEFT_LANE_FAST_H

#include "core/message/request.h"
#include "core/message/vci.h"

#include <sys/types.h>
#include <sys/uio.h>

/* The numbers of the lanes, from the one that is asked first whether it reaches a rank. */
enum { WEFT_LANE_SELF = 1, WEFT_LANE_SHM, WEFT_LANE_NET, WEFT_LANE_TCP };

/* ---- Shared memory: src/shm/send.c */

/* Sends a contiguous message of fewer than peer->send_limit bytes, with no request. False when
 * there is no space: then nothing was sent. */
bool weft_shm_inject(struct weft_peer *peer, const struct weft_channel *channel, int tag,
                     const void *data, size_t bytes);

/* Starts a send; every field of the request but lane is set, pending is 1. Returns MPI_SUCCESS:
 * what goes wrong is in the request's error. */
int weft_shm_isend(struct weft_request *request);

/* ---- The network */

struct fid_ep;

/* The state of an endpoint that the fast path reads: that of the lane in a VCI. */
struct weft_net_fast {
    ssize_t (*inject)(struct fid_ep *ep, const void *data, size_t bytes, uint64_t cq_data,
                      uint64_t address, uint64_t word); /* the provider's fi_tinjectdata */
    struct fid_ep *ep;                                  /* NULL: none */
    uint64_t ready_bits;   /* the form of a message in ready mode, in the tag word */
    uint64_t number_bits;  /* of the completion data: how much of a peer's sequence they carry */
    unsigned number_shift; /* where these bits begin */
    uint32_t short_iovs;   /* iovecs of a receive into its request */
    ssize_t (*post)(struct fid_ep *ep, const struct iovec *iov, void **descriptors, size_t niov,
                    uint64_t source, uint64_t word, uint64_t ignore,
                    void *context); /* its fi_trecvv */
    uint64_t posts, posts_stop;     /* receives posted so far, and the count at which the fast path
                                       must stop: completed ones plus the limit of the provider; 0: the
                                       general path always */
    uint64_t form_mask;             /* what such a receive ignores */
};

/* The state of a peer that the fast path reads: the first bytes of that of the lane. */
struct weft_net_fast_peer {
    uint64_t address; /* an fi_addr_t */
    uint32_t stop;    /* the sequence number at which the fast path must stop */
};

/* The state of a channel. */
struct weft_net_fast_channel {
    uint64_t word; /* the context's bits in the tag word */
    uint64_t rank; /* this rank's bits in the completion data */
};

_Static_assert(sizeof(struct weft_net_fast) <= WEFT_VCI_LANE_BYTES, "lane state of a VCI");
_Static_assert(sizeof(struct weft_net_fast_channel) <= WEFT_CHANNEL_LANE_BYTES, "of a channel");

static inline struct weft_net_fast *weft_net_fast(struct weft_vci *vci)
{
    return (struct weft_net_fast *)(void *)vci->lane_state;
}

static inline const struct weft_net_fast_peer *weft_net_fast_peer(const struct weft_peer *peer)
{
    return (const struct weft_net_fast_peer *)(const void *)peer->lane_state;
}

static inline const struct weft_net_fast_channel *
weft_net_fast_channel(const struct weft_channel *channel)
{
    return (const struct weft_net_fast_channel *)(const void *)channel->lane_state;
}

/* The bits of the tag word for the mode of an eager send that is not synchronous. */
static inline __attribute__((always_inline)) uint64_t
weft_net_mode_bits(const struct weft_net_fast *net, enum weft_send_mode mode)
{
    return mode == WEFT_SEND_READY ? net->ready_bits : 0;
}

/* Sends a contiguous message of fewer than peer->send_limit bytes, with no request. False, and
 * nothing was sent, if there is a backlog, credits or a flow check need the general path
 * (ofi/credits.c), or the provider returns -FI_EAGAIN. */
static inline __attribute__((always_inline)) bool
weft_net_inject(const struct weft_net_fast *net, struct weft_peer *peer,
                const struct weft_channel *channel, int tag, uint64_t mode_bits, const void *data,
                size_t bytes)
{
    const struct weft_net_fast_peer *fast = weft_net_fast_peer(peer);
    const struct weft_net_fast_channel *from = weft_net_fast_channel(channel);
    uint32_t number = peer->sequence;
    if (weft_unlikely(number == fast->stop) ||
        weft_unlikely(
            net->inject(net->ep, data, bytes,
                        ((uint64_t)number << net->number_shift & net->number_bits) | from->rank,
                        fast->address, from->word | mode_bits | (uint32_t)tag)))
        return false;
    peer->sequence++;
    return true;
}

/* Starts a send; every field of the request but lane is set. Returns MPI_SUCCESS: an error is
 * in the request. */
int weft_net_isend(struct weft_request *request);

/* The same for a contiguous standard message of fewer than peer->send_limit bytes. */
static inline __attribute__((always_inline)) int
weft_net_isend_short(const struct weft_net_fast *net, struct weft_request *request)
{
    request->owner = WEFT_LANE_NET;
    request->sequence = request->peer->sequence;
    if (weft_unlikely(!weft_net_inject(net, request->peer, request->channel, request->tag, 0,
                                       request->buffer, request->bytes)))
        return weft_net_isend(request);
    request->pending = 0;
    return MPI_SUCCESS;
}

/* True if weft_net_irecv_short may be called now. */
static inline bool weft_net_may_post(const struct weft_net_fast *net)
{
    return weft_likely(net->posts < net->posts_stop);
}

/* Posts a receive into its request (shorter than the peer's recv_in_request_limit), given
 * its source and the tag with the bits of the context. If the provider does not accept
 * it, weft_net_refused posts it in software and returns MPI_SUCCESS. */
enum { WEFT_NET_SMALL = 64, WEFT_NET_SHORT_AT = 200 /* its iovecs in the lane state */ };

WEFT_COLD int weft_net_refused(struct weft_request *request);

static inline __attribute__((always_inline)) int weft_net_irecv_short(struct weft_net_fast *net,
                                                                      struct weft_request *request,
                                                                      const struct weft_peer *peer,
                                                                      uint64_t word)
{
    request->posted = net->posts++;
    return weft_likely(!net->post(net->ep,
                                  (const struct iovec *)(request->lane + WEFT_NET_SHORT_AT), NULL,
                                  net->short_iovs, weft_net_fast_peer(peer)->address, word,
                                  net->form_mask, request->lane))
               ? MPI_SUCCESS
               : weft_net_refused(request);
}

/* Posts a receive with a contiguous buffer and a tag, from one source; the flag IN_LANE is set. */
int weft_net_irecv_plain(struct weft_request *request);

/* ---- By the lane of the peer */

/* Sends a contiguous message without a request, if the lane takes it at once; else returns false,
 * and nothing was sent. Not for the synchronous mode. */
static inline __attribute__((always_inline)) bool
weft_lane_inject(struct weft_peer *peer, const struct weft_channel *channel, int tag,
                 enum weft_send_mode mode, const void *data, size_t bytes)
{
    if (weft_unlikely(bytes >= peer->send_limit))
        return false;
    const struct weft_net_fast *net = weft_net_fast(channel->vci);
    if (weft_likely(peer->lane == WEFT_LANE_NET))
        return weft_net_inject(net, peer, channel, tag, weft_net_mode_bits(net, mode), data, bytes);
    return mode == WEFT_SEND_STANDARD && data && weft_shm_inject(peer, channel, tag, data, bytes);
}

/* Starts a contiguous standard send of fewer than peer->send_limit bytes. */
static inline __attribute__((always_inline)) int weft_lane_isend_short(struct weft_vci *vci,
                                                                       struct weft_request *send)
{
    return send->peer->lane == WEFT_LANE_NET ? weft_net_isend_short(weft_net_fast(vci), send)
                                             : weft_shm_isend(send);
}

/* The owner of the receives that are posted by the next three. */
enum { WEFT_LANE_FAST_OWNER = WEFT_LANE_NET };

/* True if a receive of at most so many bytes may be posted into its request now. */
static inline __attribute__((always_inline)) bool
weft_lane_may_post_short(struct weft_vci *vci, const struct weft_peer *peer, size_t bytes)
{
    return bytes < peer->recv_in_request_limit &&
           weft_likely(weft_net_may_post(weft_net_fast(vci)));
}

static inline __attribute__((always_inline)) void weft_lane_post_short(struct weft_vci *vci,
                                                                       struct weft_request *receive,
                                                                       const struct weft_peer *peer,
                                                                       int tag)
{
    weft_net_irecv_short(weft_net_fast(vci), receive, peer,
                         weft_net_fast_channel(receive->channel)->word | (uint32_t)tag);
}

/* Posts a receive of fewer than peer->recv_provider_limit bytes. */
static inline void weft_lane_post_plain(struct weft_request *receive)
{
    weft_net_irecv_plain(receive);
}

#endif
