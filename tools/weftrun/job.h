// SPDX-License-Identifier: BSD-3-Clause
/* Jobs and their ranks: what all files of weftrun use. */
#ifndef WEFTRUN_JOB_H
#define WEFTRUN_JOB_H

#include "state.h"

/* Numbers and names a job, and makes its ranks from its applications. Returns 0, or -1 after
 * printing why. */
int weft_job_begin(struct job *job, int number);

/* The ranks that have been started, of a job and those behind it: the one after `rank`, or, for
 * NULL, the first one; NULL behind the last one. */
struct rank *weft_job_next_rank(struct job *first, const struct rank *rank);

/* The number of ranks of a job and those behind it that run. */
int weft_job_count_running(struct job *first);

#endif
