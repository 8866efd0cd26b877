// SPDX-License-Identifier: BSD-3-Clause
/*
 * Point-to-point messages: the type signature and size of both sides.
 *
 * Before each message its sender sends a record of it, on the channel, or counts it (repeats.h).
 * The receiver matches records and receives (matching.h), and compares both sides. MPI_BYTE and
 * MPI_PACKED on either side fit everything. If a message ends inside an element of a structure, its
 * types are not compared.
 *
 * Invariants:
 *  - A message is reported as never received only if MPI_Iprobe finds it.
 *  - Under MPI_THREAD_MULTIPLE nothing is compared: the order of two threads' calls is not known.
 */
#ifndef WEFT_CHECK_MESSAGES_H
#define WEFT_CHECK_MESSAGES_H

#include "tools/check/check.h"

void check_messages_begin(struct weft_call *call);
void check_messages_end(struct weft_call *call);

/* Drops the calls of this thread whose frames are below an address: they do not end. */
void check_messages_leave(uintptr_t limit);

/* Add an operation that the wait of a call is for (deadlocks.h): its receive, its send, a request,
 * or the message of its probe. */
struct check_wants;
void check_messages_want_receive(const struct weft_call *call, struct check_wants *wants);
void check_messages_want_send(const struct weft_call *call, struct check_wants *wants);
void check_messages_want_request(const void *handle, struct check_wants *wants);
void check_messages_want_probe(const struct weft_call *call, struct check_wants *wants);

/* True if a call has a message or a receive that is compared: its arguments are in order. */
bool check_messages_are_followed(const struct weft_call *call);

/* A receive from any source is made with this one: it waits for no other. */
void check_messages_make_with(const struct weft_call *call, int source);
void check_messages_start_with(const void *request, int source); /* that is started */

/* True if the request is complete in the library, or in error. */
static inline bool check_request_has_ended(MPI_Request request)
{
    int flag = 0;
    return weft_next.Request_get_status(request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || flag;
}

/* True if the records have arrived of all messages that the call has received, or may be counted by
 * a record to come (repeats.h). If they do not come, the communicators of these messages are not
 * compared any more. Other requests of MPI_Waitany and MPI_Waitsome may not be complete, and do not
 * count. */
bool check_messages_are_matched(const struct weft_call *call);
void check_messages_stop(const struct weft_call *call);

#endif
