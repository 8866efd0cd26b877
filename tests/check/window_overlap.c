// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=epoch-overlap
 * A target is locked again while it is locked; locks of two targets may be held. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, *memory;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
#ifdef CORRECTED
    MPI_Win_unlock(1, win);
#endif
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win); // finding
    MPI_Win_unlock(0, win);
    MPI_Win_unlock(1, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
