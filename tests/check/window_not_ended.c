// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=epoch-not-ended
 * The fence that completes a get is missing. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, in, *memory;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_fence(0, win);
    MPI_Get(&in, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win);
#ifdef CORRECTED
    MPI_Win_fence(0, win);
#endif
    MPI_Win_free(&win); // finding
#ifndef CORRECTED
    if (win != MPI_WIN_NULL) {
        MPI_Win_fence(0, win);
        MPI_Win_free(&win);
    }
#endif
    MPI_Finalize();
    return 0;
}
