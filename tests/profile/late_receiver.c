// SPDX-License-Identifier: BSD-3-Clause
/* Rank 0 sends a long message and then works, rank 1 works and then receives it: rank 0 waits for
 * the receive. Both work for 20 ms in each step. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

enum { STEPS = 10, BYTES = 8 << 20 };

static void work(void)
{
    struct timespec time = {0, 20000000};
    nanosleep(&time, NULL);
}

int main(int argc, char **argv)
{
    int rank;
    char *buffer = calloc(1, BYTES);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < STEPS; i++) {
        if (rank == 0)
            MPI_Send(buffer, BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD); // waits
        work();
        if (rank == 1)
            MPI_Recv(buffer, BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    free(buffer);
    return 0;
}
