// SPDX-License-Identifier: BSD-3-Clause
/* Each rank exchanges short messages with the next and the one before, and starts a collective; in
 * each of the steps it works 20 ms between the start and the completion. Then a broadcast, whose
 * algorithm the test sets. The argument -poll: the messages are completed by MPI_Test. */
#include <mpi.h>
#include <time.h>

enum { STEPS = 5, BYTES = 64 * 1024 };

static void work(void)
{
    struct timespec time = {0, 20000000};
    nanosleep(&time, NULL);
}

int main(int argc, char **argv)
{
    static char data[BYTES];
    int rank, size, out = 0, in = 0, never, sum = 0;
    (void)argv;
    MPI_Request requests[3], collective;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Recv_init(&never, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[2]);
    for (int i = 0; i < STEPS; i++) {
        MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&out, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[1]);
        work();
        for (int j = 0, flag = 0; argc > 1 && j < 2; flag = 0, j++)
            while (!flag)
                MPI_Test(&requests[j], &flag, MPI_STATUS_IGNORE);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &collective);
        work();
        MPI_Wait(&collective, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 3; i++)
        MPI_Bcast(data, BYTES, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Request_free(&requests[2]);
    MPI_Finalize();
    return 0;
}
