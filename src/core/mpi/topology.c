// SPDX-License-Identifier: BSD-3-Clause
/*
 * Cartesian and graph topologies (MPI 5.0 sections 8.5.1 to 8.5.3 and 8.5.5 to 8.5.8).
 *
 * Invariant: arguments are checked before anything is sent; they have to be the same everywhere.
 */
#include "core/mpi/api.h"
#include "core/mpi/enter.h"
#include "core/comm/comm_make.h"
#include "core/object/error.h"
#include "core/comm/reorder.h"
#include "core/comm/topology.h"
#include "core/process/weft.h"

#include <stdlib.h>
#include <string.h>

static int hand_out(struct weft_comm *over, int code, struct weft_comm *made, MPI_Comm *out,
                    const char *function)
{
    *out = made ? made->handle : MPI_COMM_NULL;
    return weft_leave_with(over, code, function);
}

/* Enters with a communicator that has a certain topology (0: any). NULL: *code is to be returned. */
static struct weft_comm *enter_with(const char *function, MPI_Comm handle, int kind, int *code)
{
    struct weft_comm *comm = weft_enter_comm(function, handle, code);
    if (!comm || (comm->topology && (!kind || comm->topology->kind == kind)))
        return comm;
    *code = weft_error(comm, MPI_ERR_TOPOLOGY, function, "the communicator has no %stopology",
                       kind == MPI_CART    ? "Cartesian "
                       : kind == MPI_GRAPH ? "graph "
                                           : "distributed graph ");
    weft_leave();
    return NULL;
}

static int null_array(const char *what)
{
    return weft_error_set(MPI_ERR_ARG, "the array of %s is null", what);
}

WEFT_EXPORT(Topo_test);
int PMPI_Topo_test(MPI_Comm handle, int *status)
{
    const char *function = "MPI_Topo_test";
    int code;
    struct weft_comm *comm = weft_enter_comm(function, handle, &code);
    if (!comm)
        return code;
    if (status)
        *status = comm->topology ? comm->topology->kind : MPI_UNDEFINED;
    else
        code = weft_call_no_result(comm, function, "status");
    weft_leave();
    return code;
}

/* ---- Grids */

WEFT_EXPORT(Dims_create);
int PMPI_Dims_create(int nnodes, int ndims, int dims[])
{
    const char *function = "MPI_Dims_create";
    int code = weft_enter(function);
    if (code)
        return code;
    if (nnodes < 1 || ndims < 0)
        code = weft_error_set(nnodes < 1 ? MPI_ERR_ARG : MPI_ERR_DIMS,
                              nnodes < 1 ? "the number of processes, %d, is not positive"
                                         : "the number of dimensions, %d, is negative",
                              nnodes < 1 ? nnodes : ndims);
    else if (ndims > 0)
        code = dims ? weft_dims_create(nnodes, ndims, dims) : null_array("dimensions");
    return weft_leave_with(NULL, code, function);
}

static int check_grid(int ndims, const int *dims, const int *periods, int size)
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
    if (needed > size)
        return weft_error_set(MPI_ERR_DIMS,
                              "the grid has %d places, but the communicator only %d processes",
                              needed, size);
    return MPI_SUCCESS;
}

WEFT_EXPORT(Cart_create);
int PMPI_Cart_create(MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder,
                     MPI_Comm *newcomm)
{
    const char *function = "MPI_Cart_create";
    int code;
    struct weft_comm *over = weft_enter_intra(function, comm, &code), *made = NULL;
    if (!over)
        return code;
    code = newcomm ? check_grid(ndims, dims, periods, over->size)
                   : weft_error_set(MPI_ERR_ARG, "the pointer to the new communicator is null");
    int *order = NULL;
    if (code == MPI_SUCCESS && reorder)
        code = weft_reorder_find(over, &order);
    if (code == MPI_SUCCESS)
        code = weft_topology_attach(over, order, weft_cart_size(ndims, dims),
                                    weft_topology_cart(ndims, dims, periods), &made);
    free(order);
    return hand_out(over, code, made, newcomm, function);
}

