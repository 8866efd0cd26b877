// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sending: into a line, into the data area, or an RTS; the backlog; pushed pieces.
 *
 * Credits. An unexpected message takes memory at its receiver. A receiver that keeps as many bytes
 * of a sender as it gives credits for (weft.eager_credits) publishes that beside the ring's
 * consumer index, and the sender reads it when it reads the index. Until the receiver has taken
 * messages, the sender announces each by an RTS, except those that fit a line, which an RTS takes
 * as well. Controls and pieces are not kept, so they need no credits.
 *
 * Invariant: while a link has a backlog nothing but its head, and pieces, is written to its ring. A
 * link with a backlog or sends to push is in the list `busy` of its VCI.
 */
#include "core/base/error.h"
#include "core/message/sw_match.h"
#include "core/message/count.h"
#include "core/datatype/device.h"
#include "core/message/process.h"
#include "core/progress/failure.h"
#include "core/base/copy.h"
#include "shm/shm_internal.h"

#include <stdlib.h>
#include <string.h>

/* The method of copying data of LONG_FROM bytes and more is tuned, and space for the next ones is
 * not prepared. PIECES_AT_ONCE bounds what one call pushes to a peer. Messages of up to SHORT_PUSH
 * bytes are pushed in short pieces, because the first and the last piece are copied by one end
 * alone. Messages of TUNED_FROM bytes are larger than caches; what is copied past the caches is
 * packed PACKED_AT_ONCE bytes at a time, which stay in the first-level cache. Pieces of device
 * memory have DEVICE_PIECE bytes at least, and from EXPORT_FROM bytes on the receiver copies them
 * itself. */
enum {
    DEVICE_PIECE = 64 << 10,
    EXPORT_FROM = 32 << 10,
    LONG_FROM = 3072,
    PIECES_AT_ONCE = 8,
    SHORT_PUSH = 128 << 10,
    TUNED_FROM = 4 << 20,
    PACKED_AT_ONCE = 8 << 10
};

/* A message to be written to the data area. */
struct outgoing {
    uint32_t context;
    int32_t source, tag;
    uint8_t mode; /* enum weft_send_mode */
    uint64_t cookie;
    const struct weft_datatype *type; /* NULL: contiguous bytes */
    const void *buffer;
    size_t bytes;
};

static inline void set_header(struct weft_shm_body *body, enum weft_shm_kind kind, uint8_t mode,
                              size_t bytes, uint32_t context, int source, int tag)
{
    body->bytes = (uint32_t)bytes;
    body->key = weft_match_key(source, tag);
    body->label = weft_match_label(context);
    if (kind || mode) {
        body->kind = (uint8_t)kind;
        body->mode = mode;
    }
}

static void pack(const struct outgoing *message, size_t offset, void *to, size_t bytes)
{
    if (message->type)
        weft_datatype_pack(message->type, message->buffer, offset, to, bytes);
    else
        memcpy(to, (const char *)message->buffer + offset, bytes);
}

/* Copies a long message through the caches or past them, as trials choose. Between two cores that
 * share no nearby cache 8 KiB take 0.4 of the time past them, else 1.7 (bench/latency.c). */
static void copy_long(const struct weft_shm_link *link, const struct outgoing *message,
                      char *location)
{
    if (weft_copy_tuning_second(&link->data_tuning)) {
        weft_copy_past(location, message->buffer, message->bytes);
        weft_copied_past();
    } else {
        memcpy(location, message->buffer, message->bytes);
    }
}

/* Called when the message is published. The time since the one before includes the reader's work.
 */
static void note_long(struct weft_shm_link *link, size_t bytes)
{
    uint64_t now = weft_nanoseconds();
    weft_copy_tuning_note(&link->data_tuning, (now - link->data_copied) / (bytes >> 10));
    link->data_copied = now;
}

/* Space for the data of the next line, as weft_ring_reserve. */
static inline char *reserve(struct weft_shm_link *link, uint32_t bytes, uint32_t *at)
{
    char *location = weft_ring_reserve(&link->out, bytes, at);
    if (location)
        weft_shm_touch(&link->out_present, link->out.data, location + bytes, true);
    return location;
}

