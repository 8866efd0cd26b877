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

/* Bytes of a block (of MPI_Reduce_scatter: of all blocks) up to which the ranks pass pieces of
 * their data on, and from which on they read them from each other's memory if they can. 0 and
 * SIZE_MAX: never; other lengths are messages. */
struct weft_shared_limits {
    size_t pieces, one_copy;
};
extern const struct weft_shared_limits weft_shared_limits[WEFT_COLL_KINDS];

/* Makes the area of a communicator if it is due and its ranks share a node. Returns the error of
 * the collective call that makes it. */
int weft_shared_make(struct weft_comm *comm);

/* This rank does not take part in the last call: the others must not wait until it has completed
 * it. */
void weft_shared_skip(struct weft_comm *comm);

/* Frees the area. */
void weft_shared_forget(struct weft_comm *comm);

#endif
