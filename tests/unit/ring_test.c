// SPDX-License-Identifier: BSD-3-Clause
/*
 * The ring between two processes (src/shm/ring.h): what one thread writes, another reads, in order
 * and unharmed, through rings of several shapes, with lines and their data. Build it with
 * -fsanitize=thread to see its memory order judged.
 *
 * Invariant: both threads draw the same numbers from the same seed, so the reader knows every byte
 * without a message from the ring.
 */
#include "shm/ring.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MESSAGES = 40000 };

struct body {
    uint32_t number, bytes, sum;
};

struct run {
    struct weft_ring_geometry shape;
    void *memory;
    uint64_t seed;
    uint32_t start;   /* position at which it begins */
    uint64_t written; /* lines, as the writer counts them at the end, from position 0 on */
};

static uint64_t draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

struct message {
    uint32_t bytes;
    unsigned char first;
};

static struct message next_message(const struct run *run, uint64_t *state)
{
    uint32_t longest = (uint32_t)weft_ring_data_max(run->shape), kind = draw(state) % 2;
    struct message message = {0, (unsigned char)draw(state)};
    if (kind)
        message.bytes = 1 + (uint32_t)(draw(state) % longest);
    return message;
}

static unsigned char byte_at(const struct message *message, uint32_t i)
{
    return (unsigned char)(message->first + i * 7);
}

static void write_one(struct weft_ring_writer *w, const struct message *message, uint32_t number)
{
    uint32_t at = 0;
    char *place = NULL;
    while (!weft_ring_make_line(w))
        sched_yield();
    while (message->bytes && !(place = weft_ring_reserve(w, message->bytes, &at)))
        sched_yield();
    struct weft_ring_line *line = weft_ring_line(w);
    const struct body body = {number, message->bytes, number * 3 + message->bytes};
    memcpy(line->body, &body, sizeof body);
    line->at = at;
    for (uint32_t i = 0; i < message->bytes; i++)
        place[i] = (char)byte_at(message, i);
    weft_ring_publish(w, line);
}

static void *write_all(void *arg)
{
    struct run *run = arg;
    struct weft_ring_writer w;
    uint64_t state = run->seed;
    weft_ring_open_writer(&w, run->memory, run->shape);
    w.tail += run->start;
    w.limit += run->start;
    w.data_tail = w.data_consumed = run->start;
    for (uint32_t n = 0; n < MESSAGES; n++) {
        struct message message = next_message(run, &state);
        write_one(&w, &message, n);
    }
    run->written = weft_ring_written(&w);
    return NULL;
}

/* Counts bytes that are not as they were written. */
static size_t compare(struct weft_ring_reader *r, const struct message *message, uint32_t at)
{
    const char *data = weft_ring_data(r, at);
    size_t wrong = 0;
    for (uint32_t i = 0; i < message->bytes; i++)
        wrong += (unsigned char)data[i] != byte_at(message, i);
    return wrong;
}

static const struct weft_ring_line *next_line(const struct weft_ring_reader *r)
{
    return &r->lines[r->head & r->mask];
}

static void read_one(struct weft_ring_reader *r, const struct message *message, uint32_t number)
{
    struct body body;
    while (!weft_ring_ready(r))
        sched_yield();
    const struct weft_ring_line *line = next_line(r);
    memcpy(&body, line->body, sizeof body);
    assert_int_equal(body.number, number);
    assert_int_equal(body.bytes, message->bytes);
    assert_int_equal(body.sum, number * 3 + message->bytes);
    if (!message->bytes) {
        weft_ring_consume(r);
        return;
    }
    uint32_t at = line->at;
    assert_int_equal(compare(r, message, at), 0);
    weft_ring_consume_data(r, at, message->bytes);
}

static void read_all(const struct run *run)
{
    struct weft_ring_reader r;
    uint64_t state = run->seed;
    weft_ring_open_reader(&r, run->memory, run->shape);
    r.head = r.published = r.data_head = r.data_published = run->start;
    for (uint32_t n = 0; n < MESSAGES; n++) {
        struct message message = next_message(run, &state);
        read_one(&r, &message, n);
    }
    assert_false(weft_ring_ready(&r));
    assert_int_equal(weft_ring_read(&r), (uint64_t)run->start + MESSAGES);
}

static void through(struct weft_ring_geometry shape, uint64_t seed, uint32_t start)
{
    struct run run = {.shape = shape, .seed = seed, .start = start};
    pthread_t writer;
    run.memory = aligned_alloc(_Alignof(struct weft_ring_shared), weft_ring_bytes(shape));
    assert_non_null(run.memory);
    memset(run.memory, 0, weft_ring_bytes(shape));
    struct weft_ring_shared *shared = run.memory;
    atomic_store(&shared->consumed, (uint64_t)start << 32 | start);
    assert_int_equal(pthread_create(&writer, NULL, write_all, &run), 0);
    read_all(&run);
    pthread_join(writer, NULL);
    assert_int_equal(run.written, (uint64_t)start + MESSAGES);
    free(run.memory);
}

