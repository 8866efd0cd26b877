// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=3 rule=message-race kinds=all,races */
#include <mpi.h>
#include <unistd.h>

/* Rank 0 waits for a message of rank 1 that MPI_ANY_SOURCE has taken; that of rank 2 comes later,
 * in this run. */
int main(int argc, char **argv)
{
    int rank, value = 1, source;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 2)
        sleep(1);
    if (rank > 0)
        MPI_Send(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
#ifdef CORRECTED
    source = 2;
#else
    source = MPI_ANY_SOURCE;
#endif
    if (rank == 0)
        MPI_Recv(&value, 1, MPI_INT, source, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // finding
#ifndef CORRECTED
    MPI_Barrier(MPI_COMM_WORLD);
#endif
    if (rank == 0)
        MPI_Recv(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
