// SPDX-License-Identifier: BSD-3-Clause
/*
 * ring [LAPS]: a number travels around the ring of all ranks; every rank adds its own rank to it.
 * After LAPS laps rank 0 checks the expected value. Runs on one rank too, which sends to
 * itself.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* Passes the token on and takes the one that comes from the other side; on one rank these are the
 * same, so the receive is posted before the send. */
static long pass_on(long token, int left, int right)
{
    MPI_Request request;
    long next;
    MPI_Irecv(&next, 1, MPI_LONG, left, 0, MPI_COMM_WORLD, &request);
    MPI_Send(&token, 1, MPI_LONG, right, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return next;
}

int main(int argc, char **argv)
{
    int rank, size, good = 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long laps = argc > 1 ? strtol(argv[1], NULL, 10) : 3;
    int left = (rank + size - 1) % size, right = (rank + 1) % size;

    /* Every rank starts a token of its own: size tokens are under way at once, and after each lap
     * the own one is back. */
    long token = 0;
    double start = MPI_Wtime();
    for (long step = 0; step < laps * size; step++)
        token = pass_on(token + rank, left, right);
    double seconds = MPI_Wtime() - start;

    long expected = laps * size * (size - 1) / 2;
    int mine = token == expected, sum;
    MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        good = sum == size;
        printf("%d tokens went %ld times around %d ranks in %.3f s: %s\n", size, laps, size,
               seconds, good ? "all came back right" : "WRONG");
    }
    MPI_Finalize();
    return good ? 0 : 1;
}
