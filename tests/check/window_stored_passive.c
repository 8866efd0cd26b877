// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=window-conflict */
#include <mpi.h>

/* Rank 1 stores in its window, and rank 0 reads it under a shared lock. Corrected: a barrier. */
int main(int argc, char **argv)
{
    int *memory, local[10], rank;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(100 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                     &win);
    if (rank == 1)
        memory[4] = 12345;
    MPI_Win_lock_all(0, win);
    if (rank == 1)
        memory[5] = 12346;
#ifdef CORRECTED
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
#endif
    if (rank == 0)
        MPI_Get(local, 10, MPI_INT, 1, 0, 10, MPI_INT, win); // finding
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
