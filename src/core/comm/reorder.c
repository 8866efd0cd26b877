// SPDX-License-Identifier: BSD-3-Clause
/*
 * The order of processes in topologies: see reorder.h.
 */
#include "core/comm/reorder.h"

#include "core/base/memory.h"
#include "core/comm/hardware.h"
#include "core/comm/nodes.h"
#include "core/message/process.h"

#include <stdlib.h>

/* Sorts the ranks of one node by the core they are bound to (core[rank]), unless a rank is bound to
 * no core. The sort is stable. */
static void by_core(int *ranks, int n, const int32_t *core)
{
    for (int i = 0; i < n; i++)
        if (core[ranks[i]] < 0)
            return;
    for (int i = 1; i < n; i++) {
        int rank = ranks[i], at = i;
        for (; at > 0 && core[ranks[at - 1]] > core[rank]; at--)
            ranks[at] = ranks[at - 1];
        ranks[at] = rank;
    }
}

/* core: by rank; NULL: the cores do not count. */
static int *find_order(const struct weft_comm *over, const int32_t *core)
{
    const struct weft_nodes *nodes = weft_nodes_of(over->group);
    int *order = weft_memory_get((size_t)over->size, sizeof *order, "an order of processes");
    int in_place = 0;
    for (int i = 0; i < over->size; i++)
        order[i] = nodes ? nodes->order[i] : i;
    if (core && !nodes && weft.job.one_node)
        by_core(order, over->size, core);
    for (int i = 0; core && nodes && i < nodes->count; i++)
        by_core(order + nodes->begin[i], nodes->begin[i + 1] - nodes->begin[i], core);
    while (in_place < over->size && order[in_place] == in_place)
        in_place++;
    if (in_place < over->size)
        return order;
    free(order);
    return NULL;
}

int weft_reorder_find(struct weft_comm *over, int **order)
{
    int32_t mine = weft_hardware_core();
    int32_t *core = weft_memory_get((size_t)over->size, sizeof *core, "the cores of processes");
    int code = weft_comm_collectives.allgather(over, weft_elements_of_bytes(&mine, sizeof mine),
                                               weft_elements_of_bytes(core, sizeof mine));
    *order = code == MPI_SUCCESS ? find_order(over, core) : NULL;
    free(core);
    return code;
}

int *weft_reorder_by_node(const struct weft_comm *over)
{
    return find_order(over, NULL);
}

/* The total weight of the edges between two nodes if positions are taken in an order (NULL: by
 * rank). */
static int64_t crossings_in(const struct weft_comm *over, const int *order,
                            const struct weft_edge *edges, int n)
{
    const struct weft_nodes *nodes = weft_nodes_of(over->group);
    int64_t crossings = 0;
    for (int i = 0; nodes && i < n; i++) {
        int from = order ? order[edges[i].from] : edges[i].from;
        int to = order ? order[edges[i].to] : edges[i].to;
        crossings += nodes->node[from] != nodes->node[to] ? edges[i].weight : 0;
    }
    return crossings;
}

int *weft_reorder_graph_by_node(const struct weft_comm *over, const struct weft_edge *edges, int n)
{
    int *order = weft_reorder_by_node(over);
    if (!order || crossings_in(over, order, edges, n) < crossings_in(over, NULL, edges, n))
        return order;
    free(order);
    return NULL;
}

int weft_reorder_graph(struct weft_comm *over, const struct weft_edge *edges, int n, int **order)
{
    int code = weft_reorder_find(over, order);
    if (code != MPI_SUCCESS || !*order)
        return code;
    int64_t crossings[] = {crossings_in(over, NULL, edges, n),
                           crossings_in(over, *order, edges, n)};
    struct weft_elements both = {crossings, 2, weft_handle_object(MPI_INT64_T)};
    code = weft_comm_collectives.allreduce(over, both, crossings, weft_handle_object(MPI_SUM));
    if (code != MPI_SUCCESS || crossings[1] >= crossings[0]) {
        free(*order);
        *order = NULL;
    }
    return code;
}

int weft_reorder_rank_of(const int *order, int rank)
{
    int location = 0;
    while (order && order[location] != rank)
        location++;
    return order ? location : rank;
}
