// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=receive-overlap
 * What was found is printed before the program aborts the job. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, values[2];
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Irecv(&values[0], 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &requests[0]);
#ifdef CORRECTED
    MPI_Irecv(&values[1], 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 2; i++)
        MPI_Send(&rank, 1, MPI_INT, rank, i, MPI_COMM_WORLD);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
#else
    MPI_Irecv(&values[0], 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &requests[1]); // finding
    MPI_Abort(MPI_COMM_WORLD, 1);
#endif
    MPI_Finalize();
    return 0;
}
