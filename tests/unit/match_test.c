// SPDX-License-Identifier: BSD-3-Clause
/*
 * The software matcher's promises, one by one. Random schedules are in match_random_test.c.
 */
#include "match_tools.h"

static void post(struct weft_matcher *m, struct weft_match_receive *r, uint32_t context,
                 int32_t source, int32_t tag)
{
    *r = (struct weft_match_receive){.context = context, .source = source, .tag = tag};
    assert_null(weft_match_find(m, context, source, tag));
    weft_match_post(m, r);
}

/* ---- promises, one by one ---- */

static void a_message_that_nothing_matches_changes_nothing(void **state)
{
    struct weft_matcher m;
    struct weft_match_receive r;

    (void)state;
    weft_match_init(&m);
    assert_null(weft_match_arrive(&m, 1, 2, 3));
    post(&m, &r, 1, 2, 3);
    assert_null(weft_match_arrive(&m, 1, 2, 4));
    assert_null(weft_match_arrive(&m, 1, 3, 3));
    assert_null(weft_match_arrive(&m, 2, 2, 3));
    assert_int_equal(weft_match_posted(&m), 1);
    assert_int_equal(m.unexpected, 0);
    assert_true(r.queued);
}

static void the_receive_posted_first_gets_the_message(void **state)
{
    struct weft_matcher m;
    struct weft_match_receive directed, any, directed2, any2;

    (void)state;
    weft_match_init(&m);
    post(&m, &directed, 7, 3, 5);
    post(&m, &any, 7, ANY_SOURCE, ANY_TAG);
    post(&m, &directed2, 7, 3, ANY_TAG);
    post(&m, &any2, 7, ANY_SOURCE, 5);
    assert_ptr_equal(weft_match_arrive(&m, 7, 3, 5), &directed);
    assert_ptr_equal(weft_match_arrive(&m, 7, 3, 5), &any);
    assert_ptr_equal(weft_match_arrive(&m, 7, 3, 5), &directed2);
    assert_ptr_equal(weft_match_arrive(&m, 7, 3, 5), &any2);
    assert_int_equal(weft_match_posted(&m), 0);
    assert_false(directed.queued || any.queued || directed2.queued || any2.queued);
}

static void a_receive_that_does_not_match_lets_later_ones_through(void **state)
{
    struct weft_matcher m;
    struct weft_match_receive other_tag, other_source, fits;

    (void)state;
    weft_match_init(&m);
    post(&m, &other_tag, 7, ANY_SOURCE, 6);
    post(&m, &other_source, 7, 4, ANY_TAG);
    post(&m, &fits, 7, ANY_SOURCE, ANY_TAG);
    assert_ptr_equal(weft_match_arrive(&m, 7, 3, 5), &fits);
    assert_int_equal(weft_match_posted(&m), 2);
}

static void messages_of_one_source_are_taken_in_the_order_they_arrived(void **state)
{
    struct weft_matcher m;
    struct weft_match_message e[4];

    (void)state;
    weft_match_init(&m);
    for (int i = 0; i < 4; i++)
        store(&m, &e[i], 1, 2, i & 1);
    for (int i = 0; i < 4; i++) {
        struct weft_match_message *found = weft_match_find(&m, 1, i < 2 ? 2 : ANY_SOURCE, ANY_TAG);

        assert_ptr_equal(found, &e[i]);
        weft_match_take(&m, found);
        assert_false(e[i].queued);
    }
    assert_null(weft_match_find(&m, 1, ANY_SOURCE, ANY_TAG));
    assert_int_equal(m.unexpected, 0);
}

static void any_source_takes_the_oldest_message_whoever_sent_it(void **state)
{
    struct weft_matcher m;
    struct weft_match_message from_nine, from_two;

    (void)state;
    weft_match_init(&m);
    store(&m, &from_nine, 1, 9, 5);
    store(&m, &from_two, 1, 2, 5);
    assert_ptr_equal(weft_match_find(&m, 1, ANY_SOURCE, 5), &from_nine);
    assert_ptr_equal(weft_match_find(&m, 1, 2, 5), &from_two);
    assert_null(weft_match_find(&m, 1, ANY_SOURCE, 6));
}

