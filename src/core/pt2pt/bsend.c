// SPDX-License-Identifier: BSD-3-Clause
/*
 * Buffered mode: see bsend.h.
 *
 * Invariant: entries are numbered, and leave a buffer's list only when sent; so everything that was
 * in it at number n is sent exactly when the list has no entry below n. Flushes wait for that.
 */
#include "core/pt2pt/bsend.h"
#include "core/pt2pt/cancel.h"
#include "core/pt2pt/p2p.h"
#include "core/message/foreign.h"
#include "core/progress/progress.h"
#include "gpu/gpu.h"

#include <stdio.h>
#include <stdlib.h>

struct weft_bsend_owner (*weft_bsend_owner_of)(const struct weft_channel *channel);

static struct weft_bsend_buffer process_buffer;

static struct weft_bsend_buffer *buffer_of(struct weft_bsend_owner owner)
{
    return owner.buffer ? owner.buffer : &process_buffer;
}

static const char *name_of(struct weft_bsend_owner owner)
{
    return owner.channel  ? weft_channel_ops.name(owner.channel)
           : owner.buffer ? "the session"
                          : "this process";
}

/* ---- Entries */

static struct weft_bsend_entry *take_entry(struct weft_bsend_buffer *buffer, size_t bytes)
{
    if (!buffer->automatic)
        return weft_bsend_buffer_take(buffer, bytes);
    size_t length = sizeof(struct weft_bsend_entry) + bytes,
           unit = _Alignof(struct weft_bsend_entry);
    struct weft_bsend_entry *entry = aligned_alloc(unit, (length + unit - 1) / unit * unit);
    if (entry)
        weft_bsend_buffer_append(buffer, entry);
    return entry;
}

static bool sent_before(const struct weft_bsend_buffer *buffer, uint64_t number)
{
    return !buffer->oldest || buffer->oldest->number >= number;
}

/* Returns the class of the first message that could not be sent after its send had returned, its
 * sentence recorded; each is reported once. */
static int take_error(struct weft_bsend_buffer *buffer)
{
    int code = buffer->error, rank = buffer->failed_rank;
    char host[256], receiver[300] = "a process of another job";
    buffer->error = MPI_SUCCESS;
    if (weft_likely(code == MPI_SUCCESS))
        return MPI_SUCCESS;
    if (!weft_is_foreign(rank))
        snprintf(receiver, sizeof receiver, "rank %d on %s", rank,
                 weft_boot_host(rank, host, sizeof host));
    return weft_error_set(code,
                          "a buffered message with tag %d to %s could not be sent, nor perhaps "
                          "later ones of the buffer; see whether the receiver still runs",
                          buffer->failed_tag, receiver);
}

static void give(struct weft_bsend_entry *entry)
{
    struct weft_bsend_buffer *buffer = entry->buffer;
    if (buffer->automatic) {
        weft_bsend_buffer_remove(entry);
        free(entry);
    } else {
        weft_bsend_buffer_give(entry);
    }
    while (buffer->flushes && sent_before(buffer, buffer->flushes->entries)) {
        struct weft_request *flush = buffer->flushes;
        buffer->flushes = flush->next;
        flush->error = (uint8_t)take_error(buffer);
        weft_request_event(flush);
    }
}

/* Detaches a send from the entry that holds its data; returns the entry. */
static void leave_entry(struct weft_request *send)
{
    struct weft_bsend_entry *entry =
        (struct weft_bsend_entry *)((char *)send->buffer - offsetof(struct weft_bsend_entry, data));
    send->buffer = NULL;
    struct weft_bsend_buffer *buffer = entry->buffer;
    if (send->error && !buffer->error) {
        buffer->error = send->error;
        buffer->failed_rank = send->peer->world;
        buffer->failed_tag = send->tag;
    }
    give(entry);
}

/* ---- Sending */

WEFT_COLD static int no_space(struct weft_bsend_owner owner, size_t bytes)
{
    const struct weft_bsend_buffer *buffer = buffer_of(owner);
    if (!buffer->attached)
        return weft_error_set(MPI_ERR_BUFFER,
                              "no buffer is attached to keep the message of %zu bytes; call "
                              "MPI_Buffer_attach before, or send in another mode",
                              bytes);
    if (buffer->automatic)
        return weft_error_set(MPI_ERR_NO_MEM, "no memory to keep a message of %zu bytes", bytes);
    return weft_error_set(
        MPI_ERR_BUFFER,
        "the message of %zu bytes does not fit: it and MPI_BSEND_OVERHEAD (%d bytes) need "
        "contiguous space, and the largest free range has %zu of the %zu bytes attached to %s; "
        "attach a larger "
        "buffer, or wait with %s until earlier messages have left it",
        bytes, MPI_BSEND_OVERHEAD, weft_bsend_buffer_space(buffer), buffer->size, name_of(owner),
        owner.channel  ? "MPI_Comm_flush_buffer"
        : owner.buffer ? "MPI_Session_flush_buffer"
                       : "MPI_Buffer_flush");
}

