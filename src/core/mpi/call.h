// SPDX-License-Identifier: BSD-3-Clause
/*
 * The arguments of a point-to-point call: checks in their order, resolution of handles, and the
 * error of the first wrong argument.
 *
 * Invariant: a function that reports a wrong argument has called the communicator's error handler,
 * once.
 */
#ifndef WEFT_CALL_H
#define WEFT_CALL_H

#include "core/comm/comm.h"
#include "core/datatype/datatype.h"
#include "core/process/weft.h"

#include <stdbool.h>

/* The arguments of an entry point. */
struct weft_call {
    const char *function; /* "MPI_Send" */
    const void *buffer;
    MPI_Count count;
    MPI_Datatype datatype;
    int peer, tag; /* destination or source */
    MPI_Comm comm;
};

/* The objects of a call whose arguments are valid. */
struct weft_resolved {
    struct weft_comm *comm;
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

/* The datatype of a call, or NULL. With count 0 and MPI_PROC_NULL,
 * MPI_DATATYPE_NULL is accepted as MPI_BYTE. */
const struct weft_datatype *weft_call_type(const struct weft_call *call);

/* Raises the error of the first wrong argument. receive: wildcards are allowed; no_result: the
 * pointer to the request (or message, or flag), which is checked last, is null. Returns MPI_SUCCESS
 * for a valid call, else the error class that the error handler returns. */
int weft_call_explain(const struct weft_call *call, bool receive, bool no_result);

/* As weft_call_explain, and sets *out. True if the call is valid and its peer is a rank, or a
 * wildcard of a receive; else the entry point returns *code (MPI_SUCCESS: the peer is
 * MPI_PROC_NULL). */
bool weft_call_resolve(const struct weft_call *call, bool receive, struct weft_resolved *out,
                       int *code);

/* As weft_call_resolve, for a call that starts a request. False: the call is finished; for
 * MPI_PROC_NULL *request is a complete request. */
bool weft_call_resolve_start(const struct weft_call *call, bool receive, MPI_Request *request,
                             struct weft_resolved *out, int *code);

#endif
