// SPDX-License-Identifier: BSD-3-Clause
/*
 * The order of the processes in a topology with reorder = true: the processes of a node follow one
 * another, within a node in the order of the cores they are bound to.
 *
 * Invariant: every process of the communicator computes the same order.
 */
#ifndef WEFT_REORDER_H
#define WEFT_REORDER_H

#include "core/comm/comm.h"

/* An edge of a graph between two positions; its weight is 1 in a graph without weights. */
struct weft_edge {
    int from, to, weight;
};

/* Computes the order: (*order)[position] is a rank of `over`, for the caller to free; NULL if each
 * position is its rank. Collective over `over`. Returns an MPI error class, with its sentence set.
 */
int weft_reorder_find(struct weft_comm *over, int **order);

/* The order by nodes, which a process can compute alone: the ranks of a node follow one another in
 * the order of their ranks. */
int *weft_reorder_by_node(const struct weft_comm *over);

/* The same for a graph, of which each process passes all edges. */
int *weft_reorder_graph_by_node(const struct weft_comm *over, const struct weft_edge *edges, int n);

/* weft_reorder_find for a graph, of which each process passes some edges: the order is used only if
 * it makes the total weight of the edges between nodes smaller. */
int weft_reorder_graph(struct weft_comm *over, const struct weft_edge *edges, int n, int **order);

/* The position of a rank in an order (NULL: the rank). */
int weft_reorder_rank_of(const int *order, int rank);

#endif
