// SPDX-License-Identifier: BSD-3-Clause
/*
 * Packing and unpacking.
 *
 * The work is done by three loops over runs of one length: rows (two nested loops, packed without
 * holes), column (one loop with a stride on both sides), gather (offsets from a table). Each is
 * stamped out for the lengths that matter, so that copying a run is a few moves and no call.
 * Everything else decides which of them to call, and takes partial passes apart.
 *
 * A loop whose body is a handful of runs is copied column by column, a tile of passes at a time:
 * then each run's length is known for a whole loop, and the tile stays in the first-level cache.
 *
 * Invariants:
 *  - Packing and unpacking take the same way through a shape, so that the packed form of a buffer is
 *    the same whoever makes it and in whatever pieces.
 *  - Unpacking writes no byte that belongs to no run.
 *  - Addresses are integers until a run is copied: with MPI_BOTTOM, and between the runs, they point
 *    to no object.
 */
#include "core/datatype/copy.h"
#include "core/handle.h"

#include <stdbool.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

enum {
    FEW_RUNS = 32,      /* bodies of up to so many runs are copied column by column */
    FEW_PASSES = 4,     /* … unless there are fewer passes than that */
    SHORT_LOOP = 8,     /* inner loops of fewer passes are columns as well */
    TILE_BYTES = 16384, /* of the buffer that a tile should span */
    TILE_RUNS = 256     /* or the runs it should have, if they lie further apart */
};

/* One run. */
INLINE void copy(bool unpack, uintptr_t data, char *packed, size_t bytes)
{
    if (unpack)
        memcpy((void *)data, packed, bytes);
    else
        memcpy(packed, (const void *)data, bytes);
}

/* The first and the last `piece` bytes of a run, which cover it. */
INLINE void copy_ends(bool unpack, uintptr_t data, char *packed, size_t bytes, const size_t piece)
{
    copy(unpack, data, packed, piece);
    copy(unpack, data + bytes - piece, packed + bytes - piece, piece);
}

/* A run whose length is no constant. */
INLINE void copy_any(bool unpack, uintptr_t data, char *packed, size_t bytes)
{
    if (bytes > 64)
        copy(unpack, data, packed, bytes);
    else if (bytes >= 32)
        copy_ends(unpack, data, packed, bytes, 32);
    else if (bytes >= 16)
        copy_ends(unpack, data, packed, bytes, 16);
    else if (bytes >= 8)
        copy_ends(unpack, data, packed, bytes, 8);
    else if (bytes >= 4)
        copy_ends(unpack, data, packed, bytes, 4);
    else if (bytes >= 2)
        copy_ends(unpack, data, packed, bytes, 2);
    else
        copy(unpack, data, packed, 1);
}

/* length is a constant, or 0 for a run of `bytes`. */
INLINE void copy_run(bool unpack, uintptr_t data, char *packed, size_t bytes, const size_t length)
{
    if (length)
        copy(unpack, data, packed, length);
    else
        copy_any(unpack, data, packed, bytes);
}

/* outer times inner runs of so many bytes. */
struct rows {
    size_t outer, inner, bytes;
    MPI_Aint outer_stride, stride;
};

INLINE void rows_of(bool unpack, const struct rows *r, uintptr_t data, char *packed,
                    const size_t length)
{
    const size_t step = length ? length : r->bytes, inner = r->inner;
    const uintptr_t stride = (uintptr_t)r->stride;
    for (size_t o = 0; o < r->outer; o++, data += (uintptr_t)r->outer_stride) {
        uintptr_t at = data;
        for (size_t i = 0; i < inner; i++, at += stride, packed += step)
            copy_run(unpack, at, packed, r->bytes, length);
    }
}

