// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=30
// run: ranks=5 lanes=rxm,nodes seconds=30
/*
 * Topologies: grids of every shape that fits, against coordinates counted by hand; graphs and
 * distributed graphs; MPI_Dims_create against all factorisations; errors.
 */
#include "check.h"

#include <sched.h>

enum { NODES = 360, DIMENSIONS = 4 };

/* Counts through all products; keeps the closest: the least between the largest and the smallest
 * factor, then the largest factor smallest, then the next. */
static int best[DIMENSIONS];
static bool any;

static void try_all(int *now, int at, int n, int rest, int most)
{
    if (at == n) {
        int apart = now[0] - now[n - 1], least = best[0] - best[n - 1];
        bool better = !any || apart < least;
        for (int i = n; rest == 1 && any && apart == least && i-- > 0;)
            if (now[i] != best[i]) {
                better = now[i] > best[i];
                break;
            }
        if (rest == 1 && better) {
            memcpy(best, now, (size_t)n * sizeof *now);
            any = true;
        }
        return;
    }
    for (int f = 1; f <= rest && f <= most; f++)
        if (rest % f == 0) {
            now[at] = f;
            try_all(now, at + 1, n, rest / f, f);
        }
}

static void dims_of(int nodes, int n)
{
    int now[DIMENSIONS], got[DIMENSIONS] = {0};
    any = false;
    try_all(now, 0, n, nodes, nodes);
    MPI_Dims_create(nodes, n, got);
    CHECK(!memcmp(got, best, (size_t)n * sizeof *got), "%d in %d dimensions begins with %d", nodes,
          n, got[0]);
}

static void dims(void)
{
    static const int hard[] = {3600, 3960, 4620, 7200, 10080, 15708}; /* not all largest-smallest */
    for (int nodes = 1; nodes <= NODES; nodes++)
        for (int n = 1; n <= DIMENSIONS; n++)
            dims_of(nodes, n);
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++)
        for (int n = 2; n <= DIMENSIONS; n++)
            dims_of(hard[i], n);
    int some[] = {0, 3, 0}, wrong[] = {4, 0}, all[] = {2, 3}, less[] = {-1, 0};
    MPI_Dims_create(36, 3, some);
    CHECK(some[0] == 4 && some[1] == 3 && some[2] == 3, "36 with a 3 is %d %d %d", some[0], some[1],
          some[2]);
    CHECK_CLASS(MPI_Dims_create(6, 2, wrong), MPI_ERR_DIMS);
    CHECK_CLASS(MPI_Dims_create(6, 2, all), MPI_SUCCESS);
    CHECK_CLASS(MPI_Dims_create(12, 2, all), MPI_ERR_DIMS);
    CHECK_CLASS(MPI_Dims_create(6, 2, less), MPI_ERR_DIMS);
    int large[3] = {0};
    MPI_Dims_create(2147483646, 3, large);
    CHECK((long long)large[0] * large[1] * large[2] == 2147483646, "2147483646 is %d %d %d",
          large[0], large[1], large[2]);
    int prime[2] = {0}, many[12] = {0}; /* neither takes long */
    MPI_Dims_create(2147483647, 2, prime);
    CHECK(prime[0] == 2147483647 && prime[1] == 1, "a prime is %d %d", prime[0], prime[1]);
    long long product = 1;
    MPI_Dims_create(2095133040, 12, many);
    for (int i = 0; i < 12; i++)
        product *= many[i];
    CHECK(product == 2095133040, "2095133040 is %lld", product);
}

