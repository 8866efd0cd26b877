// SPDX-License-Identifier: BSD-3-Clause
/* The processors of each rank. */
#ifndef WEFTRUN_BIND_H
#define WEFTRUN_BIND_H

#include "state.h"

/* Sets cpus and bound of every rank by job->bind, and prints them for --report-bindings. Returns 0,
 * or -1 after printing why. Reads the topology only if one of the two options is given. */
int weft_bind_plan(struct job *job);

#endif
