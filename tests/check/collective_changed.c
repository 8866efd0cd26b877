// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=3 rule=send-changed
 * The root changes what it broadcasts before the broadcast is complete. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, data[4] = {0};
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Ibcast(data, 4, MPI_INT, 0, MPI_COMM_WORLD, &request); // finding
#ifdef CORRECTED
    MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
    if (rank == 0)
        data[3] = 1;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
