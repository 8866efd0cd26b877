// SPDX-License-Identifier: BSD-3-Clause
/*
 * Neighbourhood collectives on grids, graphs and distributed graphs: edges that are periodic, that
 * lead to oneself, that are missing, and several between the same two ranks, each of which has to
 * bring the block that was sent along it.
 */
#include "check.h"

enum { MOST = 16, LENGTH = 3, ROUNDS = 3 };

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

static void gathers(int t)
{
    int in[LENGTH], out[MOST * LENGTH], counts[MOST], displs[MOST];
    MPI_Request request;
    for (int i = 0; i < LENGTH; i++)
        in[i] = value(near.rank, 0, i, t);
    clear(out, MOST * LENGTH);
    MPI_Neighbor_allgather(in, LENGTH, MPI_INT, out, LENGTH, MPI_INT, near.comm);
    for (int j = 0; j < near.in; j++)
        expect("allgather", &out[j * LENGTH], LENGTH, j, 0, t);
    for (int j = 0; j < near.in; j++) { /* in the reverse order */
        counts[j] = LENGTH;
        displs[j] = (near.in - 1 - j) * LENGTH;
    }
    clear(out, MOST * LENGTH);
    MPI_Ineighbor_allgatherv(in, LENGTH, MPI_INT, out, counts, displs, MPI_INT, near.comm,
                             &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int j = 0; j < near.in; j++)
        expect("allgatherv", &out[displs[j]], LENGTH, j, 0, t);
}

/* The length of a block of the v-forms is its edge's number modulo 3, plus 1. */
static void alltoalls(int t)
{
    int in[MOST * LENGTH], out[MOST * LENGTH];
    int sends[MOST], sdispls[MOST], counts[MOST], displs[MOST];
    MPI_Aint sbytes[MOST], bytes[MOST];
    MPI_Datatype types[MOST];
    MPI_Request request;
    for (int e = 0; e < MOST; e++) {
        for (int i = 0; i < LENGTH; i++)
            in[e * LENGTH + i] = value(near.rank, e, i, t);
        sends[e] = e % 3 + 1;
        counts[e] = e < near.in ? near.edge[e] % 3 + 1 : 0;
        sdispls[e] = displs[e] = e * LENGTH;
        sbytes[e] = bytes[e] = (MPI_Aint)(e * LENGTH) * (MPI_Aint)sizeof(int);
        types[e] = MPI_INT;
    }
    clear(out, MOST * LENGTH);
    MPI_Neighbor_alltoall(in, LENGTH, MPI_INT, out, LENGTH, MPI_INT, near.comm);
    for (int j = 0; j < near.in; j++)
        expect("alltoall", &out[j * LENGTH], LENGTH, j, near.edge[j], t);
    clear(out, MOST * LENGTH);
    MPI_Neighbor_alltoallv(in, sends, sdispls, MPI_INT, out, counts, displs, MPI_INT, near.comm);
    for (int j = 0; j < near.in; j++)
        expect("alltoallv", &out[displs[j]], counts[j], j, near.edge[j], t);
    MPI_Neighbor_alltoallw_init(in, sends, sbytes, types, out, counts, bytes, types, near.comm,
                                MPI_INFO_NULL, &request);
    for (int start = 0; start < 2; start++) {
        clear(out, MOST * LENGTH);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int j = 0; j < near.in; j++)
            expect("alltoallw", &out[displs[j]], counts[j], j, near.edge[j], t);
    }
    MPI_Request_free(&request);
}

static void play(const char *what)
{
    check_step("%s", what);
    for (int t = 0; t < ROUNDS; t++) {
        gathers(t);
        alltoalls(t);
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
    return check_done();
}
