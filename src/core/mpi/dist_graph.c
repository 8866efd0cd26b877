// SPDX-License-Identifier: BSD-3-Clause
/*
 * Distributed graph topologies (MPI 5.0 section 8.5.4).
 *
 * Invariant: a process keeps the edges of the node that it is in the order in which they are
 * passed: the node's own, or those that rank 0 names first, then rank 1, and so on.
 */
#include "core/mpi/generated/entry.h"
#include "core/coll/coll.h"
#include "core/object/info.h"
#include "core/comm/reorder.h"
#include "core/comm/topology.h"

#include <stdlib.h>
#include <string.h>

/* The edges that touch this process; lists of room for all. */
struct mine {
    int in, out, room;
    int *sources, *destinations, *source_weights, *destination_weights;
};

static int no_memory(void)
{
    return weft_error_set(MPI_ERR_NO_MEM, "no memory for a graph");
}

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

static const int *weights_of(const int *weights)
{
    static const int none[1]; /* weighted, but there is no edge */
    return weights == MPI_UNWEIGHTED                  ? NULL
           : !weights || weights == MPI_WEIGHTS_EMPTY ? none
                                                      : weights;
}

/* ---- Edges that their own nodes name */

/* Sends a row of numbers to one process and gets one from another. */
static int trade(struct weft_comm *comm, int to, const int *numbers, int n, int from, int *got,
                 int m)
{
    size_t size = (size_t)comm->size;
    int *counts = calloc(3 * size, sizeof *counts);
    if (!counts)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for a graph of %d processes", comm->size);
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

/* Whether an order has fewer edges from node to node, those that count more counted so. */
static int judge(struct weft_comm *comm, const int *order, const struct weft_topology *named,
                 bool *better)
{
    int64_t crossings[2] = {0};
    for (int i = 0; i < named->dist.out; i++) {
        const int *weights = named->dist.destination_weights;
        struct weft_edge edge = {comm->rank, named->dist.destinations[i], weights ? weights[i] : 1};
        crossings[0] += weft_reorder_crossings(comm, NULL, &edge, 1);
        crossings[1] += weft_reorder_crossings(comm, order, &edge, 1);
    }
    struct weft_elements both = {crossings, 2, weft_handle_object(MPI_INT64_T)};
    int code = weft_coll_allreduce(comm, both, crossings, weft_handle_object(MPI_SUM));
    *better = code == MPI_SUCCESS && crossings[1] < crossings[0];
    return code;
}

/* Every process gives what it has named to the one that takes its place, and gets what it is to be:
 * *dist is replaced. */
static int hand_over(struct weft_comm *comm, const int *order, struct weft_topology **dist)
{
    enum { IN, OUT, SOURCES_WEIGHTED, DESTINATIONS_WEIGHTED, NUMBERS };
    const struct weft_topology *named = *dist;
    int to = order[comm->rank], from = weft_reorder_place(order, comm->rank);
    int sizes[NUMBERS] = {named->dist.in, named->dist.out, named->dist.source_weights != NULL,
                          named->dist.destination_weights != NULL};
    int got[NUMBERS];
    int code = trade(comm, to, sizes, NUMBERS, from, got, NUMBERS);
    if (code != MPI_SUCCESS)
        return code;
    struct weft_topology *taken = weft_topology_dist_empty(
        got[IN], got[SOURCES_WEIGHTED] != 0, got[OUT], got[DESTINATIONS_WEIGHTED] != 0);
    if (!taken)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for a graph");
    code = trade(comm, to, named->data, 2 * (sizes[IN] + sizes[OUT]), from, taken->data,
                 2 * (got[IN] + got[OUT]));
    weft_topology_release(*dist);
    *dist = taken;
    return code;
}

static int create_adjacent(struct weft_comm *comm, struct weft_topology *dist, bool reorder,
                           struct weft_comm **out)
{
    int *order = NULL;
    bool better = false;
    int code = reorder ? weft_reorder_find(comm, &order) : MPI_SUCCESS;
    if (code == MPI_SUCCESS && order)
        code = judge(comm, order, dist, &better);
    if (code == MPI_SUCCESS && better)
        code = hand_over(comm, order, &dist);
    int agreed = weft_topology_attach(comm, better ? order : NULL, comm->size, dist, out);
    free(order);
    return code ? code : agreed;
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
    struct weft_topology *dist = weft_topology_dist(in, sources, weights_of(source_weights), out,
                                                    destinations, weights_of(destination_weights));
    if (!dist)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for a graph of %d and %d edges", in, out);
    int code = create_adjacent(comm, dist, reorder != 0, made);
    if (*made)
        weft_comm_take_hints(*made, info);
    return code;
}

/* ---- Edges that anybody may name */

/* What a process has named, one edge after the other. NULL when memory is short. */
static struct weft_edge *list_edges(int n, const int *sources, const int *degrees,
                                    const int *targets, const int *weights, int count)
{
    struct weft_edge *edges = malloc(((size_t)count + 1) * sizeof *edges);
    int k = 0;
    for (int i = 0; edges && i < n; i++)
        for (int j = 0; j < degrees[i]; j++, k++)
            edges[k] = (struct weft_edge){sources[i], targets[k], weights ? weights[k] : 1};
    return edges;
}

static int append(struct mine *mine, int rank, const struct weft_edge *edge)
{
    if (mine->in >= mine->room || mine->out >= mine->room) {
        int room = mine->room ? 2 * mine->room : 16;
        int **lists[] = {&mine->sources, &mine->destinations, &mine->source_weights,
                         &mine->destination_weights};
        for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
            int *more = realloc(*lists[i], (size_t)room * sizeof *more);
            if (!more)
                return no_memory();
            *lists[i] = more;
        }
        mine->room = room;
    }
    if (edge->to == rank) {
        mine->sources[mine->in] = edge->from;
        mine->source_weights[mine->in++] = edge->weight;
    }
    if (edge->from == rank) {
        mine->destinations[mine->out] = edge->to;
        mine->destination_weights[mine->out++] = edge->weight;
    }
    return MPI_SUCCESS;
}

