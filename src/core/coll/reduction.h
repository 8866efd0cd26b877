// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reductions among a power of two of ranks: recursive doubling for latency, recursive halving for
 * bandwidth. The first partner is the adjacent rank; the distance doubles at each level.
 *
 * `extra` is the number of ranks beyond the largest power of two. The first 2 * extra ranks are
 * folded: each even rank sends its data to the next rank and is then inactive. Active ranks have
 * the vranks 0, 1, …, in the order of ranks.
 *
 * Invariants:
 *  - After level k, `mine` (or a segment of it) is the combination of the operands of the 2^(k+1)
 *    vranks that differ in the lowest k + 1 bits, in order: the lower half is the left operand. So
 *    the operation need not be commutative, and after doubling all ranks have the same bits.
 *  - Each level divides a segment in the middle, by elements, so each rank can compute all
 * segments.
 */
#ifndef WEFT_REDUCTION_H
#define WEFT_REDUCTION_H

#include "core/coll/schedule.h"

struct weft_reduction {
    struct weft_schedule *s;
    struct weft_elements mine; /* first the operand, finally the result */
    void *other;               /* a buffer of the same size; may be swapped with mine.at */
    int levels;                /* 1 << levels ranks are active */
    int extra;
    int vrank; /* -1: inactive */
};

/* Fills levels, extra and vrank. */
void weft_reduction_init(struct weft_reduction *r);

/* Folds, and sends the result to the inactive ranks. */
void weft_reduction_fold(struct weft_reduction *r);
void weft_reduction_unfold(struct weft_reduction *r);

/* A vector of at most so many bytes reaches the inactive ranks in the last round of doubling, as
 * its two operands; a longer one in one more round. 8 KiB take 0.7 us at 100 Gbit/s, a round 2 us.
 */
enum { WEFT_REDUCTION_DIRECT = 8 * 1024 };

/* Recursive doubling: exchanges complete vectors; every rank has the result. */
void weft_reduction_double(struct weft_reduction *r);

/* One level of halving: sends one half of `mine`, and combines the other with the partner's. */
void weft_reduction_exchange(struct weft_reduction *r, int partner, struct weft_elements give,
                             struct weft_elements keep);

/* Recursive halving: weft_reduction_segment of `mine` has this rank's segment of the result. */
void weft_reduction_halve(struct weft_reduction *r);

/* The segment of `mine` of a vrank after `levels` levels of halving. */
struct weft_elements weft_reduction_segment(const struct weft_reduction *r, int vrank, int levels);

/* The reverse of halving: every active rank receives all segments. */
void weft_reduction_collect(struct weft_reduction *r);

/* The rank of a vrank. */
static inline int weft_reduction_rank(const struct weft_reduction *r, int vrank)
{
    return vrank < r->extra ? 2 * vrank + 1 : vrank + r->extra;
}

#endif
