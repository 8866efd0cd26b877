// SPDX-License-Identifier: BSD-3-Clause
/* Ranks for which the others may be waiting. */
#ifndef WEFTRUN_SUSPECTS_H
#define WEFTRUN_SUSPECTS_H

#include "state.h"

/* Says which running ranks a signal has stopped, and which have not joined MPI although others have:
 * a line for each of the first few. Says nothing when there are none. */
void weft_suspects_say(const struct job *job);

#endif
