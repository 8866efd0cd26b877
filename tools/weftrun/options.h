// SPDX-License-Identifier: BSD-3-Clause
/* The command line, and the environment variables of weftrun. */
#ifndef WEFTRUN_OPTIONS_H
#define WEFTRUN_OPTIONS_H

#include "state.h"

/* Fills the options, apps and size of *job from the command line. Returns 0, or -1 after printing
 * the error. Sets *done after --help or --version. */
int weft_options_read(struct job *job, int argc, char **argv, bool *done);

/* Adds "VARIABLE=VALUE", which stays where it is. 0, or -1 after printing that there is no memory.
 */
int weft_options_add_variable(struct variables *env, const char *text);

#endif
