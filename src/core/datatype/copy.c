// SPDX-License-Identifier: BSD-3-Clause
/*
 * Packing and unpacking.
 *
 * The work is done by loops over runs of one length, in rows or at offsets from a table, stamped out
 * per class of length, so that copying a run is a few moves and no call. Everything else decides what
 * the rows are, and takes partial passes apart.
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

/* How a run is copied: as one piece; by its first and last piece, which cover it; or by a call, when
 * piece is 0. */
struct how {
    size_t piece;
    bool ends;
};

INLINE void copy_run(bool unpack, uintptr_t data, char *packed, size_t bytes, const struct how how)
{
    if (!how.piece) {
        copy(unpack, data, packed, bytes);
        return;
    }
    copy(unpack, data, packed, how.piece);
    if (how.ends)
        copy(unpack, data + bytes - how.piece, packed + bytes - how.piece, how.piece);
}

/* One run of a length that is not known before. */
INLINE void copy_any(bool unpack, uintptr_t data, char *packed, size_t bytes)
{
    if (bytes > 64)
        copy(unpack, data, packed, bytes);
    else if (bytes >= 32)
        copy_run(unpack, data, packed, bytes, (struct how){32, true});
    else if (bytes >= 16)
        copy_run(unpack, data, packed, bytes, (struct how){16, true});
    else if (bytes >= 8)
        copy_run(unpack, data, packed, bytes, (struct how){8, true});
    else if (bytes >= 4)
        copy_run(unpack, data, packed, bytes, (struct how){4, true});
    else if (bytes >= 2)
        copy_run(unpack, data, packed, bytes, (struct how){2, true});
    else
        copy(unpack, data, packed, 1);
}

/* Many runs of one length: outer times inner of them. In the buffer they are `stride` apart, or where
 * the table `at` says if there is one; packed, they are packed_stride apart. */
struct rows {
    size_t outer, inner, bytes, packed_stride;
    MPI_Aint outer_stride, stride;
    const MPI_Aint *at;
};

/* Of one row, four at a time. Everything by value: a store could change what is behind a pointer. The
 * last pieces have addresses of their own, which move with the first ones. */
INLINE void row(bool unpack, size_t count, const size_t bytes, const uintptr_t stride,
                const size_t step, uintptr_t data, char *packed, const struct how how)
{
    const size_t piece = how.piece, tail = how.ends ? bytes - piece : 0;
    uintptr_t last = data + tail;
    char *packed_last = packed + tail;
    for (; piece && count >= 4; count -= 4) {
        copy(unpack, data, packed, piece);
        if (how.ends)
            copy(unpack, last, packed_last, piece);
        copy(unpack, data + stride, packed + step, piece);
        if (how.ends)
            copy(unpack, last + stride, packed_last + step, piece);
        copy(unpack, data + 2 * stride, packed + 2 * step, piece);
        if (how.ends)
            copy(unpack, last + 2 * stride, packed_last + 2 * step, piece);
        copy(unpack, data + 3 * stride, packed + 3 * step, piece);
        if (how.ends)
            copy(unpack, last + 3 * stride, packed_last + 3 * step, piece);
        data += 4 * stride;
        last += 4 * stride;
        packed += 4 * step;
        packed_last += 4 * step;
    }
    for (; count; count--, data += stride, packed += step)
        copy_run(unpack, data, packed, bytes, how);
}

INLINE void gather(bool unpack, const MPI_Aint *at, size_t count, const size_t bytes,
                   uintptr_t data, char *packed, const struct how how)
{
    for (; how.piece && count >= 4; count -= 4, at += 4, packed += 4 * bytes) {
        copy_run(unpack, data + (uintptr_t)at[0], packed, bytes, how);
        copy_run(unpack, data + (uintptr_t)at[1], packed + bytes, bytes, how);
        copy_run(unpack, data + (uintptr_t)at[2], packed + 2 * bytes, bytes, how);
        copy_run(unpack, data + (uintptr_t)at[3], packed + 3 * bytes, bytes, how);
    }
    for (; count; count--, at++, packed += bytes)
        copy_run(unpack, data + (uintptr_t)at[0], packed, bytes, how);
}

INLINE void rows_how(bool unpack, const struct rows r, uintptr_t data, char *packed,
                     const struct how how)
{
    /* What is copied as one piece is as long as the piece, and the compiler is to know it. */
    const bool exact = how.piece && !how.ends;
    const size_t bytes = exact ? how.piece : r.bytes;
    if (r.at) {
        gather(unpack, r.at, r.inner, bytes, data, packed, how);
        return;
    }
    for (size_t o = 0; o < r.outer; o++, data += (uintptr_t)r.outer_stride) {
        row(unpack, r.inner, bytes, (uintptr_t)r.stride, r.packed_stride, data, packed, how);
        packed += r.inner * r.packed_stride;
    }
}

