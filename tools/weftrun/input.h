// SPDX-License-Identifier: BSD-3-Clause
/* Standard input: rank 0 gets weftrun's, the others /dev/null. */
#ifndef WEFTRUN_INPUT_H
#define WEFTRUN_INPUT_H

#include <stdbool.h>

struct pollfd;

/* Prepares. Returns 0, or -1 after saying why. */
int weft_input_start(void);

/* The descriptor that rank is to read from. */
int weft_input_of(int rank);

/* Rank 0 runs: weftrun lets go of its copies of what rank 0 reads. */
void weft_input_started(void);

/* Puts what forwarding waits for into fds (room for 1). Returns how many; *again becomes true
 * when this should be asked again within half a second. */
int weft_input_poll(struct pollfd *fds, bool *again);

/* Forwards what can be forwarded without blocking. */
void weft_input_move(void);

/* Rank 0 is gone, or never came: nothing more to forward. */
void weft_input_stop(void);

#endif
