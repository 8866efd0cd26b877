// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=message-truncated */
#include <mpi.h>

/* MPI_Waitany completes one receive while the message of the other one has not been sent; a longer
 * message with the same tag came before. */
int main(int argc, char **argv)
{
    enum { LONG = 100 };
    int rank, data[LONG] = {0}, first, second, index;
    int n = LONG;
#ifdef CORRECTED
    n = 1;
#endif
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 0) {
        MPI_Request requests[2];
        MPI_Recv(data, LONG, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Irecv(&first, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &requests[0]); // finding
        MPI_Irecv(&second, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
        MPI_Send(data, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
        MPI_Send(data, LONG, MPI_INT, 0, 3, MPI_COMM_WORLD);
        MPI_Send(data, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
        MPI_Recv(data, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(data, n, MPI_INT, 0, 3, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
