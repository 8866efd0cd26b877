// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=3 rule=deadlock kinds=deadlocks
 * Each rank locks its own memory and then that of the next one; in the corrected program all lock
 * in the order of the ranks. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size, first, second, *memory;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    first = rank;
    second = (rank + 1) % size;
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    for (int i = 0; i < 100; i++) { /* alone, and shared */
        MPI_Win_lock(i % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Accumulate(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
#ifdef CORRECTED
    if (second < first) {
        second = first;
        first = 0;
    }
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, first, 0, win);
#else
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, first, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
#endif
    MPI_Win_lock(MPI_LOCK_SHARED, second, 0, win); // finding
    MPI_Win_unlock(second, win);
    MPI_Win_unlock(first, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
