// SPDX-License-Identifier: BSD-3-Clause
/*
 * The software matcher: posted receives on one side, unexpected messages on the other, matched by
 * (context, source, tag) as MPI 5.0 section 3.5 demands. It depends on no lane and no
 * requests, and allocates no entries: both kinds are embedded in objects of the caller.
 *
 * Invariants:
 *  - No entry in the posted queue matches any entry in the unexpected queue.
 *  - Of the receives that match a message the one posted first gets it; of the messages that match
 *    a receive the one that arrived first is taken.
 *  - An entry is in at most one queue; entries are unlinked before they are handed back.
 *  - While a receive is in the express queue the bins have none, and no receive has a wildcard.
 *
 * Cost: where neither side has a wildcard, a match does not depend on how much is queued: the bins
 * of (context, source, tag) grow with it. A receive of any tag looks at its (context, source) bin,
 * one from any source at the list of its context's bin, and so does every arriving message at the
 * receives of these kinds while there are any. No division; no allocation but the larger bins, and
 * when memory is short the smaller ones stay.
 *
 * The most frequent match is that of a receive without wildcards and a message that arrives in the
 * order of the receives, or nearly so. For it such receives are in the express queue, an array in
 * posting order, while no posted receive has a wildcard and few are ahead of the one that matches.
 * Else they move to the bins, and the express queue is used again when the bins are empty. Its two
 * functions are inline, because the fast paths use them.
 */
#ifndef WEFT_MATCH_H
#define WEFT_MATCH_H

#include "core/base/assert.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WEFT_MATCH_ANY_SOURCE = -1, WEFT_MATCH_ANY_TAG = -2 }; /* MPI_ANY_SOURCE, MPI_ANY_TAG */
enum { WEFT_MATCH_BINS = 256 };                               /* a power of two */
enum { WEFT_MATCH_EXPRESS = 128 };                            /* receives in the express queue */

struct weft_match_link {
    struct weft_match_link *next, *prev;
};

struct weft_match_receive {
    struct weft_match_link link; /* in one of the three lists for receives of its kind */
    uint64_t order;              /* in the bins: position among all that were posted there */
    union {
        struct {
            int32_t source; /* rank in the communicator, or WEFT_MATCH_ANY_SOURCE */
            int32_t tag;    /* or WEFT_MATCH_ANY_TAG */
        };
        uint64_t key; /* both: weft_match_key */
    };
    union {
        struct {
            uint32_t context, zero;
        };
        uint64_t label; /* weft_match_label */
    };
    bool queued; /* in the posted queue now */
};

struct weft_match_message {
    struct weft_match_link by_tag;     /* in the bin of (context, source, tag) */
    struct weft_match_link by_source;  /* in the bin of (context, source) */
    struct weft_match_link by_context; /* in the arrival list of the context's bin */
    uint32_t context;
    int32_t source, tag;
    bool queued; /* in the unexpected queue now */
};

/* Bins of (context, source, tag): a power of two of them, from WEFT_MATCH_BINS up. */
struct weft_match_bins {
    struct weft_match_link *heads;
    unsigned shift;                                /* a bin's number is what is left of 32 bits */
    struct weft_match_link first[WEFT_MATCH_BINS]; /* where heads points before they grow */
};

struct weft_matcher {
    struct weft_match_receive **head, **tail; /* the express queue: entries from head to tail */
    struct weft_match_receive **space; /* end of the express queue's space; equal to its start while
                                         receives go to the bins */
    uint32_t patience;   /* receives that still go to the bins, even if these are empty */
    uint64_t next_order; /* receives that were posted to the bins so far */
    size_t binned;       /* receives in the bins */
    size_t unexpected;   /* messages queued: a zero test is the caller's fast path */
    size_t wild;         /* receives with a wildcard */
    struct weft_match_bins posted_by_tag, messages_by_tag;
    /* receives of any tag; of any source; all messages, twice */
    struct weft_match_link posted_by_source[WEFT_MATCH_BINS];
    struct weft_match_link posted_any[WEFT_MATCH_BINS];
    struct weft_match_link messages_by_source[WEFT_MATCH_BINS];
    struct weft_match_link messages_by_context[WEFT_MATCH_BINS];
    struct weft_match_receive *express[WEFT_MATCH_EXPRESS];
};

