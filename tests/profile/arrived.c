// SPDX-License-Identifier: BSD-3-Clause
/* Three ranks: rank 0 waits for a short message of rank 1, which has arrived, and for a long one of
 * rank 2, which works while it is sent. Rank 1 works longer at a time. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { LENGTH = 64 << 20, UNIT = 60000, PAUSES = 4 };

int main(int argc, char **argv)
{
    int rank;
    char *data = calloc(LENGTH, 1);
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Irecv(data, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(data + 8, LENGTH - 8, MPI_BYTE, 2, 0, MPI_COMM_WORLD, &requests[1]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (rank > 0)
        MPI_Isend(data, rank == 1 ? 8 : LENGTH - 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[1]);
    if (rank == 1)
        usleep(PAUSES * UNIT * 2 / 3);
    for (int i = 0, done; i < PAUSES && rank == 2; i++) {
        usleep(UNIT);
        MPI_Test(&requests[1], &done, MPI_STATUS_IGNORE);
    }
    if (rank > 0)
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Finalize();
    free(data);
    return 0;
}
