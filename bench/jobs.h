// SPDX-License-Identifier: BSD-3-Clause
/*
 * The jobs of bench/side_by_side: started, ordered about through their fifos, ended.
 *
 * Each job is a command in a process group of its own, with "--turns DIR/a" (or b, c, ...) appended, where
 * DIR is a directory that this module makes. Its standard output goes to standard error.
 *
 * Invariant: whatever goes wrong ends in jobs_fail, which leaves neither a process nor a file
 * behind: this process adopts what its jobs orphan, and exits only when it has no child left.
 * Nothing is waited for without a limit in time.
 */
#ifndef BENCH_JOBS_H
#define BENCH_JOBS_H

#include "turns.h"

#include <sys/types.h>

enum { JOBS_MAX = 8, JOBS_MAX_RANKS = 64 };

/* Takes what this process needs to look after children: signals, adoption, the directory. count:
 * how many jobs, at most JOBS_MAX. ranks: of each job. limit: seconds that a job may take for one
 * answer, and for its start and its end. */
void jobs_open(int count, int ranks, int limit);

/* Starts a job, by its number from 0 on, from a command that ends with NULL. Returns at once. */
void jobs_start(int job, char *const command[]);

/* Waits until all ranks of all jobs are there and rest. */
void jobs_await_all(void);

/* Has a job run a batch while everything else rests. Returns when all its ranks rest again, with
 * what its rank 0 said, but disturbed is the sum of all ranks'. */
struct bench_reply jobs_run(int job, const struct bench_order *order);

/* Seconds by the clock that no one sets. */
double jobs_now(void);

/* Ends all jobs in peace; a job that ends otherwise than with exit code 0 is a failure. */
void jobs_close(void);

/* Ends everything, prints a sentence on standard error, and exits with code 1. */
_Noreturn void jobs_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
