// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=request-lost
 * The request of a send is overwritten by that of the receive. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, out = 1, in;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Isend(&out, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]); // finding
#ifdef CORRECTED
    MPI_Irecv(&in, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
#else
    MPI_Irecv(&in, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
#endif
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
