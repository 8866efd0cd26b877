// SPDX-License-Identifier: BSD-3-Clause
/*
 * Distributed graph topologies (MPI 5.0 section 8.5.4).
 *
 * Invariant: a process keeps the edges of the node that it is in the order in which they are
 * passed: the node's own, or those that rank 0 names first, then rank 1, and so on.
 */
#include "core/mpi/entry.h"
#include "core/coll/coll.h"
#include "core/base/memory.h"
#include "core/comm/reorder.h"
#include "core/comm/topology.h"

#include <stdlib.h>
#include <string.h>

/* Checks ranks and weights of a list. */
static int check_list(const struct weft_comm *comm, int n, const int *ranks, const int *weights,
                      const char *what)
{
    bool weighted = weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY;
    if (n < 0)
        return weft_error_set(MPI_ERR_ARG, "the number of %ss, %d, is negative", what, n);
    if (n > 0 && (!ranks || !weights || weights == MPI_WEIGHTS_EMPTY))
        return weft_error_set(MPI_ERR_ARG, "the array of %ss or of their weights is missing", what);
    for (int i = 0; i < n; i++) {
        if (ranks[i] < 0 || ranks[i] >= comm->size)
            return weft_error_set(MPI_ERR_RANK,
                                  "%s %d is rank %d, which is not in the communicator of %d "
                                  "processes",
                                  what, i, ranks[i], comm->size);
        if (weighted && weights[i] < 0)
            return weft_error_set(MPI_ERR_ARG, "the weight of %s %d, %d, is negative", what, i,
                                  weights[i]);
    }
    return MPI_SUCCESS;
}

/* The edges that a process has named, one after the other. */
static struct weft_edge *list_edges(int n, const int *sources, const int *degrees,
                                    const int *targets, const int *weights, int *count)
{
    *count = 0;
    for (int i = 0; i < n; i++)
        *count += degrees[i];
    struct weft_edge *edges =
        weft_memory_get((size_t)*count, sizeof *edges, "the edges of a graph");
    for (int i = 0, k = 0; i < n; i++)
        for (int j = 0; j < degrees[i]; j++, k++)
            edges[k] = (struct weft_edge){sources[i], targets[k],
                                          weights == MPI_UNWEIGHTED ? 1 : weights[k]};
    return edges;
}

/* As many as there is space for. */
static void copy_ranks(int *to, const int *from, int n, int space)
{
    n = n < space ? n : space;
    if (to && from && n > 0 && to != MPI_UNWEIGHTED && to != MPI_WEIGHTS_EMPTY &&
        from != MPI_UNWEIGHTED)
        memcpy(to, from, (size_t)n * sizeof *to);
}

/* ---- Edges that their own nodes name */

/* Sends a row of numbers to one process and gets one from another. */
static int trade(struct weft_comm *comm, int to, const int *numbers, int n, int from, int *got,
                 int m)
{
    size_t size = (size_t)comm->size;
    int *counts = weft_memory_get(3 * size, sizeof *counts, "the counts of a graph");
    int *in_counts = counts + size, *nowhere = counts + 2 * size;
    counts[to] = n;
    in_counts[from] = m;
    const struct weft_datatype *type = weft_handle_object(MPI_INT);
    struct weft_arrays sent = {{counts, false}, {nowhere, false}, NULL};
    struct weft_arrays received = {{in_counts, false}, {nowhere, false}, NULL};
    struct weft_coll_args args = {.kind = WEFT_COLL_ALLTOALLV,
                                  .comm = comm,
                                  .in = {(int *)numbers, 0, type, &sent, 0},
                                  .out = {got, 0, type, &received, 0}};
    int code = weft_coll_run(&args);
    free(counts);
    return code;
}

/* Every process gives what it has named to the one that it is renumbered to, and gets what it is to
 * be: *dist is replaced. */
