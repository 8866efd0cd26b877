// SPDX-License-Identifier: BSD-3-Clause
/*
 * Cartesian and graph topologies (MPI 5.0 sections 8.5.1 to 8.5.3 and 8.5.5 to 8.5.8): what their
 * entry points check and do beside abi/entry_points.txt.
 *
 * Invariants:
 *  - Arguments are checked before anything is sent; they have to be the same everywhere.
 *  - The maps send nothing, because they are local (8.5.8); the cores of other processes, which
 *    only a message brings, are not used.
 */
#include "core/comm/comm_make.h"
#include "core/comm/reorder.h"
#include "core/comm/topology.h"
#include "core/mpi/entry.h"
#include "core/base/memory.h"

#include <stdlib.h>
#include <string.h>

static int null_array(const char *what)
{
    return weft_error_set(MPI_ERR_ARG, "the array of %s is null", what);
}

/* The position of this process in an order, which is freed. */
static void find_new_rank(struct weft_comm *comm, int *order, int positions, int *newrank)
{
    int location = weft_reorder_rank_of(order, comm->rank);
    *newrank = location < positions ? location : MPI_UNDEFINED;
    free(order);
}

/* ---- Grids */

int weft_mpi_dims_create(int nnodes, int ndims, int dims[])
{
    if (nnodes < 1)
        return weft_error_set(MPI_ERR_ARG, "the number of processes, %d, is not positive", nnodes);
    if (ndims < 0)
        return weft_error_set(MPI_ERR_DIMS, "the number of dimensions, %d, is negative", ndims);
    if (ndims == 0)
        return MPI_SUCCESS;
    return dims ? weft_dims_create(nnodes, ndims, dims) : null_array("dimensions");
}

int weft_mpi_check_grid(struct weft_comm *comm, int ndims, const int *dims, const int *periods)
{
    if (ndims < 0)
        return weft_error_set(MPI_ERR_DIMS, "the number of dimensions, %d, is negative", ndims);
    if (ndims > 0 && (!dims || !periods))
        return null_array(dims ? "periods" : "dimensions");
    for (int i = 0; i < ndims; i++)
        if (dims[i] < 1)
            return weft_error_set(MPI_ERR_DIMS, "dimension %d is %d, which is not positive", i,
                                  dims[i]);
    int needed = weft_cart_size(ndims, dims);
    if (needed > comm->size)
        return weft_error_set(MPI_ERR_DIMS,
                              "the grid has %d places, but the communicator only %d processes",
                              needed, comm->size);
    return MPI_SUCCESS;
}

int weft_mpi_cart_create(struct weft_comm *comm, int ndims, const int *dims, const int *periods,
                         int reorder, struct weft_comm **made)
{
    int *order = NULL;
    int code = reorder ? weft_comm_begin(comm, MPI_SUCCESS) : MPI_SUCCESS;
    if (code == MPI_SUCCESS && reorder)
        code = weft_reorder_find(comm, &order);
    if (code != MPI_SUCCESS)
        return code;
    return weft_topology_attach(comm, order, weft_cart_size(ndims, dims),
                                weft_topology_cart(ndims, dims, periods), made);
}

void weft_mpi_cart_map(struct weft_comm *comm, int ndims, const int *dims, int *newrank)
{
    find_new_rank(comm, weft_reorder_by_node(comm), weft_cart_size(ndims, dims), newrank);
}

int weft_mpi_cart_get(struct weft_comm *comm, int maxdims, int dims[], int periods[], int coords[])
{
    const struct weft_topology *cart = comm->topology;
    int n = cart->cart.ndims;
    if (maxdims < n)
        return weft_error_set(MPI_ERR_ARG, "there is room for %d dimensions; the grid has %d",
                              maxdims, n);
    if (n > 0 && (!dims || !periods || !coords))
        return null_array(!dims ? "dimensions" : !periods ? "periods" : "coordinates");
    for (int i = 0; i < n; i++) {
        dims[i] = cart->cart.dims[i];
        periods[i] = cart->cart.periods[i];
    }
    weft_cart_coordinates(cart, comm->rank, coords);
    return MPI_SUCCESS;
}

