// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Barrier by dissemination: in round k each rank sends a message to rank + 2^k. For a power of
 * two, pairs may exchange messages instead (doubling): the same number of rounds, with fewer
 * context switches if ranks share a core.
 *
 * Invariant: after round k a rank depends on the 2^(k+1) - 1 ranks before it.
 */
#include "core/coll/nodes.h"
#include "core/coll/tree.h"

/* One message up and one down a tree for each rank except the root. */
static void up_and_down(struct weft_schedule *s)
{
    struct weft_elements nothing = weft_schedule_buffer(s, 0);
    struct weft_tree tree = weft_tree_of(s->size, 4, s->rank);
    for (int i = 0; i < tree.children; i++)
        weft_schedule_receive(s, (int)weft_tree_child(&tree, i).vrank, nothing);
    weft_schedule_fence(s);
    if (tree.parent >= 0) {
        uint32_t received = s->count;
        weft_schedule_wait_for(s, 0);
        weft_schedule_receive(s, (int)tree.parent, nothing);
        weft_schedule_wait_for(s, received);
        weft_schedule_send(s, (int)tree.parent, nothing);
        weft_schedule_fence(s);
    }
    for (int i = tree.children; i-- > 0;)
        weft_schedule_send(s, (int)weft_tree_child(&tree, i).vrank, nothing);
}

void weft_build_barrier(struct weft_schedule *s, enum weft_algorithm algorithm)
{
    struct weft_elements nothing = weft_schedule_buffer(s, 0);
    if (algorithm == WEFT_ALGORITHM_NODES) {
        weft_nodes_barrier(s);
        return;
    }
    if (algorithm == WEFT_ALGORITHM_QUADNOMIAL) {
        up_and_down(s);
        return;
    }
    bool pairs = algorithm == WEFT_ALGORITHM_DOUBLING;
    for (int64_t step = 1; step < s->size; step *= 2) {
        int64_t to = pairs ? s->rank ^ step : (s->rank + step) % s->size;
        int64_t from = pairs ? to : (s->rank + s->size - step) % s->size;
        weft_schedule_receive(s, (int)from, nothing);
        weft_schedule_send(s, (int)to, nothing);
        weft_schedule_fence(s);
    }
}

void weft_build_assembly(struct weft_schedule *s)
{
    struct weft_elements nothing = weft_schedule_buffer(s, 0);
    struct weft_tree tree = weft_tree_of(s->size, 2, s->rank);
    for (int i = 0; i < tree.children; i++)
        weft_schedule_receive(s, (int)weft_tree_child(&tree, i).vrank, nothing);
    weft_schedule_fence(s);
    if (tree.parent >= 0)
        weft_schedule_send(s, (int)tree.parent, nothing);
}
