// SPDX-License-Identifier: BSD-3-Clause
/*
 * Shared by the MPI benchmarks: start, buffers, end.
 *
 * Invariant: only rank 0 prints, and nothing with --turns. All ranks detect a wrong command line or
 * too few ranks, so all of them finalize and exit with the same code.
 */
#ifndef BENCH_MPI_BENCH_H
#define BENCH_MPI_BENCH_H

#include "options.h"
#include "table.h"
#include "turns.h"

struct mpi_bench {
    const struct bench_program *program;
    struct bench_options options;
    struct bench_turns turns;
    int rank, size;
    char *send, *recv; /* options.max bytes each */
    bool good;         /* on rank 0: nothing has failed the validation */
};

/* Starts MPI and reads the command line. min_ranks: fewer are refused; only: more are refused too.
 * Returns true to go on; false to return *code from main, MPI being finalized. */
bool mpi_bench_start(struct mpi_bench *b, const struct bench_program *program, int min_ranks,
                     bool only, int *argc, char ***argv, int *code);

/* Prints the head of the table; the arguments are those of bench_table_header. */
void mpi_bench_header(struct mpi_bench *b, const char *note, const char *first, const char *second);

/* The next batch, or false at the end. With -c, puts the pattern of its size into send and clears
 * recv. */
bool mpi_bench_next(struct mpi_bench *b, struct bench_batch *batch);

/* Hands in the figures of a batch (those of bench_table_row) and the seconds that rank 0 took for
 * its timed part. Collective, as it validates what the ranks with receiver set have received. */
void mpi_bench_report(struct mpi_bench *b, const struct bench_batch *batch, double seconds,
                      double first, double second, bool receiver);

/* Frees, finalizes, and returns the exit code. */
int mpi_bench_end(struct mpi_bench *b);

#endif
