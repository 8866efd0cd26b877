// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=collective-may-wait
 * The root of MPI_Scatter sends behind it what the other rank receives before: that hangs where the
 * root waits for all ranks. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, value = 1, in = 0, all[2] = {1, 2};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifndef CORRECTED
    if (rank == 1)
        MPI_Recv(&in, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
    MPI_Scatter(all, 1, MPI_INT, &in, 1, MPI_INT, 0, MPI_COMM_WORLD); // finding
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
#ifdef CORRECTED
    if (rank == 1)
        MPI_Recv(&in, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
    MPI_Finalize();
    return 0;
}