/* Writes a message to the data area; *turn is the turn of its line. False if there is no space now.
 */
static __attribute__((noinline)) bool write_data(struct weft_shm_link *link,
                                                 const struct outgoing *message, uint32_t *turn)
{
    struct weft_ring_writer *out = &link->out;
    uint32_t at;
    if (!weft_ring_make_line(out))
        return false;
    char *location = reserve(link, (uint32_t)message->bytes, &at);
    if (!location)
        return false;
    struct weft_ring_line *line = weft_ring_line(out);
    struct weft_shm_body *body = weft_shm_body(line);
    /* Not while the pages are new: their first use takes longer than any copy. */
    bool tuned =
        link->core_each && message->bytes >= LONG_FROM && !message->type && at >= out->data_size;
    set_header(body, WEFT_SHM_DATA, message->mode, message->bytes, message->context,
               message->source, message->tag);
    body->word.cookie = message->cookie;
    line->at = at;
    if (tuned)
        copy_long(link, message, location);
    else
        pack(message, 0, location, message->bytes);
    *turn = weft_ring_publish(out, line);
    weft_shm_signal(link);
    if (tuned)
        note_long(link, message->bytes);
    else if (message->bytes < LONG_FROM)
        weft_ring_prepare(out, (uint32_t)message->bytes);
    return true;
}

/* Writes a message of at most WEFT_SHM_INLINE_BYTES contiguous bytes to the next line, for which
 * there is space. Returns its turn. */
static inline __attribute__((always_inline)) uint32_t write_line(struct weft_shm_link *link,
                                                                 const struct weft_channel *channel,
                                                                 int tag, const void *buffer,
                                                                 size_t bytes)
{
    struct weft_ring_line *line = weft_ring_line(&link->out);
    struct weft_shm_body *body = weft_shm_body(line);
    set_header(body, WEFT_SHM_INLINE, WEFT_SEND_STANDARD, bytes, channel->context, channel->rank,
               tag);
    weft_copy_short(body->data, buffer, bytes);
    uint32_t turn = weft_ring_publish(&link->out, line);
    weft_shm_signal(link);
    return turn;
}

/* The general path of inject. */
static __attribute__((noinline)) bool inject_data(struct weft_shm_link *link,
                                                  const struct weft_channel *channel, int tag,
                                                  const void *data, size_t bytes,
                                                  uint32_t *sequence)
{
    const struct outgoing message = {.context = channel->context,
                                     .source = channel->rank,
                                     .tag = tag,
                                     .buffer = data,
                                     .bytes = bytes};
    if (bytes > WEFT_SHM_INLINE_BYTES)
        return weft_ring_has_credits(&link->out) && write_data(link, &message, sequence);
    if (!weft_ring_make_line(&link->out))
        return false;
    *sequence = write_line(link, channel, tag, data, bytes);
    return true;
}

/* Writes a message if there is space; *sequence is the turn of its line. */
static inline __attribute__((always_inline)) bool inject(struct weft_shm_link *link,
                                                         const struct weft_channel *channel,
                                                         int tag, const void *data, size_t bytes,
                                                         uint32_t *sequence)
{
    if (weft_unlikely(bytes > WEFT_SHM_INLINE_BYTES) ||
        weft_unlikely(!weft_ring_has_line(&link->out)))
        return inject_data(link, channel, tag, data, bytes, sequence);
    *sequence = write_line(link, channel, tag, data, bytes);
    return true;
}

WEFT_HOT bool weft_shm_inject(struct weft_peer *peer, const struct weft_channel *channel, int tag,
                              const void *data, size_t bytes)
{
    uint32_t sequence;
    weft_assert(!peer->backlog.first && !weft_shm_link(peer)->dead);
    return inject(weft_shm_link(peer), channel, tag, data, bytes, &sequence);
}

/* ---- With a request */

