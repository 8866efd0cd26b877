// SPDX-License-Identifier: BSD-3-Clause
/*
 * Partitioned receives: notices are received one at a time, their data beside each other
 * (core/pt2pt/partitioned.h).
 *
 * Invariant: a receive for a notice is posted (`posted`) only in an active round that has more to
 * come, and only while a slot is free for the data that may follow it.
 */
#include "core/base/error.h"
#include "core/pt2pt/partitioned_internal.h"
#include "core/message/process.h"

#include <stdlib.h>
#include <string.h>

enum { NOTICE = WEFT_PRECV_SLOTS }; /* the index of a receive without a slot */

#define ALL_SLOTS UINT64_MAX
_Static_assert(WEFT_PRECV_SLOTS == 64, "one bit for each slot");

/* ---- Life */

int weft_precv_init(const struct weft_partition_arguments *arguments, struct weft_request **out)
{
    int code = MPI_SUCCESS;
    struct weft_precv *recv = calloc(1, sizeof *recv);
    if (!recv)
        return weft_partitioned_no_memory(arguments, "receive");
    if (!weft_partitioned_open(&recv->base, arguments, WEFT_REQUEST_PRECV)) {
        free(recv);
        return MPI_ERR_NO_MEM;
    }
    recv->free_slots = ALL_SLOTS;
    recv->covered = malloc(((size_t)arguments->partitions + 1) * sizeof *recv->covered);
    if (!recv->covered)
        code = weft_partitioned_no_memory(arguments, "receive");
    else if (arguments->rank != MPI_PROC_NULL)
        code = weft_partitioned_receive(arguments->rank, arguments->announcing, arguments->tag,
                                        &recv->sender, sizeof recv->sender, weft_datatype_byte(),
                                        &weft_announcements, 0);
    *out = recv->base.request;
    if (code != MPI_SUCCESS) {
        weft_request_put(recv->base.request);
        weft_precv_delete(recv);
    }
    return code;
}

void weft_precv_delete(struct weft_precv *recv)
{
    weft_partitioned_drop(&recv->base);
    free(recv->notice_data);
    free(recv->covered);
    free(recv);
}

void weft_precv_abandon(struct weft_precv *recv)
{
    if (recv->base.id || recv->unmatchable || recv->base.is.rank == MPI_PROC_NULL)
        weft_precv_delete(recv);
    else
        recv->base.request = NULL;
}

/* ---- Matching */

WEFT_COLD static uint8_t damaged(const struct weft_precv *recv)
{
    return (uint8_t)weft_error_set(MPI_ERR_INTERN,
                                   "a message of rank %d about a partitioned send is damaged; see "
                                   "whether all ranks run the same version of Weft",
                                   recv->base.is.rank);
}

static bool is_announcement(const struct weft_announcement *what, size_t length)
{
    return length == sizeof *what && what->id > 0 && what->id <= (uint32_t)weft.tag_ub;
}

/* Makes space for notices. Returns an MPI error class; its sentence is recorded. */
static uint8_t prepare_buffer(struct weft_precv *recv)
{
    size_t all = recv->sender.bytes * recv->sender.partitions, data = 0;
    if (recv->sender.bytes <= WEFT_PARTITIONED_INLINE)
        data = all < WEFT_PARTITIONED_INLINE ? all : WEFT_PARTITIONED_INLINE;
    recv->notice_bytes = sizeof(struct weft_partition_range) + data;
    recv->notice_data = malloc(recv->notice_bytes);
    if (recv->notice_data)
        return MPI_SUCCESS;
    return (uint8_t)weft_error_set(MPI_ERR_NO_MEM,
                                   "no memory for a partitioned receive of %u partitions from rank "
                                   "%d with tag %d; free some requests first",
                                   recv->base.is.partitions, recv->base.is.rank, recv->base.is.tag);
}

void weft_precv_matched(struct weft_request *sub)
{
    char *sender = sub->buffer;
    struct weft_precv *recv = (struct weft_precv *)(sender - offsetof(struct weft_precv, sender));
    recv->unmatchable = sub->error;
    if (!sub->error && !is_announcement(&recv->sender, sub->bytes))
        recv->unmatchable = damaged(recv);
    weft_request_put(sub);
    if (!recv->base.request) {
        weft_precv_delete(recv);
        return;
    }
    if (!recv->unmatchable) {
        recv->base.id = recv->sender.id;
        recv->unmatchable = prepare_buffer(recv);
    }
    weft_partitioned_queue(&recv->base);
}

/* ---- Counting */

/* The first of `to` partitions that partition i of `from` shares bytes with, when both are cuts of
 * the same bytes; and the one behind the last. */
