// SPDX-License-Identifier: BSD-3-Clause
/*
 * The software matcher: posted receives on one side, unexpected messages on the other, matched by
 * (context, source, tag) as MPI 5.0 section 3.5 demands. It knows no network, no requests and no
 * memory: both kinds of entry are embedded in objects that belong to the caller.
 *
 * Invariants:
 *  - No entry in the posted queue matches any entry in the unexpected queue.
 *  - Of the receives that match a message the one posted first gets it; of the messages that match
 *    a receive the one that arrived first is taken.
 *  - An entry is in at most one queue; entries are unlinked before they are handed back.
 *
 * Cost: where neither side has a wildcard, a match does not depend on how much is queued: the bins
 * of (context, source, tag) grow with it. A receive of any tag looks at its (context, source) bin,
 * one from any source at the list of its context's bin, and so does every arriving message at the
 * receives of these kinds. No division; no allocation but the larger bins, and when memory is short
 * the smaller ones stay.
 */
#ifndef WEFT_MATCH_H
#define WEFT_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WEFT_MATCH_ANY_SOURCE = -1, WEFT_MATCH_ANY_TAG = -2 }; /* MPI_ANY_SOURCE, MPI_ANY_TAG */
enum { WEFT_MATCH_BINS = 256 };                               /* a power of two */

struct weft_match_link {
    struct weft_match_link *next, *prev;
};

struct weft_match_receive {
    struct weft_match_link link; /* in one of the three lists for receives of its kind */
    uint64_t order;              /* position among all posted receives */
    uint32_t context;
    int32_t source; /* rank in the communicator, or WEFT_MATCH_ANY_SOURCE */
    int32_t tag;    /* or WEFT_MATCH_ANY_TAG */
    bool queued;    /* in the posted queue now */
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
    uint64_t next_order;
    size_t posted, unexpected; /* entries in each queue: a zero test is the caller's fast path */
    struct weft_match_bins posted_by_tag, messages_by_tag;
    /* receives of any tag; of any source; all messages, twice */
    struct weft_match_link posted_by_source[WEFT_MATCH_BINS];
    struct weft_match_link posted_any[WEFT_MATCH_BINS];
    struct weft_match_link messages_by_source[WEFT_MATCH_BINS];
    struct weft_match_link messages_by_context[WEFT_MATCH_BINS];
};

/* Makes both queues empty. */
void weft_match_init(struct weft_matcher *m);

/* Gives back what the bins took; the matcher is not used any more. */
void weft_match_close(struct weft_matcher *m);

/* Doubles the bins of (context, source, tag) of receives and of messages; the matcher does so itself
 * when they fill. Nothing when memory is short. */
void weft_match_grow(struct weft_matcher *m);

/* A message arrived: unlinks and returns the receive that gets it, or NULL when none matches. The
 * caller then copies it somewhere and calls weft_match_store. */
struct weft_match_receive *weft_match_arrive(struct weft_matcher *m, uint32_t context,
                                             int32_t source, int32_t tag);

/* Appends a message, its context, source and tag set, to the unexpected queue. */
void weft_match_store(struct weft_matcher *m, struct weft_match_message *message);

/* The message that a receive with these arguments would take, left in its place (a probe), or
 * NULL. */
struct weft_match_message *weft_match_find(struct weft_matcher *m, uint32_t context, int32_t source,
                                           int32_t tag);

/* Unlinks one message that weft_match_find returned (a receive, or a matched probe). */
void weft_match_take(struct weft_matcher *m, struct weft_match_message *message);

/* Appends a receive, its context, source and tag set, to the posted queue. The caller has just
 * asked weft_match_find and found nothing. */
void weft_match_post(struct weft_matcher *m, struct weft_match_receive *receive);

/* Withdraws a receive. Returns false when it is not queued any more. */
bool weft_match_withdraw(struct weft_matcher *m, struct weft_match_receive *receive);

/* Walks over what is queued, for reports: calls see(arg, entry) for each message of the context
 * (WEFT_MATCH_ALL_CONTEXTS: of every one). The callback must not change the queues. */
#define WEFT_MATCH_ALL_CONTEXTS UINT32_MAX
void weft_match_each_message(struct weft_matcher *m, uint32_t context,
                             void (*see)(void *arg, struct weft_match_message *message), void *arg);

#endif
