// SPDX-License-Identifier: BSD-3-Clause
/* The line by which another launcher starts a job with ranks on several hosts. */
#ifndef WEFTRUN_STARTER_LINE_H
#define WEFTRUN_STARTER_LINE_H

#include "state.h"

#include <stdio.h>

enum starter_kind { PRRTE, OPEN_MPI, HYDRA, SLURM };

/* Returns 0, or -1 after printing what ranks on other hosts cannot have. */
int weft_starter_check(const struct job *job, const char *name, enum starter_kind kind);

/* The words of the line of the launcher at path, NULL-terminated. NULL: no memory. */
char **weft_starter_line(const struct job *job, const char *path, enum starter_kind kind);

/* Prints words as a shell reads them. */
void weft_starter_print(char **words, FILE *out);

#endif
