// SPDX-License-Identifier: BSD-3-Clause
/*
 * The pool of pre-posted receives: small ones for control messages, or, with software matching,
 * ones of the eager limit for all messages.
 *
 * A provider that uses its posted receives in turn (WEFT_PROVIDER_FEW) finds the records and
 * buffers of a long queue in no cache: 128 receives instead of 8 cost a message 0.5 us over TCP. So
 * few are posted while messages come one by one, and all when some come together.
 *
 * Invariant: every buffer is either posted or in its VCI's list unposted; a buffer's contents are
 * consumed (copied, matched, acted on) before it is posted again.
 */
#include "core/base/error.h"
#include "core/message/sw_match.h"
#include "core/message/process.h"
#include "core/progress/failure.h"
#include "ofi/credits.h"
#include "ofi/net.h"
#include "ofi/ofi_internal.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Few for control messages: a provider that matches in software searches them before the user's
 * receives, and a control that finds none posted waits in the unexpected queue. */
enum { CONTROL_BUFFERS = 4, MESSAGE_BUFFERS = 128 };

/* So many are posted while a poll takes fewer than so many messages, and has so often. */
enum { FEW_BUFFERS = 8, TOGETHER = 4, ONE_BY_ONE = 256 };

/* Buffers begin in different sets of a cache. */
enum { CACHE_LINE = 64 };

static int post_buffer(struct weft_net_vci *net, struct weft_net_buffer *buffer)
{
    uint64_t word = weft_net.space_bit, ignore = weft_net.space_bit - 1;
    weft_assert(!buffer->op.in_flight);
    if (weft_net.software) {
        word = 0;
        ignore |= weft_net.space_bit;
    }
    int rc = (int)fi_trecv(net->objects.ep, buffer->data, weft_net.buffer_bytes,
                           weft_net_descriptor(net->buffer_mr), FI_ADDR_UNSPEC, word, ignore,
                           &buffer->op);
    buffer->op.in_flight = !rc;
    return rc;
}

static void put_aside(struct weft_net_vci *net, struct weft_net_buffer *buffer)
{
    weft_assert(!buffer->op.in_flight && net->posted < weft_net.nbuffers);
    buffer->next = net->unposted;
    net->unposted = buffer;
}

/* Posts the wanted buffers until the provider returns -FI_EAGAIN; progress tries the rest again. */
static int post_wanted(struct weft_net_vci *net)
{
    int rc = 0;
    while (net->posted < net->wanted && net->unposted && !rc) {
        struct weft_net_buffer *buffer = net->unposted;
        net->unposted = buffer->next;
        rc = post_buffer(net, buffer);
        if (rc)
            put_aside(net, buffer);
        else
            net->posted++;
    }
    return rc;
}

void weft_net_pool_post_more(struct weft_net_vci *net)
{
    weft_assert(net->posted <= weft_net.nbuffers && net->wanted <= weft_net.nbuffers);
    if (net->wanted - net->posted >= TOGETHER) {
        net->wanted = weft_net.nbuffers;
        net->one_by_one = 0;
    } else if (net->wanted > weft_net.few && ++net->one_by_one == ONE_BY_ONE) {
        net->wanted = weft_net.few;
        net->one_by_one = 0;
    }
    post_wanted(net);
}

int weft_net_pool_open(struct weft_net_vci *net, char *why, size_t len)
{
    size_t space = weft_net.choice.info->rx_attr->size;
    weft_net.nbuffers = weft_net.software ? MESSAGE_BUFFERS : CONTROL_BUFFERS;
    if (space && weft_net.nbuffers > space / 2)
        weft_net.nbuffers = space / 2;
    bool narrow = weft_net.software && weft_net.choice.row->flags & WEFT_PROVIDER_FEW;
    weft_net.few = narrow && weft_net.nbuffers > FEW_BUFFERS ? FEW_BUFFERS : weft_net.nbuffers;
    net->wanted = weft_net.few;
    weft_net.buffer_bytes = weft_net.eager_limit; /* pushed pieces are control messages */
    size_t apart = weft_net.buffer_bytes + CACHE_LINE;
    net->buffers = calloc(weft_net.nbuffers, sizeof *net->buffers);
    net->buffer_data = malloc(weft_net.nbuffers * apart);
    if (!net->buffers || !net->buffer_data) {
        snprintf(why, len, "no memory for %zu receive buffers of %zu bytes", weft_net.nbuffers,
                 weft_net.buffer_bytes);
        return -1;
    }
    if (weft_net.local_mr)
        net->buffer_mr =
            weft_net_register(net, net->buffer_data, weft_net.nbuffers * apart, FI_RECV);
    if (weft_net.local_mr && !net->buffer_mr) {
        snprintf(why, len, "%s registers no %zu receive buffers of %zu bytes%s", weft_net_name(),
                 weft_net.nbuffers, weft_net.buffer_bytes, weft_net_bounce_advice());
        return -1;
    }
    for (size_t i = weft_net.nbuffers; i-- > 0;) {
        struct weft_net_buffer *buffer = &net->buffers[i];
        buffer->op.kind = WEFT_NET_POOL;
        buffer->data = net->buffer_data + i * apart;
        put_aside(net, buffer);
    }
    int rc = post_wanted(net);
    if (rc && rc != -FI_EAGAIN) { /* busy: progress posts the rest */
        snprintf(why, len, "%s takes no receive: %s; try another provider (WEFT_PROVIDER)",
                 weft_net_name(), fi_strerror(-rc));
        return -1;
    }
    return 0;
}

