// SPDX-License-Identifier: BSD-3-Clause
/*
 * What collectives move: elements of a type at an address, and blocks of them, one for each rank of
 * a group.
 *
 * Invariant: two elements that a collective pairs hold as many bytes of data, whatever type
 * describes them at either end.
 */
#ifndef WEFT_ELEMENTS_H
#define WEFT_ELEMENTS_H

#include "core/datatype/datatype.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* count elements of a type at an address. */
struct weft_elements {
    void *at;
    size_t count;
    const struct weft_datatype *type;
};

/* An array of the user's: of int, or of MPI_Count or MPI_Aint, which are both 64 bits wide. */
struct weft_ints {
    const void *at; /* NULL: there is none */
    bool wide;
};

/* One block for each rank (or neighbour). */
struct weft_blocks {
    void *at;
    size_t count;                     /* elements of each block, unless there are counts */
    const struct weft_datatype *type; /* unless there are types */
    struct weft_ints counts;
    struct weft_ints displs;   /* where blocks begin: in extents of the type, or bytes if there are
                                  types; NULL: one behind the other, all of `count` elements */
    const MPI_Datatype *types; /* a type for each block; NULL: all have the same */
    int n;                     /* of types: how many */
};

/* Elements [first, first + count). */
static inline struct weft_elements weft_elements_slice(struct weft_elements of, size_t first,
                                                       size_t count)
{
    /* On integers: a null pointer with no elements is allowed, arithmetic on it is not. */
    uintptr_t at = (uintptr_t)of.at + first * (uintptr_t)of.type->extent;
    return (struct weft_elements){(void *)at, count, of.type};
}

/* Bytes of data, without holes. */
static inline size_t weft_elements_bytes(struct weft_elements of)
{
    return of.count * of.type->size;
}

/* The address of the lowest byte of data in the first element. If that is the same for two buffers
 * that have data, they overlap; if not, they may be interleaved. */
static inline uintptr_t weft_elements_start(struct weft_elements of)
{
    return (uintptr_t)of.at + (uintptr_t)of.type->true_lb;
}

/* So many bytes as elements of MPI_BYTE. */
static inline struct weft_elements weft_elements_of_bytes(void *at, size_t bytes)
{
    return (struct weft_elements){at, bytes, weft_handle_object(MPI_BYTE)};
}

/* Copies data between buffers of as many bytes; holes stay as they are. Nothing happens when the
 * data of both start at the same address: that is one buffer. */
void weft_elements_copy(struct weft_elements from, struct weft_elements to);

static inline int64_t weft_int_of(struct weft_ints ints, int i)
{
    return ints.wide ? ((const int64_t *)ints.at)[i] : ((const int *)ints.at)[i];
}

/* Block i. Reductions have counts and no displacements, their blocks stand one behind the other:
 * this function does not know them. */
static inline struct weft_elements weft_block(const struct weft_blocks *blocks, int i)
{
    struct weft_elements block = {blocks->at, blocks->count, blocks->type};
    if (weft_likely(!blocks->displs.at))
        return weft_elements_slice(block, (size_t)i * blocks->count, blocks->count);
    block.count = (size_t)weft_int_of(blocks->counts, i);
    int64_t displ = weft_int_of(blocks->displs, i);
    if (blocks->types)
        block.type = weft_handle_object(blocks->types[i]);
    uintptr_t unit = blocks->types ? 1 : (uintptr_t)blocks->type->extent;
    block.at = (void *)((uintptr_t)blocks->at + (uintptr_t)displ * unit);
    return block;
}

#endif
