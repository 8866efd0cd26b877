// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collectives through shared memory in chunks: a rank posts its data to its own slots, and copies
 * or combines the chunks of others out of theirs.
 */
#include "core/coll/shared_internal.h"

#include <string.h>

/* The bytes of a block in a chunk. */
static inline size_t within(struct weft_elements block, size_t at, size_t length)
{
    size_t bytes = weft_elements_bytes(block);
    return at < bytes ? weft_shared_least(bytes - at, length) : 0;
}

/* Trials choose how long chunks are copied, as between any two processes (core/base/copy_tuning.h),
 * by a rank that only posts, or if one other rank reads. There is a choice for calls with one chunk
 * and one for calls with several, during which both ranks copy. Other collectives of more ranks
 * gain nothing. */
enum { TUNED_FROM = 4 << 10 };

static struct weft_area_tuning *tuning_of(const struct weft_shared_call *c, size_t length)
{
    bool tuned = length >= TUNED_FROM && (c->n == 2 || c->source == WEFT_SHARED_NOBODY);
    return tuned ? &c->area->tuning[c->longest > length] : NULL;
}

static void copy_in(struct weft_elements block, size_t at, unsigned char *data, size_t bytes,
                    bool past)
{
    const char *run = past ? weft_datatype_run(block.type, block.at, at + bytes) : NULL;
    if (run) {
        weft_copy_past(data, run + at, bytes);
        weft_copied_past();
    } else {
        weft_datatype_pack(block.type, block.at, at, data, bytes);
    }
}

static bool post_chunk(struct weft_shared_call *c, uint64_t stamp, size_t at, size_t length)
{
    int blocks = c->per_rank ? c->n : 1;
    size_t bytes = length * (size_t)blocks;
    struct weft_area_slot *slot = weft_shared_reserve(c, stamp, bytes);
    if (weft_unlikely(!slot))
        return false;
    unsigned char *data = weft_area_data(c->area, c->rank, stamp, bytes, c->buffers);
    struct weft_area_tuning *tuning = tuning_of(c, length);
    bool past = tuning && weft_copy_tuning_second(&tuning->choice);
    for (int i = 0; i < blocks; i++, data += length) {
        struct weft_elements block = weft_block(c->give, i);
        if (!c->per_rank || i != c->rank)
            copy_in(block, at, data, within(block, at, length), past);
    }
    weft_shared_post(c, slot, stamp);
    if (tuning)
        weft_area_note_copy(tuning, length);
    return true;
}

/* ---- Taking */

/* The data that this rank takes of those that a rank has posted with a stamp. */
static inline const unsigned char *posted(const struct weft_shared_call *c, uint64_t stamp,
                                          int from, size_t length)
{
    size_t blocks = c->per_rank ? (size_t)c->n : 1;
    return weft_area_data(c->area, from, stamp, length * blocks, c->buffers) +
           (c->per_rank ? (size_t)c->rank * length : 0);
}

static bool take_chunk(struct weft_shared_call *c, uint64_t stamp, int from, size_t at,
                       size_t length)
{
    struct weft_elements location = weft_shared_target(c, from);
    enum weft_shared_wait post = weft_shared_await_post(c, stamp, from);
    __builtin_prefetch(weft_area_slot(c->area, from, stamp + 1)); /* of the next call, too */
    if (post == WEFT_SHARED_REACHED)
        weft_datatype_unpack(location.type, location.at, at, posted(c, stamp, from, length),
                             within(location, at, length));
    return post != WEFT_SHARED_LATER;
}

/* ---- Reducing */

static bool reduce_chunk(struct weft_shared_call *c, uint64_t stamp, size_t at, size_t length)
{
    struct weft_operands o;
    struct weft_elements own = weft_block(c->give, c->per_rank ? c->rank : 0);
    enum weft_shared_wait posts = weft_shared_await_posts(c, stamp);
    if (posts != WEFT_SHARED_REACHED)
        return posts == WEFT_SHARED_NEVER;
    weft_operands_describe(&o, c->args);
    for (int i = 0; i < c->n; i++)
        o.at[i] = i == c->rank ? (unsigned char *)own.at + at : posted(c, stamp, i, length);
    weft_operands_reduce(&o, (unsigned char *)c->args->out.at + at, within(own, at, length));
    return true;
}

void weft_shared_copy_own(const struct weft_shared_call *c)
{
    const struct weft_coll_args *args = c->args;
    struct weft_elements out = {args->out.at, args->out.count, args->out.type};
    if (args->kind == WEFT_COLL_SCATTER && c->rank == args->root)
        weft_elements_copy(weft_block(&args->in, c->rank), out);
    else if (c->source == WEFT_SHARED_ALL)
        weft_elements_copy(weft_block(c->give, c->per_rank ? c->rank : 0),
                           weft_block(&args->out, c->rank));
}

/* ---- In chunks */

bool weft_shared_synchronize(struct weft_shared_call *c)
{
    if (c->next == c->stamp) {
        struct weft_area_slot *slot = weft_shared_reserve(c, c->next, 0);
        if (weft_unlikely(!slot))
            return c->over;
        weft_shared_post(c, slot, c->next++);
    }
    return weft_shared_await_posts(c, c->stamp) != WEFT_SHARED_LATER;
}

static bool take_chunks(struct weft_shared_call *c, uint64_t stamp, size_t at, size_t length)
{
    if (c->reduces)
        return reduce_chunk(c, stamp, at, length);
    if (c->source != WEFT_SHARED_ALL)
        return take_chunk(c, stamp, c->source, at, length);
    for (; c->taken < c->n; c->taken++)
        if (!take_chunk(c, stamp, (c->rank + c->taken) % c->n, at, length))
            return false;
    c->taken = 1;
    if (!c->over && !c->error)
        weft_shared_is_done(c, stamp);
    return true;
}

bool weft_shared_run_by_chunks(struct weft_shared_call *c)
{
    size_t most = weft_shared_chunk(c);
    for (;; c->now++, c->at += most) {
        for (; c->posts && c->next < c->now + WEFT_SHARED_AHEAD &&
               (c->ahead < c->longest || !c->ahead);
             c->next++, c->ahead += most)
            if (!post_chunk(c, c->next, c->ahead, weft_shared_least(c->longest - c->ahead, most)))
                return c->over;
        if (c->source != WEFT_SHARED_NOBODY &&
            !take_chunks(c, c->now, c->at, weft_shared_least(c->longest - c->at, most)))
            return false;
        if (c->at + most >= c->longest || c->over)
            return true;
        weft_shared_set_done(c, c->now);
    }
}
