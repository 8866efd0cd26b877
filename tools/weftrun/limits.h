// SPDX-License-Identifier: BSD-3-Clause
/* Checks the machine's limits before a job of this size starts. */
#ifndef WEFTRUN_LIMITS_H
#define WEFTRUN_LIMITS_H

#include "state.h"

#include <sys/resource.h>

/* Raises weftrun's limit of open files as far as allowed; *before is the old limit, to be restored
 * in the ranks. Returns 0 if job->size ranks fit beside the others that run, or -1 after printing
 * the limit, its value, the requirement and the next step. */
int weft_limits_check(const struct job *job, int others, struct rlimit *before);

/* Prints a sentence and returns -1 if the stack is too small to start anything. */
int weft_limits_check_stack(void);

#endif
