// SPDX-License-Identifier: BSD-3-Clause
/*
 * Agreements of several members in one process, which die: each member runs the module itself, and
 * the test is the network and the detector of deaths. For 3 to 5 members one or two of them die at
 * each step (a message sent or received, a call), over many orders of events; for up to 40 members
 * random ones die. A member may die between two of its messages, the last messages of a dead one
 * may be lost, and each death is reported to each member at another time.
 *
 * All living members decide, alike; a decision includes each member or names it as dead; no living
 * member is named so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/comm/agreement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS = 40, ROUNDS = 3, QUEUE = 64, NEVER = 1 << 30 };

struct packet {
    enum weft_agreement_message kind;
    uint32_t number;
    uint64_t value[2]; /* the dead, and the members that have not contributed */
};

struct queue {
    struct packet packets[QUEUE];
    int first, count;
};

struct member {
    struct weft_agreement *agreement;
    int index, steps, dies_at;    /* steps that it makes before it dies */
    bool dead, reported[MEMBERS]; /* deaths that were reported to it */
    uint64_t decisions[ROUNDS + 1][2];
    uint32_t decided; /* agreements with a decision */
};

static struct member members[MEMBERS];
static struct queue queues[MEMBERS][MEMBERS];
static int size;
static uint64_t random_state;

static unsigned draw(unsigned below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % below;
}

/* The end of a member: what it sent last may be lost. */
static void kill_member(struct member *m)
{
    m->dead = true;
    for (int to = 0; to < size; to++) {
        struct queue *queue = &queues[m->index][to];
        if (queue->count && draw(2))
            queue->count = (int)draw((unsigned)queue->count + 1);
    }
}

/* A step begins. False if the member is dead. */
static bool step(struct member *m)
{
    if (!m->dead && m->steps++ == m->dies_at)
        kill_member(m);
    return !m->dead;
}

static void send(void *arg, int to, enum weft_agreement_message kind, uint32_t number,
                 const uint64_t *value)
{
    struct member *m = arg;
    if (!step(m))
        return;
    struct queue *queue = &queues[m->index][to];
    assert_true(queue->count < QUEUE);
    struct packet *packet = &queue->packets[(queue->first + queue->count++) % QUEUE];
    *packet = (struct packet){kind, number, {value[0], value[1]}};
}

static void combine(void *arg, uint64_t *words, const uint64_t *others)
{
    (void)arg;
    words[0] &= others[0];
}

static const struct weft_agreement_ops ops = {send, combine};

static void take_decision(struct member *m)
{
    const uint64_t *decision = weft_agreement_decision(m->agreement);
    if (m->dead || !decision || m->decided == m->agreement->number)
        return;
    m->decided++;
    memcpy(m->decisions[m->decided], decision, sizeof m->decisions[0]);
}

/* ---- Events: a call, the arrival of a message, the report of a death */

static bool may_call(const struct member *m)
{
    return !m->dead && m->decided == m->agreement->number && m->decided < ROUNDS;
}

static void call(struct member *m)
{
    uint64_t missing = ~((uint64_t)1 << m->index);
    if (step(m))
        weft_agreement_contribute(m->agreement, &missing);
    take_decision(m);
}

static void arrive(struct member *m, int from)
{
    struct queue *queue = &queues[from][m->index];
    struct packet packet = queue->packets[queue->first];
    queue->first = (queue->first + 1) % QUEUE;
    queue->count--;
    if (step(m))
        assert_true(
            weft_agreement_arrive(m->agreement, from, packet.kind, packet.number, packet.value));
    take_decision(m);
}

static void report(struct member *m, int victim)
{
    m->reported[victim] = true;
    weft_agreement_note_death(m->agreement, victim);
    take_decision(m);
}

enum event { CALL, ARRIVE, REPORT };

/* One event of a kind at a random place. False if there is none. */
static bool play(enum event event)
{
    unsigned start = draw((unsigned)(size * size));
    for (int i = 0; i < size * size; i++) {
        int place = (int)(start + (unsigned)i) % (size * size), other = place % size;
        struct member *m = &members[place / size];
        if (m->dead)
            continue;
        if (event == CALL && other == 0 && may_call(m))
            return call(m), true;
        if (event == ARRIVE && queues[other][m->index].count)
            return arrive(m, other), true;
        if (event == REPORT && members[other].dead && !m->reported[other])
            return report(m, other), true;
    }
    return false;
}

static void play_all(void)
{
    unsigned weights[3] = {1 + draw(4), 1 + draw(8), draw(3)};
    for (;;) {
        unsigned total = weights[0] + weights[1] + weights[2], at = draw(total);
        enum event first = at < weights[0] ? CALL : at < weights[0] + weights[1] ? ARRIVE : REPORT;
        if (play(first))
            continue;
        if (!play((first + 1) % 3) && !play((first + 2) % 3))
            return;
    }
}

/* ---- A run */

