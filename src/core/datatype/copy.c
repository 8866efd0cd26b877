// SPDX-License-Identifier: BSD-3-Clause
/*
 * Packs and unpacks layouts. Splits a layout into sets of runs of equal length, which
 * strided_copy.c copies, and into partial passes at both ends.
 *
 * Invariants:
 *  - Packing and unpacking traverse a layout in the same order, so the packed form of a buffer does
 *    not depend on the ranges in which it is packed.
 *  - Unpacking writes only bytes of runs.
 *  - An address is an integer until a run is copied: with MPI_BOTTOM, and between runs, it points
 *    to no object.
 */
#include "core/datatype/copy.h"
#include "core/datatype/strided_copy.h"
#include "core/base/assert.h"

#include <stdbool.h>

/* count runs, stride bytes apart. */
static void copy_strided(enum weft_copy direction, size_t count, size_t bytes, MPI_Aint stride,
                         uintptr_t data, char *packed)
{
    const struct weft_strided r = {
        .outer = 1, .inner = count, .bytes = bytes, .packed_stride = bytes, .stride = stride};
    weft_strided_copy(direction, &r, data, packed);
}

/* count runs at the offsets at. */
static void copy_indexed(enum weft_copy direction, const MPI_Aint *at, size_t count, size_t bytes,
                         uintptr_t data, char *packed)
{
    const struct weft_strided r = {.inner = count, .bytes = bytes, .at = at};
    weft_strided_copy(direction, &r, data, packed);
}

/* A complete layout. */
static void copy_full(enum weft_copy direction, const struct weft_layout *layout, uintptr_t data,
                      char *packed);

/* count passes, stride bytes apart, of a body without columns. */
static __attribute__((noinline)) void long_passes(enum weft_copy direction,
                                                  const struct weft_layout *body, MPI_Aint stride,
                                                  size_t count, uintptr_t data, char *packed)
{
    if (count <= 1) {
        if (count)
            copy_full(direction, body, data, packed);
        return;
    }
    if (body->kind == WEFT_LAYOUT_RUN) {
        if (stride == (MPI_Aint)body->size) {
            weft_run_copy(direction, data + (uintptr_t)body->offset, packed, count * body->size);
            return;
        }
        copy_strided(direction, count, body->size, stride, data + (uintptr_t)body->offset, packed);
        return;
    }
    if (body->kind == WEFT_LAYOUT_LOOP && body->body->kind == WEFT_LAYOUT_RUN) {
        const struct weft_strided r = {
            count, body->count, body->body->size, body->body->size, stride, body->stride, NULL};
        weft_strided_copy(direction, &r, data + (uintptr_t)(body->offset + body->body->offset),
                          packed);
        return;
    }
    for (size_t i = 0; i < count; i++, data += (uintptr_t)stride, packed += body->size)
        copy_full(direction, body, data, packed);
}

/* count passes, stride bytes apart. Inlined, because bodies with columns are short. */
static inline void passes(enum weft_copy direction, const struct weft_layout *body, MPI_Aint stride,
                          size_t count, uintptr_t data, char *packed)
{
    if (body->columns)
        weft_columns_copy(direction, body->columns, count, stride, data + (uintptr_t)body->offset,
                          packed);
    else
        long_passes(direction, body, stride, count, data, packed);
}

/* Entries [first, end) of a list. */
static void entries(enum weft_copy direction, const struct weft_layout *list, size_t first,
                    size_t end, uintptr_t data, char *packed)
{
    for (size_t i = first; i < end; i++) {
        size_t bytes = weft_layout_entry(list, i);
        uintptr_t at = data + (uintptr_t)list->at[i];
        if (list->bodies && list->bodies[i])
            copy_full(direction, list->bodies[i], at, packed);
        else
            weft_run_copy(direction, at, packed, bytes);
        packed += bytes;
    }
}

static void copy_full(enum weft_copy direction, const struct weft_layout *layout, uintptr_t data,
                      char *packed)
{
    data += (uintptr_t)layout->offset;
    switch (layout->kind) {
    case WEFT_LAYOUT_RUN:
        weft_run_copy(direction, data, packed, layout->size);
        return;
    case WEFT_LAYOUT_LOOP:
        passes(direction, layout->body, layout->stride, layout->count, data, packed);
        return;
    case WEFT_LAYOUT_BLOCKS:
        copy_indexed(direction, layout->at, layout->count, weft_layout_block(layout), data, packed);
        return;
    case WEFT_LAYOUT_LIST:
        entries(direction, layout, 0, layout->count, data, packed);
        return;
    }
}

/* Bytes [from, to) of a layout; packed begins with byte from. */
static void copy_range(enum weft_copy direction, const struct weft_layout *layout, uintptr_t data,
                       size_t from, size_t to, char *packed);

