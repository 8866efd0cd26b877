// SPDX-License-Identifier: BSD-3-Clause
/*
 * Receives that the provider matches.
 *
 * A receive gets an eager message of up to the eager limit, or an RTS header, which cannot be known
 * in advance. Buffers that are shorter than a header, or longer than the eager limit and so likely
 * to get one, do not get it: the first WEFT_NET_SMALL bytes of a message land in the request, and
 * only the following ones in the buffer. All others receive in place, because a stream is fast only
 * within one iovec. A header there means that the message is too long or had no credits
 * (credits.c). It must not be read from the buffer, because several receives may share one, as in
 * bandwidth benchmarks. So it is requested from the sender, by the number that came with it
 * (weft_net_request_header).
 *
 * Where a longer message than the receive would hurt the provider (row flag
 * WEFT_PROVIDER_OVERFLOW), the receive has space for an eager message: the excess goes to the
 * overflow area, which is shared and never read. Providers that take fewer than three iovecs get a
 * packed buffer instead.
 *
 * Invariants:
 *  - Bytes of the user's buffer beyond the received message are not changed: the message of an RTS
 *    is longer than its header.
 *  - IN_LANE is set from the post until its one completion.
 */
#include "core/base/error.h"
#include "core/message/sw_match.h"
#include "core/progress/failure.h"
#include "core/progress/progress.h"
#include "ofi/net.h"
#include "ofi/credits.h"
#include "ofi/ofi_internal.h"
#include "ofi/rendezvous.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The address of the first bytes of the received message. */
static char *received_data(struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    weft_assert(state->phase == WEFT_NET_NO_RENDEZVOUS);
    return state->packed ? state->packed : state->small;
}

static __attribute__((noinline)) void release_buffers(struct weft_request *request)
{
    weft_net_release(request);
}

/* Posts a receive to the provider. False if it is not accepted. */
static inline __attribute__((always_inline)) bool
post_receive(struct weft_request *request, struct iovec *iov, void **descriptors, size_t niov,
             fi_addr_t source, uint64_t word, uint64_t ignore)
{
    struct weft_net_fast *net = weft_net_fast(request->vci);
    request->posted = net->posts++;
    weft_assert(request->flags & WEFT_REQUEST_IN_LANE && request->owner == WEFT_LANE_NET);
    weft_assert(weft_vci_is_held(request->vci) && !weft_net_state(request)->op.in_flight);
    return weft_likely(!fi_trecvv(net->ep, iov, descriptors, niov, source, word, ignore,
                                  &weft_net_state(request)->op));
}

/* A receive that the provider did not accept is posted in software. If there is a serious reason,
 * the following claims report it. */
int weft_net_refused(struct weft_request *request)
{
    weft_assert(weft_net_fast(request->vci)->posts > weft_net_of(request)->completed);
    weft_net_fast(request->vci)->posts--;
    request->flags &= (uint8_t)~WEFT_REQUEST_IN_LANE;
    release_buffers(request);
    weft_sw_receive(request);
    return MPI_SUCCESS;
}

void weft_net_init_request(struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    state->op.kind = WEFT_NET_REQUEST;
    state->short_iov[0] = (struct iovec){state->small, WEFT_NET_SMALL};
    state->short_iov[1] = weft_net_of(request)->overflow;
}

/* True if all bytes of a contiguous receive land in its buffer. */
static inline bool is_in_place(size_t capacity)
{
    return capacity - WEFT_NET_SMALL - 1 < weft_net.in_place_space;
}

/* The iovecs of a contiguous receive of more than WEFT_NET_SMALL bytes: the request's small area,
 * the rest of the buffer, the overflow. Returns how many. */
static inline size_t lay_out(struct weft_request *request, char *buffer, size_t capacity,
                             struct iovec *iov)
{
    weft_assert(capacity > WEFT_NET_SMALL);
    if (weft_likely(is_in_place(capacity))) {
        iov[0] = (struct iovec){buffer, capacity};
        iov[1] = weft_net_of(request)->overflow;
        return capacity < weft_net.overflow_limit ? 2 : 1;
    }
    iov[0] = weft_net_state(request)->short_iov[0];
    iov[1] = (struct iovec){buffer + WEFT_NET_SMALL, capacity - WEFT_NET_SMALL};
    iov[2] = weft_net_of(request)->overflow;
    return capacity < weft_net.overflow_limit ? 3 : 2;
}

/* The iovecs of a receive that does not land in its buffer: not a contiguous one, memory that must
 * be registered, a provider with few iovecs. Returns how many, 0 when memory is short. */
