// SPDX-License-Identifier: BSD-3-Clause
/*
 * Recursive doubling and halving: see reduction.h.
 *
 * Invariant: each function ends with a fence, so that later steps depend on all its messages.
 */
#include "core/coll/reduction.h"

void weft_reduction_init(struct weft_reduction *r)
{
    int rank = r->s->rank, size = r->s->size;
    r->levels = 0;
    while ((INT64_C(2) << r->levels) <= size)
        r->levels++;
    r->extra = size - (1 << r->levels);
    if (rank >= 2 * r->extra)
        r->vrank = rank - r->extra;
    else
        r->vrank = rank % 2 ? rank / 2 : -1;
    weft_assert(r->extra >= 0 && r->extra < 1 << r->levels && r->vrank < 1 << r->levels);
}

void weft_reduction_fold(struct weft_reduction *r)
{
    struct weft_schedule *s = r->s;
    if (s->rank >= 2 * r->extra)
        return;
    if (r->vrank < 0) {
        weft_schedule_send(s, s->rank + 1, r->mine);
        weft_schedule_fence(s);
        return;
    }
    struct weft_elements left = {r->other, r->mine.count, r->mine.type};
    weft_schedule_receive(s, s->rank - 1, left);
    weft_schedule_fence(s);
    weft_schedule_combine(s, left, r->mine.at);
    weft_schedule_fence(s);
}

void weft_reduction_unfold(struct weft_reduction *r)
{
    struct weft_schedule *s = r->s;
    if (s->rank >= 2 * r->extra)
        return;
    if (r->vrank < 0)
        weft_schedule_receive(s, s->rank + 1, r->mine);
    else
        weft_schedule_send(s, s->rank - 1, r->mine);
    weft_schedule_fence(s);
}

/* The range of `other` at the offset of a range of `mine`. */
static struct weft_elements in_other(const struct weft_reduction *r, struct weft_elements segment)
{
    segment.at = (void *)((uintptr_t)r->other + ((uintptr_t)segment.at - (uintptr_t)r->mine.at));
    return segment;
}

void weft_reduction_exchange(struct weft_reduction *r, int partner, struct weft_elements give,
                             struct weft_elements keep)
{
    struct weft_schedule *s = r->s;
    struct weft_elements theirs = in_other(r, keep);
    weft_assert(r->vrank >= 0 && partner != r->vrank && partner < 1 << r->levels);
    int rank = weft_reduction_rank(r, partner);
    weft_schedule_receive(s, rank, theirs);
    weft_schedule_send(s, rank, give);
    weft_schedule_fence(s);
    if (partner < r->vrank || s->op->commutative) {
        weft_schedule_combine(s, theirs, keep.at);
    } else {
        void *mine = r->mine.at;
        weft_schedule_combine(s, keep, theirs.at);
        r->mine.at = r->other;
        r->other = mine;
    }
    weft_schedule_fence(s);
}

/* Sends an operand of the last level to the inactive ranks of both partners. */
static void send_to_inactive(const struct weft_reduction *r, int partner)
{
    int folded[2] = {r->vrank, partner};
    for (int i = 0; i < 2; i++)
        if (folded[i] < r->extra)
            weft_schedule_send(r->s, weft_reduction_rank(r, folded[i]) - 1, r->mine);
}

/* An inactive rank receives the operands of the last level, and combines them as its partner. */
static void combine_inactive(struct weft_reduction *r)
{
    int active = r->s->rank / 2, top = 1 << (r->levels - 1);
    struct weft_elements left = {r->other, r->mine.count, r->mine.type};
    weft_schedule_receive(r->s, weft_reduction_rank(r, active & ~top), left);
    weft_schedule_receive(r->s, weft_reduction_rank(r, active | top), r->mine);
    weft_schedule_fence(r->s);
    weft_schedule_combine(r->s, left, r->mine.at);
    weft_schedule_fence(r->s);
}

void weft_reduction_double(struct weft_reduction *r)
{
    bool direct = weft_elements_bytes(r->mine) <= WEFT_REDUCTION_DIRECT;
    if (r->vrank < 0 && direct)
        combine_inactive(r);
    for (int level = 0; r->vrank >= 0 && level < r->levels; level++) {
        int partner = r->vrank ^ 1 << level, rank = weft_reduction_rank(r, partner);
        struct weft_elements theirs = {r->other, r->mine.count, r->mine.type};
        weft_schedule_receive(r->s, rank, theirs);
        weft_schedule_send(r->s, rank, r->mine);
        if (direct && level == r->levels - 1)
            send_to_inactive(r, partner);
        weft_schedule_fence(r->s);
        if (partner < r->vrank) {
            weft_schedule_combine(r->s, theirs, r->mine.at);
        } else { /* also if the operation is commutative: both partners compute the same bits */
            weft_schedule_combine(r->s, r->mine, theirs.at);
            r->other = r->mine.at;
            r->mine = theirs;
        }
        weft_schedule_fence(r->s);
    }
    if (!direct)
        weft_reduction_unfold(r);
}

struct weft_elements weft_reduction_segment(const struct weft_reduction *r, int vrank, int levels)
{
    size_t first = 0, count = r->mine.count;
    for (int level = 0; level < levels; level++) {
        size_t half = count / 2;
        if (vrank >> level & 1) {
            first += half;
            count -= half;
        } else {
            count = half;
        }
    }
    return weft_elements_slice(r->mine, first, count);
}

void weft_reduction_halve(struct weft_reduction *r)
{
    for (int level = 0; r->vrank >= 0 && level < r->levels; level++) {
        int partner = r->vrank ^ 1 << level;
        weft_reduction_exchange(r, partner, weft_reduction_segment(r, partner, level + 1),
                                weft_reduction_segment(r, r->vrank, level + 1));
    }
}

void weft_reduction_collect(struct weft_reduction *r)
{
    for (int level = r->vrank < 0 ? 0 : r->levels; level > 0; level--) {
        int partner = r->vrank ^ 1 << (level - 1), rank = weft_reduction_rank(r, partner);
        weft_schedule_receive(r->s, rank, weft_reduction_segment(r, partner, level));
        weft_schedule_send(r->s, rank, weft_reduction_segment(r, r->vrank, level));
        weft_schedule_fence(r->s);
    }
}