static void grid(int rows, int columns, int row_period, int column_period)
{
    MPI_Comm cart, dup, row;
    int size[] = {rows, columns}, periods[] = {row_period, column_period}, kind, n;
    MPI_Cart_create(MPI_COMM_WORLD, 2, size, periods, 1, &cart);
    CHECK((cart != MPI_COMM_NULL) == (check.rank < rows * columns), "who is in the grid is wrong");
    if (cart == MPI_COMM_NULL)
        return;
    int rank, got[2], got_periods[2], here[2];
    MPI_Comm_rank(cart, &rank);
    MPI_Topo_test(cart, &kind);
    MPI_Cartdim_get(cart, &n);
    CHECK(kind == MPI_CART && n == 2, "a grid is of kind %d with %d dimensions", kind, n);
    MPI_Comm_dup(cart, &dup);
    MPI_Cart_get(dup, 2, got, got_periods, here);
    CHECK(got[0] == rows && got[1] == columns && got_periods[0] == row_period &&
              got_periods[1] == column_period,
          "the copy of a grid is another");
    CHECK(here[0] == rank / columns && here[1] == rank % columns, "rank %d is at %d %d", rank,
          here[0], here[1]);
    for (int i = 0; i < rows * columns; i++) {
        int at[2], back = -1;
        MPI_Cart_coords(cart, i, 2, at);
        MPI_Cart_rank(cart, at, &back);
        CHECK(back == i && at[0] == i / columns && at[1] == i % columns, "rank %d is at %d %d", i,
              at[0], at[1]);
    }
    for (int d = 0; d < 2; d++)
        for (int by = -3; by <= 3; by++) {
            int source, to, at = here[d] + by, expected;
            MPI_Cart_shift(cart, d, by, &source, &to);
            if (periods[d])
                at = (at % size[d] + size[d]) % size[d];
            int other[] = {d ? here[0] : at, d ? at : here[1]};
            expected = at < 0 || at >= size[d] ? MPI_PROC_NULL : other[0] * columns + other[1];
            CHECK(to == expected, "a shift by %d in dimension %d leads to %d instead of %d", by, d,
                  to, expected);
            int back, there;
            MPI_Cart_shift(cart, d, -by, &there, &back);
            CHECK(source == back && to == there, "a shift and its opposite differ");
        }
    int keep[] = {0, 1}, columns_got, period_got, column_here, row_size;
    MPI_Cart_sub(cart, keep, &row);
    MPI_Cart_get(row, 1, &columns_got, &period_got, &column_here);
    MPI_Comm_size(row, &row_size);
    CHECK(row_size == columns && columns_got == columns && period_got == column_period &&
              column_here == here[1],
          "a row of the grid has %d processes and this one is at %d", row_size, column_here);
    MPI_Comm_free(&row);
    /* Nothing kept: each stands alone, in a grid of no dimension, which can be taken apart again.
     */
    MPI_Comm point, again;
    keep[1] = 0;
    MPI_Cart_sub(cart, keep, &point);
    MPI_Cartdim_get(point, &n);
    MPI_Comm_size(point, &row_size);
    MPI_Topo_test(point, &kind);
    CHECK(n == 0 && row_size == 1 && kind == MPI_CART,
          "of a grid without its dimensions %d remain, %d processes, kind %d", n, row_size, kind);
    MPI_Cart_sub(point, NULL, &again);
    MPI_Cartdim_get(again, &n);
    CHECK(n == 0, "a part of a grid of no dimension has %d", n);
    MPI_Cart_rank(again, NULL, &rank);
    MPI_Cart_get(again, 0, NULL, NULL, NULL);
    CHECK(rank == 0, "the rank at no coordinates is %d", rank);
    int none = 0;
    MPI_Neighbor_allgather(&none, 1, MPI_INT, &none, 1, MPI_INT, again);
    MPI_Comm_free(&again);
    MPI_Comm_free(&point);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&cart);
}

static void grids(void)
{
    for (int rows = 1; rows <= check.size; rows++)
        for (int columns = 1; rows * columns <= check.size; columns++)
            grid(rows, columns, rows % 2, columns % 2);
    MPI_Comm point;
    int n = -1, rank, size[] = {1, 1};
    MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &point);
    CHECK((point != MPI_COMM_NULL) == (check.rank == 0),
          "a grid of no dimension is not one process");
    if (point != MPI_COMM_NULL) {
        MPI_Cartdim_get(point, &n);
        CHECK(n == 0, "a grid of no dimension has %d", n);
        MPI_Comm_free(&point);
    }
    MPI_Cart_map(MPI_COMM_WORLD, 2, size, size, &rank);
    CHECK(rank == (check.rank == 0 ? 0 : MPI_UNDEFINED), "MPI_Cart_map gives %d", rank);
}

