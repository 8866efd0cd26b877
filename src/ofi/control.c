// SPDX-License-Identifier: BSD-3-Clause
/*
 * Control messages: ACK, FIN, CTS, credits, flow checks, cancel.
 *
 * Invariants:
 *  - An ACK names (context, tag) and means the oldest unacknowledged synchronous send of these to
 *    its sender. That needs no number, because messages of one source, context and tag are matched
 *    in the order in which they were sent.
 *  - Nothing relies on the order in which controls complete. ACK, FLOW_CHECKED and CREDITS are
 *    counted, so those of one kind may overtake each other; an ACK that arrives before the
 *    CANCELLED of an older send is passed on (cancel.c). DATA, FILLED and EMPTY contain their
 *    offset, FIN and the replies name their request. Only CANCEL and FLOW_CHECK depend on earlier
 * user messages, and contain the sequence number up to which these are.
 */
#include "core/base/error.h"
#include "core/message/count.h"
#include "core/message/process.h"
#include "core/progress/failure.h"
#include "ofi/net.h"
#include "ofi/credits.h"
#include "ofi/ofi_internal.h"
#include "ofi/rendezvous.h"
#include "ofi/tunnel.h"

#include <stdlib.h>
#include <string.h>

struct weft_net_control_out {
    struct weft_backlog_entry out;
    struct weft_net_control control;
};

static struct weft_net_control_out *control_of(struct weft_backlog_entry *out)
{
    return (struct weft_net_control_out *)((char *)out -
                                           offsetof(struct weft_net_control_out, out));
}

/* ---- Weft's own short messages: controls and RTS headers. They are injected if the provider
 * injects that many bytes (opx injects 16, efa 32). Else, and if the provider has to report an
 * error of the send, which ofi_rxm does not for injected ones, they are sent from a copy, which is
 * freed when the send has completed. */

struct own_message {
    struct weft_peer *peer;
    char data[];
};

_Static_assert(sizeof(struct own_message) + WEFT_NET_CONTROL_BYTES <= 256,
               "the reserve for controls");

int weft_net_send_own(struct weft_peer *peer, const void *data, size_t bytes, uint64_t cq_data,
                      uint64_t word, bool reported)
{
    struct weft_net_vci *net = weft_net_of_peer(peer);
    weft_assert(weft_vci_is_held(&weft.vcis[peer->vci]));
    struct fid_ep *ep = net->objects.ep;
    if (weft_likely(bytes <= weft_net.inject_max && !reported))
        return (int)fi_tinjectdata(ep, data, bytes, cq_data, weft_net_peer(peer)->fast.address,
                                   word);
    int rc = 0;
    struct own_message *own =
        weft_net_bounce_get_reserved(net, WEFT_NET_RESERVE_CONTROL, sizeof *own + bytes, &rc);
    if (!own)
        return rc;
    struct weft_net_slot *slot = weft_net_slot_get(net, WEFT_NET_OWN);
    if (!slot) {
        weft_net_bounce_put(net, own);
        return -FI_EAGAIN;
    }
    slot->data = own;
    own->peer = peer;
    memcpy(own->data, data, bytes);
    struct fid_mr *mr = weft_net.local_mr ? weft_net_bounce_mr(net, own) : NULL;
    rc = (int)fi_tsenddata(ep, own->data, bytes, weft_net_descriptor(mr), cq_data,
                           weft_net_peer(peer)->fast.address, word, &slot->op);
    if (rc) {
        weft_net_slot_put(net, slot);
        weft_net_bounce_put(net, own);
        return rc;
    }
    net->outstanding++;
    return 0;
}

void weft_net_control_failed(const struct weft_peer *peer, const char *why)
{
    char host[256];
    weft_failure_lost(
        peer->world, MPI_ERR_OTHER,
        "a control message to rank %d on %s could not be sent over %s: %s; see whether "
        "that host runs and the network to it works",
        peer->world, weft_boot_host(peer->world, host, sizeof host), weft_net_name(), why);
}

void weft_net_own_sent(struct weft_net_slot *slot, int error, const char *text)
{
    struct own_message *own = slot->data;
    struct weft_peer *peer = own->peer;
    struct weft_net_vci *net = weft_net_of_peer(peer);
    weft_net_slot_put(net, slot);
    weft_net_bounce_put(net, own);
    weft_assert(net->outstanding > 0);
    net->outstanding--;
    if (error)
        weft_net_control_failed(peer, text);
}

/* ---- Sending controls */

