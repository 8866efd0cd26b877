// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=3 rule=window-conflict
 * Two ranks that hold shared locks access one element, a put and a get, with nothing between them;
 * in the corrected program a message orders the two. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, value = 0, *memory;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        MPI_Win_flush(0, win);
#ifdef CORRECTED
        MPI_Send(NULL, 0, MPI_INT, 2, 0, MPI_COMM_WORLD);
#endif
    }
    if (rank == 2) {
#ifdef CORRECTED
        MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
        MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win); // finding
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
