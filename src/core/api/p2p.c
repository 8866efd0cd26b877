// SPDX-License-Identifier: BSD-3-Clause
/*
 * Point-to-point entry points (MPI 5.0 chapter 3): check arguments, resolve handles, call the core.
 *
 * Every call first tries the fast path: one thread, good plain arguments, a peer known on the net or
 * the shared-memory lane. Whatever it does not take goes the long way, which checks again, in the order of the
 * arguments, and explains.
 *
 * Invariant: the fast path accepts only what weft_call_explain accepts, and has no effect when it declines.
 */
#include "core/api/api.h"
#include "core/api/call.h"
#include "core/cell.h"
#include "core/error.h"
#include "core/p2p.h"
#include "core/weft.h"
#include "shm/shm.h"

#include <stdbool.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* The communicator of a fast call; NULL for a handle that is none. */
ALWAYS_INLINE struct weft_comm *fast_comm(MPI_Comm handle)
{
    if (weft_likely(handle == MPI_COMM_WORLD))
        return &weft_comm_world;
    return weft_handle_resolve(handle, WEFT_KIND_COMM);
}

static __attribute__((noinline)) int begin_send(const struct weft_call *call,
                                                enum weft_send_mode mode, MPI_Request *request)
{
    struct weft_resolved to;
    int code;
    if (!request)
        return weft_call_explain(call, false, true);
    if (!weft_call_resolve(call, false, &to, &code)) {
        if (code == MPI_SUCCESS)
            *request = (MPI_Request)weft_request_to_nowhere();
        return code;
    }
    struct weft_request *started;
    code = weft_p2p_isend(&to.comm->p2p, call->buffer, to.bytes, to.type, call->peer, call->tag,
                          mode, &started);
    if (weft_unlikely(code != MPI_SUCCESS))
        return weft_error_raise(to.comm, code, call->function);
    *request = (MPI_Request)started;
    return MPI_SUCCESS;
}

static __attribute__((noinline)) int begin_receive(const struct weft_call *call,
                                                   MPI_Request *request)
{
    struct weft_resolved from;
    int code;
    if (!request)
        return weft_call_explain(call, true, true);
    if (!weft_call_resolve(call, true, &from, &code)) {
        if (code == MPI_SUCCESS)
            *request = (MPI_Request)weft_request_to_nowhere();
        return code;
    }
    struct weft_request *started;
    code = weft_p2p_irecv(&from.comm->p2p, (void *)call->buffer, from.bytes, from.type, call->peer,
                          call->tag, &started);
    if (weft_unlikely(code != MPI_SUCCESS))
        return weft_error_raise(from.comm, code, call->function);
    *request = (MPI_Request)started;
    return MPI_SUCCESS;
}

static __attribute__((noinline)) int send_now(const struct weft_call *call,
                                              enum weft_send_mode mode)
{
    struct weft_resolved to;
    int code;
    if (!weft_call_resolve(call, false, &to, &code))
        return code;
    code =
        weft_p2p_send(&to.comm->p2p, call->buffer, to.bytes, to.type, call->peer, call->tag, mode);
    return code == MPI_SUCCESS ? code : weft_error_raise(to.comm, code, call->function);
}

static __attribute__((noinline)) int receive_now(const struct weft_call *call, MPI_Status *status)
{
    struct weft_resolved from;
    int code;
    if (!weft_call_resolve(call, true, &from, &code)) {
        if (code == MPI_SUCCESS)
            weft_status_proc_null(status);
        return code;
    }
    code = weft_p2p_recv(&from.comm->p2p, (void *)call->buffer, from.bytes, from.type, call->peer,
                         call->tag, status);
    return code == MPI_SUCCESS ? code : weft_error_raise(from.comm, code, call->function);
}

/* The way of every call that the fast path does not take; a null request means a blocking call. */

static __attribute__((noinline)) int long_send(const struct weft_call call,
                                               enum weft_send_mode mode, bool blocking,
                                               MPI_Request *request)
{
    int code = weft_enter(call.function);
    if (code)
        return code;
    code = blocking ? send_now(&call, mode) : begin_send(&call, mode, request);
    weft_leave();
    return code;
}

/* The long way of each entry point with a fast path: the same arguments in the same places, so that
 * the fast path has nothing to save before it knows that it is not taken. */

