// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages that both ends copy (src/shm/share.h): two threads claim parts of one message after
 * another; all of a message is copied, by whoever claimed it, and who comes late gets nothing.
 * Revocable pushes are taken by one end each. And which way of copying wins
 * (src/core/base/copy_tuning.h).
 * Build it with -fsanitize=thread to see its memory order judged.
 *
 * Invariant: the reader changes source and target of a message only when the one before is closed.
 */
#include "core/base/copy_tuning.h"
#include "shm/share.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MESSAGES = 500, LARGEST = 300 << 10, LAST = MESSAGES + 1 };

struct run {
    struct weft_shm_share share;
    _Atomic uint32_t posted; /* the message that the writer may read */
    unsigned char from[LARGEST], to[LARGEST];
    uint64_t taken_late, written;
};

static size_t bytes_of(uint32_t number)
{
    return number % 7 == 0 ? 2 * WEFT_SHARE_LEAST : 1 + (size_t)number * 7919 % LARGEST;
}

static void *write_parts(void *arg)
{
    struct run *run = arg;
    for (uint32_t number; (number = atomic_load(&run->posted)) != LAST; sched_yield()) {
        struct weft_shm_range range;
        uint32_t units = 0;
        if (!number)
            continue;
        run->taken_late += weft_share_claim(&run->share, number - 1, LARGEST, &range);
        while (weft_share_claim(&run->share, number, bytes_of(number), &range)) {
            memcpy(run->to + range.offset, run->from + range.offset, range.bytes);
            units += weft_share_units(range.bytes);
            weft_share_report(&run->share, number, units);
        }
        run->written += units;
    }
    return NULL;
}

static void read_message(struct run *run, uint32_t number)
{
    size_t bytes = bytes_of(number);
    uint32_t left = weft_share_units(bytes);
    struct weft_shm_range range;
    memset(run->from, (int)(number % 251) + 1, bytes);
    memset(run->to, 0, LARGEST);
    weft_share_open(&run->share, number);
    atomic_store(&run->posted, number);
    while (weft_share_claim(&run->share, number, bytes, &range)) {
        assert_true(range.offset + range.bytes <= bytes && range.bytes > 0);
        memcpy(run->to + range.offset, run->from + range.offset, range.bytes);
        left -= weft_share_units(range.bytes);
        if (number % 2)
            sched_yield();
    }
    while (left && !weft_share_reported(&run->share, number, left))
        sched_yield();
    assert_memory_equal(run->to, run->from, bytes);
    if (bytes < LARGEST)
        assert_int_equal(run->to[bytes], 0);
}

/* Returns how many parts the writer has copied. */
static uint64_t copy_all_once(void)
{
    struct run *run = aligned_alloc(WEFT_SHARE_LINE, sizeof *run);
    pthread_t writer;
    assert_non_null(run);
    memset(run, 0, sizeof *run);
    assert_int_equal(pthread_create(&writer, NULL, write_parts, run), 0);
    for (uint32_t number = 1; number <= MESSAGES; number++)
        read_message(run, number);
    atomic_store(&run->posted, LAST);
    pthread_join(writer, NULL);
    assert_int_equal(run->taken_late, 0);
    uint64_t written = run->written;
    free(run);
    return written;
}

/* Where both cores are busy with something else, the writer may not run while there is something.
 */
static void both_ends_copy_all(void **state)
{
    enum { TRIES = 30 };
    uint64_t written = 0;
    (void)state;
    for (int i = 0; i < TRIES && !written; i++)
        written = copy_all_once();
    assert_true(written > 0);
}

/* ---- Messages to be pushed */

enum { PUSHES = 20000 };

struct pushes {
    struct weft_shm_share share;
    _Atomic uint32_t requested;
    unsigned char takers[PUSHES]; /* how many have taken it */
};

/* A writer that takes some of the pushes, in order. */
static void *take_pushes(void *arg)
{
    struct pushes *p = arg;
    for (uint32_t seen = 0, requested; seen < PUSHES; seen = requested) {
        requested = atomic_load(&p->requested);
        for (uint32_t i = seen; i < requested; i++)
            if (i % 5 && weft_share_take(&p->share, i))
                p->takers[i]++;
        if (seen == requested)
            sched_yield();
    }
    return NULL;
}

