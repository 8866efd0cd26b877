// SPDX-License-Identifier: BSD-3-Clause
/* Front ends: Weft's libraries with the names of other MPIs' (src/frontend), for programs that were
 * linked with those. */
#ifndef WEFTRUN_FRONT_END_H
#define WEFTRUN_FRONT_END_H

#include "state.h"

/* Chooses the libraries that the ranks of a program load instead of another MPI's: app->front_end
 * and app->preload, NULL if the program is linked with the standard ABI. Returns an exit code after
 * printing why the program could not join the job, else 0. */
int weft_front_end_choose(const struct job *job, struct app *app);

/* The settings "VAR=VAL" of the ranks of a program for that, NULL: none; to be freed. False: no
 * memory. */
bool weft_front_end_settings(const struct job *job, const struct app *app, char *settings[2]);

#endif
