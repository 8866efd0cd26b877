// SPDX-License-Identifier: BSD-3-Clause
/* The processors of each rank. */
#ifndef WEFTRUN_BIND_H
#define WEFTRUN_BIND_H

#include "state.h"

/* Sets cpus and bound of every rank by job->placement, and prints them for --report-bindings.
 * Returns 0, or -1 after printing why. Reads the topology only if something is to be bound or
 * printed. */
int weft_bind_plan(struct job *job);

/* The same for a spawned job: its ranks get processors that no rank of the jobs of a list is bound
 * to; if there are too few, its ranks are not bound. */
int weft_bind_plan_beside(struct job *job, struct job *others);

/* The number of objects of a kind that the ranks of the job may use. -1 after printing why there
 * are none. */
int weft_bind_count(const struct job *job, enum object object);

#endif