static struct weft_request *request_of(struct weft_backlog_entry *out)
{
    struct weft_shm_request *state =
        (struct weft_shm_request *)((char *)out - offsetof(struct weft_shm_request, out));
    return (struct weft_request *)((char *)state - offsetof(struct weft_request, lane));
}

static bool write_rts(struct weft_shm_link *link, struct weft_request *request)
{
    struct weft_shm_request *state = weft_shm_state(request);
    if (!weft_ring_make_line(&link->out))
        return false;
    struct weft_ring_line *line = weft_ring_line(&link->out);
    struct weft_shm_body *body = weft_shm_body(line);
    bool contiguous = request->type->flags & WEFT_TYPE_CONTIGUOUS;
    set_header(body, WEFT_SHM_RTS, request->mode, 0, request->channel->context,
               request->channel->rank, request->tag);
    body->word.cookie = (uintptr_t)request;
    body->word.address = contiguous ? (uintptr_t)request->buffer : 0;
    body->word.length = request->bytes;
    state->phase = WEFT_SHM_AWAITED;
    weft_count_add(&weft_counts.shm_rendezvous, 1);
    weft_count_add(&weft_counts.shm_rendezvous_bytes, request->bytes);
    link->peer->counts.rendezvous++;
    weft_peer_event(WEFT_EVENT_RENDEZVOUS, link->peer, request->tag, request->bytes);
    request->sequence = weft_ring_publish(&link->out, line);
    weft_shm_signal(link);
    return true;
}

static bool write_message(struct weft_shm_link *link, struct weft_request *request)
{
    struct weft_shm_request *state = weft_shm_state(request);
    weft_assert(!link->peer->backlog.first || link->peer->backlog.first == &state->out);
    weft_assert(state->phase == WEFT_SHM_QUEUED && weft_vci_is_held(request->vci));
    if (!state->rendezvous && request->bytes > WEFT_SHM_INLINE_BYTES &&
        !weft_ring_has_credits(&link->out)) {
        state->rendezvous = true;
        weft_count_add(&weft_counts.shm_credit_waits, 1);
    }
    if (state->rendezvous)
        return write_rts(link, request);
    bool sync = request->mode == WEFT_SEND_SYNCHRONOUS;
    const struct outgoing message = {.context = request->channel->context,
                                     .source = request->channel->rank,
                                     .tag = request->tag,
                                     .mode = request->mode,
                                     .cookie = (uintptr_t)request,
                                     .type = request->type,
                                     .buffer = request->buffer,
                                     .bytes = request->bytes};
    if (!write_data(link, &message, &request->sequence))
        return false;
    state->phase = sync ? WEFT_SHM_AWAITED : WEFT_SHM_SENT;
    if (!sync)
        weft_request_event(request);
    return true;
}

static struct weft_shm_control *control_of(struct weft_backlog_entry *out)
{
    return (struct weft_shm_control *)((char *)out - offsetof(struct weft_shm_control, out));
}

static bool write_control(struct weft_shm_link *link, const struct weft_shm_body *body)
{
    if (!weft_ring_make_line(&link->out))
        return false;
    struct weft_ring_line *line = weft_ring_line(&link->out);
    memcpy(line->body, body, sizeof *body);
    link->controls_out++;
    weft_ring_publish(&link->out, line);
    weft_shm_signal(link);
    return true;
}

static bool write_out(struct weft_shm_link *link, struct weft_backlog_entry *out)
{
    if (out->kind == WEFT_SHM_OUT_REQUEST)
        return write_message(link, request_of(out));
    if (!write_control(link, &control_of(out)->body))
        return false;
    free(control_of(out));
    return true;
}

/* ---- The backlog */

static void make_busy(struct weft_shm_link *link)
{
    weft_assert(weft_vci_is_held(&weft.vcis[link->peer->vci]));
    if (link->listed)
        return;
    link->listed = true;
    link->next_busy = link->vci->busy;
    link->vci->busy = link;
}

