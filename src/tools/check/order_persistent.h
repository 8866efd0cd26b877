// SPDX-License-Identifier: BSD-3-Clause
/*
 * Persistent receives from any source, in a run that is recorded or repeated (order.h).
 *
 * A record has an entry for each start, with the source when the receive is complete. In a repeated
 * run a start makes a receive from the recorded source instead, by MPI_Irecv. Its request replaces
 * the persistent one in the program's memory while the program completes, tests or cancels
 * it; afterwards the persistent request is there again.
 *
 * Invariant: between two calls the program's memory has the handle that MPI_Recv_init returned.
 */
#ifndef WEFT_CHECK_ORDER_PERSISTENT_H
#define WEFT_CHECK_ORDER_PERSISTENT_H

#include "tools/check/check.h"

enum { CHECK_TAG_NEVER_SENT = 1000 }; /* on the channel */

/* MPI_Recv_init with MPI_ANY_SOURCE has returned. */
void check_persistent_add(const struct weft_call *call);

/* True for such a request. */
bool check_persistent_is_wild(const void *handle);

/* The receive that replaces such a request now, and the request that a receive replaces; else the
 * same handle. */
MPI_Request check_persistent_made(const void *handle);
const void *check_persistent_of(const void *request);

/* Starts one: receives from a rank of its communicator; below 0: as a message that never comes. */
int check_persistent_start(const void *handle, int source);

/* Makes MPI_Request_get_status_all, _any or _some with a copy of the array, which the call does not
 * change; false: it is none of them, or there are no such requests. */
bool check_persistent_query(struct weft_call *call);

/* Before and after the real call. */
void check_persistent_begin(struct weft_call *call);
void check_persistent_end(struct weft_call *call);

#endif
