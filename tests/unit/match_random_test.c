// SPDX-License-Identifier: BSD-3-Clause
/*
 * The software matcher against a model (two arrays scanned from the front) under random schedules,
 * with the invariants of match.h checked by a walk over every list after every operation.
 *
 * WEFT_TEST_SEED=n repeats the schedules of a run that printed n.
 */
#include "match_tools.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- the model: what posted and arrived, oldest first, scanned from the front ---- */

enum { POOL = 40 }; /* entries of each kind a schedule may have queued */

struct model_entry {
    uint32_t context;
    int32_t source, tag;
    int slot; /* which object of the pool it is */
};

struct model {
    struct model_entry posted[POOL], arrived[POOL];
    size_t posted_count, arrived_count;
};

static bool model_matches(const struct model_entry *receive, const struct model_entry *message)
{
    return receive->context == message->context &&
           (receive->source == message->source || receive->source == ANY_SOURCE) &&
           (receive->tag == message->tag || receive->tag == ANY_TAG);
}

static void model_remove(struct model_entry *entries, size_t *count, size_t at)
{
    memmove(&entries[at], &entries[at + 1], (--*count - at) * sizeof *entries);
}

/* Slot of the receive that gets the message, taken out; -1 for none. */
static int model_arrive(struct model *model, const struct model_entry *message)
{
    for (size_t i = 0; i < model->posted_count; i++) {
        if (model_matches(&model->posted[i], message)) {
            int slot = model->posted[i].slot;

            model_remove(model->posted, &model->posted_count, i);
            return slot;
        }
    }
    return -1;
}

/* Slot of the message that the receive would take, taken out if asked; -1 for none. */
static int model_find(struct model *model, const struct model_entry *receive, bool take)
{
    for (size_t i = 0; i < model->arrived_count; i++) {
        if (model_matches(receive, &model->arrived[i])) {
            int slot = model->arrived[i].slot;

            if (take)
                model_remove(model->arrived, &model->arrived_count, i);
            return slot;
        }
    }
    return -1;
}

static bool model_withdraw(struct model *model, int slot)
{
    for (size_t i = 0; i < model->posted_count; i++) {
        if (model->posted[i].slot == slot) {
            model_remove(model->posted, &model->posted_count, i);
            return true;
        }
    }
    return false;
}

/* ---- one random schedule: the matcher and the model side by side ---- */

struct schedule {
    struct weft_matcher m;
    struct model model;
    struct weft_match_receive receive[POOL];
    struct weft_match_message message[POOL];
    uint64_t random;
    uint32_t contexts[4];
    int32_t sources[6], tags[4];
    unsigned context_count, source_count, tag_count;
    unsigned wildcard_percent, arrive_percent;
};

/* splitmix64, so that a seed means the same schedule everywhere. */
static unsigned pick(struct schedule *s, unsigned below)
{
    uint64_t z = s->random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (unsigned)((z ^ (z >> 31)) >> 33) % below;
}

static struct model_entry pick_message(struct schedule *s)
{
    return (struct model_entry){.context = s->contexts[pick(s, s->context_count)],
                                .source = s->sources[pick(s, s->source_count)],
                                .tag = s->tags[pick(s, s->tag_count)]};
}

static struct model_entry pick_receive(struct schedule *s)
{
    struct model_entry r = pick_message(s);

    if (pick(s, 100) < s->wildcard_percent)
        r.source = ANY_SOURCE;
    if (pick(s, 100) < s->wildcard_percent)
        r.tag = ANY_TAG;
    return r;
}

static int free_receive(const struct schedule *s)
{
    for (int i = 0; i < POOL; i++) {
        if (!s->receive[i].queued)
            return i;
    }
    return -1;
}

static int free_message(const struct schedule *s)
{
    for (int i = 0; i < POOL; i++) {
        if (!s->message[i].queued)
            return i;
    }
    return -1;
}

