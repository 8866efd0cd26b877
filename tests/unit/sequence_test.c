// SPDX-License-Identifier: BSD-3-Clause
/*
 * Delivery by sequence number (src/ofi/sequence.c) beside a model: senders that have at most a
 * limited number of messages undelivered, a network that completes them in random order, some of
 * them twice, and adds messages that nobody sent. A delivery sometimes makes progress, as the real
 * one does, and so receives further messages before it returns.
 *
 * Invariant: a failed check prints the seed; WEFT_TEST_SEED repeats the run.
 */
#include "ofi/sequence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <malloc.h>

/* Sender i has the number i * SPREAD: some share a block of numbers. */
enum {
    SPREAD = 150,
    RANKS = 4 * SPREAD + 1,
    SENDERS = 5,
    MOST_IN_FLIGHT = SENDERS * 2050,
    MOST_NESTED = 4,
    RANK_BITS = 8
};

struct flying {
    uint32_t sender, number;
};

static struct world {
    struct weft_sequences sequences;
    uint64_t random;
    uint32_t first;             /* number of each sender's first message */
    uint32_t sent[SENDERS];     /* messages sent, */
    uint32_t answered[SENDERS]; /* delivered as far as the sender knows */
    uint32_t delivered[SENDERS];
    struct flying flying[MOST_IN_FLIGHT];
    size_t in_flight;
    int nested;
    size_t twice, impossible;
} world;

static uint32_t draw(uint32_t below)
{
    world.random = world.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(world.random >> 33) % below;
}

static uint64_t cq_data_of(uint32_t number)
{
    const struct weft_sequences *s = &world.sequences;
    return (uint64_t)7 << (s->shift ? 0 : RANK_BITS) | (uint64_t)(number & s->mask) << s->shift;
}

static void deliver(void *arg, uint64_t tag, uint64_t cq_data, const void *data, size_t bytes);

static enum weft_sequence_result arrive(struct flying message)
{
    /* The number again, and so many bytes that lengths differ. */
    uint32_t payload[4] = {message.number, message.number, message.number, message.number};
    size_t bytes = (1 + message.number % 4) * sizeof payload[0];
    return weft_sequence_arrive(&world.sequences, message.sender * SPREAD, message.sender,
                                cq_data_of(message.number), payload, bytes, deliver, NULL);
}

/* Completes one of the messages on their way, sometimes with a second completion. */
static void complete_one(void)
{
    size_t i = draw((uint32_t)world.in_flight);
    struct flying message = world.flying[i];
    world.flying[i] = world.flying[--world.in_flight];
    enum weft_sequence_result result = arrive(message);
    assert_true(result == WEFT_SEQUENCE_DELIVERED || result == WEFT_SEQUENCE_KEPT);
    if (draw(64))
        return;
    result = arrive(message);
    assert_true(result == WEFT_SEQUENCE_TWICE || result == WEFT_SEQUENCE_IMPOSSIBLE);
    world.twice++;
}

static void deliver(void *arg, uint64_t tag, uint64_t cq_data, const void *data, size_t bytes)
{
    (void)arg;
    uint32_t number = world.first + world.delivered[tag]++;
    assert_int_equal(cq_data, cq_data_of(number));
    assert_int_equal(bytes, (1 + number % 4) * sizeof number);
    assert_memory_equal(data, &number, sizeof number);
    if (world.in_flight && world.nested < MOST_NESTED && !draw(8)) {
        world.nested++;
        complete_one();
        world.nested--;
    }
}

/* A number that the sender cannot have reached. */
static void send_impossible(void)
{
    uint32_t sender = draw(SENDERS + 1);
    uint32_t beyond =
        world.sequences.limit +
        draw((world.sequences.mask == UINT8_MAX ? 256 : 1 << 20) - world.sequences.limit);
    uint32_t next = sender < SENDERS ? world.first + world.delivered[sender] : 0;
    assert_int_equal(arrive((struct flying){sender, next + beyond}), WEFT_SEQUENCE_IMPOSSIBLE);
    world.impossible++;
}

static void send_one(uint32_t sender)
{
    if (world.sent[sender] - world.answered[sender] >= world.sequences.limit)
        world.answered[sender] = world.delivered[sender];
    if (world.sent[sender] - world.answered[sender] >= world.sequences.limit)
        return;
    world.flying[world.in_flight++] = (struct flying){sender, world.first + world.sent[sender]++};
}

static void check_reached(void)
{
    uint32_t sender = draw(SENDERS), next = world.first + world.delivered[sender];
    assert_true(weft_sequence_reached(&world.sequences, sender * SPREAD, next - draw(1000)));
    assert_false(weft_sequence_reached(&world.sequences, sender * SPREAD,
                                       next + 1 + draw(world.sequences.limit)));
    assert_true(weft_sequence_reached(&world.sequences, sender * SPREAD,
                                      next + world.sequences.limit + 1 + draw(1000)));
}