static void smallest_ring(void **state)
{
    (void)state;
    through((struct weft_ring_geometry){4, 256}, 1, 0);
}

static void usual_rings(void **state)
{
    (void)state;
    through((struct weft_ring_geometry){64, 4096}, 2, 0);
    through((struct weft_ring_geometry){256, 16384}, 3, 0);
    through((struct weft_ring_geometry){64, 32768}, 7, UINT32_MAX - 65535);
}

/* Positions go through 2^32 on the way. */
static void positions_wrap(void **state)
{
    (void)state;
    through((struct weft_ring_geometry){16, 1024}, 4, UINT32_MAX - 1023);
    through((struct weft_ring_geometry){16, 1024}, 5, 0u - 4096 * 4);
}

/* A full ring takes nothing, and as much as was consumed afterwards. */
static void full_ring(void **state)
{
    (void)state;
    const struct weft_ring_geometry shape = {8, 1024};
    void *memory = aligned_alloc(_Alignof(struct weft_ring_shared), weft_ring_bytes(shape));
    struct weft_ring_writer w;
    struct weft_ring_reader r;
    uint32_t at;
    assert_non_null(memory);
    memset(memory, 0, weft_ring_bytes(shape));
    weft_ring_open_writer(&w, memory, shape);
    weft_ring_open_reader(&r, memory, shape);
    assert_false(weft_ring_ready(&r));
    for (int i = 0; i < 8; i++) {
        assert_true(weft_ring_make_line(&w));
        weft_ring_publish(&w, weft_ring_line(&w));
    }
    assert_false(weft_ring_make_line(&w));
    for (int i = 0; i < 8; i++) {
        assert_true(weft_ring_ready(&r));
        weft_ring_consume(&r);
    }
    assert_false(weft_ring_ready(&r));
    assert_true(weft_ring_make_line(&w));
    for (int i = 0; i < 4; i++)
        assert_non_null(weft_ring_reserve(&w, 256, &at));
    assert_null(weft_ring_reserve(&w, 1, &at));
    free(memory);
}

/* Data of medium size begin at a page each while there are pages, and then one behind the other.
 */
static void medium_data_are_apart(void **state)
{
    (void)state;
    enum { DATA = 32768, BYTES = 1024, PAGES = DATA / WEFT_RING_PAGE };
    const struct weft_ring_geometry shape = {64, DATA};
    void *memory = aligned_alloc(_Alignof(struct weft_ring_shared), weft_ring_bytes(shape));
    struct weft_ring_writer w;
    uint32_t at;
    assert_non_null(memory);
    memset(memory, 0, weft_ring_bytes(shape));
    weft_ring_open_writer(&w, memory, shape);
    assert_non_null(weft_ring_reserve(&w, 64, &at));
    for (int i = 1; i < PAGES; i++) {
        weft_ring_prepare(&w, BYTES);
        assert_non_null(weft_ring_reserve(&w, BYTES, &at));
        assert_int_equal(at, i * WEFT_RING_PAGE);
    }
    for (int i = 1; i < WEFT_RING_PAGE / BYTES; i++) {
        assert_non_null(weft_ring_reserve(&w, BYTES, &at));
        assert_int_equal(at, (PAGES - 1) * WEFT_RING_PAGE + i * BYTES);
    }
    assert_null(weft_ring_reserve(&w, 1, &at));
    free(memory);
}

/* Whatever was written, a ring that was read to its end has space for the longest data, wherever
 * it stands: else both sides would wait for each other. */
static void read_ring_has_room(void **state)
{
    (void)state;
    const struct weft_ring_geometry shape = {8, 1024};
    void *memory = aligned_alloc(_Alignof(struct weft_ring_shared), weft_ring_bytes(shape));
    struct weft_ring_writer w;
    struct weft_ring_reader r;
    uint64_t numbers = 6;
    assert_non_null(memory);
    memset(memory, 0, weft_ring_bytes(shape));
    weft_ring_open_writer(&w, memory, shape);
    weft_ring_open_reader(&r, memory, shape);
    for (int i = 0; i < 10000; i++) {
        uint32_t at = 0, probe, bytes = 1 + (uint32_t)(draw(&numbers) % weft_ring_data_max(shape));
        struct weft_ring_writer copy = w;
        assert_true(weft_ring_make_line(&copy));
        assert_non_null(weft_ring_reserve(&copy, (uint32_t)weft_ring_data_max(shape), &probe));
        assert_true(weft_ring_make_line(&w));
        assert_non_null(weft_ring_reserve(&w, bytes, &at));
        weft_ring_line(&w)->at = at;
        weft_ring_publish(&w, weft_ring_line(&w));
        weft_ring_consume_data(&r, next_line(&r)->at, bytes);
    }
    free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(full_ring),
                                       cmocka_unit_test(read_ring_has_room),
                                       cmocka_unit_test(medium_data_are_apart),
                                       cmocka_unit_test(smallest_ring),
                                       cmocka_unit_test(usual_rings),
                                       cmocka_unit_test(positions_wrap)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
