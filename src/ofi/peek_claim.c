// SPDX-License-Identifier: BSD-3-Clause
/*
 * Claims: moving unexpected messages from the provider to software, by PEEK and CLAIM.
 *
 * While a channel has receives in software, all unexpected messages of its context are claimed, in
 * order, with any source and tag, and passed to the software matcher. A message without a receive
 * there becomes unexpected in software, and is older than all that follow.
 *
 * Invariants:
 *  - One claim of a VCI is active at a time, and from its PEEK until the message is in software
 *    it counts as one held receive of its channel, so that no later receive overtakes it through
 *    the provider. The same holds for the channels alike, whose messages the PEEK finds too.
 *  - A found message is claimed with the context of its PEEK, untouched in between.
 *  - While a probe or a cancel collects, only its channel is searched.
 */
#include "core/base/error.h"
#include "core/message/sw_match.h"
#include "core/message/process.h"
#include "ofi/net.h"
#include "ofi/credits.h"
#include "ofi/ofi_internal.h"

#include <stdlib.h>

enum claim_state { IDLE, PEEKING, FOUND, CLAIMING };

struct weft_net_claim {
    struct weft_net_op op;
    enum claim_state state;
    struct weft_channel *channel; /* whose context it looks for, or has found; NULL: any's */
    int reserved;                 /* how many probes and cancels collect, one inside the other */
    bool empty;                   /* the last PEEK found nothing */
    uint64_t tag, data;
    struct fid_mr *mr;
    char *buffer;
};

_Static_assert(offsetof(struct weft_net_claim, op) == 0, "read by weft_net_claim_op");

int weft_net_claim_open(struct weft_net_vci *net)
{
    struct weft_net_claim *claim = net->claim = calloc(1, sizeof *claim);
    if (!claim)
        return -1;
    claim->op.kind = WEFT_NET_CLAIM;
    claim->buffer = malloc(weft_net.eager_limit);
    if (claim->buffer && weft_net.local_mr)
        claim->mr = weft_net_register(net, claim->buffer, weft_net.eager_limit, FI_RECV);
    return claim->buffer && (claim->mr || !weft_net.local_mr) ? 0 : -1;
}

void weft_net_claim_close(struct weft_net_vci *net)
{
    if (!net->claim)
        return;
    if (net->claim->mr)
        fi_close(&net->claim->mr->fid);
    free(net->claim->buffer);
    free(net->claim);
    net->claim = NULL;
}

static int try_peek(struct weft_net_vci *net, uint64_t flags, size_t bytes)
{
    struct weft_net_claim *claim = net->claim;
    struct iovec iov = {claim->buffer, bytes};
    void *descriptor = weft_net_descriptor(claim->mr);
    struct fi_msg_tagged message = {
        .msg_iov = &iov,
        .desc = &descriptor,
        .iov_count = bytes ? 1 : 0,
        .addr = FI_ADDR_UNSPEC,
        .tag = claim->channel ? weft_net_fast_channel(claim->channel)->word : 0,
        .ignore = claim->channel ? weft_net.form_mask | weft_net.tag_mask : weft_net.space_bit - 1,
        .context = &claim->op};
    int rc = (int)fi_trecvmsg(net->objects.ep, &message, flags | FI_COMPLETION);
    claim->op.in_flight = !rc;
    return rc;
}

static void fetch_found(struct weft_net_vci *net)
{
    weft_assert(net->claim->state == FOUND);
    int rc = try_peek(net, FI_CLAIM, weft_net.eager_limit);
    if (rc == 0)
        net->claim->state = CLAIMING;
    else if (rc != -FI_EAGAIN)
        weft_fatal(MPI_ERR_OTHER,
                   "%s cannot hand over a message it has found: %s; try "
                   "WEFT_MATCHING=software",
                   weft_net_name(), fi_strerror(-rc));
}

static void hold(struct weft_channel *channel, int by)
{
    struct weft_channel *each = channel;
    while (each) {
        weft_sw_hold(each, by);
        each = each->alike == channel ? NULL : each->alike;
    }
}

/* Searches for a message of one channel, or of any. 0 if a completion will follow, -FI_ENOMSG if
 * there is none, -FI_EAGAIN if the provider is busy. */
static int peek(struct weft_net_vci *net, struct weft_channel *channel)
{
    struct weft_net_claim *claim = net->claim;
    weft_assert(claim->state == IDLE && !claim->op.in_flight && !weft_net.software);
    claim->channel = channel;
    int rc = try_peek(net, FI_PEEK | FI_CLAIM, 0);
    if (rc == -FI_ENOMSG || rc == -FI_EAGAIN)
        return rc;
    if (rc)
        weft_fatal(MPI_ERR_OTHER,
                   "%s cannot look into its messages: %s; try "
                   "WEFT_MATCHING=software",
                   weft_net_name(), fi_strerror(-rc));
    claim->state = PEEKING;
    hold(channel, 1);
    return 0;
}

void weft_net_claim(struct weft_net_vci *net)
{
    struct weft_net_claim *claim = net->claim;
    if (claim->state == FOUND)
        fetch_found(net);
    if (claim->state != IDLE || claim->reserved)
        return;
    /* Round robin: the channel looked at goes to the end of the list. Those that are held no longer
     * leave it, all at once: one that a probe collects comes back to the front each time. */
    struct weft_vci *vci = &weft.vcis[net->number];
    struct weft_channel *channel;
    while ((channel = vci->held) != NULL) {
        vci->held = channel->next_held;
        channel->next_held = NULL;
        if (channel->held)
            break;
        channel->listed = false;
    }
    if (!channel)
        return;
    *(vci->held ? &vci->held_last->next_held : &vci->held) = channel;
    vci->held_last = channel;
    peek(net, channel);
}

