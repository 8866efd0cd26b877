// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=epoch-overlap
 * A target is locked between two fences, which begin and end an epoch. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, value = 1, *memory;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_fence(0, win);
#ifdef CORRECTED
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
#endif
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); // finding
        MPI_Win_unlock(1, win);
    }
    MPI_Win_fence(0, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
