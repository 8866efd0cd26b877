// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reading the rings.
 *
 * A poll looks at LOOKS rings at most, taking turns where there are more, so that it costs the same
 * with 64 ranks on the node as with 8; the next begins with the ring that brought something last.
 *
 * Invariant: a line is consumed after its data were used, and nothing that its handler calls comes
 * back here.
 */
#include "core/object/error.h"
#include "core/pt2pt/sw_match.h"
#include "core/process/weft.h"
#include "shm/copy.h"
#include "shm/shm_internal.h"

enum { LOOKS = 8, BATCH = 32, EARLY_STEP = 2048 };

/* Waits until data that were published early are there up to a position. False when their writer
 * has died before. */
static bool wait_filled(const struct weft_shm_link *link, uint32_t upto)
{
    unsigned looks = 0;
    while (!weft_ring_is_filled(&link->in, upto))
        if (weft_shm_is_gone(link, &looks))
            return weft_ring_is_filled(&link->in, upto);
    return true;
}

/* Copies the data of a message to a receive's buffer. False when the writer died before they were
 * complete. */
static bool unpack(struct weft_shm_link *link, const struct weft_ring_line *line,
                   struct weft_request *request, size_t bytes)
{
    const struct weft_shm_body *body = (const struct weft_shm_body *)line->body;
    const char *data = weft_ring_data(&link->in, line->at);
    if (body->kind != WEFT_SHM_EARLY) {
        weft_datatype_unpack(request->type, request->buffer, 0, data, bytes);
        return true;
    }
    for (size_t done = 0, part; done < bytes; done += part) {
        part = bytes - done < EARLY_STEP ? bytes - done : EARLY_STEP;
        if (!wait_filled(link, line->at + (uint32_t)(done + part)))
            return false;
        weft_datatype_unpack(request->type, request->buffer, done, data + done, part);
    }
    return wait_filled(link, line->at + body->bytes); /* what was truncated too */
}

static void deliver_data(struct weft_shm_link *link, const struct weft_ring_line *line,
                         struct weft_request *request)
{
    const struct weft_shm_body *body = (const struct weft_shm_body *)line->body;
    size_t bytes = body->bytes;
    request->source = body->source;
    request->tag = body->tag;
    if (weft_unlikely(bytes > request->capacity)) {
        weft_request_truncated(request, bytes);
        bytes = request->capacity;
    }
    request->bytes = bytes;
    if (weft_unlikely(!unpack(link, line, request, bytes)))
        request->error = (uint8_t)weft_failure_say(link->peer);
    if (weft_unlikely(body->form == WEFT_MESSAGE_SYNC))
        weft_shm_acknowledge(link->peer, body->word.cookie);
    weft_request_event(request);
}

/* Keeps a message that no receive waits for. */
static __attribute__((noinline)) void keep(struct weft_shm_link *link,
                                           const struct weft_ring_line *line, const void *data,
                                           size_t bytes, size_t length)
{
    const struct weft_shm_body *body = (const struct weft_shm_body *)line->body;
    bool whole = body->kind != WEFT_SHM_EARLY || wait_filled(link, line->at + body->bytes);
    if (!whole)
        return;
    enum weft_message_form form = (enum weft_message_form)body->form;
    if (body->kind == WEFT_SHM_RTS) {
        if (form == WEFT_MESSAGE_READY)
            weft_sw_unready(body->context, body->source, body->tag, length);
        form = WEFT_MESSAGE_RTS;
    }
    struct weft_message *message = weft_sw_keep(link->matcher, body->context, body->source,
                                                body->tag, form, data, bytes, length, line->turn);
    if (!message)
        weft_fatal(MPI_ERR_NO_MEM,
                   "no memory to keep an unexpected message of %zu bytes from rank %d with tag %d; "
                   "post its receive earlier",
                   length, body->source, body->tag);
    message->lane = WEFT_LANE_SHM;
    message->cookie = form == WEFT_MESSAGE_SYNC ? body->word.cookie : 0;
}

static struct weft_request *match(const struct weft_shm_link *link,
                                  const struct weft_shm_body *body)
{
    return weft_sw_match(link->matcher, body->context, body->source, body->tag);
}

static __attribute__((noinline)) void read_data(struct weft_shm_link *link,
                                                const struct weft_ring_line *line)
{
    const struct weft_shm_body *body = (const struct weft_shm_body *)line->body;
    struct weft_request *request = match(link, body);
    uint32_t at = line->at, bytes = body->bytes;
    if (weft_likely(request != NULL))
        deliver_data(link, line, request);
    else
        keep(link, line, weft_ring_data(&link->in, at), bytes, bytes);
    weft_ring_consume_data(&link->in, at, bytes);
}

