// SPDX-License-Identifier: BSD-3-Clause
/*
 * Topologies: see topology.h.
 */
#include "core/comm/topology.h"
#include "core/comm/reorder.h"
#include "core/comm/comm_make.h"
#include "core/base/error.h"
#include "core/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- The object */

struct weft_topology *weft_topology_keep(struct weft_topology *topology)
{
    if (topology)
        topology->refs++;
    return topology;
}

void weft_topology_release(struct weft_topology *topology)
{
    weft_assert(!topology || topology->refs > 0);
    if (topology && --topology->refs == 0)
        free(topology);
}

static struct weft_topology *make_topology(int kind, size_t numbers)
{
    struct weft_topology *topology =
        weft_memory_get(1, sizeof *topology + numbers * sizeof(int), "a topology");
    topology->refs = 1;
    topology->kind = kind;
    return topology;
}

static int *store(int *at, const int *from, int n)
{
    if (n > 0)
        memcpy(at, from, (size_t)n * sizeof *at);
    return at;
}

struct weft_topology *weft_topology_cart(int ndims, const int *dims, const int *periods)
{
    struct weft_topology *cart = make_topology(MPI_CART, 2 * (size_t)ndims);
    cart->cart.ndims = ndims;
    cart->cart.dims = store(cart->data, dims, ndims);
    cart->cart.periods = cart->data + ndims;
    for (int i = 0; i < ndims; i++)
        cart->cart.periods[i] = periods[i] != 0;
    return cart;
}

struct weft_topology *weft_topology_graph(int nnodes, const int *index, const int *edges)
{
    int nedges = nnodes ? index[nnodes - 1] : 0;
    struct weft_topology *graph = make_topology(MPI_GRAPH, (size_t)nnodes + (size_t)nedges);
    graph->graph.nnodes = nnodes;
    graph->graph.nedges = nedges;
    graph->graph.index = store(graph->data, index, nnodes);
    graph->graph.edges = store(graph->data + nnodes, edges, nedges);
    return graph;
}

struct weft_topology *weft_topology_dist(int in, bool sources_weighted, int out,
                                         bool destinations_weighted)
{
    struct weft_topology *dist = make_topology(MPI_DIST_GRAPH, 2 * ((size_t)in + (size_t)out));
    int *weights = dist->data + in + out;
    dist->dist.in = in;
    dist->dist.out = out;
    dist->dist.sources = dist->data;
    dist->dist.destinations = dist->data + in;
    dist->dist.source_weights = sources_weighted ? weights : NULL;
    dist->dist.destination_weights = destinations_weighted ? weights + in : NULL;
    return dist;
}

int weft_topology_attach(struct weft_comm *over, int *order, int size,
                         struct weft_topology *topology, struct weft_comm **out)
{
    int code = MPI_SUCCESS;
    struct weft_comm *made = NULL;
    if (weft_reorder_rank_of(order, over->rank) < size) {
        struct weft_group *group = order || size < over->size
                                       ? weft_group_include(over->group, size, order)
                                       : weft_group_keep(over->group);
        made = group ? weft_comm_make(group, NULL, over->errhandler) : NULL;
        code = made ? MPI_SUCCESS : weft_error_set(MPI_ERR_NO_MEM, "no memory for a topology");
        if (made)
            made->topology = weft_topology_keep(topology);
        weft_group_release(group);
    }
    weft_topology_release(topology);
    free(order);
    return weft_comm_agree(over, made, code, out);
}

/* ---- Grids */

int weft_cart_size(int ndims, const int *dims)
{
    int64_t size = 1;
    for (int i = 0; i < ndims && size <= INT32_MAX; i++)
        size *= dims[i];
    return size <= INT32_MAX ? (int)size : INT32_MAX;
}

void weft_cart_coordinates(const struct weft_topology *cart, int rank, int *coordinates)
{
    for (int i = cart->cart.ndims - 1; i >= 0; i--) {
        coordinates[i] = rank % cart->cart.dims[i];
        rank /= cart->cart.dims[i];
    }
}

int weft_cart_rank(const struct weft_topology *cart, const int *coordinates)
{
    int rank = 0;
    for (int i = 0; i < cart->cart.ndims; i++) {
        int dim = cart->cart.dims[i], at = coordinates[i];
        if (cart->cart.periods[i])
            at = (at % dim + dim) % dim;
        else if (at < 0 || at >= dim)
            return -1;
        rank = rank * dim + at;
    }
    return rank;
}

/* The rank at distance `by` in a dimension, or MPI_PROC_NULL. */
static int neighbour(const struct weft_topology *cart, int rank, int dimension, int64_t by)
{
    const int *dims = cart->cart.dims;
    int stride = 1;
    for (int i = cart->cart.ndims - 1; i > dimension; i--)
        stride *= dims[i];
    int at = rank / stride % dims[dimension];
    int64_t to = at + by;
    if (cart->cart.periods[dimension])
        to = (to % dims[dimension] + dims[dimension]) % dims[dimension];
    else if (to < 0 || to >= dims[dimension])
        return MPI_PROC_NULL;
    return rank + (int)(to - at) * stride;
}

void weft_cart_shift(const struct weft_topology *cart, int rank, int dimension, int displacement,
                     int *source, int *destination)
{
    *source = neighbour(cart, rank, dimension, -(int64_t)displacement);
    *destination = neighbour(cart, rank, dimension, displacement);
}

/* ---- Neighbours */

int weft_graph_neighbours(const struct weft_topology *graph, int rank, const int **neighbours)
{
    int first = rank ? graph->graph.index[rank - 1] : 0;
    *neighbours = graph->graph.edges + first;
    return graph->graph.index[rank] - first;
}

void weft_topology_degrees(const struct weft_comm *comm, int *in, int *out)
{
    const struct weft_topology *topology = comm->topology;
    const int *list;
    if (topology->kind == MPI_CART) {
        *in = *out = 2 * topology->cart.ndims;
    } else if (topology->kind == MPI_GRAPH) {
        *in = *out = weft_graph_neighbours(topology, comm->rank, &list);
    } else {
        *in = topology->dist.in;
        *out = topology->dist.out;
    }
}

void weft_topology_neighbours(const struct weft_comm *comm, int *sources, int *destinations)
{
    const struct weft_topology *topology = comm->topology;
    if (topology->kind == MPI_CART) {
        for (int i = 0; i < topology->cart.ndims; i++) {
            weft_cart_shift(topology, comm->rank, i, 1, &sources[2 * i], &sources[2 * i + 1]);
            store(destinations + 2 * i, sources + 2 * i, 2);
        }
    } else if (topology->kind == MPI_GRAPH) {
        const int *list;
        int n = weft_graph_neighbours(topology, comm->rank, &list);
        store(sources, list, n);
        store(destinations, list, n);
    } else {
        store(sources, topology->dist.sources, topology->dist.in);
        store(destinations, topology->dist.destinations, topology->dist.out);
    }
}
