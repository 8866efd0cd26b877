// SPDX-License-Identifier: BSD-3-Clause
/*
 * Topologies (MPI 5.0 chapter 8): Cartesian grids, graphs and distributed graphs.
 *
 * With reorder = true a grid takes the order of core/comm/reorder.h; a graph takes it if the total
 * weight of the edges between nodes gets smaller.
 *
 * Invariants:
 *  - A topology never changes; copies of a communicator share it by reference.
 *  - Every process stores a Cartesian or graph topology completely, and its own edges of a
 *    distributed graph.
 *
 * Functions that return an MPI error class have set the error sentence.
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
    int data[]; /* the pointers point here */
};

/* Adds a reference, and returns the topology; drops one. NULL is allowed. */
struct weft_topology *weft_topology_keep(struct weft_topology *topology);
void weft_topology_release(struct weft_topology *topology);

/* New topologies, with copies of the arrays passed. */
struct weft_topology *weft_topology_cart(int ndims, const int *dims, const int *periods);
struct weft_topology *weft_topology_graph(int nnodes, const int *index, const int *edges);

/* A distributed graph of these degrees. The caller fills the arrays at `data`: sources,
 * destinations, and the weights of both, for which there is space also in an unweighted graph. */
struct weft_topology *weft_topology_dist(int in, bool sources_weighted, int out,
                                         bool destinations_weighted);

/* For a Cartesian topology: the number of processes; a rank's coordinates; the rank of coordinates,
 * or -1 outside of a non-periodic dimension. */
int weft_cart_size(int ndims, const int *dims);
void weft_cart_coordinates(const struct weft_topology *cart, int rank, int *coordinates);
int weft_cart_rank(const struct weft_topology *cart, const int *coordinates);

/* The ranks at distance `displacement` before and after a rank in a dimension, or MPI_PROC_NULL. */
void weft_cart_shift(const struct weft_topology *cart, int rank, int dimension, int displacement,
                     int *source, int *destination);

/* The number and the list of a rank's neighbours in a graph. */
int weft_graph_neighbours(const struct weft_topology *graph, int rank, const int **neighbours);

/* The numbers of this process's neighbours in neighbourhood collectives, and the neighbours in the
 * order of the standard (8.6), MPI_PROC_NULL where a grid has none. The communicator has a
 * topology. */
void weft_topology_degrees(const struct weft_comm *comm, int *in, int *out);
void weft_topology_neighbours(const struct weft_comm *comm, int *sources, int *destinations);

/* Makes a communicator with a topology out of the first `size` processes of `over` in an order
 * (NULL: by rank). Takes over the order and the reference to the topology. *out is NULL in the
 * other processes. Returns an MPI error class. */
int weft_topology_attach(struct weft_comm *over, int *order, int size,
                         struct weft_topology *topology, struct weft_comm **out);

/* Sets the dims that are 0 to factors of nnodes, as close to each other as possible, in decreasing
 * order. MPI_ERR_DIMS if the other dims do not divide nnodes. */
int weft_dims_create(int nnodes, int ndims, int *dims);

#endif
