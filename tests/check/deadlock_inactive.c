// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=deadlock
 * Both ranks wait for a message of the other one, beside a persistent request that is not started.
 */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, index, values[2];
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Recv_init(&values[0], 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&values[1], 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
#ifdef CORRECTED
    MPI_Send(&rank, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
#endif
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE); // finding
    MPI_Request_free(&requests[0]);
    MPI_Finalize();
    return 0;
}