/* Packs a message and sends it. *send is complete, its entry given back, or flagged OBSERVED. */
static int start_send(struct weft_channel *channel, const void *data, size_t bytes,
                      const struct weft_datatype *type, int dest, int tag,
                      struct weft_request **send)
{
    struct weft_bsend_owner owner = weft_bsend_owner_of(channel);
    weft_assert(weft_vcis_hold_all());
    struct weft_bsend_buffer *buffer = buffer_of(owner);
    struct weft_bsend_entry *entry = take_entry(buffer, bytes);
    while (weft_unlikely(!entry)) { /* a send may be complete, and not yet polled */
        if (!weft_progress())
            return no_space(owner, bytes);
        entry = take_entry(buffer, bytes);
    }
    weft_datatype_pack(type, data, 0, entry->data, bytes);
    int code = weft_p2p_isend(channel, entry->data, bytes, weft_handle_object(MPI_PACKED), dest,
                              tag, WEFT_SEND_BUFFERED, send);
    if (weft_likely(code == MPI_SUCCESS)) {
        (*send)->partner = NULL;
        if ((*send)->pending) {
            (*send)->flags |= WEFT_REQUEST_OBSERVED;
            return MPI_SUCCESS;
        }
        (*send)->buffer = NULL;
        code = (*send)->error;
        if (weft_unlikely(code != MPI_SUCCESS))
            weft_request_put(*send);
    }
    give(entry);
    return code;
}

int weft_bsend_send(struct weft_channel *channel, const void *data, size_t bytes,
                    const struct weft_datatype *type, int dest, int tag)
{
    struct weft_request *send;
    int code = start_send(channel, data, bytes, type, dest, tag, &send);
    if (weft_likely(code == MPI_SUCCESS) && !send->pending)
        weft_request_put(send);
    return code;
}

/* ---- What the user holds */

static void hold(struct weft_request *held, struct weft_request *send)
{
    weft_assert(!held->pending && !(send->flags & WEFT_REQUEST_SUB));
    held->partner = send;
    send->partner = held;
    send->flags |= WEFT_REQUEST_OBSERVED;
}

int weft_bsend_isend(struct weft_channel *channel, const void *data, size_t bytes,
                     const struct weft_datatype *type, int dest, int tag, struct weft_request **out)
{
    struct weft_request *held = weft_request_get(&weft.vcis[0], WEFT_REQUEST_BSEND, 0), *send;
    if (weft_unlikely(!held))
        return MPI_ERR_NO_MEM;
    int code = start_send(channel, data, bytes, type, dest, tag, &send);
    if (code != MPI_SUCCESS || !send->pending) {
        weft_request_put(held);
        *out = send;
        return code;
    }
    held->channel = channel;
    held->peer = NULL;
    held->type = NULL;
    hold(held, send);
    *out = held;
    return MPI_SUCCESS;
}

static int restart(struct weft_request *held)
{
    struct weft_request *send = NULL;
    held->flags = WEFT_REQUEST_PERSISTENT;
    held->error = MPI_SUCCESS;
    int code = start_send(held->channel, held->buffer, held->bytes, held->type, held->rank,
                          held->tag, &send);
    if (weft_likely(code == MPI_SUCCESS))
        hold(held, send);
    else
        held->flags |= WEFT_REQUEST_INACTIVE;
    return code;
}

/* Separates a user's request of kind WEFT_REQUEST_BSEND from its send, if it has one. Returns
 * MPI_SUCCESS. */
static int separate(struct weft_request *held)
{
    struct weft_request *send = held->partner;
    held->partner = NULL;
    if (send) {
        send->partner = NULL;
        if (!send->pending)
            weft_request_put(send);
    }
    return MPI_SUCCESS;
}

bool weft_bsend_sent(struct weft_request *send)
{
    weft_assert(weft_vcis_hold_all() && !send->pending && send->flags & WEFT_REQUEST_OBSERVED);
    struct weft_request *held = send->partner;
    if (send->buffer)
        leave_entry(send);
    if (!held) {
        weft_request_put(send);
    } else if (held->pending) { /* it waits for what becomes of a cancel */
        held->flags |= send->flags & WEFT_REQUEST_CANCELLED;
        weft_request_event(held);
    }
    return true;
}

/* Cancels its send; the request may be pending until that is decided. */
static int cancel(struct weft_request *held)
{
    struct weft_request *send = held->partner;
    if (!send || held->pending)
        return MPI_SUCCESS;
    held->pending = 1;
    weft_cancel(send);
    if (!held->pending || (send->flags & WEFT_REQUEST_CANCELLING))
        return MPI_SUCCESS;
    held->flags |= send->flags & WEFT_REQUEST_CANCELLED;
    held->pending = 0;
    return MPI_SUCCESS;
}

