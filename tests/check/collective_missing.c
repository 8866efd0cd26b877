// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=collective-missing
 * Only the root calls a broadcast; it returns, because its data are sent in advance. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, value = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifndef CORRECTED
    if (rank == 0)
#endif
        MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD); // finding
    MPI_Finalize();
    return 0;
}