static size_t lay_out_packed(struct weft_request *request, struct iovec *iov, void **descriptors)
{
    struct weft_net_request *state = weft_net_state(request);
    struct weft_net_vci *net = weft_net_of(request);
    weft_assert(!state->packed);
    iov[0] = state->short_iov[0];
    iov[1] = net->overflow;
    if (request->capacity > WEFT_NET_SMALL || weft_net.local_mr) {
        size_t space =
            request->capacity < weft_net.eager_limit ? request->capacity : weft_net.eager_limit;
        if (space < WEFT_NET_SMALL)
            space = WEFT_NET_SMALL;
        state->packed = weft_net_bounce_get(net, space);
        if (!state->packed)
            return 0;
        iov[0] = (struct iovec){state->packed, space};
    }
    if (weft_net.local_mr) {
        descriptors[0] = weft_net_descriptor(weft_net_bounce_mr(net, state->packed));
        descriptors[1] = weft_net_descriptor(net->overflow_mr);
    }
    return iov[0].iov_len < weft_net.overflow_limit ? 2 : 1;
}

/* The number of receives that the provider may hold when this one is posted. Those of windows stay
 * posted, so they may take two thirds: for a receive that the provider does not hold, PEEK looks.
 */
static uint64_t post_limit(const struct weft_request *request)
{
    bool persists = weft_channel_use(request->channel) == WEFT_CONTEXT_PARTITIONED;
    return persists ? weft_net.post_limit / 3 * 2 : weft_net.post_limit;
}

int weft_net_irecv(struct weft_request *request)
{
    struct iovec iov[3];
    void *descriptors[3] = {NULL, NULL, NULL};
    size_t niov = 0;
    request->flags |= WEFT_REQUEST_IN_LANE;
    request->owner = WEFT_LANE_NET;
    if (weft_net_fast(request->vci)->posts - weft_net_of(request)->completed < post_limit(request))
        niov = weft_net.header_apart && (request->type->flags & WEFT_TYPE_CONTIGUOUS) &&
                       request->capacity > WEFT_NET_SMALL
                   ? lay_out(request, request->buffer, request->capacity, iov)
                   : lay_out_packed(request, iov, descriptors);
    if (!niov) {
        request->flags &= (uint8_t)~WEFT_REQUEST_IN_LANE;
        weft_sw_receive(request);
        return MPI_SUCCESS;
    }
    uint64_t word = weft_net_fast_channel(request->channel)->word, ignore = weft_net.form_mask;
    if (request->match.tag < 0)
        ignore |= weft_net.tag_mask;
    else
        word |= (uint32_t)request->match.tag;
    fi_addr_t source = request->peer ? weft_net_peer(request->peer)->fast.address : FI_ADDR_UNSPEC;
    return post_receive(request, iov, descriptors, niov, source, word, ignore)
               ? MPI_SUCCESS
               : weft_net_refused(request);
}

int weft_net_irecv_plain(struct weft_request *request)
{
    struct iovec iov[3];
    struct weft_net_fast *net = weft_net_fast(request->vci);
    uint64_t source = weft_net_peer(request->peer)->fast.address;
    uint64_t word = weft_net_fast_channel(request->channel)->word | (uint32_t)request->match.tag;
    if (weft_unlikely(!weft_net_may_post(net)))
        return weft_net_irecv(request);
    if (request->capacity < request->peer->recv_in_request_limit)
        return weft_net_irecv_short(net, request, request->peer, word);
    if (weft_unlikely(!weft_net.header_apart))
        return weft_net_irecv(request);
    size_t niov = lay_out(request, request->buffer, request->capacity, iov);
    return post_receive(request, iov, NULL, niov, source, word, weft_net.form_mask)
               ? MPI_SUCCESS
               : weft_net_refused(request);
}

static __attribute__((noinline)) void unpack(struct weft_request *request, size_t bytes)
{
    weft_datatype_unpack(request->type, request->buffer, 0, received_data(request), bytes);
}

static inline __attribute__((always_inline)) void deliver(struct weft_request *request,
                                                          size_t length)
{
    struct weft_net_request *state = weft_net_state(request);
    size_t n = weft_request_fit(request, length);
    if (weft_likely(request->peer != NULL)) {
        weft_net_peer(request->peer)->taken++;
        weft_net_matched_from(request->peer, length);
    } else {
        weft_net_took_from(request->channel, request->source);
        weft_net_matched(request->channel, request->source, length);
    }
    if (weft_unlikely(state->packed || !(request->type->flags & WEFT_TYPE_CONTIGUOUS)))
        unpack(request, n);
    else if (n && !is_in_place(request->capacity))
        memcpy(request->buffer, state->small, n < WEFT_NET_SMALL ? n : WEFT_NET_SMALL);
    if (weft_unlikely(state->packed || state->mr))
        release_buffers(request);
    weft_request_event(request);
}

