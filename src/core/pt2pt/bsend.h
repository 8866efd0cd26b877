// SPDX-License-Identifier: BSD-3-Clause
/*
 * Buffered mode (MPI 5.0, 3.4 and 3.6): a message is packed into an entry of the buffer attached to
 * its communicator, else to its session, else to the process, and sent from there as any other.
 *
 * Invariants:
 *  - An entry belongs to one send, whose end gives it back: sent, failed or cancelled.
 *  - To the user a buffered send is complete at once. If the send itself is too, its request is the
 *    user's, as an eager one's would be. If not, or if the user's request is persistent, there are
 *    two, each the other's `whole`: the user's (WEFT_REQUEST_BSEND), complete but while it waits for
 *    what becomes of a cancel, and the send's (WEFT_REQUEST_BUFFERED), which is given back when it
 *    has ended and the user's request lets go of it, in any order.
 *  - A message that does not fit leaves everything as it was.
 */
#ifndef WEFT_BSEND_H
#define WEFT_BSEND_H

#include "core/comm/comm.h"
#include "core/datatype/datatype.h"
#include "core/pt2pt/request.h"

/* Who a buffer belongs to: a communicator, a session, or, both NULL, the process. The functions
 * below return an MPI error class, its sentence said. */
struct weft_bsend_owner {
    struct weft_comm *comm;
    struct weft_session *session;
};

/* Sends a message of bytes = count * type->size bytes in buffered mode: when it returns the user's
 * buffer is free, and what is to be done is done. dest is a rank, not MPI_PROC_NULL. MPI_ERR_BUFFER
 * when it does not fit. */
int weft_bsend_send(struct weft_channel *channel, const void *buffer, size_t bytes,
                    const struct weft_datatype *type, int dest, int tag);

/* The same with a request for the user, complete. */
int weft_bsend_isend(struct weft_channel *channel, const void *buffer, size_t bytes,
                     const struct weft_datatype *type, int dest, int tag,
                     struct weft_request **out);

/* The same for a persistent request of the user, of kind WEFT_REQUEST_BSEND, whose rank is in
 * match.source and whose whole is NULL. */
int weft_bsend_restart(struct weft_request *held);

/* A user's request of kind WEFT_REQUEST_BSEND lets go of its send, if it has one. */
void weft_bsend_release(struct weft_request *held);

/* Asks for its send to be cancelled. The request may be pending then, until that is decided. */
void weft_bsend_cancel(struct weft_request *held);

/* Attaches size bytes at buffer, or with MPI_BUFFER_AUTOMATIC whatever malloc gives. MPI_ERR_BUFFER
 * when one is attached. */
int weft_bsend_attach(struct weft_bsend_owner owner, void *buffer, size_t size);

/* Waits until everything in the buffer is sent, detaches it: *buffer and *size are what was
 * attached (MPI_BUFFER_AUTOMATIC and 0). MPI_ERR_BUFFER when none is attached; the class of the
 * first message that could not be sent, the buffer detached all the same. */
int weft_bsend_detach(struct weft_bsend_owner owner, void **buffer, size_t *size);

/* Waits until everything that is in the buffer now is sent. Errors as for weft_bsend_detach. */
int weft_bsend_flush(struct weft_bsend_owner owner);

/* Starts the same; *out is the request. */
int weft_bsend_iflush(struct weft_bsend_owner owner, struct weft_request **out);

/* A request with WEFT_REQUEST_BUFFERED is complete, for the first time or, after it was cancelled
 * when it was complete, again. Called by weft_request_last. */
void weft_bsend_ended(struct weft_request *send);

#endif
