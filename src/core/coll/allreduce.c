// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Allreduce: recursive doubling for short vectors; for long vectors a reduce-scatter and an
 * allgather, by recursive halving and its reverse (Rabenseifner).
 *
 * Invariant: all ranks have the same bits. With doubling both partners combine the same operands in
 * the same order; otherwise each segment is computed once and then copied.
 */
#include "core/coll/nodes.h"
#include "core/coll/reduction.h"

static void by_partners(struct weft_schedule *s, struct weft_elements result, bool halve)
{
    struct weft_reduction r = {.s = s, .mine = result};
    r.other = weft_schedule_elements(s, result.type, result.count).at;
    weft_reduction_init(&r);
    weft_reduction_fold(&r);
    if (halve) {
        weft_reduction_halve(&r);
        weft_reduction_collect(&r);
        weft_reduction_unfold(&r);
    } else {
        weft_reduction_double(&r);
    }
    weft_schedule_copy(s, r.mine, result);
}

void weft_build_allreduce(struct weft_schedule *s, struct weft_elements in, void *out,
                          enum weft_algorithm algorithm)
{
    struct weft_elements result = {out, in.count, in.type};
    if (algorithm == WEFT_ALGORITHM_NODES) {
        weft_nodes_allreduce(s, in, out);
        return;
    }
    weft_schedule_copy(s, in, result);
    if (s->size > 1)
        by_partners(s, result, algorithm == WEFT_ALGORITHM_HALVING);
}
