// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reductions among a power of two of ranks: recursive doubling for latency, recursive halving for
 * bandwidth; both begin with the neighbour and double the distance.
 *
 * Invariants:
 *  - After level k, `mine` (or its part) holds the operands of the 2^(k+1) neighbouring places that
 *    differ in the lowest k + 1 bits, combined in their order: those of the lower half are the left
 *    operand. So operations need not commute, and after doubling all ranks hold the same bits.
 *  - Parts are cut in the middle at every level, by element; every rank can compute every other's.
 */
#include "core/coll/coll.h"

int weft_reduction_fold(struct weft_reduction *r)
{
    int rank = r->coll.comm->rank, size = r->coll.comm->size;
    r->levels = 0;
    while ((INT64_C(2) << r->levels) <= size)
        r->levels++;
    r->extra = size - (1 << r->levels);
    if (rank >= 2 * r->extra) {
        r->place = rank - r->extra;
        return MPI_SUCCESS;
    }
    if (rank % 2 == 0) {
        r->place = -1;
        return weft_coll_send(r->coll, rank + 1, r->mine);
    }
    r->place = rank / 2;
    struct weft_elements left = {r->other, r->mine.count, r->mine.type};
    int code = weft_coll_receive(r->coll, rank - 1, left);
    weft_coll_combine(r->op, left, r->mine.at);
    return code;
}

int weft_reduction_unfold(struct weft_reduction *r)
{
    int rank = r->coll.comm->rank;
    if (rank >= 2 * r->extra)
        return MPI_SUCCESS;
    return r->place < 0 ? weft_coll_receive(r->coll, rank + 1, r->mine)
                        : weft_coll_send(r->coll, rank - 1, r->mine);
}

int weft_reduction_double(struct weft_reduction *r)
{
    int code = MPI_SUCCESS;
    for (int level = 0; r->place >= 0 && level < r->levels; level++) {
        int partner = r->place ^ 1 << level, rank = weft_reduction_rank(r, partner);
        struct weft_elements theirs = {r->other, r->mine.count, r->mine.type};
        int failed = weft_coll_exchange(r->coll, rank, r->mine, rank, theirs);
        code = failed ? failed : code;
        if (partner < r->place) {
            weft_coll_combine(r->op, theirs, r->mine.at);
        } else {
            weft_coll_combine(r->op, r->mine, theirs.at);
            r->other = r->mine.at;
            r->mine = theirs;
        }
    }
    return code;
}

struct weft_elements weft_reduction_part(const struct weft_reduction *r, int place, int levels)
{
    size_t first = 0, count = r->mine.count;
    for (int level = 0; level < levels; level++) {
        size_t half = count / 2;
        if (place >> level & 1) {
            first += half;
            count -= half;
        } else {
            count = half;
        }
    }
    return weft_elements_slice(r->mine, first, count);
}

/* The place in `other` that answers to a part of `mine`. */
static struct weft_elements in_other(const struct weft_reduction *r, struct weft_elements part)
{
    part.at = (void *)((uintptr_t)r->other + ((uintptr_t)part.at - (uintptr_t)r->mine.at));
    return part;
}

int weft_reduction_halve(struct weft_reduction *r)
{
    int code = MPI_SUCCESS;
    for (int level = 0; r->place >= 0 && level < r->levels; level++) {
        int partner = r->place ^ 1 << level, rank = weft_reduction_rank(r, partner);
        struct weft_elements keep = weft_reduction_part(r, r->place, level + 1);
        struct weft_elements give = weft_reduction_part(r, partner, level + 1);
        struct weft_elements theirs = in_other(r, keep);
        int failed = weft_coll_exchange(r->coll, rank, give, rank, theirs);
        code = failed ? failed : code;
        if (partner < r->place || r->op->commutative) {
            weft_coll_combine(r->op, theirs, keep.at);
        } else {
            weft_coll_combine(r->op, keep, theirs.at);
            weft_elements_copy(theirs, keep);
        }
    }
    return code;
}

int weft_reduction_collect(struct weft_reduction *r)
{
    int code = MPI_SUCCESS;
    for (int level = r->place < 0 ? 0 : r->levels; level > 0; level--) {
        int partner = r->place ^ 1 << (level - 1), rank = weft_reduction_rank(r, partner);
        int failed = weft_coll_exchange(r->coll, rank, weft_reduction_part(r, r->place, level),
                                        rank, weft_reduction_part(r, partner, level));
        code = failed ? failed : code;
    }
    return code;
}
