// SPDX-License-Identifier: BSD-3-Clause
/*
 * Blocking collectives through shared memory of the communicator: see shared.c.
 */
#ifndef WEFT_COLL_SHARED_H
#define WEFT_COLL_SHARED_H

#include "core/coll/coll.h"

/* Executes a collective through the area of its communicator, and stores its result in *code.
 * False: nothing was done, and all ranks execute it as a schedule. */
bool weft_shared_run(const struct weft_coll_args *args, int *code);

/* Frees the area of a communicator. */
void weft_shared_forget(struct weft_comm *comm);

#endif
