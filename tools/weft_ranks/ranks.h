// SPDX-License-Identifier: BSD-3-Clause
/*
 * The commands of weft-report that read the memory of ranks. Each returns the exit code.
 */
#ifndef WEFT_RANKS_RANKS_H
#define WEFT_RANKS_RANKS_H

#include <stdbool.h>

/* Writes the time line `file` from the files that the ranks of a job have left. */
int ranks_trace(const char *file);

/* Prints a table each second of what the ranks of the process `pid` or below it do: so many; 0:
 * until they end. waits: there may be no rank yet. */
int ranks_attach(long pid, int tables, bool waits);

#endif
