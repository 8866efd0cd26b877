// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=deadlock kinds=deadlocks
 * As deadlock_inactive, with two persistent requests, while objects are not checked. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, index, values[2];
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2; i++)
        MPI_Recv_init(&values[i], 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Start(&requests[1]);
#ifdef CORRECTED
    MPI_Send(&rank, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
#endif
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE); // finding
    for (int i = 0; i < 2; i++)
        MPI_Request_free(&requests[i]);
    MPI_Finalize();
    return 0;
}