static void free_mine(struct mine *mine)
{
    free(mine->sources);
    free(mine->destinations);
    free(mine->source_weights);
    free(mine->destination_weights);
}

static int keep(struct mine *mine, int node, const struct weft_edge *edges, int n)
{
    int failed = MPI_SUCCESS;
    for (int i = 0; i < n && !failed; i++)
        if (edges[i].from == node || edges[i].to == node)
            failed = append(mine, node, &edges[i]);
    return failed;
}

/* The edges of the node that this process is, in the order of ranks and in another one, and how
 * many lead from node to node of the machine in each. */
struct shares {
    const int *order; /* NULL: there is no other */
    struct mine as_it_is, reordered;
    int64_t crossings, crossings_reordered;
};

/* Brings the edges of every process to all, one process at a time; each keeps its own. */
static int distribute(struct weft_comm *comm, const struct weft_edge *edges, const int *counts,
                      struct shares *shares)
{
    int most = 0, code = MPI_SUCCESS;
    int place = weft_reorder_place(shares->order, comm->rank);
    for (int i = 0; i < comm->size; i++)
        most = counts[i] > most ? counts[i] : most;
    struct weft_edge *some = malloc(((size_t)most + 1) * sizeof *some);
    if (!some)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for %d edges of a graph", most);
    for (int root = 0; root < comm->size; root++) {
        int n = counts[root];
        if (!n)
            continue;
        if (root == comm->rank)
            memcpy(some, edges, (size_t)n * sizeof *some);
        int failed =
            weft_coll_bcast(comm, weft_elements_of_bytes(some, (size_t)n * sizeof *some), root);
        if (!failed)
            failed = keep(&shares->as_it_is, comm->rank, some, n);
        if (!failed && shares->order) {
            failed = keep(&shares->reordered, place, some, n);
            shares->crossings += weft_reorder_crossings(comm, NULL, some, n);
            shares->crossings_reordered += weft_reorder_crossings(comm, shares->order, some, n);
        }
        code = code ? code : failed;
    }
    free(some);
    return code;
}

/* weights_of, of a list that is there when the graph has weights. */
static const int *list_of(const int *weights, bool weighted)
{
    return weighted ? weights_of(weights) : NULL;
}

static int create(struct weft_comm *comm, const struct weft_edge *edges, int count, bool weighted,
                  bool reorder, struct weft_comm **out)
{
    struct shares shares = {0};
    int *counts = malloc((size_t)comm->size * sizeof *counts), *order = NULL;
    if (!counts)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for a graph of %d processes", comm->size);
    int code = reorder ? weft_reorder_find(comm, &order) : MPI_SUCCESS;
    shares.order = order;
    if (code == MPI_SUCCESS)
        code = weft_coll_allgather(comm, weft_elements_of_bytes(&count, sizeof count),
                                   weft_elements_of_bytes(counts, sizeof count));
    if (code == MPI_SUCCESS)
        code = distribute(comm, edges, counts, &shares);
    bool better = order && shares.crossings_reordered < shares.crossings;
    const struct mine *mine = better ? &shares.reordered : &shares.as_it_is;
    struct weft_topology *dist = NULL;
    if (code == MPI_SUCCESS)
        dist = weft_topology_dist(mine->in, mine->sources, list_of(mine->source_weights, weighted),
                                  mine->out, mine->destinations,
                                  list_of(mine->destination_weights, weighted));
    int agreed = weft_topology_attach(comm, better ? order : NULL, comm->size, dist, out);
    free(counts);
    free(order);
    free_mine(&shares.as_it_is);
    free_mine(&shares.reordered);
    return code ? code : agreed;
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
    int count = 0;
    for (int i = 0; i < n; i++)
        count += degrees[i];
    struct weft_edge *edges = list_edges(n, sources, degrees, targets, weights_of(weights), count);
    if (!edges)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for %d edges of a graph", count);
    int code = create(comm, edges, count, weights != MPI_UNWEIGHTED, reorder != 0, made);
    free(edges);
    if (*made)
        weft_comm_take_hints(*made, info);
    return code;
}

/* ---- Queries */

/* As many as there is room for. */
static void copy(int *to, const int *from, int n, int room)
{
    n = n < room ? n : room;
    if (to && from && n > 0 && to != MPI_UNWEIGHTED && to != MPI_WEIGHTS_EMPTY)
        memcpy(to, from, (size_t)n * sizeof *to);
}

int weft_mpi_dist_graph_neighbors(struct weft_comm *comm, int maxin, int sources[],
                                  int source_weights[], int maxout, int destinations[],
                                  int destination_weights[])
{
    const struct weft_topology *dist = comm->topology;
    copy(sources, dist->dist.sources, dist->dist.in, maxin);
    copy(source_weights, dist->dist.source_weights, dist->dist.in, maxin);
    copy(destinations, dist->dist.destinations, dist->dist.out, maxout);
    copy(destination_weights, dist->dist.destination_weights, dist->dist.out, maxout);
    if (maxin < 0 || maxout < 0)
        return weft_error_set(MPI_ERR_ARG, "the room for %d and %d neighbours is negative", maxin,
                              maxout);
    return MPI_SUCCESS;
}
