// SPDX-License-Identifier: BSD-3-Clause
/*
 * The space of an attached buffer: see bsend_buffer.h.
 *
 * Invariant: an entry's header and data are within [start, end) of the buffer, wherever the buffer
 * begins in memory.
 */
#include "core/pt2pt/bsend_buffer.h"

#include "core/base/assert.h"
#include "mpi.h"

enum { ALIGNMENT = _Alignof(struct weft_bsend_entry) };

_Static_assert(sizeof(struct weft_bsend_entry) + ALIGNMENT - 1 <= MPI_BSEND_OVERHEAD,
               "an entry's header and the gap before it are within the overhead users pay");

void weft_bsend_buffer_open(struct weft_bsend_buffer *buffer, void *base, size_t size)
{
    *buffer = (struct weft_bsend_buffer){.base = base, .size = size};
}

/* The free ranges that an entry may take: the one that follows the newest entry, and the one at the
 * buffer's beginning, if it is another. */
struct space {
    size_t after, after_bytes, front_bytes;
};

static struct space space_of(const struct weft_bsend_buffer *buffer)
{
    const struct weft_bsend_entry *oldest = buffer->oldest, *newest = buffer->newest;
    weft_assert(!oldest == !newest);
    if (!oldest)
        return (struct space){0, buffer->size, 0};
    if (newest->start < oldest->start)
        return (struct space){newest->end, oldest->start - newest->end, 0};
    return (struct space){newest->end, buffer->size - newest->end, oldest->start};
}

size_t weft_bsend_buffer_space(const struct weft_bsend_buffer *buffer)
{
    struct space space = space_of(buffer);
    return space.after_bytes > space.front_bytes ? space.after_bytes : space.front_bytes;
}

void weft_bsend_buffer_append(struct weft_bsend_buffer *buffer, struct weft_bsend_entry *entry)
{
    entry->buffer = buffer;
    entry->number = buffer->entries++;
    entry->sent = false;
    entry->newer = NULL;
    entry->older = buffer->newest;
    weft_assert(!entry->older || entry->older->number < entry->number);
    if (buffer->newest)
        buffer->newest->newer = entry;
    else
        buffer->oldest = entry;
    buffer->newest = entry;
}

void weft_bsend_buffer_remove(struct weft_bsend_entry *entry)
{
    struct weft_bsend_buffer *buffer = entry->buffer;
    weft_assert(entry == (entry->older ? entry->older->newer : buffer->oldest));
    weft_assert(entry == (entry->newer ? entry->newer->older : buffer->newest));
    if (entry->older)
        entry->older->newer = entry->newer;
    else
        buffer->oldest = entry->newer;
    if (entry->newer)
        entry->newer->older = entry->older;
    else
        buffer->newest = entry->older;
}

struct weft_bsend_entry *weft_bsend_buffer_take(struct weft_bsend_buffer *buffer, size_t bytes)
{
    struct space space = space_of(buffer);
    size_t needed, start;
    if (__builtin_add_overflow(bytes, (size_t)MPI_BSEND_OVERHEAD, &needed))
        return NULL;
    if (needed <= space.after_bytes)
        start = space.after;
    else if (needed <= space.front_bytes)
        start = 0;
    else
        return NULL;
    char *location = buffer->base + start;
    location += -(uintptr_t)location % ALIGNMENT;
    struct weft_bsend_entry *entry = (struct weft_bsend_entry *)location;
    entry->start = start;
    entry->end = start + needed;
    weft_assert(entry->end <= buffer->size && entry->data + bytes <= buffer->base + entry->end);
    weft_bsend_buffer_append(buffer, entry);
    return entry;
}

void weft_bsend_buffer_give(struct weft_bsend_entry *entry)
{
    struct weft_bsend_buffer *buffer = entry->buffer;
    weft_assert(!entry->sent);
    entry->sent = true;
    while (buffer->oldest && buffer->oldest->sent)
        weft_bsend_buffer_remove(buffer->oldest);
}
