// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the tests of the matcher share: storing a message, finding contexts and sources that share a
 * bin (by looking where the matcher puts them, so that no test knows the hash), and noting what a
 * report shows.
 */
#ifndef MATCH_TOOLS_H
#define MATCH_TOOLS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/message/match.h"

enum { ANY_SOURCE = WEFT_MATCH_ANY_SOURCE, ANY_TAG = WEFT_MATCH_ANY_TAG };

static inline void store(struct weft_matcher *m, struct weft_match_message *e, uint32_t context,
                         int32_t source, int32_t tag)
{
    *e = (struct weft_match_message){.context = context, .source = source, .tag = tag};
    assert_null(weft_match_arrive(m, context, source, tag));
    weft_match_store(m, e);
}

/* The bin that holds the only entry of an array of list heads. */
static inline size_t used_bin(const struct weft_match_link *heads)
{
    size_t bin = WEFT_MATCH_BINS;

    for (size_t i = 0; i < WEFT_MATCH_BINS; i++) {
        if (heads[i].next != &heads[i]) {
            assert_int_equal(bin, WEFT_MATCH_BINS);
            bin = i;
        }
    }
    assert_int_not_equal(bin, WEFT_MATCH_BINS);
    return bin;
}

static inline size_t bin_of_context(uint32_t context)
{
    struct weft_matcher m;
    struct weft_match_message e;

    weft_match_init(&m);
    store(&m, &e, context, 0, 0);
    return used_bin(m.messages_by_context);
}

static inline size_t bin_of_source(uint32_t context, int32_t source)
{
    struct weft_matcher m;
    struct weft_match_message e;

    weft_match_init(&m);
    store(&m, &e, context, source, 0);
    return used_bin(m.messages_by_source);
}

static inline size_t bin_of_tag(uint32_t context, int32_t source, int32_t tag)
{
    struct weft_matcher m;
    struct weft_match_message e;

    weft_match_init(&m);
    store(&m, &e, context, source, tag);
    return used_bin(m.messages_by_tag.heads);
}

/* The first tag above after whose messages from a source in a context go to bin. */
static inline int32_t tag_in_bin(uint32_t context, int32_t source, size_t bin, int32_t after)
{
    while (bin_of_tag(context, source, ++after) != bin)
        ;
    return after;
}

/* The first context above after that shares its bin with context. */
static inline uint32_t colliding_context(uint32_t context, uint32_t after)
{
    size_t bin = bin_of_context(context);

    while (bin_of_context(++after) != bin)
        ;
    return after;
}

/* The first source above after whose messages in context go to bin. */
static inline int32_t source_in_bin(uint32_t context, size_t bin, int32_t after)
{
    while (bin_of_source(context, ++after) != bin)
        ;
    return after;
}

/* The first context above after in which messages from source go to bin. */
static inline uint32_t context_in_bin(int32_t source, size_t bin, uint32_t after)
{
    while (bin_of_source(++after, source) != bin)
        ;
    return after;
}

struct seen {
    const struct weft_match_message *message[256];
    size_t count;
};

static inline void note(void *arg, struct weft_match_message *message)
{
    struct seen *seen = arg;

    assert_true(seen->count < sizeof seen->message / sizeof seen->message[0]);
    seen->message[seen->count++] = message;
}

#endif
