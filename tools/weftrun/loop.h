// SPDX-License-Identifier: BSD-3-Clause
/* The life of a job from the first rank's start to the last one's end. */
#ifndef WEFTRUN_LOOP_H
#define WEFTRUN_LOOP_H

#include "launch.h"
#include "state.h"

/* Blocks the signals that the loop takes by descriptor; *before gets the mask as it was. To be
 * called before any thread is started. Returns 0, or -1 after saying why. */
int weft_loop_block_signals(sigset_t *before);

/* Runs the job: starts its ranks, forwards output and signals, ends it by the rules of policy.h.
 * wake is the server's descriptor. Returns weftrun's exit code. No rank is left running. */
int weft_loop_run(struct job *job, const struct launch_context *ctx, int wake);

#endif
