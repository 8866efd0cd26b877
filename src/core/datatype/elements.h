// SPDX-License-Identifier: BSD-3-Clause
/*
 * Buffers of collectives: elements of a type at an address, and blocks of elements, one for each
 * rank of a group. Communicators use them too.
 *
 * Invariant: the two ends of a transfer have the same number of bytes; their types may differ.
 */
#ifndef WEFT_ELEMENTS_H
#define WEFT_ELEMENTS_H

#include "core/datatype/device.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* count elements of a type at an address. */
struct weft_elements {
    void *at;
    size_t count;
    const struct weft_datatype *type;
};

/* A user's array of int, or (wide) of MPI_Count or MPI_Aint, which have 64 bits. */
struct weft_ints {
    const void *at; /* NULL: no array */
    bool wide;
};

/* The differences between the blocks of a v- or w-form. */
struct weft_arrays {
    struct weft_ints counts;
    struct weft_ints displs; /* in extents of the type, or in bytes if there are types; NULL: the
                                blocks of MPI_Reduce_scatter, which are adjacent */
    const MPI_Datatype *types;
};

/* One block for each rank (or neighbour). */
struct weft_blocks {
    void *at;
    size_t count;                     /* elements of each block, if there are no counts */
    const struct weft_datatype *type; /* of each block; if there are types, MPI_BYTE or its twin */
    const struct weft_arrays *arrays; /* NULL: blocks of `count` elements are adjacent */
    int n;                            /* number of types */
};

/* Elements [first, first + count). */
static inline struct weft_elements weft_elements_slice(struct weft_elements of, size_t first,
                                                       size_t count)
{
    /* Integer arithmetic, because a buffer without elements may be a null pointer. */
    uintptr_t at = (uintptr_t)of.at + first * (uintptr_t)of.type->extent;
    return (struct weft_elements){(void *)at, count, of.type};
}

/* Segment i, of `each` elements; the last may have fewer. */
static inline struct weft_elements weft_elements_segment(struct weft_elements of, size_t each,
                                                         size_t i)
{
    size_t left = of.count - i * each;
    return weft_elements_slice(of, i * each, left < each ? left : each);
}

/* Bytes of data, without holes. */
static inline size_t weft_elements_bytes(struct weft_elements of)
{
    return of.count * of.type->size;
}

/* Bytes of memory for elements, from the first byte of data to the last. */
static inline size_t weft_elements_span(const struct weft_datatype *type, size_t count)
{
    size_t extent = (size_t)(type->extent < 0 ? -type->extent : type->extent);
    return count ? (count - 1) * extent + (size_t)type->true_extent : 0;
}

/* Elements in memory of weft_elements_span bytes. With a negative extent the last element has the
 * lowest address. */
static inline struct weft_elements weft_elements_in(void *memory, const struct weft_datatype *type,
                                                    size_t count)
{
    uintptr_t ahead = count && type->extent < 0 ? (count - 1) * (uintptr_t)-type->extent : 0;
    uintptr_t at = (uintptr_t)memory + ahead - (uintptr_t)type->true_lb;
    return (struct weft_elements){(void *)at, count, type};
}

/* The address of the first byte of data. Two buffers with data and the same start are one buffer;
 * with different starts they may be interleaved. */
static inline uintptr_t weft_elements_start(struct weft_elements of)
{
    return (uintptr_t)of.at + (uintptr_t)of.type->true_lb;
}

/* Bytes, as elements of MPI_BYTE. */
static inline struct weft_elements weft_elements_of_bytes(void *at, size_t bytes)
{
    return (struct weft_elements){at, bytes, weft_handle_object(MPI_BYTE)};
}

/* Copies data between buffers of equal size, without their holes. No effect if both start at the
 * same address. */
void weft_elements_copy(struct weft_elements from, struct weft_elements to);

static inline int64_t weft_int_of(struct weft_ints ints, int i)
{
    return ints.wide ? ((const int64_t *)ints.at)[i] : ((const int *)ints.at)[i];
}

/* The datatype of block i of a w-form. MPI_DATATYPE_NULL, which is accepted where the count is 0,
 * is replaced by MPI_BYTE. */
static inline const struct weft_datatype *weft_block_type(const struct weft_arrays *arrays, int i)
{
    MPI_Datatype type = arrays->types[i];
    return weft_handle_object(type == MPI_DATATYPE_NULL ? MPI_BYTE : type);
}

/* Block i. Not for the counts of reduce_scatter, which have no displacements. */
static inline struct weft_elements weft_block(const struct weft_blocks *blocks, int i)
{
    struct weft_elements block = {blocks->at, blocks->count, blocks->type};
    const struct weft_arrays *arrays = blocks->arrays;
    if (weft_likely(!arrays))
        return weft_elements_slice(block, (size_t)i * blocks->count, blocks->count);
    block.count = (size_t)weft_int_of(arrays->counts, i);
    int64_t displ = weft_int_of(arrays->displs, i);
    if (arrays->types)
        block.type = weft_unlikely(blocks->type->flags & WEFT_TYPE_DEVICE)
                         ? weft_datatype_in_device(weft_block_type(arrays, i))
                         : weft_block_type(arrays, i);
    uintptr_t unit = arrays->types ? 1 : (uintptr_t)blocks->type->extent;
    block.at = (void *)((uintptr_t)blocks->at + (uintptr_t)displ * unit);
    return block;
}

#endif