static uint32_t first_shared(uint64_t i, uint64_t from, uint64_t to)
{
    return (uint32_t)(i * to / from);
}

static uint32_t end_shared(uint64_t i, uint64_t from, uint64_t to)
{
    return (uint32_t)(((i + 1) * to + from - 1) / from);
}

bool weft_precv_has(const struct weft_request *request, uint32_t partition)
{
    const struct weft_precv *recv = weft_precv_of(request);
    uint32_t n = recv->base.is.partitions, sent = recv->sender.partitions;
    if (!recv->base.id)
        return false;
    return recv->covered[partition] ==
           end_shared(partition, n, sent) - first_shared(partition, n, sent);
}

static void cover(struct weft_precv *recv, struct weft_partition_range range)
{
    uint32_t n = recv->base.is.partitions, sent = recv->sender.partitions;
    for (uint32_t j = range.first; n && j < range.first + range.count; j++) {
        uint32_t end = n == sent ? j + 1 : end_shared(j, sent, n);
        weft_assert(end <= n);
        for (uint32_t i = n == sent ? j : first_shared(j, sent, n); i < end; i++)
            recv->covered[i]++;
    }
}

/* ---- Receiving */

/* The range of the buffer, in bytes of data, to which a message's data belong. */
struct space {
    size_t offset, bytes;
};

static struct space space_of(const struct weft_precv *recv, struct weft_partition_range range)
{
    size_t all = recv->base.bytes * recv->base.is.partitions;
    struct space space = {range.first * recv->sender.bytes, range.count * recv->sender.bytes};
    if (space.offset > all)
        space.offset = all;
    if (space.bytes > all - space.offset)
        space.bytes = all - space.offset; /* the sizes disagree: finish reports it */
    return space;
}

static void receive_data(struct weft_precv *recv, struct weft_partition_range range)
{
    const struct weft_partition_arguments *is = &recv->base.is;
    const struct weft_datatype *type = weft_datatype_byte();
    weft_assert(recv->free_slots);
    struct space space = space_of(recv, range);
    uint32_t index = (uint32_t)__builtin_ctzll(recv->free_slots);
    struct weft_precv_slot *slot = &recv->slots[index];
    char *data = is->buffer;
    slot->range = range;
    slot->staging = NULL;
    if (is->type->flags & WEFT_TYPE_CONTIGUOUS) {
        data += space.offset;
    } else if (space.bytes && space.offset % is->type->size == 0) {
        type = is->type;
        data += (ptrdiff_t)(space.offset / type->size) * type->extent;
    } else if (space.bytes) {
        data = slot->staging = malloc(space.bytes);
        if (!data) {
            recv->base.error =
                (uint8_t)weft_error_set(MPI_ERR_NO_MEM,
                                        "no memory to unpack %u partitions of %zu bytes from rank "
                                        "%d with tag %d; cut both sides alike",
                                        range.count, space.bytes, is->rank, is->tag);
            space.bytes = 0;
        }
    }
    recv->free_slots &= ~(UINT64_C(1) << index);
    int code = weft_partitioned_receive(is->rank, is->channel, (int)recv->base.id, data,
                                        space.bytes, type, recv->base.request, index);
    if (code != MPI_SUCCESS) {
        recv->base.error = (uint8_t)code;
        recv->lost = true;
        free(slot->staging);
        recv->free_slots |= UINT64_C(1) << index;
    }
}

static void data_arrived(struct weft_precv *recv, struct weft_request *sub)
{
    struct weft_precv_slot *slot = &recv->slots[sub->index];
    weft_assert(sub->index < WEFT_PRECV_SLOTS && !(recv->free_slots >> sub->index & 1));
    if (sub->error && !recv->base.error)
        recv->base.error = sub->error;
    if (slot->staging)
        weft_datatype_unpack(recv->base.is.type, recv->base.is.buffer,
                             space_of(recv, slot->range).offset, slot->staging, sub->bytes);
    free(slot->staging);
    cover(recv, slot->range);
    recv->free_slots |= UINT64_C(1) << sub->index;
    weft_request_put(sub);
}

void weft_precv_sub_ended(struct weft_request *sub)
{
    struct weft_precv *recv = weft_precv_of(sub->parent);
    weft_assert(weft_vcis_hold_all() && !sub->pending && weft_request_row(sub)->receives);
    if (sub->index == NOTICE) {
        weft_assert(recv->posted && !recv->notice);
        recv->posted = false;
        recv->notice = sub;
    } else {
        data_arrived(recv, sub);
    }
    weft_partitioned_queue(&recv->base);
}

/* True if a notice of that length names partitions that the sender has and has not announced, and
 * brings their data if they fit into it. */