void weft_net_control_drop(struct weft_backlog_entry *out)
{
    free(control_of(out));
}

/* True if both ranks count the message: see compare.c. */
static bool is_counted(const struct weft_net_control *control)
{
    return control->kind != WEFT_NET_COMPARE && control->kind != WEFT_NET_COMPARED;
}

static int send_control(struct weft_peer *peer, const struct weft_net_control *control)
{
    int rc = weft_net_send_own(peer, control, sizeof *control, (uint32_t)weft.job.rank,
                               weft_net.space_bit, control->kind == WEFT_NET_CONNECTED);
    weft_net_peer(peer)->controls += !rc && is_counted(control);
    return rc;
}

static void address(struct weft_net_control *control, const struct weft_peer *peer)
{
    control->version = WEFT_NET_WIRE_VERSION;
    control->from = (int32_t)weft_net_mark(weft.job.rank);
    control->vci_number = peer->vci_number;
}

bool weft_net_control_try(struct weft_peer *peer, struct weft_net_control control)
{
    address(&control, peer);
    return weft_net_may_send_control(peer) && !send_control(peer, &control);
}

int weft_net_control_send(struct weft_peer *peer, struct weft_backlog_entry *out)
{
    int rc = send_control(peer, &control_of(out)->control);
    if (!rc)
        weft_net_control_drop(out);
    return rc;
}

void weft_net_control(struct weft_peer *peer, struct weft_net_control control)
{
    address(&control, peer);
    weft_count_add(&weft_counts.net_controls, 1);
    if (weft_net_may_send_control(peer) && !send_control(peer, &control))
        return;
    struct weft_net_control_out *out = malloc(sizeof *out);
    if (!out)
        weft_fatal(MPI_ERR_NO_MEM,
                   "no memory to answer a message of rank %d; free memory, or run fewer ranks on "
                   "this host",
                   peer->world);
    out->out.kind = WEFT_NET_OUT_CONTROL;
    out->control = control;
    weft_net_push(peer, &out->out); /* reports an error other than -FI_EAGAIN */
}

void weft_net_revoke(struct weft_peer *peer, uint32_t context)
{
    weft_net_control(peer, (struct weft_net_control){.kind = WEFT_NET_REVOKE, .context = context});
}

void weft_net_acknowledge(struct weft_peer *peer, struct weft_channel *channel, int tag)
{
    weft_net_control(peer, (struct weft_net_control){
                               .kind = WEFT_NET_ACK, .context = channel->context, .tag = tag});
}

static void unlink_sync(struct weft_peer *peer, struct weft_request **link)
{
    weft_assert((*link)->mode == WEFT_SEND_SYNCHRONOUS && (*link)->peer == peer);
    weft_assert(!*weft_net_peer(peer)->sync_end);
    *link = (*link)->next;
    if (!*link)
        weft_net_peer(peer)->sync_end = link;
}

bool weft_net_forget_sync(struct weft_request *request)
{
    struct weft_request **link = &weft_net_peer(request->peer)->sync;
    while (*link && *link != request)
        link = &(*link)->next;
    if (!*link)
        return false;
    unlink_sync(request->peer, link);
    return true;
}

bool weft_net_acknowledged(struct weft_peer *peer, uint32_t context, int tag)
{
    struct weft_request **link = &weft_net_peer(peer)->sync;
    while (*link && ((*link)->channel->context != context || (*link)->tag != tag))
        link = &(*link)->next;
    struct weft_request *request = *link;
    if (!request)
        return false;
    unlink_sync(peer, link);
    weft_request_event(request);
    return true;
}

void weft_net_drop(const char *what, int from)
{
    if (__atomic_fetch_add(&weft_counts.net_dropped, 1, __ATOMIC_RELAXED) == 0)
        weft_warn("%s (rank %d) is dropped, and so is what follows of its kind; all ranks must run "
                  "the same version of Weft, and no other program may send to this address",
                  what, from);
}

/* True if a rank sends over the net lane; peer: its object, or NULL before first contact. */
static bool reaches(const struct weft_peer *peer, int world)
{
    return (peer ? peer->lane : weft_lane_to(world)) == WEFT_LANE_NET;
}

bool weft_net_is_sender(const struct weft_channel *channel, int source)
{
    if ((unsigned)source >= (unsigned)channel->size)
        return false;
    const struct weft_peer *peer = weft_channel_peer(channel, source);
    return reaches(peer, peer ? peer->world : weft_channel_world(channel, source));
}

