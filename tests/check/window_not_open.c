// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=epoch-not-open
 * A flush within fences, where only locks are flushed. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, out = 1, *memory;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_fence(0, win);
    MPI_Put(&out, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win);
#ifndef CORRECTED
    MPI_Win_flush(1 - rank, win); // finding
#endif
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_lock_all(0, win);
    MPI_Win_flush(1 - rank, win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