static void do_arrive(struct schedule *s)
{
    struct model_entry e = pick_message(s);
    int slot = free_message(s), winner;
    struct weft_match_receive *got;

    if (slot < 0)
        return;
    winner = model_arrive(&s->model, &e);
    got = weft_match_arrive(&s->m, e.context, e.source, e.tag);
    assert_ptr_equal(got, winner < 0 ? NULL : &s->receive[winner]);
    if (got) {
        assert_false(got->queued);
        return;
    }
    s->message[slot] =
        (struct weft_match_message){.context = e.context, .source = e.source, .tag = e.tag};
    weft_match_store(&s->m, &s->message[slot]);
    e.slot = slot;
    s->model.arrived[s->model.arrived_count++] = e;
}

/* A probe: looks, and takes nothing. */
static void do_probe(struct schedule *s)
{
    struct model_entry r = pick_receive(s);
    int slot = model_find(&s->model, &r, false);

    assert_ptr_equal(weft_match_find(&s->m, r.context, r.source, r.tag),
                     slot < 0 ? NULL : &s->message[slot]);
}

/* A receive, or with post_if_none false a matched probe. */
static void do_receive(struct schedule *s, bool post_if_none)
{
    struct model_entry r = pick_receive(s);
    int slot = free_receive(s), found;
    struct weft_match_message *got;

    if (slot < 0)
        return;
    found = model_find(&s->model, &r, true);
    got = weft_match_find(&s->m, r.context, r.source, r.tag);
    assert_ptr_equal(got, found < 0 ? NULL : &s->message[found]);
    if (got) {
        weft_match_take(&s->m, got);
        assert_false(got->queued);
    } else if (post_if_none) {
        s->receive[slot] =
            (struct weft_match_receive){.context = r.context, .source = r.source, .tag = r.tag};
        weft_match_post(&s->m, &s->receive[slot]);
        r.slot = slot;
        s->model.posted[s->model.posted_count++] = r;
    }
}

static void do_withdraw(struct schedule *s)
{
    int slot = (int)pick(s, POOL);
    bool expected = model_withdraw(&s->model, slot);

    assert_int_equal(weft_match_withdraw(&s->m, &s->receive[slot]), expected);
}

static void do_report(struct schedule *s)
{
    uint32_t context = s->contexts[pick(s, s->context_count)];
    struct seen one = {.count = 0}, all = {.count = 0};
    size_t at = 0;

    weft_match_each_message(&s->m, context, note, &one);
    for (size_t i = 0; i < s->model.arrived_count; i++) {
        if (s->model.arrived[i].context == context) {
            assert_true(at < one.count);
            assert_ptr_equal(one.message[at++], &s->message[s->model.arrived[i].slot]);
        }
    }
    assert_int_equal(at, one.count);
    weft_match_each_message(&s->m, WEFT_MATCH_ALL_CONTEXTS, note, &all);
    assert_int_equal(all.count, s->model.arrived_count);
    for (size_t i = 0; i < all.count; i++) {
        for (size_t j = 0; j < i; j++)
            assert_ptr_not_equal(all.message[i], all.message[j]);
    }
}

/* ---- the walk that checks match.h's invariants on the lists themselves ---- */

static size_t bins_of(const struct weft_match_bins *bins)
{
    return (size_t)1 << (32 - bins->shift);
}

/* Plain ifs: one assert per link would cost more than everything else. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("a queue is broken: %s", #condition);                                         \
    } while (0)

/* What a list of receives holds: a source or any, a tag or any; any tag does not look at the tag.
 */
enum kind { EXACT, OF_ANY_TAG, OF_ANY_SOURCE };

static size_t walk_receives(struct schedule *s, struct weft_match_link *heads, size_t bins,
                            enum kind kind, bool *seen)
{
    size_t count = 0;

    for (size_t bin = 0; bin < bins; bin++) {
        uint64_t order = 0;

        for (struct weft_match_link *l = heads[bin].next; l != &heads[bin]; l = l->next) {
            struct weft_match_receive *r = (void *)((char *)l - offsetof(typeof(*r), link));

            CHECK(r >= s->receive && r < s->receive + POOL);
            CHECK(l->prev->next == l && l->next->prev == l);
            CHECK(r->queued);
            CHECK((r->source == ANY_SOURCE) == (kind == OF_ANY_SOURCE));
            CHECK(kind == OF_ANY_SOURCE || (r->tag == ANY_TAG) == (kind == OF_ANY_TAG));
            CHECK(l->prev == &heads[bin] || r->order > order);
            CHECK(!seen[r - s->receive]);
            seen[r - s->receive] = true;
            order = r->order;
            count++;
        }
    }
    return count;
}