void weft_shm_set_limit(struct weft_shm_link *link)
{
    bool open = !link->peer->backlog.first && !link->dead && !weft_count_all();
    link->peer->send_limit = open ? weft_shm.eager_limit + 1 : 0;
}

static void append_out(struct weft_shm_link *link, struct weft_backlog_entry *out)
{
    weft_assert(!link->dead);
    weft_backlog_append(link->peer, out, false);
    link->peer->send_limit = 0;
    make_busy(link);
}

bool weft_shm_take_back(struct weft_shm_link *link, const struct weft_backlog_entry *out)
{
    bool found = weft_backlog_remove(link->peer, out);
    weft_shm_set_limit(link);
    return found;
}

/* The general path of weft_shm_isend. */
static __attribute__((noinline)) int isend_general(struct weft_request *request)
{
    struct weft_shm_link *link = weft_shm_link(request->peer);
    weft_assert(request->pending == 1 && link->vci == &weft_shm.vcis[request->vci->number]);
    struct weft_shm_request *state = weft_shm_state(request);
    *state = (struct weft_shm_request){.phase = WEFT_SHM_QUEUED};
    state->rendezvous = request->bytes > weft_shm.eager_limit;
    if (link->peer->backlog.first || !write_message(link, request))
        append_out(link, &state->out);
    return MPI_SUCCESS;
}

WEFT_HOT int weft_shm_isend(struct weft_request *request)
{
    struct weft_peer *peer = request->peer;
    bool plain = request->type->flags & WEFT_TYPE_CONTIGUOUS && request->mode == WEFT_SEND_STANDARD;
    request->owner = WEFT_LANE_SHM;
    if (weft_unlikely(!plain) || weft_unlikely(request->bytes >= peer->send_limit) ||
        weft_unlikely(!inject(weft_shm_link(peer), request->channel, request->tag, request->buffer,
                              request->bytes, &request->sequence)))
        return isend_general(request);
    request->pending = 0;
    weft_shm_state(request)->phase = WEFT_SHM_SENT;
    return MPI_SUCCESS;
}

void weft_shm_control(struct weft_shm_link *link, const struct weft_shm_body *body)
{
    if (link->dead || (!link->peer->backlog.first && write_control(link, body)))
        return;
    struct weft_shm_control *control = malloc(sizeof *control);
    if (!control)
        weft_fatal(MPI_ERR_NO_MEM,
                   "no memory to answer a message of rank %d; free memory, or run fewer ranks on "
                   "this host",
                   link->peer->world);
    control->out.kind = WEFT_SHM_OUT_CONTROL;
    control->body = *body;
    append_out(link, &control->out);
}

/* ---- Pushed messages */

/* Device memory that is contiguous, long enough, and to be mapped by the receiver. */
static bool is_exported(const struct weft_request *request, const struct weft_shm_body *body)
{
    return body->mode & WEFT_SHM_GPU_IPC && body->word.length >= EXPORT_FROM &&
           request->type->flags & WEFT_TYPE_DEVICE &&
           request->type->twin->flags & WEFT_TYPE_CONTIGUOUS;
}

void weft_shm_push(struct weft_request *request, const struct weft_shm_body *body, bool revocable)
{
    struct weft_shm_request *state = weft_shm_state(request);
    struct weft_shm_link *link = weft_shm_link(request->peer);
    struct weft_request **end = &link->pushed;
    state->phase = WEFT_SHM_PUSHING;
    state->receiver = body->word.address;
    state->gpu = (uint8_t)((body->mode & WEFT_SHM_GPU_DEVICE) |
                           (is_exported(request, body) ? WEFT_SHM_GPU_IPC : 0));
    state->revocable = revocable;
    request->vci->transfers += revocable;
    state->moved = 0;
    state->total = body->word.length;
    state->next = NULL;
    while (*end)
        end = &weft_shm_state(*end)->next;
    *end = request;
    make_busy(link);
}