int weft_mpi_cart_rank(struct weft_comm *comm, const int *coords, int *rank)
{
    const struct weft_topology *cart = comm->topology;
    if (!rank || (cart->cart.ndims > 0 && !coords))
        return null_array(rank ? "coordinates" : "ranks");
    for (int i = 0; i < cart->cart.ndims; i++)
        if (!cart->cart.periods[i] && (coords[i] < 0 || coords[i] >= cart->cart.dims[i]))
            return weft_error_set(MPI_ERR_ARG,
                                  "coordinate %d is %d, outside of its dimension of %d, which is "
                                  "not periodic",
                                  i, coords[i], cart->cart.dims[i]);
    *rank = weft_cart_rank(cart, coords);
    return MPI_SUCCESS;
}

int weft_mpi_cart_coords(struct weft_comm *comm, int rank, int maxdims, int coords[])
{
    int n = comm->topology->cart.ndims;
    int code = weft_arg_rank(rank, comm);
    if (code != MPI_SUCCESS)
        return code;
    if (maxdims < n)
        return weft_error_set(MPI_ERR_ARG, "there is room for %d coordinates; the grid has %d",
                              maxdims, n);
    if (n > 0 && !coords)
        return null_array("coordinates");
    weft_cart_coordinates(comm->topology, rank, coords);
    return MPI_SUCCESS;
}

int weft_mpi_check_dimension(struct weft_comm *comm, int direction)
{
    if (direction >= 0 && direction < comm->topology->cart.ndims)
        return MPI_SUCCESS;
    return weft_error_set(MPI_ERR_ARG, "there is no dimension %d; the grid has %d", direction,
                          comm->topology->cart.ndims);
}

int weft_mpi_check_remain(struct weft_comm *comm, const int *remain)
{
    return comm->topology->cart.ndims > 0 && !remain ? null_array("dimensions") : MPI_SUCCESS;
}

/* A grid of the dimensions that remain, for the processes with equal coordinates in all others. */
int weft_mpi_cart_sub(struct weft_comm *comm, const int *remain, struct weft_comm **out)
{
    const struct weft_topology *cart = comm->topology;
    int n = cart->cart.ndims, kept = 0, color = 0;
    int *numbers = weft_memory_get(3 * (size_t)n, sizeof *numbers, "a grid");
    int *dims = numbers, *periods = numbers + n, *coords = numbers + 2 * n;
    weft_cart_coordinates(cart, comm->rank, coords);
    for (int i = 0; i < n; i++) {
        if (!remain[i]) {
            color = color * cart->cart.dims[i] + coords[i];
            continue;
        }
        dims[kept] = cart->cart.dims[i];
        periods[kept++] = cart->cart.periods[i];
    }
    int code = weft_comm_split(comm, color, comm->rank, out);
    if (*out)
        (*out)->topology = weft_topology_cart(kept, dims, periods);
    free(numbers);
    return code;
}

/* ---- Graphs */

int weft_mpi_check_graph(struct weft_comm *comm, int nnodes, const int *index, const int *edges)
{
    if (nnodes < 0 || nnodes > comm->size)
        return weft_error_set(MPI_ERR_ARG,
                              "the graph has %d nodes, but the communicator has %d processes",
                              nnodes, comm->size);
    if (nnodes > 0 && (!index || (index[nnodes - 1] > 0 && !edges)))
        return null_array(index ? "edges" : "degrees");
    for (int i = 0; i < nnodes; i++)
        if (index[i] < (i ? index[i - 1] : 0))
            return weft_error_set(MPI_ERR_ARG,
                                  "entry %d of the index, %d, is less than the one "
                                  "before",
                                  i, index[i]);
    for (int i = 0; nnodes && i < index[nnodes - 1]; i++)
        if (edges[i] < 0 || edges[i] >= nnodes)
            return weft_error_set(MPI_ERR_ARG,
                                  "edge %d leads to node %d; the graph has nodes 0 to %d", i,
                                  edges[i], nnodes - 1);
    return MPI_SUCCESS;
}