/* Everybody is a neighbour of the next ones, as many as its rank. */
static void graphs(void)
{
    MPI_Comm graph;
    int n = check.size, *index = malloc((size_t)n * sizeof *index), total = 0, kind, nodes, edges;
    int *edge = malloc(((size_t)n * (size_t)n + 1) * sizeof *edge);
    for (int i = 0; i < n; i++) {
        for (int k = 1; k <= i; k++)
            edge[total++] = (i + k) % n;
        index[i] = total;
    }
    MPI_Graph_create(MPI_COMM_WORLD, n, index, edge, 0, &graph);
    MPI_Topo_test(graph, &kind);
    MPI_Graphdims_get(graph, &nodes, &edges);
    CHECK(kind == MPI_GRAPH && nodes == n && edges == total, "a graph of %d nodes and %d edges",
          nodes, edges);
    int *got_index = malloc((size_t)n * sizeof *got_index);
    int *got = malloc(((size_t)total + 1) * sizeof *got);
    MPI_Graph_get(graph, n, total, got_index, got);
    CHECK(!memcmp(index, got_index, (size_t)n * sizeof *index) &&
              !memcmp(edge, got, (size_t)total * sizeof *edge),
          "the graph is another");
    for (int i = 0; i < n; i++) {
        int count = -1;
        MPI_Graph_neighbors_count(graph, i, &count);
        CHECK(count == i, "rank %d has %d neighbours", i, count);
        MPI_Graph_neighbors(graph, i, i, got);
        for (int k = 1; k <= i; k++)
            CHECK(got[k - 1] == (i + k) % n, "neighbour %d of %d is %d", k, i, got[k - 1]);
    }
    if (n > 1)
        CHECK_CLASS(MPI_Graph_neighbors(graph, n - 1, 0, got), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Graph_neighbors_count(graph, n, &nodes), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Cartdim_get(graph, &nodes), MPI_ERR_TOPOLOGY);
    MPI_Graph_map(MPI_COMM_WORLD, n, index, edge, &nodes);
    CHECK(nodes == check.rank, "MPI_Graph_map gives %d", nodes);
    MPI_Comm_free(&graph);
    free(index);
    free(edge);
    free(got_index);
    free(got);
}

static void expect_neighbours(MPI_Comm dist, int in, int out, const char *what)
{
    int indegree, outdegree, weighted, kind;
    int sources[4] = {-1, -1, -1, -1}, to[4] = {-1, -1, -1, -1}, of_sources[4], of_to[4];
    int up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    MPI_Topo_test(dist, &kind);
    CHECK(kind == MPI_DIST_GRAPH, "%s is of kind %d", what, kind);
    MPI_Dist_graph_neighbors_count(dist, &indegree, &outdegree, &weighted);
    CHECK(indegree == in && outdegree == out && weighted, "%s: degrees %d and %d, weighted %d",
          what, indegree, outdegree, weighted);
    MPI_Dist_graph_neighbors(dist, in, sources, of_sources, out, to, of_to);
    CHECK(sources[0] == down && to[0] == up && of_sources[0] == 10 + down &&
              of_to[0] == 10 + check.rank,
          "%s: from %d (%d), to %d (%d)", what, sources[0], of_sources[0], to[0], of_to[0]);
}

static void distributed_graphs(void)
{
    MPI_Comm dist, dup;
    int up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    int in_weight = 10 + down, out_weight = 10 + check.rank, one = 1, a, b, weighted;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &down, &in_weight, 1, &up, &out_weight,
                                   MPI_INFO_NULL, 0, &dist);
    expect_neighbours(dist, 1, 1, "an adjacent graph");
    MPI_Comm_dup(dist, &dup);
    expect_neighbours(dup, 1, 1, "its copy");
    MPI_Comm_free(&dup);
    MPI_Comm_free(&dist);
    /* Each names its own edge; then rank 0 names all. */
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &check.rank, &one, &up, &out_weight, MPI_INFO_NULL, 1,
                          &dist);
    expect_neighbours(dist, 1, 1, "a distributed graph");
    MPI_Comm_free(&dist);
    int n = check.rank == 0 ? check.size : 0;
    int from[64], ones[64], to[64], weights[64];
    for (int i = 0; i < n && i < 64; i++) {
        from[i] = i;
        ones[i] = 1;
        to[i] = (i + 1) % check.size;
        weights[i] = 10 + i;
    }
    MPI_Dist_graph_create(MPI_COMM_WORLD, n, from, ones, to, n ? weights : MPI_WEIGHTS_EMPTY,
                          MPI_INFO_NULL, 1, &dist);
    expect_neighbours(dist, 1, 1, "a graph that rank 0 names");
    MPI_Comm_free(&dist);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &dist);
    MPI_Dist_graph_neighbors_count(dist, &a, &b, &weighted);
    CHECK(a == 0 && b == 0 && !weighted, "a graph without edges has %d and %d", a, b);
    MPI_Comm_free(&dist);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL,
                                   MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &dist);
    MPI_Dist_graph_neighbors_count(dist, &a, &b, &weighted);
    CHECK(weighted, "a weighted graph without edges is not weighted");
    MPI_Comm_free(&dist);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, NULL, 0, NULL, NULL, MPI_INFO_NULL, 0,
                                   &dist);
    MPI_Dist_graph_neighbors_count(dist, &a, &b, &weighted);
    CHECK(weighted, "only MPI_UNWEIGHTED is without weights");
    MPI_Comm_free(&dist);
}

