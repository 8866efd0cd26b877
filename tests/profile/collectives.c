// SPDX-License-Identifier: BSD-3-Clause
/* Four ranks: collectives on a duplicate of MPI_COMM_WORLD, on itself and on two halves of it. */
#include <mpi.h>

enum { RANKS = 4 };

static int from[RANKS * 8], to[RANKS * 8];

static void on_all(int rank)
{
    const int counts[RANKS] = {1, 2, 3, 4}, displs[RANKS] = {0, 1, 3, 6};
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Barrier(comm);
    MPI_Bcast(to, 5, MPI_INT, 2, comm);
    MPI_Gather(from, 2, MPI_INT, to, 2, MPI_INT, 1, comm);
    MPI_Scatter(from, 2, MPI_INT, to, 2, MPI_INT, 3, comm);
    MPI_Allgather(from, 3, MPI_INT, to, 3, MPI_INT, comm);
    MPI_Alltoall(from, 1, MPI_INT, to, 1, MPI_INT, comm);
    MPI_Reduce(from, to, 6, MPI_INT, MPI_SUM, 0, comm);
    MPI_Reduce_scatter(from, to, counts, MPI_INT, MPI_SUM, comm);
    MPI_Allgatherv(from, counts[0], MPI_INT, to, (const int[]){1, 1, 1, 1}, displs, MPI_INT, comm);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, to, counts, displs, MPI_INT, comm);
    MPI_Gatherv(rank == 1 ? MPI_IN_PLACE : from, counts[rank], MPI_INT, to, counts, displs, MPI_INT,
                1, comm);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Comm world, half, copy;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_idup(MPI_COMM_WORLD, &world, &request); /* is no collective of the time line */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(world);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_dup(half, &copy);
    on_all(rank);
    for (int i = 0; i < 10; i++)
        MPI_Allreduce(from, to, 7, MPI_INT, MPI_SUM, half);
    MPI_Allreduce(MPI_IN_PLACE, to, 7, MPI_INT, MPI_SUM, copy);
    MPI_Ibarrier(half, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&world);
    MPI_Comm_free(&half);
    MPI_Comm_free(&copy);
    MPI_Finalize();
    return 0;
}