/* The edges of the nodes from `node` to `end`, for the caller to free. */
static struct weft_edge *edges_of(int node, int end, const int *index, const int *edges, int *n)
{
    int first = node > 0 && node < end ? index[node - 1] : 0, i = first;
    *n = node < end ? index[end - 1] - first : 0;
    struct weft_edge *list = weft_memory_get((size_t)*n, sizeof *list, "the edges of a graph");
    for (; node < end; node++)
        for (; i < index[node]; i++)
            list[i - first] = (struct weft_edge){node, edges[i], 1};
    return list;
}

/* The order for a graph, of which this process passes the edges of its own node. */
static int order_graph(struct weft_comm *over, int nnodes, const int *index, const int *edges,
                       int **order)
{
    int n, node = over->rank;
    struct weft_edge *list = edges_of(node, node < nnodes ? node + 1 : node, index, edges, &n);
    int code = weft_reorder_graph(over, list, n, order);
    free(list);
    return code;
}

int weft_mpi_graph_create(struct weft_comm *comm, int nnodes, const int *index, const int *edges,
                          int reorder, struct weft_comm **made)
{
    int *order = NULL;
    int code = reorder ? weft_comm_begin(comm, MPI_SUCCESS) : MPI_SUCCESS;
    if (code == MPI_SUCCESS && reorder)
        code = order_graph(comm, nnodes, index, edges, &order);
    if (code != MPI_SUCCESS)
        return code;
    return weft_topology_attach(comm, order, nnodes, weft_topology_graph(nnodes, index, edges),
                                made);
}

void weft_mpi_graph_map(struct weft_comm *comm, int nnodes, const int *index, const int *edges,
                        int *newrank)
{
    int n;
    struct weft_edge *list = edges_of(0, nnodes, index, edges, &n);
    find_new_rank(comm, weft_reorder_graph_by_node(comm, list, n), nnodes, newrank);
    free(list);
}

int weft_mpi_graph_get(struct weft_comm *comm, int maxindex, int maxedges, int index[], int edges[])
{
    const struct weft_topology *graph = comm->topology;
    int nodes = graph->graph.nnodes, all = graph->graph.nedges;
    if (maxindex < nodes || maxedges < all)
        return weft_error_set(MPI_ERR_ARG,
                              "there is room for %d nodes and %d edges; the graph has %d and %d",
                              maxindex, maxedges, nodes, all);
    if ((nodes > 0 && !index) || (all > 0 && !edges))
        return null_array(index ? "edges" : "degrees");
    memcpy(index, graph->graph.index, (size_t)nodes * sizeof *index);
    if (all > 0)
        memcpy(edges, graph->graph.edges, (size_t)all * sizeof *edges);
    return MPI_SUCCESS;
}

static int check_node(const struct weft_comm *comm, int rank)
{
    if (rank >= 0 && rank < comm->topology->graph.nnodes)
        return MPI_SUCCESS;
    return weft_error_set(MPI_ERR_RANK, "rank %d is not in the graph, which has %d nodes", rank,
                          comm->topology->graph.nnodes);
}

int weft_mpi_graph_neighbors_count(struct weft_comm *comm, int rank, int *nneighbors)
{
    const int *list;
    int code = check_node(comm, rank);
    if (code == MPI_SUCCESS)
        *nneighbors = weft_graph_neighbours(comm->topology, rank, &list);
    return code;
}

int weft_mpi_graph_neighbors(struct weft_comm *comm, int rank, int maxneighbors, int neighbors[])
{
    const int *list;
    int code = check_node(comm, rank);
    if (code != MPI_SUCCESS)
        return code;
    int n = weft_graph_neighbours(comm->topology, rank, &list);
    if (maxneighbors < n)
        return weft_error_set(MPI_ERR_ARG, "there is room for %d neighbours; rank %d has %d",
                              maxneighbors, rank, n);
    if (n > 0 && !neighbors)
        return null_array("neighbours");
    if (n > 0)
        memcpy(neighbors, list, (size_t)n * sizeof *neighbors);
    return MPI_SUCCESS;
}
