// SPDX-License-Identifier: BSD-3-Clause
/*
 * The PMIx server of the ranks.
 *
 * It is never stopped, because PMIx_server_finalize of libpmix 4.2.2 can wait for ever for the lock
 * of a dead thread after a rank has died. weftrun ends by _exit, so that no code of libpmix runs;
 * all files of the server are in the scratch directory.
 */
#ifndef WEFTRUN_SERVER_H
#define WEFTRUN_SERVER_H

#include "state.h"

struct abort_call {
    int rank; /* the caller, -1 if it is no rank of the job */
    int code;
    char text[512]; /* the caller's message, may be empty */
};

/* Starts PMIx's server with job->scratch and registers the job and its ranks. *wake becomes a
 * descriptor that is readable when weft_server_aborted has a call to return. Returns 0, or -1 after
 * printing why. */
int weft_server_start(struct job *job, int *wake);

/* Adds the variables of rank's PMIx client to *env, an array like environ; the array and its
 * strings are from malloc. Returns 0, or -1 after printing why. */
int weft_server_env(const struct rank *rank, char ***env);

/* Sends the event PMIX_ERR_PROC_ABORTED for a dead rank to the other ranks. */
void weft_server_tell_death(const struct rank *rank);

/* Returns the first PMIx_Abort of any rank, once; false if there is none. */
bool weft_server_aborted(struct abort_call *call);

#endif
