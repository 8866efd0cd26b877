// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=deadlock
 * Both ranks send synchronously before they receive. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, out = 1, in;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef CORRECTED
    MPI_Irecv(&in, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
#endif
    MPI_Ssend(&out, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD); // finding
#ifndef CORRECTED
    MPI_Irecv(&in, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
#endif
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