static void errors(void)
{
    MPI_Comm out;
    int big[] = {check.size + 1}, zero[] = {0}, kind, rank;
    CHECK_CLASS(MPI_Cart_create(MPI_COMM_WORLD, 1, big, zero, 0, &out), MPI_ERR_DIMS);
    CHECK_CLASS(MPI_Cart_create(MPI_COMM_WORLD, 1, zero, zero, 0, &out), MPI_ERR_DIMS);
    CHECK_CLASS(MPI_Cart_create(MPI_COMM_NULL, 1, big, zero, 0, &out), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Cart_sub(MPI_COMM_WORLD, zero, &out), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Cart_shift(MPI_COMM_WORLD, 0, 1, &kind, &rank), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Dist_graph_neighbors_count(MPI_COMM_WORLD, &kind, &kind, &kind),
                MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, big, MPI_UNWEIGHTED, 0, NULL,
                                               MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &out),
                MPI_ERR_RANK);
    MPI_Topo_test(MPI_COMM_WORLD, &kind);
    CHECK(kind == MPI_UNDEFINED, "world has a topology of kind %d", kind);
    int size[] = {check.size}, periods[] = {0}, at[] = {check.size};
    MPI_Cart_create(MPI_COMM_WORLD, 1, size, periods, 0, &out);
    CHECK_CLASS(MPI_Cart_rank(out, at, &rank), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Cart_coords(out, check.size, 1, at), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Cart_coords(out, 0, 0, at), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Cart_shift(out, 1, 1, &kind, &rank), MPI_ERR_ARG);
    MPI_Comm_free(&out);
}

/* How many ranks of the world, one behind the other, are a node; 0 where all are on one. */
static int node_size(void)
{
    const char *shm = getenv("WEFT_SHM"), *node = getenv("WEFT_TEST_NODE_SIZE");
    return node && shm && strcmp(shm, "1") == 0 ? atoi(node) : 0;
}

/* Places that a map gives to all ranks: each is there once, and with two ranks on a node, which
 * follow one another in the world, they are those of the world. */
static void expect_places(int mapped, bool pairs, const char *what)
{
    int *place = check_host((size_t)check.size * sizeof *place);
    MPI_Allgather(&mapped, 1, MPI_INT, place, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < check.size; i++) {
        int seen = 0;
        for (int j = 0; j < check.size; j++)
            seen += place[j] == i;
        CHECK(seen == 1, "%s gives the place %d to %d ranks", what, i, seen);
        CHECK(!pairs || place[i] == i, "%s gives the place %d to rank %d", what, place[i], i);
    }
    free(place);
}

/* Ranks of a node that are no neighbours become neighbours in a grid that may reorder them, and
 * only there; everybody is in it once. On lane nodes every two ranks of
 * the world are a node. */
static void reorder(void)
{
    int each = node_size();
    int size[] = {check.size}, periods[] = {0}, mapped, *world, kept;
    MPI_Comm dealt, cart;
    world = malloc((size_t)check.size * sizeof *world);
    MPI_Comm_split(MPI_COMM_WORLD, 0, check.rank % 2 * check.size + check.rank, &dealt);
    MPI_Cart_map(dealt, 1, size, periods, &mapped);
    expect_places(mapped, each == 2 && check.size > 2, "MPI_Cart_map");
    MPI_Cart_create(dealt, 1, size, periods, 1, &cart);
    MPI_Allgather(&check.rank, 1, MPI_INT, world, 1, MPI_INT, cart);
    for (int i = 0; i < check.size; i++) {
        int seen = 0;
        for (int j = 0; j < check.size; j++)
            seen += world[j] == i;
        CHECK(seen == 1, "rank %d is in the grid %d times", i, seen);
    }
    for (int i = 0; each == 2 && check.size > 2 && i < check.size; i++)
        CHECK(world[i] == i, "rank %d of the grid is rank %d, so nodes are torn apart", i,
              world[i]);
    MPI_Comm_free(&cart);
    MPI_Cart_create(dealt, 1, size, periods, 0, &cart);
    MPI_Comm_compare(dealt, cart, &kept);
    CHECK(kept == MPI_CONGRUENT, "a grid that may not reorder compares as %d", kept);
    MPI_Comm_free(&cart);
    MPI_Comm_free(&dealt);
    free(world);
}