/* Source and tag in one word, in the order of the two fields in memory. */
static inline uint64_t weft_match_key(int32_t source, int32_t tag)
{
    bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    uint32_t low = (uint32_t)(little ? source : tag), high = (uint32_t)(little ? tag : source);
    return (uint64_t)high << 32 | low;
}

/* A context beside 32 bits that are 0. A lane may store other bits there: then the label
 * matches no receive. */
static inline uint64_t weft_match_label(uint32_t context)
{
    bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    return little ? context : (uint64_t)context << 32;
}

/* Receives in the posted queue: a zero test is the caller's fast path. */
static inline size_t weft_match_posted(const struct weft_matcher *m)
{
    return (size_t)(m->tail - m->head) + m->binned;
}

/* weft_match_post for a receive without wildcards whose label and key are set. Returns false,
 * without effect, when the express queue is full or the receives are in the bins. */
static inline __attribute__((always_inline)) bool
weft_match_post_express(struct weft_matcher *m, struct weft_match_receive *receive)
{
    struct weft_match_receive **tail = m->tail;
    if (__builtin_expect(tail >= m->space, 0))
        return false;
    weft_assert(!receive->queued && !m->binned);
    weft_assert(receive->source != WEFT_MATCH_ANY_SOURCE && receive->tag != WEFT_MATCH_ANY_TAG);
    receive->queued = true;
    *tail = receive;
    m->tail = tail + 1;
    return true;
}

/* weft_match_arrive if the first receive of the express queue matches the message; else NULL,
 * without effect. */
static inline __attribute__((always_inline)) struct weft_match_receive *
weft_match_arrive_express(struct weft_matcher *m, uint64_t label, uint64_t key)
{
    struct weft_match_receive **head = m->head, *r;
    if (__builtin_expect(head == m->tail, 0))
        return NULL;
    r = *head;
    if (__builtin_expect(r->key != key, 0) || __builtin_expect(r->label != label, 0))
        return NULL;
    weft_assert(r->queued && !m->binned);
    m->head = head + 1;
    r->queued = false;
    return r;
}

/* Moves all receives to the bins, which keep their posting order in `order`. */
void weft_match_use_bins(struct weft_matcher *m);

/* Makes both queues empty. */
void weft_match_init(struct weft_matcher *m);

/* Frees the memory of the bins; the matcher is not used any more. */
void weft_match_close(struct weft_matcher *m);

/* A message arrived: unlinks and returns the receive that matches, or NULL. Then the caller copies
 * the message and calls weft_match_store. */
struct weft_match_receive *weft_match_arrive(struct weft_matcher *m, uint32_t context,
                                             int32_t source, int32_t tag);

/* Appends a message, its context, source and tag set, to the unexpected queue. */
void weft_match_store(struct weft_matcher *m, struct weft_match_message *message);

/* The message that a receive with these arguments would take, which stays queued (a probe), or
 * NULL. */
struct weft_match_message *weft_match_find(struct weft_matcher *m, uint32_t context, int32_t source,
                                           int32_t tag);

/* Unlinks one message that weft_match_find returned (a receive, or a matched probe). */
void weft_match_take(struct weft_matcher *m, struct weft_match_message *message);

/* Appends a receive, its context, source and tag set, to the posted queue. weft_match_find has
 * just returned NULL for them. */
void weft_match_post(struct weft_matcher *m, struct weft_match_receive *receive);

/* Withdraws a receive. Returns false when it is not queued any more. */
bool weft_match_withdraw(struct weft_matcher *m, struct weft_match_receive *receive);

/* Walks over what is queued, for reports: calls see(arg, entry) for each message of the context
 * (WEFT_MATCH_ALL_CONTEXTS: of every one). The callback must not change the queues. */
#define WEFT_MATCH_ALL_CONTEXTS UINT32_MAX
void weft_match_each_message(struct weft_matcher *m, uint32_t context,
                             void (*see)(void *arg, struct weft_match_message *message), void *arg);

#endif
