// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collectives through shared memory of the communicator: see shared.c.
 */
#ifndef WEFT_COLL_SHARED_H
#define WEFT_COLL_SHARED_H

#include "core/coll/coll.h"

struct weft_schedule;

/* Executes a collective through the area of its communicator, and stores its result in *code.
 * False: nothing was done, and all ranks execute it as a schedule. */
bool weft_shared_run(const struct weft_coll_args *args, int *code);

/* Nonblocking and persistent collectives (call.c): makes a schedule one that is executed through
 * an area. False: it is to be built of steps. */
bool weft_shared_prepare(struct weft_schedule *s, const struct weft_coll_args *args);
void weft_shared_begin(struct weft_schedule *s);

/* Executes what does not have to wait. Returns false if that is nothing. */
bool weft_shared_advance(struct weft_schedule *s);

/* For a schedule that waits: looks for deaths, and notes for reports what it waits for. Returns
 * false if no refusal is to be looked for. */
bool weft_shared_note(struct weft_schedule *s);
void weft_shared_end(struct weft_schedule *s);

/* Bytes of a block (of MPI_Reduce_scatter: of all blocks) up to which a collective of 2 ranks, or
 * of more, takes an area. 0: never; SIZE_MAX: always. */
struct weft_shared_limit {
    size_t two, more;
};

extern const struct weft_shared_limit weft_shared_limits[WEFT_COLL_KINDS];

/* True if any collective of a kind takes an area; the settings decide, too. */
bool weft_shared_takes(enum weft_coll_kind kind);

/* Makes the area of a communicator if it is due and its ranks share a node. Returns the error of
 * the collective call that makes it. */
int weft_shared_make(struct weft_comm *comm);

/* Makes the area of a persistent collective with that tag, or returns NULL at all ranks. */
struct weft_area *weft_shared_make_own(struct weft_comm *comm, int tag);

/* This rank skips the last call: the others must not wait until it has completed
 * it. */
void weft_shared_skip(struct weft_comm *comm);

/* Warns if other ranks posted data for one of the last WEFT_AREA_SLOTS calls of a communicator for
 * which this rank posted data of a call with another root: neither rank waited for the other. */
WEFT_COLD void weft_shared_compare(const struct weft_comm *comm, const struct weft_area *area);

/* For agreements: see struct weft_comm_collectives. */
_Atomic uint64_t *weft_shared_agree_words(const struct weft_comm *comm, int rank);
void weft_shared_agree_wake(const struct weft_comm *comm);

/* Frees an area of a communicator, and the one for its calls in order. */
void weft_shared_free(const struct weft_comm *comm, struct weft_area *area);
void weft_shared_forget(struct weft_comm *comm);

#endif