/* One process asks for its place, without the others. */
static void map_alone(void)
{
    int size[] = {check.size}, periods[] = {1}, rank = -1, n = check.size;
    int *index = check_host((size_t)n * sizeof *index),
        *edge = check_host((size_t)n * sizeof *edge);
    for (int i = 0; i < n; i++) {
        index[i] = i + 1;
        edge[i] = (i + 1) % n;
    }
    check_step("maps of one process");
    if (check.rank == n - 1) {
        MPI_Cart_map(MPI_COMM_WORLD, 1, size, periods, &rank);
        CHECK(rank == check.rank, "MPI_Cart_map gives %d", rank);
        MPI_Graph_map(MPI_COMM_WORLD, n, index, edge, &rank);
        CHECK(rank == check.rank, "MPI_Graph_map gives %d", rank);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    free(index);
    free(edge);
}

/* Whether this process has mapped a file whose name has this part. */
static bool maps(const char *part)
{
    char line[512];
    bool found = false;
    FILE *file = fopen("/proc/self/maps", "r");
    while (file && !found && fgets(line, sizeof line, file))
        found = strstr(line, part) != NULL;
    if (file)
        fclose(file);
    return found;
}

/* Processes of two cores, dealt: in a grid that may reorder them those of one core stand together,
 * within each node. */
static void by_core(void)
{
    int each = node_size() ? node_size() : check.size;
    int size[] = {check.size}, periods[] = {0}, two[2], n = 0, mine, *core, *world;
    bool opened = maps("/hwloc/"); /* by libpmix 5 */
    cpu_set_t all, one;
    MPI_Comm cart;
    if (sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) < 2)
        return; /* one core has one order */
    for (int i = 0; n < 2; i++)
        if (CPU_ISSET(i, &all))
            two[n++] = i;
    mine = two[check.rank % 2 == 0];
    CPU_ZERO(&one);
    CPU_SET(mine, &one);
    sched_setaffinity(0, sizeof one, &one);
    MPI_Cart_create(MPI_COMM_WORLD, 1, size, periods, 1, &cart);
    sched_setaffinity(0, sizeof all, &all);
    core = check_host((size_t)check.size * sizeof *core);
    world = check_host((size_t)check.size * sizeof *world);
    MPI_Allgather(&mine, 1, MPI_INT, core, 1, MPI_INT, cart);
    MPI_Allgather(&check.rank, 1, MPI_INT, world, 1, MPI_INT, cart);
    for (int i = 1; i < check.size; i++)
        if (i % each)
            CHECK(core[i - 1] < core[i] || (core[i - 1] == core[i] && world[i - 1] < world[i]),
                  "rank %d of the grid is rank %d on core %d, behind rank %d on core %d", i,
                  world[i], core[i], world[i - 1], core[i - 1]);
        else
            CHECK(world[i] / each == i / each, "rank %d of the grid is of another node", i);
    CHECK(opened || !maps("/hwloc/"),
          "a grid has opened the plug-ins of hwloc, which takes 10 to 100 ms");
    free(core);
    free(world);
    MPI_Comm_free(&cart);
}

/* A path through all ranks, dealt to the nodes: torn at every edge unless ranks are reordered. And
 * a star, which is no better in any order. Each has its neighbours under its new rank. */
