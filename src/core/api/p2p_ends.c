// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the fast paths end in that is not worth a copy in each entry point; see p2p_fast.h.
 *
 * Invariant: what is given to these is good. They return an error class, or what the error handler
 * let through.
 */
#include "core/api/p2p_fast.h"
#include "core/api/p2p_long.h"
#include "core/error.h"

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

static __attribute__((noinline)) int post_to_bins(struct weft_match_receive *receive)
{
    weft_match_post(&weft.matcher, receive);
    return MPI_SUCCESS;
}

/* What the entry point leaves to these is whether there is a place for the request, and a request:
 * so it needs no more registers than it may use without saving them. */
ALWAYS_INLINE bool no_request(const MPI_Request *request)
{
    return weft_unlikely(!request) || weft_unlikely(!weft.requests.free);
}

WEFT_COLD static int irecv_without(void *buf, size_t bytes, struct weft_comm *comm, uint64_t source,
                                   int tag, MPI_Request *request)
{
    if (request)
        *request = MPI_REQUEST_NULL; /* MPI_Recv's, should this fail */
    return weft_long_irecv(buf, (MPI_Count)bytes, MPI_BYTE, (int)source, tag, comm->handle,
                           request);
}

WEFT_HOT int weft_fast_irecv_here(void *buf, size_t bytes, struct weft_comm *comm, uint64_t source,
                                  int tag, struct weft_peer *peer, MPI_Request *request)
{
    if (no_request(request))
        return irecv_without(buf, bytes, comm, source, tag, request);
    struct weft_request *posted = weft_request_pop(&weft.requests, WEFT_REQUEST_RECV, 0, 1);
    *request = (MPI_Request)posted;
    struct weft_channel *channel = &comm->p2p;
    posted->channel = channel;
    posted->peer = peer;
    posted->type = weft_datatype_byte();
    posted->buffer = buf;
    posted->capacity = bytes;
    bool quick = weft_match_post_express(&weft.matcher, &posted->match,
                                         weft_match_label(channel->context), (int32_t)source, tag);
    return weft_likely(quick) ? MPI_SUCCESS : post_to_bins(&posted->match);
}

/* A request for a receive that the provider matches. */
ALWAYS_INLINE struct weft_request *pop_for_net(void *buf, size_t bytes, struct weft_comm *comm,
                                               uint64_t source, int tag, struct weft_peer *peer,
                                               MPI_Request *request)
{
    struct weft_request *posted =
        weft_request_pop(&weft.requests, WEFT_REQUEST_RECV, WEFT_REQUEST_IN_NET, 1);
    *request = (MPI_Request)posted;
    weft_p2p_describe(posted, &comm->p2p, buf, bytes, weft_datatype_byte(), peer, (int)source, tag);
    return posted;
}

WEFT_HOT int weft_fast_irecv_to_net(void *buf, size_t bytes, struct weft_comm *comm,
                                    uint64_t source, int tag, struct weft_peer *peer,
                                    MPI_Request *request)
{
    if (no_request(request))
        return irecv_without(buf, bytes, comm, source, tag, request);
    struct weft_request *posted = pop_for_net(buf, bytes, comm, source, tag, peer, request);
    if (weft_unlikely(!weft_net_may_post()))
        return weft_net_irecv(posted);
    if (weft_unlikely(
            weft_net_post_short(posted, peer->net_addr, comm->p2p.net_bits | (uint32_t)tag)))
        return weft_net_refused((struct weft_request *)*request);
    return MPI_SUCCESS;
}

WEFT_HOT int weft_fast_irecv_longer(void *buf, size_t bytes, struct weft_comm *comm,
                                    uint64_t source, int tag, struct weft_peer *peer,
                                    MPI_Request *request)
{
    if (no_request(request))
        return irecv_without(buf, bytes, comm, source, tag, request);
    return weft_net_irecv_plain(pop_for_net(buf, bytes, comm, source, tag, peer, request));
}
