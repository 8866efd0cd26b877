// SPDX-License-Identifier: BSD-3-Clause
/*
 * Cancelling operations (MPI 5.0, 3.8.4).
 */
#ifndef WEFT_CANCEL_H
#define WEFT_CANCEL_H

#include "core/message/request.h"

/* Requests the cancel of a request. It completes independently of the programs of other ranks, once
 * their libraries make progress: cancelled (WEFT_REQUEST_CANCELLED), or as usual. */
int weft_cancel(struct weft_request *request);

/* By kind, for the rows of weft_request_ops. */
int weft_cancel_send(struct weft_request *request);
int weft_cancel_receive(struct weft_request *request);
int weft_cancel_pair(struct weft_request *request);

#endif
