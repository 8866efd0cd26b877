// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=3 rule=send-needs-buffer */
#include <mpi.h>

/* A message is received behind a barrier in which its sender takes part after the send. */
int main(int argc, char **argv)
{
    int rank, value = 1;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) {
        MPI_Isend(&value, 1, MPI_INT, 2, 3, MPI_COMM_WORLD, &request);
#ifdef CORRECTED
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
#else
        MPI_Wait(&request, MPI_STATUS_IGNORE); // finding
        MPI_Barrier(MPI_COMM_WORLD);
#endif
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 2)
        MPI_Recv(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
