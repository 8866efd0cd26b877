// SPDX-License-Identifier: BSD-3-Clause
/*
 * Delivery in the order of sequence numbers: see sequence.c.
 */
#ifndef WEFT_SEQUENCE_H
#define WEFT_SEQUENCE_H

#include "core/base/handle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A message that was received before an earlier one of its sender. */
struct weft_early {
    struct weft_early *next; /* in its bucket */
    uint32_t sender, number; /* number: the full sequence number */
    uint64_t tag, cq_data;   /* of its completion */
    size_t bytes;
    _Alignas(16) unsigned char data[];
};

enum { WEFT_SEQUENCE_BUCKETS = 256, WEFT_SEQUENCE_BLOCK = 256 /* senders */ };

struct weft_sequences {
    /* By sender, in blocks: number of the next message to be delivered. A block whose senders have
     * sent nothing is NULL, and so is the table, with senders 0, before the first message of all.
     */
    uint32_t **next;
    uint32_t senders, ranks;
    uint32_t mask;  /* the bits of a number that a message carries */
    unsigned shift; /* and where in its CQ data */
    uint32_t limit; /* messages that a sender may have undelivered */
    size_t early;   /* messages in the buckets */
    struct weft_early *buckets[WEFT_SEQUENCE_BUCKETS];
};

/* Each sender's first message has the number 0. The bits of mask, so many bits from the lowest of
 * the CQ data, are its number. */
void weft_sequences_open(struct weft_sequences *s, uint32_t ranks, uint32_t mask, unsigned shift,
                         uint32_t limit);
void weft_sequences_close(struct weft_sequences *s);

enum weft_sequence_result {
    WEFT_SEQUENCE_DELIVERED,
    WEFT_SEQUENCE_KEPT,
    WEFT_SEQUENCE_TWICE,      /* its number was received before and waits */
    WEFT_SEQUENCE_IMPOSSIBLE, /* its number was delivered before, is beyond the limit, or there is
                                 no such sender */
    WEFT_SEQUENCE_NO_MEMORY
};

typedef void weft_sequence_deliver(void *arg, uint64_t tag, uint64_t cq_data, const void *data,
                                   size_t bytes);

/* The general path of weft_sequence_arrive: keeps a copy of a message that is not the next of its
 * sender, and allocates the numbers of a block of senders for their first message. */
enum weft_sequence_result weft_sequence_keep(struct weft_sequences *s, uint32_t sender,
                                             uint64_t tag, uint64_t cq_data, const void *data,
                                             size_t bytes, weft_sequence_deliver *deliver,
                                             void *arg);

/* Delivers the messages that waited for the one that was just delivered. */
void weft_sequence_deliver_kept(struct weft_sequences *s, uint32_t sender,
                                weft_sequence_deliver *deliver, void *arg);

/* The bits of a message's number that its CQ data have. */
static inline uint32_t weft_sequence_number(const struct weft_sequences *s, uint64_t cq_data)
{
    return (uint32_t)(cq_data >> s->shift) & s->mask;
}

/* The number of a sender's next message, or NULL if its block is not there. */
static inline uint32_t *weft_sequence_next(const struct weft_sequences *s, uint32_t sender)
{
    uint32_t *block = s->next[sender / WEFT_SEQUENCE_BLOCK];
    return weft_likely(block != NULL) ? &block[sender % WEFT_SEQUENCE_BLOCK] : NULL;
}

/* A message arrived; deliver(arg, ...) is called for each that is due. Delivers it and those that
 * waited for it, or keeps a copy. */
static inline __attribute__((always_inline)) enum weft_sequence_result
weft_sequence_arrive(struct weft_sequences *s, uint32_t sender, uint64_t tag, uint64_t cq_data,
                     const void *data, size_t bytes, weft_sequence_deliver *deliver, void *arg)
{
    uint32_t *next = weft_likely(sender < s->senders) ? weft_sequence_next(s, sender) : NULL;
    if (weft_unlikely(!next) || weft_unlikely((*next ^ cq_data >> s->shift) & s->mask))
        return weft_sequence_keep(s, sender, tag, cq_data, data, bytes, deliver, arg);
    ++*next;
    deliver(arg, tag, cq_data, data, bytes);
    if (weft_unlikely(s->early))
        weft_sequence_deliver_kept(s, sender, deliver, arg);
    return WEFT_SEQUENCE_DELIVERED;
}

/* The messages of a sender that have been delivered, modulo 2^32. */
static inline uint32_t weft_sequence_delivered(const struct weft_sequences *s, uint32_t sender)
{
    const uint32_t *next = sender < s->senders ? weft_sequence_next(s, sender) : NULL;
    return next ? *next : 0;
}

/* True if every message of a sender with a number below that one has been delivered. A number that
 * the sender cannot have reached counts as delivered: nothing waits for what was never sent. */
bool weft_sequence_reached(const struct weft_sequences *s, uint32_t sender, uint32_t number);

#endif
