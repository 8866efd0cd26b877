// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=request-active
 * A persistent request is started again before it is complete. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, in[2];
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Recv_init(in, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 2; i++) {
        MPI_Start(&request); // finding
        MPI_Send(&rank, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
#ifdef CORRECTED
        MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
#ifndef CORRECTED
    MPI_Recv(in, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
    MPI_Request_free(&request);
    MPI_Finalize();
    return 0;
}
