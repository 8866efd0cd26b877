// SPDX-License-Identifier: BSD-3-Clause
/*
 * Buffered mode (MPI 5.0, 3.4 and 3.6): a message is packed into an entry of the buffer attached to
 * its communicator, else to its session, else to the process, and sent from there as any other.
 *
 * Invariants:
 *  - An entry belongs to one send, and is freed when that send ends: sent, failed or cancelled.
 *  - To the user a buffered send is complete at once. If the send itself is complete too, its
 *    request is the user's, like that of an eager send. If not, or if the user's request is
 *    persistent, there are two requests, each the other's partner: the user's, of kind
 *    WEFT_REQUEST_BSEND, complete except while a cancel is undecided, and the send's, with the flag
 *    WEFT_REQUEST_OBSERVED, which returns to the pool when it has ended and the user's request is
 *    freed, in any order.
 *  - If a message does not fit, nothing changes.
 */
#ifndef WEFT_BSEND_H
#define WEFT_BSEND_H

#include "core/pt2pt/bsend_buffer.h"
#include "core/datatype/datatype.h"
#include "core/message/request.h"

/* The owner of a buffer: a communicator, a session (channel is NULL), or the process (both are
 * NULL). The functions below return an MPI error class, its sentence recorded. */
struct weft_bsend_owner {
    struct weft_bsend_buffer *buffer;
    struct weft_channel *channel; /* for messages of the communicator */
};

/* The owner of the buffer that messages of a channel go to; core/process sets it. */
extern WEFT_HIDDEN struct weft_bsend_owner (*weft_bsend_owner_of)(
    const struct weft_channel *channel);

/* Sends a message of bytes = count * type->size bytes in buffered mode: when it returns the user's
 * buffer is free. dest is a rank, not MPI_PROC_NULL. MPI_ERR_BUFFER
 * when it does not fit. */
int weft_bsend_send(struct weft_channel *channel, const void *buffer, size_t bytes,
                    const struct weft_datatype *type, int dest, int tag);

/* The same with a request for the user, complete. */
int weft_bsend_isend(struct weft_channel *channel, const void *buffer, size_t bytes,
                     const struct weft_datatype *type, int dest, int tag,
                     struct weft_request **out);

/* The send of a buffered send, which is observed, is complete. Returns true. */
bool weft_bsend_sent(struct weft_request *send);

/* Attaches size bytes at buffer, or with MPI_BUFFER_AUTOMATIC memory of malloc. MPI_ERR_BUFFER
 * when one is attached. */
int weft_bsend_attach(struct weft_bsend_owner owner, void *buffer, size_t size);

/* Sets the results of weft_bsend_detach for a buffer of malloc: the buffer of a front end's
 * program. */
void weft_bsend_set_detached(struct weft_bsend_owner owner, void *buffer, size_t size);

/* Waits until everything in the buffer is sent, detaches it: *buffer and *size are what was
 * attached (MPI_BUFFER_AUTOMATIC and 0). MPI_ERR_BUFFER when none is attached; the class of the
 * first message that could not be sent and was not reported yet, the buffer detached all the same.
 */
int weft_bsend_detach(struct weft_bsend_owner owner, void **buffer, size_t *size);

/* Waits until everything that is in the buffer now is sent. Errors as for weft_bsend_detach. */
int weft_bsend_flush(struct weft_bsend_owner owner);

/* Starts the same; *out is the request. */
int weft_bsend_iflush(struct weft_bsend_owner owner, struct weft_request **out);

/* The row of buffered sends. */
extern const struct weft_request_ops weft_bsend_request_ops;

#endif
