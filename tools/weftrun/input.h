// SPDX-License-Identifier: BSD-3-Clause
/* Standard input: rank 0 gets weftrun's, the others /dev/null. */
#ifndef WEFTRUN_INPUT_H
#define WEFTRUN_INPUT_H

#include <stdbool.h>

struct pollfd;

/* Prepares. Returns 0, or -1 after it has printed the reason. */
int weft_input_start(void);

/* The descriptor that rank is to read from. */
int weft_input_of(int rank);

/* Called when rank 0 runs: closes weftrun's copies of rank 0's descriptors. */
void weft_input_started(void);

/* Writes the descriptor to poll into fds (space for 1). Returns the number; sets *again if it must
 * be called again within half a second. */
int weft_input_poll(struct pollfd *fds, bool *again);

/* Forwards input without blocking. */
void weft_input_move(void);

/* Called when rank 0 has ended or could not start: ends forwarding. */
void weft_input_stop(void);

#endif
