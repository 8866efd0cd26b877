// SPDX-License-Identifier: BSD-3-Clause
/*
 * weft_bibw: bandwidth of two ranks that send windows of nonblocking messages to each other at
 * the same time; both directions are counted.
 */
#include "window.h"

#include <stdlib.h>

static const struct bench_program program = {
    .name = "weft_bibw",
    .title = "Weft MPI Bi-Directional Bandwidth Test",
    .kind = BENCH_BANDWIDTH,
    .features = BENCH_WINDOW,
};

/* requests has room for two windows. */
static void exchange(struct mpi_bench *b, int windows, int count, MPI_Request *requests)
{
    int peer = 1 - b->rank, window = b->options.window;
    for (int i = 0; i < windows; i++) {
        bench_window_recv(b, count, peer, requests);
        bench_window_send(b, count, peer, requests + window);
        MPI_Waitall(2 * window, requests, MPI_STATUSES_IGNORE);
    }
}

static double both_ways(struct mpi_bench *b, size_t size, MPI_Request *requests)
{
    exchange(b, bench_warmup(&b->options, BENCH_BANDWIDTH, size), (int)size, requests);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    exchange(b, bench_iterations(&b->options, BENCH_BANDWIDTH, size), (int)size, requests);
    return MPI_Wtime() - start;
}

int main(int argc, char **argv)
{
    struct mpi_bench b;
    int code;
    if (!mpi_bench_start(&b, &program, 2, true, &argc, &argv, &code))
        return code;
    MPI_Request *requests = bench_window_requests(&b, 2 * b.options.window);
    if (b.rank == 0)
        bench_table_header(&b.options, program.title, NULL, "Bandwidth (MB/s)", NULL);
    for (size_t size = b.options.min; size <= b.options.max; size = bench_next_size(size)) {
        mpi_bench_prepare(&b, size);
        double seconds = both_ways(&b, size, requests);
        bool good = mpi_bench_validate(&b, size, true);
        double bytes = 2.0 * (double)size * b.options.window *
                       bench_iterations(&b.options, BENCH_BANDWIDTH, size);
        if (b.rank == 0)
            bench_table_row(&b.options, size, bytes / 1e6 / seconds, -1, good);
    }
    free(requests);
    return mpi_bench_end(&b);
}
