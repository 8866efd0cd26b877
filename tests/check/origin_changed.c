// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=origin-changed
 * The buffer of a put is changed before the epoch ends. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, out = 1, *memory;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&out, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win); // finding
#ifdef CORRECTED
    MPI_Win_fence(0, win);
#endif
    out = 2;
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
