// SPDX-License-Identifier: BSD-3-Clause
/*
 * For tests of recovery. If ranks die (deaths=yes in the line "run:"): a victim reports that it
 * dies, and a rank without a failed check that it survives. tests/run expects one such line of each
 * rank.
 */
#ifndef WEFT_TESTS_DEATHS_H
#define WEFT_TESTS_DEATHS_H

#include "check.h"

/* Also called by signal handlers. */
__attribute__((unused)) static _Noreturn void die(void)
{
    signal(SIGRTMIN + 3, SIG_IGN); /* of arm_deaths: the line appears once */
    char line[32] = "rank ", *end = line + 5;
    for (int digit = check.rank >= 10; digit >= 0; digit--)
        *end++ = (char)('0' + (digit ? check.rank / 10 : check.rank % 10));
    memcpy(end, " dies\n", 6);
    ssize_t written = write(STDOUT_FILENO, line, (size_t)(end + 6 - line));
    (void)written;
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

/* ---- Deaths at random times: WEFT_TEST_SEED=S repeats one job. */

__attribute__((unused)) static uint64_t seed;

__attribute__((unused)) static uint64_t draw(uint64_t a, uint64_t b)
{
    return check_mix(seed ^ check_mix(a * 1000003 + b));
}

/* All ranks have the seed of rank 0, and MPI has started at all of them: a death before that ends
 * the job. */
__attribute__((unused)) static void draw_seed(void)
{
    seed = (uint64_t)check_setting("WEFT_TEST_SEED", (int)(time(NULL) % 1000000));
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0)
        printf("WEFT_TEST_SEED=%d\n", (int)seed);
    fflush(stdout);
}

__attribute__((unused)) static void on_timer(int sig)
{
    (void)sig;
    die();
}

/* At least one survives, whatever was drawn: the one after the first victim. */
__attribute__((unused)) static int survivor(void)
{
    return ((int)(draw(3, 0) % (uint64_t)check.size) + 1) % check.size;
}

/* Up to all ranks but one die, each within some milliseconds. */
__attribute__((unused)) static void arm_deaths(void)
{
    int victims = 1 + (int)(draw(1, 0) % (uint64_t)(check.size - 1));
    for (int i = 0; i < victims; i++) {
        uint64_t us = 1 + draw(2, (uint64_t)i) % (draw(4, (uint64_t)i) % 2 ? 3000 : 60000);
        if ((int)(draw(3, (uint64_t)i) % (uint64_t)check.size) != check.rank ||
            check.rank == survivor())
            continue;
        struct sigaction action = {.sa_handler = on_timer};
        struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 3};
        struct itimerspec time = {.it_value = {.tv_nsec = (long)us * 1000}};
        timer_t timer;
        sigaction(SIGRTMIN + 3, &action, NULL);
        timer_create(CLOCK_MONOTONIC, &event, &timer);
        timer_settime(timer, 0, &time, NULL);
        return;
    }
}

/* In place of check_done. */
__attribute__((unused)) static int check_survived(void)
{
    check_step("MPI_Finalize");
    MPI_Finalize();
    signal(SIGRTMIN + 3, SIG_IGN);
    if (check.failures == 0) {
        printf("rank %d survives\n", check.rank);
        fflush(stdout);
    }
    return check.failures > 0;
}

/* Waits until this process has found `count` dead members. */
__attribute__((unused)) static void await_deaths(MPI_Comm comm, int count)
{
    check_step("waiting for the report of %d deaths", count);
    for (int found = 0; found < count;) {
        MPI_Group dead;
        CHECK_CLASS(MPIX_Comm_get_failed(comm, &dead), MPI_SUCCESS);
        MPI_Group_size(dead, &found);
        if (dead != MPI_GROUP_EMPTY)
            MPI_Group_free(&dead);
        if (found < count)
            usleep(1000);
    }
}

/* ---- Revocations */

__attribute__((unused)) static void expect_revoked(const char *what, int code)
{
    CHECK(check_class(code) == MPIX_ERR_REVOKED, "%s: class %d", what, check_class(code));
}

/* True if a call has started something; else the revocation has come before it. */
__attribute__((unused)) static bool has_started(const char *what, int code)
{
    if (code != MPI_SUCCESS)
        expect_revoked(what, code);
    return code == MPI_SUCCESS;
}

#endif