static void a_probe_leaves_the_message_in_place(void **state)
{
    struct weft_matcher m;
    struct weft_match_message first, second;

    (void)state;
    weft_match_init(&m);
    store(&m, &first, 1, 2, 3);
    store(&m, &second, 1, 2, 3);
    for (int i = 0; i < 3; i++)
        assert_ptr_equal(weft_match_find(&m, 1, 2, 3), &first);
    assert_int_equal(m.unexpected, 2);
    assert_true(first.queued);
}

static void a_message_taken_from_the_middle_leaves_the_others_in_order(void **state)
{
    struct weft_matcher m;
    struct weft_match_message e[3];

    (void)state;
    weft_match_init(&m);
    for (int i = 0; i < 3; i++)
        store(&m, &e[i], 1, 2, i);
    weft_match_take(&m, weft_match_find(&m, 1, 2, 1));
    assert_false(e[1].queued);
    assert_ptr_equal(weft_match_find(&m, 1, 2, ANY_TAG), &e[0]);
    weft_match_take(&m, &e[0]);
    assert_ptr_equal(weft_match_find(&m, 1, ANY_SOURCE, ANY_TAG), &e[2]);
}

static void a_withdrawn_receive_gets_nothing(void **state)
{
    struct weft_matcher m;
    struct weft_match_receive directed, any, last;

    (void)state;
    weft_match_init(&m);
    post(&m, &directed, 1, 2, 3);
    post(&m, &any, 1, ANY_SOURCE, 3);
    post(&m, &last, 1, 2, ANY_TAG);
    assert_true(weft_match_withdraw(&m, &directed));
    assert_true(weft_match_withdraw(&m, &any));
    assert_int_equal(weft_match_posted(&m), 1);
    assert_ptr_equal(weft_match_arrive(&m, 1, 2, 3), &last);
}

static void withdrawing_what_is_not_queued_says_so(void **state)
{
    struct weft_matcher m;
    struct weft_match_receive r;

    (void)state;
    weft_match_init(&m);
    post(&m, &r, 1, 2, 3);
    assert_ptr_equal(weft_match_arrive(&m, 1, 2, 3), &r);
    assert_false(weft_match_withdraw(&m, &r));
    post(&m, &r, 1, 2, 3);
    assert_true(weft_match_withdraw(&m, &r));
    assert_false(weft_match_withdraw(&m, &r));
    assert_int_equal(weft_match_posted(&m), 0);
}

static void contexts_and_sources_that_share_a_bin_stay_apart(void **state)
{
    uint32_t c = 5, d = colliding_context(c, c);
    int32_t s = 0, t = source_in_bin(c, bin_of_source(c, s), s);
    int32_t u = source_in_bin(d, bin_of_source(c, s), -1);
    struct weft_matcher m;
    struct weft_match_receive any_d, from_t, from_u;
    struct weft_match_message e;

    (void)state;
    weft_match_init(&m);
    post(&m, &any_d, d, ANY_SOURCE, 1);
    post(&m, &from_t, c, t, ANY_TAG);
    post(&m, &from_u, d, u, ANY_TAG);
    store(&m, &e, c, s, 1);
    assert_null(weft_match_find(&m, d, ANY_SOURCE, ANY_TAG));
    assert_null(weft_match_find(&m, d, u, ANY_TAG));
    assert_null(weft_match_find(&m, c, t, ANY_TAG));
    assert_ptr_equal(weft_match_find(&m, c, s, ANY_TAG), &e);
    assert_ptr_equal(weft_match_arrive(&m, d, u, 2), &from_u);
    assert_ptr_equal(weft_match_arrive(&m, c, t, 2), &from_t);
    assert_ptr_equal(weft_match_arrive(&m, d, u, 1), &any_d);
}

static void one_rank_in_two_contexts_that_share_a_bin_is_two_sources(void **state)
{
    uint32_t c = 5, d = context_in_bin(0, bin_of_source(c, 0), c);
    struct weft_matcher m;
    struct weft_match_receive in_d;
    struct weft_match_message from_c;

    (void)state;
    weft_match_init(&m);
    post(&m, &in_d, d, 0, ANY_TAG);
    store(&m, &from_c, c, 0, 1);
    assert_null(weft_match_find(&m, d, 0, 1));
    assert_ptr_equal(weft_match_arrive(&m, d, 0, 1), &in_d);
}

