// SPDX-License-Identifier: BSD-3-Clause
/*
 * Partitioned sends: partitions that are marked leave as soon as a buffer for a notice is free
 * (core/pt2pt/partitioned.h).
 *
 * Invariants:
 *  - A partition of a round is in one of four states: not marked (its bit in ready is 0), marked
 *    and not flushed, in the queue, sent. unflushed counts those of the first two.
 *  - A slot is free when its bit in free_slots is set; all are between rounds.
 */
#include "core/pt2pt/partitioned_internal.h"
#include "core/message/process.h"

#include <stdlib.h>
#include <string.h>

/* ---- Life */

static bool goes_nowhere(const struct weft_psend *send)
{
    return send->base.is.rank == MPI_PROC_NULL;
}

/* The most data that one notice can carry. */
static size_t most_inline(const struct weft_psend *send)
{
    size_t all = send->base.bytes * send->base.is.partitions;
    if (send->base.bytes > WEFT_PARTITIONED_INLINE)
        return 0;
    return all < WEFT_PARTITIONED_INLINE ? all : WEFT_PARTITIONED_INLINE;
}

static size_t words(uint32_t partitions)
{
    return ((size_t)partitions + 63) / 64;
}

/* False if memory is short. */
static bool fill(struct weft_psend *send)
{
    uint32_t n = send->base.is.partitions;
    uint32_t slots = !n ? 1 : n < WEFT_PARTITIONED_SLOTS ? n : WEFT_PARTITIONED_SLOTS;
    send->ready = calloc(words(n) + 1, sizeof *send->ready);
    send->queue = malloc(((size_t)n + 1) * sizeof *send->queue);
    send->free_slots = (1u << slots) - 1;
    send->slot_bytes = (sizeof(struct weft_partition_range) + most_inline(send) + 15) / 16 * 16;
    send->slots = malloc(slots * send->slot_bytes);
    return send->ready && send->queue && send->slots;
}

/* An id is a tag of messages between both processes. */
static uint32_t take_id(int tag_ub)
{
    static uint32_t next_id;
    static bool wrapped;
    do {
        if (next_id++ >= (uint32_t)tag_ub) {
            next_id = 1;
            wrapped = true;
        }
    } while (wrapped && weft_partitioned_has_id(next_id));
    return next_id;
}

/* Returns an MPI error class; its sentence is recorded. The announcement may leave after the user
 * has freed the request. */
static int announce(struct weft_psend *send)
{
    const struct weft_partition_arguments *is = &send->base.is;
    struct weft_announcement *what = malloc(sizeof *what);
    if (!what)
        return weft_partitioned_no_memory(is, "send");
    send->base.id = take_id(is->tag_ub);
    *what = (struct weft_announcement){send->base.bytes, is->partitions, send->base.id};
    int code = weft_partitioned_send(is->rank, is->announcing, is->tag, what, sizeof *what,
                                     weft_datatype_byte(), &weft_announcements, what);
    if (code != MPI_SUCCESS)
        free(what);
    return code;
}

int weft_psend_init(const struct weft_partition_arguments *arguments, struct weft_request **out)
{
    int code = MPI_SUCCESS;
    struct weft_psend *send = calloc(1, sizeof *send);
    if (!send)
        return weft_partitioned_no_memory(arguments, "send");
    send->base.sends = true;
    if (!weft_partitioned_open(&send->base, arguments, WEFT_REQUEST_PSEND)) {
        free(send);
        return MPI_ERR_NO_MEM;
    }
    if (!fill(send))
        code = weft_partitioned_no_memory(arguments, "send");
    else if (!goes_nowhere(send))
        code = announce(send);
    *out = send->base.request;
    if (code != MPI_SUCCESS) {
        weft_request_put(send->base.request);
        weft_psend_delete(send);
    }
    return code;
}

void weft_psend_delete(struct weft_psend *send)
{
    weft_partitioned_drop(&send->base);
    free(send->slots);
    free(send->queue);
    free(send->ready);
    free(send);
}

/* ---- Sending */

/* A range that cannot be sent counts as sent, and its error is that of the round. */
static void send_bytes(struct weft_psend *send, const void *data, size_t bytes,
                       const struct weft_datatype *type, char *slot)
{
    const struct weft_partition_arguments *is = &send->base.is;
    send->in_flight++;
    int code = weft_partitioned_send(is->rank, is->channel, (int)send->base.id, data, bytes, type,
                                     send->base.request, slot);
    if (code == MPI_SUCCESS)
        return;
    send->base.error = (uint8_t)code;
    send->in_flight--;
    if (slot)
        send->free_slots |= 1u << (size_t)(slot - send->slots) / send->slot_bytes;
}

