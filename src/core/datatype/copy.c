// SPDX-License-Identifier: BSD-3-Clause
/*
 * Packing and unpacking.
 *
 * The work is done by the loops of strided_copy.c over runs of one length. This decides what the rows are, and
 * takes partial passes apart.
 *
 * Invariants:
 *  - Packing and unpacking take the same way through a layout, so that the packed form of a buffer is
 *    the same whoever makes it and in whatever pieces.
 *  - Unpacking writes no byte that belongs to no run.
 *  - Addresses are integers until a run is copied: with MPI_BOTTOM, and between the runs, they point
 *    to no object.
 */
#include "core/datatype/copy.h"
#include "core/datatype/strided_copy.h"

#include <stdbool.h>

/* count runs, strides apart, packed without holes. */
static void column(enum weft_copy way, size_t count, size_t bytes, MPI_Aint stride, uintptr_t data,
                   char *packed)
{
    const struct weft_strided r = {
        .outer = 1, .inner = count, .bytes = bytes, .packed_stride = bytes, .stride = stride};
    weft_strided_copy(way, &r, data, packed);
}

/* count runs at the offsets at. */
static void blocks(enum weft_copy way, const MPI_Aint *at, size_t count, size_t bytes,
                   uintptr_t data, char *packed)
{
    const struct weft_strided r = {.inner = count, .bytes = bytes, .at = at};
    weft_strided_copy(way, &r, data, packed);
}

/* A whole layout at data, whose packed form begins at packed. */
static void whole(enum weft_copy way, const struct weft_layout *layout, uintptr_t data,
                  char *packed);

/* count passes, stride apart, of a body without columns. */
static __attribute__((noinline)) void long_passes(enum weft_copy way,
                                                  const struct weft_layout *body, MPI_Aint stride,
                                                  size_t count, uintptr_t data, char *packed)
{
    if (count <= 1) {
        if (count)
            whole(way, body, data, packed);
        return;
    }
    if (body->kind == WEFT_LAYOUT_RUN) {
        if (stride == (MPI_Aint)body->size) {
            weft_run_copy(way, data + (uintptr_t)body->offset, packed, count * body->size);
            return;
        }
        column(way, count, body->size, stride, data + (uintptr_t)body->offset, packed);
        return;
    }
    if (body->kind == WEFT_LAYOUT_LOOP && body->body->kind == WEFT_LAYOUT_RUN) {
        const struct weft_strided r = {
            count, body->count, body->body->size, body->body->size, stride, body->stride, NULL};
        weft_strided_copy(way, &r, data + (uintptr_t)(body->offset + body->body->offset), packed);
        return;
    }
    for (size_t i = 0; i < count; i++, data += (uintptr_t)stride, packed += body->size)
        whole(way, body, data, packed);
}

/* count passes, stride apart. The short way of short bodies is short itself. */
static inline void passes(enum weft_copy way, const struct weft_layout *body, MPI_Aint stride,
                          size_t count, uintptr_t data, char *packed)
{
    if (body->columns)
        weft_columns_copy(way, body->columns, count, stride, data + (uintptr_t)body->offset,
                          packed);
    else
        long_passes(way, body, stride, count, data, packed);
}

/* Entries [first, end) of a list. */
static void entries(enum weft_copy way, const struct weft_layout *list, size_t first, size_t end,
                    uintptr_t data, char *packed)
{
    for (size_t i = first; i < end; i++) {
        size_t bytes = weft_layout_entry(list, i);
        uintptr_t at = data + (uintptr_t)list->at[i];
        if (list->bodies && list->bodies[i])
            whole(way, list->bodies[i], at, packed);
        else
            weft_run_copy(way, at, packed, bytes);
        packed += bytes;
    }
}

static void whole(enum weft_copy way, const struct weft_layout *layout, uintptr_t data,
                  char *packed)
{
    data += (uintptr_t)layout->offset;
    switch (layout->kind) {
    case WEFT_LAYOUT_RUN:
        weft_run_copy(way, data, packed, layout->size);
        return;
    case WEFT_LAYOUT_LOOP:
        passes(way, layout->body, layout->stride, layout->count, data, packed);
        return;
    case WEFT_LAYOUT_BLOCKS:
        blocks(way, layout->at, layout->count, weft_layout_block(layout), data, packed);
        return;
    case WEFT_LAYOUT_LIST:
        entries(way, layout, 0, layout->count, data, packed);
        return;
    }
}

/* Bytes [from, to) of a layout; packed begins with byte from. */
static void part(enum weft_copy way, const struct weft_layout *layout, uintptr_t data, size_t from,
                 size_t to, char *packed);