WEFT_EXPORT(Cart_map);
int PMPI_Cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank)
{
    const char *function = "MPI_Cart_map";
    int code;
    struct weft_comm *over = weft_enter_intra(function, comm, &code);
    if (!over)
        return code;
    code = newrank ? check_grid(ndims, dims, periods, over->size)
                   : weft_error_set(MPI_ERR_ARG, "the pointer to the rank is null");
    int *order = NULL;
    if (code == MPI_SUCCESS)
        code = weft_reorder_find(over, &order);
    if (code == MPI_SUCCESS) {
        int place = weft_reorder_place(order, over->rank);
        *newrank = place < weft_cart_size(ndims, dims) ? place : MPI_UNDEFINED;
    }
    free(order);
    return weft_leave_with(over, code, function);
}

WEFT_EXPORT(Cartdim_get);
int PMPI_Cartdim_get(MPI_Comm handle, int *ndims)
{
    const char *function = "MPI_Cartdim_get";
    int code;
    struct weft_comm *comm = enter_with(function, handle, MPI_CART, &code);
    if (!comm)
        return code;
    if (ndims)
        *ndims = comm->topology->cart.ndims;
    else
        code = weft_call_no_result(comm, function, "number of dimensions");
    weft_leave();
    return code;
}

WEFT_EXPORT(Cart_get);
int PMPI_Cart_get(MPI_Comm handle, int maxdims, int dims[], int periods[], int coords[])
{
    const char *function = "MPI_Cart_get";
    int code;
    struct weft_comm *comm = enter_with(function, handle, MPI_CART, &code);
    if (!comm)
        return code;
    const struct weft_topology *cart = comm->topology;
    int n = cart->cart.ndims;
    if (maxdims < n) {
        code = weft_error_set(MPI_ERR_ARG, "there is room for %d dimensions; the grid has %d",
                              maxdims, n);
    } else if (n > 0 && (!dims || !periods || !coords)) {
        code = null_array(!dims ? "dimensions" : !periods ? "periods" : "coordinates");
    } else {
        for (int i = 0; i < n; i++) {
            dims[i] = cart->cart.dims[i];
            periods[i] = cart->cart.periods[i];
        }
        weft_cart_coordinates(cart, comm->rank, coords);
    }
    return weft_leave_with(comm, code, function);
}

WEFT_EXPORT(Cart_rank);
int PMPI_Cart_rank(MPI_Comm handle, const int coords[], int *rank)
{
    const char *function = "MPI_Cart_rank";
    int code;
    struct weft_comm *comm = enter_with(function, handle, MPI_CART, &code);
    if (!comm)
        return code;
    const struct weft_topology *cart = comm->topology;
    if (!rank || (cart->cart.ndims > 0 && !coords))
        code = null_array(rank ? "coordinates" : "ranks");
    for (int i = 0; i < cart->cart.ndims && code == MPI_SUCCESS; i++)
        if (!cart->cart.periods[i] && (coords[i] < 0 || coords[i] >= cart->cart.dims[i]))
            code = weft_error_set(MPI_ERR_ARG,
                                  "coordinate %d is %d, outside of its dimension of %d, which is "
                                  "not periodic",
                                  i, coords[i], cart->cart.dims[i]);
    if (code == MPI_SUCCESS)
        *rank = weft_cart_rank(cart, coords);
    return weft_leave_with(comm, code, function);
}

WEFT_EXPORT(Cart_coords);
int PMPI_Cart_coords(MPI_Comm handle, int rank, int maxdims, int coords[])
{
    const char *function = "MPI_Cart_coords";
    int code;
    struct weft_comm *comm = enter_with(function, handle, MPI_CART, &code);
    if (!comm)
        return code;
    int n = comm->topology->cart.ndims;
    if (rank < 0 || rank >= comm->size)
        code = weft_error_set(MPI_ERR_RANK,
                              "rank %d is not in the communicator, which has ranks 0 to %d", rank,
                              comm->size - 1);
    else if (maxdims < n)
        code = weft_error_set(MPI_ERR_ARG, "there is room for %d coordinates; the grid has %d",
                              maxdims, n);
    else if (n > 0 && !coords)
        code = null_array("coordinates");
    else
        weft_cart_coordinates(comm->topology, rank, coords);
    return weft_leave_with(comm, code, function);
}

