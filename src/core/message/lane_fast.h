// SPDX-License-Identifier: BSD-3-Clause
/*
 * The fast attempt of a send on the net lane, and what the fast paths read of a VCI's endpoint.
 * This is the only header above src/ofi that has a name of libfabric; ofi/net.h describes the rest
 * of the lane.
 */
#ifndef WEFT_LANE_FAST_H
#define WEFT_LANE_FAST_H

#include "core/message/channel.h"

#include <sys/types.h>
#include <sys/uio.h>

struct fid_ep;

/* The state of an endpoint that the fast path reads; each VCI has its own (struct weft_vci). */
struct weft_net_fast {
    ssize_t (*inject)(struct fid_ep *ep, const void *data, size_t bytes, uint64_t cq_data,
                      uint64_t address, uint64_t word); /* the provider's fi_tinjectdata */
    struct fid_ep *ep;
    uint64_t ready_bits;   /* the form of a message in ready mode, in the tag word */
    uint64_t number_bits;  /* of the completion data: how much of a peer's sequence they carry */
    unsigned number_shift; /* where these bits begin */
    uint32_t short_pieces; /* iovecs of a receive into its request */
    ssize_t (*post)(struct fid_ep *ep, const struct iovec *iov, void **descriptors, size_t pieces,
                    uint64_t source, uint64_t word, uint64_t ignore,
                    void *context); /* its fi_trecvv */
    uint64_t posts, posts_stop;     /* receives posted so far, and the count at which the fast path
                                       must stop: completed ones plus the limit of the provider; 0: the
                                       general path always */
    uint64_t form_mask;             /* what such a receive ignores */
};

/* The state of a peer that the fast path reads: the first bytes of weft_peer.net. */
struct weft_net_fast_peer {
    uint64_t address; /* an fi_addr_t */
    uint32_t stop;    /* the sequence number at which the fast path must stop */
};

static inline const struct weft_net_fast_peer *weft_net_fast_peer(const struct weft_peer *peer)
{
    return (const struct weft_net_fast_peer *)(const void *)peer->net;
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
    uint32_t number = peer->sequence;
    if (weft_unlikely(number == fast->stop) ||
        weft_unlikely(net->inject(net->ep, data, bytes,
                                  ((uint64_t)number << net->number_shift & net->number_bits) |
                                      channel->net_rank,
                                  fast->address, channel->net_bits | mode_bits | (uint32_t)tag)))
        return false;
    peer->sequence++;
    return true;
}

#endif