/* The same of passes without end. */
static void passes_part(enum weft_copy way, const struct weft_layout *body, MPI_Aint stride,
                        uintptr_t data, size_t from, size_t to, char *packed)
{
    size_t skip = from, bytes = to - from;
    if (skip >= body->size) {
        data += (from / body->size) * (uintptr_t)stride;
        skip = from % body->size;
    }
    if (skip) {
        size_t n = body->size - skip < bytes ? body->size - skip : bytes;
        part(way, body, data, skip, skip + n, packed);
        data += (uintptr_t)stride;
        packed += n;
        bytes -= n;
    }
    size_t count = bytes == body->size ? 1 : bytes / body->size;
    passes(way, body, stride, count, data, packed);
    bytes -= count * body->size;
    if (bytes)
        part(way, body, data + count * (uintptr_t)stride, 0, bytes, packed + count * body->size);
}

static void blocks_part(enum weft_copy way, const struct weft_layout *layout, uintptr_t data,
                        size_t from, size_t to, char *packed)
{
    size_t block = weft_layout_block(layout), i = from / block, skip = from % block;
    if (skip) {
        size_t n = block - skip < to - from ? block - skip : to - from;
        weft_run_copy(way, data + (uintptr_t)layout->at[i] + skip, packed, n);
        packed += n;
        from += n;
        i++;
    }
    size_t count = (to - from) / block, rest = (to - from) % block;
    blocks(way, layout->at + i, count, block, data, packed);
    if (rest)
        weft_run_copy(way, data + (uintptr_t)layout->at[i + count], packed + count * block, rest);
}

/* A part of entry i. */
static void entry_part(enum weft_copy way, const struct weft_layout *list, size_t i, uintptr_t data,
                       size_t from, size_t to, char *packed)
{
    data += (uintptr_t)list->at[i];
    if (list->bodies && list->bodies[i])
        part(way, list->bodies[i], data, from, to, packed);
    else
        weft_run_copy(way, data + from, packed, to - from);
}

static void list_part(enum weft_copy way, const struct weft_layout *list, uintptr_t data,
                      size_t from, size_t to, char *packed)
{
    size_t first = weft_layout_find(list, from), last = weft_layout_find(list, to - 1);
    size_t skip = from - list->begin[first];
    if (first == last) {
        entry_part(way, list, first, data, skip, to - list->begin[first], packed);
        return;
    }
    if (skip) {
        size_t n = weft_layout_entry(list, first) - skip;
        entry_part(way, list, first, data, skip, skip + n, packed);
        packed += n;
        first++;
    }
    entries(way, list, first, last, data, packed);
    packed += list->begin[last] - list->begin[first];
    entry_part(way, list, last, data, 0, to - list->begin[last], packed);
}

static void part(enum weft_copy way, const struct weft_layout *layout, uintptr_t data, size_t from,
                 size_t to, char *packed)
{
    data += (uintptr_t)layout->offset;
    switch (layout->kind) {
    case WEFT_LAYOUT_RUN:
        weft_run_copy(way, data + from, packed, to - from);
        return;
    case WEFT_LAYOUT_LOOP:
        passes_part(way, layout->body, layout->stride, data, from, to, packed);
        return;
    case WEFT_LAYOUT_BLOCKS:
        blocks_part(way, layout, data, from, to, packed);
        return;
    case WEFT_LAYOUT_LIST:
        list_part(way, layout, data, from, to, packed);
        return;
    }
}

/* Whether element after element is pass after pass of one loop. */
static bool is_endless(const struct weft_layout *layout, MPI_Aint extent)
{
    return layout->kind == WEFT_LAYOUT_LOOP &&
           extent == (MPI_Aint)((uintptr_t)layout->stride * layout->count);
}

/* What has so many packed bytes is larger than a core's own cache. */
enum { FAR_FROM = 1 << 20 };

static enum weft_copy how_far(enum weft_copy way, size_t bytes)
{
    return bytes < FAR_FROM ? way : (enum weft_copy)(way | WEFT_FAR);
}

void weft_layout_copy(enum weft_copy way, const struct weft_layout *layout, MPI_Aint extent,
                      const void *buffer, size_t from, size_t to, void *packed)
{
    uintptr_t data = (uintptr_t)buffer;
    if (from >= to)
        return;
    way = how_far(way, to); /* a later piece of something long: so the pieces before were copied */
    if (is_endless(layout, extent))
        passes_part(way, layout->body, layout->stride, data + (uintptr_t)layout->offset, from, to,
                    packed);
    else
        passes_part(way, layout, extent, data, from, to, packed);
}

void weft_layout_copy_all(enum weft_copy way, const struct weft_layout *layout, MPI_Aint extent,
                          const void *buffer, size_t count, void *packed)
{
    uintptr_t data = (uintptr_t)buffer;
    way = how_far(way, count * layout->size);
    if (is_endless(layout, extent))
        passes(way, layout->body, layout->stride, count * layout->count,
               data + (uintptr_t)layout->offset, packed);
    else
        passes(way, layout, extent, count, data, packed);
}