/* As if each sender had sent so many messages. */
static void begin_at(uint32_t first)
{
    world.sequences.next = calloc(RANKS / WEFT_SEQUENCE_BLOCK + 1, sizeof *world.sequences.next);
    world.sequences.senders = RANKS;
    for (int i = 0; i < RANKS; i += WEFT_SEQUENCE_BLOCK)
        world.sequences.next[i / WEFT_SEQUENCE_BLOCK] =
            calloc(WEFT_SEQUENCE_BLOCK, sizeof **world.sequences.next);
    for (int i = 0; i < SENDERS; i++)
        *weft_sequence_next(&world.sequences, (uint32_t)i * SPREAD) = first;
}

static void run(uint64_t seed, uint32_t mask, uint32_t limit, uint32_t first, int steps)
{
    memset(&world, 0, sizeof world);
    world.random = seed;
    world.first = first;
    weft_sequences_open(&world.sequences, RANKS, mask, mask == UINT8_MAX ? 0 : 32, limit);
    if (first)
        begin_at(first);
    for (int step = 0; step < steps; step++) {
        uint32_t what = draw(100);
        if (what < 52)
            send_one(draw(SENDERS));
        else if (what < 53)
            send_impossible();
        else if (what < 54)
            check_reached();
        else if (world.in_flight)
            complete_one();
    }
    while (world.in_flight)
        complete_one();
    for (int i = 0; i < SENDERS; i++)
        assert_int_equal(world.delivered[i], world.sent[i]);
    assert_int_equal(world.sequences.early, 0);
    assert_true(world.twice > 0 && world.impossible > 0);
    weft_sequences_close(&world.sequences);
}

static uint64_t first_seed(void)
{
    const char *text = getenv("WEFT_TEST_SEED");
    return text ? strtoull(text, NULL, 0) : 1;
}

static void numbers_of_32_bits(void **state)
{
    (void)state;
    for (uint64_t seed = first_seed(), i = 0; i < 20; i++, seed++) {
        print_message("seed %llu\n", (unsigned long long)seed);
        run(seed, UINT32_MAX, 2050, 0, 50000);
    }
}

static void numbers_of_8_bits(void **state)
{
    (void)state;
    for (uint64_t seed = first_seed(), i = 0; i < 20; i++, seed++) {
        print_message("seed %llu\n", (unsigned long long)seed);
        run(seed, UINT8_MAX, 130, 0, 50000);
    }
}

static void numbers_wrap(void **state)
{
    (void)state;
    for (uint64_t seed = first_seed(), i = 0; i < 5; i++, seed++)
        run(seed, UINT32_MAX, 2050, UINT32_MAX - 1000, 50000);
}

/* Messages still wait when the lane is closed: a sanitizer sees whether they are freed. */
static void closed_with_messages(void **state)
{
    (void)state;
    memset(&world, 0, sizeof world);
    weft_sequences_open(&world.sequences, RANKS, UINT32_MAX, 32, 2050);
    for (uint32_t number = 1; number < 1000; number++)
        assert_int_equal(arrive((struct flying){3, number}), WEFT_SEQUENCE_KEPT);
    assert_int_equal(world.sequences.early, 999);
    weft_sequences_close(&world.sequences);
}

static void take(void *arg, uint64_t tag, uint64_t cq_data, const void *data, size_t bytes)
{
    (void)arg, (void)tag, (void)cq_data, (void)data, (void)bytes;
}

/* Senders that are silent take next to no memory, whoever else sends. */
static void memory_of_silent_senders(void **state)
{
    enum { MANY = 100000 };
    uint64_t payload = 0;
    (void)state;
    memset(&world, 0, sizeof world);
    weft_sequences_open(&world.sequences, MANY, UINT32_MAX, 32, 2050);
    struct mallinfo2 before = mallinfo2();
    for (uint32_t number = 0; number < 2; number++)
        assert_int_equal(weft_sequence_arrive(&world.sequences, MANY - 1, 0, (uint64_t)number << 32,
                                              &payload, sizeof payload, take, NULL),
                         WEFT_SEQUENCE_DELIVERED);
    struct mallinfo2 after = mallinfo2();
    assert_true(after.uordblks + after.hblkhd - before.uordblks - before.hblkhd < 8192);
    assert_int_equal(weft_sequence_delivered(&world.sequences, MANY - 1), 2);
    assert_int_equal(weft_sequence_delivered(&world.sequences, MANY - 2), 0);
    assert_int_equal(weft_sequence_delivered(&world.sequences, 0), 0);
    assert_true(weft_sequence_reached(&world.sequences, 0, 0));
    assert_false(weft_sequence_reached(&world.sequences, 0, 1));
    weft_sequences_close(&world.sequences);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_32_bits), cmocka_unit_test(numbers_of_8_bits),
        cmocka_unit_test(numbers_wrap), cmocka_unit_test(closed_with_messages),
        cmocka_unit_test(memory_of_silent_senders)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