static void each_push_has_one_taker(void **state)
{
    struct pushes *p = aligned_alloc(WEFT_SHARE_LINE, sizeof *p);
    pthread_t writer;
    uint32_t revoked = 0;
    (void)state;
    assert_non_null(p);
    memset(p, 0, sizeof *p);
    assert_int_equal(pthread_create(&writer, NULL, take_pushes, p), 0);
    for (uint32_t i = 1; i <= PUSHES; i++) {
        atomic_store(&p->requested, i);
        if (i % 3 && i < PUSHES)
            continue;
        if (i % 2)
            sched_yield();
        uint32_t first = weft_share_revoke(&p->share, i);
        assert_true(first <= i);
        for (; first < i; first++, revoked++)
            p->takers[first] += 2;
        assert_int_equal(weft_share_taken(&p->share), i);
    }
    pthread_join(writer, NULL);
    for (uint32_t i = 0; i < PUSHES; i++)
        assert_true(p->takers[i] == 1 || p->takers[i] == 2);
    assert_true(revoked >= PUSHES / 5); /* the writer leaves them all */
    free(p);
}

/* Copies that took so long each way, and now and then a long time. Returns how many went past. */
static int copies(struct weft_copy_tuning *pace, int count, const uint64_t nanoseconds[2])
{
    int went_past = 0;
    for (int i = 0; i < count; i++) {
        bool past = weft_copy_tuning_second(pace);
        went_past += past;
        weft_copy_tuning_note(pace, nanoseconds[past] + (i % 37 ? 0 : 9000));
    }
    return went_past;
}

static void the_faster_way_is_kept(void **state)
{
    static const uint64_t near[2] = {100, 150}, far[2] = {500, 160}, nearer[2] = {100, 160};
    struct weft_copy_tuning pace = {0};
    int period = WEFT_COPY_TUNING_LEAST;
    (void)state;
    for (; period < WEFT_COPY_TUNING_MOST; period *= 2) /* each time the same: trials get rare */
        assert_int_equal(copies(&pace, period, near), WEFT_COPY_TUNING_TRIAL);
    assert_int_equal(copies(&pace, WEFT_COPY_TUNING_MOST, near), WEFT_COPY_TUNING_TRIAL);
    copies(&pace, WEFT_COPY_TUNING_LEAST, near);
    /* The winner becomes slower than the other: not for long. */
    assert_true(copies(&pace, WEFT_COPY_TUNING_LEAST, far) >=
                WEFT_COPY_TUNING_LEAST - 2 * WEFT_COPY_TUNING_TRIAL);
    for (period = WEFT_COPY_TUNING_LEAST; period < WEFT_COPY_TUNING_MOST; period *= 2)
        assert_true(copies(&pace, period, far) >= period - 2 * WEFT_COPY_TUNING_TRIAL);
    /* The loser becomes faster: seen at the next trial. */
    copies(&pace, WEFT_COPY_TUNING_MOST, nearer);
    assert_true(copies(&pace, WEFT_COPY_TUNING_LEAST, nearer) <= 2 * WEFT_COPY_TUNING_TRIAL);
}

/* A reader whose writer never comes has it all, in parts that get smaller, but not too small. */
static void one_end_copies_all(void **state)
{
    struct weft_shm_share share = {0};
    struct weft_shm_range range;
    size_t bytes = (1 << 20) + 5, done = 0;
    int parts = 0;
    (void)state;
    weft_share_open(&share, 1);
    for (; weft_share_claim(&share, 1, bytes, &range); parts++) {
        assert_int_equal(range.offset, done);
        done += range.bytes;
        assert_true(range.bytes >= (128 << 10) || done == bytes);
    }
    assert_int_equal(done, bytes);
    assert_in_range(parts, 2, WEFT_SHARE_DIVISOR + 1);
    assert_false(weft_share_claim(&share, 2, bytes, &range));
    assert_false(weft_share_reported(&share, 1, 1));
    weft_share_report(&share, 1, WEFT_SHARE_FAILED);
    assert_true(weft_share_reported(&share, 1, WEFT_SHARE_FAILED));
    assert_false(weft_share_reported(&share, 2, WEFT_SHARE_FAILED));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ends_copy_all),
        cmocka_unit_test(each_push_has_one_taker),
        cmocka_unit_test(one_end_copies_all),
        cmocka_unit_test(the_faster_way_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
