// SPDX-License-Identifier: BSD-3-Clause
/*
 * Checks of the arguments of point-to-point calls, and their general path; see p2p_call.h.
 *
 * Invariant: arguments are checked in their order, so that the first wrong one is reported.
 */
#include "core/mpi/p2p_call.h"
#include "core/datatype/device.h"
#include "core/progress/progress.h"

/* Checks a wildcard on a communicator of which all processes have asserted that they use none. It
 * is an error where the assertion decides on the channels of messages. */
WEFT_COLD static int check_wildcard(const struct weft_p2p_call *call, int errclass,
                                    const char *wildcard, const char *assertion)
{
    if (!call->comm->spread || call->peer == MPI_PROC_NULL)
        return MPI_SUCCESS;
    return weft_error_set(errclass,
                          "%s cannot be used on %s: all its processes have asserted that they do "
                          "not (%s), so its messages are spread over several interfaces; make the "
                          "communicator without the assertion",
                          wildcard, weft_comm_name(call->comm), assertion);
}

int weft_p2p_call_check(const struct weft_p2p_call *call, bool receive, struct weft_resolved *out)
{
    struct weft_datatype *type = NULL;
    bool to_null = call->peer == MPI_PROC_NULL;
    bool nothing = to_null && call->count == 0 && call->datatype == MPI_DATATYPE_NULL;
    bool any_source = receive && call->peer == MPI_ANY_SOURCE;
    weft_assert(call->comm);
    int code = weft_unlikely(call->comm->revoked) ? weft_comm_report_revoked(call->comm)
                                                  : weft_arg_count(call->count);
    if (code == MPI_SUCCESS)
        code = weft_arg_committed(nothing ? MPI_BYTE : call->datatype, &type);
    if (code == MPI_SUCCESS && !to_null && !any_source)
        code = weft_arg_rank(call->peer, call->comm);
    if (code == MPI_SUCCESS && any_source && call->comm->spread_rule == WEFT_SPREAD_BY_RANKS)
        code = check_wildcard(call, MPI_ERR_RANK, "MPI_ANY_SOURCE", "mpi_assert_no_any_source");
    if (code == MPI_SUCCESS && (!receive || call->tag != MPI_ANY_TAG))
        code = weft_arg_tag(call->tag);
    else if (code == MPI_SUCCESS && call->comm->spread_rule == WEFT_SPREAD_BY_TAG)
        code = check_wildcard(call, MPI_ERR_TAG, "MPI_ANY_TAG", "mpi_assert_no_any_tag");
    if (code == MPI_SUCCESS)
        code = weft_arg_bytes(call->count, type, &out->bytes);
    if (code != MPI_SUCCESS)
        return code;
    if (!to_null)
        code = weft_arg_buffer(call->buffer, out->bytes, type, receive ? "receive" : "send");
    if (code != MPI_SUCCESS)
        return code;
    out->type = out->bytes && !to_null
                    ? weft_datatype_in(type, call->buffer, &call->comm->host_only)
                    : type;
    weft_assert(out->type->flags & WEFT_TYPE_COMMITTED);
    return MPI_SUCCESS;
}

bool weft_p2p_call_resolve(const struct weft_p2p_call *call, bool receive,
                           struct weft_resolved *out, int *code)
{
    *code = weft_p2p_call_check(call, receive, out);
    return *code == MPI_SUCCESS && call->peer != MPI_PROC_NULL;
}

bool weft_p2p_call_resolve_start(const struct weft_p2p_call *call, bool receive,
                                 MPI_Request *request, struct weft_resolved *out, int *code)
{
    bool good = weft_p2p_call_resolve(call, receive, out, code);
    if (*code == MPI_SUCCESS)
        *code = weft_arg_result(request != NULL, "request");
    weft_assert(good || *code != MPI_SUCCESS || call->peer == MPI_PROC_NULL);
    if (weft_unlikely(call->comm->revoked) && request)
        *request = MPI_REQUEST_NULL; /* programs for ULFM wait for it */
    if (!good && *code == MPI_SUCCESS)
        *request = (MPI_Request)weft_request_to_nowhere(weft_p2p_call_channel(call)->vci);
    return good && *code == MPI_SUCCESS;
}

