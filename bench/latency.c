// SPDX-License-Identifier: BSD-3-Clause
/*
 * weft_latency: half the time of a ping-pong of blocking sends and receives between two ranks.
 */
#include "mpi_bench.h"

#include <mpi.h>

enum { TAG = 1 };

static const struct bench_program program = {
    .name = "weft_latency",
    .title = "Weft MPI Latency Test",
    .kind = BENCH_LATENCY,
};

/* Returns half a round trip in seconds. */
static double ping_pong(struct mpi_bench *b, size_t size)
{
    int timed = bench_iterations(&b->options, BENCH_LATENCY, size);
    int warmup = bench_warmup(&b->options, BENCH_LATENCY, size);
    int count = (int)size;
    double start = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < warmup + timed; i++) {
        if (b->rank == 0) {
            if (i == warmup)
                start = MPI_Wtime();
            MPI_Send(b->send, count, MPI_CHAR, 1, TAG, MPI_COMM_WORLD);
            MPI_Recv(b->recv, count, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(b->recv, count, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(b->send, count, MPI_CHAR, 0, TAG, MPI_COMM_WORLD);
        }
    }
    return (MPI_Wtime() - start) / (2.0 * timed);
}

int main(int argc, char **argv)
{
    struct mpi_bench b;
    int code;
    if (!mpi_bench_start(&b, &program, 2, true, &argc, &argv, &code))
        return code;
    if (b.rank == 0)
        bench_table_header(&b.options, program.title, NULL, "Latency (us)", NULL);
    for (size_t size = b.options.min; size <= b.options.max; size = bench_next_size(size)) {
        mpi_bench_prepare(&b, size);
        double seconds = ping_pong(&b, size);
        bool good = mpi_bench_validate(&b, size, true);
        if (b.rank == 0)
            bench_table_row(&b.options, size, seconds * 1e6, -1, good);
    }
    return mpi_bench_end(&b);
}
