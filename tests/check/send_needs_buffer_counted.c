// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=3 rule=send-needs-buffer */
#include <mpi.h>

/* The record of the second A is counted, and the count is sent before the record of C, whose size
 * is another. In the correct program rank 1 sends D before it receives C, so that no rank waits for
 * a buffer. */
int main(int argc, char **argv)
{
    int rank, data[2] = {0, 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int i = 0; i < 2; i++)
            MPI_Send(data, 1, MPI_INT, 1, 3, MPI_COMM_WORLD); /* A */
        MPI_Send(data, 1, MPI_INT, 2, 3, MPI_COMM_WORLD);     // finding
        MPI_Send(data, 2, MPI_INT, 1, 3, MPI_COMM_WORLD);     /* C */
    } else if (rank == 1) {
        for (int i = 0; i < 2; i++)
            MPI_Recv(data, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#ifdef CORRECTED
        MPI_Send(data, 1, MPI_INT, 2, 3, MPI_COMM_WORLD); /* D */
        MPI_Recv(data, 2, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#else
        MPI_Recv(data, 2, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(data, 1, MPI_INT, 2, 3, MPI_COMM_WORLD);
#endif
    } else {
        MPI_Recv(data, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(data, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* B */
    }
    MPI_Finalize();
    return 0;
}
