// SPDX-License-Identifier: BSD-3-Clause
/*
 * Windows of messages: how the bandwidth benchmarks send and receive.
 *
 * Invariant: all messages of a window use one buffer, as in the OSU benchmarks, so that what is
 * measured is the transport and not the machine's memory.
 */
#ifndef BENCH_WINDOW_H
#define BENCH_WINDOW_H

#include "mpi_bench.h"

#include <mpi.h>

enum { BENCH_TAG_DATA = 100, BENCH_TAG_ACK = 101 };

/* Starts window sends or receives of count bytes into requests[0..window-1]. */
void bench_window_send(struct mpi_bench *b, int window, int count, int peer, MPI_Request *requests);
void bench_window_recv(struct mpi_bench *b, int window, int count, int peer, MPI_Request *requests);

/* Runs warm-up and timed windows from a sender to its receiver, each window answered by a message
 * of four bytes; every rank of the world calls it (idle ones with peer < 0) as it has a barrier
 * between the two parts. Returns the seconds of the timed part. */
double bench_window_one_way(struct mpi_bench *b, const struct bench_batch *batch, int peer,
                            bool sender, MPI_Request *requests);

/* An array of n requests, or the end of the job with a sentence. */
MPI_Request *bench_window_requests(struct mpi_bench *b, int n);

#endif
