// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=window-conflict
 * MPI_Win_flush_local completes a get, which has then read. The wrong program puts before that. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, value = 0, *memory;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
#ifdef CORRECTED
        MPI_Win_flush_local(0, win);
        value++;
#else
        int other = 1;
#define value other
#endif
        MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win); // finding
        MPI_Win_unlock(0, win);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