#define LONG_WAY static __attribute__((noinline)) int

/* What they do when the gate is not open: with threads, above all. */
LONG_WAY send_gated(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm);
LONG_WAY isend_gated(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Request *request);
LONG_WAY recv_gated(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                    MPI_Comm comm, MPI_Status *status);
LONG_WAY irecv_gated(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                     MPI_Comm comm, MPI_Request *request);

LONG_WAY send_long(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                   MPI_Comm comm)
{
    if (weft_unlikely(weft_gate))
        return send_gated(buf, count, datatype, dest, tag, comm);
    return send_now(&(struct weft_call){"MPI_Send", buf, count, datatype, dest, tag, comm},
                    WEFT_SEND_STANDARD);
}

LONG_WAY rsend_long(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm)
{
    return long_send((struct weft_call){"MPI_Rsend", buf, count, datatype, dest, tag, comm},
                     WEFT_SEND_READY, true, NULL);
}

LONG_WAY isend_long(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Request *request)
{
    if (weft_unlikely(weft_gate))
        return isend_gated(buf, count, datatype, dest, tag, comm, request);
    return begin_send(&(struct weft_call){"MPI_Isend", buf, count, datatype, dest, tag, comm},
                      WEFT_SEND_STANDARD, request);
}

LONG_WAY irsend_long(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Request *request)
{
    return long_send((struct weft_call){"MPI_Irsend", buf, count, datatype, dest, tag, comm},
                     WEFT_SEND_READY, false, request);
}

LONG_WAY recv_long(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                   MPI_Comm comm, MPI_Status *status)
{
    if (weft_unlikely(weft_gate))
        return recv_gated(buf, count, datatype, source, tag, comm, status);
    return receive_now(&(struct weft_call){"MPI_Recv", buf, count, datatype, source, tag, comm},
                       status);
}

LONG_WAY irecv_long(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                    MPI_Comm comm, MPI_Request *request)
{
    if (weft_unlikely(weft_gate))
        return irecv_gated(buf, count, datatype, source, tag, comm, request);
    return begin_receive(&(struct weft_call){"MPI_Irecv", buf, count, datatype, source, tag, comm},
                         request);
}

/* True when a count is one that MPI_Send could have been called with. */
ALWAYS_INLINE bool is_int(MPI_Count count)
{
    return weft_likely((uint64_t)count <= INT32_MAX);
}

/*
 * The fast paths. A count is unsigned here: a negative one makes a number of bytes that is too large
 * to be taken (the size of a plain type is at least 1), as does one of 2^31 or more. A tag is unsigned
 * too. Each answers false when it has done nothing.
 */

/*
 * What they end in: one call for each lane. Its arguments, but for three, are where the entry point has
 * its own, so that nothing is moved or saved on the way. There is a request where one is wanted.
 */

/* Something is to be thought of first, or the provider was busy, in which case the message was
 * counted: it goes the way of longer ones. The rest of its request was not needed until now. */
WEFT_COLD static int isend_refused(struct weft_request *request, bool counted)
{
    request->peer->sequence -= counted;
    request->type = weft_datatype_byte();
    return weft_net_isend(request);
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
        return isend_refused(started, false);
    peer->sequence = number + 1;
    if (weft_unlikely(weft_net_give(peer, channel, tag, 0, buf, bytes, number)))
        return isend_refused((struct weft_request *)*request, true);
    return MPI_SUCCESS;
}

/* Both return an error class; what they are given is good. */

WEFT_COLD static int send_refused(const void *buf, size_t bytes, struct weft_channel *channel,
                                  int dest, int tag)
{
    int code =
        weft_p2p_send(channel, buf, bytes, weft_datatype_byte(), dest, tag, WEFT_SEND_STANDARD);
    return code == MPI_SUCCESS ? code : weft_error_raise(channel->comm, code, "MPI_Send");
}

/* What is needed again only if the provider is busy is put aside in memory, and is volatile because
 * compilers otherwise keep it in registers, which have to be saved and restored for every message. */