bool weft_net_is_header(const struct weft_net_header *header, size_t bytes)
{
    return bytes == sizeof *header && header->version == WEFT_NET_WIRE_VERSION &&
           header->staged <= 1 && header->ready <= 1;
}

/* The active operation of this rank with a peer that has that number and is in that phase, or NULL.
 */
static struct weft_request *active(uint64_t number, const struct weft_peer *peer,
                                   enum weft_request_kind op, enum weft_net_phase phase)
{
    struct weft_request *request = weft_request_numbered(number);
    bool is_it = request && request->vci->number == peer->vci &&
                 request->object.kind == WEFT_KIND_REQUEST && request->op == op &&
                 request->pending > 0 && request->peer == peer &&
                 weft_net_state(request)->phase == phase;
    return is_it ? request : NULL;
}

static bool finished(const struct weft_net_control *fin, const struct weft_peer *peer)
{
    uint32_t numbers[WEFT_FINS_AT_ONCE];
    bool all = fin->count > 0;
    memcpy(numbers, &fin->number, sizeof numbers);
    for (int i = 0; i < fin->count; i++) {
        struct weft_request *send = active(numbers[i], peer, WEFT_REQUEST_SEND, WEFT_NET_ANNOUNCED);
        if (send)
            weft_net_sent(send);
        all &= send != NULL;
    }
    return all;
}

static bool cancel_answered(const struct weft_net_control *answer, const struct weft_peer *peer)
{
    struct weft_request *send = weft_request_numbered(answer->number);
    if (!send || send->vci->number != peer->vci || send->object.kind != WEFT_KIND_REQUEST ||
        !weft_request_row(send)->sends || send->peer != peer ||
        !(send->flags & WEFT_REQUEST_CANCELLING))
        return false;
    return weft_net_cancel_replied(send, answer->kind == WEFT_NET_CANCELLED);
}

/* A control from the receiver of an announced message. */
static bool announced_wanted(const struct weft_net_control *control, const struct weft_peer *peer)
{
    struct weft_request *send =
        active(control->number, peer, WEFT_REQUEST_SEND, WEFT_NET_ANNOUNCED);
    if (!send || control->length > send->bytes || control->other > UINT32_MAX)
        return false;
    if (control->kind == WEFT_NET_RAILS)
        return weft_net_rails_asked(send, control);
    if (control->kind == WEFT_NET_CTS)
        weft_net_push_pieces(send, control->other, control->length, control->count);
    else
        weft_net_header_requested(send, control->other);
    return true;
}

static bool piece_arrived(const struct weft_net_control *control, const struct weft_peer *peer,
                          const void *data, size_t bytes)
{
    struct weft_request *receive =
        active(control->number, peer, WEFT_REQUEST_RECV, WEFT_NET_AWAITING_PIECES);
    if (!receive || control->other > receive->bytes || bytes > receive->bytes - control->other)
        return false;
    weft_net_piece_arrived(receive, control->other, data, bytes);
    return true;
}

static bool rail_granted(const struct weft_net_control *control, const struct weft_peer *peer)
{
    struct weft_request *receive =
        active(control->number, peer, WEFT_REQUEST_RECV, WEFT_NET_READING);
    if (!receive || !weft_net_rail_granted(receive, control))
        return false;
    if (!weft_net_state(receive)->stalled)
        weft_net_read_on(receive);
    return true;
}

/* A piece of a pipeline is filled, or has been read. */
static bool piece_reported(const struct weft_net_control *control, const struct weft_peer *peer)
{
    bool filled = control->kind == WEFT_NET_FILLED;
    struct weft_request *request =
        filled ? active(control->number, peer, WEFT_REQUEST_RECV, WEFT_NET_AWAITING_PIECES)
               : active(control->number, peer, WEFT_REQUEST_SEND, WEFT_NET_PUSHING);
    return request && (filled ? weft_net_piece_filled(request, control)
                              : weft_net_piece_emptied(request, control->other));
}

/* Acts on a control message of a peer; data of so many bytes follow it. False if it does not fit
 * the operations with that peer. */
