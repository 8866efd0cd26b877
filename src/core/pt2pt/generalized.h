// SPDX-License-Identifier: BSD-3-Clause
/*
 * Generalized requests (MPI 5.0, 13.2): the operation is the user's, its request is ours.
 *
 * Invariant: pending is 1 until MPI_Grequest_complete; the free function is called once, by
 * whichever comes last, the completion or the call that gives the request up.
 *
 * The functions are the user's own and may call MPI: the library's lock is a recursive one.
 */
#ifndef WEFT_GENERALIZED_H
#define WEFT_GENERALIZED_H

#include "core/message/request.h"

/* The functions of the user and their argument; a NULL function is not called. */
struct weft_generalized {
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *free;
    MPI_Grequest_cancel_function *cancel;
    void *state;
};

/* A new active request. NULL if memory is short, the sentence recorded. */
struct weft_request *weft_generalized_new(const struct weft_generalized *functions);

/* The program has completed the operation. Returns MPI_SUCCESS, or what the free function of a
 * request returned that was given up before. */
int weft_generalized_complete(struct weft_request *request);

extern const struct weft_request_ops weft_generalized_request_ops;

#endif
