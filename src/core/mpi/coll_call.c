// SPDX-License-Identifier: BSD-3-Clause
/*
 * Running collective calls: see coll_call.h.
 *
 * Invariant: errors of checks and of the core are raised here, once.
 */
#include "core/mpi/coll_call.h"
#include "core/mpi/arg.h"
#include "core/mpi/call.h"
#include "core/comm/raise.h"

/* Enters the library, resolves all handles. False: the library is left, and the entry point returns
 * *code. */
static bool begin(const struct weft_coll_call *call, bool persistent, struct weft_coll_args *args,
                  int *code)
{
    struct weft_comm *comm = weft_enter_comm(call->function, call->comm, code);
    if (weft_unlikely(!comm))
        return false;
    *code = weft_coll_check(call, comm, args);
    if (weft_unlikely(*code != MPI_SUCCESS)) {
        weft_coll_refuse(comm, persistent, *code);
        weft_leave_with(comm, *code, call->function);
        return false;
    }
    return true;
}

static int end(const struct weft_coll_call *call, const struct weft_coll_args *args, int code)
{
    return weft_leave_with(args->comm, code, call->function);
}

/* A blocking call that holds the VCI of its communicator only. False: nothing was done, because all
 * VCIs are needed: for an inter-communicator, for the first collective of a group, which finds its
 * nodes, and for the refusal of a wrong call. */
static bool run_on_vci(const struct weft_coll_call *call, int *code)
{
    struct weft_vci *vci = weft_call_vci(call->comm);
    struct weft_coll_args args;
    *code = weft_enter_on(call->function, vci);
    if (*code != MPI_SUCCESS)
        return true;
    struct weft_comm *comm = weft_comm_resolve(call->comm);
    bool taken = comm && comm->vci == vci && !comm->local && comm->group->nodes &&
                 weft_coll_check(call, comm, &args) == MPI_SUCCESS;
    if (taken)
        *code = weft_coll_run(&args);
    if (weft_unlikely(*code != MPI_SUCCESS))
        *code = weft_error_raise(comm, *code, call->function);
    weft_leave_on(vci);
    return taken;
}

int weft_coll_blocking(const struct weft_coll_call *call)
{
    struct weft_coll_args args;
    int code;
    if (weft_unlikely(weft_gate == WEFT_GATE_THREADS) && run_on_vci(call, &code))
        return code;
    if (!begin(call, false, &args, &code))
        return code;
    return end(call, &args, weft_coll_run(&args));
}

/* Where a nonblocking or persistent call puts its request, and the hints of a persistent one. */
static bool check_request(const struct weft_coll_call *call, const MPI_Request *request,
                          MPI_Info hints, int *code)
{
    struct weft_info *info;
    if (weft_likely(request != NULL) && weft_likely(hints == MPI_INFO_NULL))
        return true;
    *code = weft_enter(call->function);
    if (*code != MPI_SUCCESS)
        return false;
    *code = weft_arg_result(request != NULL, "request");
    if (*code == MPI_SUCCESS)
        *code = weft_arg_info_or_null(hints, &info);
    weft_leave_with(weft_comm_resolve(call->comm), *code, call->function);
    return *code == MPI_SUCCESS;
}

int weft_coll_nonblocking(const struct weft_coll_call *call, MPI_Request *handle)
{
    struct weft_coll_args args;
    struct weft_request *request;
    int code;
    if (!check_request(call, handle, MPI_INFO_NULL, &code) || !begin(call, false, &args, &code))
        return code;
    code = weft_coll_start(&args, &request);
    if (code == MPI_SUCCESS)
        *handle = (MPI_Request)request;
    return end(call, &args, code);
}

int weft_coll_persistent(const struct weft_coll_call *call, MPI_Info info, MPI_Request *handle)
{
    struct weft_coll_args args;
    struct weft_request *request;
    int code;
    /* The standard names no key for the hints. */
    if (!check_request(call, handle, info, &code) || !begin(call, true, &args, &code))
        return code;
    code = weft_coll_init(&args, &request);
    if (code == MPI_SUCCESS) {
        request->flags = WEFT_REQUEST_PERSISTENT | WEFT_REQUEST_INACTIVE;
        *handle = (MPI_Request)request;
    }
    return end(call, &args, code);
}
