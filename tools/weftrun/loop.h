// SPDX-License-Identifier: BSD-3-Clause
/* Runs a job from the start of the first rank to the end of the last one. */
#ifndef WEFTRUN_LOOP_H
#define WEFTRUN_LOOP_H

#include "launch.h"
#include "state.h"

/* Blocks the signals that the loop reads from a descriptor; *before is the old mask. Called before
 * any thread is started. Returns 0, or -1 after printing why. */
int weft_loop_block_signals(sigset_t *before);

/* Starts the ranks, forwards output and signals, ends the job by the rules of policy.h. wake is the
 * server's descriptor. Returns weftrun's exit code; no rank runs then. */
int weft_loop_run(struct job *job, const struct launch_context *ctx, int wake);

#endif
