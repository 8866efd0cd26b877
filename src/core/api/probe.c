// SPDX-License-Identifier: BSD-3-Clause
/*
 * Probes and matched probes (MPI 5.0, 3.8).
 *
 * Invariant: a message handle is handed out when its message has left the matcher, and set to
 * MPI_MESSAGE_NULL when its receive has started.
 */
#include "core/api/api.h"
#include "core/api/call.h"
#include "core/error.h"
#include "core/p2p.h"
#include "core/probe.h"

static bool prepare(const char *function, int source, int tag, MPI_Comm comm, bool no_result,
                    struct weft_resolved *out, int *code)
{
    const struct weft_call call = {
        .function = function, .datatype = MPI_BYTE, .peer = source, .tag = tag, .comm = comm};
    *code = weft_call_explain(&call, true, false);
    if (*code == MPI_SUCCESS && no_result)
        *code = weft_error(weft_comm_resolve(comm), MPI_ERR_ARG, function,
                           "a pointer for the result is null");
    if (*code != MPI_SUCCESS)
        return false;
    out->comm = weft_comm_resolve(comm);
    return source != MPI_PROC_NULL;
}

/* The status of a probe of MPI_PROC_NULL (MPI 5.0, 3.10). */
static void null_status(MPI_Status *status)
{
    weft_status_empty(status, false);
    if (status != MPI_STATUS_IGNORE)
        status->MPI_SOURCE = MPI_PROC_NULL;
}

static int probe(const char *function, int source, int tag, MPI_Comm comm, bool take,
                 MPI_Message *handle, MPI_Status *status)
{
    struct weft_resolved call;
    struct weft_message *message;
    int code = weft_enter(function);
    if (code)
        return code;
    if (prepare(function, source, tag, comm, take && !handle, &call, &code)) {
        code = weft_probe_wait(&call.comm->p2p, source, tag, &message);
        if (code == MPI_SUCCESS) {
            weft_probe_status(message, status);
            if (take) {
                weft_probe_take(&call.comm->p2p, message);
                *handle = (MPI_Message)message;
            }
        } else {
            code = weft_error_raise(call.comm, code, function);
        }
    } else if (code == MPI_SUCCESS) {
        null_status(status);
        if (take)
            *handle = MPI_MESSAGE_NO_PROC;
    }
    weft_leave();
    return code;
}

static int look(const char *function, int source, int tag, MPI_Comm comm, bool take, int *flag,
                MPI_Message *handle, MPI_Status *status)
{
    struct weft_resolved call;
    struct weft_message *message;
    int code = weft_enter(function);
    if (code)
        return code;
    if (prepare(function, source, tag, comm, !flag || (take && !handle), &call, &code)) {
        message = weft_probe_look(&call.comm->p2p, source, tag);
        *flag = message != NULL;
        if (message) {
            weft_probe_status(message, status);
            if (take) {
                weft_probe_take(&call.comm->p2p, message);
                *handle = (MPI_Message)message;
            }
        }
    } else if (code == MPI_SUCCESS) {
        *flag = 1;
        null_status(status);
        if (take)
            *handle = MPI_MESSAGE_NO_PROC;
    }
    weft_leave();
    return code;
}

WEFT_EXPORT(Probe);
int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    return probe("MPI_Probe", source, tag, comm, false, NULL, status);
}

WEFT_EXPORT(Mprobe);
int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    return probe("MPI_Mprobe", source, tag, comm, true, message, status);
}

WEFT_EXPORT(Iprobe);
int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    return look("MPI_Iprobe", source, tag, comm, false, flag, NULL, status);
}

WEFT_EXPORT(Improbe);
int PMPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                 MPI_Status *status)
{
    return look("MPI_Improbe", source, tag, comm, true, flag, message, status);
}

/* Starts the receive of a message; *out is its request. */
static int receive(const char *function, void *buffer, MPI_Count count, MPI_Datatype datatype,
                   MPI_Message *handle, struct weft_request **out)
{
    if (!handle)
        return weft_error(NULL, MPI_ERR_ARG, function, "the pointer to the message is null");
    struct weft_message *message = weft_handle_resolve(*handle, WEFT_KIND_MESSAGE);
    if (!message)
        return weft_error(NULL, MPI_ERR_REQUEST, function,
                          "%p is no message; was it received before?", (void *)*handle);
    bool nowhere = message == &weft_message_no_proc;
    struct weft_comm *comm = nowhere ? weft_comm_resolve(MPI_COMM_SELF) : message->channel->comm;
    struct weft_call call = {.function = function,
                             .buffer = buffer,
                             .count = count,
                             .datatype = datatype,
                             .peer = nowhere ? MPI_PROC_NULL : message->match.source,
                             .comm = comm->handle};
    struct weft_resolved to;
    int code;
    if (!weft_call_resolve(&call, true, &to, &code)) {
        if (code != MPI_SUCCESS)
            return code;
        *out = weft_request_to_nowhere();
        *handle = MPI_MESSAGE_NULL;
        return MPI_SUCCESS;
    }
    *out = weft_request_get(&weft.requests, WEFT_REQUEST_RECV, 1);
    if (!*out)
        return weft_error(comm, MPI_ERR_NO_MEM, function,
                          "no memory for another receive; complete some first");
    weft_p2p_describe(*out, message->channel, buffer, to.bytes, to.type, NULL,
                      message->match.source, message->match.tag);
    weft_soft_receive_taken(*out, message);
    *handle = MPI_MESSAGE_NULL;
    return MPI_SUCCESS;
}

WEFT_EXPORT(Mrecv_c);
int PMPI_Mrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
                 MPI_Status *status)
{
    struct weft_request *request;
    int code = weft_enter("MPI_Mrecv");
    if (code)
        return code;
    code = receive("MPI_Mrecv", buf, count, datatype, message, &request);
    if (code == MPI_SUCCESS) {
        struct weft_comm *comm = request->op == WEFT_REQUEST_RECV ? request->channel->comm : NULL;
        weft_request_wait(request);
        weft_request_status(request, status, false);
        code = request->error;
        weft_request_put(request);
        if (code != MPI_SUCCESS)
            code = weft_error_raise(comm, code, "MPI_Mrecv");
    }
    weft_leave();
    return code;
}

WEFT_EXPORT(Imrecv_c);
int PMPI_Imrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
                  MPI_Request *request)
{
    struct weft_request *started;
    int code = weft_enter("MPI_Imrecv");
    if (code)
        return code;
    if (!request)
        code = weft_error(NULL, MPI_ERR_ARG, "MPI_Imrecv", "the pointer to the request is null");
    else
        code = receive("MPI_Imrecv", buf, count, datatype, message, &started);
    if (code == MPI_SUCCESS)
        *request = (MPI_Request)started;
    weft_leave();
    return code;
}
