// SPDX-License-Identifier: BSD-3-Clause
/*
 * Cancelling operations (MPI 5.0, 3.8.4).
 */
#ifndef WEFT_CANCEL_H
#define WEFT_CANCEL_H

#include "core/pt2pt/request.h"

/* Asks for a request to be cancelled. It is complete soon after, whatever other ranks' programs do,
 * once their Weft makes progress: cancelled (WEFT_REQUEST_CANCELLED), or as if nobody had asked. */
void weft_cancel(struct weft_request *request);

#endif
