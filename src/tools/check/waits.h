// SPDX-License-Identifier: BSD-3-Clause
/*
 * Calls that wait for other ranks: the checker waits before the real call, by tests, so that it
 * receives records meanwhile; then the real call returns at once. MPI_Recv and the like, which have
 * no request, are made of their nonblocking form and MPI_Wait.
 *
 * Invariants:
 *  - The wait completes no request of the program, and no receive: it calls MPI_Request_get_status
 *    and MPI_Iprobe only.
 *  - A truncated receive ends the job in MPI_Wait, by the error handler. Before that the record of
 *    its message is awaited, for at most half a second, so that the finding is printed.
 */
#ifndef WEFT_CHECK_WAITS_H
#define WEFT_CHECK_WAITS_H

#include "tools/check/check.h"

/* After the begin of all modules. True: the call has been made, and call->result is set. */
bool check_wait(struct weft_call *call);

/* The same for a blocking send or receive whose arguments are in order, which it makes. */
bool check_wait_is_for_message(enum weft_call_number plain);
void check_wait_for_message(struct weft_call *call);

/* For a call that is made by tests, because it repeats a recorded result: waits
 * until a request is complete, or for one round. check_deadlocks_leave follows
 * the last round. */
void check_wait_for_request(struct weft_call *call, MPI_Request request);
void check_wait_again(struct weft_call *call, int round);

#endif
