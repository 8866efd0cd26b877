// SPDX-License-Identifier: BSD-3-Clause
/*
 * Probes and matched probes (MPI 5.0, 3.8).
 *
 * Invariant: a message handle is handed out when its message has left the matcher, and set to
 * MPI_MESSAGE_NULL when its receive has started.
 */
#include "core/mpi/entry.h"
#include "core/mpi/p2p_call.h"
#include "core/pt2pt/p2p.h"
#include "core/pt2pt/probe.h"
#include "core/message/count.h"
#include "core/progress/progress.h"

int weft_p2p_call_probe(struct weft_comm *comm, int source, int tag, int *flag, MPI_Message *handle,
                        MPI_Status *status)
{
    const struct weft_p2p_call call = {comm, .datatype = MPI_BYTE, .peer = source, .tag = tag};
    struct weft_channel *channel = weft_comm_channel(comm, source, tag);
    struct weft_message *message = NULL;
    struct weft_resolved from;
    int code;
    if (!weft_p2p_call_resolve(&call, true, &from, &code)) {
        if (code != MPI_SUCCESS)
            return code;
        weft_status_proc_null(status);
        if (flag)
            *flag = 1;
        if (handle)
            *handle = MPI_MESSAGE_NO_PROC;
        return MPI_SUCCESS;
    }
    if (!flag)
        code = weft_probe_wait(channel, source, tag, &message);
    else if (!(message = weft_probe_look(channel, source, tag)))
        code = weft_probe_source(channel, source);
    weft_assert(flag || code != MPI_SUCCESS || message);
    if (flag)
        *flag = message != NULL;
    if (code != MPI_SUCCESS || !message)
        return code;
    weft_probe_status(message, status);
    if (handle) {
        weft_probe_take(channel, message);
        *handle = (MPI_Message)message;
    }
    return MPI_SUCCESS;
}

/* ---- Receives of messages that a matched probe took */

struct weft_vci *weft_message_vci(const MPI_Message *handle)
{
    const struct weft_message *message =
        handle ? weft_handle_resolve(*handle, WEFT_KIND_MESSAGE) : NULL;
    return message && message->channel ? message->channel->vci : &weft.vcis[0];
}

/* Starts the receive of a message; *comm: whose error it is. */
static int receive(void *buffer, MPI_Count count, MPI_Datatype datatype, MPI_Message *handle,
                   struct weft_comm **comm, struct weft_request **out)
{
    struct weft_message *message = handle ? weft_handle_resolve(*handle, WEFT_KIND_MESSAGE) : NULL;
    *comm = &weft_comm_self;
    if (!handle)
        return weft_arg_no_result("message");
    if (!message)
        return weft_arg_bad_handle(WEFT_KIND_MESSAGE, *handle, -1);
    bool nowhere = message == &weft_message_no_proc;
    struct weft_vci *vci = weft_message_vci(handle);
    int source = nowhere ? MPI_PROC_NULL : message->match.source;
    if (!nowhere && message->channel->comm->object.kind == WEFT_KIND_COMM)
        *comm = message->channel->comm;
    else if (!nowhere) /* the communicator was freed since the probe: nobody can name it */
        source = 0;
    const struct weft_p2p_call call = {*comm, buffer, count, datatype, .peer = source};
    struct weft_resolved to;
    int code = weft_p2p_call_check(&call, true, &to);
    if (code != MPI_SUCCESS)
        return code;
    *out = nowhere ? weft_request_to_nowhere(vci) : weft_request_get(vci, WEFT_REQUEST_RECV, 1);
    if (!*out)
        return MPI_ERR_NO_MEM;
    *handle = MPI_MESSAGE_NULL;
    if (nowhere)
        return MPI_SUCCESS;
    weft_p2p_describe(*out, message->channel, buffer, to.bytes, to.type, NULL,
                      message->match.source, message->match.tag);
    if (weft_unlikely(weft_count_all()))
        weft_count_receive(*out);
    weft_sw_receive_taken(*out, message);
    return MPI_SUCCESS;
}

int weft_mpi_mrecv(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
                   MPI_Status *status, struct weft_comm **comm)
{
    struct weft_request *request;
    int code = receive(buf, count, datatype, message, comm, &request);
    if (code != MPI_SUCCESS)
        return code;
    weft_request_wait(request);
    weft_request_status(request, status, false);
    code = request->error;
    weft_request_put(request);
    return code;
}

int weft_mpi_imrecv(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
                    MPI_Request *request, struct weft_comm **comm)
{
    struct weft_request *started;
    int code = receive(buf, count, datatype, message, comm, &started);
    if (code == MPI_SUCCESS)
        *request = (MPI_Request)started;
    return code;
}
