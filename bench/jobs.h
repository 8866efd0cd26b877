// SPDX-License-Identifier: BSD-3-Clause
/*
 * The jobs of bench/side_by_side: starts them, controls them through their fifos, ends them.
 *
 * Each job is a command in a process group of its own, with "--turns DIR/a" (or b, c, ...)
 * appended, where DIR is a directory that this module makes. Its standard output goes to standard
 * error.
 *
 * Invariant: every failure ends in jobs_fail, which leaves neither a process nor a file: this
 * process adopts orphans of its jobs, and exits only when it has no child. Every wait has a time
 * limit.
 */
#ifndef BENCH_JOBS_H
#define BENCH_JOBS_H

#include "turns.h"

#include <sys/types.h>

enum { JOBS_MAX = 8, JOBS_MAX_RANKS = 64 };

/* Sets up signals, adoption of orphans and the directory. count: the number of jobs, at most
 * JOBS_MAX. ranks: of each job. limit: seconds that a job may take for one reply, and for its start
 * and its end. */
void jobs_open(int count, int ranks, int limit);

/* Starts a job, by its number from 0 on, from a command that ends with NULL. Returns at once. */
void jobs_start(int job, char *const command[]);

/* Waits until all ranks of all jobs have started and are idle. */
void jobs_await_all(void);

/* Runs a batch of a job while all others are idle. Returns when all its ranks are idle, with the
 * reply of its rank 0, but `disturbed` is the sum over all ranks. */
struct bench_reply jobs_run(int job, const struct bench_order *order);

/* Ends all jobs regularly; an exit code other than 0 is a failure. */
void jobs_close(void);

/* Ends everything, prints a sentence on standard error, and exits with code 1. */
_Noreturn void jobs_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
