// SPDX-License-Identifier: BSD-3-Clause
/* The command line and the variables of the environment that weftrun obeys. */
#ifndef WEFTRUN_OPTIONS_H
#define WEFTRUN_OPTIONS_H

#include "state.h"

/* Fills the options, apps and size of *job from the command line. Returns 0, or -1 after saying
 * what is wrong; sets *done when --help or --version was all that was asked (then returns 0). */
int weft_options_read(struct job *job, int argc, char **argv, bool *done);

#endif
