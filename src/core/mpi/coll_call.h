// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collective calls (MPI 5.0 chapter 6): the arguments of an entry point, and its three forms:
 * blocking, nonblocking and persistent. The entry points are generated (abi/collective.py).
 *
 * Invariants:
 *  - Arguments are checked in the order communicator, counts and datatypes, operation, root,
 *    buffers, and all of them before anything is sent. Arguments that are significant only at the
 *    root are not checked on other ranks.
 *  - A wrong call takes its sequence number too (core/coll/coll.h).
 */
#ifndef WEFT_COLL_CALL_H
#define WEFT_COLL_CALL_H

#include "core/coll/coll.h"

/* The data that are sent, or received: a buffer and either a count or arrays. The data of a
 * broadcast and the operand of a reduction are in `send`. */
struct weft_coll_side {
    const void *buffer;
    MPI_Count count;
    MPI_Datatype type;
    const struct weft_arrays *arrays;
};

struct weft_coll_call {
    const char *function; /* "MPI_Iallgatherv" */
    enum weft_coll_kind kind;
    MPI_Comm comm;
    struct weft_coll_side send, receive;
    MPI_Op op;
    int root;
};

/* ---- Each returns what the entry point returns. */
int weft_coll_blocking(const struct weft_coll_call *call);
int weft_coll_nonblocking(const struct weft_coll_call *call, MPI_Request *request);
int weft_coll_persistent(const struct weft_coll_call *call, MPI_Info info, MPI_Request *request);

/* Checks and resolves the arguments of a call on a communicator (coll_check.c). Returns
 * MPI_SUCCESS, or an error class whose sentence was recorded. */
int weft_coll_check(const struct weft_coll_call *call, struct weft_comm *comm,
                    struct weft_coll_args *args);

/* Checks an operation for elements of a type (coll_check.c). */
int weft_coll_check_op(const struct weft_op *op, const struct weft_datatype *type);

#endif
