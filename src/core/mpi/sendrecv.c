// SPDX-License-Identifier: BSD-3-Clause
/*
 * Send and receive in one call (MPI 5.0 section 3.11), blocking or not, with two buffers or one.
 *
 * Invariants:
 *  - The receive is posted before the send starts, so that neither waits for the other; nothing is
 *    posted for a call whose send has bad arguments.
 *  - With one buffer, what is sent is a copy that was taken before the receive was posted.
 *  - If the two messages are on two VCIs, all VCIs are held (weft_exchange_vci).
 */
#include "core/mpi/arg.h"
#include "core/mpi/p2p_call.h"
#include "core/pt2pt/p2p.h"
#include "core/message/process.h"
#include "core/progress/progress.h"

#include <stdlib.h>

/* Posts the receive; from MPI_PROC_NULL it is complete, on the VCI of the send. */
static int post_receive(const struct weft_call *out, const struct weft_call *in,
                        struct weft_request **receive)
{
    struct weft_resolved from;
    int code;
    if (weft_call_resolve(in, true, &from, &code))
        return weft_p2p_irecv(weft_call_channel(in), (void *)in->buffer, from.bytes, from.type,
                              in->peer, in->tag, receive);
    if (code == MPI_SUCCESS)
        *receive = weft_request_to_nowhere(weft_call_channel(out)->vci);
    return code;
}

static int exchange_messages(const struct weft_call *out, const struct weft_call *in,
                             MPI_Status *status)
{
    struct weft_request *receive;
    int code = post_receive(out, in, &receive);
    if (code != MPI_SUCCESS)
        return code;
    code = weft_call_send(out, WEFT_SEND_STANDARD);
    if (code != MPI_SUCCESS) {
        weft_request_abandon(receive); /* its buffer stays the library's until a message comes */
        return code;
    }
    weft_request_wait(receive);
    weft_assert(!receive->pending);
    code = receive->error;
    weft_request_status(receive, status, false);
    weft_request_put(receive);
    return code;
}

/* Starts both. The request is that of the receive, which waits for the send too. Takes over *copy
 * if the send started. */
static int start_exchange(const struct weft_call *out, const struct weft_call *in, void **copy,
                          MPI_Request *request)
{
    struct weft_request *receive, *send;
    struct weft_resolved to;
    int code = post_receive(out, in, &receive);
    if (code != MPI_SUCCESS)
        return code;
    if (weft_call_resolve(out, false, &to, &code)) {
        code = weft_p2p_isend(weft_call_channel(out), out->buffer, to.bytes, to.type, out->peer,
                              out->tag, WEFT_SEND_STANDARD, &send);
        if (code != MPI_SUCCESS) {
            weft_request_abandon(receive);
            return code;
        }
        receive->channel = receive->channel ? receive->channel : send->channel; /* for its errors */
        if (send->vci == receive->vci)
            weft_request_join(receive, send, *copy);
        else
            receive = weft_request_pair(receive, send, *copy);
        *copy = NULL;
    }
    *request = (MPI_Request)receive;
    return MPI_SUCCESS;
}

/* Copies the data to be sent, and makes the call send the copy. *copy stays NULL when there is
 * nothing to send. */
static int take_copy(struct weft_call *out, void **copy)
{
    struct weft_resolved to;
    int code;
    if (!weft_call_resolve(out, false, &to, &code) || !to.bytes)
        return code;
    *copy = malloc(to.bytes);
    if (!*copy)
        return weft_error_set(MPI_ERR_NO_MEM,
                              "no memory for a copy of the %zu bytes to be sent; MPI_Sendrecv with "
                              "two buffers needs none",
                              to.bytes);
    weft_datatype_pack(to.type, out->buffer, 0, *copy, to.bytes);
    out->buffer = *copy;
    out->count = (MPI_Count)to.bytes;
    out->datatype = MPI_BYTE;
    return MPI_SUCCESS;
}

int weft_call_sendrecv(struct weft_call out, const struct weft_call *in, bool replace,
                       MPI_Status *status)
{
    void *copy = NULL;
    struct weft_resolved to;
    int code = replace ? take_copy(&out, &copy) : weft_call_check(&out, false, &to);
    if (code == MPI_SUCCESS) {
        struct weft_vci *sending = weft_call_channel(&out)->vci;
        struct weft_vci *receiving = weft_call_channel(in)->vci;
        if (in->peer == MPI_PROC_NULL) /* then the VCI of the other message is held alone */
            receiving = sending;
        else if (out.peer == MPI_PROC_NULL)
            sending = receiving;
        weft_vci_begin_wait(sending);
        weft_vci_begin_wait(receiving);
        code = exchange_messages(&out, in, status);
        weft_vci_end_wait(receiving);
        weft_vci_end_wait(sending);
    }
    free(copy);
    return code;
}

int weft_call_isendrecv(struct weft_call out, const struct weft_call *in, bool replace,
                        MPI_Request *request)
{
    void *copy = NULL;
    struct weft_resolved to, from;
    int code = replace ? take_copy(&out, &copy) : weft_call_check(&out, false, &to);
    if (code == MPI_SUCCESS && !request)
        code = weft_call_check(in, true, &from);
    if (code == MPI_SUCCESS)
        code = request ? start_exchange(&out, in, &copy, request) : weft_arg_no_result("request");
    free(copy);
    return code;
}
