// SPDX-License-Identifier: BSD-3-Clause
/* Jobs that ranks start by PMIx_Spawn. */
#ifndef WEFTRUN_SPAWN_H
#define WEFTRUN_SPAWN_H

#include "server.h"
#include "state.h"

/* Makes a job for a call, behind the last one of the list, registers it and returns it: its ranks
 * are to be launched. NULL: the call cannot be served, and has been answered and freed. */
struct job *weft_spawn_make(struct job *first, struct spawn_call *call);

/* Fails a job whose call is not answered, if the calling rank is dead. */
void weft_spawn_check_caller(struct job *first, struct job *job);

/* Answers the call of a job, once: when all its ranks have joined, or the job has failed. */
void weft_spawn_settle(struct job *job);

/* Removes from the list the spawned jobs whose ranks have ended. done(job) is called before a job
 * is freed. */
void weft_spawn_remove_ended(struct job *first, void (*done)(const struct job *));

#endif
