// SPDX-License-Identifier: BSD-3-Clause
/*
 * Buffered mode (MPI 5.0, 3.4 and 3.6): a message is packed into an entry of the buffer attached to
 * its communicator, else to its session, else to the process, and sent from there as any other.
 *
 * Invariants:
 *  - An entry belongs to one send, whose request nobody but the lane knows; weft_bsend_sent gives
 *    both back.
 *  - A message that does not fit leaves everything as it was.
 */
#ifndef WEFT_BSEND_H
#define WEFT_BSEND_H

#include "core/comm.h"
#include "core/datatype.h"
#include "core/request.h"

/* Who a buffer belongs to: a communicator, a session, or, both NULL, the process. The functions
 * below return an MPI error class, its sentence said. */
struct weft_bsend_owner {
    struct weft_comm *comm;
    struct weft_session *session;
};

/* Sends a message of bytes = count * type->size bytes in buffered mode: when it returns the user's
 * buffer is free, and what is to be done is done (a persistent request that calls this at its start
 * is complete at once). dest is a rank, not MPI_PROC_NULL. MPI_ERR_BUFFER when it does not fit. */
int weft_bsend_start(struct weft_channel *channel, const void *buffer, size_t bytes,
                     const struct weft_datatype *type, int dest, int tag);

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

/* A request with WEFT_REQUEST_BUFFERED is complete: gives its entry back. Called by
 * weft_request_last. */
void weft_bsend_sent(struct weft_request *request);

#endif
