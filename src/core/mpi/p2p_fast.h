// SPDX-License-Identifier: BSD-3-Clause
/*
 * The fast paths of MPI_Send, MPI_Isend, MPI_Recv and MPI_Irecv (MPI 5.0 chapter 3): one thread, good
 * plain arguments, a peer known on the net or the shared-memory lane.
 *
 * A count is unsigned here: a negative one makes a number of bytes that is too large to be taken (the
 * size of a plain type is at least 1), as does one of 2^31 or more. A tag is unsigned too, and has to
 * be below `tags`, which is 0 while the gate is closed.
 *
 * Invariant: a fast path accepts only what weft_call_explain accepts; when it answers false it has had
 * no effect but in the place for a receive's request.
 */
#ifndef WEFT_P2P_FAST_H
#define WEFT_P2P_FAST_H

#include "core/pt2pt/cell.h"
#include "core/comm/comm.h"
#include "core/object/error.h"
#include "core/pt2pt/p2p.h"
#include "core/process/weft.h"
#include "shm/shm.h"

#include <stdbool.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* ---- p2p_ends.c: what they end in, out of line. Arguments, but for a few, are where the entry point
 * has its own, so that nothing is moved or saved on the way. What is given is good. All return an
 * error class, or what the error handler let through. */

/* Something is to be thought of first, or the provider was busy, in which case the message was counted:
 * it goes the way of longer ones. */
WEFT_COLD int weft_fast_isend_refused(struct weft_request *request, bool counted);
WEFT_COLD int weft_fast_send_refused(const void *buf, size_t bytes, struct weft_channel *channel,
                                     int dest, int tag);

/* A send through shared memory. */
int weft_fast_send_here(const void *buf, size_t bytes, struct weft_channel *channel, int dest,
                        int tag, struct weft_peer *peer);

/* A receive in software, when the express queue is full. */
int weft_fast_post_to_bins(struct weft_match_receive *receive);

/* A receive that the provider matches and that does not land in its request. */
int weft_fast_irecv_longer(void *buf, size_t bytes, struct weft_channel *channel, uint64_t source,
                           int tag, struct weft_peer *peer);

/* ---- What the entry points have in themselves. */

/* The point-to-point channel of a fast call's communicator; NULL for a handle that is none. */
ALWAYS_INLINE struct weft_channel *fast_channel(MPI_Comm handle)
{
    if (weft_likely(handle == MPI_COMM_WORLD))
        return &weft_comm_world.p2p;
    struct weft_comm *comm = weft_handle_resolve(handle, WEFT_KIND_COMM);
    return comm ? &comm->p2p : NULL;
}

/* The communicator that a point-to-point channel is part of: no load, unlike channel->comm. */
ALWAYS_INLINE struct weft_comm *comm_around(struct weft_channel *channel)
{
    return (struct weft_comm *)((char *)channel - offsetof(struct weft_comm, p2p));
}

/* True when a count is one that MPI_Send could have been called with. */
ALWAYS_INLINE bool is_int(MPI_Count count)
{
    return weft_likely((uint64_t)count <= INT32_MAX);
}

/* Returns MPI_SUCCESS. */
ALWAYS_INLINE int isend_to_net(const void *buf, size_t bytes, struct weft_channel *channel,
                               int dest, int tag, struct weft_peer *peer, MPI_Request *request)
{
    (void)dest;
    struct weft_request *started = weft_request_pop(&weft.requests, WEFT_REQUEST_SEND, 0, 0);
    uint32_t number = peer->sequence;
    started->tag = tag;
    started->sequence = number;
    started->bytes = bytes;
    started->channel = channel;
    started->peer = peer;
    started->buffer = (void *)buf;
    *request = (MPI_Request)started;
    if (weft_unlikely(number == peer->stop))
        return weft_fast_isend_refused(started, false);
    peer->sequence = number + 1;
    if (weft_unlikely(weft_net_give(peer, channel, tag, 0, buf, bytes, number)))
        return weft_fast_isend_refused((struct weft_request *)*request, true);
    return MPI_SUCCESS;
}

/* What is needed again only if the provider is busy is put aside in memory, and is volatile because
 * compilers otherwise keep it in registers, which have to be saved and restored for every message. */
