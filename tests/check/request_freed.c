// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=request-freed
 * A receive is freed while it is active; in the corrected program it is complete. A cancelled
 * receive and a send may be freed. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, value = 0, other = 0, flag = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Isend(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    } else {
        MPI_Irecv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
#ifdef CORRECTED
        while (!flag)
            MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
#endif
        MPI_Request_free(&request); // finding
    }
    MPI_Irecv(&other, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Request_free(&request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
