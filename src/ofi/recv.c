// SPDX-License-Identifier: BSD-3-Clause
/*
 * Receives that the provider matches.
 *
 * What a receive can be handed: an eager message of up to the eager limit, or an RTS header, and it
 * cannot know which. So every posted receive has room for a header (a short one lands in the
 * request and is copied out), and, where a longer message than the receive would hurt the provider
 * (row flag WEFT_PROVIDER_SPILL), room for an eager message: the excess goes to the spill area,
 * which everyone shares and nobody reads.
 *
 * Invariants:
 *  - Bytes of the user's buffer beyond the received message are left as they were: an RTS header
 *    that landed there is undone from part->saved.
 *  - IN_NET is set from the post until its one completion.
 */
#include "core/error.h"
#include "core/soft.h"
#include "core/weft.h"
#include "ofi/net.h"
#include "ofi/ofi.h"

#include <stdlib.h>
#include <string.h>

/* Where the provider writes first: the user's buffer, the request's small area, or a packed
 * buffer. */
static inline bool lands_in_request(const struct weft_request *request)
{
    return request->capacity < WEFT_NET_HEADER_BYTES;
}

static char *landing(struct weft_request *request)
{
    struct weft_net_request *part = weft_net_part(request);
    return lands_in_request(request) ? part->small : part->packed ? part->packed : request->buffer;
}

static __attribute__((noinline)) void release(struct weft_net_request *part)
{
    if (part->mr)
        fi_close(&part->mr->fid);
    free(part->packed);
    part->mr = NULL;
    part->packed = NULL;
}

/* Gives a receive to the provider. False when it does not take it. */
static inline __attribute__((always_inline)) bool post(struct weft_request *request,
                                                       struct iovec *iov, void **descriptors,
                                                       size_t pieces, const struct weft_peer *peer,
                                                       int tag, uint64_t context_bits)
{
    uint64_t word = context_bits | (uint32_t)tag, ignore = weft_net.form_mask;
    if (weft_unlikely(tag < 0)) {
        word = context_bits;
        ignore |= weft_net.tag_mask;
    }
    fi_addr_t source = peer ? peer->net_addr : FI_ADDR_UNSPEC;
    request->flags = WEFT_REQUEST_IN_NET;
    request->posted = weft_net.posts++;
    return weft_likely(!fi_trecvv(weft_net.ep, iov, descriptors, pieces, source, word, ignore,
                                  &weft_net_part(request)->op));
}

/* A receive that the provider did not take stays with the core. Whatever the reason: the claims
 * that follow tell more if it is grave. */
static __attribute__((noinline)) int refused(struct weft_request *request)
{
    weft_net.posts--;
    request->flags = 0;
    release(weft_net_part(request));
    weft_soft_receive(request);
    return MPI_SUCCESS;
}

/* Also memory that must be registered, and a full receive queue. */
int weft_net_irecv_any(struct weft_request *request)
{
    struct weft_net_request *part = weft_net_part(request);
    struct iovec iov[2] = {{landing(request), request->capacity}, weft_net.spill};
    void *descriptors[2] = {NULL, NULL};
    part->op.kind = WEFT_NET_RECV;
    if (weft_net.posts >= weft_net.posts_stop + (weft_net.local_mr ? weft_net.post_limit : 0)) {
        weft_soft_receive(request);
        return MPI_SUCCESS;
    }
    if (lands_in_request(request)) {
        iov[0].iov_len = WEFT_NET_SMALL;
    } else if (!(request->type->flags & WEFT_TYPE_DENSE)) {
        if (iov[0].iov_len > weft_net.eager_limit)
            iov[0].iov_len = weft_net.eager_limit;
        part->packed = malloc(iov[0].iov_len);
        if (!part->packed) {
            weft_soft_receive(request);
            return MPI_SUCCESS;
        }
        iov[0].iov_base = part->packed;
    } else {
        memcpy(part->saved, request->buffer, WEFT_NET_HEADER_BYTES);
    }
    if (weft_net.local_mr) {
        part->mr = weft_net_register(iov[0].iov_base, iov[0].iov_len, FI_RECV);
        descriptors[0] = weft_net_descriptor(part->mr);
        descriptors[1] = weft_net_descriptor(weft_net.spill_mr);
    }
    size_t pieces = iov[0].iov_len < weft_net.spill_below ? 2 : 1;
    if (!post(request, iov, descriptors, pieces, request->peer, request->match.tag,
              request->channel->net_bits))
        return refused(request);
    return MPI_SUCCESS;
}

