// SPDX-License-Identifier: BSD-3-Clause
/* Settings of other MPIs on weftrun's command line, and in its environment. */
#ifndef WEFTRUN_OTHER_LAUNCHERS_H
#define WEFTRUN_OTHER_LAUNCHERS_H

#include "state.h"

/* A parameter of Open MPI: translates one that binds ranks, ignores one that tunes Open MPI, with
 * a line for the job. Returns 0, or -1 after printing what to write. */
int weft_other_parameter(struct job *job, int *per_node, const char *name, const char *value);

/* Prints what Weft has instead of an option that only tunes another MPI, once for the job. */
void weft_other_option(struct job *job, const char *name, const char *value);

/* Prints what to write for each variable of the environment by which another MPI maps or binds
 * ranks, unless the line maps or binds them. */
void weft_other_environment(struct job *job);

/* Prints what Weft has instead of the variable of "NAME=VALUE" if it only tunes another MPI, once
 * for the job, and always for one that binds ranks. */
void weft_other_variable(struct job *job, const char *setting);

#endif
