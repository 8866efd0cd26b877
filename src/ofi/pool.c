// SPDX-License-Identifier: BSD-3-Clause
/*
 * The pool of pre-posted receives: small ones for control messages, or, when the core matches,
 * eager-sized ones for everything.
 *
 * A provider that goes through its posted receives in turns (WEFT_PROVIDER_FEW) finds those of a
 * long queue in no cache, its own records and our buffers: 128 instead of 8 cost a message 0.5 us
 * over TCP. So it gets few while messages come one by one, and all as soon as some come together.
 *
 * Invariant: every buffer is either posted or in weft_net.unposted; a buffer's contents are
 * consumed (copied, matched, acted on) before it is posted again.
 */
#include "core/object/error.h"
#include "core/pt2pt/sw_match.h"
#include "core/process/weft.h"
#include "ofi/net.h"
#include "ofi/ofi_internal.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Few for control messages: a provider that matches in software looks at them before the user's
 * receives, and one that finds none posted waits in its unexpected queue. */
enum { CONTROL_BUFFERS = 4, MESSAGE_BUFFERS = 128 };

/* So many are posted while a poll takes fewer than so many messages, and has so often. */
enum { FEW_BUFFERS = 8, TOGETHER = 4, ONE_BY_ONE = 256 };

/* Buffers begin in different sets of a cache. */
enum { CACHE_LINE = 64 };

static int post(struct weft_net_buffer *buffer)
{
    uint64_t word = weft_net.space_bit, ignore = weft_net.space_bit - 1;
    if (weft_net.software) {
        word = 0;
        ignore |= weft_net.space_bit;
    }
    return (int)fi_trecv(weft_net.ep, buffer->data, weft_net.buffer_bytes,
                         weft_net_descriptor(weft_net.buffer_mr), FI_ADDR_UNSPEC, word, ignore,
                         &buffer->op);
}

static void put_aside(struct weft_net_buffer *buffer)
{
    buffer->next = weft_net.unposted;
    weft_net.unposted = buffer;
}

/* Posts what is wanted, as far as the provider takes it: then the rest is tried again. */
static int post_wanted(void)
{
    int rc = 0;
    while (weft_net.posted < weft_net.wanted && weft_net.unposted && !rc) {
        struct weft_net_buffer *buffer = weft_net.unposted;
        weft_net.unposted = buffer->next;
        rc = post(buffer);
        if (rc)
            put_aside(buffer);
        else
            weft_net.posted++;
    }
    return rc;
}

void weft_net_pool_post_more(void)
{
    if (weft_net.wanted - weft_net.posted >= TOGETHER) {
        weft_net.wanted = weft_net.nbuffers;
        weft_net.one_by_one = 0;
    } else if (weft_net.wanted > weft_net.few && ++weft_net.one_by_one == ONE_BY_ONE) {
        weft_net.wanted = weft_net.few;
        weft_net.one_by_one = 0;
    }
    post_wanted();
}

int weft_net_pool_open(char *why, size_t len)
{
    size_t room = weft_net.choice.info->rx_attr->size;
    weft_net.nbuffers = weft_net.software ? MESSAGE_BUFFERS : CONTROL_BUFFERS;
    if (room && weft_net.nbuffers > room / 2)
        weft_net.nbuffers = room / 2;
    bool narrow = weft_net.software && weft_net.choice.row->flags & WEFT_PROVIDER_FEW;
    weft_net.few = narrow && weft_net.nbuffers > FEW_BUFFERS ? FEW_BUFFERS : weft_net.nbuffers;
    weft_net.wanted = weft_net.few;
    weft_net.buffer_bytes = weft_net.eager_limit; /* pushed pieces are control messages */
    size_t apart = weft_net.buffer_bytes + CACHE_LINE;
    weft_net.buffers = calloc(weft_net.nbuffers, sizeof *weft_net.buffers);
    weft_net.buffer_data = malloc(weft_net.nbuffers * apart);
    weft_sequences_open(&weft_net.sequences, (uint32_t)weft.job.size, weft_net_fast.sequence_mask,
                        weft_net_window());
    if (!weft_net.buffers || !weft_net.buffer_data) {
        snprintf(why, len, "no memory for %zu receive buffers of %zu bytes", weft_net.nbuffers,
                 weft_net.buffer_bytes);
        return -1;
    }
    if (weft_net.local_mr)
        weft_net.buffer_mr =
            weft_net_register(weft_net.buffer_data, weft_net.nbuffers * apart, FI_RECV);
    if (weft_net.local_mr && !weft_net.buffer_mr) {
        snprintf(why, len, "%s registers no %zu receive buffers of %zu bytes%s", weft_net_name(),
                 weft_net.nbuffers, weft_net.buffer_bytes, weft_net_bounce_advice());
        return -1;
    }
    for (size_t i = weft_net.nbuffers; i-- > 0;) {
        struct weft_net_buffer *buffer = &weft_net.buffers[i];
        buffer->op.kind = WEFT_NET_POOL;
        buffer->data = weft_net.buffer_data + i * apart;
        put_aside(buffer);
    }
    int rc = post_wanted();
    if (rc && rc != -FI_EAGAIN) { /* busy: progress posts the rest */
        snprintf(why, len, "%s takes no receive: %s; try another provider (WEFT_PROVIDER)",
                 weft_net_name(), fi_strerror(-rc));
        return -1;
    }
    return 0;
}

