// SPDX-License-Identifier: BSD-3-Clause
/*
 * Probes and matched probes (MPI 5.0, 3.8).
 *
 * Invariant: a message handle is handed out when its message has left the matcher, and set to
 * MPI_MESSAGE_NULL when its receive has started.
 */
#include "core/mpi/api.h"
#include "core/mpi/call.h"
#include "core/comm/raise.h"
#include "core/pt2pt/p2p.h"
#include "core/pt2pt/probe.h"
#include "core/pt2pt/count.h"

static bool prepare(const char *function, int source, int tag, MPI_Comm comm,
                    struct weft_resolved *out, int *code)
{
    const struct weft_call call = {
        .function = function, .datatype = MPI_BYTE, .peer = source, .tag = tag, .comm = comm};
    *code = weft_call_explain(&call, true, false);
    if (*code != MPI_SUCCESS)
        return false;
    out->comm = weft_comm_resolve(comm);
    return source != MPI_PROC_NULL;
}

static int no_result(const char *function, MPI_Comm comm)
{
    int code = weft_enter(function);
    if (code)
        return code;
    code = weft_error(weft_comm_resolve(comm), MPI_ERR_ARG, function,
                      "a pointer for the result is null");
    weft_leave();
    return code;
}

/* wait: until there is a message; else *flag is whether there is one. take: into *handle. */
static int probe(const char *function, int source, int tag, MPI_Comm comm, bool wait, int *flag,
                 bool take, MPI_Message *handle, MPI_Status *status)
{
    struct weft_resolved call;
    struct weft_message *message = NULL;
    if ((!wait && !flag) || (take && !handle))
        return no_result(function, comm);
    struct weft_vci *vci = weft_call_vci(comm);
    int code = weft_enter_on(function, vci);
    if (code)
        return code;
    if (prepare(function, source, tag, comm, &call, &code)) {
        struct weft_channel *channel = &call.comm->p2p;
        if (wait)
            code = weft_probe_wait(channel, source, tag, &message);
        else if (!(message = weft_probe_look(channel, source, tag)))
            code = weft_probe_source(channel, source);
        if (flag)
            *flag = message != NULL;
        if (code != MPI_SUCCESS) {
            code = weft_error_raise(call.comm, code, function);
        } else if (message) {
            weft_probe_status(message, status);
            if (take) {
                weft_probe_take(channel, message);
                *handle = (MPI_Message)message;
            }
        }
    } else if (code == MPI_SUCCESS) { /* MPI_PROC_NULL */
        weft_status_proc_null(status);
        if (flag)
            *flag = 1;
        if (take)
            *handle = MPI_MESSAGE_NO_PROC;
    }
    weft_leave_on(vci);
    return code;
}

WEFT_EXPORT(Probe);
int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    return probe("MPI_Probe", source, tag, comm, true, NULL, false, NULL, status);
}

WEFT_EXPORT(Mprobe);
int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    return probe("MPI_Mprobe", source, tag, comm, true, NULL, true, message, status);
}

WEFT_EXPORT(Iprobe);
int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    return probe("MPI_Iprobe", source, tag, comm, false, flag, false, NULL, status);
}

WEFT_EXPORT(Improbe);
int PMPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                 MPI_Status *status)
{
    return probe("MPI_Improbe", source, tag, comm, false, flag, true, message, status);
}

/* The VCI of a message that a matched probe took. */
static struct weft_vci *vci_of(MPI_Message handle)
{
    const struct weft_message *message = weft_handle_resolve(handle, WEFT_KIND_MESSAGE);
    return message && message->channel ? message->channel->comm->vci : &weft.vcis[0];
}

/* Starts the receive of a message. Returns its request; NULL when *code is to be returned. */
static struct weft_request *receive(const char *function, void *buffer, MPI_Count count,
                                    MPI_Datatype datatype, MPI_Message *handle, int *code)
{
    struct weft_message *message = weft_handle_resolve(*handle, WEFT_KIND_MESSAGE);
    if (!message) {
        *code = weft_error(NULL, MPI_ERR_REQUEST, function,
                           "%p is no message; was it received before?", (void *)*handle);
        return NULL;
    }
    bool nowhere = message == &weft_message_no_proc;
    struct weft_comm *comm = nowhere ? &weft_comm_self : message->channel->comm;
    bool freed = comm->object.kind != WEFT_KIND_COMM; /* since the probe: nobody can name it */
    if (freed)
        comm = &weft_comm_self;
    struct weft_call call = {.function = function,
                             .buffer = buffer,
                             .count = count,
                             .datatype = datatype,
                             .peer = nowhere ? MPI_PROC_NULL
                                     : freed ? 0
                                             : message->match.source,
                             .comm = comm->handle};
    struct weft_resolved to;
    bool good = weft_call_resolve(&call, true, &to, code);
    if (*code != MPI_SUCCESS)
        return NULL;
    struct weft_vci *vci = vci_of(*handle);
    struct weft_request *request =
        good ? weft_request_get(vci, WEFT_REQUEST_RECV, 1) : weft_request_to_nowhere(vci);
    if (!request) {
        *code = weft_error_raise(comm, MPI_ERR_NO_MEM, function);
        return NULL;
    }
    *handle = MPI_MESSAGE_NULL;
    if (good) {
        weft_p2p_describe(request, message->channel, buffer, to.bytes, to.type, NULL,
                          message->match.source, message->match.tag);
        if (weft_unlikely(weft_count_all()))
            weft_count_receive(request);
        weft_sw_receive_taken(request, message);
    }
    return request;
}

WEFT_EXPORT(Mrecv_c);
int PMPI_Mrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
                 MPI_Status *status)
{
    if (!message)
        return no_result("MPI_Mrecv", MPI_COMM_SELF);
    struct weft_vci *vci = vci_of(*message);
    int code = weft_enter_on("MPI_Mrecv", vci);
    if (code)
        return code;
    struct weft_request *request = receive("MPI_Mrecv", buf, count, datatype, message, &code);
    if (request) {
        struct weft_comm *comm = request->op == WEFT_REQUEST_RECV ? request->channel->comm : NULL;
        weft_request_wait(request);
        weft_request_status(request, status, false);
        code = request->error;
        weft_request_put(request);
        if (code != MPI_SUCCESS)
            code = weft_error_raise(comm, code, "MPI_Mrecv");
    }
    weft_leave_on(vci);
    return code;
}

WEFT_EXPORT(Imrecv_c);
int PMPI_Imrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
                  MPI_Request *request)
{
    if (!message || !request)
        return no_result("MPI_Imrecv", MPI_COMM_SELF);
    struct weft_vci *vci = vci_of(*message);
    int code = weft_enter_on("MPI_Imrecv", vci);
    if (code)
        return code;
    struct weft_request *started = receive("MPI_Imrecv", buf, count, datatype, message, &code);
    if (started)
        *request = (MPI_Request)started;
    weft_leave_on(vci);
    return code;
}
