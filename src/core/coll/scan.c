// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Scan and MPI_Exscan: recursive doubling, or from rank to rank.
 *
 * Invariant: before the round with distance d, `row` is the combination, in order, of the d ranks
 * from the multiple of d below this rank. Only the last such range may be shorter, and no rank
 * needs it.
 */
#include "core/coll/schedule.h"

static void by_doubling(struct weft_schedule *s, struct weft_elements in, struct weft_elements out,
                        bool exclusive)
{
    struct weft_elements row = weft_schedule_elements(s, in.type, in.count);
    struct weft_elements received = weft_schedule_elements(s, in.type, in.count);
    bool have = !exclusive; /* out has a value */
    weft_schedule_copy(s, in, row);
    if (!exclusive)
        weft_schedule_copy(s, in, out);
    for (int64_t distance = 1; distance < s->size; distance *= 2) {
        int partner = s->rank ^ (int)distance;
        if (partner >= s->size)
            continue;
        weft_schedule_receive(s, partner, received);
        weft_schedule_send(s, partner, row);
        weft_schedule_fence(s);
        if (partner > s->rank) {
            weft_schedule_combine(s, row, received.at);
            void *at = row.at;
            row.at = received.at;
            received.at = at;
            continue;
        }
        weft_schedule_combine(s, received, row.at);
        if (have)
            weft_schedule_combine(s, received, out.at);
        else
            weft_schedule_copy(s, received, out);
        have = true;
    }
}

static void by_chain(struct weft_schedule *s, struct weft_elements in, struct weft_elements out,
                     bool exclusive)
{
    struct weft_elements before = weft_schedule_elements(s, in.type, in.count), with = out;
    if (exclusive)
        with = weft_schedule_elements(s, in.type, in.count);
    weft_schedule_copy(s, in, with);
    if (s->rank > 0) {
        weft_schedule_receive(s, s->rank - 1, before);
        weft_schedule_fence(s);
        weft_schedule_combine(s, before, with.at);
        if (exclusive)
            weft_schedule_copy(s, before, out);
    }
    if (s->rank + 1 < s->size)
        weft_schedule_send(s, s->rank + 1, with);
}

void weft_build_scan(struct weft_schedule *s, struct weft_elements in, void *out, bool exclusive,
                     enum weft_algorithm algorithm)
{
    struct weft_elements result = {out, in.count, in.type};
    if (algorithm == WEFT_ALGORITHM_CHAIN)
        by_chain(s, in, result, exclusive);
    else
        by_doubling(s, in, result, exclusive);
}
