// SPDX-License-Identifier: BSD-3-Clause
/*
 * Every rank exchanges the same number of bytes with each other rank, and compares what arrives.
 * Argument: the number of rounds.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 20 };

int main(int argc, char **argv)
{
    int rank, size, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *out = malloc(BYTES), *in = malloc(BYTES);
    if (!out || !in)
        MPI_Abort(MPI_COMM_WORLD, 1);
    int rounds = argc > 1 ? atoi(argv[1]) : 8;
    for (int round = 0; round < rounds; round++)
        for (int step = 1; step < size; step++) {
            int to = (rank + step) % size, from = (rank + size - step) % size;
            memset(out, rank + 10 * round, BYTES);
            MPI_Sendrecv(out, BYTES, MPI_CHAR, to, step, in, BYTES, MPI_CHAR, from, step,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < BYTES; i++)
                wrong += in[i] != (char)(from + 10 * round);
        }
    if (wrong)
        fprintf(stderr, "rank %d: %d wrong bytes\n", rank, wrong);
    free(out);
    free(in);
    MPI_Finalize();
    return wrong != 0;
}
