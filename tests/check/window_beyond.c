// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=buffer-range
 * A window is larger than its memory. */
#include <mpi.h>
#include <stdlib.h>

enum { N = 100 };

int main(int argc, char **argv)
{
    MPI_Win win;
#ifdef CORRECTED
    int *memory = malloc(N * sizeof *memory);
#else
    int *memory = malloc(N / 2 * sizeof *memory);
#endif
    MPI_Init(&argc, &argv);
    MPI_Win_create(memory, N * sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win); // finding
    MPI_Win_free(&win);
    free(memory);
    MPI_Finalize();
    return 0;
}
