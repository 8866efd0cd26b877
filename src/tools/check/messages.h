// SPDX-License-Identifier: BSD-3-Clause
/*
 * Point-to-point messages: the type signature and size of both sides.
 *
 * Before each message its sender sends a record of it, on the channel, or counts it (repeats.h).
 * The receiver keeps two lists: arrivals, the records of each source that no receive has matched,
 * in the order of the sends of one communicator and tag; and posted receives, in the order in which
 * they were posted. MPI matches messages of one source, tag and communicator in that order on both
 * sides, so the first arrival belongs to the first posted receive. The envelope of a receive with a
 * wildcard is known when it completes; until then no later receive that it may precede is matched.
 * Both entries are freed when the message is matched and received.
 *
 * MPI_BYTE and MPI_PACKED on either side fit everything. If a message ends inside an element of a
 * structure, its types are not compared.
 *
 * Invariants:
 *  - The size of a completed receive is that of its arrival. If it is not, calls were not seen
 *    (PMPI_Send), and the communicator is not compared any more.
 *  - A message is reported as never received only if MPI_Iprobe finds it.
 *  - Under MPI_THREAD_MULTIPLE nothing is compared: the order of two threads' calls is not known.
 */
#ifndef WEFT_CHECK_MESSAGES_H
#define WEFT_CHECK_MESSAGES_H

#include "tools/check/channel.h"
#include "tools/check/check.h"

void check_messages_begin_job(void);
void check_messages_begin(struct weft_call *call);
void check_messages_end(struct weft_call *call);
void check_messages_take(const struct check_record *record);

/* Add an operation that the wait of a call is for (deadlocks.h): its receive, its send, a request,
 * or the message of its probe. */
struct check_wants;
void check_messages_want_receive(const struct weft_call *call, struct check_wants *wants);
void check_messages_want_send(const struct weft_call *call, struct check_wants *wants);
void check_messages_want_request(const void *handle, struct check_wants *wants);
void check_messages_want_probe(const struct weft_call *call, struct check_wants *wants);

/* A receive from any source is made with this one: it waits for no other. */
void check_messages_make_with(const struct weft_call *call, int source);

/* True if a message of a rank is here, and no posted receive may have matched it. */
bool check_messages_is_unmatched(int rank, uint64_t number);

/* True if a message is here that a receive with this envelope may have matched. */
bool check_messages_has_arrived(uint64_t comm, int source, int tag);

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

/* After check_channel_finish: reports the messages that no receive has matched. */
void check_messages_finish(void);

#endif