static size_t walk_express(struct schedule *s, bool *seen)
{
    CHECK(s->m.head <= s->m.tail && s->m.tail <= s->m.express + WEFT_MATCH_EXPRESS);
    CHECK(s->m.head == s->m.tail || (s->m.binned == 0 && s->m.wild == 0));
    for (struct weft_match_receive **at = s->m.head; at < s->m.tail; at++) {
        struct weft_match_receive *r = *at;

        CHECK(r >= s->receive && r < s->receive + POOL);
        CHECK(r->queued && r->source != ANY_SOURCE && r->tag != ANY_TAG);
        CHECK(!seen[r - s->receive]);
        seen[r - s->receive] = true;
    }
    return (size_t)(s->m.tail - s->m.head);
}

static size_t walk_messages(struct schedule *s, struct weft_match_link *heads, size_t bins,
                            size_t offset, bool *seen)
{
    size_t count = 0;

    for (size_t bin = 0; bin < bins; bin++) {
        for (struct weft_match_link *l = heads[bin].next; l != &heads[bin]; l = l->next) {
            struct weft_match_message *e = (void *)((char *)l - offset);

            CHECK(e >= s->message && e < s->message + POOL);
            CHECK(l->prev->next == l && l->next->prev == l);
            CHECK(e->queued);
            CHECK(!seen[e - s->message]);
            seen[e - s->message] = true;
            count++;
        }
    }
    return count;
}

static void check_invariants(struct schedule *s)
{
    bool receives[POOL] = {false}, by_source[POOL] = {false}, by_context[POOL] = {false};
    bool by_tag[POOL] = {false};
    size_t posted =
        walk_express(s, receives) +
        walk_receives(s, s->m.posted_by_tag.heads, bins_of(&s->m.posted_by_tag), EXACT, receives) +
        walk_receives(s, s->m.posted_by_source, WEFT_MATCH_BINS, OF_ANY_TAG, receives) +
        walk_receives(s, s->m.posted_any, WEFT_MATCH_BINS, OF_ANY_SOURCE, receives);
    size_t in_tag = walk_messages(s, s->m.messages_by_tag.heads, bins_of(&s->m.messages_by_tag),
                                  offsetof(struct weft_match_message, by_tag), by_tag);
    size_t in_source = walk_messages(s, s->m.messages_by_source, WEFT_MATCH_BINS,
                                     offsetof(struct weft_match_message, by_source), by_source);
    size_t in_context = walk_messages(s, s->m.messages_by_context, WEFT_MATCH_BINS,
                                      offsetof(struct weft_match_message, by_context), by_context);

    CHECK(posted == weft_match_posted(&s->m) && posted == s->model.posted_count);
    CHECK(in_source == s->m.unexpected && in_source == s->model.arrived_count);
    CHECK(in_context == in_source && in_tag == in_source);
    for (int i = 0; i < POOL; i++) {
        CHECK(s->receive[i].queued == receives[i]);
        CHECK(s->message[i].queued == by_source[i] && by_source[i] == by_context[i]);
        CHECK(by_tag[i] == by_source[i]);
    }
    for (size_t i = 0; i < s->model.posted_count; i++) {
        for (size_t j = 0; j < s->model.arrived_count; j++)
            CHECK(!model_matches(&s->model.posted[i], &s->model.arrived[j]));
    }
}

/* ---- the random runs ---- */

enum { SCHEDULES = 64, OPERATIONS = 20000 };

static uint64_t first_seed(void)
{
    const char *given = getenv("WEFT_TEST_SEED");
    struct timespec now;

    if (given && *given)
        return strtoull(given, NULL, 0);
    clock_gettime(CLOCK_REALTIME, &now);
    return ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec) >> 10;
}

