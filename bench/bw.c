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
    int code;
    if (!mpi_bench_start(&b, &program, 2, true, &argc, &argv, &code))
        return code;
    MPI_Request *requests = bench_window_requests(&b, b.options.window);
    if (b.rank == 0)
        bench_table_header(&b.options, program.title, NULL, "Bandwidth (MB/s)", NULL);
    for (size_t size = b.options.min; size <= b.options.max; size = bench_next_size(size)) {
        mpi_bench_prepare(&b, size);
        double seconds = bench_window_one_way(&b, size, 1 - b.rank, b.rank == 0, requests);
        bool good = mpi_bench_validate(&b, size, b.rank == 1);
        double bytes =
            (double)size * b.options.window * bench_iterations(&b.options, BENCH_BANDWIDTH, size);
        if (b.rank == 0)
            bench_table_row(&b.options, size, bytes / 1e6 / seconds, -1, good);
    }
    free(requests);
    return mpi_bench_end(&b);
}
