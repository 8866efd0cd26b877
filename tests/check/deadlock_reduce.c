// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=3 rule=deadlock */
#include <mpi.h>

/* The root of MPI_Reduce waits for a rank that waits for a message of the root. */
int main(int argc, char **argv)
{
    int rank, value = 1, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef CORRECTED
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
#endif
    if (rank == 1)
        MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD); // finding
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 2, 3, MPI_COMM_WORLD);
    if (rank == 2)
        MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
