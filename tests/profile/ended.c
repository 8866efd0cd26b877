// SPDX-License-Identifier: BSD-3-Clause
/* Three ranks: rank 0 waits for long messages of both others in one call. That of rank 1 ends at
 * once; then rank 1 works 0.25 s. That of rank 2 goes on only while rank 2 calls MPI, and that is
 * seldom, but it works less at a time. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { SHORT = 1 << 20, LENGTH = 64 << 20, UNIT = 130000, PAUSES = 3 };

int main(int argc, char **argv)
{
    int rank, done = 0;
    char *data = calloc(LENGTH + SHORT, 1);
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Irecv(data, SHORT, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(data + SHORT, LENGTH, MPI_BYTE, 2, 0, MPI_COMM_WORLD, &requests[1]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Send(data, SHORT, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        usleep(UNIT * 2);
    }
    if (rank == 2)
        MPI_Isend(data, LENGTH, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[0]);
    for (int i = 0; i < PAUSES && rank == 2; i++) {
        usleep(UNIT);
        MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_SELF); /* rank 1 is back */
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    free(data);
    return 0;
}