INLINE void rows_either(bool unpack, const struct rows *r, uintptr_t data, char *packed)
{
    switch (r->bytes) {
    case 1:
        rows_of(unpack, r, data, packed, 1);
        break;
    case 2:
        rows_of(unpack, r, data, packed, 2);
        break;
    case 4:
        rows_of(unpack, r, data, packed, 4);
        break;
    case 8:
        rows_of(unpack, r, data, packed, 8);
        break;
    case 12:
        rows_of(unpack, r, data, packed, 12);
        break;
    case 16:
        rows_of(unpack, r, data, packed, 16);
        break;
    case 24:
        rows_of(unpack, r, data, packed, 24);
        break;
    case 32:
        rows_of(unpack, r, data, packed, 32);
        break;
    default:
        rows_of(unpack, r, data, packed, 0);
    }
}

static void rows(enum weft_copy way, const struct rows *r, uintptr_t data, char *packed)
{
    if (way == WEFT_UNPACK)
        rows_either(true, r, data, packed);
    else
        rows_either(false, r, data, packed);
}

/* count runs of so many bytes, strides apart in the buffer and in the packed form. */
struct column {
    size_t count, bytes, packed_stride;
    MPI_Aint stride;
};

INLINE void column_of(bool unpack, const struct column *c, uintptr_t data, char *packed,
                      const size_t length)
{
    for (size_t i = 0; i < c->count; i++, data += (uintptr_t)c->stride, packed += c->packed_stride)
        copy_run(unpack, data, packed, c->bytes, length);
}

INLINE void column_either(bool unpack, const struct column *c, uintptr_t data, char *packed)
{
    switch (c->bytes) {
    case 1:
        column_of(unpack, c, data, packed, 1);
        break;
    case 2:
        column_of(unpack, c, data, packed, 2);
        break;
    case 4:
        column_of(unpack, c, data, packed, 4);
        break;
    case 8:
        column_of(unpack, c, data, packed, 8);
        break;
    case 12:
        column_of(unpack, c, data, packed, 12);
        break;
    case 16:
        column_of(unpack, c, data, packed, 16);
        break;
    case 24:
        column_of(unpack, c, data, packed, 24);
        break;
    case 32:
        column_of(unpack, c, data, packed, 32);
        break;
    default:
        column_of(unpack, c, data, packed, 0);
    }
}

static void column(enum weft_copy way, const struct column *c, uintptr_t data, char *packed)
{
    if (way == WEFT_UNPACK)
        column_either(true, c, data, packed);
    else
        column_either(false, c, data, packed);
}

/* count runs of so many bytes at the offsets at. */
INLINE void gather_of(bool unpack, const MPI_Aint *at, size_t count, size_t bytes, uintptr_t data,
                      char *packed, const size_t length)
{
    for (size_t i = 0; i < count; i++, packed += length ? length : bytes)
        copy_run(unpack, data + (uintptr_t)at[i], packed, bytes, length);
}

INLINE void gather_either(bool unpack, const MPI_Aint *at, size_t count, size_t bytes,
                          uintptr_t data, char *packed)
{
    switch (bytes) {
    case 4:
        gather_of(unpack, at, count, bytes, data, packed, 4);
        break;
    case 8:
        gather_of(unpack, at, count, bytes, data, packed, 8);
        break;
    case 16:
        gather_of(unpack, at, count, bytes, data, packed, 16);
        break;
    case 24:
        gather_of(unpack, at, count, bytes, data, packed, 24);
        break;
    default:
        gather_of(unpack, at, count, bytes, data, packed, 0);
    }
}

static void gather(enum weft_copy way, const MPI_Aint *at, size_t count, size_t bytes,
                   uintptr_t data, char *packed)
{
    if (way == WEFT_UNPACK)
        gather_either(true, at, count, bytes, data, packed);
    else
        gather_either(false, at, count, bytes, data, packed);
}

/* A whole shape at data, whose packed form begins at packed. */
static void whole(enum weft_copy way, const struct weft_shape *shape, uintptr_t data, char *packed);

static void run(enum weft_copy way, uintptr_t data, char *packed, size_t bytes)
{
    if (way == WEFT_UNPACK)
        copy_any(true, data, packed, bytes);
    else
        copy_any(false, data, packed, bytes);
}