WEFT_EXPORT(Cart_shift);
int PMPI_Cart_shift(MPI_Comm handle, int direction, int disp, int *source, int *dest)
{
    const char *function = "MPI_Cart_shift";
    int code;
    struct weft_comm *comm = enter_with(function, handle, MPI_CART, &code);
    if (!comm)
        return code;
    if (direction < 0 || direction >= comm->topology->cart.ndims)
        code = weft_error_set(MPI_ERR_ARG, "there is no dimension %d; the grid has %d", direction,
                              comm->topology->cart.ndims);
    else if (!source || !dest)
        code = weft_error_set(MPI_ERR_ARG, "the pointer to the %s is null",
                              source ? "destination" : "source");
    else
        weft_cart_shift(comm->topology, comm->rank, direction, disp, source, dest);
    return weft_leave_with(comm, code, function);
}

/* A grid of the dimensions that remain, for those who agree in all others. */
static int cart_sub(struct weft_comm *comm, const int *remain, struct weft_comm **out)
{
    const struct weft_topology *cart = comm->topology;
    int n = cart->cart.ndims, kept = 0, color = 0;
    int *numbers = malloc((3 * (size_t)n + 1) * sizeof *numbers);
    if (!numbers)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for a grid of %d dimensions", n);
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
    if (*out && !((*out)->topology = weft_topology_cart(kept, dims, periods)))
        code = MPI_ERR_NO_MEM;
    free(numbers);
    return code;
}

WEFT_EXPORT(Cart_sub);
int PMPI_Cart_sub(MPI_Comm handle, const int remain_dims[], MPI_Comm *newcomm)
{
    const char *function = "MPI_Cart_sub";
    int code;
    struct weft_comm *comm = enter_with(function, handle, MPI_CART, &code), *made = NULL;
    if (!comm)
        return code;
    if (!newcomm || (comm->topology->cart.ndims > 0 && !remain_dims)) {
        code = null_array(newcomm ? "dimensions" : "new communicators");
        return weft_leave_with(comm, code, function);
    }
    code = cart_sub(comm, remain_dims, &made);
    return hand_out(comm, code, made, newcomm, function);
}

/* ---- Graphs */

static int check_graph(int nnodes, const int *index, const int *edges, int size)
{
    if (nnodes < 0 || nnodes > size)
        return weft_error_set(MPI_ERR_ARG,
                              "the graph has %d nodes, but the communicator has %d processes",
                              nnodes, size);
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
            return weft_error_set(MPI_ERR_ARG, "edge %d leads to %d, which is no node of %d", i,
                                  edges[i], nnodes);
    return MPI_SUCCESS;
}

/* An order in which fewer edges lead from node to node than in that of ranks; *order is NULL where
 * there is none. */
static int order_graph(struct weft_comm *over, int nnodes, const int *index, const int *edges,
                       int **order)
{
    int n = nnodes ? index[nnodes - 1] : 0;
    int code = weft_reorder_find(over, order);
    if (code != MPI_SUCCESS || !*order)
        return code;
    struct weft_edge *list = malloc(((size_t)n + 1) * sizeof *list);
    if (!list)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for %d edges of a graph", n);
    for (int node = 0, i = 0; node < nnodes; node++)
        for (; i < index[node]; i++)
            list[i] = (struct weft_edge){node, edges[i], 1};
    if (weft_reorder_crossings(over, *order, list, n) >=
        weft_reorder_crossings(over, NULL, list, n)) {
        free(*order);
        *order = NULL;
    }
    free(list);
    return MPI_SUCCESS;
}

WEFT_EXPORT(Graph_create);
int PMPI_Graph_create(MPI_Comm comm, int nnodes, const int index[], const int edges[], int reorder,
                      MPI_Comm *newcomm)
{
    const char *function = "MPI_Graph_create";
    int code;
    struct weft_comm *over = weft_enter_intra(function, comm, &code), *made = NULL;
    if (!over)
        return code;
    code = newcomm ? check_graph(nnodes, index, edges, over->size)
                   : weft_error_set(MPI_ERR_ARG, "the pointer to the new communicator is null");
    int *order = NULL;
    if (code == MPI_SUCCESS && reorder)
        code = order_graph(over, nnodes, index, edges, &order);
    if (code == MPI_SUCCESS)
        code = weft_topology_attach(over, order, nnodes, weft_topology_graph(nnodes, index, edges),
                                    &made);
    free(order);
    return hand_out(over, code, made, newcomm, function);
}

