// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Barrier by dissemination: in round k every rank tells the one 2^k further that it, and
 * everybody it has heard of, is there.
 *
 * Invariant: after round k a rank has heard of the 2^(k+1) - 1 ranks before it, directly or not.
 */
#include "core/coll/schedule.h"

void weft_build_barrier(struct weft_schedule *s)
{
    struct weft_elements nothing = weft_elements_of_bytes(NULL, 0);
    for (int64_t step = 1; step < s->size; step *= 2) {
        weft_schedule_receive(s, (int)((s->rank + s->size - step) % s->size), nothing);
        weft_schedule_send(s, (int)((s->rank + step) % s->size), nothing);
        weft_schedule_fence(s);
    }
}
