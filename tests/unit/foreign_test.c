// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table of foreign processes: each has one number and is found by its job and rank, also after
 * numbers were given back in any order; the lowest free number is taken; the time grows with the
 * number of processes, not with its square.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/message/foreign.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { JOB_SIZE = 3, JOBS = 50 };

static struct weft_contact contact_of(int job, int rank)
{
    struct weft_contact contact = {.job = {{UINT64_C(0x9e3779b97f4a7c15) * (unsigned)(job + 1), 7}},
                                   .rank = rank,
                                   .tag_ub = INT32_MAX};
    snprintf(contact.job_name, sizeof contact.job_name, "job-%d", job);
    snprintf(contact.host, sizeof contact.host, "host");
    return contact;
}

static int number_of(int job, int rank)
{
    struct weft_contact contact = contact_of(job, rank);
    return weft_foreign_number(&contact, NULL);
}

static bool is_known(int job, int rank)
{
    return weft_foreign_find(contact_of(job, rank).job, rank);
}

/* Takes a number for each of so many ranks of all jobs. Returns the seconds. */
static double meet(int ranks)
{
    double begin = weft_seconds();
    for (int rank = 0; rank < ranks; rank++)
        for (int job = 0; job < JOBS; job++)
            weft_foreign_refer(number_of(job, rank), 1);
    return weft_seconds() - begin;
}

static void part(void)
{
    for (int number = JOB_SIZE + weft_foreign_count - 1; number >= JOB_SIZE; number--)
        weft_foreign_refer(number, -1);
}

static void numbers(void **state)
{
    (void)state;
    enum { RANKS = 40 };
    meet(RANKS);
    assert_int_equal(weft_foreign_count, RANKS * JOBS);
    for (int rank = 0; rank < RANKS; rank++)
        for (int job = 0; job < JOBS; job++) {
            int number = number_of(job, rank);
            assert_int_equal(number, JOB_SIZE + rank * JOBS + job);
            assert_int_equal(weft_foreign_of(number)->contact.rank, rank);
        }
    for (int job = 0; job < JOBS; job += 7)
        weft_foreign_refer(number_of(job, job % RANKS), -1);
    for (int job = 0; job < JOBS; job++)
        assert_int_equal(is_known(job, job % RANKS), job % 7 != 0);
    assert_int_equal(number_of(JOBS, 0), JOB_SIZE); /* that of job 0 and rank 0 */
    weft_foreign_tidy();
    assert_false(is_known(JOBS, 0));
    assert_true(is_known(1, 0));
    weft_foreign_finalize();
    assert_false(is_known(1, 0));
}

/* The identity of a job does not follow from its name: a process of another job with the same name
 * and the same rank is a foreign one. */
static void jobs_of_one_name(void **state)
{
    (void)state;
    struct weft_contact own, other;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        bool good = weft_contact_own(&other) && write(ends[1], &other, sizeof other) > 0;
        _exit(!good);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &other, sizeof other), sizeof other);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(weft_contact_own(&own));
    assert_int_equal(own.rank, other.rank);
    assert_int_equal(weft_foreign_number(&own, NULL), weft.job.rank);
    assert_int_equal(weft_foreign_number(&other, NULL), JOB_SIZE);
    own.rank = JOB_SIZE - 1;
    assert_int_equal(weft_foreign_number(&own, NULL), JOB_SIZE - 1);
    own.rank = JOB_SIZE;
    assert_int_equal(weft_foreign_number(&own, NULL), -1);
    other.tag_ub = 6;
    assert_int_equal(weft_foreign_number(&other, NULL), -1);
    weft_foreign_tidy();
    weft_foreign_finalize();
    close(ends[0]);
}

static void time_is_linear(void **state)
{
    (void)state;
    enum { FEW = 20, MANY = 32 * FEW };
    double few = 1e9, many = 1e9;
    for (int i = 0; i < 5; i++) {
        double now = meet(FEW);
        part();
        weft_foreign_finalize();
        few = now < few ? now : few;
        now = meet(MANY);
        part();
        weft_foreign_finalize();
        many = now < many ? now : many;
    }
    /* a linear search takes 1024 times as long */
    assert_true(many < 200 * few);
}

int main(void)
{
    weft.job = (struct weft_job){.size = JOB_SIZE, .nspace = "own", .host = "host"};
    weft.tag_ub = INT32_MAX;
    /* jobs_of_one_name forks a process that has no identity yet */
    const struct CMUnitTest tests[] = {cmocka_unit_test(jobs_of_one_name),
                                       cmocka_unit_test(numbers), cmocka_unit_test(time_is_linear)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
