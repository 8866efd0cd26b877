// SPDX-License-Identifier: BSD-3-Clause
/*
 * The lanes of the process: what weft_init and weft_finalize do with all of them.
 */
#ifndef WEFT_PROCESS_LANES_H
#define WEFT_PROCESS_LANES_H

#include <stdbool.h>

/* Takes over the list of lanes. Before the settings are loaded. */
void weft_lanes_init(void);

/* Opens the lanes that are needed to reach all ranks, and the VCIs; several only with threads.
 * Collective. */
void weft_lanes_open(bool threads);

/* From here on this rank needs no message. */
void weft_lanes_leave(void);
void weft_lanes_close(void);

#endif
