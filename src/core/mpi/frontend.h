// SPDX-License-Identifier: BSD-3-Clause
/*
 * The functions of the library that front ends (src/frontend) use beside the functions of the
 * standard, which they call by the names weft_abi_X (api.h): callbacks get the front end's handles.
 */
#ifndef WEFT_MPI_FRONTEND_H
#define WEFT_MPI_FRONTEND_H

#include "core/base/error.h"
#include "core/coll/op.h"

/* From now on the user's function of a valid operation or error handler is called by `caller`; one
 * with a large count by `caller_large`. */
__attribute__((visibility("default"))) void weft_abi_op_caller(MPI_Op op, weft_op_caller *caller,
                                                               weft_op_caller_c *caller_large);
__attribute__((visibility("default"))) void
weft_abi_errhandler_caller(MPI_Errhandler errhandler, weft_errhandler_caller *caller);

/* The kind of the objects of a user's error handler, and the extra state of a valid key. */
__attribute__((visibility("default"))) enum weft_kind
weft_abi_errhandler_kind(MPI_Errhandler errhandler);
__attribute__((visibility("default"))) void *weft_abi_keyval_extra(int number);

/* The request of an integer form that is not below WEFT_REQUEST_INTEGERS, or NULL. */
__attribute__((visibility("default"))) MPI_Request weft_abi_request_numbered(int value);

/* Reports a function that the other MPI has and Weft has not: see weft_api_unsupported (api.h). */
__attribute__((visibility("default"))) int weft_abi_unsupported(const char *function,
                                                                MPI_Comm comm);

#endif
