// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reading the rings.
 *
 * A poll reads LOOKS rings at most, in turn, so that it costs the same with 64 ranks on the node as
 * with 8; the next poll begins with the ring that was read last.
 *
 * Invariant: a line is consumed after its data were used, and no handler of a line reads the ring
 * again.
 */
#include "core/base/error.h"
#include "core/message/sw_match.h"
#include "core/message/process.h"
#include "core/base/copy.h"
#include "shm/shm_internal.h"

enum { LOOKS = 8, BATCH = 32 };

/* The data of a line. */
static inline const char *data_of(struct weft_shm_link *link, uint32_t at, uint32_t bytes)
{
    const char *data = weft_ring_data(&link->in, at);
    weft_shm_touch(&link->in_present, link->in.data, data + bytes, false);
    return data;
}

/* Passes a message to the matcher, and frees its line. */
static __attribute__((noinline)) void read_message(struct weft_shm_link *link,
                                                   const struct weft_ring_line *line)
{
    const struct weft_shm_body *body = (const struct weft_shm_body *)line->body;
    uint32_t at = line->at, bytes = body->bytes;
    struct weft_arrival message = {.context = body->context,
                                   .source = body->source,
                                   .tag = body->tag,
                                   .lane = WEFT_LANE_SHM,
                                   .mode = body->mode,
                                   .peer = link->peer,
                                   .bytes = bytes,
                                   .length = bytes,
                                   .id = line->turn,
                                   .cookie = body->word.cookie};
    bool in_line = body->kind == WEFT_SHM_INLINE || body->kind == WEFT_SHM_RTS;
    if (body->kind == WEFT_SHM_RTS) {
        message.location = WEFT_DATA_AT_SENDER;
        message.data = &body->word;
        message.bytes = sizeof body->word;
        message.length = body->word.length;
    } else {
        message.data = in_line ? (const char *)body->data : data_of(link, at, bytes);
    }
    weft_sw_arrive(link->matcher, &message);
    if (in_line)
        weft_ring_consume(&link->in);
    else
        weft_ring_consume_data(&link->in, at, bytes);
}

static __attribute__((noinline)) void read_control(struct weft_shm_link *link,
                                                   const struct weft_ring_line *line)
{
    const struct weft_shm_body *body = (const struct weft_shm_body *)line->body;
    struct weft_request *request = (struct weft_request *)(uintptr_t)body->word.cookie;
    uint32_t at = line->at, bytes = body->bytes;
    link->controls_in++;
    switch ((enum weft_shm_kind)body->kind) {
    case WEFT_SHM_FIN:
        if (weft_unlikely(bytes)) /* one of the buffers is bad */
            request->error = (uint8_t)weft_request_check_buffer(request, request->bytes, false);
        weft_shm_matched(request);
        break;
    case WEFT_SHM_ACK:
        weft_shm_matched(request);
        break;
    case WEFT_SHM_CTS:
        weft_shm_push(request, body, false);
        break;
    case WEFT_SHM_CTS_REVOCABLE:
        weft_shm_revocable_cts(link, request, body);
        break;
    case WEFT_SHM_SHARE:
        weft_shm_share_requested(link, request, body);
        break;
    case WEFT_SHM_PIECE:
        weft_shm_piece_arrived(link, body, data_of(link, at, bytes));
        weft_ring_consume_data(&link->in, at, bytes);
        return;
    case WEFT_SHM_EXPORT:
        weft_shm_export_arrived(link, body, data_of(link, at, bytes));
        weft_ring_consume_data(&link->in, at, bytes);
        return;
    case WEFT_SHM_CANCEL:
        weft_shm_cancel_requested(link, body);
        break;
    case WEFT_SHM_CANCELLED:
    case WEFT_SHM_TOO_LATE:
        weft_shm_cancel_replied(request, body->kind == WEFT_SHM_CANCELLED);
        break;
    case WEFT_SHM_REVOKE:
        weft_channel_ops.revoked(link->peer->world, body->context);
        break;
    default:
        weft_fatal(
            MPI_ERR_INTERN,
            "rank %d has written something unknown (%d) to the shared memory; all ranks must "
            "run the same version of Weft",
            link->peer->world, body->kind);
    }
    weft_ring_consume(&link->in);
}

static inline __attribute__((always_inline)) void deliver_short(struct weft_request *request,
                                                                const struct weft_shm_body *body)
{
    request->key = body->key;
    size_t bytes = weft_request_fit(request, body->bytes);
    if (weft_likely(request->type->flags & WEFT_TYPE_CONTIGUOUS))
        weft_copy_short(request->buffer, body->data, bytes);
    else
        weft_datatype_unpack(request->type, request->buffer, 0, body->data, bytes);
    weft_request_event(request);
}

/* Reads up to BATCH lines. A short message for the first receive of the express queue is delivered
 * here, without a description; all other messages by weft_deliver. The consumer index is published
 * once for a run of short messages. */
int weft_shm_drain(struct weft_shm_link *link)
{
    struct weft_ring_reader *in = &link->in;
    struct weft_matcher *matcher = link->matcher;
    uint32_t head = in->head, first = head, last = head + BATCH;
    for (; head != last; head++) {
        const struct weft_ring_line *line = &in->lines[head & in->mask];
        const struct weft_shm_body *body = (const struct weft_shm_body *)line->body;
        struct weft_match_receive *receive;
        if (atomic_load_explicit(&line->turn, memory_order_acquire) != head + 1)
            break;
        receive = weft_match_arrive_express(matcher, body->label, body->key);
        if (weft_likely(receive != NULL)) {
            deliver_short(weft_sw_request(receive), body);
        } else {
            in->head = head;
            if (body->kind <= WEFT_SHM_RTS)
                read_message(link, line);
            else
                read_control(link, line);
            weft_assert(in->head == head + 1);
        }
    }
    weft_ring_consume_to(in, head);
    return (int)(head - first);
}

int weft_shm_progress(unsigned number)
{
    struct weft_shm_vci *vci = &weft_shm.vcis[number];
    int events = 0, look = vci->look, n = vci->nactive;
    weft_assert(weft_vci_is_held(&weft.vcis[number]));
    for (int looks = n < LOOKS ? n : LOOKS; looks > 0; looks--) {
        if (++look >= n)
            look = 0;
        struct weft_shm_link *link = vci->active[look];
        weft_assert(link->vci == vci && !link->dead);
        if (weft_ring_ready(&link->in))
            events += weft_shm_drain(link);
    }
    vci->look = look;
    uint64_t contacts =
        atomic_load_explicit(&weft_shm.contacts[vci->first_contacts], memory_order_relaxed);
    if (weft_unlikely(contacts != weft_shm.accepted[vci->first_contacts]) ||
        weft_unlikely(vci->contacts > 1))
        events += weft_shm_accept_contacts(vci);
    if (weft_unlikely(vci->busy != NULL))
        events += weft_shm_retry(vci);
    if (weft_unlikely(vci->revocable != NULL))
        events += weft_shm_revoke(vci);
    return events;
}
