// SPDX-License-Identifier: BSD-3-Clause
/* Collectives, blocking, nonblocking and persistent: see mortal.h. */
#include "mortal.h"

#include <stdlib.h>
#include <string.h>

enum { FORMS = 3, INTS = LONGEST / 4 };

static MPI_Comm comm, inter, cart, graph;
static MPI_Request request;
static int form; /* 0: blocking, 1: nonblocking, 2: persistent */

/* Each collective in the form of the round; MPI_Xcast, MPI_Ixcast, MPI_Xcast_init. */
#define RUN(name, iname, ...)                                                                      \
    do {                                                                                           \
        if (form == 0)                                                                             \
            TRY(MPI_##name, __VA_ARGS__);                                                          \
        else if (form == 1)                                                                        \
            TRY(MPI_##iname, __VA_ARGS__, &request);                                               \
        else                                                                                       \
            TRY(MPI_##name##_init, __VA_ARGS__, MPI_INFO_NULL, &request);                          \
    } while (0)

/* Elements for each rank; of all ranks together at most LONGEST bytes each. */
static int some_elements(void)
{
    static const int elements[] = {1, 1, 2, 40, 1000, 9000, INTS / MOST_RANKS};
    return elements[shared_random(sizeof elements / sizeof *elements)];
}

static void start(int kind, int n, int root, MPI_Comm on)
{
    static int counts[MOST_RANKS], places[MOST_RANKS], offsets[MOST_RANKS];
    static MPI_Datatype types[MOST_RANKS];
    int *in = (int *)out_data, *out = (int *)in_data;
    for (int i = 0; i < size; i++) {
        counts[i] = n;
        places[i] = i * n;
        offsets[i] = i * n * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    switch (kind) {
    case 0:
        RUN(Barrier, Ibarrier, on);
        break;
    case 1:
        RUN(Bcast, Ibcast, out, n, MPI_INT, root, on);
        break;
    case 2:
        RUN(Reduce, Ireduce, in, out, n, MPI_INT, MPI_SUM, root, on);
        break;
    case 3:
        RUN(Allreduce, Iallreduce, in, out, n, MPI_INT, MPI_SUM, on);
        break;
    case 4:
        RUN(Gather, Igather, in, n, MPI_INT, out, n, MPI_INT, root, on);
        break;
    case 5:
        RUN(Gatherv, Igatherv, in, n, MPI_INT, out, counts, places, MPI_INT, root, on);
        break;
    case 6:
        RUN(Scatter, Iscatter, in, n, MPI_INT, out, n, MPI_INT, root, on);
        break;
    case 7:
        RUN(Scatterv, Iscatterv, in, counts, places, MPI_INT, out, n, MPI_INT, root, on);
        break;
    case 8:
        RUN(Allgather, Iallgather, in, n, MPI_INT, out, n, MPI_INT, on);
        break;
    case 9:
        RUN(Allgatherv, Iallgatherv, in, n, MPI_INT, out, counts, places, MPI_INT, on);
        break;
    case 10:
        RUN(Alltoall, Ialltoall, in, n, MPI_INT, out, n, MPI_INT, on);
        break;
    case 11:
        RUN(Alltoallv, Ialltoallv, in, counts, places, MPI_INT, out, counts, places, MPI_INT, on);
        break;
    case 12:
        RUN(Alltoallw, Ialltoallw, in, counts, offsets, types, out, counts, offsets, types, on);
        break;
    case 13:
        RUN(Reduce_scatter_block, Ireduce_scatter_block, in, out, n, MPI_INT, MPI_SUM, on);
        break;
    case 14:
        RUN(Reduce_scatter, Ireduce_scatter, in, out, counts, MPI_INT, MPI_SUM, on);
        break;
    case 15:
        RUN(Scan, Iscan, in, out, n, MPI_INT, MPI_SUM, on);
        break;
    default:
        RUN(Exscan, Iexscan, in, out, n, MPI_INT, MPI_SUM, on);
    }
}

static void finish(void)
{
    for (int turn = 0; request != MPI_REQUEST_NULL && turn < (form == 2 ? 2 : 1); turn++) {
        if (form == 2 && !TRY(MPI_Start, &request))
            continue;
        TRY(MPI_Wait, &request, MPI_STATUS_IGNORE);
    }
    if (request != MPI_REQUEST_NULL)
        TRY(MPI_Request_free, &request);
}

static void next_form(void)
{
    form = shared_random(FORMS);
    request = MPI_REQUEST_NULL;
}

static void play(int kind)
{
    int n = some_elements(), root = shared_random(size);
    next_form();
    fill(out_data, LONGEST, rank);
    start(kind, n, root, comm);
    finish();
}

static void begin(void)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
}

#define ACT(name, kind)                                                                            \
    static void name(void)                                                                         \
    {                                                                                              \
        play(kind);                                                                                \
    }
ACT(barrier, 0)
ACT(bcast, 1)
ACT(reduce, 2)
ACT(allreduce, 3)
ACT(gather, 4)
ACT(gatherv, 5)
ACT(scatter, 6)
ACT(scatterv, 7)
ACT(allgather, 8)
ACT(allgatherv, 9)
ACT(alltoall, 10)
ACT(alltoallv, 11)
ACT(alltoallw, 12)
ACT(reduce_scatter_block, 13)
ACT(reduce_scatter, 14)
ACT(scan, 15)
ACT(exscan, 16)

/* All kinds one after the other. Results of short blocking reductions are compared. */
static void mixed(void)
{
    play(shared_random(17));
    int one = 1, sum = 0;
    if (TRY(MPI_Allreduce, &one, &sum, 1, MPI_INT, MPI_SUM, comm) && sum != size)
        wrong_data(sum);
}

/* Several pending ones, of which the later are complete first. */
static void pending(void)
{
    enum { MANY = 4 };
    MPI_Request requests[MANY];
    form = 1;
    for (int i = 0; i < MANY; i++) {
        request = MPI_REQUEST_NULL;
        start(i * 3, 1 + some_elements() / 8, shared_random(size), comm);
        requests[i] = request;
    }
    for (int i = MANY; i-- > 0;)
        if (requests[i] != MPI_REQUEST_NULL)
            TRY(MPI_Wait, &requests[i], MPI_STATUS_IGNORE);
}

/* Inter-communicator: even and odd ranks. */
static void begin_inter(void)
{
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &inter);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
}

static void play_inter(void)
{
    /* No scan; counts of a reduce-scatter have to have the same sum. */
    static const int kinds[] = {0, 1, 2, 3, 4, 6, 8, 9, 10, 11};
    int kind = kinds[shared_random(sizeof kinds / sizeof *kinds)], n = some_elements();
    int side = shared_random(2), root = shared_random(size / 2);
    int arg = rank % 2 == side ? root : rank / 2 == root ? MPI_ROOT : MPI_PROC_NULL;
    next_form();
    start(kind, n, arg, inter);
    finish();
}

/* With processes of another job: a rank of which nobody tells the others that it is dead. */
static void begin_jobs(void)
{
    enum { CHILDREN = 3 };
    static MPI_Comm family;
    if (is_child) {
        MPI_Comm_get_parent(&family);
    } else {
        MPI_Comm_spawn(program, child_arguments, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                       &family, MPI_ERRCODES_IGNORE);
    }
    MPI_Comm_set_errhandler(family, MPI_ERRORS_RETURN);
    MPI_Intercomm_merge(family, is_child, &comm);
}

static void jobs(void)
{
    /* Buffers are for the ranks of this job alone. */
    static const int kinds[] = {0, 1, 2, 3, 15};
    int kind = kinds[shared_random(5)], n = some_elements(), root = shared_random(size);
    next_form();
    start(kind, n, root, comm);
    finish();
}

static void begin_neighbours(void)
{
    int dims[2] = {0, 0}, periods[2] = {1, 1}, sources[2], destinations[2];
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
    for (int i = 0; i < 2; i++) {
        destinations[i] = (rank + i + 1) % size;
        sources[i] = (rank + 2 * size - i - 1) % size;
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, MPI_UNWEIGHTED, 2, destinations,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
}

static void neighbours(void)
{
    bool grid = shared_random(2);
    int n = some_elements(), counts[4], places[4];
    int *in = (int *)out_data, *out = (int *)in_data;
    MPI_Aint bytes[4];
    MPI_Datatype types[4];
    MPI_Comm on = grid ? cart : graph;
    next_form();
    for (int i = 0; i < 4; i++) {
        counts[i] = n;
        places[i] = i * n;
        bytes[i] = (MPI_Aint)sizeof(int) * i * n;
        types[i] = MPI_INT;
    }
    switch (shared_random(5)) {
    case 0:
        RUN(Neighbor_allgather, Ineighbor_allgather, in, n, MPI_INT, out, n, MPI_INT, on);
        break;
    case 1:
        RUN(Neighbor_allgatherv, Ineighbor_allgatherv, in, n, MPI_INT, out, counts, places, MPI_INT,
            on);
        break;
    case 2:
        RUN(Neighbor_alltoall, Ineighbor_alltoall, in, n, MPI_INT, out, n, MPI_INT, on);
        break;
    case 3:
        RUN(Neighbor_alltoallv, Ineighbor_alltoallv, in, counts, places, MPI_INT, out, counts,
            places, MPI_INT, on);
        break;
    default:
        RUN(Neighbor_alltoallw, Ineighbor_alltoallw, in, counts, bytes, types, out, counts, bytes,
            types, on);
    }
    finish();
}

const struct act coll_acts[] = {{"barrier", begin, barrier, NULL, 2},
                                {"bcast", begin, bcast, NULL, 2},
                                {"reduce", begin, reduce, NULL, 2},
                                {"allreduce", begin, allreduce, NULL, 2},
                                {"gather", begin, gather, NULL, 2},
                                {"gatherv", begin, gatherv, NULL, 2},
                                {"scatter", begin, scatter, NULL, 2},
                                {"scatterv", begin, scatterv, NULL, 2},
                                {"allgather", begin, allgather, NULL, 2},
                                {"allgatherv", begin, allgatherv, NULL, 2},
                                {"alltoall", begin, alltoall, NULL, 2},
                                {"alltoallv", begin, alltoallv, NULL, 2},
                                {"alltoallw", begin, alltoallw, NULL, 2},
                                {"reduce_scatter_block", begin, reduce_scatter_block, NULL, 2},
                                {"reduce_scatter", begin, reduce_scatter, NULL, 2},
                                {"scan", begin, scan, NULL, 2},
                                {"exscan", begin, exscan, NULL, 2},
                                {"mixed", begin, mixed, NULL, 2},
                                {"pending", begin, pending, NULL, 2},
                                {"inter", begin_inter, play_inter, NULL, 2},
                                {"jobs", begin_jobs, jobs, NULL, 2},
                                {"neighbours", begin_neighbours, neighbours, NULL, 3},
                                {NULL, NULL, NULL, NULL, 0}};