ALWAYS_INLINE int send_to_net(const void *buf, size_t bytes, struct weft_channel *channel, int dest,
                              int tag, struct weft_peer *peer)
{
    uint32_t number = peer->sequence;
    if (weft_unlikely(number == peer->stop))
        return send_refused(buf, bytes, channel, dest, tag);
    const void *volatile kept_buf = buf;
    volatile size_t kept_bytes = bytes;
    struct weft_channel *volatile kept_channel = channel;
    volatile int kept_dest = dest, kept_tag = tag;
    peer->sequence = number + 1;
    if (weft_unlikely(weft_net_give(peer, channel, tag, 0, buf, bytes, number))) {
        struct weft_channel *again = kept_channel;
        again->comm->peers[kept_dest]->sequence--;
        return send_refused(kept_buf, kept_bytes, again, kept_dest, kept_tag);
    }
    return MPI_SUCCESS;
}

static __attribute__((noinline)) int send_here(const void *buf, size_t bytes,
                                               struct weft_channel *channel, int dest, int tag,
                                               struct weft_peer *peer)
{
    uint32_t sequence;
    if (weft_unlikely(!weft_shm_inject(peer, channel, tag, buf, bytes, &sequence)))
        return send_refused(buf, bytes, channel, dest, tag);
    return MPI_SUCCESS;
}

static __attribute__((noinline)) int post_to_bins(struct weft_match_receive *receive)
{
    weft_match_post(&weft.matcher, receive);
    return MPI_SUCCESS;
}

static int irecv_long(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                      MPI_Comm comm, MPI_Request *request);

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
    return irecv_long(buf, (MPI_Count)bytes, MPI_BYTE, (int)source, tag, comm->handle, request);
}

/* A receive in software, where no message waits. */
static __attribute__((noinline)) int irecv_here(void *buf, size_t bytes, struct weft_comm *comm,
                                                uint64_t source, int tag, struct weft_peer *peer,
                                                MPI_Request *request)
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

/* A receive that the provider matches and that lands in its request. */
static __attribute__((noinline)) int irecv_to_net(void *buf, size_t bytes, struct weft_comm *comm,
                                                  uint64_t source, int tag, struct weft_peer *peer,
                                                  MPI_Request *request)
{
    if (no_request(request))
        return irecv_without(buf, bytes, comm, source, tag, request);
    struct weft_request *posted =
        weft_request_pop(&weft.requests, WEFT_REQUEST_RECV, WEFT_REQUEST_IN_NET, 1);
    *request = (MPI_Request)posted;
    weft_p2p_describe(posted, &comm->p2p, buf, bytes, weft_datatype_byte(), peer, (int)source, tag);
    if (weft_unlikely(!weft_net_may_post()))
        return weft_net_irecv(posted);
    if (weft_unlikely(
            weft_net_post_short(posted, peer->net_addr, comm->p2p.net_bits | (uint32_t)tag)))
        return weft_net_refused((struct weft_request *)*request);
    return MPI_SUCCESS;
}

/* The same for one that is too long to land in its request. */
static __attribute__((noinline)) int irecv_longer(void *buf, size_t bytes, struct weft_comm *comm,
                                                  uint64_t source, int tag, struct weft_peer *peer,
                                                  MPI_Request *request)
{
    if (no_request(request))
        return irecv_without(buf, bytes, comm, source, tag, request);
    struct weft_request *posted =
        weft_request_pop(&weft.requests, WEFT_REQUEST_RECV, WEFT_REQUEST_IN_NET, 1);
    *request = (MPI_Request)posted;
    weft_p2p_describe(posted, &comm->p2p, buf, bytes, weft_datatype_byte(), peer, (int)source, tag);
    return weft_net_irecv_plain(posted);
}

/* A rank or a count as an index. Compilers that saw where it came from would keep both in registers. */
ALWAYS_INLINE uint64_t index_of(int number)
{
    uint64_t index = (uint32_t)number;
    __asm__("" : "+r"(index));
    return index;
}

/* What both kinds of send ask first: the communicator, or NULL, and the bytes of data. */
ALWAYS_INLINE struct weft_comm *send_target(const void *buf, uint64_t count, MPI_Datatype datatype,
                                            int dest, int tag, uint32_t tags, MPI_Comm handle,
                                            size_t *bytes)
{
    size_t size;
    struct weft_comm *comm;
    if (weft_unlikely((uint32_t)tag >= tags) || weft_unlikely(!buf) ||
        weft_unlikely(!(size = weft_datatype_plain_size(datatype))))
        return NULL;
    *bytes = count * size;
    if (weft_unlikely(!(comm = fast_comm(handle))) ||
        weft_unlikely((uint32_t)dest >= (uint32_t)comm->size))
        return NULL;
    return comm;
}

