// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=collective-operation
 * The ranks reduce with different operations. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, value = 1, result;
    MPI_Op op = MPI_SUM;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifndef CORRECTED
    if (rank > 0)
        op = MPI_MAX;
#endif
    MPI_Allreduce(&value, &result, 1, MPI_INT, op, MPI_COMM_WORLD); // finding
    MPI_Finalize();
    return 0;
}
