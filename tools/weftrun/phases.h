// SPDX-License-Identifier: BSD-3-Clause
/* weftrun's side of the job file: see src/pmix/job_file.h. */
#ifndef WEFTRUN_PHASES_H
#define WEFTRUN_PHASES_H

#include "state.h"

/* Makes the file in job->scratch: job->file and job->file_name. Returns 0, or -1 after printing
 * why. */
int weft_phases_open(struct job *job);

/* Removes the file of a job that has ended. */
void weft_phases_close(struct job *job);

/* Sets rank->phase to the phase that the rank has written, if it has, and returns rank->phase. */
int weft_phases_update(struct rank *rank);

/* True if the rank has begun to join MPI and has not finalized it: then it needs all ranks. */
bool weft_phases_needs_all(const struct rank *rank);

#endif