static void reorder_graphs(void)
{
    bool pairs = node_size() == 2 && check.size > 2;
    int n = check.size, rank, mapped, kept, one = 1;
    int *index = check_host((size_t)n * sizeof *index),
        *edge = check_host((size_t)n * sizeof *edge);
    int *world = check_host((size_t)n * sizeof *world);
    MPI_Comm dealt, graph, dist;
    for (int i = 0; i < n; i++) {
        index[i] = i < n - 1 ? i + 1 : i;
        edge[i] = i + 1;
    }
    MPI_Comm_split(MPI_COMM_WORLD, 0, check.rank % 2 * n + check.rank, &dealt);
    MPI_Graph_map(dealt, n, index, edge, &mapped);
    expect_places(mapped, pairs, "MPI_Graph_map");
    MPI_Graph_create(dealt, n, index, edge, 1, &graph);
    MPI_Allgather(&check.rank, 1, MPI_INT, world, 1, MPI_INT, graph);
    for (int i = 0; pairs && i < n; i++)
        CHECK(world[i] == i, "node %d of the path is rank %d", i, world[i]);
    MPI_Comm_free(&graph);
    MPI_Comm_rank(dealt, &rank);
    int next = rank + 1, weight = 100 + rank, degree = rank < n - 1;
    MPI_Dist_graph_create(dealt, degree, &rank, &one, &next, &weight, MPI_INFO_NULL, 1, &dist);
    MPI_Comm_rank(dist, &rank);
    int in, out, weighted, source = -1, to = -1, from_weight = -1, to_weight = -1;
    MPI_Dist_graph_neighbors_count(dist, &in, &out, &weighted);
    MPI_Dist_graph_neighbors(dist, 1, &source, &from_weight, 1, &to, &to_weight);
    CHECK(in == (rank > 0) && out == (rank < n - 1) && weighted, "node %d has degrees %d and %d",
          rank, in, out);
    CHECK(rank == 0 || (source == rank - 1 && from_weight == 99 + rank),
          "node %d hears %d, weight %d", rank, source, from_weight);
    CHECK(rank == n - 1 || (to == rank + 1 && to_weight == 100 + rank),
          "node %d tells %d, weight %d", rank, to, to_weight);
    MPI_Allgather(&check.rank, 1, MPI_INT, world, 1, MPI_INT, dist);
    for (int i = 0; pairs && i < n; i++)
        CHECK(world[i] == i, "node %d of the distributed path is rank %d", i, world[i]);
    MPI_Comm_free(&dist);
    for (int i = 0; i < n; i++) {
        index[i] = n - 1;
        edge[i] = i + 1;
    }
    MPI_Graph_create(dealt, n, index, edge, 1, &graph);
    MPI_Comm_compare(dealt, graph, &kept);
    CHECK(kept == MPI_CONGRUENT || n > 4, "a star of %d was reordered", n);
    MPI_Comm_free(&graph);
    MPI_Comm_free(&dealt);
    free(index);
    free(edge);
    free(world);
}

/* Has the process of this rank exactly the edges of the node of this number? */
static void expect_edges(MPI_Comm graph, const int (*edges)[3], int n, const char *what)
{
    int rank, in, out, weighted, i_in = 0, i_out = 0;
    int sources[4], in_weights[4], to[4], out_weights[4];
    MPI_Comm_rank(graph, &rank);
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    CHECK(in <= 4 && out <= 4 && weighted, "%s: node %d has degrees %d and %d, weighted %d", what,
          rank, in, out, weighted);
    MPI_Dist_graph_neighbors(graph, 4, sources, in_weights, 4, to, out_weights);
    for (int i = 0; i < n; i++) {
        if (edges[i][0] == rank) {
            CHECK(i_out < out && to[i_out] == edges[i][1] && out_weights[i_out] == edges[i][2],
                  "%s: node %d lacks the edge to %d", what, rank, edges[i][1]);
            i_out++;
        }
        if (edges[i][1] == rank) {
            CHECK(i_in < in && sources[i_in] == edges[i][0] && in_weights[i_in] == edges[i][2],
                  "%s: node %d lacks the edge from %d", what, rank, edges[i][0]);
            i_in++;
        }
    }
    CHECK(i_in == in && i_out == out, "%s: node %d has %d and %d edges instead of %d and %d", what,
          rank, in, out, i_in, i_out);
    /* Along each edge goes its tail; so the processes at both ends agree on it. */
    int heard[4] = {-1, -1, -1, -1};
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, heard, 1, MPI_INT, graph);
    for (int i = 0; i < in; i++)
        CHECK(heard[i] == sources[i], "%s: node %d hears %d from %d", what, rank, heard[i],
              sources[i]);
}

/* An edge that another order would spare, and two that it would tear: the weight of the first
 * decides, whether each names the edges at its own node or one names all. */