/* copy_range for an unlimited number of passes. */
static void passes_range(enum weft_copy direction, const struct weft_layout *body, MPI_Aint stride,
                         uintptr_t data, size_t from, size_t to, char *packed)
{
    size_t skip = from, bytes = to - from;
    if (skip >= body->size) {
        data += (from / body->size) * (uintptr_t)stride;
        skip = from % body->size;
    }
    if (skip) {
        size_t n = body->size - skip < bytes ? body->size - skip : bytes;
        copy_range(direction, body, data, skip, skip + n, packed);
        data += (uintptr_t)stride;
        packed += n;
        bytes -= n;
    }
    size_t count = bytes == body->size ? 1 : bytes / body->size;
    passes(direction, body, stride, count, data, packed);
    bytes -= count * body->size;
    if (bytes)
        copy_range(direction, body, data + count * (uintptr_t)stride, 0, bytes,
                   packed + count * body->size);
}

static void blocks_range(enum weft_copy direction, const struct weft_layout *layout, uintptr_t data,
                         size_t from, size_t to, char *packed)
{
    size_t block = weft_layout_block(layout), i = from / block, skip = from % block;
    if (skip) {
        size_t n = block - skip < to - from ? block - skip : to - from;
        weft_run_copy(direction, data + (uintptr_t)layout->at[i] + skip, packed, n);
        packed += n;
        from += n;
        i++;
    }
    size_t count = (to - from) / block, rest = (to - from) % block;
    weft_assert(i + count + (rest > 0) <= layout->count);
    copy_indexed(direction, layout->at + i, count, block, data, packed);
    if (rest)
        weft_run_copy(direction, data + (uintptr_t)layout->at[i + count], packed + count * block,
                      rest);
}

/* A range of entry i. */
static void entry_range(enum weft_copy direction, const struct weft_layout *list, size_t i,
                        uintptr_t data, size_t from, size_t to, char *packed)
{
    data += (uintptr_t)list->at[i];
    if (list->bodies && list->bodies[i])
        copy_range(direction, list->bodies[i], data, from, to, packed);
    else
        weft_run_copy(direction, data + from, packed, to - from);
}

static void list_range(enum weft_copy direction, const struct weft_layout *list, uintptr_t data,
                       size_t from, size_t to, char *packed)
{
    size_t first = weft_find_start(list->begin, list->count, from);
    size_t last = weft_find_start(list->begin, list->count, to - 1);
    size_t skip = from - list->begin[first];
    if (first == last) {
        entry_range(direction, list, first, data, skip, to - list->begin[first], packed);
        return;
    }
    if (skip) {
        size_t n = weft_layout_entry(list, first) - skip;
        entry_range(direction, list, first, data, skip, skip + n, packed);
        packed += n;
        first++;
    }
    entries(direction, list, first, last, data, packed);
    packed += list->begin[last] - list->begin[first];
    entry_range(direction, list, last, data, 0, to - list->begin[last], packed);
}

static void copy_range(enum weft_copy direction, const struct weft_layout *layout, uintptr_t data,
                       size_t from, size_t to, char *packed)
{
    weft_assert(from < to && to <= layout->size);
    data += (uintptr_t)layout->offset;
    switch (layout->kind) {
    case WEFT_LAYOUT_RUN:
        weft_run_copy(direction, data + from, packed, to - from);
        return;
    case WEFT_LAYOUT_LOOP:
        passes_range(direction, layout->body, layout->stride, data, from, to, packed);
        return;
    case WEFT_LAYOUT_BLOCKS:
        blocks_range(direction, layout, data, from, to, packed);
        return;
    case WEFT_LAYOUT_LIST:
        list_range(direction, layout, data, from, to, packed);
        return;
    }
}

/* True if consecutive elements continue the loop of the first one. */
static bool continues_loop(const struct weft_layout *layout, MPI_Aint extent)
{
    return layout->kind == WEFT_LAYOUT_LOOP &&
           extent == (MPI_Aint)((uintptr_t)layout->stride * layout->count);
}

/* Data of 1 MiB or more do not fit the private cache of a core. */
static enum weft_copy add_far(enum weft_copy direction, size_t bytes)
{
    return bytes < 1 << 20 ? direction : (enum weft_copy)(direction | WEFT_FAR);
}

void weft_layout_copy(enum weft_copy direction, const struct weft_layout *layout, MPI_Aint extent,
                      const void *buffer, size_t from, size_t to, void *packed)
{
    uintptr_t data = (uintptr_t)buffer;
    if (from >= to)
        return;
    direction = add_far(direction,
                        to); /* `to`, not to - from: the ranges before it have filled the cache */
    if (continues_loop(layout, extent))
        passes_range(direction, layout->body, layout->stride, data + (uintptr_t)layout->offset,
                     from, to, packed);
    else
        passes_range(direction, layout, extent, data, from, to, packed);
}

void weft_layout_copy_all(enum weft_copy direction, const struct weft_layout *layout,
                          MPI_Aint extent, const void *buffer, size_t count, void *packed)
{
    uintptr_t data = (uintptr_t)buffer;
    direction = add_far(direction, count * layout->size);
    if (continues_loop(layout, extent))
        passes(direction, layout->body, layout->stride, count * layout->count,
               data + (uintptr_t)layout->offset, packed);
    else
        passes(direction, layout, extent, count, data, packed);
}
