// SPDX-License-Identifier: BSD-3-Clause
/* Whether the machine's limits allow a job of this size, asked before anything is started. */
#ifndef WEFTRUN_LIMITS_H
#define WEFTRUN_LIMITS_H

#include "state.h"

#include <sys/resource.h>

/* Raises weftrun's own limit of open files as far as allowed; *before is what it was, to be given
 * back to the ranks. Returns 0 if job->size ranks fit, or -1 after saying which limit, how much
 * there is, how much is needed, and what to do. */
int weft_limits_check(const struct job *job, struct rlimit *before);

#endif
