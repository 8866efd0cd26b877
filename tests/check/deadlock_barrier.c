// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=3 rule=deadlock
 * A rank waits in a barrier, another one for a message that is sent after the barrier. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, value = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef CORRECTED
    MPI_Barrier(MPI_COMM_WORLD);
#endif
    if (rank == 1)
        MPI_Recv(&value, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#ifdef CORRECTED
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 1, 4, MPI_COMM_WORLD);
#else
    MPI_Barrier(MPI_COMM_WORLD); // finding
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 1, 4, MPI_COMM_WORLD);
#endif
    MPI_Finalize();
    return 0;
}
