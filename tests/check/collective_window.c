// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=collective-order
 * A rank calls MPI_Win_fence once more than the other. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, *memory;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_fence(0, win);
#ifdef CORRECTED
    MPI_Win_fence(0, win);
#else
    if (rank == 0)
        MPI_Win_fence(0, win);
#endif
    MPI_Win_free(&win); // finding
    MPI_Finalize();
    return 0;
}
