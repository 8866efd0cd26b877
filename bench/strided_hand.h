// SPDX-License-Identifier: BSD-3-Clause
/*
 * What a person would write to move data with holes from one process to another on the same
 * machine: one packs pieces into slots of shared memory, the other unpacks them. It is the limit
 * that an MPI's message through shared memory is judged by.
 *
 * Invariant: a slot is written again only after the reader has taken what was in it.
 */
#ifndef BENCH_STRIDED_HAND_H
#define BENCH_STRIDED_HAND_H

#include <stdbool.h>
#include <stddef.h>

struct strided_hand;

/* What one side moves: bytes of data in runs, at most STRIDED_HAND_RUN bytes each and of one length
 * at both sides; if it has holes, one of the same length follows each run. */
enum { STRIDED_HAND_RUN = 2 << 10 };
struct strided_side {
    char *data;
    size_t bytes, run;
    bool holes;
};

/* Collective over two ranks of MPI_COMM_WORLD. NULL at both when they do not share a machine. */
struct strided_hand *strided_hand_open(int rank);

/* Moves the data of rank 0's side to rank 1's; past: slots are written past the caches. */
void strided_hand_move(struct strided_hand *hand, int rank, const struct strided_side *side,
                       bool past);

/* What one core does of it at best: packs the data into a buffer that stays in its nearest cache,
 * or, if scatter, brings them from there to their places. */
void strided_hand_alone(const struct strided_side *side, bool scatter);

#endif