ALWAYS_INLINE int send_to_net(const void *buf, size_t bytes, struct weft_channel *channel, int dest,
                              int tag, struct weft_peer *peer)
{
    uint32_t number = peer->sequence;
    if (weft_unlikely(number == peer->stop))
        return weft_fast_send_refused(buf, bytes, channel, dest, tag);
    const void *volatile kept_buf = buf;
    volatile size_t kept_bytes = bytes;
    struct weft_channel *volatile kept_channel = channel;
    volatile int kept_dest = dest, kept_tag = tag;
    peer->sequence = number + 1;
    if (weft_unlikely(weft_net_give(peer, channel, tag, 0, buf, bytes, number))) {
        struct weft_channel *again = kept_channel;
        again->comm->peers[kept_dest]->sequence--;
        return weft_fast_send_refused(kept_buf, kept_bytes, again, kept_dest, kept_tag);
    }
    return MPI_SUCCESS;
}

/* A rank or a count as an index. Compilers that saw where it came from would keep both in registers. */
ALWAYS_INLINE uint64_t index_of(int number)
{
    uint64_t index = (uint32_t)number;
    __asm__("" : "+r"(index));
    return index;
}

/* What both kinds of send ask first: the channel, or NULL, and the bytes of data. */
ALWAYS_INLINE struct weft_channel *send_target(const void *buf, uint64_t count,
                                               MPI_Datatype datatype, int dest, int tag,
                                               uint32_t tags, MPI_Comm handle, size_t *bytes)
{
    size_t size;
    struct weft_channel *channel;
    if (weft_unlikely((uint32_t)tag >= tags) || weft_unlikely(!buf) ||
        weft_unlikely(!(size = weft_datatype_plain_size(datatype))))
        return NULL;
    *bytes = count * size;
    if (weft_unlikely(!(channel = fast_channel(handle))) ||
        weft_unlikely((uint32_t)dest >= (uint32_t)comm_around(channel)->size))
        return NULL;
    return channel;
}

/* A blocking standard send is injected, without a request. (Ready mode takes the long way, which tells
 * the receiver of it.) */
ALWAYS_INLINE bool send_fast(const void *buf, uint32_t count, MPI_Datatype datatype, int dest,
                             int tag, uint32_t tags, MPI_Comm handle, int *code, bool gated)
{
    size_t bytes;
    struct weft_channel *channel =
        send_target(buf, count, datatype, dest, tag, tags, handle, &bytes);
    if (weft_unlikely(!channel))
        return false;
    struct weft_peer *peer = comm_around(channel)->peers[(uint32_t)dest];
    if (weft_likely(bytes < peer->inject_below))
        *code = send_to_net(buf, bytes, channel, dest, tag, peer);
    else if (bytes < peer->share_below && !(gated && channel->cell))
        *code = weft_fast_send_here(buf, bytes, channel, dest, tag, peer);
    else
        return false;
    return true;
}

/* A nonblocking one has a request besides, complete from its beginning. What the provider does not
 * take at once goes on from there. */
ALWAYS_INLINE bool isend_fast(const void *buf, uint64_t count, MPI_Datatype datatype, int dest,
                              int tag, uint32_t tags, MPI_Comm handle, MPI_Request *request,
                              int *code, bool gated)
{
    size_t bytes;
    struct weft_channel *channel =
        send_target(buf, count, datatype, dest, tag, tags, handle, &bytes);
    if (weft_unlikely(!channel) || weft_unlikely(!request) || weft_unlikely(!weft.requests.free))
        return false;
    struct weft_peer *peer = comm_around(channel)->peers[(uint32_t)dest];
    if (weft_likely(bytes < peer->inject_below))
        *code = isend_to_net(buf, bytes, channel, dest, tag, peer, request);
    else if (bytes < peer->share_below && !(gated && channel->cell))
        *code = weft_shm_isend_plain(buf, bytes, channel, dest, tag, peer, request);
    else
        return false;
    return true;
}

/* ---- Receives. Each takes the pool's first request, which is there (may_receive). */

ALWAYS_INLINE bool may_receive(const void *buf, int tag, uint32_t tags)
{
    if (weft_unlikely((uint32_t)tag >= tags))
        return false;
    return weft_likely(weft.requests.free != NULL) && weft_likely(buf != NULL);
}

/* A receive in software. */
ALWAYS_INLINE int irecv_here(void *buf, size_t bytes, struct weft_channel *channel, uint64_t source,
                             int tag, struct weft_peer *peer)
{
    struct weft_request *posted = weft_request_pop(&weft.requests, WEFT_REQUEST_RECV, 0, 1);
    posted->channel = channel;
    posted->peer = peer;
    posted->type = weft_datatype_byte();
    posted->buffer = buf;
    posted->capacity = bytes;
    bool quick = weft_match_post_express(&weft.matcher, &posted->match,
                                         weft_match_label(channel->context), (int32_t)source, tag);
    return weft_likely(quick) ? MPI_SUCCESS : weft_fast_post_to_bins(&posted->match);
}

