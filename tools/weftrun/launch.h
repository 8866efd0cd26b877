// SPDX-License-Identifier: BSD-3-Clause
/* Finding programs and starting ranks. */
#ifndef WEFTRUN_LAUNCH_H
#define WEFTRUN_LAUNCH_H

#include "state.h"

#include <signal.h>
#include <sys/resource.h>

/* What a rank's process gets back of what weftrun changed for itself. */
struct launch_context {
    sigset_t mask;        /* blocked signals as weftrun found them */
    struct rlimit nofile; /* likewise */
};

/* Exit codes of a program that cannot be executed, as in shells. */
#define LAUNCH_NOT_FOUND  127
#define LAUNCH_NOT_USABLE 126

/* Takes out of the environment what an outer launcher told its own rank (weftrun, if it runs inside
 * another job): weftrun's PMIx server and the ranks would believe it. */
void weft_launch_forget_outer(void);

/* Finds what each application is to execute. Returns 0, or an exit code after saying why not. */
int weft_launch_resolve(struct job *job);

/* Starts a rank: fills pid, out.fd, err.fd, running. in is the descriptor it reads stdin from.
 * Returns when the program is being executed. Returns 0, or an exit code after saying why not. */
int weft_launch_rank(struct job *job, struct rank *rank, int in, const struct launch_context *ctx);

#endif