/* A blocking standard send is injected, without a request. (Ready mode takes the long way, which tells
 * the receiver of it.) */
ALWAYS_INLINE bool send_fast(const void *buf, uint32_t count, MPI_Datatype datatype, int dest,
                             int tag, uint32_t tags, MPI_Comm handle, int *code, bool gated)
{
    size_t bytes;
    struct weft_comm *comm = send_target(buf, count, datatype, dest, tag, tags, handle, &bytes);
    if (weft_unlikely(!comm))
        return false;
    struct weft_peer *peer = comm->peers[(uint32_t)dest];
    if (weft_likely(bytes < peer->inject_below))
        *code = send_to_net(buf, bytes, &comm->p2p, dest, tag, peer);
    else if (bytes < peer->share_below && !(gated && comm->p2p.cell))
        *code = send_here(buf, bytes, &comm->p2p, dest, tag, peer);
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
    struct weft_comm *comm = send_target(buf, count, datatype, dest, tag, tags, handle, &bytes);
    if (weft_unlikely(!comm) || weft_unlikely(!request) || weft_unlikely(!weft.requests.free))
        return false;
    struct weft_peer *peer = comm->peers[(uint32_t)dest];
    if (weft_likely(bytes < peer->inject_below))
        *code = isend_to_net(buf, bytes, &comm->p2p, dest, tag, peer, request);
    else if (bytes < peer->share_below && !(gated && comm->p2p.cell))
        *code = weft_shm_isend_plain(buf, bytes, &comm->p2p, dest, tag, peer, request);
    else
        return false;
    return true;
}

/* A receive from one rank is posted to whoever matches: the provider or the software. When it
 * declines, the handle is what it was, if need be read again from the communicator: so it takes no
 * register meanwhile. source is an index_of. */
ALWAYS_INLINE bool receive_fast(void *buf, uint32_t count, MPI_Datatype datatype, uint64_t source,
                                int tag, uint32_t tags, MPI_Comm *handle, MPI_Request *request,
                                int *code)
{
    size_t size;
    struct weft_comm *comm;
    if (weft_unlikely((uint32_t)tag >= tags) || weft_unlikely(!buf) ||
        weft_unlikely(!(comm = fast_comm(*handle))))
        return false;
    if (weft_unlikely((uint32_t)source >= comm->p2p.sources) ||
        weft_unlikely(!(size = weft_datatype_plain_size(datatype))))
        goto declined;
    size_t bytes = count * size;
    struct weft_peer *peer = comm->peers[source];
    if (bytes < peer->listen_below)
        *code = irecv_here(buf, bytes, comm, source, tag, peer, request);
    else if (weft_likely(bytes < peer->land_below))
        *code = irecv_to_net(buf, bytes, comm, source, tag, peer, request);
    else if (weft_likely(bytes < peer->post_below))
        *code = irecv_longer(buf, bytes, comm, source, tag, peer, request);
    else
        goto declined;
    return true;
declined:
    *handle = comm->handle;
    return false;
}

/* The end of a receive that the fast path has posted. */
ALWAYS_INLINE int finish_receive(MPI_Request handle, MPI_Status *status, bool alone)
{
    struct weft_request *posted = (struct weft_request *)handle;
    if (alone)
        weft_request_wait_alone(posted);
    else
        weft_request_wait(posted);
    int code = posted->error;
    struct weft_comm *owner = posted->channel->comm;
    weft_request_status(posted, status, false);
    weft_request_put(posted);
    return weft_likely(code == MPI_SUCCESS) ? code : weft_error_raise(owner, code, "MPI_Recv");
}

/* The same among threads: the fast path with the lock held, then the long way. */

/* Takes the lock. True when nothing but threads keeps the gate closed. What `code` says is returned at
 * once. */
ALWAYS_INLINE bool enter_among_threads(const char *function, int *code)
{
    *code = MPI_SUCCESS;
    if (weft_likely(weft_gate == WEFT_GATE_THREADS)) {
        weft_lock_enter();
        return true;
    }
    *code = weft_enter(function);
    return false;
}

