// SPDX-License-Identifier: BSD-3-Clause
/* Debuggers of ranks: those that attach by MPIR, and those of --debug. */
#ifndef WEFTRUN_DEBUGGERS_H
#define WEFTRUN_DEBUGGERS_H

#include "state.h"

/* Before ranks start. Returns 0, or -1 after printing why --debug is impossible. */
int weft_debuggers_prepare(struct job *job);

/* All ranks have started: fills the table of MPIR, and opens the debuggers of --debug. */
void weft_debuggers_open(struct job *job);

/* Lets the ranks join the job when each rank of --debug has a debugger. Returns the milliseconds
 * until the next call, -1 for none. */
int weft_debuggers_tick(struct job *job);

/* A child that is no rank has ended with a status of waitpid. If it is a terminal whose debugger
 * has not attached, the job is stopped, unless the status is 0: tmux opens a window and ends. */
void weft_debuggers_ended(struct job *job, pid_t pid, int status);

/* The job ends because of an error, which text states. */
void weft_debuggers_abort(const char *text);

/* accept.c: while connections are held, ranks wait in PMIx_Init. */
void weft_accept_hold(bool hold);

#endif