static void check_run(const char *what)
{
    uint64_t dead = 0, all = size < 64 ? ((uint64_t)1 << size) - 1 : ~(uint64_t)0;
    const struct member *first = NULL;
    for (int i = 0; i < size; i++)
        dead |= (uint64_t)members[i].dead << i;
    for (int i = 0; i < size; i++) {
        const struct member *m = &members[i];
        if (m->dead)
            continue;
        if (m->decided != ROUNDS)
            fail_msg("%s: member %d has %u decisions of %d", what, i, m->decided, ROUNDS);
        first = first ? first : m;
        for (int n = 1; n <= ROUNDS; n++) {
            const uint64_t *d = m->decisions[n];
            if (memcmp(d, first->decisions[n], sizeof m->decisions[0]) != 0)
                fail_msg("%s: members %d and %d differ in agreement %d", what, first->index, i, n);
            if ((d[0] & ~dead) || (d[1] & all & ~d[0]))
                fail_msg("%s: agreement %d leaves out members %llx, and the dead are %llx of %llx",
                         what, n, (unsigned long long)(d[1] & all), (unsigned long long)d[0],
                         (unsigned long long)dead);
        }
    }
}

/* Returns the most steps that a member made. */
static int run(int n, uint64_t seed, int victims, const int *who, const int *when)
{
    char what[160];
    int steps = 0;
    size = n;
    random_state = seed * 0x9e3779b97f4a7c15u + 1;
    memset(queues, 0, sizeof queues);
    for (int i = 0; i < n; i++) {
        members[i] = (struct member){.agreement = weft_agreement_make(n, i, 1, &ops, &members[i]),
                                     .index = i,
                                     .dies_at = NEVER};
        assert_non_null(members[i].agreement);
    }
    for (int i = 0; i < victims; i++)
        members[who[i]].dies_at = when[i];
    snprintf(what, sizeof what, "%d members, seed %llu, %d victims: %d at %d, %d at %d", n,
             (unsigned long long)seed, victims, victims > 0 ? who[0] : -1,
             victims > 0 ? when[0] : 0, victims > 1 ? who[1] : -1, victims > 1 ? when[1] : 0);
    play_all();
    check_run(what);
    for (int i = 0; i < n; i++) {
        steps = members[i].steps > steps ? members[i].steps : steps;
        free(members[i].agreement);
    }
    return steps;
}

/* ---- Tests */

static void test_no_death(void **state)
{
    (void)state;
    for (int n = 1; n <= MEMBERS; n++)
        for (uint64_t seed = 0; seed < 20; seed++)
            run(n, seed, 0, NULL, NULL);
}

static void test_each_step(void **state)
{
    (void)state;
    for (int n = 3; n <= 5; n++)
        for (int who = 0; who < n; who++)
            for (uint64_t seed = 0; seed < 40; seed++)
                for (int when = 0, steps = 1; when <= steps; when++)
                    steps = run(n, seed, 1, &who, &when);
}

static void test_each_two_steps(void **state)
{
    (void)state;
    for (int n = 3; n <= 5; n++)
        for (int pair = 0; pair < n * n; pair++)
            for (uint64_t seed = 0; seed < 3 && pair / n < pair % n; seed++) {
                int who[2] = {pair / n, pair % n}, last = run(n, seed, 0, NULL, NULL);
                for (int at = 0; at < last * last; at++)
                    run(n, seed, 2, who, (const int[2]){at / last, at % last});
            }
}

static void test_random_deaths(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 4000; seed++) {
        int who[MEMBERS], when[MEMBERS], n;
        random_state = seed + 77;
        n = 2 + (int)draw(MEMBERS - 1);
        int victims = 1 + (int)draw((unsigned)n - 1);
        for (int i = 0; i < victims; i++) {
            who[i] = (int)draw((unsigned)n);
            when[i] = (int)draw(40);
        }
        if (draw(3) == 0)
            who[0] = 0;
        run(n, seed, victims, who, when);
    }
}

/* Messages that no member sends are dropped. */
static void test_strange_messages(void **state)
{
    (void)state;
    uint64_t value[2] = {0, 7}, words = 5;
    size = 2;
    members[0] = (struct member){.index = 0, .dies_at = NEVER};
    struct weft_agreement *a = weft_agreement_make(2, 0, 1, &ops, &members[0]);
    assert_false(weft_agreement_arrive(a, 0, WEFT_AGREEMENT_CONTRIBUTION, 1, value));
    assert_false(weft_agreement_arrive(a, 2, WEFT_AGREEMENT_CONTRIBUTION, 1, value));
    assert_false(weft_agreement_arrive(a, -1, WEFT_AGREEMENT_CONTRIBUTION, 1, value));
    assert_false(weft_agreement_arrive(a, 1, WEFT_AGREEMENT_CONTRIBUTION, 0, value));
    assert_false(weft_agreement_arrive(a, 1, WEFT_AGREEMENT_CONTRIBUTION, 2, value));
    assert_false(weft_agreement_arrive(a, 1, WEFT_AGREEMENT_DECISION, 1, value));
    weft_agreement_contribute(a, &words);
    assert_false(weft_agreement_arrive(a, 1, (enum weft_agreement_message)9, 1, value));
    assert_null(weft_agreement_decision(a));
    assert_true(weft_agreement_arrive(a, 1, WEFT_AGREEMENT_CONTRIBUTION, 1, value));
    assert_non_null(weft_agreement_decision(a));
    assert_int_equal(weft_agreement_decision(a)[1], 5);
    free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_death),         cmocka_unit_test(test_each_step),
        cmocka_unit_test(test_each_two_steps),   cmocka_unit_test(test_random_deaths),
        cmocka_unit_test(test_strange_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