int weft_net_irecv(struct weft_request *request, void *buffer, size_t capacity,
                   const struct weft_peer *peer, int tag, uint64_t context_bits)
{
    struct weft_net_request *part = weft_net_part(request);
    struct iovec iov[2];
    size_t pieces;
    if (weft_unlikely(weft_net.posts >= weft_net.posts_stop))
        return weft_net_irecv_any(request);
    part->op.kind = WEFT_NET_RECV;
    iov[1] = weft_net.spill;
    if (capacity < WEFT_NET_HEADER_BYTES) {
        iov[0] = (struct iovec){part->small, WEFT_NET_SMALL};
        pieces = weft_net.short_pieces;
    } else {
        iov[0] = (struct iovec){buffer, capacity};
        pieces = capacity < weft_net.spill_below ? 2 : 1;
        memcpy(part->saved, buffer, WEFT_NET_HEADER_BYTES);
    }
    if (weft_unlikely(!post(request, iov, NULL, pieces, peer, tag, context_bits)))
        return refused(request);
    return MPI_SUCCESS;
}

WEFT_COLD static void truncated(struct weft_request *request, size_t length)
{
    request->error = weft_error_say(
        MPI_ERR_TRUNCATE,
        "the message of %zu bytes from rank %d with tag %d does not fit into the receive's %zu "
        "bytes; give the receive a larger count, or probe for the length first",
        length, request->source, request->tag, request->capacity);
}

static void finish_eager(struct weft_request *request, size_t length)
{
    struct weft_net_request *part = weft_net_part(request);
    size_t n = length;
    if (weft_unlikely(n > request->capacity)) {
        truncated(request, length);
        n = request->capacity;
    }
    request->bytes = n;
    if (weft_unlikely(!(request->type->flags & WEFT_TYPE_DENSE)))
        weft_datatype_unpack(request->type, request->buffer, 0, landing(request), n);
    else if (n && lands_in_request(request))
        memcpy(request->buffer, part->small, n);
    if (weft_unlikely(part->packed || part->mr))
        release(part);
    weft_request_event(request);
}

static struct weft_peer *sender_of(struct weft_request *request)
{
    int world = request->channel->comm->world[request->source];
    struct weft_peer *peer = weft.peers[world];
    return weft_likely(peer != NULL) ? peer : weft_peer_connect(world);
}

static __attribute__((noinline)) void finish_special(struct weft_request *request,
                                                     const struct fi_cq_tagged_entry *entry)
{
    struct weft_net_request *part = weft_net_part(request);
    if (!request->peer)
        request->peer = sender_of(request);
    if (!request->peer) {
        request->error = MPI_ERR_OTHER;
        request->bytes = 0;
        release(part);
        weft_request_event(request);
        return;
    }
    if (weft_net_form(entry->tag) == WEFT_MESSAGE_SYNC) {
        weft_net_acknowledge(request->peer, request->channel, request->tag);
        finish_eager(request, entry->len);
        return;
    }
    struct weft_net_header header;
    char *place = landing(request);
    memcpy(&header, place, sizeof header);
    if (place == request->buffer)
        memcpy(place, part->saved, sizeof part->saved);
    release(part);
    weft_net_fetch(request, &header);
}

void weft_net_received(struct weft_request *request, const struct fi_cq_tagged_entry *entry)
{
    weft_net.posts_stop++;
    request->flags &= (uint8_t)~WEFT_REQUEST_IN_NET;
    request->source = (int)(entry->data >> weft_net.rank_shift);
    request->tag = (int)(entry->tag & weft_net.tag_mask);
    if (weft_likely(weft_net_form(entry->tag) == WEFT_MESSAGE_EAGER))
        finish_eager(request, entry->len);
    else
        finish_special(request, entry);
}

void weft_net_receive_failed(struct weft_request *request, const struct fi_cq_err_entry *error,
                             const char *text)
{
    struct weft_net_request *part = weft_net_part(request);
    weft_net.posts_stop++;
    request->flags &= (uint8_t)~WEFT_REQUEST_IN_NET;
    if (error->err == FI_ECANCELED) {
        release(part);
        part->withdrawn = true;
        return;
    }
    request->source = (int)(error->data >> weft_net.rank_shift);
    request->tag = (int)(error->tag & weft_net.tag_mask);
    if (error->err == FI_ETRUNC) {
        /* Only providers that truncate by themselves come here: what fits has arrived. */
        struct fi_cq_tagged_entry entry = {.tag = error->tag, .data = error->data};
        entry.len = error->len + error->olen > request->capacity ? error->len + error->olen
                                                                 : request->capacity + 1;
        if (weft_net_form(entry.tag) == WEFT_MESSAGE_EAGER)
            finish_eager(request, entry.len);
        else
            finish_special(request, &entry);
        return;
    }
    request->error = weft_error_say(
        MPI_ERR_OTHER, "a receive of up to %zu bytes failed in %s: %s; see whether the peer runs",
        request->capacity, weft_net_name(), text);
    request->bytes = 0;
    release(part);
    weft_request_event(request);
}

bool weft_net_withdraw(struct weft_request *request)
{
    struct weft_net_request *part = weft_net_part(request);
    part->withdrawn = false;
    fi_cancel(&weft_net.ep->fid, &part->op); /* its return value proves nothing */
    unsigned idle = 0;
    while (request->flags & WEFT_REQUEST_IN_NET)
        if (!weft_net_progress())
            weft_idle(&idle);
    return part->withdrawn;
}
