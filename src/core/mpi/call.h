// SPDX-License-Identifier: BSD-3-Clause
/*
 * The arguments of a point-to-point call: checked in the order in which they stand, resolved, and
 * explained when they are wrong.
 *
 * Invariant: what is wrong has gone through the communicator's error handler when a function here
 * says so, once.
 */
#ifndef WEFT_CALL_H
#define WEFT_CALL_H

#include "core/comm/comm.h"
#include "core/datatype/datatype.h"
#include "core/process/weft.h"

#include <stdbool.h>

/* What an entry point was called with. */
struct weft_call {
    const char *function; /* "MPI_Send" */
    const void *buffer;
    MPI_Count count;
    MPI_Datatype datatype;
    int peer, tag; /* destination or source */
    MPI_Comm comm;
};

/* A call whose arguments are good. */
struct weft_resolved {
    struct weft_comm *comm;
    const struct weft_datatype *type;
    size_t bytes; /* count times the size of the type */
};

/* The VCI of a call on a communicator; VCI 0 for a handle that is none, whose error is raised there. */
static inline struct weft_vci *weft_call_vci(MPI_Comm handle)
{
    const struct weft_comm *comm = weft_gate & WEFT_GATE_CLOSED ? NULL : weft_comm_resolve(handle);
    return comm ? comm->vci : &weft.vcis[0];
}

/* The datatype of a call, or NULL. No elements for MPI_PROC_NULL need none: MPI_DATATYPE_NULL stands
 * for MPI_BYTE there. */
const struct weft_datatype *weft_call_type(const struct weft_call *call);

/* Finds what is wrong with a call. receive: the wildcards are allowed; no_result: the pointer to the
 * request (or message, or flag) is null, which is the last thing that can be wrong. Returns
 * MPI_SUCCESS for a good call, else what the error handler lets through. */
int weft_call_explain(const struct weft_call *call, bool receive, bool no_result);

/* The same and the objects. True when the call is good and its peer a rank, or a wildcard of a
 * receive; else *code is what the entry point returns (MPI_SUCCESS: the peer is MPI_PROC_NULL). */
bool weft_call_resolve(const struct weft_call *call, bool receive, struct weft_resolved *out,
                       int *code);

/* The same for a call that is to start a request. When it answers false the call is over: for
 * MPI_PROC_NULL *request is complete already. */
bool weft_call_resolve_start(const struct weft_call *call, bool receive, MPI_Request *request,
                             struct weft_resolved *out, int *code);

#endif
