// SPDX-License-Identifier: BSD-3-Clause
/*
 * The software matcher's queues: circular lists with the heads in struct weft_matcher, each list in
 * posting or arrival order because entries are only ever appended.
 *
 * Invariant: a receive is in exactly one list (its source's bin, or the wildcard list of its
 * context's bin); a message is in exactly two (its source's bin and the arrival list of its
 * context's bin). Bins are shared by whoever hashes there, so every entry's own fields decide.
 */
#include "core/match.h"

/* Fibonacci hashing: the top bits of a product with 2^32 over the golden ratio. Neighbouring ranks
 * and ranks a power of two apart (rows of a process grid) spread equally well. */
enum { BIN_SHIFT = 24 };
_Static_assert(WEFT_MATCH_BINS == 1 << (32 - BIN_SHIFT), "the hash yields one bin number");

static inline uint32_t context_bin(uint32_t context)
{
    return (context * UINT32_C(0x9e3779b1)) >> BIN_SHIFT;
}

static inline uint32_t source_bin(uint32_t context, int32_t source)
{
    return (((uint32_t)source + context * UINT32_C(0x85ebca6b)) * UINT32_C(0x9e3779b1)) >>
           BIN_SHIFT;
}

static inline void list_append(struct weft_match_link *head, struct weft_match_link *link)
{
    struct weft_match_link *last = head->prev;

    link->next = head;
    link->prev = last;
    last->next = link;
    head->prev = link;
}

static inline void list_unlink(struct weft_match_link *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
}

static inline struct weft_match_receive *receive_of(struct weft_match_link *link)
{
    return (struct weft_match_receive *)((char *)link - offsetof(struct weft_match_receive, link));
}

static inline struct weft_match_message *message_in_source(struct weft_match_link *link)
{
    return (struct weft_match_message *)((char *)link -
                                         offsetof(struct weft_match_message, by_source));
}

static inline struct weft_match_message *message_in_context(struct weft_match_link *link)
{
    return (struct weft_match_message *)((char *)link -
                                         offsetof(struct weft_match_message, by_context));
}

static inline bool tag_matches(int32_t wanted, int32_t tag)
{
    return wanted == tag || wanted == WEFT_MATCH_ANY_TAG;
}

/* The oldest receive of one list for a message. The wildcard lists hold WEFT_MATCH_ANY_SOURCE in
 * every entry, so comparing the source with what that list is for serves both. Gives up at the
 * first entry not older than before: one posted later cannot win. */
static inline struct weft_match_receive *oldest_receive(struct weft_match_link *head,
                                                        uint32_t context, int32_t source,
                                                        int32_t tag, uint64_t before)
{
    for (struct weft_match_link *l = head->next; l != head; l = l->next) {
        struct weft_match_receive *r = receive_of(l);

        if (r->order >= before)
            return NULL;
        if (r->context == context && r->source == source && tag_matches(r->tag, tag))
            return r;
    }
    return NULL;
}

static inline void unlink_receive(struct weft_matcher *m, struct weft_match_receive *receive)
{
    list_unlink(&receive->link);
    receive->queued = false;
    m->posted--;
}

void weft_match_init(struct weft_matcher *m)
{
    m->next_order = 0;
    m->posted = m->unexpected = 0;
    for (size_t i = 0; i < WEFT_MATCH_BINS; i++) {
        m->posted_by_source[i].next = m->posted_by_source[i].prev = &m->posted_by_source[i];
        m->posted_any[i].next = m->posted_any[i].prev = &m->posted_any[i];
        m->messages_by_source[i].next = m->messages_by_source[i].prev = &m->messages_by_source[i];
        m->messages_by_context[i].next = m->messages_by_context[i].prev =
            &m->messages_by_context[i];
    }
}

struct weft_match_receive *weft_match_arrive(struct weft_matcher *m, uint32_t context,
                                             int32_t source, int32_t tag)
{
    struct weft_match_receive *winner, *any;

    if (m->posted == 0)
        return NULL;
    winner = oldest_receive(&m->posted_by_source[source_bin(context, source)], context, source, tag,
                            UINT64_MAX);
    any = oldest_receive(&m->posted_any[context_bin(context)], context, WEFT_MATCH_ANY_SOURCE, tag,
                         winner ? winner->order : UINT64_MAX);
    if (any)
        winner = any;
    if (winner)
        unlink_receive(m, winner);
    return winner;
}

void weft_match_store(struct weft_matcher *m, struct weft_match_message *message)
{
    list_append(&m->messages_by_source[source_bin(message->context, message->source)],
                &message->by_source);
    list_append(&m->messages_by_context[context_bin(message->context)], &message->by_context);
    message->queued = true;
    m->unexpected++;
}

static struct weft_match_message *first_from_source(struct weft_match_link *head, uint32_t context,
                                                    int32_t source, int32_t tag)
{
    for (struct weft_match_link *l = head->next; l != head; l = l->next) {
        struct weft_match_message *e = message_in_source(l);

        if (e->context == context && e->source == source && tag_matches(tag, e->tag))
            return e;
    }
    return NULL;
}

static struct weft_match_message *first_from_any(struct weft_match_link *head, uint32_t context,
                                                 int32_t tag)
{
    for (struct weft_match_link *l = head->next; l != head; l = l->next) {
        struct weft_match_message *e = message_in_context(l);

        if (e->context == context && tag_matches(tag, e->tag))
            return e;
    }
    return NULL;
}

struct weft_match_message *weft_match_find(struct weft_matcher *m, uint32_t context, int32_t source,
                                           int32_t tag)
{
    if (m->unexpected == 0)
        return NULL;
    if (source == WEFT_MATCH_ANY_SOURCE)
        return first_from_any(&m->messages_by_context[context_bin(context)], context, tag);
    return first_from_source(&m->messages_by_source[source_bin(context, source)], context, source,
                             tag);
}

void weft_match_take(struct weft_matcher *m, struct weft_match_message *message)
{
    list_unlink(&message->by_source);
    list_unlink(&message->by_context);
    message->queued = false;
    m->unexpected--;
}

void weft_match_post(struct weft_matcher *m, struct weft_match_receive *receive)
{
    struct weft_match_link *head =
        receive->source == WEFT_MATCH_ANY_SOURCE
            ? &m->posted_any[context_bin(receive->context)]
            : &m->posted_by_source[source_bin(receive->context, receive->source)];

    receive->order = m->next_order++;
    receive->queued = true;
    list_append(head, &receive->link);
    m->posted++;
}

bool weft_match_withdraw(struct weft_matcher *m, struct weft_match_receive *receive)
{
    if (!receive->queued)
        return false;
    unlink_receive(m, receive);
    return true;
}

static void see_bin(struct weft_match_link *head, uint32_t context,
                    void (*see)(void *arg, struct weft_match_message *message), void *arg)
{
    for (struct weft_match_link *l = head->next; l != head; l = l->next) {
        struct weft_match_message *e = message_in_context(l);

        if (context == WEFT_MATCH_ALL_CONTEXTS || e->context == context)
            see(arg, e);
    }
}

void weft_match_each_message(struct weft_matcher *m, uint32_t context,
                             void (*see)(void *arg, struct weft_match_message *message), void *arg)
{
    if (context != WEFT_MATCH_ALL_CONTEXTS) {
        see_bin(&m->messages_by_context[context_bin(context)], context, see, arg);
        return;
    }
    for (size_t i = 0; i < WEFT_MATCH_BINS; i++)
        see_bin(&m->messages_by_context[i], context, see, arg);
}
