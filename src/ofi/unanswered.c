// SPDX-License-Identifier: BSD-3-Clause
/*
 * Operations in flight with a process that has died, over a provider that never completes them
 * (WEFT_PROVIDER_UNANSWERED). Where a connection is lost the provider reports an error of each of
 * its operations. PSM has no connections of that kind: a read is a request that the library of the
 * other process answers, a send waits for its acknowledgement, and both wait for ever.
 *
 * So GRACE seconds after the last death these operations end here, as if the provider had reported
 * an error. By then this rank has taken what the process sent while it lived, and nobody else
 * answers. Only a process that counts as dead and lives (it was stopped for too long, or its host
 * was not reached) could: the provider then writes to the buffer of a read that has failed.
 */
#include "core/base/clock.h"
#include "core/message/process.h"
#include "ofi/net.h"
#include "ofi/ofi_internal.h"
#include "ofi/rendezvous.h"

static const double GRACE = 1;

void weft_net_close_dead(struct weft_peer *peer)
{
    weft_net_drop_backlog(peer);
    if (weft_net.choice.row->flags & WEFT_PROVIDER_UNANSWERED)
        weft_net.unanswered_at = weft_seconds() + GRACE;
}

static const char ended[] = "the rank has ended";

/* A slot with what the operation is for. The other one stays out of use: if the provider reports
 * its op after all, that belongs to nothing. NULL if memory is short. */
static struct weft_net_slot *replace(struct weft_net_vci *net, struct weft_net_slot *slot)
{
    struct weft_net_slot *other = weft_net_slot_get(net, slot->op.kind);
    if (!other)
        return NULL;
    struct weft_net_op op = other->op;
    *other = *slot;
    other->op = op;
    slot->op.in_flight = false;
    return other;
}

/* Ends a read, or a piece that is pushed. Controls are injected, and never wait. */
static void end_slot(struct weft_net_vci *net, struct weft_net_slot *slot)
{
    bool read = slot->op.kind == WEFT_NET_READ;
    if ((!read && slot->op.kind != WEFT_NET_PIECE) || !slot->request->peer->dead)
        return;
    struct weft_net_slot *other = replace(net, slot);
    if (!other)
        weft_net.unanswered_at = weft_seconds() + GRACE; /* again */
    else if (read)
        weft_net_read_done(other, FI_ECONNABORTED, ended);
    else
        weft_net_piece_done(other, FI_ECONNABORTED, ended);
}

/* Ends a send or a transfer of a window. */
static void end_own(void *arg, struct weft_request *request)
{
    (void)arg;
    struct weft_net_op *op = &weft_net_state(request)->op;
    if (request->pending <= 0 || request->owner != WEFT_LANE_NET || !op->in_flight ||
        !request->peer->dead)
        return;
    op->in_flight = false;
    weft_net_own_op_failed(request, FI_ECONNABORTED, ended);
}

void weft_net_end_unanswered(double now)
{
    if (weft_net.unanswered_at == 0 || now < weft_net.unanswered_at || weft_net.inserting)
        return;
    weft_net.unanswered_at = 0;
    weft_assert(weft_vcis_hold_all());
    for (unsigned v = 0; v < weft_net.nvcis; v++)
        weft_net_slots_each(&weft_net.vcis[v], end_slot);
    weft_request_each(end_own, NULL);
}