const struct weft_request_ops weft_bsend_request_ops = {.name = "buffered send",
                                                        .needs_all = true,
                                                        .no_data = true,
                                                        .paired = true,
                                                        .start = restart,
                                                        .cancel = cancel,
                                                        .completed = separate,
                                                        .free = separate};

/* ---- Buffers come and go */

WEFT_COLD static int nothing_attached(struct weft_bsend_owner owner)
{
    return weft_error_set(MPI_ERR_BUFFER, "no buffer is attached to %s; call %s first",
                          name_of(owner),
                          owner.channel  ? "MPI_Comm_attach_buffer"
                          : owner.buffer ? "MPI_Session_attach_buffer"
                                         : "MPI_Buffer_attach");
}

int weft_bsend_attach(struct weft_bsend_owner owner, void *base, size_t size)
{
    struct weft_bsend_buffer *buffer = buffer_of(owner);
    if (buffer->attached)
        return weft_error_set(MPI_ERR_BUFFER,
                              "a buffer is attached to %s already, and there can be one; call %s "
                              "before",
                              name_of(owner),
                              owner.channel  ? "MPI_Comm_detach_buffer"
                              : owner.buffer ? "MPI_Session_detach_buffer"
                                             : "MPI_Buffer_detach");
    bool automatic = base == MPI_BUFFER_AUTOMATIC;
    if (weft_gpu_enabled && !automatic && size && weft_gpu_owns(base))
        return weft_error_set(MPI_ERR_BUFFER,
                              "the buffer at %p to be attached to %s is in GPU memory; it must be "
                              "on the host",
                              base, name_of(owner));
    weft_assert(!buffer->oldest && !buffer->flushes);
    weft_bsend_buffer_open(buffer, base, automatic ? 0 : size);
    buffer->attached = true;
    buffer->automatic = automatic;
    return MPI_SUCCESS;
}

void weft_bsend_set_detached(struct weft_bsend_owner owner, void *base, size_t size)
{
    struct weft_bsend_buffer *buffer = buffer_of(owner);
    weft_assert(buffer->attached && buffer->automatic);
    buffer->base = base;
    buffer->size = size;
}

struct before {
    const struct weft_bsend_buffer *buffer;
    uint64_t number;
};

static bool any_before(void *arg)
{
    const struct before *before = arg;
    return !sent_before(before->buffer, before->number);
}

static void wait_before(const struct weft_bsend_buffer *buffer, uint64_t number)
{
    struct before before = {buffer, number};
    weft_wait_while(NULL, any_before, &before, NULL);
}

int weft_bsend_flush(struct weft_bsend_owner owner)
{
    struct weft_bsend_buffer *buffer = buffer_of(owner);
    if (!buffer->attached)
        return nothing_attached(owner);
    wait_before(buffer, buffer->entries);
    return take_error(buffer);
}

int weft_bsend_iflush(struct weft_bsend_owner owner, struct weft_request **out)
{
    struct weft_bsend_buffer *buffer = buffer_of(owner);
    if (!buffer->attached)
        return nothing_attached(owner);
    struct weft_request *flush = weft_request_get(&weft.vcis[0], WEFT_REQUEST_FLUSH, 1);
    if (!flush)
        return MPI_ERR_NO_MEM;
    flush->source = MPI_ANY_SOURCE;
    flush->tag = MPI_ANY_TAG;
    flush->bytes = 0;
    flush->channel = owner.channel;
    flush->peer = NULL;
    flush->next = NULL;
    flush->entries = buffer->entries;
    *out = flush;
    if (sent_before(buffer, flush->entries)) {
        flush->error = (uint8_t)take_error(buffer);
        flush->pending = 0;
        return MPI_SUCCESS;
    }
    struct weft_request **end = &buffer->flushes;
    while (*end)
        end = &(*end)->next;
    weft_assert(!buffer->flushes || buffer->flushes->entries <= flush->entries);
    *end = flush;
    return MPI_SUCCESS;
}

int weft_bsend_detach(struct weft_bsend_owner owner, void **base, size_t *size)
{
    struct weft_bsend_buffer *buffer = buffer_of(owner);
    if (!buffer->attached)
        return nothing_attached(owner);
    wait_before(buffer, UINT64_MAX);
    weft_assert(!buffer->newest && !buffer->flushes);
    *base = buffer->base;
    *size = buffer->size;
    buffer->attached = false;
    buffer->automatic = false;
    buffer->size = 0; /* as no buffer: nothing fits */
    return take_error(buffer);
}
