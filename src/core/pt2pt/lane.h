// SPDX-License-Identifier: BSD-3-Clause
/*
 * Lanes: the interface between the core and the transports. A peer is reached through one lane,
 * decided at first contact: self (this process), shm (a process of this node; src/shm) or net
 * (src/ofi).
 *
 * Each function here branches on the lane of the peer, or on the owner of the request's lane state.
 * This header is the only one through which the core, but for core/process and core/rma, includes
 * headers of src/shm and src/ofi. What only one lane has, such as the provider's matching, is
 * called by its own name (weft_net_*, weft_shm_*).
 *
 * Invariants:
 *  - `owner` of a request names the lane whose state is in `lane`: set when a send starts, when a
 *    receive is posted to the provider, and when a matched message has to be fetched.
 *  - A lane completes its requests by weft_request_event. If one fails, the request has the error,
 *    and the sentence is recorded, before the last event.
 *  - Messages to a peer leave in the order of the calls.
 */
#ifndef WEFT_LANE_H
#define WEFT_LANE_H

#include "core/message/process.h"
#include "core/message/request.h"
#include "core/message/sw_match.h"
#include "ofi/net.h"
#include "shm/area.h"
#include "shm/shm.h"

/* Sets weft_lane_ops. */
void weft_lane_init(void);

/* ---- Peers */

/* The lane to a rank in MPI_COMM_WORLD. */
enum weft_lane weft_lane_to(int world);

/* ---- Sends */

/* Sends a contiguous message without a request, if the lane takes it at once; else returns false,
 * and nothing was sent. Not for the synchronous mode. */
static inline __attribute__((always_inline)) bool
weft_lane_inject(struct weft_peer *peer, const struct weft_channel *channel, int tag,
                 enum weft_send_mode mode, const void *data, size_t bytes)
{
    if (weft_unlikely(bytes >= peer->send_limit))
        return false;
    const struct weft_net_fast *net = &channel->vci->net;
    if (weft_likely(peer->lane == WEFT_LANE_NET))
        return weft_net_inject(net, peer, channel, tag, weft_net_mode_bits(net, mode), data, bytes);
    return mode == WEFT_SEND_STANDARD && data && weft_shm_inject(peer, channel, tag, data, bytes);
}

/* Starts the send that a request describes; pending is 1. Returns MPI_SUCCESS, or, for a message to
 * this process, MPI_ERR_NO_MEM with the sentence recorded. */
int weft_lane_send(struct weft_request *request);

/* Cancels a send, complete or not: at once if it has not left, else by a control to the
 * receiver, and the request waits for the reply (WEFT_REQUEST_CANCELLING). */
void weft_lane_cancel(struct weft_request *request);

/* ---- Active requests */

/* True if the lanes have nothing left to send or to read. */
bool weft_lane_is_idle(void);

/* The state of a send or receive that is not complete, as text for the user. Valid until the next
 * call. */
const char *weft_lane_describe(const struct weft_request *request);

#endif
