// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=3 rule=collective-order
 * The last rank calls another collective than the others. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size, value = 1, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
#ifndef CORRECTED
    if (rank == size - 1)
        MPI_Barrier(MPI_COMM_WORLD); // finding
    else
#endif
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