ALWAYS_INLINE void leave_among_threads(void)
{
    if (weft_likely(weft_gate & WEFT_GATE_THREADS))
        weft_lock_leave();
}

/* Tags that a send, or a receive, may have on the fast path: none with a count beyond it. The latter
 * leaves the pool alone when it is empty. */
ALWAYS_INLINE uint32_t send_tags(bool only_threads, MPI_Count count)
{
    return weft_likely(only_threads) && is_int(count) ? (uint32_t)weft.tag_ub + 1 : 0;
}

/* Predefined communicators are in no cell. */
ALWAYS_INLINE bool may_have_cell(MPI_Comm comm)
{
    return (uintptr_t)comm >= WEFT_PREDEFINED_HANDLES;
}

/* Receives on a channel that may have a cell go the long way, which finds its matcher. */
ALWAYS_INLINE uint32_t receive_tags(bool only_threads, MPI_Count count, MPI_Comm comm)
{
    if (weft.matcher.unexpected || !weft.requests.free || (weft_cells_on && may_have_cell(comm)))
        return 0;
    return send_tags(only_threads, count);
}

LONG_WAY send_gated(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm)
{
    int code;
    if (may_have_cell(comm) && weft_cell_send(buf, count, datatype, dest, tag, comm, NULL))
        return MPI_SUCCESS;
    bool only_threads = enter_among_threads("MPI_Send", &code);
    if (code)
        return code;
    if (!send_fast(buf, (uint32_t)count, datatype, dest, tag, send_tags(only_threads, count), comm,
                   &code, true))
        code = send_now(&(struct weft_call){"MPI_Send", buf, count, datatype, dest, tag, comm},
                        WEFT_SEND_STANDARD);
    leave_among_threads();
    return code;
}

LONG_WAY isend_gated(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Request *request)
{
    int code;
    if (may_have_cell(comm) && request &&
        weft_cell_send(buf, count, datatype, dest, tag, comm, request))
        return MPI_SUCCESS;
    bool only_threads = enter_among_threads("MPI_Isend", &code);
    if (code)
        return code;
    if (!isend_fast(buf, (uint32_t)count, datatype, dest, tag, send_tags(only_threads, count), comm,
                    request, &code, true))
        code = begin_send(&(struct weft_call){"MPI_Isend", buf, count, datatype, dest, tag, comm},
                          WEFT_SEND_STANDARD, request);
    leave_among_threads();
    return code;
}

LONG_WAY recv_gated(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                    MPI_Comm comm, MPI_Status *status)
{
    MPI_Request posted = MPI_REQUEST_NULL;
    int code;
    if (may_have_cell(comm) &&
        weft_cell_receive(buf, count, datatype, source, tag, comm, &posted, status))
        return MPI_SUCCESS;
    bool only_threads = enter_among_threads("MPI_Recv", &code);
    if (code)
        return code;
    if (posted == MPI_REQUEST_NULL &&
        !receive_fast(buf, (uint32_t)count, datatype, (uint32_t)source, tag,
                      receive_tags(only_threads, count, comm), &comm, &posted, &code))
        code = receive_now(&(struct weft_call){"MPI_Recv", buf, count, datatype, source, tag, comm},
                           status);
    else if (weft_likely(code == MPI_SUCCESS))
        code = finish_receive(posted, status, false);
    leave_among_threads();
    return code;
}

LONG_WAY irecv_gated(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                     MPI_Comm comm, MPI_Request *request)
{
    int code;
    if (may_have_cell(comm) && weft_cell_post(buf, count, datatype, source, tag, comm, request))
        return MPI_SUCCESS;
    bool only_threads = enter_among_threads("MPI_Irecv", &code);
    if (code)
        return code;
    if (!request || !receive_fast(buf, (uint32_t)count, datatype, (uint32_t)source, tag,
                                  receive_tags(only_threads, count, comm), &comm, request, &code))
        code = begin_receive(
            &(struct weft_call){"MPI_Irecv", buf, count, datatype, source, tag, comm}, request);
    leave_among_threads();
    return code;
}

/* The calls with int counts stand beside those with large ones, so that both have the fast path. */