static __attribute__((noinline)) void read_rts(struct weft_shm_link *link,
                                               const struct weft_ring_line *line)
{
    const struct weft_shm_body *body = (const struct weft_shm_body *)line->body;
    const struct weft_shm_header header = {body->word.cookie, body->word.address,
                                           body->word.length};
    struct weft_request *request = match(link, body);
    if (!request) {
        keep(link, line, &header, sizeof header, header.length);
        return;
    }
    request->source = body->source;
    request->tag = body->tag;
    request->peer = link->peer;
    weft_shm_fetch(request, &header);
}

static __attribute__((noinline)) void read_special(struct weft_shm_link *link,
                                                   const struct weft_ring_line *line)
{
    const struct weft_shm_body *body = (const struct weft_shm_body *)line->body;
    struct weft_request *request = (struct weft_request *)(uintptr_t)body->word.cookie;
    uint32_t at = line->at, bytes = body->bytes;
    link->controls_in += body->kind != WEFT_SHM_RTS;
    switch ((enum weft_shm_kind)body->kind) {
    case WEFT_SHM_RTS:
        read_rts(link, line);
        break;
    case WEFT_SHM_ACK:
    case WEFT_SHM_FIN:
        weft_shm_matched(request);
        break;
    case WEFT_SHM_CTS:
        weft_shm_push(request, body->word.address, body->word.length);
        break;
    case WEFT_SHM_SHARE:
        weft_shm_share_offered(link, request, body);
        break;
    case WEFT_SHM_LAY:
        weft_shm_stage_offered(link, request, body);
        break;
    case WEFT_SHM_PIECE:
        weft_shm_piece_arrived(link, body, weft_ring_data(&link->in, at));
        weft_ring_consume_data(&link->in, at, bytes);
        return;
    case WEFT_SHM_CANCEL:
        weft_shm_cancel_asked(link, body);
        break;
    case WEFT_SHM_CANCELLED:
    case WEFT_SHM_TOO_LATE:
        weft_shm_cancel_answered(request, body->kind == WEFT_SHM_CANCELLED);
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
    size_t bytes = body->bytes;
    request->key = body->key;
    if (weft_unlikely(bytes > request->capacity)) {
        weft_request_truncated(request, bytes);
        bytes = request->capacity;
    }
    request->bytes = bytes;
    if (weft_likely(request->type->flags & WEFT_TYPE_CONTIGUOUS))
        weft_shm_copy_short(request->buffer, body->data, bytes);
    else
        weft_datatype_unpack(request->type, request->buffer, 0, body->data, bytes);
    weft_request_event(request);
}

/* Whatever is not a short message for a plain receive that waits. */
static __attribute__((noinline)) void read_long(struct weft_shm_link *link,
                                                const struct weft_ring_line *line)
{
    const struct weft_shm_body *body = (const struct weft_shm_body *)line->body;
    if (body->kind != WEFT_SHM_INLINE) {
        if (body->kind <= WEFT_SHM_EARLY)
            read_data(link, line);
        else
            read_special(link, line);
        return;
    }
    struct weft_request *request = match(link, body);
    if (request)
        deliver_short(request, body);
    else
        keep(link, line, body->data, body->bytes, body->bytes);
    weft_ring_consume(&link->in);
}

/* Short messages are read without publishing the position to the ring until something else comes. */
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
            read_long(link, line);
        }
    }
    weft_ring_consume_to(in, head);
    return (int)(head - first);
}

int weft_shm_progress(unsigned number)
{
    struct weft_shm_vci *vci = &weft_shm.vcis[number];
    int events = 0, look = vci->look, n = vci->nactive;
    for (int looks = n < LOOKS ? n : LOOKS; looks > 0; looks--) {
        if (++look >= n)
            look = 0;
        struct weft_shm_link *link = vci->active[look];
        if (weft_ring_ready(&link->in))
            events += weft_shm_drain(link);
    }
    vci->look = look;
    uint64_t news = atomic_load_explicit(&weft_shm.news[vci->first_news], memory_order_relaxed);
    if (weft_unlikely(news != weft_shm.known[vci->first_news]) || weft_unlikely(vci->news > 1))
        events += weft_shm_read_news(vci);
    if (weft_unlikely(vci->busy != NULL))
        events += weft_shm_retry(vci);
    return events;
}