void weft_psend_sub_ended(struct weft_request *sub)
{
    struct weft_psend *send = weft_psend_of(sub->parent);
    weft_assert(weft_vcis_hold_all() && !sub->pending && weft_request_row(sub)->sends);
    char *slot = sub->copy;
    weft_assert(send->in_flight > 0);
    weft_assert(!slot ||
                !(send->free_slots >> (size_t)(slot - send->slots) / send->slot_bytes & 1));
    if (slot)
        send->free_slots |= 1u << (size_t)(slot - send->slots) / send->slot_bytes;
    if (sub->error)
        send->base.error = sub->error;
    send->in_flight--;
    weft_request_put(sub);
    if (!send->in_flight || send->head != send->tail)
        weft_partitioned_queue(&send->base);
}

/* Sends a range: the notice, and the data in it or behind it. */
static void send_range(struct weft_psend *send, struct weft_partition_range range)
{
    const struct weft_partition_arguments *is = &send->base.is;
    weft_assert(send->free_slots && range.count <= is->partitions);
    const char *from =
        (const char *)is->buffer + (ptrdiff_t)range.first * (ptrdiff_t)is->count * is->type->extent;
    size_t bytes = range.count * send->base.bytes, index = (size_t)__builtin_ctz(send->free_slots);
    bool in_notice = bytes <= WEFT_PARTITIONED_INLINE;
    char *slot = send->slots + index * send->slot_bytes;
    send->free_slots &= ~(1u << index);
    memcpy(slot, &range, sizeof range);
    if (in_notice)
        weft_datatype_pack(is->type, from, 0, slot + sizeof range, bytes);
    send_bytes(send, slot, sizeof range + (in_notice ? bytes : 0), weft_datatype_byte(), slot);
    if (!in_notice)
        send_bytes(send, from, bytes, is->type, NULL);
}

/* The number of adjacent partitions, of so many, that are sent together. */
static uint32_t portion(const struct weft_psend *send, uint32_t count)
{
    size_t bytes = send->base.bytes;
    if (bytes == 0 || count * bytes <= WEFT_PARTITIONED_CHUNK)
        return count;
    return bytes < WEFT_PARTITIONED_CHUNK ? (uint32_t)(WEFT_PARTITIONED_CHUNK / bytes) : 1;
}

static void finish_send(struct weft_psend *send)
{
    struct weft_request *request = send->base.request;
    if (send->unflushed || send->in_flight || send->head != send->tail)
        return;
    weft_assert(request->pending == 1);
    request->error = send->base.error;
    weft_request_event(request);
}

void weft_psend_advance(struct weft_psend *send)
{
    if (!weft_partitioned_active(&send->base))
        return;
    weft_assert(send->head <= send->tail && send->tail <= send->base.is.partitions);
    if (goes_nowhere(send))
        send->head = send->tail;
    while (send->head != send->tail && send->free_slots) {
        struct weft_partition_range *next = &send->queue[send->head];
        struct weft_partition_range range = {next->first, portion(send, next->count)};
        next->first += range.count;
        next->count -= range.count;
        if (!next->count)
            send->head++;
        send_range(send, range);
    }
    finish_send(send);
}

/* ---- Rounds */

void weft_psend_start(struct weft_psend *send)
{
    uint32_t n = send->base.is.partitions;
    weft_assert(!send->in_flight && send->head == send->tail);
    memset(send->ready, 0, words(n) * sizeof *send->ready);
    send->head = send->tail = 0;
    send->unflushed = n;
    if (!n && !goes_nowhere(send)) /* the receiver's round ends with this one */
        send_range(send, (struct weft_partition_range){0, 0});
    weft_psend_advance(send);
}

bool weft_psend_has(const struct weft_request *request, uint32_t partition)
{
    return weft_psend_of(request)->ready[partition / 64] >> partition % 64 & 1;
}

bool weft_psend_mark(struct weft_request *request, uint32_t partition)
{
    struct weft_psend *send = weft_psend_of(request);
    uint64_t bit = UINT64_C(1) << partition % 64;
    if (send->ready[partition / 64] & bit)
        return false;
    send->ready[partition / 64] |= bit;
    return true;
}

void weft_psend_unmark(struct weft_request *request, uint32_t partition)
{
    struct weft_psend *send = weft_psend_of(request);
    send->ready[partition / 64] &= ~(UINT64_C(1) << partition % 64);
}

void weft_psend_flush(struct weft_request *request, uint32_t first, uint32_t count)
{
    struct weft_psend *send = weft_psend_of(request);
    weft_assert(count <= send->unflushed);
    send->unflushed -= count;
    struct weft_partition_range *last =
        send->head != send->tail ? &send->queue[send->tail - 1] : NULL;
    if (last && last->first + last->count == first)
        last->count += count;
    else if (last && first + count == last->first) {
        last->first = first;
        last->count += count;
    } else
        send->queue[send->tail++] = (struct weft_partition_range){first, count};
    weft_psend_advance(send);
}
