// SPDX-License-Identifier: BSD-3-Clause
/*
 * Preloaded by ci/faults: the time of day jumps by WEFT_TEST_JUMP seconds after the process has run
 * for a second, and back after another one. The monotonic clock goes on.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t jump(void)
{
    static time_t begun;
    struct timespec monotonic;
    const char *seconds = getenv("WEFT_TEST_JUMP");
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &monotonic);
    if (!begun)
        begun = monotonic.tv_sec;
    return seconds && monotonic.tv_sec == begun + 1 ? atol(seconds) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    int rc = (int)syscall(SYS_clock_gettime, clock, t);
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
        t->tv_sec += jump();
    return rc;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    t->tv_sec = now.tv_sec;
    t->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result)
        *result = now.tv_sec;
    return now.tv_sec;
}