/* One that the provider matches and that lands in its request. */
ALWAYS_INLINE int irecv_to_net(void *buf, size_t bytes, struct weft_channel *channel,
                               uint64_t source, int tag, struct weft_peer *peer)
{
    struct weft_request *posted =
        weft_request_pop(&weft.requests, WEFT_REQUEST_RECV, WEFT_REQUEST_IN_NET, 1);
    weft_p2p_describe(posted, channel, buf, bytes, weft_datatype_byte(), peer, (int)source, tag);
    if (weft_unlikely(!weft_net_may_post()))
        return weft_net_irecv(posted);
    if (weft_unlikely(
            weft_net_post_short(posted, peer->net_addr, channel->net_bits | (uint32_t)tag)))
        return weft_net_refused(posted);
    return MPI_SUCCESS;
}

/* A receive from one rank is posted to whoever matches: the provider or the software. The channel is
 * all that it has of the communicator in a register; when it declines, the handle is read again from
 * there. source is an index_of. */
ALWAYS_INLINE bool receive_fast(void *buf, uint32_t count, MPI_Datatype datatype, uint64_t source,
                                int tag, MPI_Comm *handle, int *code)
{
    size_t size;
    struct weft_channel *channel = fast_channel(*handle);
    if (weft_unlikely(!channel))
        return false;
    if (weft_unlikely((uint32_t)source >= channel->sources) ||
        weft_unlikely(!(size = weft_datatype_plain_size(datatype))))
        goto declined;
    size_t bytes = count * size;
    struct weft_peer *peer = comm_around(channel)->peers[source];
    /* Either is as likely, so neither is far away. */
    if (__builtin_expect_with_probability(bytes < peer->land_below, 1, 0.51))
        *code = irecv_to_net(buf, bytes, channel, source, tag, peer);
    else if (weft_likely(bytes < peer->listen_below))
        *code = irecv_here(buf, bytes, channel, source, tag, peer);
    else if (weft_likely(bytes < peer->post_below))
        *code = weft_fast_irecv_longer(buf, bytes, channel, source, tag, peer);
    else
        goto declined;
    return true;
declined:
    *handle = comm_around(channel)->handle;
    return false;
}

/* MPI_Irecv: the place for the request is kept by the request itself meanwhile, so it takes no
 * register either. A place whose receive is declined has a request that nobody may have: the long
 * way writes another one. */
ALWAYS_INLINE bool irecv_fast(void *buf, uint32_t count, MPI_Datatype datatype, uint64_t source,
                              int tag, uint32_t tags, MPI_Comm *handle, MPI_Request **request,
                              int *code)
{
    if (weft_unlikely(!may_receive(buf, tag, tags)) || weft_unlikely(!*request))
        return false;
    weft.requests.free->place = *request;
    **request = (MPI_Request)weft.requests.free;
    __atomic_signal_fence(__ATOMIC_ACQ_REL);
    if (weft_likely(receive_fast(buf, count, datatype, source, tag, handle, code)))
        return true;
    *request = weft.requests.free->place;
    return false;
}

/* The end of a receive that the fast path has posted. */
ALWAYS_INLINE int finish_receive(struct weft_request *posted, MPI_Status *status, bool alone)
{
    if (alone)
        weft_request_wait_alone(posted);
    else
        weft_request_wait(posted);
    int code = posted->error;
    struct weft_comm *owner = posted->channel->comm;
    if (status != MPI_STATUS_IGNORE)
        weft_request_status(posted, status, false);
    weft_request_push(&weft.requests, posted);
    return weft_likely(code == MPI_SUCCESS) ? code : weft_error_raise(owner, code, "MPI_Recv");
}

/* MPI_Recv: such a receive, and its end. */
ALWAYS_INLINE bool recv_fast(void *buf, uint32_t count, MPI_Datatype datatype, uint64_t source,
                             int tag, uint32_t tags, MPI_Comm *handle, MPI_Status *status,
                             bool alone, int *code)
{
    if (weft_likely(may_receive(buf, tag, tags))) {
        struct weft_request *posted = weft.requests.free;
        if (weft_likely(receive_fast(buf, count, datatype, source, tag, handle, code))) {
            if (weft_likely(*code == MPI_SUCCESS))
                *code = finish_receive(posted, status, alone);
            return true;
        }
    }
    return false;
}

#endif
