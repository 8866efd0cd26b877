// SPDX-License-Identifier: BSD-3-Clause
/*
 * Topologies (MPI 5.0 chapter 8): what is known about who talks to whom on a communicator.
 *
 * Grids and graphs may be told to reorder ranks (core/comm/reorder.h): grids take what is near one behind
 * the other, graphs do where fewer edges (by weight) then lead from node to node.
 *
 * Invariants:
 *  - A topology never changes; copies of a communicator share it by reference.
 *  - Of a Cartesian or a graph topology every process knows all, of a distributed graph its own
 *    edges.
 */
#ifndef WEFT_TOPOLOGY_H
#define WEFT_TOPOLOGY_H

#include "core/comm/comm.h"

struct weft_topology {
    int refs;
    int kind; /* MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH */
    union {
        struct {
            int ndims, *dims, *periods;
        } cart;
        struct {
            int nnodes, nedges, *index, *edges;
        } graph;
        struct {
            int in, out, *sources, *destinations;
            int *source_weights, *destination_weights; /* NULL: unweighted */
        } dist;
    };
    int data[]; /* what the pointers point to */
};

/* One more reference (NULL stays NULL); one less. */
struct weft_topology *weft_topology_keep(struct weft_topology *topology);
void weft_topology_release(struct weft_topology *topology);

/* New ones, with copies of what is passed. NULL when memory is short, the sentence said. */
struct weft_topology *weft_topology_cart(int ndims, const int *dims, const int *periods);
struct weft_topology *weft_topology_graph(int nnodes, const int *index, const int *edges);
struct weft_topology *weft_topology_dist(int in, const int *sources, const int *source_weights,
                                         int out, const int *destinations,
                                         const int *destination_weights);

/* A distributed graph of these degrees whose lists, at `data`, are still to be filled in: sources,
 * destinations, and the weights of both, for which there is room also where it has none. */
struct weft_topology *weft_topology_dist_empty(int in, bool sources_weighted, int out,
                                               bool destinations_weighted);

/* Of a Cartesian topology: processes in the grid; a rank's coordinates; the rank of coordinates, -1
 * for ones outside of a dimension that is not periodic. */
int weft_cart_size(int ndims, const int *dims);
void weft_cart_coordinates(const struct weft_topology *cart, int rank, int *coordinates);
int weft_cart_rank(const struct weft_topology *cart, const int *coordinates);

/* The ranks that are `displacement` before and after a rank in a dimension, or MPI_PROC_NULL. */
void weft_cart_shift(const struct weft_topology *cart, int rank, int dimension, int displacement,
                     int *source, int *destination);

/* Of a graph: the number and the list of a rank's neighbours. */
int weft_graph_neighbours(const struct weft_topology *graph, int rank, const int **neighbours);

/* How many neighbours a communicator's process has in neighbourhood collectives, and which, in the
 * order of the standard (8.6); MPI_PROC_NULL stands where there is none. The communicator has a
 * topology. sources and destinations have room for them. */
void weft_topology_degrees(const struct weft_comm *comm, int *in, int *out);
void weft_topology_neighbours(const struct weft_comm *comm, int *sources, int *destinations);

/* Makes a communicator of the first `size` processes of `over` in an order (NULL: theirs), with a topology whose reference it
 * takes (NULL: this process has failed to make it, the sentence said). *out is NULL for the other
 * processes. Returns an MPI error class, the sentence said. */
int weft_topology_attach(struct weft_comm *over, const int *order, int size,
                         struct weft_topology *topology, struct weft_comm **out);

/* Factors nnodes into the dims that are 0, as close to each other as they can be, in decreasing
 * order. MPI_ERR_DIMS when that cannot be, the sentence said. */
int weft_dims_create(int nnodes, int ndims, int *dims);

#endif
