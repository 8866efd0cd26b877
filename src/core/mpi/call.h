// SPDX-License-Identifier: BSD-3-Clause
/*
 * The arguments of a point-to-point call: checks in their order, and resolution of the datatype.
 *
 * Invariant: a check returns MPI_SUCCESS, or an error class whose sentence it has recorded; the
 * function that leaves the library raises the error.
 */
#ifndef WEFT_CALL_H
#define WEFT_CALL_H

#include "core/comm/comm.h"
#include "core/datatype/datatype.h"
#include "core/message/process.h"

#include <stdbool.h>

/* The arguments of an entry point. */
struct weft_call {
    struct weft_comm *comm;
    const void *buffer;
    MPI_Count count;
    MPI_Datatype datatype;
    int peer, tag; /* destination or source */
};

/* What follows from valid arguments. */
struct weft_resolved {
    const struct weft_datatype *type;
    size_t bytes; /* count times the size of the type */
};

/* The VCI of a call on a communicator; VCI 0 for an invalid handle, whose error is raised there. */
static inline struct weft_vci *weft_call_vci(MPI_Comm handle)
{
    const struct weft_comm *comm =
        weft_entry_flags & WEFT_ENTRY_CLOSED ? NULL : weft_comm_resolve(handle);
    return comm ? comm->vci : &weft.vcis[0];
}

/* Checks the arguments, and sets *out. receive: wildcards are allowed. With count 0 and
 * MPI_PROC_NULL, MPI_DATATYPE_NULL is accepted as MPI_BYTE. */
int weft_call_check(const struct weft_call *call, bool receive, struct weft_resolved *out);

/* As weft_call_check. True if the call is valid and its peer is a rank, or a wildcard of a receive;
 * else *code is the result of the call (MPI_SUCCESS: the peer is MPI_PROC_NULL). */
bool weft_call_resolve(const struct weft_call *call, bool receive, struct weft_resolved *out,
                       int *code);

/* As weft_call_resolve, for a call that starts a request. False: the call is finished; for
 * MPI_PROC_NULL *request is a complete request. */
bool weft_call_resolve_start(const struct weft_call *call, bool receive, MPI_Request *request,
                             struct weft_resolved *out, int *code);

#endif