void weft_net_pool_close(void)
{
    if (weft_net.buffer_mr)
        fi_close(&weft_net.buffer_mr->fid);
    weft_sequences_close(&weft_net.sequences);
    free(weft_net.buffers);
    free(weft_net.buffer_data);
    weft_net.buffers = NULL;
    weft_net.buffer_data = NULL;
    weft_net.unposted = NULL;
}

/* Hands a user message to the matcher. */
static inline void deliver(uint64_t tag, uint64_t cq_data, const void *data, size_t bytes)
{
    enum weft_message_form form = (enum weft_message_form)weft_net_form(tag);
    size_t length = form == WEFT_MESSAGE_RTS ? weft_net_header_length(data) : bytes;
    if (weft_sw_arrive(&weft.vcis[0].matcher, weft_net_context(tag),
                       (int)(cq_data >> weft_net.rank_shift), (int)(tag & weft_net.tag_mask), form,
                       data, bytes, length, (uint32_t)cq_data & weft_net_fast.sequence_mask))
        weft_fatal(MPI_ERR_NO_MEM, "no memory to keep an unexpected message of %zu bytes", bytes);
}

/* A message that can be neither delivered nor kept. */
WEFT_COLD static void report(const struct fi_cq_tagged_entry *entry,
                             enum weft_sequence_verdict verdict)
{
    uint32_t sender = weft_net_sender(entry->tag);
    if (verdict == WEFT_SEQUENCE_NO_MEMORY)
        weft_fatal(
            MPI_ERR_NO_MEM,
            "no memory to keep a message of %zu bytes from rank %u until the messages before "
            "it have arrived",
            entry->len, sender);
    weft_warn("a message of %zu bytes from rank %u is dropped: its sequence number %u %s; either "
              "%s delivers messages twice, or a program that is not Weft sends to this rank",
              entry->len, sender, (uint32_t)entry->data & weft_net_fast.sequence_mask,
              verdict == WEFT_SEQUENCE_TWICE ? "was received before" : "cannot be the sender's",
              weft_net_name());
}

static void message_arrived(const struct fi_cq_tagged_entry *entry, const void *data)
{
    enum weft_sequence_verdict verdict =
        weft_sequence_arrive(&weft_net.sequences, weft_net_sender(entry->tag), entry->tag,
                             entry->data, data, entry->len, deliver);
    if (weft_unlikely(verdict > WEFT_SEQUENCE_KEPT))
        report(entry, verdict);
}

void weft_net_pool_received(struct weft_net_op *op, const struct fi_cq_tagged_entry *entry)
{
    struct weft_net_buffer *buffer = (struct weft_net_buffer *)op;
    weft_net.posted--;
    if (entry->tag & weft_net.space_bit)
        weft_net_control_arrived(buffer->data, entry->len);
    else
        message_arrived(entry, buffer->data);
    put_aside(buffer);
}

void weft_net_pool_failed(struct weft_net_op *op, const struct fi_cq_err_entry *error,
                          const char *text)
{
    struct weft_net_buffer *buffer = (struct weft_net_buffer *)op;
    weft_net.posted--;
    if (error->err != FI_ECANCELED) {
        if (!weft_failure_confirm(NULL)) /* no operation of the user's is lost with the dead */
            weft_warn("a pre-posted receive failed in %s: %s", weft_net_name(), text);
        put_aside(buffer);
    }
}