/* Waits until no claim is active. Progress retries a CLAIM that the provider was too busy for
 * only while receives are held. */
static void await_claim(struct weft_net_vci *net)
{
    while (net->claim->state != IDLE) {
        weft_net_progress(net->number);
        if (net->claim->state == FOUND)
            fetch_found(net);
    }
}

/* May be re-entered, by the query of a cancelled send that arrives meanwhile. The result of the
 * outer call is kept, and the claim stays reserved; else the outer call could wait for ever while
 * each progress starts another claim. */
bool weft_net_collect_one(struct weft_net_vci *net, struct weft_channel *channel)
{
    struct weft_net_claim *claim = net->claim;
    weft_assert(weft_vci_is_held(&weft.vcis[net->number]));
    claim->reserved++;
    await_claim(net); /* another channel's, or the outer call's */
    bool outer_empty = claim->empty;
    int rc;
    while ((rc = peek(net, channel)) == -FI_EAGAIN)
        weft_net_progress(net->number);
    claim->empty = rc != 0;
    await_claim(net);
    bool found = !claim->empty;
    claim->empty = outer_empty;
    weft_assert(claim->reserved > 0 && claim->state == IDLE);
    claim->reserved--;
    return found;
}

bool weft_net_collect(struct weft_channel *channel)
{
    return weft_net_collect_one(weft_net_of_channel(channel), channel);
}

void weft_net_collect_unexpected(struct weft_net_vci *net)
{
    if (!weft_net.software)
        while (weft_net_collect_one(net, NULL))
            ;
}

void weft_net_collect_all(void)
{
    for (unsigned i = 0; i < weft_net.nvcis; i++)
        weft_net_collect_unexpected(&weft_net.vcis[i]);
}

/* Counts a claimed message. False if it is a copy of an earlier one. The sender of a message for a
 * communicator that is not open here yet is not known until then. */
static bool count_claimed(struct weft_net_vci *net, const struct weft_net_claim *claim)
{
    int source = weft_net_source(claim->data);
    const struct weft_channel *channel = weft_channel_of(weft_net_context(claim->tag), source,
                                                         (int)(claim->tag & weft_net.tag_mask));
    if (!channel) {
        net->unattributed++;
    } else if (weft_net_is_sender(channel, source) && weft_net_of_channel(channel) == net) {
        if (weft_net.copies && weft_net_is_copy(net, channel, source, claim->tag, claim->data))
            return false;
        weft_net_took_from(channel, source);
    }
    return true;
}

static void attribute(void *arg, struct weft_match_message *match)
{
    const struct weft_channel *channel = arg;
    if (weft_message_of(match)->arrival.lane != WEFT_LANE_NET ||
        weft_channel_of(match->context, match->source, match->tag) != channel ||
        !weft_net_is_sender(channel, match->source))
        return;
    weft_assert(weft_net_of_channel(channel)->unattributed > 0);
    weft_net_of_channel(channel)->unattributed--;
    weft_net_took_from(channel, match->source);
}

void weft_net_attribute(struct weft_channel *channel)
{
    struct weft_net_vci *net = weft_net_of_channel(channel);
    if (net->unattributed)
        weft_match_each_message(&weft.vcis[net->number].matcher, channel->context, attribute,
                                channel);
}

void weft_net_claimed(struct weft_net_vci *net, const struct fi_cq_tagged_entry *entry)
{
    struct weft_net_claim *claim = net->claim;
    weft_assert(claim->state == PEEKING || claim->state == CLAIMING);
    if (claim->state == PEEKING) {
        claim->tag = entry->tag;
        claim->data = entry->data;
        claim->state = FOUND;
        fetch_found(net);
        return;
    }
    if (entry->flags & FI_REMOTE_CQ_DATA) /* versions of efa have no data at the PEEK */
        claim->data = entry->data;
    if (!weft_net_is_of_job(claim->data))
        weft_net_drop("a message without the job's key", -1);
    else if (count_claimed(net, claim))
        weft_net_deliver(net, claim->tag, claim->data, claim->buffer, entry->len);
    else
        weft_net_drop("a copy of an earlier message", weft_net_source(claim->data));
    claim->state = IDLE;
    hold(claim->channel, -1);
}

void weft_net_claim_failed(struct weft_net_vci *net, const struct fi_cq_err_entry *error,
                           const char *text)
{
    struct weft_net_claim *claim = net->claim;
    weft_assert(claim->state == PEEKING || claim->state == CLAIMING);
    if (claim->state == CLAIMING && error->err == FI_ETRUNC)
        weft_net_drop("a message that is longer than the eager limit",
                      weft_net_source(claim->data));
    else if (claim->state != PEEKING || error->err != FI_ENOMSG)
        weft_fatal(MPI_ERR_OTHER,
                   "%s failed to hand over a message it had found: %s; try "
                   "WEFT_MATCHING=software",
                   weft_net_name(), text);
    claim->empty = claim->state == PEEKING;
    claim->state = IDLE;
    hold(claim->channel, -1);
}
