// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Allreduce: recursive doubling for short vectors; for long vectors a reduce-scatter and an
 * allgather, by recursive halving and its reverse (Rabenseifner) or around a ring.
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
    } else {
        weft_reduction_double(&r);
    }
    weft_reduction_unfold(&r);
    weft_schedule_copy(s, r.mine, result);
}

/* Block b moves around the ring from rank b + 1 and is complete at rank b; then the complete blocks
 * move around the ring. */
static void by_ring(struct weft_schedule *s, struct weft_elements result)
{
    struct weft_blocks blocks = weft_schedule_cut(s, result, s->size);
    if (s->failed)
        return;
    struct weft_elements received =
        weft_schedule_elements(s, result.type, weft_block(&blocks, 0).count);
    int up = (s->rank + 1) % s->size, down = (s->rank + s->size - 1) % s->size, b = down;
    for (int step = 1; step < s->size; step++) {
        int next = (b + s->size - 1) % s->size;
        struct weft_elements mine = weft_block(&blocks, next);
        received.count = mine.count;
        weft_schedule_receive(s, down, received);
        weft_schedule_send(s, up, weft_block(&blocks, b));
        weft_schedule_fence(s);
        weft_schedule_combine(s, received, mine.at);
        weft_schedule_fence(s);
        b = next;
    }
    weft_build_ring(s, weft_block(&blocks, s->rank), &blocks, 0);
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
    if (s->size == 1)
        return;
    if (algorithm == WEFT_ALGORITHM_RING)
        by_ring(s, result);
    else
        by_partners(s, result, algorithm == WEFT_ALGORITHM_HALVING);
}