static __attribute__((noinline)) void finish_eager(struct weft_request *request, size_t length)
{
    deliver(request, length);
}

/* The rank that a message names as its sender, or NULL; not connected. */
static struct weft_peer *named_sender(const struct weft_request *request)
{
    const struct weft_channel *channel = request->channel;
    if (!weft_net_is_sender(channel, request->source))
        return NULL;
    struct weft_peer *peer = weft_channel_peer(channel, request->source);
    return peer ? peer
                : weft_peer_make(channel->vci_number, weft_channel_world(channel, request->source));
}

bool weft_net_is_copy(struct weft_net_vci *net, const struct weft_channel *channel, int source,
                      uint64_t tag, uint64_t cq_data)
{
    if (weft_net_form(tag) == WEFT_MESSAGE_RTS)
        return false;
    int world = weft_channel_world(channel, source);
    uint32_t sender = weft_net_sender_number(channel->vci_number, world) - net->first_sender;
    weft_assert(weft_net_is_sender(channel, source) && weft_net_of_channel(channel) == net);
    enum weft_replay_result result =
        weft_replay_take(&net->replays, sender, weft_sequence_number(&net->sequences, cq_data));
    if (result == WEFT_REPLAY_NO_MEMORY)
        weft_fatal(MPI_ERR_NO_MEM, "no memory to record the messages of rank %d", world);
    return result == WEFT_REPLAY_AGAIN;
}

/* The provider matched a message that the receive does not name. The receive fails: it cannot be
 * posted again, because later receives may have matched meanwhile.
 *
 * A stranger may have sent it, or a rank that has ended: for a waiting message of a rank that was
 * not in the address vector, ofi_rxm looks up its connection when a receive is posted. That may be
 * closed by then and its memory used for a connection with another rank. */
WEFT_COLD static void refuse(struct weft_request *request, const char *what)
{
    const struct weft_peer *sender = named_sender(request);
    int code = weft_net_failed(
        sender,
        "a receive matched %s (rank %d, tag %d), which no rank of the communicator sends; see "
        "whether a program outside of the job sends to this rank over %s (SECURITY.md)",
        what, request->source, request->tag, weft_net_name());
    if (code != MPIX_ERR_PROC_FAILED)
        weft_net_drop(what, request->source);
    request->error = (uint8_t)code;
    request->source = request->match.source;
    request->bytes = 0;
    release_buffers(request);
    weft_request_event(request);
}

static struct weft_peer *sender_of(struct weft_request *request)
{
    return weft_channel_connect(request->channel, request->source);
}

static __attribute__((noinline)) void finish_special(struct weft_request *request,
                                                     const struct fi_cq_tagged_entry *entry)
{
    struct weft_net_request *state = weft_net_state(request);
    if (!request->peer)
        request->peer = sender_of(request);
    if (!request->peer) {
        request->error = MPI_ERR_OTHER;
        request->bytes = 0;
        release_buffers(request);
        weft_request_event(request);
        return;
    }
    int form = weft_net_form(entry->tag);
    struct weft_net_header header;
    if (form != WEFT_MESSAGE_RTS) {
        if (form == WEFT_MESSAGE_SYNC)
            weft_net_acknowledge(request->peer, request->channel, request->tag);
        finish_eager(request, entry->len);
        return;
    }
    weft_net_peer(request->peer)->taken++;
    if (weft_unlikely(request->peer->dead)) {
        release_buffers(request);
        weft_failure_end_fetch(request);
        return;
    }
    if (!state->packed && (request->type->flags & WEFT_TYPE_CONTIGUOUS) &&
        is_in_place(request->capacity)) {
        weft_net_request_header(
            request, weft_sequence_number(&weft_net_of(request)->sequences, entry->data));
        return;
    }
    memcpy(&header, received_data(request), sizeof header);
    if (!weft_net_is_header(&header, entry->len)) {
        refuse(request, "an RTS with a wrong header");
        return;
    }
    release_buffers(request);
    weft_net_fetch(request, &header);
}

/* True if a sender other than the one that the receive names may have sent its message. */
static bool is_expected(const struct weft_request *request)
{
    return request->match.source == MPI_ANY_SOURCE &&
           weft_net_is_sender(request->channel, request->source);
}