static bool is_notice(const struct weft_precv *recv, struct weft_partition_range range,
                      size_t length)
{
    uint32_t sent = recv->sender.partitions;
    size_t data = range.count * recv->sender.bytes;
    return range.first <= sent && range.count <= sent - range.first &&
           range.count <= sent - recv->announced &&
           length == sizeof range + (data <= WEFT_PARTITIONED_INLINE ? data : 0);
}

/* Takes the data that came with a notice, or posts their receive. */
static void take_notice(struct weft_precv *recv)
{
    struct weft_request *sub = recv->notice;
    struct weft_partition_range range;
    recv->notice = NULL;
    memcpy(&range, recv->notice_data, sizeof range);
    if (sub->error || !is_notice(recv, range, sub->bytes)) {
        recv->base.error = sub->error ? sub->error : damaged(recv);
        recv->lost = true;
        weft_request_put(sub);
        return;
    }
    recv->noticed = true;
    recv->announced += range.count;
    if (range.count * recv->sender.bytes <= WEFT_PARTITIONED_INLINE) {
        struct space space = space_of(recv, range);
        weft_datatype_unpack(recv->base.is.type, recv->base.is.buffer, space.offset,
                             recv->notice_data + sizeof range, space.bytes);
        cover(recv, range);
    } else {
        receive_data(recv, range);
    }
    weft_request_put(sub);
}

static bool more_to_come(const struct weft_precv *recv)
{
    return !recv->lost && !(recv->noticed && recv->announced == recv->sender.partitions);
}

/* Posts the receive of the next notice. */
static void post_notice(struct weft_precv *recv)
{
    weft_assert(weft_partitioned_active(&recv->base) && !recv->notice && recv->free_slots);
    recv->posted = true;
    const struct weft_partition_arguments *is = &recv->base.is;
    int code = weft_partitioned_receive(is->rank, is->channel, (int)recv->base.id,
                                        recv->notice_data, recv->notice_bytes, weft_datatype_byte(),
                                        recv->base.request, NOTICE);
    if (code != MPI_SUCCESS) {
        recv->base.error = (uint8_t)code;
        recv->lost = true;
        recv->posted = false;
    }
}

/* ---- Rounds */

static void check_sizes(struct weft_precv *recv)
{
    const struct weft_announcement *sender = &recv->sender;
    size_t sent = sender->bytes * sender->partitions;
    size_t own = recv->base.bytes * recv->base.is.partitions;
    if (sent == own || (recv->base.error && recv->base.error != MPI_ERR_TRUNCATE))
        return;
    recv->base.error = (uint8_t)weft_error_set(
        MPI_ERR_TRUNCATE,
        "the partitioned send of rank %d with tag %d has %u partitions of %zu bytes, and its "
        "receive %u of %zu; give both the same number of bytes in all",
        recv->base.is.rank, recv->base.is.tag, sender->partitions, (size_t)sender->bytes,
        recv->base.is.partitions, recv->base.bytes);
}

static void finish_recv(struct weft_precv *recv)
{
    struct weft_request *request = recv->base.request;
    weft_assert(!recv->notice && request->pending == 1);
    size_t own = recv->base.bytes * recv->base.is.partitions;
    if (recv->base.id && !recv->lost)
        check_sizes(recv);
    size_t sent = recv->lost ? 0 : recv->sender.bytes * recv->sender.partitions;
    request->source = recv->base.is.rank;
    request->tag = recv->base.is.tag;
    request->bytes = sent < own ? sent : own;
    request->error = recv->base.error;
    weft_request_event(request);
}

void weft_precv_advance(struct weft_precv *recv)
{
    if (!weft_partitioned_active(&recv->base))
        return;
    if (recv->unmatchable && !recv->lost) {
        recv->base.error = recv->unmatchable;
        recv->lost = true;
    }
    if (!recv->base.id && !recv->lost)
        return;
    do {
        if (recv->notice)
            take_notice(recv);
        if (!recv->posted && more_to_come(recv) && recv->free_slots)
            post_notice(recv);
    } while (recv->notice);
    if (!recv->posted && !more_to_come(recv) && recv->free_slots == ALL_SLOTS)
        finish_recv(recv);
}

void weft_precv_start(struct weft_precv *recv)
{
    weft_assert(!recv->posted && !recv->notice && recv->free_slots == ALL_SLOTS);
    recv->noticed = recv->lost = false;
    recv->announced = 0;
    memset(recv->covered, 0, recv->base.is.partitions * sizeof *recv->covered);
    if (recv->base.is.rank == MPI_PROC_NULL) {
        struct weft_request *request = recv->base.request;
        request->source = MPI_PROC_NULL;
        weft_request_event(request);
        return;
    }
    weft_precv_advance(recv);
}
