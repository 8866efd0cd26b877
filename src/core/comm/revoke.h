// SPDX-License-Identifier: BSD-3-Clause
/*
 * Revoked communicators: no member completes operations on one any more, so that all leave their
 * loops after a death that only some have found. A member that revokes a communicator, or learns
 * that another one has, sends that to all members: so the revocation reaches every member that
 * lives if it reaches one, whichever members die.
 *
 * Invariants:
 *  - `revoked` of a communicator is set once, and never cleared. From then on calls on it fail with
 *    MPIX_ERR_REVOKED, but for those that are local, agree, shrink or free. MPI_Intercomm_create
 *    first reports that to the other group.
 *  - weft_entry_flags has WEFT_ENTRY_REVOKED from the first revocation on, so that no fast path,
 *    which does not look at `revoked`, is taken.
 *  - A pending receive, or a send that its receiver has not matched, ends with that error. A
 *    message that has matched is transferred to its end, because its buffers are in use.
 */
#ifndef WEFT_REVOKE_H
#define WEFT_REVOKE_H

#include "core/comm/comm.h"

/* MPIX_Comm_revoke, also of the communicator of a window or file. The caller holds all VCIs. */
void weft_comm_revoke(struct weft_comm *comm);

/* MPIX_Comm_is_revoked: looks for revocations first. The caller holds all VCIs. */
bool weft_comm_is_revoked(const struct weft_comm *comm);

/* For lanes: another process has revoked the communicator with a context id. One that is no member
 * changes nothing. */
void weft_revoke_arrived(int world, uint32_t context);

/* Revokes what has arrived. Returns the number of communicators. */
int weft_revoke_progress(void);

/* A communicator is open: its revocation may have arrived before. */
void weft_revoke_opened(struct weft_comm *comm);

/* A communicator could not be made here: its revocation may have arrived. */
void weft_revoke_not_opened(void);

/* Frees all state. */
void weft_revoke_finalize(void);

#endif
