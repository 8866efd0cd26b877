// SPDX-License-Identifier: BSD-3-Clause
/*
 * weft_barrier, weft_bcast, weft_reduce, weft_allreduce, weft_allgather, weft_alltoall,
 * weft_gather, weft_scatter, weft_reduce_scatter: how long a collective takes, as the mean over
 * iterations and ranks. One program for all: its name says which. The size is that of one rank's
 * data (of one block). Runs with every MPI library of the standard ABI.
 */
#include "mpi_bench.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum collective {
    BARRIER,
    BCAST,
    REDUCE,
    ALLREDUCE,
    ALLGATHER,
    ALLTOALL,
    GATHER,
    SCATTER,
    REDUCE_SCATTER,
    COLLECTIVES
};

static const struct bench_program programs[COLLECTIVES] = {
    {"weft_barrier", "Weft MPI Barrier Latency Test (the size means nothing)", BENCH_LATENCY, 0},
    {"weft_bcast", "Weft MPI Broadcast Latency Test", BENCH_LATENCY, 0},
    {"weft_reduce", "Weft MPI Reduce Latency Test (bytes, as MPI_BXOR)", BENCH_LATENCY, 0},
    {"weft_allreduce", "Weft MPI Allreduce Latency Test (bytes, as MPI_BXOR)", BENCH_LATENCY, 0},
    {"weft_allgather", "Weft MPI Allgather Latency Test", BENCH_LATENCY, 0},
    {"weft_alltoall", "Weft MPI All-to-All Latency Test", BENCH_LATENCY, 0},
    {"weft_gather", "Weft MPI Gather Latency Test", BENCH_LATENCY, 0},
    {"weft_scatter", "Weft MPI Scatter Latency Test", BENCH_LATENCY, 0},
    {"weft_reduce_scatter", "Weft MPI Reduce-Scatter-Block Latency Test (bytes, as MPI_BXOR)",
     BENCH_LATENCY, 0},
};

static void run(enum collective collective, const char *send, char *recv, int count)
{
    switch (collective) {
    case BARRIER:
        MPI_Barrier(MPI_COMM_WORLD);
        break;
    case BCAST:
        MPI_Bcast(recv, count, MPI_BYTE, 0, MPI_COMM_WORLD);
        break;
    case REDUCE:
        MPI_Reduce(send, recv, count, MPI_BYTE, MPI_BXOR, 0, MPI_COMM_WORLD);
        break;
    case ALLREDUCE:
        MPI_Allreduce(send, recv, count, MPI_BYTE, MPI_BXOR, MPI_COMM_WORLD);
        break;
    case ALLGATHER:
        MPI_Allgather(send, count, MPI_BYTE, recv, count, MPI_BYTE, MPI_COMM_WORLD);
        break;
    case ALLTOALL:
        MPI_Alltoall(send, count, MPI_BYTE, recv, count, MPI_BYTE, MPI_COMM_WORLD);
        break;
    case GATHER:
        MPI_Gather(send, count, MPI_BYTE, recv, count, MPI_BYTE, 0, MPI_COMM_WORLD);
        break;
    case SCATTER:
        MPI_Scatter(send, count, MPI_BYTE, recv, count, MPI_BYTE, 0, MPI_COMM_WORLD);
        break;
    default:
        MPI_Reduce_scatter_block(send, recv, count, MPI_BYTE, MPI_BXOR, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    struct mpi_bench b;
    struct bench_batch batch;
    enum collective collective = (enum collective)bench_program_of(argv[0], programs, COLLECTIVES);
    int code;
    if (!mpi_bench_start(&b, &programs[collective], 2, false, &argc, &argv, &code))
        return code;
    size_t bytes = b.options.max * (size_t)b.size;
    char *send = bench_buffer(bytes), *recv = bench_buffer(bytes);
    if (!send || !recv) {
        fprintf(stderr, "%s: no memory for two buffers of %zu bytes; lower -m\n",
                programs[collective].name, bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    mpi_bench_header(&b, NULL, "Avg Latency(us)", NULL);
    while (mpi_bench_next(&b, &batch)) {
        double start = 0, seconds, sum = 0;
        for (int i = 0; i < batch.warmup + batch.timed; i++) {
            if (i == batch.warmup)
                start = MPI_Wtime();
            run(collective, send, recv, (int)batch.size);
        }
        seconds = MPI_Wtime() - start;
        MPI_Reduce(&seconds, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        mpi_bench_report(&b, &batch, seconds, sum * 1e6 / b.size / batch.timed, -1, false);
    }
    free(send);
    free(recv);
    return mpi_bench_end(&b);
}
