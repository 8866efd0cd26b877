// SPDX-License-Identifier: BSD-3-Clause
/* Which processors each rank may use. */
#ifndef WEFTRUN_BIND_H
#define WEFTRUN_BIND_H

#include "state.h"

/* Decides cpus and bound of every rank by job->bind and reports when asked to. Returns 0, or -1
 * after saying why it cannot be done. Looks at the machine only if binding or report is asked. */
int weft_bind_plan(struct job *job);

#endif
