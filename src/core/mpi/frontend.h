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

/* True where the arguments are read that are significant only at the root of a collective or at the
 * leader of a group. False if a handle is invalid: the call itself reports the error. */
__attribute__((visibility("default"))) bool weft_abi_is_root(MPI_Comm comm, int root);
__attribute__((visibility("default"))) bool weft_abi_is_leader(MPI_Group group, int leader);

/* After MPI_BUFFER_AUTOMATIC has been attached to a communicator, a session, or (both are null
 * handles) the process: what MPI_Buffer_detach and its kin return. */
__attribute__((visibility("default"))) void
weft_abi_set_detached(MPI_Comm comm, MPI_Session session, void *buffer, MPI_Count size);

/* ---- Requests by their integer forms (MPI_Request_toint), for a front end whose handles are ints:
 * the calls of most messages, and the conversion for all others. Such a call of the front end ends
 * with a jump to the core, which saves 20 instructions of 45. */

/* The request of an integer, an invalid handle if it is not in use. */
__attribute__((visibility("default"))) MPI_Request weft_abi_request_of_integer(int value);

/* From now on the calls below return `error(code)` for an error class or code, and `null` is
 * MPI_REQUEST_NULL. */
__attribute__((visibility("default"))) void weft_abi_integers(int (*error)(int code), int null);

extern WEFT_HIDDEN struct weft_integers {
    int (*error)(int code);
    int null;
} weft_integers;

/* MPI_Isend and MPI_Irecv, whose result is an integer. */
__attribute__((visibility("default"))) int weft_abi_isend_integer(const void *buf, int count,
                                                                  MPI_Datatype datatype, int dest,
                                                                  int tag, MPI_Comm comm,
                                                                  int *integer);
__attribute__((visibility("default"))) int weft_abi_irecv_integer(void *buf, int count,
                                                                  MPI_Datatype datatype, int source,
                                                                  int tag, MPI_Comm comm,
                                                                  int *integer);

/* MPI_Wait, which changes the integer only to that of MPI_REQUEST_NULL. */
__attribute__((visibility("default"))) int weft_abi_wait_integer(int *integer, MPI_Status *status);

/* Reports a function that the other MPI has and Weft has not: see weft_api_unsupported (api.h). */
__attribute__((visibility("default"))) int weft_abi_unsupported(const char *function,
                                                                MPI_Comm comm);

#endif
