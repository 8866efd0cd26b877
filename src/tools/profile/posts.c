// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages, long calls and absences as a rank keeps them, in lists of fixed sizes: see messages.h.
 */
#include "tools/profile/messages.h"
#include "core/base/assert.h"

#include <string.h>

enum {
    CHANNELS = 4096,      /* of each direction; a power of 2 */
    CHANNELS_USED = 3072, /* at most: so that searches end soon */
    POSTS = 32768,
    LONGS = 16384,
    QUERIES = 32768,
    QUERIES_OF_CALL = 1024, /* at most */
    ABSENCES = 16384,
    TRANSFERS_RANKS = 32768, /* 512 KiB */
    LOOKS_BACK = 5           /* microseconds: below it no wait is looked for */
};

struct profile_messages profile_messages;

static struct {
    struct profile_channel channels[PROFILE_ENDS][CHANNELS];
    int channels_used[PROFILE_ENDS];
    struct profile_post posts[PROFILE_ENDS][POSTS];
    struct profile_long longs[LONGS];
    struct profile_query queries[QUERIES];
    struct profile_absence absences[ABSENCES];
    uint64_t *transfers[PROFILE_ENDS]; /* of each rank: ticks at which the last one ended */
} kept;

void profile_posts_begin(void)
{
    struct profile_messages *m = &profile_messages;
    const uint64_t least = profile.ticks_of_us * LOOKS_BACK;
    for (int end = 0; end < PROFILE_ENDS; end++) {
        m->gap[end] = least;
        m->post[end] = kept.posts[end];
    }
    for (int end = 0; end < PROFILE_ENDS && profile.size <= TRANSFERS_RANKS; end++)
        kept.transfers[end] = weft_interpose_allocate((size_t)profile.size, sizeof(uint64_t));
    m->least = m->least_absence = least;
    m->longest = kept.longs;
    m->query = kept.queries;
    m->absence = kept.absences;
}

/* ---- Channels */

struct profile_channel *profile_channel_of(enum profile_end end, uint64_t key)
{
    unsigned i = (unsigned)(key >> 20) % CHANNELS;
    struct profile_channel *channel = &kept.channels[end][i];
    weft_assert(key && kept.channels_used[end] <= CHANNELS_USED);
    while (channel->key && channel->key != key) {
        i = (i + 1) % CHANNELS;
        channel = &kept.channels[end][i];
    }
    if (channel->key)
        return channel;
    if (kept.channels_used[end] == CHANNELS_USED) {
        profile_messages.unnumbered++;
        return NULL;
    }
    kept.channels_used[end]++;
    channel->key = key;
    return channel;
}

/* Doubles the gap until half of the list is free. Each channel keeps one post at least, and the
 * channels are fewer than half of the list. */
static void thin_posts(enum profile_end end)
{
    _Static_assert(CHANNELS_USED < POSTS / 2, "the first posts of all channels leave space");
    int *n = &profile_messages.n[end];
    struct profile_post *posts = kept.posts[end];
    while (*n > POSTS / 2) {
        int left = 0;
        profile_messages.gap[end] *= 2;
        for (int i = 0; i < CHANNELS; i++)
            kept.channels[end][i].due = 0;
        for (int i = 0; i < *n; i++) {
            struct profile_channel *channel = profile_channel_of(end, posts[i].key);
            if (posts[i].ticks < channel->due)
                continue;
            channel->due = posts[i].ticks + profile_messages.gap[end];
            posts[left++] = posts[i];
        }
        *n = left;
    }
}

void profile_post_keep(enum profile_end end, struct profile_channel *channel, uint64_t ticks,
                       uint32_t bytes)
{
    if (profile_messages.n[end] == POSTS)
        thin_posts(end);
    channel->due = ticks + profile_messages.gap[end];
    weft_assert(profile_messages.n[end] < POSTS);
    kept.posts[end][profile_messages.n[end]++] =
        (struct profile_post){.key = channel->key, .ticks = ticks, .n = channel->n, .bytes = bytes};
}

uint32_t profile_post_next(enum profile_end end, uint64_t key)
{
    const struct profile_channel *channel = profile_channel_of(end, key);
    return channel ? channel->n : 0;
}

/* ---- Ends of rendezvous */

void profile_transfer_ended(enum profile_end end, int rank)
{
    if (kept.transfers[end] && rank >= 0 && rank < profile.size)
        __atomic_store_n(&kept.transfers[end][rank], profile_ticks(), __ATOMIC_RELAXED);
}

uint64_t profile_transfer_end(enum profile_end end, int rank)
{
    weft_assert(rank >= 0 && rank < profile.size);
    return kept.transfers[end] ? __atomic_load_n(&kept.transfers[end][rank], __ATOMIC_RELAXED) : 0;
}

/* ---- Calls that took long */

void profile_longs_thin(int space)
{
    struct profile_messages *m = &profile_messages;
    while (m->longs > LONGS / 2 || m->queries > space) {
        int longs = 0, queries = 0;
        m->least *= 2;
        for (int i = 0; i < m->longs; i++) {
            struct profile_long call = kept.longs[i];
            weft_assert(queries <= call.first && call.first + call.queries <= m->queries);
            if (call.ticks < m->least)
                continue;
            memmove(kept.queries + queries, kept.queries + call.first,
                    (size_t)call.queries * sizeof *kept.queries);
            call.first = queries;
            queries += call.queries;
            kept.longs[longs++] = call;
        }
        m->longs = longs;
        m->queries = queries;
    }
}

void profile_long_keep(struct profile_slot *slot, uint64_t begin, uint64_t ticks)
{
    struct profile_messages *m = &profile_messages;
    if (m->longs == LONGS || m->queries > QUERIES - QUERIES_OF_CALL)
        profile_longs_thin(QUERIES / 2);
    weft_assert(m->longs < LONGS && m->queries <= QUERIES - QUERIES_OF_CALL);
    m->open = &kept.longs[m->longs];
    *m->open =
        (struct profile_long){.slot = slot, .begin = begin, .ticks = ticks, .first = m->queries};
}

void profile_long_ask(const struct profile_query *query)
{
    struct profile_long *open = profile_messages.open;
    if (!open || open->queries == QUERIES_OF_CALL)
        return;
    weft_assert(open->first + open->queries == profile_messages.queries);
    open->queries++;
    kept.queries[profile_messages.queries++] = *query;
}

void profile_long_close(void)
{
    if (profile_messages.open->queries)
        profile_messages.longs++;
    profile_messages.open = NULL;
}

/* ---- Absences */

/* Doubles the threshold until half of the list is free. */
static void thin_absences(void)
{
    struct profile_messages *m = &profile_messages;
    while (m->absences > ABSENCES / 2) {
        int n = 0;
        m->least_absence *= 2;
        for (int i = 0; i < m->absences; i++)
            if (kept.absences[i].back - kept.absences[i].left >= m->least_absence)
                kept.absences[n++] = kept.absences[i];
        m->absences = n;
    }
}

void profile_absence_add(uint64_t back)
{
    struct profile_messages *m = &profile_messages;
    if (m->absences == ABSENCES)
        thin_absences();
    weft_assert(m->absences < ABSENCES && m->left <= back);
    if (back - m->left >= m->least_absence)
        kept.absences[m->absences++] = (struct profile_absence){m->left, back};
}
