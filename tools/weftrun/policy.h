// SPDX-License-Identifier: BSD-3-Clause
/* The exit code of the job, and which ranks are stopped after the end of a rank, a signal or the
 * timeout. */
#ifndef WEFTRUN_POLICY_H
#define WEFTRUN_POLICY_H

#include "server.h"
#include "state.h"

/* Resets the state for a new job. */
void weft_policy_start(struct job *job);

/* The pid of a rank was reaped with this wait status. */
void weft_policy_ended(struct rank *rank, int status);

/* A rank called PMIx_Abort. */
void weft_policy_aborted(const struct abort_call *call);

/* weftrun got this signal (INT, TERM, HUP, USR1, USR2). */
void weft_policy_signal(int sig);

/* Stops the job with this exit code, for a reason that is already printed (broken output, a rank
 * that cannot be executed). No effect while the job is being stopped. */
void weft_policy_stop(int code);

/* Handles timeouts that have passed. Returns milliseconds until the next call, or -1. */
int weft_policy_tick(void);

/* True while the job is being stopped: no more ranks are started. */
bool weft_policy_stopping(void);

int weft_policy_exit_code(void);

/* Prints the exit code of each rank, 128 + S for signal S. */
void weft_policy_print_codes(const struct job *job);

/* A job is spawned: begins to look for ranks with another MPI. */
void weft_policy_look(void);

/* The spawn of a job fails, because of the end of a rank (NULL: for a reason that is already
 * printed): kills its ranks, whose ends then have no effect. No effect on a job that has failed. */
void weft_policy_fail_spawn(struct job *job, const struct rank *because);

#endif
