// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=receive-changed */
#include <mpi.h>

/* A block of the result is changed before it is complete; between the blocks the program may store.
 */
int main(int argc, char **argv)
{
    int rank, result[6] = {0}, counts[2] = {1, 1}, at[2] = {4, 0};
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Iallgatherv(&rank, 1, MPI_INT, result, counts, at, MPI_INT, MPI_COMM_WORLD, // finding
                    &request);
#ifndef CORRECTED
    result[0] += 7;
#endif
    result[2] += 7;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