static void a_report_sees_each_message_of_a_context_once_in_order(void **state)
{
    uint32_t c = 5, d = colliding_context(c, c);
    struct weft_matcher m;
    struct weft_match_message e[4];
    struct seen of_c = {.count = 0}, of_all = {.count = 0}, of_none = {.count = 0};

    (void)state;
    weft_match_init(&m);
    for (int i = 0; i < 4; i++)
        store(&m, &e[i], i & 1 ? d : c, i, i);
    weft_match_each_message(&m, c, note, &of_c);
    weft_match_each_message(&m, WEFT_MATCH_ALL_CONTEXTS, note, &of_all);
    weft_match_each_message(&m, colliding_context(c, d), note, &of_none);
    assert_int_equal(of_c.count, 2);
    assert_ptr_equal(of_c.message[0], &e[0]);
    assert_ptr_equal(of_c.message[1], &e[2]);
    assert_int_equal(of_all.count, 4);
    assert_int_equal(of_none.count, 0);
}

/* Every order of kinds: a receive in any of the three lists wins when it is the oldest. */
static void the_oldest_wins_whichever_list_it_is_in(void **state)
{
    static const int32_t kinds[3][2] = {{3, 5}, {3, ANY_TAG}, {ANY_SOURCE, 5}};
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

    (void)state;
    for (int o = 0; o < 6; o++) {
        struct weft_matcher m;
        struct weft_match_receive r[3];

        weft_match_init(&m);
        for (int i = 0; i < 3; i++)
            post(&m, &r[i], 7, kinds[orders[o][i]][0], kinds[orders[o][i]][1]);
        for (int i = 0; i < 3; i++)
            assert_ptr_equal(weft_match_arrive(&m, 7, 3, 5), &r[i]);
    }
}

/* Two of each tag, so that the order within a tag counts; found backwards. */
static void many_tags_of_one_source_are_found_after_the_bins_have_grown(void **state)
{
    enum { TAGS = 20000 };
    static struct weft_matcher m;
    static struct weft_match_receive r[2][TAGS];
    static struct weft_match_message e[2][TAGS];

    (void)state;
    weft_match_init(&m);
    for (int k = 0; k < 2; k++)
        for (int tag = 0; tag < TAGS; tag++)
            post(&m, &r[k][tag], 1, 2, tag);
    assert_true(m.posted_by_tag.heads != m.posted_by_tag.first);
    for (int k = 0; k < 2; k++)
        for (int tag = TAGS - 1; tag >= 0; tag--)
            assert_ptr_equal(weft_match_arrive(&m, 1, 2, tag), &r[k][tag]);
    for (int k = 0; k < 2; k++)
        for (int tag = 0; tag < TAGS; tag++)
            store(&m, &e[k][tag], 1, 2, tag);
    assert_true(m.messages_by_tag.heads != m.messages_by_tag.first);
    assert_ptr_equal(weft_match_find(&m, 1, 2, ANY_TAG), &e[0][0]);
    assert_ptr_equal(weft_match_find(&m, 1, ANY_SOURCE, 7), &e[0][7]);
    for (int k = 0; k < 2; k++)
        for (int tag = TAGS - 1; tag >= 0; tag--) {
            assert_ptr_equal(weft_match_find(&m, 1, 2, tag), &e[k][tag]);
            weft_match_take(&m, &e[k][tag]);
        }
    assert_int_equal(weft_match_posted(&m) + m.unexpected, 0);
    weft_match_close(&m);
    assert_ptr_equal(m.posted_by_tag.heads, m.posted_by_tag.first);
}

