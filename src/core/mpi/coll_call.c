// SPDX-License-Identifier: BSD-3-Clause
/*
 * Running collective calls: see coll_call.h.
 *
 * Invariant: errors of checks and of the core are raised here, once.
 */
#include "core/mpi/coll_call.h"
#include "core/mpi/arg.h"
#include "core/coll/stage.h"
#include "core/comm/nodes.h"
#include "core/process/weft.h"

/* Takes all VCIs for a moment: the first collective of a group finds its nodes, and schedules that
 * other collectives have left are freed. NULL: the communicator is revoked; the VCI is left. */
WEFT_COLD static struct weft_comm *prepare(const char *function, struct weft_comm *comm, int *code)
{
    if (comm->revoked) {
        *code = weft_leave_comm(comm, weft_comm_report_revoked(comm), function);
        return NULL;
    }
    weft_leave_on(comm->vci);
    if (weft_enter(function) == MPI_SUCCESS) {
        weft_nodes_of(comm->group);
        weft_leave();
    }
    weft_enter_on(function, comm->vci);
    return comm;
}

/* Enters the library with the VCI of the communicator. NULL: the entry point returns *code. */
static inline struct weft_comm *enter(const struct weft_coll_call *call, int *code)
{
    struct weft_comm *comm = weft_enter_comm(call->function, call->comm, code);
    if (weft_unlikely(weft_entry_flags) && comm &&
        (comm->revoked || !comm->group->nodes || comm->vci->coll.deferred))
        comm = prepare(call->function, comm, code);
    weft_assert(!comm || weft_vci_is_held(comm->vci));
    return comm;
}

int weft_coll_blocking(const struct weft_coll_call *call)
{
    struct weft_coll_args args;
    int code;
    struct weft_comm *comm = enter(call, &code);
    if (weft_unlikely(!comm))
        return code;
    code = weft_coll_check(call, comm, &args);
    if (weft_unlikely(code != MPI_SUCCESS))
        weft_coll_refuse(comm, false, code);
    else if (weft_unlikely(weft_gpu_enabled) && !comm->host_only)
        code = weft_stage_run(&args);
    else
        code = weft_coll_run(&args);
    return weft_leave_comm(comm, code, call->function);
}

/* Checks the request of a nonblocking or persistent call, and the hints of a persistent one. */
static int check_request(const MPI_Request *request, MPI_Info hints)
{
    struct weft_info *info;
    int code = weft_arg_result(request != NULL, "request");
    return code ? code : weft_arg_info_or_null(hints, &info);
}

static int start_call(const struct weft_coll_call *call, bool persistent, MPI_Info hints,
                      MPI_Request *handle)
{
    struct weft_coll_args args;
    struct weft_request *request;
    int code;
    struct weft_comm *comm = enter(call, &code);
    if (weft_unlikely(!comm))
        return code;
    code = weft_coll_check(call, comm, &args);
    if (weft_unlikely(!handle) || weft_unlikely(hints != MPI_INFO_NULL))
        code = code ? code : check_request(handle, hints);
    if (weft_unlikely(weft_gpu_enabled) && !comm->host_only && code == MPI_SUCCESS)
        weft_stage_classify(&args);
    if (weft_unlikely(code != MPI_SUCCESS))
        weft_coll_refuse(comm, persistent, code);
    else
        code = persistent ? weft_coll_init(&args, &request) : weft_coll_start(&args, &request);
    if (code == MPI_SUCCESS && persistent)
        request->flags = WEFT_REQUEST_PERSISTENT | WEFT_REQUEST_INACTIVE;
    if (code == MPI_SUCCESS)
        *handle = (MPI_Request)request;
    return weft_leave_comm(comm, code, call->function);
}

int weft_coll_nonblocking(const struct weft_coll_call *call, MPI_Request *handle)
{
    return start_call(call, false, MPI_INFO_NULL, handle);
}

int weft_coll_persistent(const struct weft_coll_call *call, MPI_Info info, MPI_Request *handle)
{
    return start_call(call, true, info, handle); /* the standard names no key for the hints */
}
