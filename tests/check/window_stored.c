// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=3 rule=window-conflict */
#include <mpi.h>

/* Rank 1 stores in its window while rank 0 reads it. The corrected program stores in two
 * other elements, between which rank 2 reads, after the fence, and under a lock, while rank 2 puts
 * to elements that rank 0 reads later. */
int main(int argc, char **argv)
{
    int memory[100] = {0}, local[10], rank, seven = 7;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    if (rank == 0)
        MPI_Get(local, 10, MPI_INT, 1, 0, 10, MPI_INT, win); // finding
    if (rank == 1)
#ifndef CORRECTED
        memory[5] = 12346;
#else
        memory[10] = memory[30] = 12346;
#endif
    if (rank == 2)
        MPI_Get(local, 10, MPI_INT, 1, 15, 10, MPI_INT, win); /* between the two elements */
    MPI_Win_fence(0, win);
    if (rank == 2)
        MPI_Put(&seven, 1, MPI_INT, 1, 3, 1, MPI_INT, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    if (rank == 1)
        memory[5] = 2;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        memory[6] = 3;
        MPI_Win_unlock(1, win);
    } else {
        MPI_Win_lock(rank == 0 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 1, 0, win);
        if (rank == 0)
            MPI_Get(local, 10, MPI_INT, 1, 0, 10, MPI_INT, win);
        else
            MPI_Put(&seven, 1, MPI_INT, 1, 4, 1, MPI_INT, win);
        MPI_Win_unlock(1, win);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
