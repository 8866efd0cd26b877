// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Scan and MPI_Exscan: recursive doubling.
 *
 * Invariant: before the round with distance d, `row` is the combination, in order, of the d ranks
 * from the multiple of d below this rank. Only the last such range may be shorter, and no rank
 * needs it.
 */
#include "core/coll/schedule.h"

void weft_build_scan(struct weft_schedule *s, struct weft_elements in, void *result, bool exclusive)
{
    struct weft_elements out = {result, in.count, in.type};
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
