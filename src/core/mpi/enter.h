// SPDX-License-Identifier: BSD-3-Clause
/*
 * Entering and leaving the library with an object: what the entry points on communicators and groups
 * have in common.
 *
 * Invariant: a function here that returns NULL has left the library again; *code is what the entry
 * point returns, and the error handler has heard of it.
 */
#ifndef WEFT_ENTER_H
#define WEFT_ENTER_H

#include "core/comm/comm.h"
#include "core/comm/group.h"

/* Enters, and resolves a communicator. */
struct weft_comm *weft_enter_comm(const char *function, MPI_Comm handle, int *code);

/* The same for an intra- or an inter-communicator only. */
struct weft_comm *weft_enter_intra(const char *function, MPI_Comm handle, int *code);
struct weft_comm *weft_enter_inter(const char *function, MPI_Comm handle, int *code);

/* Enters, and resolves a group; MPI_GROUP_NULL is an error. */
struct weft_group *weft_enter_group(const char *function, MPI_Group handle, int *code);

/* Leaves; raises code first if it is an error whose sentence was said. comm may be NULL. */
int weft_leave_with(struct weft_comm *comm, int code, const char *function);

/* Resolves a group inside a call; raises the error and returns NULL if it is none. */
struct weft_group *weft_call_group(struct weft_comm *comm, const char *function, MPI_Group handle);

/* Raises the error of a null pointer to a result; what: "rank". Returns the class. */
WEFT_COLD int weft_call_no_result(struct weft_comm *comm, const char *function, const char *what);

#endif
