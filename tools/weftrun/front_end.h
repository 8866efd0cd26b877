// SPDX-License-Identifier: BSD-3-Clause
/* Front ends: Weft's libraries with the names of other MPIs' (src/frontend), for programs that were
 * linked with those. */
#ifndef WEFTRUN_FRONT_END_H
#define WEFTRUN_FRONT_END_H

#include "state.h"

/* Chooses the folder of the front end that a program needs, or that --abi names: app->front_end,
 * NULL if it needs none. Returns an exit code after printing why the program could not join the
 * job, else 0. */
int weft_front_end_choose(const struct job *job, struct app *app);

/* The settings "VAR=VAL" of the ranks of a program with a front end, to be freed with their list;
 * NULL: no memory. */
char **weft_front_end_settings(const struct job *job, const struct rank *rank);

#endif
