// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=receive-changed */
#include <mpi.h>

/* A receive buffer is changed before the receive is complete. */
int main(int argc, char **argv)
{
    int rank, in = 0, out = 5;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Irecv(&in, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD, &request); // finding
    MPI_Send(&out, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD);
#ifdef CORRECTED
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    in++;
#else
    in++;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
    MPI_Irecv(&in, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD, &request);
    MPI_Send(&out, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return in == out ? 0 : 1;
}
