// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=3 rule=deadlock */
#include <mpi.h>

/* MPI_Wait of a collective call waits for a rank that has not made the call. */
int main(int argc, char **argv)
{
    int rank, value = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef CORRECTED
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
#else
    if (rank != 2)
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
#endif
    if (rank == 2)
        MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#ifdef CORRECTED
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 2, 3, MPI_COMM_WORLD);
#endif
    MPI_Wait(&request, MPI_STATUS_IGNORE); // finding
    if (rank == 0 && value)
        MPI_Send(&value, 1, MPI_INT, 2, 3, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
