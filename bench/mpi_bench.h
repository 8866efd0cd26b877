// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the MPI benchmarks have in common: start, buffers, end.
 *
 * Invariant: only rank 0 prints. A wrong command line or too few ranks is seen by every rank alike,
 * so all of them finalize and leave with the same code and no one has to be killed.
 */
#ifndef BENCH_MPI_BENCH_H
#define BENCH_MPI_BENCH_H

#include "options.h"
#include "table.h"

struct mpi_bench {
    const struct bench_program *program;
    struct bench_options options;
    int rank, size;
    char *send, *recv; /* options.max bytes each */
    bool good;         /* on rank 0: nothing has failed the validation */
};

/* Starts MPI and reads the command line. min_ranks: fewer are refused; only: more are refused too.
 * Returns true to go on; false to return *code from main, MPI being finalized. */
bool mpi_bench_start(struct mpi_bench *b, const struct bench_program *program, int min_ranks,
                     bool only, int *argc, char ***argv, int *code);

/* Puts the pattern of this size into send and clears recv. Costs nothing without -c. */
void mpi_bench_prepare(struct mpi_bench *b, size_t size);

/* Collective: true on rank 0 if recv holds the pattern on every rank with receiver set. */
bool mpi_bench_validate(struct mpi_bench *b, size_t size, bool receiver);

/* Frees, finalizes, and returns the exit code. */
int mpi_bench_end(struct mpi_bench *b);

#endif
