// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=3 rule=window-conflict
 * Two ranks put to the same element of a third between two fences; accumulates and interleaved
 * elements do not conflict. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, out[2] = {1, 2}, *memory;
    MPI_Datatype pair;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(2, 1, 3, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Win_allocate(8 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                     &win);
    MPI_Win_fence(0, win);
    MPI_Accumulate(out, 1, MPI_INT, 0, 7, 1, MPI_INT, MPI_SUM, win);
#ifdef CORRECTED
    MPI_Put(out, 2, MPI_INT, 0, rank, 1, pair, win);
#else
    MPI_Put(out, 2, MPI_INT, 0, rank == 0 ? 0 : 1, 1, pair, win); // finding
#endif
    MPI_Win_fence(0, win);
    MPI_Put(out, 1, MPI_INT, 0, rank, 1, MPI_INT, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_free(&win);
    MPI_Type_free(&pair);
    MPI_Finalize();
    return 0;
}
