// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the fast paths end in that is not worth a copy in each entry point; see p2p_fast.h.
 *
 * Invariant: what is given to these is good. They return an error class, or what the error handler
 * let through.
 */
#include "core/mpi/p2p_fast.h"
#include "core/mpi/p2p_long.h"
#include "core/object/error.h"

int weft_fast_isend_refused(struct weft_request *request, bool counted)
{
    request->peer->sequence -= counted;
    request->type = weft_datatype_byte(); /* was not needed until now */
    return weft_net_isend(request);
}

int weft_fast_send_refused(const void *buf, size_t bytes, struct weft_channel *channel, int dest,
                           int tag)
{
    int code =
        weft_p2p_send(channel, buf, bytes, weft_datatype_byte(), dest, tag, WEFT_SEND_STANDARD);
    return code == MPI_SUCCESS ? code : weft_error_raise(channel->comm, code, "MPI_Send");
}

WEFT_HOT int weft_fast_send_here(const void *buf, size_t bytes, struct weft_channel *channel,
                                 int dest, int tag, struct weft_peer *peer)
{
    uint32_t sequence;
    if (weft_unlikely(!weft_shm_inject(peer, channel, tag, buf, bytes, &sequence)))
        return weft_fast_send_refused(buf, bytes, channel, dest, tag);
    return MPI_SUCCESS;
}

int weft_fast_post_to_bins(struct weft_match_receive *receive)
{
    weft_match_post(&weft.matcher, receive);
    return MPI_SUCCESS;
}

WEFT_HOT int weft_fast_irecv_longer(void *buf, size_t bytes, struct weft_channel *channel,
                                    uint64_t source, int tag, struct weft_peer *peer)
{
    struct weft_request *posted =
        weft_request_pop(&weft.requests, WEFT_REQUEST_RECV, WEFT_REQUEST_IN_NET, 1);
    weft_p2p_describe(posted, channel, buf, bytes, weft_datatype_byte(), peer, (int)source, tag);
    return weft_net_irecv_plain(posted);
}