/* Whether a body is a handful of runs, one after the other. */
static bool is_few_runs(const struct weft_shape *body)
{
    if (body->runs > FEW_RUNS)
        return false;
    if (body->kind == WEFT_SHAPE_LOOP)
        return body->count < SHORT_LOOP && body->body->kind == WEFT_SHAPE_RUN;
    return body->kind == WEFT_SHAPE_BLOCKS || (body->kind == WEFT_SHAPE_LIST && !body->bodies);
}

/* One column for each run of the body. */
static void columns(enum weft_copy way, const struct weft_shape *body, MPI_Aint stride,
                    size_t count, uintptr_t data, char *packed)
{
    struct column c = {count, 0, body->size, stride};
    for (size_t i = 0; i < body->count; i++) {
        MPI_Aint at;
        size_t begin;
        if (body->kind == WEFT_SHAPE_LIST) {
            at = body->at[i];
            begin = body->begin[i];
            c.bytes = weft_shape_entry(body, i);
        } else {
            c.bytes = weft_shape_block(body);
            begin = i * c.bytes;
            at = body->kind == WEFT_SHAPE_BLOCKS ? body->at[i]
                                                 : (MPI_Aint)i * body->stride + body->body->offset;
        }
        column(way, &c, data + (uintptr_t)at, packed + begin);
    }
}

/* count passes over a handful of runs. */
static void tiles(enum weft_copy way, const struct weft_shape *body, MPI_Aint stride, size_t count,
                  uintptr_t data, char *packed)
{
    size_t apart = (size_t)(stride < 0 ? -stride : stride);
    size_t most = apart ? TILE_BYTES / apart : TILE_BYTES;
    if (most < TILE_RUNS / body->count)
        most = TILE_RUNS / body->count;
    data += (uintptr_t)body->offset;
    while (count) {
        size_t n = count < most ? count : most;
        columns(way, body, stride, n, data, packed);
        data += n * (uintptr_t)stride;
        packed += n * body->size;
        count -= n;
    }
}

/* count passes, stride apart. */
static void passes(enum weft_copy way, const struct weft_shape *body, MPI_Aint stride, size_t count,
                   uintptr_t data, char *packed)
{
    if (!count)
        return;
    if (body->kind == WEFT_SHAPE_RUN) {
        if (stride == (MPI_Aint)body->size) {
            run(way, data + (uintptr_t)body->offset, packed, count * body->size);
            return;
        }
        struct column c = {count, body->size, body->size, stride};
        column(way, &c, data + (uintptr_t)body->offset, packed);
        return;
    }
    if (count >= FEW_PASSES && is_few_runs(body)) {
        tiles(way, body, stride, count, data, packed);
        return;
    }
    if (body->kind == WEFT_SHAPE_LOOP && body->body->kind == WEFT_SHAPE_RUN) {
        struct rows r = {count, body->count, body->body->size, stride, body->stride};
        rows(way, &r, data + (uintptr_t)(body->offset + body->body->offset), packed);
        return;
    }
    for (size_t i = 0; i < count; i++, data += (uintptr_t)stride, packed += body->size)
        whole(way, body, data, packed);
}

/* Entries [first, end) of a list. */
static void entries(enum weft_copy way, const struct weft_shape *list, size_t first, size_t end,
                    uintptr_t data, char *packed)
{
    for (size_t i = first; i < end; i++) {
        size_t bytes = weft_shape_entry(list, i);
        uintptr_t at = data + (uintptr_t)list->at[i];
        if (list->bodies && list->bodies[i])
            whole(way, list->bodies[i], at, packed);
        else
            run(way, at, packed, bytes);
        packed += bytes;
    }
}

static void whole(enum weft_copy way, const struct weft_shape *shape, uintptr_t data, char *packed)
{
    data += (uintptr_t)shape->offset;
    switch (shape->kind) {
    case WEFT_SHAPE_RUN:
        run(way, data, packed, shape->size);
        return;
    case WEFT_SHAPE_LOOP:
        passes(way, shape->body, shape->stride, shape->count, data, packed);
        return;
    case WEFT_SHAPE_BLOCKS:
        gather(way, shape->at, shape->count, weft_shape_block(shape), data, packed);
        return;
    case WEFT_SHAPE_LIST:
        entries(way, shape, 0, shape->count, data, packed);
        return;
    }
}

