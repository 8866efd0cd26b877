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
static void exchange(struct mpi_bench *b, int windows, int window, int count, MPI_Request *requests)
{
    int peer = 1 - b->rank;
    for (int i = 0; i < windows; i++) {
        bench_window_recv(b, window, count, peer, requests);
        bench_window_send(b, window, count, peer, requests + window);
        MPI_Waitall(2 * window, requests, MPI_STATUSES_IGNORE);
    }
}

static double both_ways(struct mpi_bench *b, const struct bench_batch *batch, MPI_Request *requests)
{
    exchange(b, batch->warmup, batch->warmup_window, (int)batch->size, requests);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    exchange(b, batch->timed, b->options.window, (int)batch->size, requests);
    return MPI_Wtime() - start;
}

int main(int argc, char **argv)
{
    struct mpi_bench b;
    struct bench_batch batch;
    int code;
    if (!mpi_bench_start(&b, &program, 2, true, &argc, &argv, &code))
        return code;
    MPI_Request *requests = bench_window_requests(&b, 2 * b.options.window);
    mpi_bench_header(&b, NULL, "Bandwidth (MB/s)", NULL);
    while (mpi_bench_next(&b, &batch)) {
        double seconds = both_ways(&b, &batch, requests);
        double bytes = 2.0 * (double)batch.size * b.options.window * batch.timed;
        mpi_bench_report(&b, &batch, seconds, bytes / 1e6 / seconds, -1, true);
    }
    free(requests);
    return mpi_bench_end(&b);
}