static int hand_over(struct weft_comm *comm, const int *order, struct weft_topology **dist)
{
    enum { IN, OUT, SOURCES_WEIGHTED, DESTINATIONS_WEIGHTED, NUMBERS };
    const struct weft_topology *named = *dist;
    int to = order[comm->rank], from = weft_reorder_rank_of(order, comm->rank);
    int sizes[NUMBERS] = {named->dist.in, named->dist.out, named->dist.source_weights != NULL,
                          named->dist.destination_weights != NULL};
    int got[NUMBERS];
    int code = trade(comm, to, sizes, NUMBERS, from, got, NUMBERS);
    if (code != MPI_SUCCESS)
        return code;
    struct weft_topology *taken = weft_topology_dist(got[IN], got[SOURCES_WEIGHTED] != 0, got[OUT],
                                                     got[DESTINATIONS_WEIGHTED] != 0);
    code = trade(comm, to, named->data, 2 * (sizes[IN] + sizes[OUT]), from, taken->data,
                 2 * (got[IN] + got[OUT]));
    weft_topology_release(*dist);
    *dist = taken;
    return code;
}

int weft_mpi_check_neighbors(struct weft_comm *comm, int in, const int *sources,
                             const int *source_weights, int out, const int *destinations,
                             const int *destination_weights)
{
    int code = check_list(comm, in, sources, source_weights, "source");
    return code ? code : check_list(comm, out, destinations, destination_weights, "destination");
}

int weft_mpi_dist_graph_create_adjacent(struct weft_comm *comm, int in, const int *sources,
                                        const int *source_weights, int out, const int *destinations,
                                        const int *destination_weights, struct weft_info *info,
                                        int reorder, struct weft_comm **made)
{
    int *order = NULL, n, code = reorder ? weft_comm_begin(comm, MPI_SUCCESS) : MPI_SUCCESS;
    if (code == MPI_SUCCESS && reorder) {
        struct weft_edge *edges =
            list_edges(1, &comm->rank, &out, destinations, destination_weights, &n);
        code = weft_reorder_graph(comm, edges, n, &order);
        free(edges);
    }
    if (code != MPI_SUCCESS)
        return code;
    struct weft_topology *dist = weft_topology_dist(in, source_weights != MPI_UNWEIGHTED, out,
                                                    destination_weights != MPI_UNWEIGHTED);
    copy_ranks(dist->dist.sources, sources, in, in);
    copy_ranks(dist->dist.destinations, destinations, out, out);
    copy_ranks(dist->dist.source_weights, source_weights, in, in);
    copy_ranks(dist->dist.destination_weights, destination_weights, out, out);
    if (order)
        code = hand_over(comm, order, &dist);
    int agreed = weft_topology_attach(comm, order, comm->size, dist, made);
    if (*made)
        weft_comm_take_hints(*made, info);
    return code ? code : agreed;
}

/* ---- Edges that any process may name */

/* The edges that all processes have named, those of rank 0 first. *all is for the caller to free.
 */
static int gather_edges(struct weft_comm *comm, struct weft_edge *mine, int n,
                        struct weft_edge **all, int64_t *total)
{
    const struct weft_datatype *type = weft_handle_object(MPI_BYTE);
    int64_t *bytes = weft_memory_get(2 * (size_t)comm->size, sizeof *bytes, "counts of edges");
    int64_t *begins = bytes + comm->size, own = n * (int64_t)sizeof *mine, sum = 0;
    int code = weft_coll_allgather(comm, weft_elements_of_bytes(&own, sizeof own),
                                   weft_elements_of_bytes(bytes, sizeof own));
    for (int i = 0; i < comm->size; sum += bytes[i++])
        begins[i] = sum;
    *all = weft_memory_get((size_t)sum, 1, "the edges of a graph");
    *total = sum / (int64_t)sizeof *mine;
    struct weft_arrays arrays = {.counts = {bytes, true}, .displs = {begins, true}};
    struct weft_coll_args args = {.kind = WEFT_COLL_ALLGATHERV,
                                  .comm = comm,
                                  .in = {.at = mine, .count = (size_t)own, .type = type},
                                  .out = {.at = *all, .type = type, .arrays = &arrays}};
    if (code == MPI_SUCCESS)
        code = weft_coll_run(&args);
    free(bytes);
    return code;
}

