// SPDX-License-Identifier: BSD-3-Clause
/* Front ends: Weft's libraries with the names of other MPIs' (src/frontend), for programs that were
 * linked with those. */
#ifndef WEFTRUN_FRONT_END_H
#define WEFTRUN_FRONT_END_H

#include "state.h"

/* Chooses the front end that a program needs, or that --abi names, and its folder: app->front_end,
 * NULL if it needs none. Returns an exit code after printing why the program could not join the
 * job, else 0. */
int weft_front_end_choose(const struct job *job, struct app *app);

/* The settings "VAR=VAL" of a rank of a program with a front end, at most so many, ended by NULL;
 * to be freed with their list. NULL: no memory. */
enum { WEFT_FRONT_END_SETTINGS = 7 };
char **weft_front_end_settings(const struct job *job, const struct rank *rank);

#endif