WEFT_HOT void weft_net_received(struct weft_request *request,
                                const struct fi_cq_tagged_entry *entry)
{
    weft_net_of(request)->completed++;
    weft_assert(weft_net_of(request)->completed <= weft_net_fast(request->vci)->posts);
    weft_net_fast(request->vci)->posts_stop += weft_net.stop_step;
    request->flags &= (uint8_t)~WEFT_REQUEST_IN_LANE;
    request->source = weft_net_source(entry->data);
    request->tag = (int)(entry->tag & weft_net.tag_mask);
    if (weft_unlikely(request->source != request->match.source) && !is_expected(request))
        refuse(request, "a message of another sender");
    else if (weft_net.copies &&
             weft_unlikely(weft_net_is_copy(weft_net_of(request), request->channel, request->source,
                                            entry->tag, entry->data)))
        refuse(request, "a copy of an earlier message");
    else if (weft_likely(weft_net_form(entry->tag) == WEFT_MESSAGE_EAGER))
        deliver(request, entry->len);
    else
        finish_special(request, entry);
}

/* The bytes that the provider had for a message. */
static size_t posted_bytes(struct weft_request *request)
{
    if (request->capacity <= WEFT_NET_SMALL)
        return WEFT_NET_SMALL;
    bool all = !weft_net_state(request)->packed || request->capacity < weft_net.eager_limit;
    return all ? request->capacity : weft_net.eager_limit;
}

WEFT_COLD static uint8_t receive_error(const struct weft_request *request, const char *why)
{
    const struct weft_peer *peer = request->peer;
    char host[256], from[300] = "any rank", tag[32] = "any tag";
    if (peer)
        snprintf(from, sizeof from, "rank %d on %s", peer->world,
                 weft_boot_host(peer->world, host, sizeof host));
    if (request->match.tag >= 0)
        snprintf(tag, sizeof tag, "tag %d", request->match.tag);
    return (uint8_t)weft_net_failed(peer,
                                    "a receive of up to %zu bytes from %s with %s failed over %s: "
                                    "%s; see whether the sender still runs and the network to its "
                                    "host works",
                                    request->capacity, from, tag, weft_net_name(), why);
}

/* ofi_rxm matches a message by its header, and cancels the receive if the connection ends before
 * the data are there. */
void weft_net_receive_failed(struct weft_request *request, const struct fi_cq_err_entry *error,
                             const char *text)
{
    struct weft_net_request *state = weft_net_state(request);
    weft_net_of(request)->completed++;
    weft_assert(weft_net_of(request)->completed <= weft_net_fast(request->vci)->posts);
    weft_net_fast(request->vci)->posts_stop += weft_net.stop_step;
    request->flags &= (uint8_t)~WEFT_REQUEST_IN_LANE;
    if (error->err == FI_ECANCELED && state->withdrawing) {
        release_buffers(request);
        state->withdrawn = true;
        return;
    }
    request->source = weft_net_source(error->data);
    request->tag = (int)(error->tag & weft_net.tag_mask);
    if (request->match.source != MPI_ANY_SOURCE) {
        request->source = request->match.source;
    } else if (error->err == FI_ETRUNC && !is_expected(request)) {
        refuse(request, "a message of another sender");
        return;
    }
    if (error->err == FI_ETRUNC) {
        /* Only providers that truncate by themselves come here: what fits has arrived. */
        struct fi_cq_tagged_entry entry = {.tag = error->tag, .data = error->data};
        entry.len = posted_bytes(request) + error->olen;
        if (entry.len <= request->capacity)
            entry.len = request->capacity + 1;
        if (weft_net_form(entry.tag) == WEFT_MESSAGE_EAGER)
            finish_eager(request, entry.len);
        else
            finish_special(request, &entry);
        return;
    }
    if (!state->packed)
        weft_net_check_buffer(request, request->capacity, true);
    request->error = receive_error(request, text);
    request->bytes = 0;
    release_buffers(request);
    weft_request_event(request);
}

static bool is_in_lane(void *arg)
{
    const struct weft_request *request = arg;
    return request->flags & WEFT_REQUEST_IN_LANE;
}

bool weft_net_withdraw(struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    unsigned vci = request->vci->number;
    state->withdrawn = false;
    /* Not while its completion may be queued: psm2 and psm3 then cancel another operation, which
     * has got the same internal request. */
    while (is_in_lane(request) && weft_net_progress(vci))
        ;
    state->withdrawing = true;
    if (is_in_lane(request))
        fi_cancel(&weft_net_fast(request->vci)->ep->fid,
                  &state->op); /* its return value proves nothing */
    weft_wait_in_lane(weft_net_progress, vci, is_in_lane, request);
    state->withdrawing = false;
    return state->withdrawn;
}