static void reorder_by_weight(int heavy)
{
    enum { EDGES = 3 };
    int half = (check.size + 1) / 2, rank, degrees[EDGES] = {1, 1, 1}, kept, weighted;
    const int edges[EDGES][3] = {{0, 1, heavy}, {0, half, 1}, {1, half + 1, 1}};
    int from[EDGES], to[EDGES], weights[EDGES], n = 0, sources[EDGES], in_weights[EDGES], in = 0;
    bool better = node_size() == 2 && heavy > 2;
    MPI_Comm dealt, graph;
    MPI_Comm_split(MPI_COMM_WORLD, 0, check.rank % 2 * check.size + check.rank, &dealt);
    MPI_Comm_rank(dealt, &rank);
    for (int i = 0; i < EDGES; i++) {
        if (edges[i][1] == rank) {
            sources[in] = edges[i][0];
            in_weights[in++] = edges[i][2];
        }
        if (edges[i][0] == rank) {
            to[n] = edges[i][1];
            weights[n++] = edges[i][2];
        }
    }
    for (int reorder = 0; reorder < 2; reorder++) {
        MPI_Dist_graph_create_adjacent(dealt, in, sources, in_weights, n, to, weights,
                                       MPI_INFO_NULL, reorder, &graph);
        expect_edges(graph, edges, EDGES, "adjacent");
        MPI_Comm_compare(dealt, graph, &kept);
        CHECK(kept == (better && reorder ? MPI_SIMILAR : MPI_CONGRUENT),
              "adjacent, weight %d, reorder %d: compares as %d", heavy, reorder, kept);
        MPI_Comm_free(&graph);
    }
    /* Without weights the two edges win, and none are there afterwards. */
    MPI_Dist_graph_create_adjacent(dealt, in, sources, MPI_UNWEIGHTED, n, to, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 1, &graph);
    MPI_Comm_compare(dealt, graph, &kept);
    MPI_Dist_graph_neighbors_count(graph, &half, &half, &weighted);
    CHECK(kept == MPI_CONGRUENT && !weighted, "unweighted: compares as %d, weighted %d", kept,
          weighted);
    MPI_Comm_free(&graph);
    for (int i = 0; rank == check.size - 1 && i < EDGES; i++) {
        from[i] = edges[i][0];
        to[i] = edges[i][1];
        weights[i] = edges[i][2];
    }
    MPI_Dist_graph_create(dealt, rank == check.size - 1 ? EDGES : 0, from, degrees, to, weights,
                          MPI_INFO_NULL, 1, &graph);
    expect_edges(graph, edges, EDGES, "named by one");
    MPI_Comm_compare(dealt, graph, &kept);
    CHECK(kept == (better ? MPI_SIMILAR : MPI_CONGRUENT), "weight %d: compares as %d", heavy, kept);
    MPI_Comm_free(&graph);
    MPI_Comm_free(&dealt);
}

/* The path of reorder_graphs, of which each names the edges at its own node. */
static void reorder_adjacent(void)
{
    bool pairs = node_size() == 2 && check.size > 2;
    int n = check.size, rank, kept;
    MPI_Comm dealt, graph;
    MPI_Comm_split(MPI_COMM_WORLD, 0, check.rank % 2 * n + check.rank, &dealt);
    MPI_Comm_rank(dealt, &rank);
    int(*edges)[3] = check_host((size_t)n * sizeof *edges);
    for (int i = 0; i < n - 1; i++) {
        edges[i][0] = i;
        edges[i][1] = i + 1;
        edges[i][2] = 100 + i;
    }
    int before = rank - 1, next = rank + 1, in_weight = 99 + rank, weight = 100 + rank;
    MPI_Dist_graph_create_adjacent(dealt, rank > 0, &before, &in_weight, rank < n - 1, &next,
                                   &weight, MPI_INFO_NULL, 1, &graph);
    expect_edges(graph, (const int(*)[3])edges, n - 1, "path");
    MPI_Comm_compare(pairs ? MPI_COMM_WORLD : dealt, graph, &kept);
    CHECK(kept == MPI_CONGRUENT, "the path's communicator compares as %d", kept);
    MPI_Comm_free(&graph);
    MPI_Comm_free(&dealt);
    free(edges);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    check_errors_return();
    if (check.rank == 0)
        dims();
    check_step("grids");
    grids();
    map_alone();
    reorder();
    by_core();
    check_step("graphs");
    reorder_graphs();
    reorder_adjacent();
    for (int heavy = 1; check.size >= 4 && heavy < 20; heavy += 9)
        reorder_by_weight(heavy);
    graphs();
    distributed_graphs();
    check_step("errors");
    errors();
    return check_done();
}
