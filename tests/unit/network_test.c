// SPDX-License-Identifier: BSD-3-Clause
/*
 * The comparison of the networks of nodes on two levels (src/ofi/select/network_compare.h): the
 * result is that of one level, for random lists of nodes, and no node reads more than two square
 * roots of their number.
 */
#include "ofi/select/network_compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MANY = 100000, NETWORKS = 10, SMALL_ROUNDS = 3000 };

/* A job: the lists of its nodes follow from the seed, and one list has network `odd` in a way of
 * its own, so that in large jobs one node decides. */
struct job {
    uint64_t seed;
    int nodes, odd_node;
    bool orderly;     /* all nodes but one have their networks in the same order */
    unsigned missing; /* of 1000 networks of nodes */
    int32_t rank[MANY];
    struct weft_network_summary *summaries; /* by index */
    bool *published;
    int reads;
};

static uint64_t random_of(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* The networks of a node in a random order, most nodes in the same one. */
static void make_list(const struct job *job, int index, struct weft_network_list *list)
{
    uint64_t state = job->seed ^ (uint64_t)index << 20;
    bool odd = index == job->odd_node,
         shuffled = (odd && job->seed % 2 == 0) || (!job->orderly && random_of(&state) % 8 == 0);
    memset(list, 0, sizeof *list);
    list->machine = random_of(&state) % 3 ? (uint64_t)index : 7;
    for (unsigned n = 0; n < NETWORKS; n++) {
        if (random_of(&state) % 1000 < (odd && job->seed % 2 == 0 ? 500 : job->missing))
            continue;
        unsigned at = list->count++;
        struct weft_network network = {.id = 100 + n,
                                       .address = (uint32_t)(random_of(&state) % 100000),
                                       .rank = (uint8_t)(NETWORKS - n / 2),
                                       .poor = odd && random_of(&state) % 4 == 0,
                                       .routed = n % 4 == 3};
        if (shuffled) {
            unsigned other = (unsigned)(random_of(&state) % list->count);
            list->networks[at] = list->networks[other];
            at = other;
        }
        list->networks[at] = network;
    }
    bool first = odd ? job->seed % 2 : !shuffled;
    if (list->count)
        list->networks[first ? 0 : random_of(&state) % list->count].chosen = 1;
}

enum { RANKS = 3 }; /* of a node */

static void read_list(void *arg, int rank, struct weft_network_list *list)
{
    struct job *job = arg;
    job->reads++;
    make_list(job, rank / RANKS, list);
}

static void read_summary(void *arg, int rank, const struct weft_network_search *search,
                         struct weft_network_summary *summary)
{
    struct job *job = arg;
    int index = rank / RANKS;
    job->reads++;
    assert_true(job->published[index]);
    *summary = job->summaries[index];
    assert_true(weft_network_summary_valid(
        search, summary, weft_network_summary_bytes(summary->count), job->rank, job->nodes));
}

static struct job *make_job(uint64_t seed, int nodes)
{
    struct job *job = calloc(1, sizeof *job);
    assert_non_null(job);
    job->seed = seed * UINT64_C(0x2545f4914f6cdd1d) + 1;
    job->nodes = nodes;
    job->odd_node = (int)(random_of(&job->seed) % (unsigned)nodes);
    job->orderly = seed / 3 % 2 == 0;
    job->missing = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 1 : 100;
    job->summaries = calloc((size_t)nodes, sizeof *job->summaries);
    job->published = calloc((size_t)nodes, sizeof *job->published);
    for (int i = 0; i < nodes; i++)
        job->rank[i] = RANKS * i;
    return job;
}

static void free_job(struct job *job)
{
    free(job->summaries);
    free(job->published);
    free(job);
}

static struct weft_network_nodes nodes_of(struct job *job, int one_level)
{
    return (struct weft_network_nodes){.rank = job->rank,
                                       .count = job->nodes,
                                       .group = weft_network_group(job->nodes, one_level),
                                       .arg = job,
                                       .read_list = read_list,
                                       .read_summary = read_summary};
}

static void assert_same(const struct weft_network_search *a, const struct weft_network_search *b)
{
    bool moves_a = false, moves_b = false;
    const struct weft_network *shared_a = weft_network_shared(a, &moves_a);
    const struct weft_network *shared_b = weft_network_shared(b, &moves_b);
    assert_memory_equal(&a->first, &b->first, sizeof a->first);
    assert_memory_equal(&a->all, &b->all, sizeof a->all);
    assert_int_equal(shared_a ? shared_a->id : 0, shared_b ? shared_b->id : 0);
    assert_int_equal(moves_a, moves_b);
    assert_int_equal(weft_network_lacking(a), weft_network_lacking(b));
}

/* The comparison on two levels. The most reads of a node that leads a group, at both levels. */
static int compare(struct job *job, int one_level, struct weft_network_search *result)
{
    struct weft_network_nodes nodes = nodes_of(job, one_level);
    int most = 0;
    assert_true(nodes.group > 0);
    for (int i = 0; i < job->nodes; i++) {
        if (!weft_network_leads(&nodes, i))
            continue;
        job->reads = 0;
        weft_network_search_group(&nodes, i, result);
        most = job->reads > most ? job->reads : most;
        job->summaries[i] = result->all;
        job->published[i] = true;
    }
    job->reads = 0;
    weft_network_search_all(&nodes, result);
    return most + job->reads;
}

/* What one level finds, without the code under test for several nodes: list by list. */
static void compare_one_by_one(struct job *job, struct weft_network_search *result)
{
    struct weft_network_list list;
    make_list(job, 0, &list);
    weft_network_begin(result, &list);
    for (int i = 0; i < job->nodes; i++) {
        make_list(job, i, &list);
        weft_network_add(result, job->rank[i], &list);
    }
}

static void test_groups(void **state)
{
    (void)state;
    assert_int_equal(weft_network_group(1, 1), 0);
    assert_int_equal(weft_network_group(100, 100), 0);
    assert_int_equal(weft_network_group(101, 100), 11);
    assert_int_equal(weft_network_group(MANY, 1), 317);
    assert_int_equal(weft_network_group(INT32_MAX, 1), 46341);
}

static void test_small_jobs(void **state)
{
    int found = 0, moving = 0, lacking = 0;
    (void)state;
    for (uint64_t seed = 0; seed < SMALL_ROUNDS; seed++) {
        struct weft_network_search one, two, listed;
        struct job *job = make_job(seed, 2 + (int)(seed % 60));
        struct weft_network_nodes nodes = nodes_of(job, job->nodes);
        bool moves = false;
        compare_one_by_one(job, &listed);
        weft_network_search_all(&nodes, &one);
        assert_int_equal(job->reads, job->nodes);
        assert_same(&listed, &one);
        compare(job, 1, &two);
        assert_same(&listed, &two);
        found += weft_network_shared(&two, &moves) != NULL;
        moving += moves;
        lacking += weft_network_lacking(&two) > 0;
        free_job(job);
    }
    /* Each outcome occurs. */
    assert_in_range(found, SMALL_ROUNDS / 10, SMALL_ROUNDS - SMALL_ROUNDS / 10);
    assert_in_range(moving, SMALL_ROUNDS / 10, found - SMALL_ROUNDS / 10);
    assert_in_range(lacking, SMALL_ROUNDS / 50, SMALL_ROUNDS - SMALL_ROUNDS / 10);
}

static void test_large_jobs(void **state)
{
    static const int sizes[] = {2049, 9999, 10000, 10001, MANY - 1, MANY};
    (void)state;
    for (uint64_t seed = 0; seed < sizeof sizes / sizeof *sizes; seed++) {
        struct weft_network_search one, two;
        struct job *job = make_job(3 * seed, sizes[seed]);
        compare_one_by_one(job, &one);
        int reads = compare(job, 2048, &two);
        assert_same(&one, &two);
        int group = weft_network_group(sizes[seed], 1);
        assert_true(reads <= 2 * group + 2);
        if (sizes[seed] == MANY)
            assert_true(reads <= 636);
        free_job(job);
    }
}

static bool is_valid(const struct job *job, const struct weft_network_search *search,
                     const struct weft_network_summary *summary, size_t bytes)
{
    return weft_network_summary_valid(search, summary, bytes, job->rank, job->nodes);
}

/* Summaries that this rank cannot use. */
static void test_foreign_summaries(void **state)
{
    struct job *job = make_job(1, 50);
    struct weft_network_search search;
    compare(job, 1, &search);
    struct weft_network_summary good = search.all, bad = good;
    size_t bytes = weft_network_summary_bytes(good.count);
    (void)state;
    assert_true(good.count > 0);
    assert_true(is_valid(job, &search, &good, bytes));
    assert_false(is_valid(job, &search, &good, bytes - 1));
    assert_false(is_valid(job, &search, &good, 3));
    bad.count++;
    assert_false(is_valid(job, &search, &bad, weft_network_summary_bytes(bad.count)));
    static const int32_t no_nodes[] = {-1, 1, RANKS + 1, 50 * RANKS, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < sizeof no_nodes / sizeof *no_nodes; i++) {
        bad = good;
        bad.of[0].lacking = no_nodes[i];
        assert_false(is_valid(job, &search, &bad, bytes));
        bad = good;
        bad.best_node = no_nodes[i];
        assert_false(is_valid(job, &search, &bad, bytes));
    }
    uint8_t *flags[] = {&bad.of[0].missing, &bad.of[0].poor, &bad.of[0].moves};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        bad = good;
        *flags[i] = 2;
        assert_false(is_valid(job, &search, &bad, bytes));
    }
    free_job(job);
}

/* A list with a flag that is not 0 or 1, as another build may write it. */
static void test_flags(void **state)
{
    struct job *job = make_job(1, 1);
    struct weft_network_search search;
    struct weft_network_list list;
    (void)state;
    make_list(job, 0, &list);
    assert_true(list.count > 0);
    list.networks[0].poor = list.networks[0].chosen = 2;
    weft_network_begin(&search, &list);
    weft_network_add(&search, 0, &list);
    assert_int_equal(search.all.of[0].poor, 1);
    assert_int_equal(search.all.of[0].moves, 0);
    free_job(job);
}

static void test_nodes(void **state)
{
    static const int32_t nodes[] = {0, 3, 4, 9};
    (void)state;
    for (int count = 0; count <= 4; count++)
        for (int rank = -1; rank < 11; rank++) {
            int at = count - 1;
            while (at >= 0 && nodes[at] != rank)
                at--;
            assert_int_equal(weft_network_node(nodes, count, rank), at);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),     cmocka_unit_test(test_small_jobs),
        cmocka_unit_test(test_large_jobs), cmocka_unit_test(test_foreign_summaries),
        cmocka_unit_test(test_flags),      cmocka_unit_test(test_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
