// SPDX-License-Identifier: BSD-3-Clause
/* Ranks that the others may be waiting for. */
#ifndef WEFTRUN_SUSPECTS_H
#define WEFTRUN_SUSPECTS_H

#include "state.h"

/* Prints a line for each of the first few running ranks that a signal has stopped, or that have not
 * called MPI_Init although others have. */
void weft_suspects_report(const struct job *job);

#endif