static bool act(const struct weft_net_control *control, struct weft_peer *peer, const void *data,
                size_t bytes)
{
    struct weft_request *request;
    switch ((enum weft_net_control_kind)control->kind) {
    case WEFT_NET_ACK:
        return weft_net_acknowledged(peer, control->context, control->tag);
    case WEFT_NET_FIN:
        return finished(control, peer);
    case WEFT_NET_CTS:
    case WEFT_NET_REQUEST_HEADER:
    case WEFT_NET_RAILS:
        return announced_wanted(control, peer);
    case WEFT_NET_RAIL:
        return rail_granted(control, peer);
    case WEFT_NET_DATA:
        return piece_arrived(control, peer, data, bytes);
    case WEFT_NET_FILLED:
    case WEFT_NET_EMPTY:
        return piece_reported(control, peer);
    case WEFT_NET_CREDITS:
        return weft_net_credits_arrived(peer, control->length);
    case WEFT_NET_FLOW_CHECKED:
        return weft_net_flow_checked(peer);
    case WEFT_NET_COMPARED:
        weft_net_compared(peer, control);
        return true;
    case WEFT_NET_CANCELLED:
    case WEFT_NET_TOO_LATE:
        return cancel_answered(control, peer);
    case WEFT_NET_HEADER:
        request = active(control->number, peer, WEFT_REQUEST_RECV, WEFT_NET_AWAITING_HEADER);
        if (request)
            weft_net_header_arrived(request, control);
        return request;
    case WEFT_NET_CANCEL:
    case WEFT_NET_FLOW_CHECK:
    case WEFT_NET_COMPARE:
    case WEFT_NET_CONNECTED:
    case WEFT_NET_REVOKE:
        break; /* handled before: also from ranks without a connection */
    }
    return false;
}

/* Controls that ranks without a connection to this one send too. */
static bool is_query(const struct weft_net_control *control)
{
    return control->kind == WEFT_NET_CANCEL || control->kind == WEFT_NET_FLOW_CHECK ||
           control->kind == WEFT_NET_COMPARE || control->kind == WEFT_NET_CONNECTED;
}

/* True if the fields that depend on no operation have values that a rank sends: only DATA are
 * followed by data, and count is a number in FIN, a choice in some other kinds, else 0. */
static bool is_well_formed(const struct weft_net_control *control, size_t data)
{
    if ((control->kind == WEFT_NET_DATA) != (data > 0))
        return false;
    switch ((enum weft_net_control_kind)control->kind) {
    case WEFT_NET_FIN:
        return control->count <= WEFT_FINS_AT_ONCE;
    case WEFT_NET_RAIL:
        return control->count < WEFT_RAILS_MAX - 1 && control->length <= 1;
    case WEFT_NET_CANCEL:
        return control->count <= WEFT_NET_NAMED_SYNC;
    case WEFT_NET_CTS:
    case WEFT_NET_HEADER:
    case WEFT_NET_COMPARED:
    case WEFT_NET_CONNECTED:
        return control->count <= 1;
    default:
        return !control->count;
    }
}

void weft_net_control_arrived(struct weft_net_vci *net, const void *data, size_t bytes)
{
    struct weft_net_control control;
    if (bytes < sizeof control) {
        weft_net_drop("a control message that is too short", -1);
        return;
    }
    memcpy(&control, data, sizeof control);
    control.from = (int32_t)weft_net_mark(control.from);
    if (control.version != WEFT_NET_WIRE_VERSION || control.from < 0 ||
        control.from >= weft.job.size || !weft_net_takes(net, control.vci_number) ||
        !is_well_formed(&control, bytes - sizeof control)) {
        weft_net_drop("a control message of another version, an unknown rank or another VCI, or "
                      "with a field that no rank sends",
                      control.from);
        return;
    }
    struct weft_peer *peer = weft_peer_find(control.vci_number, control.from);
    if (peer && peer->dead)
        return; /* what it is about was ended when it died */
    if (!reaches(peer, control.from)) {
        weft_net_drop("a control message from a rank that has no reason to use the network",
                      control.from);
        return;
    }
    if (is_counted(&control))
        weft_net_took(net, control.vci_number, control.from);
    if (control.kind == WEFT_NET_CONNECTED && !control.count) {
        if (peer)
            weft_tunnel_connected(peer);
        return;
    }
    if (control.kind == WEFT_NET_REVOKE) {
        weft_channel_ops.revoked(control.from, control.context);
        return;
    }
    if (is_query(&control)) {
        if (control.kind != WEFT_NET_CONNECTED ||
            !weft_net_connected_by(control.vci_number, control.from))
            weft_net_query_arrived(net, &control);
    } else if (!peer ||
               !act(&control, peer, (const char *)data + sizeof control, bytes - sizeof control)) {
        weft_net_drop("a control message about an operation that this rank does not have",
                      control.from);
    }
}
