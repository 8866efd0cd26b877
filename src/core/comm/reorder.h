// SPDX-License-Identifier: BSD-3-Clause
/*
 * In which order a topology takes the processes of a communicator when it may choose: those of a node
 * one behind the other, and within a node by the core they are bound to.
 *
 * Invariant: every process of the communicator gets the same order.
 */
#ifndef WEFT_REORDER_H
#define WEFT_REORDER_H

#include "core/comm/comm.h"

/* An edge of a graph, between places; its weight is 1 in a graph without weights. */
struct weft_edge {
    int from, to, weight;
};

/* Finds the order: order[place] is a rank of `over`, and *order is NULL when places are ranks. The
 * caller frees it. Collective over `over`. Returns an MPI error class, the sentence said. */
int weft_reorder_find(struct weft_comm *over, int **order);

/* The weight of those of n edges that lead from one node to another when places are taken in an order
 * (NULL: that of ranks). */
int64_t weft_reorder_crossings(const struct weft_comm *over, const int *order,
                               const struct weft_edge *edges, int n);

/* The place of a rank in an order, or the rank. */
int weft_reorder_place(const int *order, int rank);

#endif
