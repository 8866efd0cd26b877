// SPDX-License-Identifier: BSD-3-Clause
/*
 * Long messages between two ranks: rails [COMMAND]. Compares what arrives, and prints the MB/s of
 * 16 MiB in one direction. With a command the second rank runs it after the first messages, which
 * then take other ways; messages go on as before.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 16 << 20, WARM = 2, TIMES = 4, LENGTHS = 6 };

static unsigned char *data;
static int rank, wrong;

static unsigned char expected(size_t i, int round)
{
    return (unsigned char)(i * 7 + (i >> 16) + (size_t)round);
}

/* Rank 0 sends to rank 1. */
static void pass(int bytes, int round)
{
    for (size_t i = 0; i < (size_t)bytes; i++)
        data[i] = rank ? 0 : expected(i, round);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Send(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (size_t i = 0; i < (size_t)bytes; i++)
        wrong += data[i] != expected(i, round);
}

/* Both send. */
static void exchange(int bytes)
{
    unsigned char *in = malloc((size_t)bytes);
    if (!in)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t i = 0; i < (size_t)bytes; i++)
        data[i] = expected(i, rank);
    MPI_Sendrecv(data, bytes, MPI_BYTE, 1 - rank, 1, in, bytes, MPI_BYTE, 1 - rank, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (size_t i = 0; i < (size_t)bytes; i++)
        wrong += in[i] != expected(i, 1 - rank);
    free(in);
}

int main(int argc, char **argv)
{
    static const int lengths[LENGTHS] = {1000000, 1 << 20, (1 << 20) + 1, 3 << 19, 5000001, BYTES};
    double time = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    data = malloc(BYTES);
    if (!data)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < WARM; i++)
        pass(BYTES, i);
    if (argc > 1 && rank == 1 && system(argv[1]))
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < LENGTHS; i++) {
        pass(lengths[i], i);
        exchange(lengths[i]);
    }
    for (int i = 0; i < TIMES; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        if (rank == 0) {
            MPI_Send(data, BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(data, BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
        double taken = MPI_Wtime() - begin;
        if (time == 0 || taken < time)
            time = taken;
    }
    if (wrong)
        fprintf(stderr, "rank %d: %d wrong bytes\n", rank, wrong);
    if (rank == 0)
        printf("%.1f MB/s\n", BYTES / time / 1e6);
    free(data);
    MPI_Finalize();
    return wrong != 0;
}
