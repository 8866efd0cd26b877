// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=origin-changed */
#include <mpi.h>

/* The buffer of MPI_Get is changed before the epoch ends. */
int main(int argc, char **argv)
{
    int rank, in = 0, *memory;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    *memory = rank;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 1 - rank, 0, win);
    MPI_Get(&in, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win); // finding
#ifndef CORRECTED
    in = 7;
#endif
    MPI_Win_unlock(1 - rank, win);
    in = 8;
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