void weft_net_pool_close(struct weft_net_vci *net)
{
    if (net->buffer_mr)
        fi_close(&net->buffer_mr->fid);
    weft_sequences_close(&net->sequences);
    free(net->buffers);
    free(net->buffer_data);
}

void weft_net_deliver(void *arg, uint64_t tag, uint64_t cq_data, const void *data, size_t bytes)
{
    const struct weft_net_vci *net = arg;
    enum weft_message_form form = (enum weft_message_form)weft_net_form(tag);
    struct weft_arrival message = {.context = weft_net_context(tag),
                                   .source = weft_net_source(cq_data),
                                   .tag = (int)(tag & weft_net.tag_mask),
                                   .lane = WEFT_LANE_NET,
                                   .data = data,
                                   .bytes = bytes,
                                   .length = bytes,
                                   .id = weft_sequence_number(&net->sequences, cq_data)};
    const struct weft_channel *channel =
        weft_channel_of(message.context, message.source, message.tag);
    if (channel && !weft_net_is_sender(channel, message.source)) {
        weft_net_drop("a message that claims a rank outside of its communicator", message.source);
        return;
    }
    if (channel && weft_net_of_channel(channel) != net) {
        weft_net_drop("a message for another endpoint", message.source);
        return;
    }
    if (form == WEFT_MESSAGE_RTS) {
        struct weft_net_header header = {0};
        memcpy(&header, data, bytes < sizeof header ? bytes : sizeof header);
        if (!weft_net_is_header(&header, bytes)) {
            weft_net_drop("an RTS with a wrong header", message.source);
            return;
        }
        message.mode = header.ready ? WEFT_SEND_READY : WEFT_SEND_STANDARD;
        message.location = WEFT_DATA_AT_SENDER;
        message.length = header.length;
        message.id = weft_net_rts_id(header.number);
    } else if (form != WEFT_MESSAGE_EAGER) {
        message.mode = form == WEFT_MESSAGE_SYNC ? WEFT_SEND_SYNCHRONOUS : WEFT_SEND_READY;
    }
    if (weft_unlikely(!channel) && weft_net.software && form != WEFT_MESSAGE_RTS &&
        form != WEFT_MESSAGE_SYNC && !weft_channel_expects(message.context))
        weft_net_matched_number(weft_net_sender(tag), bytes); /* it will be dropped */
    weft_sw_arrive(&weft.vcis[net->number].matcher, &message);
}

/* A message that can be neither delivered nor kept. */
WEFT_COLD static void report(const struct fi_cq_tagged_entry *entry,
                             enum weft_sequence_result result)
{
    uint32_t sender = weft_net_sender(entry->tag) % (uint32_t)weft.job.size;
    if (result == WEFT_SEQUENCE_NO_MEMORY)
        weft_fatal(
            MPI_ERR_NO_MEM,
            "no memory to keep a message of %zu bytes from rank %u until the messages before "
            "it have arrived",
            entry->len, sender);
    weft_net_drop(result == WEFT_SEQUENCE_TWICE
                      ? "a message whose sequence number was received before"
                      : "a message whose sequence number cannot be its sender's",
                  (int)sender);
}

static void message_arrived(struct weft_net_vci *net, const struct fi_cq_tagged_entry *entry,
                            const void *data)
{
    /* Without CQ data, sockets reports those of another message, which may have the key. */
    if (weft_unlikely(!(entry->flags & FI_REMOTE_CQ_DATA) || !weft_net_is_of_job(entry->data))) {
        weft_net_drop("a message without the job's key", -1);
        return; /* and no sequence number is used up */
    }
    enum weft_sequence_result result =
        weft_sequence_arrive(&net->sequences, weft_net_sender(entry->tag) - net->first_sender,
                             entry->tag, entry->data, data, entry->len, weft_net_deliver, net);
    if (weft_unlikely(result > WEFT_SEQUENCE_KEPT))
        report(entry, result);
}

/* net and tcp can be made to report a message once more without its data. The control message is
 * not left in the buffer, because it has the job's key, and no number that shows the repetition. */
static void control_arrived(struct weft_net_vci *net, struct weft_net_buffer *buffer, size_t bytes)
{
    weft_net_control_arrived(net, buffer->data, bytes);
    memset(buffer->data, 0, sizeof(struct weft_net_control));
}

void weft_net_pool_received(struct weft_net_vci *net, struct weft_net_op *op,
                            const struct fi_cq_tagged_entry *entry)
{
    struct weft_net_buffer *buffer = (struct weft_net_buffer *)op;
    weft_assert(net->posted > 0);
    net->posted--;
    if (weft_unlikely(entry->len > weft_net.buffer_bytes))
        weft_net_drop("a message that is longer than its receive", -1);
    else if (entry->tag & weft_net.space_bit)
        control_arrived(net, buffer, entry->len);
    else
        message_arrived(net, entry, buffer->data);
    put_aside(net, buffer);
}

void weft_net_pool_failed(struct weft_net_vci *net, struct weft_net_op *op,
                          const struct fi_cq_err_entry *error, const char *text)
{
    struct weft_net_buffer *buffer = (struct weft_net_buffer *)op;
    weft_assert(net->posted > 0);
    net->posted--;
    if (error->err == FI_ETRUNC) {
        weft_net_drop("a message that is longer than the eager limit", -1);
    } else if (!weft_failure_confirm(WEFT_BOOT_ANYBODY)) {
        /* With a dead rank no message of the user is lost. */
        char what[256];
        snprintf(what, sizeof what, "a message whose receive failed in %s (%s)", weft_net_name(),
                 text);
        weft_net_drop(what, -1);
    }
    put_aside(net, buffer);
}
