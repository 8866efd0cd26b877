// SPDX-License-Identifier: BSD-3-Clause
/*
 * Combining the operands of all ranks at one rank, for reductions through shared memory.
 *
 * Invariant: operands are combined in the order in which a schedule combines them (reduction.h,
 * reduce.c, reduce_scatter.c), so the result has the same bits.
 */
#ifndef WEFT_OPERANDS_H
#define WEFT_OPERANDS_H

#include "core/coll/coll.h"

enum { WEFT_OPERANDS_MAX = 64 };

/* Position i of the tree has rank (i + top) mod n; or, with `extra` (reduction.h), two ranks have
 * one vrank. Or they are combined one by one, this rank's first and then those before it. */
struct weft_operands {
    const struct weft_op *op;
    enum weft_basic_type type;
    size_t size; /* bytes of an element */
    bool in_place, one_by_one;
    int n, rank, top, extra, vranks, levels;
    size_t from, bytes;                         /* the chunk that is being combined */
    unsigned char *scratch;                     /* a chunk for the result, and one for each level */
    size_t chunk;                               /* bytes of each */
    const unsigned char *at[WEFT_OPERANDS_MAX]; /* by rank; the caller sets them */
};

void weft_operands_describe(struct weft_operands *o, const struct weft_coll_args *args);

/* Combines `bytes` bytes. In place, this rank's operand is at the result or behind it. */
void weft_operands_reduce(struct weft_operands *o, unsigned char *result, size_t bytes);

#endif
