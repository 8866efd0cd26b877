// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=deadlock
 * A rank waits for one of two messages, which the other one has not sent before MPI_Finalize. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, values[2] = {1, 2}, index;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Irecv(&values[0], 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&values[1], 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE); // finding
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
#ifdef CORRECTED
        MPI_Send(&values[0], 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
        MPI_Send(&values[0], 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
#else
        MPI_Send(&values[0], 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
#endif
    }
    MPI_Finalize();
    return 0;
}
