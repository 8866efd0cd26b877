// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Scan and MPI_Exscan: in round k each rank sends to rank + 2^k. If the ranks of each node are
 * consecutive, within each node, then among the last ranks of the nodes, then within the nodes.
 * Short operands of few ranks in another order are gathered everywhere.
 *
 * Invariant: before the round with distance d, `partial` is the combination, in order, of the
 * operands of the d ranks up to this one, or of all.
 */
#include "core/coll/nodes.h"

void weft_build_scan_rounds(struct weft_schedule *s, struct weft_elements partial, void *before)
{
    struct weft_elements received = weft_schedule_elements(s, partial.type, partial.count);
    struct weft_elements sum = {before, partial.count, partial.type};
    for (int64_t distance = 1; distance < s->size; distance *= 2) {
        bool first = distance == 1;
        if (s->rank >= distance)
            weft_schedule_receive(s, (int)(s->rank - distance), received);
        if (s->rank + distance < s->size)
            weft_schedule_send(s, (int)(s->rank + distance), partial);
        weft_schedule_fence(s);
        if (s->rank < distance)
            continue;
        weft_schedule_combine(s, received, partial.at);
        if (before && first)
            weft_schedule_copy(s, received, sum);
        else if (before)
            weft_schedule_combine(s, received, before);
        weft_schedule_fence(s);
    }
}

void weft_build_scan(struct weft_schedule *s, struct weft_elements in, void *result, bool exclusive,
                     enum weft_algorithm algorithm)
{
    struct weft_elements partial = {result, in.count, in.type};
    if (algorithm == WEFT_ALGORITHM_NODES) {
        weft_nodes_scan(s, in, result, exclusive);
        return;
    }
    if (exclusive)
        partial = weft_schedule_elements(s, in.type, in.count);
    weft_schedule_copy(s, in, partial);
    weft_schedule_fence(s);
    weft_build_scan_rounds(s, partial, exclusive ? result : NULL);
}
