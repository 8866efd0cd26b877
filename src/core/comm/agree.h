// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPIX_Comm_agree and MPIX_Comm_shrink: agreements (agreement.h) of the members of a communicator,
 * by messages on its channels `making`. Where all members share memory and nobody is dead, the flag
 * is agreed on by words in that memory (board.h).
 *
 * A communicator gets its state with the first such call, and then has a receive from any member
 * posted, so that members that have returned from a call answer those that have not, in whatever
 * call they make progress. MPI_Comm_free begins a last agreement in the background: when it has
 * ended, nobody needs an answer any more. If a member is dead, the state stays to the end of MPI.
 *
 * The functions need all VCIs.
 */
#ifndef WEFT_AGREE_H
#define WEFT_AGREE_H

#include "core/comm/comm.h"

struct weft_request;

/* The tag of all messages of agreements; no call that makes a communicator has it. */
enum { WEFT_AGREE_TAG = (1 << WEFT_LEAST_TAG_BITS) - 1 };

/* Combines *flag of all members by AND. Returns MPIX_ERR_PROC_FAILED, at all members, unless each
 * dead member is acknowledged by all of them. `request`: not NULL for the form that does not wait.
 */
int weft_comm_agree_flag(struct weft_comm *comm, int *flag, struct weft_request **request);

/* Makes a communicator of the living members. *out has its members when the call is complete. */
int weft_comm_shrink(struct weft_comm *comm, struct weft_comm **out, struct weft_request **request);

/* Waits for all living members, before memory that they share through the communicator is freed.
 * Deaths are no errors. Where weft_comm_may_break is true for one member it replaces a
 * collective, in which some members may fail while others succeed. */
int weft_comm_agree_to_free(struct weft_comm *comm);
bool weft_comm_may_break(const struct weft_comm *comm);

/* True if a member may die while others go on: in a job with WEFT_KEEP_GOING, and, whichever jobs
 * have that setting, in a communicator of several jobs. The same at all members. */
bool weft_comm_outlives_members(const struct weft_comm *comm);

/* The first agreement on the communicator of a window or file: success if all living members call
 * the first function. The other one is for a member that could not make the object, and waits for
 * nobody: the next call of others on the communicator ends without it, too. */
int weft_comm_agree_made(struct weft_comm *comm);
void weft_comm_agree_not_made(struct weft_comm *comm);

/* The program frees the communicator. */
void weft_agree_close(struct weft_comm *comm);

/* Advances all agreements, and those on context ids: the poller of progress. */
int weft_agree_progress(void);

/* Frees all state. */
void weft_agree_finalize(void);

#endif
