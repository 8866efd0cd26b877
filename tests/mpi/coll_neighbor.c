// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,5 lanes=rxm,rxm-soft seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * Neighbourhood collectives on grids, graphs and distributed graphs: edges that are periodic, that
 * lead to oneself, that are missing, and several between the same two ranks, each of which has to
 * bring the block that was sent along it. Blocking, nonblocking, persistent, and with large counts.
 */
#include "check.h"

enum { MOST = 16, LENGTH = 3 };

static MPI_Datatype every_second; /* an int, the next one after another's place */

static struct {
    MPI_Comm comm;
    int rank, in, out;
    int sources[MOST], destinations[MOST];
    int edge[MOST]; /* of each source: which of its edges leads here */
} near;

/* Element i of what rank r sends along its edge e in round t. */
static int value(int r, int e, int i, int t)
{
    return r * 10000 + e * 100 + i * 10 + t;
}

static int guard(void)
{
    return -777;
}

/* n elements from a source, or untouched where there is none. */
static void expect(const char *what, const int *got, int n, int j, int edge, int t)
{
    for (int i = 0; i < n; i++) {
        int want = near.sources[j] == MPI_PROC_NULL ? guard() : value(near.sources[j], edge, i, t);
        CHECK(got[i] == want, "%s: element %d from neighbour %d (rank %d) is %d, expected %d", what,
              i, j, near.sources[j], got[i], want);
    }
}

static void clear(int *array, int n)
{
    for (int i = 0; i < n; i++)
        array[i] = guard();
}

enum mode { BLOCKING, NONBLOCKING, PERSISTENT, LARGE, MODES };

/* One call in a mode; a persistent one is started twice. */
#define CALL(mode, name, ...)                                                                      \
    do {                                                                                           \
        MPI_Request request_ = MPI_REQUEST_NULL;                                                   \
        if ((mode) == BLOCKING)                                                                    \
            MPI_Neighbor_##name(__VA_ARGS__, near.comm);                                           \
        if ((mode) == NONBLOCKING)                                                                 \
            MPI_Ineighbor_##name(__VA_ARGS__, near.comm, &request_);                               \
        if ((mode) == PERSISTENT)                                                                  \
            MPI_Neighbor_##name##_init(__VA_ARGS__, near.comm, MPI_INFO_NULL, &request_);          \
        finish((mode), &request_);                                                                 \
    } while (0)

