// SPDX-License-Identifier: BSD-3-Clause
/*
 * Delivery in the order of sequence numbers, where the core matches what the net lane receives.
 *
 * libfabric orders the matching of messages to posted receives (FI_ORDER_SAS), not the completion
 * queue. A layered provider that sends some messages by a protocol of its own (ofi_rxm above its
 * eager limit) completes their receives after those of later messages. So each user message carries
 * its number among all of its sender, and this file decides whether it is delivered now. A message
 * that comes early is copied, and its receive buffer is posted again. An early message therefore
 * never takes the buffer that an earlier message needs.
 *
 * A message carries 8 or 32 bits of its number. A sender has at most `limit` messages undelivered
 * (credits.c), and 8 bits distinguish that many. The same bound limits the memory of early
 * messages.
 *
 * Invariants:
 *  - The messages of one sender are delivered in the order of their numbers, each once.
 *  - next of s is counted before its message is delivered: delivery may make progress and receive
 *    the messages that follow.
 *  - A kept message of sender s has a number in (next, next + limit).
 */
#include "ofi/sequence.h"

#include "core/base/assert.h"

#include <stdlib.h>
#include <string.h>

void weft_sequences_open(struct weft_sequences *s, uint32_t ranks, uint32_t mask, unsigned shift,
                         uint32_t limit)
{
    *s = (struct weft_sequences){.ranks = ranks, .mask = mask, .shift = shift, .limit = limit};
}

void weft_sequences_close(struct weft_sequences *s)
{
    for (unsigned i = 0; i < WEFT_SEQUENCE_BUCKETS; i++)
        for (struct weft_early *early = s->buckets[i], *next; early; early = next) {
            next = early->next;
            free(early);
        }
    for (uint32_t i = 0; s->next && i < s->senders; i += WEFT_SEQUENCE_BLOCK)
        free(s->next[i / WEFT_SEQUENCE_BLOCK]);
    free(s->next);
    *s = (struct weft_sequences){0};
}

/* The link that points to the message, or the last link of its bucket. */
static struct weft_early **find_early(struct weft_sequences *s, uint32_t sender, uint32_t number)
{
    weft_assert(sender < s->ranks);
    struct weft_early **link = &s->buckets[(sender * 31 + number) % WEFT_SEQUENCE_BUCKETS];
    while (*link && ((*link)->sender != sender || (*link)->number != number))
        link = &(*link)->next;
    return link;
}

/* Allocates the numbers of a sender's block, all 0, and the table for the first of all. */
static bool make_block(struct weft_sequences *s, uint32_t sender)
{
    uint32_t blocks = (s->ranks + WEFT_SEQUENCE_BLOCK - 1) / WEFT_SEQUENCE_BLOCK;
    if (!s->next)
        s->next = calloc(blocks, sizeof *s->next);
    if (!s->next)
        return false;
    s->senders = s->ranks;
    uint32_t **block = &s->next[sender / WEFT_SEQUENCE_BLOCK];
    weft_assert(!*block);
    *block = calloc(WEFT_SEQUENCE_BLOCK, sizeof **block);
    return *block;
}

enum weft_sequence_result weft_sequence_keep(struct weft_sequences *s, uint32_t sender,
                                             uint64_t tag, uint64_t cq_data, const void *data,
                                             size_t bytes, weft_sequence_deliver *deliver,
                                             void *arg)
{
    if (sender >= s->ranks)
        return WEFT_SEQUENCE_IMPOSSIBLE;
    if (!s->next || !weft_sequence_next(s, sender))
        return make_block(s, sender)
                   ? weft_sequence_arrive(s, sender, tag, cq_data, data, bytes, deliver, arg)
                   : WEFT_SEQUENCE_NO_MEMORY;
    uint32_t due = *weft_sequence_next(s, sender);
    uint32_t ahead = (weft_sequence_number(s, cq_data) - due) & s->mask;
    uint32_t number = due + ahead;
    if (ahead == 0 || ahead >= s->limit)
        return WEFT_SEQUENCE_IMPOSSIBLE;
    struct weft_early **link = find_early(s, sender, number);
    if (*link)
        return WEFT_SEQUENCE_TWICE;
    weft_assert(s->early < (size_t)s->ranks * s->limit);
    struct weft_early *early = malloc(sizeof *early + bytes);
    if (!early)
        return WEFT_SEQUENCE_NO_MEMORY;
    early->next = NULL;
    early->sender = sender;
    early->number = number;
    early->tag = tag;
    early->cq_data = cq_data;
    early->bytes = bytes;
    if (bytes)
        memcpy(early->data, data, bytes);
    *link = early;
    s->early++;
    return WEFT_SEQUENCE_KEPT;
}

void weft_sequence_deliver_kept(struct weft_sequences *s, uint32_t sender,
                                weft_sequence_deliver *deliver, void *arg)
{
    struct weft_early **link, *early;
    uint32_t *next = weft_sequence_next(s, sender); /* stays where it is */
    weft_assert(next);
    while (link = find_early(s, sender, *next), (early = *link) != NULL) {
        *link = early->next;
        weft_assert(s->early > 0);
        s->early--;
        ++*next;
        deliver(arg, early->tag, early->cq_data, early->data, early->bytes);
        free(early);
    }
}

bool weft_sequence_reached(const struct weft_sequences *s, uint32_t sender, uint32_t number)
{
    weft_assert(sender < s->ranks);
    uint32_t ahead = number - weft_sequence_delivered(s, sender);
    return ahead == 0 || ahead > s->limit;
}
