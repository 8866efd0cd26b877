// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=window-freed
 * The memory of a window is freed before the window. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    MPI_Win win;
    int *memory = malloc(10 * sizeof *memory);
    MPI_Init(&argc, &argv);
    MPI_Win_create(memory, 10 * sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
#ifndef CORRECTED
    free(memory);
#endif
    MPI_Win_free(&win); // finding
#ifdef CORRECTED
    free(memory);
#endif
    MPI_Finalize();
    return 0;
}