WEFT_EXPORT(Send);
int PMPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    int code;
    if (weft_likely(send_fast(buf, (uint32_t)count, datatype, dest, tag, weft_send_tags, comm,
                              &code, false)))
        return code;
    return send_long(buf, count, datatype, dest, tag, comm);
}

WEFT_EXPORT(Send_c);
int PMPI_Send_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                MPI_Comm comm)
{
    int code;
    if (weft_likely(is_int(count) && send_fast(buf, (uint32_t)count, datatype, dest, tag,
                                               weft_send_tags, comm, &code, false)))
        return code;
    return send_long(buf, count, datatype, dest, tag, comm);
}

WEFT_EXPORT(Ssend_c);
int PMPI_Ssend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm)
{
    return long_send((struct weft_call){"MPI_Ssend", buf, count, datatype, dest, tag, comm},
                     WEFT_SEND_SYNCHRONOUS, true, NULL);
}

WEFT_EXPORT(Rsend);
int PMPI_Rsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return rsend_long(buf, count, datatype, dest, tag, comm);
}

WEFT_EXPORT(Rsend_c);
int PMPI_Rsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm)
{
    return rsend_long(buf, count, datatype, dest, tag, comm);
}

WEFT_EXPORT(Isend);
int PMPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    int code;
    uint64_t many = index_of(count);
    if (weft_likely(isend_fast(buf, many, datatype, dest, tag, weft_send_tags, comm, request, &code,
                               false)))
        return code;
    return isend_long(buf, (int)many, datatype, dest, tag, comm, request);
}

WEFT_EXPORT(Isend_c);
int PMPI_Isend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm, MPI_Request *request)
{
    int code;
    if (weft_likely(is_int(count) && isend_fast(buf, (uint32_t)count, datatype, dest, tag,
                                                weft_send_tags, comm, request, &code, false)))
        return code;
    return isend_long(buf, count, datatype, dest, tag, comm, request);
}

WEFT_EXPORT(Issend_c);
int PMPI_Issend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    return long_send((struct weft_call){"MPI_Issend", buf, count, datatype, dest, tag, comm},
                     WEFT_SEND_SYNCHRONOUS, false, request);
}

WEFT_EXPORT(Irsend);
int PMPI_Irsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request *request)
{
    return irsend_long(buf, count, datatype, dest, tag, comm, request);
}

WEFT_EXPORT(Irsend_c);
int PMPI_Irsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    return irsend_long(buf, count, datatype, dest, tag, comm, request);
}

WEFT_EXPORT(Recv);
int PMPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
              MPI_Status *status)
{
    MPI_Request posted;
    int code;
    if (weft_likely(receive_fast(buf, (uint32_t)count, datatype, (uint32_t)source, tag,
                                 weft_receive_tags, &comm, &posted, &code)))
        return weft_likely(code == MPI_SUCCESS) ? finish_receive(posted, status, true) : code;
    return recv_long(buf, count, datatype, source, tag, comm, status);
}

WEFT_EXPORT(Recv_c);
int PMPI_Recv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                MPI_Comm comm, MPI_Status *status)
{
    MPI_Request posted;
    int code;
    if (weft_likely(is_int(count) && receive_fast(buf, (uint32_t)count, datatype, (uint32_t)source,
                                                  tag, weft_receive_tags, &comm, &posted, &code)))
        return weft_likely(code == MPI_SUCCESS) ? finish_receive(posted, status, true) : code;
    return recv_long(buf, count, datatype, source, tag, comm, status);
}

WEFT_EXPORT(Irecv);
int PMPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    int code;
    uint64_t from = index_of(source);
    if (weft_likely(receive_fast(buf, (uint32_t)count, datatype, from, tag, weft_receive_tags,
                                 &comm, request, &code)))
        return code;
    return irecv_long(buf, count, datatype, (int)from, tag, comm, request);
}

WEFT_EXPORT(Irecv_c);
int PMPI_Irecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                 MPI_Comm comm, MPI_Request *request)
{
    int code;
    if (weft_likely(is_int(count) && receive_fast(buf, (uint32_t)count, datatype, (uint32_t)source,
                                                  tag, weft_receive_tags, &comm, request, &code)))
        return code;
    return irecv_long(buf, count, datatype, source, tag, comm, request);
}
