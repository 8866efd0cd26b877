// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=buffer-in-flight
 * A message is received into the buffer of a persistent send that has been started. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, data[8] = {0}, *received = data + 2;
    MPI_Request request;
#ifdef CORRECTED
    received = data + 4;
#endif
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Send_init(data, 4, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 2; i++) {
        MPI_Start(&request);
        MPI_Recv(received, 4, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // finding
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    MPI_Finalize();
    return 0;
}
