// SPDX-License-Identifier: BSD-3-Clause
/*
 * Raising recorded errors (core/base/error.h) through the error handlers of communicators.
 */
#ifndef WEFT_RAISE_H
#define WEFT_RAISE_H

#include "core/base/error.h"

struct weft_comm;

/* Calls the error handler of comm (NULL: of MPI_COMM_SELF, MPI 5.0 section 9.3) for a recorded
 * error; function is the name of the MPI function. Returns errclass, or does not return. */
WEFT_COLD int weft_error_raise(struct weft_comm *comm, int errclass, const char *function);

/* weft_error_raise with MPI_ERR_IN_STATUS, for a call on several requests of which one failed with
 * the error `cause`. If the handler ends the job, the report names the cause. */
WEFT_COLD int weft_error_raise_in_status(struct weft_comm *comm, int cause, const char *function);

/* weft_error_set, then weft_error_raise. */
__attribute__((format(printf, 4, 5))) WEFT_COLD int
weft_error(struct weft_comm *comm, int errclass, const char *function, const char *format, ...);

#endif
