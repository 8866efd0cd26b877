// SPDX-License-Identifier: BSD-3-Clause
/*
 * Control messages: acknowledgements of matches, ends of rendezvous, requests to push.
 *
 * Invariants:
 *  - An ACK names (context, tag) and means the oldest unacknowledged synchronous send of these to its
 *    sender. That needs no cookie, because messages of one source, context and tag are matched in
 *    the order in which they were sent.
 *  - Nothing relies on the order in which controls complete. ACK, RELIEVED, CREDITS, WRITTEN and
 *    TAKEN are counted, so that those of one kind may change places; an ACK that came before the
 *    CANCELLED of an older send is handed on (cancel.c). DATA name their offset, FIN and the answers
 *    their request, which waits for them. Only CANCEL and RELIEVE must come behind user messages,
 *    and name the sequence number up to which they do.
 */
#include "core/object/error.h"
#include "core/tool/count.h"
#include "core/process/weft.h"
#include "ofi/net.h"
#include "ofi/ofi_internal.h"

#include <stdlib.h>
#include <string.h>

struct control_out {
    struct weft_net_out out;
    struct weft_net_control control;
    struct control_out *next; /* in the free list */
};

static struct control_out *free_controls;

static struct control_out *whole(struct weft_net_out *out)
{
    return (struct control_out *)((char *)out - offsetof(struct control_out, out));
}

void weft_net_control_drop(struct weft_net_out *out)
{
    struct control_out *control = whole(out);
    control->next = free_controls;
    free_controls = control;
    weft_net.outstanding--;
}

void weft_net_control_close(void)
{
    struct control_out *control;
    while ((control = free_controls) != NULL) {
        free_controls = control->next;
        free(control);
    }
}

int weft_net_control_send(struct weft_peer *peer, struct weft_net_out *out)
{
    struct control_out *control = whole(out);
    int rc = weft_net_send_own(peer, &control->control, sizeof control->control,
                               (uint32_t)weft.job.rank, weft_net.space_bit);
    if (!rc)
        weft_net_control_drop(out);
    return rc;
}

void weft_net_control(struct weft_peer *peer, struct weft_net_control control)
{
    struct control_out *out = free_controls;
    if (out)
        free_controls = out->next;
    else
        out = malloc(sizeof *out);
    if (!out)
        weft_fatal(MPI_ERR_NO_MEM, "no memory to acknowledge a message of rank %d", peer->world);
    out->out.kind = WEFT_NET_OUT_CONTROL;
    out->control = control;
    out->control.version = WEFT_NET_WIRE_VERSION;
    out->control.from = weft.job.rank;
    weft_net.outstanding++;
    weft_counts.net_controls++;
    weft_net_push(peer, &out->out);
}

void weft_net_acknowledge(struct weft_peer *peer, struct weft_channel *channel, int tag)
{
    weft_net_control(peer, (struct weft_net_control){
                               .kind = WEFT_NET_ACK, .context = channel->context, .tag = tag});
}

static void unlink_sync(struct weft_peer *peer, struct weft_request **link)
{
    *link = (*link)->next;
    if (!*link)
        peer->sync_end = link;
}

bool weft_net_forget_sync(struct weft_request *request)
{
    struct weft_request **link = &request->peer->sync;
    while (*link && *link != request)
        link = &(*link)->next;
    if (!*link)
        return false;
    unlink_sync(request->peer, link);
    return true;
}

void weft_net_acknowledged(int from, uint32_t context, int tag)
{
    struct weft_peer *peer = weft_peer_known(0, from);
    struct weft_request **link = peer ? &peer->sync : NULL;
    while (link && *link && ((*link)->channel->context != context || (*link)->tag != tag))
        link = &(*link)->next;
    struct weft_request *request = link ? *link : NULL;
    if (!request) {
        weft_warn("rank %d acknowledged a synchronous send with tag %d that this rank does not "
                  "have; both must run the same version of Weft",
                  from, tag);
        return;
    }
    unlink_sync(peer, link);
    weft_request_event(request);
}

void weft_net_control_arrived(const void *data, size_t bytes)
{
    struct weft_net_control control;
    if (bytes < sizeof control) {
        weft_warn("a control message of %zu bytes is too short; something that is not Weft sends "
                  "to this rank",
                  bytes);
        return;
    }
    memcpy(&control, data, sizeof control);
    if (control.from < 0 || control.from >= weft.job.size)
        return;
    struct weft_peer *sender = weft_peer_known(0, control.from);
    if (sender && sender->lane == WEFT_LANE_DEAD)
        return; /* what it speaks of was ended when it died */
    struct weft_request *request = (struct weft_request *)(uintptr_t)control.cookie;
    switch ((enum weft_net_control_kind)control.kind) {
    case WEFT_NET_ACK:
        weft_net_acknowledged(control.from, control.context, control.tag);
        return;
    case WEFT_NET_FIN:
        weft_net_finished(&control);
        return;
    case WEFT_NET_CTS:
        weft_net_push_pieces(request, control.other, control.length);
        return;
    case WEFT_NET_DATA:
        weft_net_piece_arrived(&control, (const char *)data + sizeof control,
                               bytes - sizeof control);
        return;
    case WEFT_NET_CREDITS:
        if (sender)
            weft_net_credits_arrived(sender, control.length);
        return;
    case WEFT_NET_RELIEVED:
        if (sender)
            weft_net_relieved(sender);
        return;
    case WEFT_NET_CONNECTED:
        if (!weft_net_connected_by(control.from))
            weft_net_cancel_asked(&control);
        return;
    case WEFT_NET_CANCEL:
    case WEFT_NET_RELIEVE:
        weft_net_cancel_asked(&control);
        return;
    case WEFT_NET_CANCELLED:
    case WEFT_NET_TOO_LATE:
        weft_net_cancel_answered(request, control.kind == WEFT_NET_CANCELLED);
        return;
    case WEFT_NET_PLACE:
        weft_net_rndv_write_begin(request, &control);
        return;
    case WEFT_NET_WRITTEN:
        weft_net_rndv_write_written(request, control.count);
        return;
    case WEFT_NET_TAKEN:
        weft_net_rndv_write_taken(request);
        return;
    case WEFT_NET_ASK_HEADER:
        weft_net_header_asked(&control);
        return;
    case WEFT_NET_HEADER:
        weft_net_header_told(request, &control);
        return;
    }
    weft_warn("a control message of unknown kind %d came from rank %d; all ranks must run the same "
              "version of Weft",
              control.kind, control.from);
}