static void finish(enum mode mode, MPI_Request *request)
{
    for (int start = 0; mode == PERSISTENT && start < 2; start++) {
        MPI_Start(request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
    }
    if (mode == PERSISTENT)
        MPI_Request_free(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void gathers(int t, enum mode mode)
{
    int in[LENGTH], out[MOST * LENGTH], counts[MOST], displs[MOST];
    MPI_Count large_counts[MOST];
    MPI_Aint large_displs[MOST];
    for (int i = 0; i < LENGTH; i++)
        in[i] = value(near.rank, 0, i, t);
    clear(out, MOST * LENGTH);
    if (mode == LARGE)
        MPI_Neighbor_allgather_c(in, LENGTH, MPI_INT, out, LENGTH, MPI_INT, near.comm);
    else
        CALL(mode, allgather, in, LENGTH, MPI_INT, out, LENGTH, MPI_INT);
    for (int j = 0; j < near.in; j++)
        expect("allgather", &out[j * LENGTH], LENGTH, j, 0, t);
    for (int j = 0; j < near.in; j++) { /* in the reverse order */
        large_counts[j] = counts[j] = LENGTH;
        large_displs[j] = displs[j] = (near.in - 1 - j) * LENGTH;
    }
    clear(out, MOST * LENGTH);
    if (mode == LARGE)
        MPI_Neighbor_allgatherv_c(in, LENGTH, MPI_INT, out, large_counts, large_displs, MPI_INT,
                                  near.comm);
    else
        CALL(mode, allgatherv, in, LENGTH, MPI_INT, out, counts, displs, MPI_INT);
    for (int j = 0; j < near.in; j++)
        expect("allgatherv", &out[displs[j]], LENGTH, j, 0, t);
}

/* What is exchanged by alltoall and its forms. The length of a block of the v-forms is its edge's
 * number modulo 3, plus 1. */
struct blocks {
    int in[MOST * LENGTH], apart[2 * MOST * LENGTH], out[MOST * LENGTH];
    int sends[MOST], counts[MOST], displs[MOST];
    MPI_Count large_sends[MOST], large_counts[MOST];
    MPI_Aint large_displs[MOST], bytes[MOST], apart_bytes[MOST];
    MPI_Datatype types[MOST], apart_types[MOST];
};

static void fill(struct blocks *b, int t)
{
    for (int e = 0; e < MOST; e++) {
        for (int i = 0; i < LENGTH; i++)
            b->in[e * LENGTH + i] = b->apart[2 * (e * LENGTH + i)] = value(near.rank, e, i, t);
        b->large_sends[e] = b->sends[e] = e % 3 + 1;
        b->large_counts[e] = b->counts[e] = e < near.in ? near.edge[e] % 3 + 1 : 0;
        b->large_displs[e] = b->displs[e] = e * LENGTH;
        b->bytes[e] = (MPI_Aint)(e * LENGTH) * (MPI_Aint)sizeof(int);
        b->apart_bytes[e] = 2 * b->bytes[e];
        b->types[e] = MPI_INT;
        b->apart_types[e] = every_second;
    }
}

static void expect_vectors(const char *what, const struct blocks *b, int t)
{
    for (int j = 0; j < near.in; j++)
        expect(what, &b->out[b->displs[j]], b->counts[j], j, near.edge[j], t);
}

static void alltoalls(int t, enum mode mode)
{
    struct blocks b;
    memset(&b, 0, sizeof b);
    fill(&b, t);
    clear(b.out, MOST * LENGTH);
    if (mode == LARGE)
        MPI_Neighbor_alltoall_c(b.in, LENGTH, MPI_INT, b.out, LENGTH, MPI_INT, near.comm);
    else
        CALL(mode, alltoall, b.in, LENGTH, MPI_INT, b.out, LENGTH, MPI_INT);
    for (int j = 0; j < near.in; j++)
        expect("alltoall", &b.out[j * LENGTH], LENGTH, j, near.edge[j], t);
    clear(b.out, MOST * LENGTH);
    if (mode == LARGE)
        MPI_Neighbor_alltoallv_c(b.in, b.large_sends, b.large_displs, MPI_INT, b.out,
                                 b.large_counts, b.large_displs, MPI_INT, near.comm);
    else
        CALL(mode, alltoallv, b.in, b.sends, b.displs, MPI_INT, b.out, b.counts, b.displs, MPI_INT);
    expect_vectors("alltoallv", &b, t);
    /* The w-form takes its blocks from every second number. */
    clear(b.out, MOST * LENGTH);
    if (mode == LARGE)
        MPI_Neighbor_alltoallw_c(b.apart, b.large_sends, b.apart_bytes, b.apart_types, b.out,
                                 b.large_counts, b.bytes, b.types, near.comm);
    else
        CALL(mode, alltoallw, b.apart, b.sends, b.apart_bytes, b.apart_types, b.out, b.counts,
             b.bytes, b.types);
    expect_vectors("alltoallw", &b, t);
}

static void play(const char *what)
{
    check_step("%s", what);
    for (int t = 0; t < MODES; t++) {
        gathers(t, (enum mode)t);
        alltoalls(t, (enum mode)t);
    }
    MPI_Comm_free(&near.comm);
}

static void grid(int ndims, const int *dims, const int *periods)
{
    MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &near.comm);
    if (near.comm == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(near.comm, &near.rank);
    near.in = near.out = 2 * ndims;
    for (int d = 0; d < ndims; d++) {
        MPI_Cart_shift(near.comm, d, 1, &near.sources[2 * d], &near.sources[2 * d + 1]);
        near.edge[2 * d] = 2 * d + 1; /* what comes from below was sent upwards */
        near.edge[2 * d + 1] = 2 * d;
    }
    play("a grid");
}

/* Edges of a rank: two to the next, one to itself, one to twice its rank. */
enum { EDGES = 4 };

static int edge_of(int rank, int e, int size)
{
    return e < 2 ? (rank + 1) % size : e == 2 ? rank : rank * 2 % size;
}

static void distributed_graph(void)
{
    int size = check.size, weights[MOST] = {0};
    near.in = near.out = 0;
    for (int e = 0; e < EDGES; e++)
        near.destinations[near.out++] = edge_of(check.rank, e, size);
    for (int r = 0; r < size; r++)
        for (int e = 0; e < EDGES; e++)
            if (edge_of(r, e, size) == check.rank) {
                near.sources[near.in] = r;
                near.edge[near.in++] = e;
            }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, near.in, near.sources, weights, near.out,
                                   near.destinations, weights, MPI_INFO_NULL, 0, &near.comm);
    near.rank = check.rank;
    play("a distributed graph");
}

/* A ring as a graph: each rank's neighbours are the one before and the one after. */
static void graph(void)
{
    int size = check.size, index[64], edges[128];
    if (size < 3 || size > 64)
        return;
    for (int r = 0; r < size; r++) {
        index[r] = 2 * (r + 1);
        edges[2 * r] = (r + size - 1) % size;
        edges[2 * r + 1] = (r + 1) % size;
    }
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &near.comm);
    near.rank = check.rank;
    near.in = near.out = 2;
    near.sources[0] = (check.rank + size - 1) % size;
    near.sources[1] = (check.rank + 1) % size;
    near.edge[0] = 1;
    near.edge[1] = 0;
    play("a graph");
}

int main(int argc, char **argv)
{
    int size, in[1] = {0}, out[1] = {0};
    check_begin(&argc, &argv, 1);
    size = check.size;
    MPI_Type_create_resized(MPI_INT, 0, 2 * (MPI_Aint)sizeof(int), &every_second);
    MPI_Type_commit(&every_second);
    grid(1, (int[]){size}, (int[]){1});
    grid(1, (int[]){size}, (int[]){0});
    grid(2, (int[]){size, 1}, (int[]){0, 1});
    grid(2, (int[]){size / 2 > 0 ? size / 2 : 1, size > 1 ? 2 : 1}, (int[]){1, 1});
    grid(3, (int[]){1, size, 1}, (int[]){1, 1, 0});
    distributed_graph();
    graph();
    check_step("errors");
    check_errors_return();
    CHECK_CLASS(MPI_Neighbor_allgather(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD),
                MPI_ERR_TOPOLOGY);
    MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){size}, (int[]){0}, 0, &near.comm);
    MPI_Comm_set_errhandler(near.comm, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Neighbor_allgather(in, -1, MPI_INT, out, 1, MPI_INT, near.comm), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Neighbor_alltoall(in, 1, MPI_DATATYPE_NULL, out, 1, MPI_INT, near.comm),
                MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Neighbor_alltoall(MPI_IN_PLACE, 1, MPI_INT, out, 1, MPI_INT, near.comm),
                MPI_ERR_BUFFER);
    MPI_Comm_free(&near.comm);
    MPI_Type_free(&every_second);
    return check_done();
}
