// SPDX-License-Identifier: BSD-3-Clause
/* Both ends of each message have begun, and the rank that the transfer needs works for 0.5 s before
 * it calls MPI: rank 1 for a receive that it has posted, then rank 0 for a send that is pushed in
 * pieces. The argument -test: it calls MPI_Test during its work. */
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LONG = 8 << 20 };

static bool tests;

static void work(MPI_Request *request)
{
    struct timespec time = {0, 1000000};
    double end = MPI_Wtime() + 0.5;
    for (int done = 0; MPI_Wtime() < end;) {
        nanosleep(&time, NULL);
        if (tests)
            MPI_Test(request, &done, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    MPI_Request request;
    char *buffer = calloc(1, LONG);
    int rank;
    tests = argc > 1 && strcmp(argv[1], "-test") == 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1)
        MPI_Irecv(buffer, LONG, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        work(&request);
    if (rank == 0)
        MPI_Send(buffer, LONG, MPI_CHAR, 1, 0, MPI_COMM_WORLD); // for rank 1
    else
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD); /* the first transfer may take long on a busy host */
    if (rank == 0) {
        MPI_Isend(buffer, LONG, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
        work(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(buffer, LONG, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // for rank 0
    }
    MPI_Finalize();
    free(buffer);
    return 0;
}
