// SPDX-License-Identifier: BSD-3-Clause
/* What the end of a rank, a signal or a timeout means: the exit code and who is stopped. */
#ifndef WEFTRUN_POLICY_H
#define WEFTRUN_POLICY_H

#include "server.h"
#include "state.h"

/* Forgets all: a new job begins. */
void weft_policy_start(struct job *job);

/* The pid of a rank was reaped with this wait status. */
void weft_policy_ended(struct rank *rank, int status);

/* A rank called PMIx_Abort. */
void weft_policy_aborted(const struct abort_call *call);

/* weftrun got this signal (INT, TERM, HUP, USR1, USR2). */
void weft_policy_signal(int sig);

/* Ends the job with code for a reason that was said already (output broken, a rank that cannot be
 * executed). Nothing if it is ending. */
void weft_policy_stop(int code);

/* Acts on what is due by now. Returns milliseconds until it must be called again, -1 for never. */
int weft_policy_tick(void);

/* Whether the job is being ended: no more ranks shall be started. */
bool weft_policy_stopping(void);

int weft_policy_exit_code(void);

#endif
