// SPDX-License-Identifier: BSD-3-Clause
/* The number of ranks of a job. */
#ifndef WEFTRUN_RANK_COUNT_H
#define WEFTRUN_RANK_COUNT_H

#include "state.h"

#define RANKS_MAX 100000 /* more than one machine runs; products of it do not overflow */

/* Numbers the ranks, with the default of -n, when all options are read. Returns 0, or -1 after
 * printing why the job cannot have them. */
int weft_ranks_count(struct job *job);

#endif
