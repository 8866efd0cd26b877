// SPDX-License-Identifier: BSD-3-Clause
/* Jobs with ranks on other hosts: weftrun starts them by a launcher that is installed. */
#ifndef WEFTRUN_STARTER_H
#define WEFTRUN_STARTER_H

#include "state.h"

/* Starts a job with ranks elsewhere, and waits for its end. Returns the exit code. */
int weft_starter_run(struct job *job);

#endif