/* The edges that begin or end at a node. */
static struct weft_topology *edges_at(int node, const struct weft_edge *all, int64_t total,
                                      bool weighted)
{
    int in = 0, out = 0;
    for (int64_t i = 0; i < total; i++) {
        in += all[i].to == node;
        out += all[i].from == node;
    }
    struct weft_topology *dist = weft_topology_dist(in, weighted, out, weighted);
    int *source_weights = dist->data + in + out, *destination_weights = source_weights + in;
    in = out = 0;
    for (int64_t i = 0; i < total; i++) {
        if (all[i].to == node) {
            dist->dist.sources[in] = all[i].from;
            source_weights[in++] = all[i].weight;
        }
        if (all[i].from == node) {
            dist->dist.destinations[out] = all[i].to;
            destination_weights[out++] = all[i].weight;
        }
    }
    return dist;
}

int weft_mpi_check_edges(struct weft_comm *comm, int n, const int *sources, const int *degrees,
                         const int *targets, const int *weights)
{
    int64_t total = 0;
    int code = check_list(comm, n, sources, MPI_UNWEIGHTED, "source");
    if (code == MPI_SUCCESS && n > 0 && !degrees)
        code = weft_error_set(MPI_ERR_ARG, "the array of degrees is null");
    for (int i = 0; i < n && code == MPI_SUCCESS; i++) {
        if (degrees[i] < 0)
            code = weft_error_set(MPI_ERR_ARG, "the degree of source %d, %d, is negative", i,
                                  degrees[i]);
        total += degrees[i];
    }
    if (code == MPI_SUCCESS && total > INT32_MAX / (int)sizeof(struct weft_edge))
        code = weft_error_set(MPI_ERR_ARG, "%lld edges are too many for one process to name",
                              (long long)total);
    if (code == MPI_SUCCESS)
        code = check_list(comm, (int)total, targets, weights, "destination");
    return code;
}

int weft_mpi_dist_graph_create(struct weft_comm *comm, int n, const int *sources,
                               const int *degrees, const int *targets, const int *weights,
                               struct weft_info *info, int reorder, struct weft_comm **made)
{
    struct weft_edge *all = NULL;
    int *order = NULL, count;
    int64_t total;
    struct weft_edge *mine = list_edges(n, sources, degrees, targets, weights, &count);
    int code = reorder ? weft_reorder_graph(comm, mine, count, &order) : MPI_SUCCESS;
    if (code == MPI_SUCCESS)
        code = gather_edges(comm, mine, count, &all, &total);
    if (code == MPI_SUCCESS)
        code = weft_topology_attach(comm, order, comm->size,
                                    edges_at(weft_reorder_rank_of(order, comm->rank), all, total,
                                             weights != MPI_UNWEIGHTED),
                                    made);
    else
        free(order);
    if (*made)
        weft_comm_take_hints(*made, info);
    free(mine);
    free(all);
    return code;
}

/* ---- Queries */

int weft_mpi_dist_graph_neighbors(struct weft_comm *comm, int maxin, int sources[],
                                  int source_weights[], int maxout, int destinations[],
                                  int destination_weights[])
{
    const struct weft_topology *dist = comm->topology;
    copy_ranks(sources, dist->dist.sources, dist->dist.in, maxin);
    copy_ranks(source_weights, dist->dist.source_weights, dist->dist.in, maxin);
    copy_ranks(destinations, dist->dist.destinations, dist->dist.out, maxout);
    copy_ranks(destination_weights, dist->dist.destination_weights, dist->dist.out, maxout);
    if (maxin < 0 || maxout < 0)
        return weft_error_set(MPI_ERR_ARG, "the room for %d and %d neighbours is negative", maxin,
                              maxout);
    return MPI_SUCCESS;
}