static void pack_past(const struct weft_request *request, size_t offset, char *location,
                      size_t bytes)
{
    char packed[PACKED_AT_ONCE];
    for (size_t done = 0, state; done < bytes; done += state) {
        state = bytes - done < PACKED_AT_ONCE ? bytes - done : PACKED_AT_ONCE;
        weft_datatype_pack(request->type, request->buffer, offset + done, packed, state);
        weft_copy_past(location + done, packed, state);
    }
    weft_copied_past();
}

/* Packs the next piece of a send to the data area. Its time includes the wait for space. */
static void pack_piece(struct weft_shm_link *link, struct weft_request *request, char *location,
                       size_t bytes)
{
    struct weft_shm_request *state = weft_shm_state(request);
    if (weft_unlikely(request->type->flags & WEFT_TYPE_DEVICE) && !link->pin_out.tried)
        weft_shm_pin(&link->pin_out, link->out.data, link->out.data_size);
    if (state->total < TUNED_FROM || request->type->flags & WEFT_TYPE_DEVICE) {
        weft_datatype_pack(request->type, request->buffer, state->moved, location, bytes);
        return;
    }
    uint64_t begin = state->moved ? link->piece_pushed : weft_nanoseconds();
    if (weft_copy_tuning_second(&link->push_tuning))
        pack_past(request, state->moved, location, bytes);
    else
        weft_datatype_pack(request->type, request->buffer, state->moved, location, bytes);
    link->piece_pushed = weft_nanoseconds();
    weft_copy_tuning_note(&link->push_tuning, link->piece_pushed - begin);
}

/* The longest piece of a send. A copy of device memory takes some microseconds longer than its
 * bytes do, so pieces are as long as they can be while both ends copy at the same time. */
static size_t longest_piece(const struct weft_request *request)
{
    const struct weft_shm_request *state = (const struct weft_shm_request *)request->lane;
    size_t most = weft_ring_data_max(weft_shm.shape), quarter = (state->total + 3) / 4;
    if (weft_likely(!(request->type->flags & WEFT_TYPE_DEVICE) && !state->gpu))
        return state->total <= SHORT_PUSH ? weft_shm.short_piece : weft_shm.piece;
    if (quarter < DEVICE_PIECE)
        quarter = DEVICE_PIECE;
    return quarter < most ? quarter : most;
}

/* Writes one piece of a send, or the description of its buffer. False when there is no space. */
static bool push_one(struct weft_shm_link *link, struct weft_request *request)
{
    struct weft_shm_request *state = weft_shm_state(request);
    struct weft_gpu_export export;
    size_t rest = state->total - state->moved, most = longest_piece(request);
    uint32_t bytes = (uint32_t)(rest < most ? rest : most), at;
    weft_assert(state->phase == WEFT_SHM_PUSHING && state->moved <= state->total);
    if (!weft_ring_make_line(&link->out))
        return false;
    if (state->gpu & WEFT_SHM_GPU_IPC && !weft_gpu_export(request->buffer, &export))
        state->gpu &= (uint8_t)~WEFT_SHM_GPU_IPC;
    bool exports = state->gpu & WEFT_SHM_GPU_IPC;
    if (exports)
        bytes = sizeof export;
    char *location = reserve(link, bytes, &at);
    if (!location)
        return false;
    if (exports)
        memcpy(location, &export, sizeof export);
    else
        pack_piece(link, request, location, bytes);
    struct weft_ring_line *line = weft_ring_line(&link->out);
    struct weft_shm_body *body = weft_shm_body(line);
    set_header(body, exports ? WEFT_SHM_EXPORT : WEFT_SHM_PIECE, 0, bytes, 0, 0, 0);
    body->word.cookie = state->receiver;
    body->word.length = state->moved;
    line->at = at;
    link->controls_out++;
    weft_count_add(&weft_counts.shm_pieces, !exports);
    weft_ring_publish(&link->out, line);
    weft_shm_signal(link);
    state->moved += exports ? 0 : bytes;
    return true;
}

