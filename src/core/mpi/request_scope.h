// SPDX-License-Identifier: BSD-3-Clause
/*
 * Which VCIs a call on requests needs.
 *
 * Invariant: with one thread it is NULL (all): there is nothing to lock.
 */
#ifndef WEFT_REQUEST_SCOPE_H
#define WEFT_REQUEST_SCOPE_H

#include "mpi.h"

/* The VCI that all requests of an array belong to, if all are sends and receives, or NULL. Entries
 * that are no requests are left to the caller's check. */
struct weft_vci *weft_request_scope(int count, const MPI_Request *handles);

#endif
