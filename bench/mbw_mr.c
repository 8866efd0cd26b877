// SPDX-License-Identifier: BSD-3-Clause
/*
 * weft_mbw_mr: bandwidth and message rate of several pairs of ranks at once. Rank r of the first
 * half sends to rank r + pairs; with -p fewer pairs the ranks beyond are idle.
 */
#include "window.h"

#include <stdio.h>
#include <stdlib.h>

static const struct bench_program program = {
    .name = "weft_mbw_mr",
    .title = "Weft MPI Multiple Bandwidth / Message Rate Test",
    .kind = BENCH_BANDWIDTH,
    .features = BENCH_WINDOW | BENCH_PAIRS,
};

/* The mean time of the senders: they run side by side, and no single one is the job. */
static double mean_seconds(double seconds, bool sender, int pairs)
{
    double mine = sender ? seconds : 0, sum = 0;
    MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    return sum / pairs;
}

static void measure(struct mpi_bench *b, int pairs, MPI_Request *requests)
{
    bool sender = b->rank < pairs, receiver = !sender && b->rank < 2 * pairs;
    int peer = sender ? b->rank + pairs : receiver ? b->rank - pairs : -1;
    struct bench_batch batch;
    while (mpi_bench_next(b, &batch)) {
        double seconds = bench_window_one_way(b, &batch, peer, sender, requests);
        seconds = mean_seconds(seconds, sender, pairs);
        double rate = (double)pairs * b->options.window * batch.timed / seconds;
        double first = rate * (double)batch.size / 1e6;
        if (b->options.turns && b->options.per_message)
            first = 1e6 / rate;
        mpi_bench_report(b, &batch, seconds, first, rate, receiver);
    }
}

int main(int argc, char **argv)
{
    struct mpi_bench b;
    char note[80];
    int code;
    if (!mpi_bench_start(&b, &program, 2, false, &argc, &argv, &code))
        return code;
    int pairs = b.options.pairs ? b.options.pairs : b.size / 2;
    if (pairs > b.size / 2) {
        if (b.rank == 0)
            fprintf(stderr, "%s: %d ranks make %d pairs, not %d; lower -p or start more ranks\n",
                    program.name, b.size, b.size / 2, pairs);
        mpi_bench_end(&b);
        return 2;
    }
    MPI_Request *requests = bench_window_requests(&b, b.options.window);
    snprintf(note, sizeof note, "[ pairs: %d ] [ window size: %d ]", pairs, b.options.window);
    mpi_bench_header(&b, note, "MB/s", "Messages/s");
    measure(&b, pairs, requests);
    free(requests);
    return mpi_bench_end(&b);
}
