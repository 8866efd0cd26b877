// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the MPI benchmarks have in common; see mpi_bench.h.
 */
#include "mpi_bench.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_LINGER = 102 };

static bool leave(struct mpi_bench *b, int *code, int value, const char *sentence)
{
    if (b->rank == 0 && sentence)
        fprintf(stderr, "%s\n", sentence);
    MPI_Finalize();
    *code = value;
    return false;
}

/* Ends the program where MPI is not as thread-safe as the options ask. */
static void init(struct mpi_bench *b, int *argc, char ***argv)
{
    int provided = MPI_THREAD_MULTIPLE;
    if (b->options.multiple || b->options.threads > 1)
        MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(argc, argv);
    if (provided == MPI_THREAD_MULTIPLE)
        return;
    fprintf(stderr, "%s: this MPI does not provide MPI_THREAD_MULTIPLE\n", b->program->name);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

bool mpi_bench_start(struct mpi_bench *b, const struct bench_program *program, int min_ranks,
                     bool only, int *argc, char ***argv, int *code)
{
    char why[256];
    memset(b, 0, sizeof *b);
    b->program = program;
    b->good = true;
    /* The options determine how MPI starts; one rank prints their errors afterwards. */
    enum bench_outcome outcome =
        bench_options_parse(&b->options, program, *argc, *argv, why, sizeof why);
    init(b, argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &b->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b->size);
    switch (outcome) {
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
    if (!bench_turns_open(&b->turns, program, &b->options, b->rank, why, sizeof why)) {
        fprintf(stderr, "%s: rank %d: %s\n", program->name, b->rank, why);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return true;
}

void mpi_bench_header(struct mpi_bench *b, const char *note, const char *first, const char *second)
{
    if (b->rank == 0 && !b->options.turns)
        bench_table_header(&b->options, b->program->title, note, first, second);
}

bool mpi_bench_next(struct mpi_bench *b, struct bench_batch *batch)
{
    if (!bench_turns_next(&b->turns, batch))
        return false;
    if (b->options.validate) {
        bench_fill(b->send, batch->size);
        memset(b->recv, 0, batch->size);
    }
    return true;
}

/* True on rank 0 if recv holds the pattern on every rank with receiver set. */
static bool validate(struct mpi_bench *b, size_t size, bool receiver)
{
    if (!b->options.validate)
        return true;
    int bad = receiver && !bench_check(b->recv, size), anywhere = 0;
    MPI_Reduce(&bad, &anywhere, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (anywhere)
        b->good = false;
    return !anywhere;
}

/* Makes progress until all ranks have reported, because other ranks may still need it. It polls for
 * a message of its own, so that no rank waits for another. */
static void linger(struct mpi_bench *b)
{
    MPI_Request request;
    int done = 0;
    MPI_Irecv(NULL, 0, MPI_CHAR, b->rank, TAG_LINGER, MPI_COMM_WORLD, &request);
    while (!bench_turns_told_to_rest(&b->turns))
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    MPI_Send(NULL, 0, MPI_CHAR, b->rank, TAG_LINGER, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void mpi_bench_report(struct mpi_bench *b, const struct bench_batch *batch, double seconds,
                      double first, double second, bool receiver)
{
    bool good = validate(b, batch->size, receiver);
    if (b->options.turns) {
        bench_turns_reply(&b->turns, seconds, first, good);
        linger(b);
        bench_turns_rest(&b->turns);
    } else if (b->rank == 0) {
        bench_table_row(&b->options, batch->size, first, second, good);
    }
}

int mpi_bench_end(struct mpi_bench *b)
{
    const char *lost = bench_turns_lost(&b->turns);
    int code = b->good && !lost ? 0 : 1;
    if (lost && b->rank == 0)
        fprintf(stderr, "%s: %s\n", b->program->name, lost);
    if (!b->good)
        fprintf(stderr, "%s: data arrived changed in the rows that say Fail\n", b->program->name);
    free(b->send);
    free(b->recv);
    MPI_Finalize();
    return code;
}