static void end_push(struct weft_shm_link *link, struct weft_request *request)
{
    struct weft_shm_request *state = weft_shm_state(request);
    weft_assert(link->pushed == request && request->vci->transfers >= state->revocable);
    link->pushed = state->next;
    request->vci->transfers -= state->revocable;
}

static int push_more(struct weft_shm_link *link)
{
    int pieces = 0;
    while (link->pushed && pieces < PIECES_AT_ONCE && push_one(link, link->pushed)) {
        struct weft_request *request = link->pushed;
        pieces++;
        if (weft_shm_state(request)->gpu & WEFT_SHM_GPU_IPC) {
            end_push(link, request);
            weft_shm_state(request)->phase = WEFT_SHM_AWAITED;
        } else if (weft_shm_state(request)->moved == weft_shm_state(request)->total) {
            end_push(link, request);
            weft_shm_matched(request);
        }
    }
    return pieces;
}

static int retry(struct weft_shm_link *link)
{
    int events = 0;
    while (link->peer->backlog.first) {
        struct weft_backlog_entry *out = link->peer->backlog.first, *rest = out->next;
        if (!write_out(link, out))
            break;
        weft_backlog_pop(link->peer, out, rest); /* out may be freed or reused */
        events++;
    }
    weft_shm_set_limit(link);
    return events + push_more(link);
}

int weft_shm_retry(struct weft_shm_vci *vci)
{
    int events = 0;
    struct weft_shm_link **at = &vci->busy;
    while (*at) {
        struct weft_shm_link *link = *at;
        weft_assert(link->listed && link->vci == vci);
        events += retry(link);
        if (link->peer->backlog.first || link->pushed) {
            at = &link->next_busy;
        } else {
            *at = link->next_busy;
            link->listed = false;
        }
    }
    return events;
}

bool weft_shm_is_idle(void)
{
    for (int i = 0; i < WEFT_LOCKS_MAX; i++)
        if (weft_shm.vcis[i].busy || weft_shm.vcis[i].revocable)
            return false;
    return true;
}

/* ---- Ends */

void weft_shm_matched(struct weft_request *request)
{
    weft_shm_state(request)->phase = WEFT_SHM_MATCHED;
    if (weft_shm_state(request)->rendezvous)
        weft_request_transferred(request);
    weft_request_event(request);
}

static void fail(struct weft_request *request)
{
    request->error = (uint8_t)weft_failure_report(request->peer);
    weft_shm_matched(request);
}

void weft_shm_drop_backlog(struct weft_shm_link *link)
{
    while (link->peer->backlog.first) {
        struct weft_backlog_entry *out = link->peer->backlog.first;
        weft_backlog_pop(link->peer, out, out->next);
        if (out->kind == WEFT_SHM_OUT_CONTROL)
            free(control_of(out));
        else
            fail(request_of(out));
    }
    while (link->pushed) {
        struct weft_request *request = link->pushed;
        end_push(link, request);
        fail(request);
    }
}

bool weft_shm_waits_for_peer(const struct weft_request *request)
{
    const struct weft_shm_request *state = (const struct weft_shm_request *)request->lane;
    return weft_request_row(request)->sends && state->phase == WEFT_SHM_AWAITED;
}

const char *weft_shm_describe(const struct weft_request *request)
{
    const struct weft_shm_request *state = (const struct weft_shm_request *)request->lane;
    if (weft_request_row(request)->receives)
        return "matched, being pushed here through shared memory";
    if (request->flags & WEFT_REQUEST_CANCELLING)
        return "to be cancelled, waiting for the receiver to report whether it has matched";
    switch ((enum weft_shm_phase)state->phase) {
    case WEFT_SHM_QUEUED:
        return "in the backlog: that rank does not empty its shared memory; does it call MPI?";
    case WEFT_SHM_AWAITED:
        return state->rendezvous
                   ? "announced (RTS sent), waiting for the receiver to match it and fetch the data"
                   : "sent, waiting for the acknowledgement that a receive matched it";
    case WEFT_SHM_PUSHING:
        return "matched, being pushed through shared memory";
    default:
        return "sent";
    }
}
