// SPDX-License-Identifier: BSD-3-Clause
/* Standard input: one rank gets weftrun's, the others /dev/null. */
#ifndef WEFTRUN_INPUT_H
#define WEFTRUN_INPUT_H

#include "state.h"

struct pollfd;

/* Prepares. reader: the rank that reads, READER_NONE, or READER_ALL if stdin is a regular file.
 * Returns 0, or -1 after it has printed the reason. */
int weft_input_start(int reader);

/* The descriptor that rank is to read from, until the next call. */
int weft_input_of(int rank);

/* The descriptor for ranks without input. */
int weft_input_none(void);

/* Called when a rank runs: closes weftrun's copies of the reader's descriptors. */
void weft_input_started(int rank);

/* Called when a rank has ended: after the reader's end nothing is forwarded. */
void weft_input_ended(int rank);

/* Writes the descriptor to poll into fds (space for 1). Returns the number; sets *again if it must
 * be called again within half a second. */
int weft_input_poll(struct pollfd *fds, bool *again);

/* Forwards input without blocking. */
void weft_input_move(void);

/* Ends forwarding. */
void weft_input_stop(void);

#endif