struct weft_vci *weft_exchange_vci(MPI_Comm handle, int dest, int sendtag, int source, int recvtag)
{
    struct weft_vci *out = weft_p2p_vci(handle, dest, sendtag);
    struct weft_vci *in = weft_p2p_vci(handle, source, recvtag);
    if (source == MPI_PROC_NULL)
        return out;
    return in == out || dest == MPI_PROC_NULL ? in : NULL;
}

/* ---- With the VCI held */

int weft_p2p_call_send(const struct weft_p2p_call *call, enum weft_send_mode mode)
{
    struct weft_resolved to;
    int code;
    if (!weft_p2p_call_resolve(call, false, &to, &code))
        return code;
    return weft_p2p_send(weft_p2p_call_channel(call), call->buffer, to.bytes, to.type, call->peer,
                         call->tag, mode);
}

int weft_p2p_call_isend(const struct weft_p2p_call *call, enum weft_send_mode mode,
                        MPI_Request *request)
{
    struct weft_resolved to;
    struct weft_request *send;
    int code;
    if (!weft_p2p_call_resolve_start(call, false, request, &to, &code))
        return code;
    code = weft_p2p_isend(weft_p2p_call_channel(call), call->buffer, to.bytes, to.type, call->peer,
                          call->tag, mode, &send);
    if (weft_unlikely(code != MPI_SUCCESS))
        return code;
    if (weft_unlikely(send->peer->world == weft.job.rank))
        weft_look_sometimes(send->channel->vci);
    *request = (MPI_Request)send;
    return MPI_SUCCESS;
}

static int call_recv(const struct weft_p2p_call *call, MPI_Status *status)
{
    struct weft_resolved from;
    int code;
    if (weft_p2p_call_resolve(call, true, &from, &code))
        return weft_p2p_recv(weft_p2p_call_channel(call), (void *)call->buffer, from.bytes,
                             from.type, call->peer, call->tag, status);
    if (code == MPI_SUCCESS)
        weft_status_proc_null(status);
    return code;
}

static int call_irecv(const struct weft_p2p_call *call, MPI_Request *request)
{
    struct weft_resolved from;
    struct weft_request *receive;
    int code;
    if (!weft_p2p_call_resolve_start(call, true, request, &from, &code))
        return code;
    code = weft_p2p_irecv(weft_p2p_call_channel(call), (void *)call->buffer, from.bytes, from.type,
                          call->peer, call->tag, &receive);
    if (weft_likely(code == MPI_SUCCESS))
        *request = (MPI_Request)receive;
    return code;
}

WEFT_HOT int weft_finish_recv(struct weft_request *receive, MPI_Status *status)
{
    weft_request_wait(receive);
    weft_assert(!receive->pending);
    int code = receive->error;
    struct weft_comm *comm = receive->channel->comm;
    weft_request_status(receive, status, false);
    weft_request_put(receive);
    return weft_likely(code == MPI_SUCCESS) ? code : weft_error_raise(comm, code, "MPI_Recv");
}

/* ---- The general path: with entering and leaving */

/* With threads: the channel of a call whose VCI was taken for its fast attempt; NULL: something
 * other than threads prevents that. */
static inline __attribute__((always_inline)) struct weft_channel *take(MPI_Comm handle, int peer,
                                                                       int tag)
{
    if (weft_unlikely(weft_entry_flags != WEFT_ENTRY_THREADS))
        return NULL;
    struct weft_comm *comm = weft_fast_comm(handle);
    if (weft_unlikely(!comm))
        return NULL;
    struct weft_channel *channel = weft_comm_channel(comm, peer, tag);
    return weft_likely(weft_lock_take(&channel->vci->lock)) ? channel : NULL;
}

/* After the fast attempt: releases what take() took, and returns the result of the call. */
static inline __attribute__((always_inline)) int give(struct weft_channel *channel, int code)
{
    weft_lock_give(&channel->vci->lock);
    return code;
}

/* Without a successful fast attempt: resolves the communicator of the call, and returns the VCI of
 * its message, which is held: that of the channel which take() took, or entered here. NULL: the
 * error was raised, *code is to be returned. */
