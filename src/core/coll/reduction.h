// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reductions among a power of two of ranks: recursive doubling for latency, recursive halving for
 * bandwidth; both begin with the neighbour and double the distance.
 *
 * Beyond the greatest power of two there are `extra` ranks. The first 2 * extra ranks are folded:
 * each even one gives its data to its odd neighbour and takes part no more. Those who take part have
 * places 0, 1, …, in the order of ranks.
 *
 * Invariants:
 *  - After level k, `mine` (or its part) holds the operands of the 2^(k+1) neighbouring places that
 *    differ in the lowest k + 1 bits, combined in their order: those of the lower half are the left
 *    operand. So operations need not commute, and after doubling all ranks hold the same bits.
 *  - Parts are cut in the middle at every level, by element; every rank can compute every other's.
 */
#ifndef WEFT_REDUCTION_H
#define WEFT_REDUCTION_H

#include "core/coll/schedule.h"

struct weft_reduction {
    struct weft_schedule *s;
    struct weft_elements mine; /* begins as the rank's own data, becomes the result */
    void *other;               /* room for as many elements; may change places with mine */
    int levels;                /* 1 << levels ranks take part */
    int extra;
    int place; /* -1: folded away */
};

/* Fills levels, extra and place. */
void weft_reduction_init(struct weft_reduction *r);

/* Folds, and gives folded ranks the result. */
void weft_reduction_fold(struct weft_reduction *r);
void weft_reduction_unfold(struct weft_reduction *r);

/* Recursive doubling: at every level whole vectors are exchanged, and everybody who takes part ends
 * with the result. */
void weft_reduction_double(struct weft_reduction *r);

/* One level with parts: gives one part of `mine` away, and combines the other with the partner's. */
void weft_reduction_exchange(struct weft_reduction *r, int partner, struct weft_elements give,
                             struct weft_elements keep);

/* Recursive halving: ends with the part of the result in `mine` that weft_reduction_part names. */
void weft_reduction_halve(struct weft_reduction *r);

/* The part of `mine` that belongs to a place after so many levels of halving. */
struct weft_elements weft_reduction_part(const struct weft_reduction *r, int place, int levels);

/* Halving backwards: everybody who takes part gets all parts. */
void weft_reduction_collect(struct weft_reduction *r);

/* The rank of a place. */
static inline int weft_reduction_rank(const struct weft_reduction *r, int place)
{
    return place < r->extra ? 2 * place + 1 : place + r->extra;
}

#endif