/* Bytes [from, to) of a shape; packed begins with byte from. */
static void part(enum weft_copy way, const struct weft_shape *shape, uintptr_t data, size_t from,
                 size_t to, char *packed);

/* The same of passes without end. */
static void passes_part(enum weft_copy way, const struct weft_shape *body, MPI_Aint stride,
                        uintptr_t data, size_t from, size_t to, char *packed)
{
    size_t skip = from % body->size, bytes = to - from;
    data += (from / body->size) * (uintptr_t)stride;
    if (skip) {
        size_t n = body->size - skip < bytes ? body->size - skip : bytes;
        part(way, body, data, skip, skip + n, packed);
        data += (uintptr_t)stride;
        packed += n;
        bytes -= n;
    }
    size_t count = bytes / body->size;
    passes(way, body, stride, count, data, packed);
    bytes -= count * body->size;
    if (bytes)
        part(way, body, data + count * (uintptr_t)stride, 0, bytes, packed + count * body->size);
}

static void blocks_part(enum weft_copy way, const struct weft_shape *shape, uintptr_t data,
                        size_t from, size_t to, char *packed)
{
    size_t block = weft_shape_block(shape), i = from / block, skip = from % block;
    if (skip) {
        size_t n = block - skip < to - from ? block - skip : to - from;
        run(way, data + (uintptr_t)shape->at[i] + skip, packed, n);
        packed += n;
        from += n;
        i++;
    }
    size_t count = (to - from) / block, rest = (to - from) % block;
    gather(way, shape->at + i, count, block, data, packed);
    if (rest)
        run(way, data + (uintptr_t)shape->at[i + count], packed + count * block, rest);
}

/* A part of entry i. */
static void entry_part(enum weft_copy way, const struct weft_shape *list, size_t i, uintptr_t data,
                       size_t from, size_t to, char *packed)
{
    data += (uintptr_t)list->at[i];
    if (list->bodies && list->bodies[i])
        part(way, list->bodies[i], data, from, to, packed);
    else
        run(way, data + from, packed, to - from);
}

static void list_part(enum weft_copy way, const struct weft_shape *list, uintptr_t data,
                      size_t from, size_t to, char *packed)
{
    size_t first = weft_shape_find(list, from), last = weft_shape_find(list, to - 1);
    size_t skip = from - list->begin[first];
    if (first == last) {
        entry_part(way, list, first, data, skip, to - list->begin[first], packed);
        return;
    }
    if (skip) {
        size_t n = weft_shape_entry(list, first) - skip;
        entry_part(way, list, first, data, skip, skip + n, packed);
        packed += n;
        first++;
    }
    entries(way, list, first, last, data, packed);
    packed += list->begin[last] - list->begin[first];
    entry_part(way, list, last, data, 0, to - list->begin[last], packed);
}

static void part(enum weft_copy way, const struct weft_shape *shape, uintptr_t data, size_t from,
                 size_t to, char *packed)
{
    data += (uintptr_t)shape->offset;
    switch (shape->kind) {
    case WEFT_SHAPE_RUN:
        run(way, data + from, packed, to - from);
        return;
    case WEFT_SHAPE_LOOP:
        passes_part(way, shape->body, shape->stride, data, from, to, packed);
        return;
    case WEFT_SHAPE_BLOCKS:
        blocks_part(way, shape, data, from, to, packed);
        return;
    case WEFT_SHAPE_LIST:
        list_part(way, shape, data, from, to, packed);
        return;
    }
}

void weft_shape_copy(enum weft_copy way, const struct weft_shape *shape, MPI_Aint extent,
                     const void *buffer, size_t from, size_t to, void *packed)
{
    uintptr_t data = (uintptr_t)buffer;
    if (from >= to)
        return;
    if (shape->kind == WEFT_SHAPE_LOOP &&
        extent == (MPI_Aint)((uintptr_t)shape->stride * shape->count))
        passes_part(way, shape->body, shape->stride, data + (uintptr_t)shape->offset, from, to,
                    packed);
    else
        passes_part(way, shape, extent, data, from, to, packed);
}
