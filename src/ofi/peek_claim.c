// SPDX-License-Identifier: BSD-3-Clause
/*
 * Claims: taking messages out of the provider for receives that wait in software.
 *
 * While a channel has such receives, everything of its context that the provider holds unexpected
 * is claimed, in order, whatever its source and tag, and goes through the software matcher: what no
 * receive wants there becomes an unexpected message in software, older than all that follows.
 *
 * Invariants:
 *  - One claim is under way at a time, and from its PEEK until the message is in software it counts
 *    as one held receive of its channel, so that no later receive overtakes it through the
 *    provider.
 *  - A found message is claimed with the context of its PEEK, untouched in between.
 *  - While a probe or a cancel collects, only its channel is looked at.
 */
#include "core/object/error.h"
#include "core/pt2pt/sw_match.h"
#include "core/process/weft.h"
#include "ofi/net.h"
#include "ofi/ofi_internal.h"

#include <stdlib.h>

enum claim_state { IDLE, PEEKING, FOUND, CLAIMING };

static struct {
    struct weft_net_op op;
    enum claim_state state;
    struct weft_channel *channel; /* whose context it looks for, or has found; NULL: any's */
    int reserved;                 /* how many probes and cancels collect, one inside the other */
    bool empty;                   /* the last PEEK found nothing */
    fi_addr_t source;
    uint64_t tag, data;
    size_t bytes;
    char *buffer;
    struct fid_mr *mr;
} claim;

int weft_net_claim_open(void)
{
    claim.op.kind = WEFT_NET_CLAIM;
    claim.state = IDLE;
    claim.buffer = malloc(weft_net.eager_limit);
    if (claim.buffer && weft_net.local_mr)
        claim.mr = weft_net_register(claim.buffer, weft_net.eager_limit, FI_RECV);
    return claim.buffer && (claim.mr || !weft_net.local_mr) ? 0 : -1;
}

void weft_net_claim_close(void)
{
    if (claim.mr)
        fi_close(&claim.mr->fid);
    claim.mr = NULL;
    free(claim.buffer);
    claim.buffer = NULL;
}

static int ask(uint64_t flags, size_t bytes)
{
    struct iovec iov = {claim.buffer, bytes};
    void *descriptor = weft_net_descriptor(claim.mr);
    struct fi_msg_tagged message = {.msg_iov = &iov,
                                    .desc = &descriptor,
                                    .iov_count = bytes ? 1 : 0,
                                    .addr = FI_ADDR_UNSPEC,
                                    .tag = claim.channel ? claim.channel->net_bits : 0,
                                    .ignore = claim.channel ? weft_net.form_mask | weft_net.tag_mask
                                                            : weft_net.space_bit - 1,
                                    .context = &claim.op};
    return (int)fi_trecvmsg(weft_net.ep, &message, flags | FI_COMPLETION);
}

static void fetch_found(void)
{
    int rc = ask(FI_CLAIM, weft_net.eager_limit);
    if (rc == 0)
        claim.state = CLAIMING;
    else if (rc != -FI_EAGAIN)
        weft_fatal(MPI_ERR_OTHER,
                   "%s cannot hand over a message it has found: %s; try "
                   "WEFT_MATCHING=software",
                   weft_net_name(), fi_strerror(-rc));
}

static void hold(struct weft_channel *channel, int by)
{
    if (channel)
        weft_sw_hold(channel, by);
}

/* Looks for a message of one channel, or of any. 0 when an answer is to come, -FI_ENOMSG when there
 * is none, -FI_EAGAIN when the provider is busy. */
static int peek(struct weft_channel *channel)
{
    claim.channel = channel;
    int rc = ask(FI_PEEK | FI_CLAIM, 0);
    if (rc == -FI_ENOMSG || rc == -FI_EAGAIN)
        return rc;
    if (rc)
        weft_fatal(MPI_ERR_OTHER,
                   "%s cannot look into its messages: %s; try "
                   "WEFT_MATCHING=software",
                   weft_net_name(), fi_strerror(-rc));
    claim.state = PEEKING;
    hold(channel, 1);
    return 0;
}

void weft_net_claim(void)
{
    if (claim.state == FOUND)
        fetch_found();
    if (claim.state != IDLE || claim.reserved)
        return;
    /* Round robin: the channel looked at goes to the end of the list. Those that are held no longer
     * leave it, all at once: one that a probe collects comes back to the front each time. */
    struct weft_channel *channel, **held = &weft.vcis[0].held;
    while ((channel = *held) != NULL) {
        *held = channel->next_held;
        channel->next_held = NULL;
        if (channel->held)
            break;
        channel->listed = false;
    }
    if (!channel)
        return;
    while (*held)
        held = &(*held)->next_held;
    *held = channel;
    peek(channel);
}

/* Waits until no claim is under way. Progress retries a CLAIM that the provider was too busy for only
 * while receives are held. */
static void finish(void)
{
    while (claim.state != IDLE) {
        weft_net_progress();
        if (claim.state == FOUND)
            fetch_found();
    }
}

/* May be called again from inside: a question of a cancelled send that comes in meanwhile. What the
 * outer call has found stays known, and the claim reserved, or the outer one would wait for a moment
 * without a claim while every progress begins another. */
static bool collect(struct weft_channel *channel)
{
    claim.reserved++;
    finish(); /* another channel's, or the outer call's */
    bool outer_empty = claim.empty;
    int rc;
    while ((rc = peek(channel)) == -FI_EAGAIN)
        weft_net_progress();
    claim.empty = rc != 0;
    finish();
    bool found = !claim.empty;
    claim.empty = outer_empty;
    claim.reserved--;
    return found;
}

bool weft_net_collect(struct weft_channel *channel)
{
    return collect(channel);
}

void weft_net_collect_all(void)
{
    if (!weft_net.software)
        while (collect(NULL))
            ;
}

void weft_net_claimed(const struct fi_cq_tagged_entry *entry)
{
    if (claim.state == PEEKING) {
        claim.tag = entry->tag;
        claim.data = entry->data;
        claim.bytes = entry->len;
        claim.state = FOUND;
        fetch_found();
        return;
    }
    enum weft_message_form form = (enum weft_message_form)weft_net_form(claim.tag);
    uint32_t context = weft_net_context(claim.tag);
    size_t length = form == WEFT_MESSAGE_RTS ? weft_net_header_length(claim.buffer) : entry->len;
    if (weft_sw_arrive(&weft.vcis[0].matcher, context, (int)(claim.data >> weft_net.rank_shift),
                       (int)(claim.tag & weft_net.tag_mask), form, claim.buffer, entry->len, length,
                       (uint32_t)claim.data & weft_net_fast.sequence_mask))
        weft_fatal(MPI_ERR_NO_MEM, "no memory to keep an unexpected message of %zu bytes", length);
    claim.state = IDLE;
    hold(claim.channel, -1);
}

void weft_net_claim_failed(const struct fi_cq_err_entry *error, const char *text)
{
    if (claim.state != PEEKING || error->err != FI_ENOMSG)
        weft_fatal(MPI_ERR_OTHER,
                   "%s failed to hand over a message it had found: %s; try "
                   "WEFT_MATCHING=software",
                   weft_net_name(), text);
    claim.empty = true;
    claim.state = IDLE;
    hold(claim.channel, -1);
}
