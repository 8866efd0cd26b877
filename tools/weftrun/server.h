// SPDX-License-Identifier: BSD-3-Clause
/*
 * The PMIx server: what the ranks' libraries talk to.
 *
 * There is no way to stop it: PMIx_server_finalize of libpmix 4.2.2 waits for ever now and then
 * when a rank died, for a lock of a thread that is gone. The process ends instead (_exit, so that
 * nothing of libpmix runs any more); all the server's files are in the scratch directory.
 */
#ifndef WEFTRUN_SERVER_H
#define WEFTRUN_SERVER_H

#include "state.h"

struct abort_call {
    int rank; /* who called, -1 if it is no rank of the job */
    int code;
    char text[512]; /* the caller's words, may be empty */
};

/* Starts PMIx's server with job->scratch and registers the job and its ranks. *wake becomes a
 * descriptor that is readable when weft_server_aborted has news. Returns 0, or -1 after saying
 * why. */
int weft_server_start(struct job *job, int *wake);

/* Adds what rank's PMIx client needs to *env, an array as environ, made by malloc with its strings
 * (to be freed likewise). Returns 0 or -1 after saying why. */
int weft_server_env(const struct rank *rank, char ***env);

/* Tells the surviving ranks by the event PMIX_ERR_PROC_ABORTED that rank is dead. */
void weft_server_tell_death(const struct rank *rank);

/* Takes the first call of PMIx_Abort by any rank. Returns false when there was none (any more). */
bool weft_server_aborted(struct abort_call *call);

#endif
