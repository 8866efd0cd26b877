// SPDX-License-Identifier: BSD-3-Clause
/*
 * weft_bw: bandwidth from rank 0 to rank 1, windows of nonblocking messages, each answered.
 */
#include "window.h"

#include <stdlib.h>

static const struct bench_program program = {
    .name = "weft_bw",
    .title = "Weft MPI Bandwidth Test",
    .kind = BENCH_BANDWIDTH,
    .features = BENCH_WINDOW,
};

int main(int argc, char **argv)
{
    struct mpi_bench b;
    struct bench_batch batch;
    int code;
    if (!mpi_bench_start(&b, &program, 2, true, &argc, &argv, &code))
        return code;
    MPI_Request *requests = bench_window_requests(&b, b.options.window);
    mpi_bench_header(&b, NULL, "Bandwidth (MB/s)", NULL);
    while (mpi_bench_next(&b, &batch)) {
        double seconds = bench_window_one_way(&b, &batch, 1 - b.rank, b.rank == 0, requests);
        double bytes = (double)batch.size * b.options.window * batch.timed;
        mpi_bench_report(&b, &batch, seconds, bytes / 1e6 / seconds, -1, b.rank == 1);
    }
    free(requests);
    return mpi_bench_end(&b);
}