/* Contexts that share a bin; contexts in which one and the same source shares a bin; sources that
 * share one with each other within a context and across contexts; tags of one source that share a
 * bin, until there are more bins; and some that share none. */
static void choose_envelopes(struct schedule *s)
{
    size_t bin;

    s->contexts[0] = pick(s, 1000);
    s->sources[0] = (int32_t)pick(s, 1000);
    bin = bin_of_source(s->contexts[0], s->sources[0]);
    s->contexts[1] = colliding_context(s->contexts[0], s->contexts[0]);
    s->contexts[2] = context_in_bin(s->sources[0], bin, s->contexts[0]);
    s->contexts[3] = s->contexts[0] + 1;
    s->sources[1] = source_in_bin(s->contexts[0], bin, s->sources[0]);
    s->sources[2] = source_in_bin(s->contexts[1], bin, s->sources[0]);
    s->sources[3] = source_in_bin(s->contexts[3], bin, s->sources[0]);
    s->sources[4] = s->sources[0] + 1;
    s->sources[5] = 0x7ffffffe;
    s->tags[0] = (int32_t)pick(s, 1000);
    bin = bin_of_tag(s->contexts[0], s->sources[0], s->tags[0]);
    s->tags[1] = tag_in_bin(s->contexts[0], s->sources[0], bin, s->tags[0]);
    s->tags[2] = tag_in_bin(s->contexts[0], s->sources[0], bin, s->tags[1]);
    s->tags[3] = 0x7fffffff;
    s->context_count = 1 + pick(s, 4);
    s->source_count = 1 + pick(s, 6);
    s->tag_count = 1 + pick(s, 4);
    s->wildcard_percent = pick(s, 60);
    s->arrive_percent = 25 + pick(s, 20);
}

/* More receives and messages of another context than the bins of tags take, which therefore
 * double with those of the schedule in them; then the others leave. */
static void fill_bins(struct weft_matcher *m)
{
    enum { FILLING = 5 * WEFT_MATCH_BINS, CONTEXT = 0x7fffffff };
    static struct weft_match_receive receives[FILLING];
    static struct weft_match_message messages[FILLING];

    weft_match_use_bins(m);
    for (int i = 0; i < FILLING; i++) {
        receives[i] = (struct weft_match_receive){.context = CONTEXT, .source = 0, .tag = i};
        weft_match_post(m, &receives[i]);
        store(m, &messages[i], CONTEXT, 1, i);
    }
    CHECK(m->posted_by_tag.heads != m->posted_by_tag.first);
    CHECK(m->messages_by_tag.heads != m->messages_by_tag.first);
    for (int i = 0; i < FILLING; i++) {
        CHECK(weft_match_withdraw(m, &receives[i]));
        weft_match_take(m, &messages[i]);
    }
}

static void run_schedule(struct schedule *s, uint64_t seed)
{
    memset(s, 0, sizeof *s);
    s->random = seed;
    choose_envelopes(s);
    weft_match_init(&s->m);
    for (int i = 0; i < OPERATIONS; i++) {
        unsigned dice = pick(s, 100);

        if (i == OPERATIONS / 2)
            fill_bins(&s->m);
        if (dice < s->arrive_percent)
            do_arrive(s);
        else if (dice < 75)
            do_receive(s, true);
        else if (dice < 80)
            do_receive(s, false);
        else if (dice < 90)
            do_probe(s);
        else if (dice < 95)
            do_withdraw(s);
        else
            do_report(s);
        check_invariants(s);
    }
    weft_match_close(&s->m);
}

static void random_schedules_agree_with_the_model(void **state)
{
    static struct schedule schedule;
    uint64_t seed = first_seed();

    (void)state;
    print_message("WEFT_TEST_SEED=%llu: %d schedules of %d operations\n", (unsigned long long)seed,
                  SCHEDULES, OPERATIONS);
    for (int i = 0; i < SCHEDULES; i++)
        run_schedule(&schedule, seed + (uint64_t)i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_schedules_agree_with_the_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
