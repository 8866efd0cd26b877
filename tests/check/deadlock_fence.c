// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=deadlock */
#include <mpi.h>

/* A fence waits for a rank that waits for a message. */
int main(int argc, char **argv)
{
    int rank, value = 0, *memory;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
#ifdef CORRECTED
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
#endif
    if (rank == 1)
        MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win); // finding
#ifndef CORRECTED
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
#endif
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
