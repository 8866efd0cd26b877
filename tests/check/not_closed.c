// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=not-closed
 * A window is not freed. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int memory = 0;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win); // finding
#ifdef CORRECTED
    MPI_Win_free(&win);
#endif
    MPI_Finalize();
    return 0;
}
