// SPDX-License-Identifier: BSD-3-Clause
/* Finding programs and starting ranks. */
#ifndef WEFTRUN_LAUNCH_H
#define WEFTRUN_LAUNCH_H

#include "state.h"

#include <signal.h>
#include <sys/resource.h>

/* Settings that weftrun changed for itself and restores in each rank. */
struct launch_context {
    sigset_t mask;                            /* the signals blocked at weftrun's start */
    __sighandler_t on_pipe, on_ttin, on_xfsz; /* the actions of SIGPIPE and so on at its start */
    struct rlimit nofile;                     /* the limit of open files at weftrun's start */
};

/* Exit codes of a program that cannot be executed, as in shells. */
#define LAUNCH_NOT_FOUND  127
#define LAUNCH_NOT_USABLE 126

/* Removes the variables of an outer launcher (if weftrun runs inside of another job) from the
 * environment, because weftrun's PMIx server and the ranks would use them. Keeps the port of
 * processes that spawn the job (joined_fd). */
void weft_launch_forget_outer(const struct job *job);

/* Calls put for the variable of each tool (--check, --profile, --trace) that the job uses, and of
 * --keep-going, until one fails. Returns what the last call returned, or 0. */
typedef int weft_launch_put(void *arg, const char *variable, const char *value);
int weft_launch_tools(const struct job *job, weft_launch_put *put, void *arg);

/* Finds the executable of each application. Returns 0, or an exit code after printing why. */
int weft_launch_resolve(struct job *job);

/* Starts a rank: fills pid, out.fd, err.fd, running. in is the descriptor it reads stdin from.
 * Returns after exec: 0, or an exit code after printing why. */
int weft_launch_rank(struct job *job, struct rank *rank, int in, const struct launch_context *ctx);

#endif
