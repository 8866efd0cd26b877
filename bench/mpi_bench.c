// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the MPI benchmarks have in common; see mpi_bench.h.
 */
#include "mpi_bench.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool leave(struct mpi_bench *b, int *code, int value, const char *sentence)
{
    if (b->rank == 0 && sentence)
        fprintf(stderr, "%s\n", sentence);
    MPI_Finalize();
    *code = value;
    return false;
}

bool mpi_bench_start(struct mpi_bench *b, const struct bench_program *program, int min_ranks,
                     bool only, int *argc, char ***argv, int *code)
{
    char why[256];
    memset(b, 0, sizeof *b);
    b->program = program;
    b->good = true;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &b->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b->size);
    switch (bench_options_parse(&b->options, program, *argc, *argv, why, sizeof why)) {
    case BENCH_HELP:
        if (b->rank == 0)
            bench_options_usage(program);
        return leave(b, code, 0, NULL);
    case BENCH_WRONG:
        return leave(b, code, 2, why);
    case BENCH_RUN:
        break;
    }
    if (b->size < min_ranks || (only && b->size > min_ranks)) {
        snprintf(why, sizeof why, "%s needs %s%d ranks, not %d; start it with weftrun -n %d",
                 program->name, only ? "" : "at least ", min_ranks, b->size, min_ranks);
        return leave(b, code, 2, why);
    }
    b->send = bench_buffer(b->options.max);
    b->recv = bench_buffer(b->options.max);
    if (!b->send || !b->recv) {
        fprintf(stderr, "%s: rank %d has no memory for two buffers of %zu bytes; lower -m\n",
                program->name, b->rank, b->options.max);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return true;
}

void mpi_bench_prepare(struct mpi_bench *b, size_t size)
{
    if (!b->options.validate)
        return;
    bench_fill(b->send, size);
    memset(b->recv, 0, size);
}

bool mpi_bench_validate(struct mpi_bench *b, size_t size, bool receiver)
{
    if (!b->options.validate)
        return true;
    int bad = receiver && !bench_check(b->recv, size), anywhere = 0;
    MPI_Reduce(&bad, &anywhere, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (anywhere)
        b->good = false;
    return !anywhere;
}

int mpi_bench_end(struct mpi_bench *b)
{
    int code = b->good ? 0 : 1;
    if (!b->good)
        fprintf(stderr, "%s: data arrived changed in the rows that say Fail\n", b->program->name);
    free(b->send);
    free(b->recv);
    MPI_Finalize();
    return code;
}
