// SPDX-License-Identifier: BSD-3-Clause
/*
 * Send and receive in one call (MPI 5.0 section 3.11), blocking or not, with two buffers or one.
 *
 * Invariants:
 *  - The receive is posted before the send starts, so that neither waits for the other; nothing is
 *    posted for a call whose send has bad arguments.
 *  - If the destination is dead, the message of the source is received, and then the call fails:
 * the source may wait for that, and the buffer is the caller's again. After another error of the
 * send the receive is taken back.
 *  - With one buffer, what is sent is a copy that was taken before the receive was posted.
 *  - If the two messages are on two VCIs, all VCIs are held (weft_exchange_vci).
 */
#include "core/mpi/arg.h"
#include "core/mpi/p2p_call.h"
#include "core/pt2pt/cancel.h"
#include "core/pt2pt/p2p.h"
#include "core/progress/failure.h"
#include "core/progress/progress.h"

#include <stdlib.h>

/* Posts the receive, for a call that waits for it or not; from MPI_PROC_NULL it is complete, on the
 * VCI of the send. */
static int post_receive(const struct weft_p2p_call *out, const struct weft_p2p_call *in, bool waits,
                        struct weft_request **receive)
{
    struct weft_resolved from;
    int code;
    if (weft_p2p_call_resolve(in, true, &from, &code))
        return (waits ? weft_p2p_irecv_blocking
                      : weft_p2p_irecv)(weft_p2p_call_channel(in), (void *)in->buffer, from.bytes,
                                        from.type, in->peer, in->tag, receive);
    if (code == MPI_SUCCESS)
        *receive = weft_request_to_nowhere(weft_p2p_call_channel(out)->vci);
    return code;
}

/* The send has failed: takes the receive back. If a message has matched it, it is received first,
 * because the buffer is the caller's again. */
WEFT_COLD static void withdraw_receive(struct weft_request *receive)
{
    if (receive->pending)
        weft_cancel(receive);
    weft_request_wait(receive);
    weft_request_put(receive);
}

static int exchange_messages(const struct weft_p2p_call *out, const struct weft_p2p_call *in,
                             MPI_Status *status)
{
    struct weft_request *receive;
    int code = post_receive(out, in, true, &receive);
    if (code != MPI_SUCCESS)
        return code;
    int sent = weft_p2p_call_send(out, WEFT_SEND_STANDARD);
    if (sent != MPI_SUCCESS && !weft_failure_is_death(sent)) {
        withdraw_receive(receive);
        return sent;
    }
    weft_request_wait(receive);
    weft_assert(!receive->pending);
    code = receive->error ? receive->error : sent;
    weft_request_status(receive, status, false);
    weft_request_put(receive);
    return code;
}

/* Starts both. The request is that of the receive, which waits for the send too. Takes over *copy
 * if the send started. */
static int start_exchange(const struct weft_p2p_call *out, const struct weft_p2p_call *in,
                          void **copy, MPI_Request *request)
{
    struct weft_request *receive, *send;
    struct weft_resolved to;
    int code = post_receive(out, in, false, &receive);
    if (code != MPI_SUCCESS)
        return code;
    if (weft_p2p_call_resolve(out, false, &to, &code)) {
        code = weft_p2p_isend(weft_p2p_call_channel(out), out->buffer, to.bytes, to.type, out->peer,
                              out->tag, WEFT_SEND_STANDARD, &send);
        if (weft_failure_is_death(code)) {
            receive->error = (uint8_t)code; /* when it is complete */
            *request = (MPI_Request)receive;
            return MPI_SUCCESS;
        }
        if (code != MPI_SUCCESS) {
            withdraw_receive(receive);
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
static int take_copy(struct weft_p2p_call *out, void **copy)
{
    struct weft_resolved to;
    int code;
    if (!weft_p2p_call_resolve(out, false, &to, &code) || !to.bytes)
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

int weft_p2p_call_sendrecv(struct weft_p2p_call out, const struct weft_p2p_call *in, bool replace,
                           MPI_Status *status)
{
    void *copy = NULL;
    struct weft_resolved to;
    int code = replace ? take_copy(&out, &copy) : weft_p2p_call_check(&out, false, &to);
    if (code == MPI_SUCCESS) {
        struct weft_vci *sending = weft_p2p_call_channel(&out)->vci;
        struct weft_vci *receiving = weft_p2p_call_channel(in)->vci;
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

int weft_p2p_call_isendrecv(struct weft_p2p_call out, const struct weft_p2p_call *in, bool replace,
                            MPI_Request *request)
{
    void *copy = NULL;
    struct weft_resolved to, from;
    int code = replace ? take_copy(&out, &copy) : weft_p2p_call_check(&out, false, &to);
    if (code == MPI_SUCCESS && !request)
        code = weft_p2p_call_check(in, true, &from);
    if (code == MPI_SUCCESS)
        code = request ? start_exchange(&out, in, &copy, request) : weft_arg_no_result("request");
    free(copy);
    return code;
}
