// SPDX-License-Identifier: BSD-3-Clause
/*
 * weft_put, weft_get, weft_accumulate, weft_fetch_and_op: an operation of rank 0 on the window of
 * rank 1 and a flush. weft_flush: a flush alone. weft_puts, weft_gets, weft_accumulates: windows of
 * operations, then a flush, as the time of one operation. weft_copy: memcpy from the window of rank
 * 1, the least time of a get on one node. One program for all: its name says which. Accumulates and
 * fetch_and_op add 64-bit integers; sizes are multiples of 8. Runs with every MPI library.
 *
 * Rank 1 waits in a barrier: it progresses, and makes no call of its own.
 */
#include "mpi_bench.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum operation {
    PUT,
    GET,
    ACCUMULATE,
    FETCH_AND_OP,
    FLUSH,
    PUTS,
    GETS,
    ACCUMULATES,
    COPY,
    OPERATIONS
};

static const struct bench_program programs[OPERATIONS] = {
    {"weft_put", "Weft MPI Put and Flush Latency Test", BENCH_LATENCY, 0},
    {"weft_get", "Weft MPI Get and Flush Latency Test", BENCH_LATENCY, 0},
    {"weft_accumulate", "Weft MPI Accumulate and Flush Latency Test", BENCH_LATENCY, 0},
    {"weft_fetch_and_op", "Weft MPI Fetch-and-op and Flush Latency Test", BENCH_LATENCY, 0},
    {"weft_flush", "Weft MPI Flush Test (the size means nothing)", BENCH_LATENCY, 0},
    {"weft_puts", "Weft MPI Put Rate Test", BENCH_BANDWIDTH, BENCH_WINDOW},
    {"weft_gets", "Weft MPI Get Rate Test", BENCH_BANDWIDTH, BENCH_WINDOW},
    {"weft_accumulates", "Weft MPI Accumulate Rate Test", BENCH_BANDWIDTH, BENCH_WINDOW},
    {"weft_copy", "Memory Copy from Another Rank's Window", BENCH_LATENCY, 0},
};

struct job {
    struct mpi_bench b;
    enum operation operation;
    MPI_Win win;
    char *mine, *there; /* windows of this rank and, where it is mapped, of rank 1 */
};

static void start_one(struct job *job, int size)
{
    static long one = 1;
    struct mpi_bench *b = &job->b;
    switch (job->operation) {
    case PUT:
    case PUTS:
        MPI_Put(b->send, size, MPI_BYTE, 1, 0, size, MPI_BYTE, job->win);
        return;
    case GET:
    case GETS:
        MPI_Get(b->recv, size, MPI_BYTE, 1, 0, size, MPI_BYTE, job->win);
        return;
    case ACCUMULATE:
    case ACCUMULATES:
        MPI_Accumulate(b->send, size / 8, MPI_INT64_T, 1, 0, size / 8, MPI_INT64_T, MPI_SUM,
                       job->win);
        return;
    case FETCH_AND_OP:
        MPI_Fetch_and_op(&one, b->recv, MPI_INT64_T, 1, 0, MPI_SUM, job->win);
        return;
    case COPY:
        memcpy(b->recv, job->there, (size_t)size);
        return;
    default:
        return;
    }
}

static void run(struct job *job, int times, int window, int size)
{
    for (int i = 0; i < times; i++) {
        for (int k = 0; k < window; k++)
            start_one(job, size);
        if (job->operation != COPY)
            MPI_Win_flush(1, job->win);
    }
}

/* Returns rank 0's seconds. */
static double measure(struct job *job, const struct bench_batch *batch)
{
    double seconds = 0;
    bool windows = programs[job->operation].features & BENCH_WINDOW;
    MPI_Barrier(MPI_COMM_WORLD);
    if (job->b.rank == 0) {
        MPI_Win_lock_all(0, job->win);
        run(job, batch->warmup, windows ? batch->warmup_window : 1, (int)batch->size);
        double start = MPI_Wtime();
        run(job, batch->timed, windows ? job->b.options.window : 1, (int)batch->size);
        seconds = MPI_Wtime() - start;
        MPI_Win_unlock_all(job->win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return seconds;
}

static void open_window(struct job *job)
{
    MPI_Aint bytes = (MPI_Aint)job->b.options.max + 8;
    int unit;
    if (job->operation != COPY) {
        MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &job->mine, &job->win);
    } else {
        MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &job->mine, &job->win);
        MPI_Win_shared_query(job->win, 1, &bytes, &unit, &job->there);
    }
    memset(job->mine, 0, (size_t)bytes);
}

int main(int argc, char **argv)
{
    struct job job = {.operation = (enum operation)bench_program_of(argv[0], programs, OPERATIONS)};
    struct bench_batch batch;
    int code;
    if (!mpi_bench_start(&job.b, &programs[job.operation], 2, true, &argc, &argv, &code))
        return code;
    open_window(&job);
    int window = programs[job.operation].features & BENCH_WINDOW ? job.b.options.window : 1;
    mpi_bench_header(&job.b, NULL, "Time of one (us)", NULL);
    while (mpi_bench_next(&job.b, &batch)) {
        double seconds = measure(&job, &batch);
        mpi_bench_report(&job.b, &batch, seconds, seconds * 1e6 / batch.timed / window, -1, false);
    }
    MPI_Win_free(&job.win);
    return mpi_bench_end(&job.b);
}
