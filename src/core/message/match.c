// SPDX-License-Identifier: BSD-3-Clause
/*
 * The software matcher's queues: circular lists with the heads in struct weft_matcher, each list in
 * posting or arrival order because entries are only ever appended.
 *
 * Invariant: a receive that is not in the express queue is in exactly one list: its tag's bin, with
 * any tag its source's bin, from any source the wildcard list of its context's bin. A message is in
 * exactly three: its tag's bin, its source's bin, and the arrival list of its context's bin. Bins
 * are shared by all keys with the same hash, so every entry's own fields are compared.
 */
#include "core/message/match.h"

#include <stdlib.h>
#include <string.h>

/* Fibonacci hashing: the top bits of a product with 2^32 over the golden ratio. Neighbouring ranks
 * and ranks a power of two apart (rows of a process grid) spread equally well. */
enum { BIN_SHIFT = 24, PER_BIN = 4, MOST_BINS = 1 << 24 };

/* A message may pass NEAR receives of the express queue. Where more are ahead of its own, receives
 * are not posted in the order of the messages: the next PATIENCE of them go to the bins. */
enum { NEAR = 8, PATIENCE = 512 };
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

static inline uint32_t tag_hash(uint32_t context, int32_t source, int32_t tag)
{
    uint64_t key =
        (uint64_t)((uint32_t)source + context * UINT32_C(0x85ebca6b)) << 32 | (uint32_t)tag;

    return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

static inline struct weft_match_link *tag_bin(struct weft_match_bins *bins, uint32_t context,
                                              int32_t source, int32_t tag)
{
    return &bins->heads[tag_hash(context, source, tag) >> bins->shift];
}

static inline size_t bins_of(const struct weft_match_bins *bins)
{
    return (size_t)1 << (32 - bins->shift);
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
    weft_assert(link->prev->next == link && link->next->prev == link);
    link->prev->next = link->next;
    link->next->prev = link->prev;
}

static inline struct weft_match_receive *receive_of(struct weft_match_link *link)
{
    return (struct weft_match_receive *)((char *)link - offsetof(struct weft_match_receive, link));
}

static inline struct weft_match_message *message_in_tag(struct weft_match_link *link)
{
    return (struct weft_match_message *)((char *)link -
                                         offsetof(struct weft_match_message, by_tag));
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
 * every entry, so comparing the source with what that list is for serves all. Stops at the first
 * entry not older than `before`: an entry posted later cannot win. */
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

static inline bool is_wild(const struct weft_match_receive *receive)
{
    return receive->source == WEFT_MATCH_ANY_SOURCE || receive->tag == WEFT_MATCH_ANY_TAG;
}

static inline void unlink_receive(struct weft_matcher *m, struct weft_match_receive *receive)
{
    weft_assert(receive->queued && m->binned > 0);
    list_unlink(&receive->link);
    receive->queued = false;
    m->binned--;
    m->wild -= is_wild(receive);
    weft_assert(m->wild <= m->binned);
}

static void empty(struct weft_match_link *heads, size_t count)
{
    for (size_t i = 0; i < count; i++)
        heads[i].next = heads[i].prev = &heads[i];
}

static void open_bins(struct weft_match_bins *bins)
{
    bins->heads = bins->first;
    bins->shift = BIN_SHIFT;
    empty(bins->first, WEFT_MATCH_BINS);
}

void weft_match_init(struct weft_matcher *m)
{
    m->next_order = 0;
    m->head = m->tail = m->express;
    m->space = m->express + WEFT_MATCH_EXPRESS;
    m->patience = 0;
    m->binned = m->unexpected = m->wild = 0;
    open_bins(&m->posted_by_tag);
    open_bins(&m->messages_by_tag);
    empty(m->posted_by_source, WEFT_MATCH_BINS);
    empty(m->posted_any, WEFT_MATCH_BINS);
    empty(m->messages_by_source, WEFT_MATCH_BINS);
    empty(m->messages_by_context, WEFT_MATCH_BINS);
}

static void close_bins(struct weft_match_bins *bins)
{
    if (bins->heads != bins->first)
        free(bins->heads);
    open_bins(bins);
}

void weft_match_close(struct weft_matcher *m)
{
    close_bins(&m->posted_by_tag);
    close_bins(&m->messages_by_tag);
}

static uint32_t hash_of_receive(struct weft_match_link *link)
{
    const struct weft_match_receive *r = receive_of(link);

    return tag_hash(r->context, r->source, r->tag);
}

static uint32_t hash_of_message(struct weft_match_link *link)
{
    const struct weft_match_message *e = message_in_tag(link);

    return tag_hash(e->context, e->source, e->tag);
}

/* Each bin's entries go to two new ones, in their order, and no other entries do. */
static void double_bins(struct weft_match_bins *bins, uint32_t (*hash)(struct weft_match_link *))
{
    size_t count = bins_of(bins);
    struct weft_match_link *heads = count < MOST_BINS ? malloc(2 * count * sizeof *heads) : NULL;

    if (!heads)
        return;
    empty(heads, 2 * count);
    bins->shift--;
    for (size_t i = 0; i < count; i++) {
        struct weft_match_link *next;

        for (struct weft_match_link *l = bins->heads[i].next; l != &bins->heads[i]; l = next) {
            next = l->next;
            list_append(&heads[hash(l) >> bins->shift], l);
        }
    }
    if (bins->heads != bins->first)
        free(bins->heads);
    bins->heads = heads;
}

/* Takes the receive at a position of the express queue; those before it move up. */
static struct weft_match_receive *take_express(struct weft_matcher *m,
                                               struct weft_match_receive **at)
{
    struct weft_match_receive *receive = *at;
    weft_assert(m->head <= at && at < m->tail && receive->queued);

    memmove(m->head + 1, m->head, (size_t)(at - m->head) * sizeof *at);
    m->head++;
    receive->queued = false;
    return receive;
}

static struct weft_match_receive *arrive_in_bins(struct weft_matcher *m, uint32_t context,
                                                 int32_t source, int32_t tag)
{
    struct weft_match_receive *winner, *other;
    weft_assert(m->head == m->tail);

    winner = oldest_receive(tag_bin(&m->posted_by_tag, context, source, tag), context, source, tag,
                            UINT64_MAX);
    if (m->wild) {
        other = oldest_receive(&m->posted_by_source[source_bin(context, source)], context, source,
                               tag, winner ? winner->order : UINT64_MAX);
        if (other)
            winner = other;
        other = oldest_receive(&m->posted_any[context_bin(context)], context, WEFT_MATCH_ANY_SOURCE,
                               tag, winner ? winner->order : UINT64_MAX);
        if (other)
            winner = other;
    }
    if (winner)
        unlink_receive(m, winner);
    return winner;
}

struct weft_match_receive *weft_match_arrive(struct weft_matcher *m, uint32_t context,
                                             int32_t source, int32_t tag)
{
    uint64_t key = weft_match_key(source, tag);

    for (struct weft_match_receive **at = m->head; at < m->tail; at++) {
        if ((*at)->key == key && (*at)->context == context)
            return take_express(m, at);
        if (at - m->head == NEAR) {
            m->patience = PATIENCE;
            weft_match_use_bins(m);
        }
    }
    return m->binned ? arrive_in_bins(m, context, source, tag) : NULL;
}

void weft_match_store(struct weft_matcher *m, struct weft_match_message *message)
{
    if (m->unexpected >= PER_BIN * bins_of(&m->messages_by_tag))
        double_bins(&m->messages_by_tag, hash_of_message);
    list_append(tag_bin(&m->messages_by_tag, message->context, message->source, message->tag),
                &message->by_tag);
    list_append(&m->messages_by_source[source_bin(message->context, message->source)],
                &message->by_source);
    list_append(&m->messages_by_context[context_bin(message->context)], &message->by_context);
    message->queued = true;
    m->unexpected++;
}

static struct weft_match_message *first_with_tag(struct weft_match_link *head, uint32_t context,
                                                 int32_t source, int32_t tag)
{
    for (struct weft_match_link *l = head->next; l != head; l = l->next) {
        struct weft_match_message *e = message_in_tag(l);

        if (e->tag == tag && e->source == source && e->context == context)
            return e;
    }
    return NULL;
}

static struct weft_match_message *first_from_source(struct weft_match_link *head, uint32_t context,
                                                    int32_t source)
{
    for (struct weft_match_link *l = head->next; l != head; l = l->next) {
        struct weft_match_message *e = message_in_source(l);

        if (e->context == context && e->source == source)
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
    if (tag == WEFT_MATCH_ANY_TAG)
        return first_from_source(&m->messages_by_source[source_bin(context, source)], context,
                                 source);
    return first_with_tag(tag_bin(&m->messages_by_tag, context, source, tag), context, source, tag);
}

void weft_match_take(struct weft_matcher *m, struct weft_match_message *message)
{
    weft_assert(message->queued && m->unexpected > 0);
    list_unlink(&message->by_tag);
    list_unlink(&message->by_source);
    list_unlink(&message->by_context);
    message->queued = false;
    m->unexpected--;
}

static void post_to_bins(struct weft_matcher *m, struct weft_match_receive *receive)
{
    struct weft_match_link *head;

    if (m->binned >= PER_BIN * bins_of(&m->posted_by_tag))
        double_bins(&m->posted_by_tag, hash_of_receive);
    if (receive->source == WEFT_MATCH_ANY_SOURCE)
        head = &m->posted_any[context_bin(receive->context)];
    else if (receive->tag == WEFT_MATCH_ANY_TAG)
        head = &m->posted_by_source[source_bin(receive->context, receive->source)];
    else
        head = tag_bin(&m->posted_by_tag, receive->context, receive->source, receive->tag);
    receive->order = m->next_order++;
    receive->queued = true;
    list_append(head, &receive->link);
    m->binned++;
    m->wild += is_wild(receive);
}

void weft_match_use_bins(struct weft_matcher *m)
{
    for (struct weft_match_receive **at = m->head; at < m->tail; at++)
        post_to_bins(m, *at);
    m->head = m->tail = m->express;
    m->space = m->express;
    weft_assert(weft_match_posted(m) == m->binned);
}

/* True when there is space in the express queue, or could be made. */
static bool make_space(struct weft_matcher *m)
{
    if (m->binned)
        return false;
    if (m->patience) {
        m->patience--;
        return false;
    }
    size_t posted = (size_t)(m->tail - m->head);
    weft_assert(posted <= WEFT_MATCH_EXPRESS && !m->wild);
    memmove(m->express, m->head, posted * sizeof m->express[0]);
    m->head = m->express;
    m->tail = m->head + posted;
    m->space = m->express + WEFT_MATCH_EXPRESS;
    return m->tail < m->space;
}

void weft_match_post(struct weft_matcher *m, struct weft_match_receive *receive)
{
    weft_assert(!weft_match_find(m, receive->context, receive->source, receive->tag));
    receive->zero = 0;
    if (!is_wild(receive) && (m->tail < m->space || make_space(m)) &&
        weft_match_post_express(m, receive))
        return;
    weft_match_use_bins(m);
    post_to_bins(m, receive);
}

bool weft_match_withdraw(struct weft_matcher *m, struct weft_match_receive *receive)
{
    if (!receive->queued)
        return false;
    for (struct weft_match_receive **at = m->head; at < m->tail; at++) {
        if (*at == receive) {
            take_express(m, at);
            return true;
        }
    }
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
