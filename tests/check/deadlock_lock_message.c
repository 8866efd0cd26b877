// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=3 rule=deadlock
 * Rank 0 waits for a message while it has a lock that rank 1 needs before it sends; rank 2 has a
 * lock of another target. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, value = 1, *memory;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    if (rank != 1)
        MPI_Win_lock(MPI_LOCK_SHARED, 2 - rank, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win);
        MPI_Put(&value, 1, MPI_INT, 2, 0, 1, MPI_INT, win);
        MPI_Win_unlock(2, win);
        MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
#ifdef CORRECTED
    if (rank == 0)
        MPI_Win_unlock(2, win);
#endif
    if (rank == 0)
        MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // finding
#ifndef CORRECTED
    if (rank == 0)
        MPI_Win_unlock(2, win);
#endif
    if (rank == 2)
        MPI_Win_unlock(0, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
