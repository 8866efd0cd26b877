// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collective calls (MPI 5.0 chapter 6): what an entry point was called with, and the three ways to
 * run it. Every entry point puts its arguments into a struct weft_coll_call and says which way.
 *
 * Invariants:
 *  - Arguments are checked in the order communicator, counts and datatypes, operation, root,
 *    buffers, and all of them before anything is sent. What the standard calls significant only at
 *    the root is not looked at elsewhere.
 *  - A call takes its sequence number whatever is wrong with it (core/coll/coll.h).
 */
#ifndef WEFT_COLL_CALL_H
#define WEFT_COLL_CALL_H

#include "core/coll/coll.h"

/* What is sent, or what is received: a buffer and either a count or arrays. A broadcast's data and a
 * reduction's operand are in `send`. */
struct weft_coll_side {
    const void *buffer;
    MPI_Count count;
    MPI_Datatype type;
    struct weft_ints counts, displs;
    const MPI_Datatype *types;
};

struct weft_coll_call {
    const char *function; /* "MPI_Iallgatherv" */
    enum weft_coll_kind kind;
    MPI_Comm comm;
    struct weft_coll_side send, receive;
    MPI_Op op;
    int root;
};

/* ---- What entry points fill in, each in one place for all forms of its kind */

/* One count and one type. */
static inline struct weft_coll_side weft_coll_data(const void *buffer, MPI_Count count,
                                                   MPI_Datatype type)
{
    return (struct weft_coll_side){.buffer = buffer, .count = count, .type = type};
}

/* Counts and displacements, of int and (_c) large. */
static inline struct weft_coll_side weft_coll_vector(const void *buffer, const int *counts,
                                                     const int *displs, MPI_Datatype type)
{
    return (struct weft_coll_side){
        .buffer = buffer, .type = type, .counts = {counts, false}, .displs = {displs, false}};
}

static inline struct weft_coll_side weft_coll_vector_c(const void *buffer, const MPI_Count *counts,
                                                       const MPI_Aint *displs, MPI_Datatype type)
{
    return (struct weft_coll_side){
        .buffer = buffer, .type = type, .counts = {counts, true}, .displs = {displs, true}};
}

/* Types too, and displacements in bytes: of int only in MPI_Alltoallw, hence their width. */
static inline struct weft_coll_side weft_coll_typed(const void *buffer, struct weft_ints counts,
                                                    struct weft_ints displs,
                                                    const MPI_Datatype *types)
{
    return (struct weft_coll_side){
        .buffer = buffer, .counts = counts, .displs = displs, .types = types};
}

static inline struct weft_ints weft_coll_int(const int *at)
{
    return (struct weft_ints){at, false};
}

static inline struct weft_ints weft_coll_wide(const void *at)
{
    return (struct weft_ints){at, true};
}

static inline struct weft_coll_call weft_coll_two(const char *function, enum weft_coll_kind kind,
                                                  MPI_Comm comm, struct weft_coll_side send,
                                                  struct weft_coll_side receive)
{
    return (struct weft_coll_call){
        .function = function, .kind = kind, .comm = comm, .send = send, .receive = receive};
}

static inline struct weft_coll_call weft_coll_rooted(const char *function, enum weft_coll_kind kind,
                                                     MPI_Comm comm, struct weft_coll_side send,
                                                     struct weft_coll_side receive, int root)
{
    struct weft_coll_call call = weft_coll_two(function, kind, comm, send, receive);
    call.root = root;
    return call;
}

/* root: of MPI_Reduce and its like, else 0. */
static inline struct weft_coll_call weft_coll_reduction(const char *function,
                                                        enum weft_coll_kind kind, MPI_Comm comm,
                                                        struct weft_coll_side operand,
                                                        const void *result, MPI_Op op, int root)
{
    struct weft_coll_call call =
        weft_coll_two(function, kind, comm, operand, (struct weft_coll_side){.buffer = result});
    call.op = op;
    call.root = root;
    return call;
}

/* ---- Each returns what the entry point returns. */
int weft_coll_blocking(const struct weft_coll_call *call);
int weft_coll_nonblocking(const struct weft_coll_call *call, MPI_Request *request);
int weft_coll_persistent(const struct weft_coll_call *call, MPI_Info info, MPI_Request *request);

/* Checks and resolves the arguments of a call on a communicator (coll_check.c). Returns MPI_SUCCESS,
 * or what the error handler lets through. */
int weft_coll_check(const struct weft_coll_call *call, struct weft_comm *comm,
                    struct weft_coll_args *args);

/* Checks an operation for elements of a type (coll_check.c). */
int weft_coll_check_op(struct weft_comm *comm, const char *function, MPI_Op handle,
                       const struct weft_datatype *type, const struct weft_op **out);

#endif
