// SPDX-License-Identifier: BSD-3-Clause
/* Tools (src/tools): libraries that ranks load before their program, by the options --check and the
 * like, to see its calls of MPI. */
#ifndef WEFTRUN_TOOLS_H
#define WEFTRUN_TOOLS_H

#include "state.h"

#include <signal.h>

/* Puts the library of each tool that the job asks for in front of app->preload. Called when the
 * front end is chosen. Returns an exit code after printing what lacks, else 0. */
int weft_tools_choose(const struct job *job, struct app *app);

/* Starts the program that prints the tables of --top; it ends with weftrun. */
void weft_tools_begin(const struct job *job, const sigset_t *mask);

/* The job has ended with an exit code: states where the ranks have left what --trace kept. */
void weft_tools_end(const struct job *job, int code);

#endif