/* More receives than the express queue takes, so that it begins anew many times. */
static void receives_and_messages_in_order_stay_in_the_express_queue(void **state)
{
    static struct weft_matcher m;
    struct weft_match_receive r[3];

    (void)state;
    weft_match_init(&m);
    for (int i = 0; i < 3 * WEFT_MATCH_EXPRESS; i++) {
        for (int k = 0; k < 3; k++)
            post(&m, &r[k], 1, 2 + k, 3);
        for (int k = 0; k < 3; k++)
            assert_ptr_equal(weft_match_arrive(&m, 1, 2 + (k + i) % 3, 3), &r[(k + i) % 3]);
        assert_int_equal(m.binned, 0);
    }
}

static void
a_message_far_from_the_first_receive_moves_all_to_the_bins_and_they_come_back(void **state)
{
    enum { COUNT = 100, ROUNDS = 1000 };
    static struct weft_matcher m;
    static struct weft_match_receive r[COUNT];

    (void)state;
    weft_match_init(&m);
    for (int i = 0; i < COUNT; i++)
        post(&m, &r[i], 1, 2, i / 2);
    assert_int_equal(m.binned, 0);
    for (int i = 0; i < COUNT; i += 2) {
        int tag = COUNT / 2 - 1 - i / 2;
        assert_ptr_equal(weft_match_arrive(&m, 1, 2, tag), &r[2 * tag]);
        assert_ptr_equal(weft_match_arrive(&m, 1, 2, tag), &r[2 * tag + 1]);
        assert_ptr_equal(m.head, m.tail);
    }
    for (int i = 0; i < ROUNDS; i++) {
        post(&m, &r[0], 1, 2, 3);
        assert_ptr_equal(weft_match_arrive(&m, 1, 2, 3), &r[0]);
    }
    post(&m, &r[0], 1, 2, 3);
    assert_int_equal(m.binned, 0);
}

static void wildcards_and_withdrawals_see_what_is_in_the_express_queue(void **state)
{
    struct weft_matcher m;
    struct weft_match_receive r[4];

    (void)state;
    weft_match_init(&m);
    for (int i = 0; i < 3; i++)
        post(&m, &r[i], 1, 2, 3);
    assert_true(weft_match_withdraw(&m, &r[1]));
    assert_false(weft_match_withdraw(&m, &r[1]));
    post(&m, &r[3], 1, ANY_SOURCE, 3);
    post(&m, &r[1], 1, 2, 3);
    assert_ptr_equal(m.head, m.tail);
    assert_ptr_equal(weft_match_arrive(&m, 1, 2, 3), &r[0]);
    assert_ptr_equal(weft_match_arrive(&m, 1, 2, 3), &r[2]);
    assert_ptr_equal(weft_match_arrive(&m, 1, 2, 3), &r[3]);
    assert_ptr_equal(weft_match_arrive(&m, 1, 2, 3), &r[1]);
    assert_null(weft_match_arrive(&m, 1, 2, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(receives_and_messages_in_order_stay_in_the_express_queue),
        cmocka_unit_test(
            a_message_far_from_the_first_receive_moves_all_to_the_bins_and_they_come_back),
        cmocka_unit_test(wildcards_and_withdrawals_see_what_is_in_the_express_queue),
        cmocka_unit_test(the_oldest_wins_whichever_list_it_is_in),
        cmocka_unit_test(many_tags_of_one_source_are_found_after_the_bins_have_grown),
        cmocka_unit_test(a_message_that_nothing_matches_changes_nothing),
        cmocka_unit_test(the_receive_posted_first_gets_the_message),
        cmocka_unit_test(a_receive_that_does_not_match_lets_later_ones_through),
        cmocka_unit_test(messages_of_one_source_are_taken_in_the_order_they_arrived),
        cmocka_unit_test(any_source_takes_the_oldest_message_whoever_sent_it),
        cmocka_unit_test(a_probe_leaves_the_message_in_place),
        cmocka_unit_test(a_message_taken_from_the_middle_leaves_the_others_in_order),
        cmocka_unit_test(a_withdrawn_receive_gets_nothing),
        cmocka_unit_test(withdrawing_what_is_not_queued_says_so),
        cmocka_unit_test(contexts_and_sources_that_share_a_bin_stay_apart),
        cmocka_unit_test(one_rank_in_two_contexts_that_share_a_bin_is_two_sources),
        cmocka_unit_test(a_report_sees_each_message_of_a_context_once_in_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
