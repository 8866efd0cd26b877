// SPDX-License-Identifier: BSD-3-Clause
/* The scratch directory, and the process that cleans up if weftrun is killed. */
#ifndef WEFTRUN_GUARD_H
#define WEFTRUN_GUARD_H

#include "state.h"

/* Makes job->scratch under $TMPDIR or /tmp and starts the guard, which overwrites its copy of argv.
 * Must be called while weftrun has one thread. Returns 0, or -1 after printing why. */
int weft_guard_start(struct job *job, char **argv);

/* The descriptor a new rank writes its pid to, see weft_guard_note. */
int weft_guard_fd(void);

/* Adds process group pid to the guard's list, or removes it (-pid) before it is reaped. Safe
 * between fork and exec. */
void weft_guard_note(int fd, pid_t pid);

/* In a rank between fork and exec: the kernel kills the rank's process group when weftrun ends. May
 * replace any descriptor but 0 to 2 and used. */
void weft_guard_tie(int used);

/* Removes the scratch directory and ends the guard. */
void weft_guard_stop(struct job *job);

#endif
