// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=no-epoch
 * A put is called before the target is locked. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, out = 1, *memory;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    if (rank == 0) {
#ifdef CORRECTED
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Put(&out, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_unlock(1, win);
#else
        MPI_Put(&out, 1, MPI_INT, 1, 0, 1, MPI_INT, win); // finding
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Win_unlock(1, win);
#endif
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