static struct weft_vci *enter(const char *function, MPI_Comm handle, struct weft_channel *taken,
                              struct weft_p2p_call *call, int *code)
{
    if (taken) {
        weft_assert(weft_vci_is_held(taken->vci));
        call->comm = taken->comm;
        return taken->vci;
    }
    struct weft_vci *vci = weft_p2p_vci(handle, call->peer, call->tag);
    *code = weft_enter_on(function, vci);
    if (weft_unlikely(*code != MPI_SUCCESS))
        return NULL;
    weft_assert(weft_vci_is_held(vci));
    *code = weft_arg_comm(handle, &call->comm);
    if (weft_likely(*code == MPI_SUCCESS))
        return vci;
    weft_leave_scope_with(vci, NULL, *code, function);
    return NULL;
}

WEFT_HOT int weft_general_send(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
                               int tag, MPI_Comm handle)
{
    int code;
    size_t bytes;
    struct weft_channel *channel = take(handle, dest, tag);
    if (weft_likely(channel != NULL) &&
        weft_likely(
            weft_fast_check(buf, count, datatype, dest, tag, (uint32_t)channel->size, &bytes)) &&
        weft_likely(
            weft_lane_inject(channel->peers[dest], channel, tag, WEFT_SEND_STANDARD, buf, bytes)))
        return give(channel, MPI_SUCCESS);
    struct weft_p2p_call call = {NULL, buf, count, datatype, dest, tag};
    struct weft_vci *vci = enter("MPI_Send", handle, channel, &call, &code);
    return vci ? weft_leave_scope_with(vci, call.comm,
                                       weft_p2p_call_send(&call, WEFT_SEND_STANDARD), "MPI_Send")
               : code;
}

WEFT_HOT int weft_general_isend(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
                                int tag, MPI_Comm handle, MPI_Request *request)
{
    int code;
    size_t bytes;
    struct weft_channel *channel = take(handle, dest, tag);
    if (weft_likely(channel != NULL) &&
        weft_likely(
            weft_fast_check(buf, count, datatype, dest, tag, (uint32_t)channel->size, &bytes)) &&
        request && weft_likely(weft_fast_isend(channel, buf, bytes, dest, tag, request, &code)))
        return give(channel, code);
    struct weft_p2p_call call = {NULL, buf, count, datatype, dest, tag};
    struct weft_vci *vci = enter("MPI_Isend", handle, channel, &call, &code);
    return vci ? weft_leave_scope_with(vci, call.comm,
                                       weft_p2p_call_isend(&call, WEFT_SEND_STANDARD, request),
                                       "MPI_Isend")
               : code;
}

WEFT_HOT int weft_general_recv(void *buf, MPI_Count count, MPI_Datatype datatype, int source,
                               int tag, MPI_Comm handle, MPI_Status *status)
{
    int code;
    size_t bytes;
    struct weft_channel *channel = take(handle, source, tag);
    if (weft_likely(channel != NULL) &&
        weft_likely(weft_fast_check(buf, count, datatype, source, tag, channel->sources, &bytes)) &&
        weft_likely(weft_fast_recv(channel, buf, bytes, source, tag, status, &code)))
        return give(channel, code);
    struct weft_p2p_call call = {NULL, buf, count, datatype, source, tag};
    struct weft_vci *vci = enter("MPI_Recv", handle, channel, &call, &code);
    return vci ? weft_leave_scope_with(vci, call.comm, call_recv(&call, status), "MPI_Recv") : code;
}

WEFT_HOT int weft_general_irecv(void *buf, MPI_Count count, MPI_Datatype datatype, int source,
                                int tag, MPI_Comm handle, MPI_Request *request)
{
    int code;
    size_t bytes;
    struct weft_channel *channel = take(handle, source, tag);
    if (weft_likely(channel != NULL) &&
        weft_likely(weft_fast_check(buf, count, datatype, source, tag, channel->sources, &bytes)) &&
        request && weft_likely(weft_fast_irecv(channel, buf, bytes, source, tag, request)))
        return give(channel, MPI_SUCCESS);
    struct weft_p2p_call call = {NULL, buf, count, datatype, source, tag};
    struct weft_vci *vci = enter("MPI_Irecv", handle, channel, &call, &code);
    return vci ? weft_leave_scope_with(vci, call.comm, call_irecv(&call, request), "MPI_Irecv")
               : code;
}
