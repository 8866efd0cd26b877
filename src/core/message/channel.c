// SPDX-License-Identifier: BSD-3-Clause
/*
 * Channels: see channel.h.
 */
#include "core/message/channel.h"

#include "core/message/process.h"

struct weft_channel_ops weft_channel_ops;

struct weft_peer *weft_channel_connect(const struct weft_channel *channel, int rank)
{
    weft_assert(rank >= 0 && rank < channel->size && weft_vci_is_held(channel->vci));
    struct weft_peer *peer = weft_peer_get(channel->vci_number, weft_channel_world(channel, rank));
    if (peer)
        channel->peers[rank] = peer;
    return peer;
}