INLINE void rows_either(bool unpack, const struct rows r, uintptr_t data, char *packed)
{
    if (r.bytes == 8)
        rows_how(unpack, r, data, packed, (struct how){8, false});
    else if (r.bytes == 4)
        rows_how(unpack, r, data, packed, (struct how){4, false});
    else if (r.bytes == 16)
        rows_how(unpack, r, data, packed, (struct how){16, false});
    else if (r.bytes > 64)
        rows_how(unpack, r, data, packed, (struct how){0, false});
    else if (r.bytes >= 32)
        rows_how(unpack, r, data, packed, (struct how){32, true});
    else if (r.bytes > 16)
        rows_how(unpack, r, data, packed, (struct how){16, true});
    else if (r.bytes > 8)
        rows_how(unpack, r, data, packed, (struct how){8, true});
    else if (r.bytes > 4)
        rows_how(unpack, r, data, packed, (struct how){4, true});
    else if (r.bytes > 1)
        rows_how(unpack, r, data, packed, (struct how){2, true});
    else
        rows_how(unpack, r, data, packed, (struct how){1, false});
}

static void rows(enum weft_copy way, const struct rows *r, uintptr_t data, char *packed)
{
    if (way == WEFT_UNPACK)
        rows_either(true, *r, data, packed);
    else
        rows_either(false, *r, data, packed);
}

/* count runs, strides apart, packed without holes. */
static void column(enum weft_copy way, size_t count, size_t bytes, MPI_Aint stride, uintptr_t data,
                   char *packed)
{
    const struct rows r = {
        .outer = 1, .inner = count, .bytes = bytes, .packed_stride = bytes, .stride = stride};
    rows(way, &r, data, packed);
}

/* count runs at the offsets at. */
static void blocks(enum weft_copy way, const MPI_Aint *at, size_t count, size_t bytes,
                   uintptr_t data, char *packed)
{
    const struct rows r = {.inner = count, .bytes = bytes, .at = at};
    rows(way, &r, data, packed);
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
    struct rows r = {.outer = 1, .inner = count, .packed_stride = body->size, .stride = stride};
    for (size_t i = 0; i < body->count; i++) {
        MPI_Aint at;
        size_t begin;
        if (body->kind == WEFT_SHAPE_LIST) {
            at = body->at[i];
            begin = body->begin[i];
            r.bytes = weft_shape_entry(body, i);
        } else {
            r.bytes = weft_shape_block(body);
            begin = i * r.bytes;
            at = body->kind == WEFT_SHAPE_BLOCKS ? body->at[i]
                                                 : (MPI_Aint)i * body->stride + body->body->offset;
        }
        rows(way, &r, data + (uintptr_t)at, packed + begin);
    }
}

/* count passes over a handful of runs. */
static void tiles(enum weft_copy way, const struct weft_shape *body, MPI_Aint stride, size_t count,
                  uintptr_t data, char *packed)
{
    size_t apart = (size_t)(stride < 0 ? -stride : stride), most = count;
    if (count > FEW_RUNS && count > TILE_BYTES / (apart | 1))
        most = TILE_BYTES / (apart | 1);
    if (most < count && most < TILE_RUNS / body->count)
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
    if (count <= 1) {
        if (count)
            whole(way, body, data, packed);
        return;
    }
    if (body->kind == WEFT_SHAPE_RUN) {
        if (stride == (MPI_Aint)body->size) {
            run(way, data + (uintptr_t)body->offset, packed, count * body->size);
            return;
        }
        column(way, count, body->size, stride, data + (uintptr_t)body->offset, packed);
        return;
    }
    if (count >= FEW_PASSES && is_few_runs(body)) {
        tiles(way, body, stride, count, data, packed);
        return;
    }
    if (body->kind == WEFT_SHAPE_LOOP && body->body->kind == WEFT_SHAPE_RUN) {
        const struct rows r = {
            count, body->count, body->body->size, body->body->size, stride, body->stride, NULL};
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
        blocks(way, shape->at, shape->count, weft_shape_block(shape), data, packed);
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
    blocks(way, shape->at + i, count, block, data, packed);
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

/* Whether element after element is pass after pass of one loop. */
static bool is_endless(const struct weft_shape *shape, MPI_Aint extent)
{
    return shape->kind == WEFT_SHAPE_LOOP &&
           extent == (MPI_Aint)((uintptr_t)shape->stride * shape->count);
}

void weft_shape_copy(enum weft_copy way, const struct weft_shape *shape, MPI_Aint extent,
                     const void *buffer, size_t from, size_t to, void *packed)
{
    uintptr_t data = (uintptr_t)buffer;
    if (from >= to)
        return;
    if (is_endless(shape, extent))
        passes_part(way, shape->body, shape->stride, data + (uintptr_t)shape->offset, from, to,
                    packed);
    else
        passes_part(way, shape, extent, data, from, to, packed);
}

void weft_shape_copy_all(enum weft_copy way, const struct weft_shape *shape, MPI_Aint extent,
                         const void *buffer, size_t count, void *packed)
{
    uintptr_t data = (uintptr_t)buffer;
    if (is_endless(shape, extent))
        passes(way, shape->body, shape->stride, count * shape->count,
               data + (uintptr_t)shape->offset, packed);
    else
        passes(way, shape, extent, count, data, packed);
}