WEFT_EXPORT(Graph_map);
int PMPI_Graph_map(MPI_Comm comm, int nnodes, const int index[], const int edges[], int *newrank)
{
    const char *function = "MPI_Graph_map";
    int code;
    struct weft_comm *over = weft_enter_intra(function, comm, &code);
    if (!over)
        return code;
    code = newrank ? check_graph(nnodes, index, edges, over->size)
                   : weft_error_set(MPI_ERR_ARG, "the pointer to the rank is null");
    int *order = NULL;
    if (code == MPI_SUCCESS)
        code = order_graph(over, nnodes, index, edges, &order);
    if (code == MPI_SUCCESS) {
        int place = weft_reorder_place(order, over->rank);
        *newrank = place < nnodes ? place : MPI_UNDEFINED;
    }
    free(order);
    return weft_leave_with(over, code, function);
}

WEFT_EXPORT(Graphdims_get);
int PMPI_Graphdims_get(MPI_Comm handle, int *nnodes, int *nedges)
{
    const char *function = "MPI_Graphdims_get";
    int code;
    struct weft_comm *comm = enter_with(function, handle, MPI_GRAPH, &code);
    if (!comm)
        return code;
    if (nnodes && nedges) {
        *nnodes = comm->topology->graph.nnodes;
        *nedges = comm->topology->graph.nedges;
    } else {
        code = weft_call_no_result(comm, function, nnodes ? "number of edges" : "number of nodes");
    }
    weft_leave();
    return code;
}

WEFT_EXPORT(Graph_get);
int PMPI_Graph_get(MPI_Comm handle, int maxindex, int maxedges, int index[], int edges[])
{
    const char *function = "MPI_Graph_get";
    int code;
    struct weft_comm *comm = enter_with(function, handle, MPI_GRAPH, &code);
    if (!comm)
        return code;
    const struct weft_topology *graph = comm->topology;
    int nodes = graph->graph.nnodes, all = graph->graph.nedges;
    if (maxindex < nodes || maxedges < all)
        code = weft_error_set(MPI_ERR_ARG,
                              "there is room for %d nodes and %d edges; the graph has %d and %d",
                              maxindex, maxedges, nodes, all);
    else if ((nodes > 0 && !index) || (all > 0 && !edges))
        code = null_array(index ? "edges" : "degrees");
    else {
        memcpy(index, graph->graph.index, (size_t)nodes * sizeof *index);
        if (all > 0)
            memcpy(edges, graph->graph.edges, (size_t)all * sizeof *edges);
    }
    return weft_leave_with(comm, code, function);
}

static int check_node(const struct weft_comm *comm, int rank)
{
    if (rank >= 0 && rank < comm->topology->graph.nnodes)
        return MPI_SUCCESS;
    return weft_error_set(MPI_ERR_RANK, "rank %d is not in the graph, which has %d nodes", rank,
                          comm->topology->graph.nnodes);
}

WEFT_EXPORT(Graph_neighbors_count);
int PMPI_Graph_neighbors_count(MPI_Comm handle, int rank, int *nneighbors)
{
    const char *function = "MPI_Graph_neighbors_count";
    const int *list;
    int code;
    struct weft_comm *comm = enter_with(function, handle, MPI_GRAPH, &code);
    if (!comm)
        return code;
    code = nneighbors ? check_node(comm, rank) : null_array("numbers of neighbours");
    if (code == MPI_SUCCESS)
        *nneighbors = weft_graph_neighbours(comm->topology, rank, &list);
    return weft_leave_with(comm, code, function);
}

WEFT_EXPORT(Graph_neighbors);
int PMPI_Graph_neighbors(MPI_Comm handle, int rank, int maxneighbors, int neighbors[])
{
    const char *function = "MPI_Graph_neighbors";
    const int *list = NULL;
    int code, n = 0;
    struct weft_comm *comm = enter_with(function, handle, MPI_GRAPH, &code);
    if (!comm)
        return code;
    code = check_node(comm, rank);
    if (code == MPI_SUCCESS)
        n = weft_graph_neighbours(comm->topology, rank, &list);
    if (code == MPI_SUCCESS && maxneighbors < n)
        code = weft_error_set(MPI_ERR_ARG, "there is room for %d neighbours; rank %d has %d",
                              maxneighbors, rank, n);
    else if (n > 0 && !neighbors)
        code = null_array("neighbours");
    else if (n > 0)
        memcpy(neighbors, list, (size_t)n * sizeof *neighbors);
    return weft_leave_with(comm, code, function);
}
