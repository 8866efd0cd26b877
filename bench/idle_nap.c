// SPDX-License-Identifier: BSD-3-Clause
/*
 * Preloaded into programs of ci/delaylab: a rank that polls without an event sleeps a moment, so
 * that dozens of ranks share two cores and the delays of the network decide how long a call takes.
 * Every MPI library polls by epoll_wait or poll, or gives up its core by sched_yield.
 */
#include <dlfcn.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* NAP_NS: short beside the network's delay of 20 ms and more. */
enum { NAP_NS = 300000, EMPTY_POLLS = 8 };

static _Thread_local int empty; /* polls without an event, in sequence */

static void nap(void)
{
    struct timespec time = {0, NAP_NS};
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, NULL);
}

/* Returns the result of a poll that did not wait. */
static int after_poll(int events, int timeout)
{
    if (events > 0)
        empty = 0;
    else if (!timeout && ++empty > EMPTY_POLLS)
        nap();
    return events;
}

int sched_yield(void)
{
    nap();
    return 0;
}

int epoll_wait(int fd, struct epoll_event *events, int max, int timeout)
{
    static int (*real)(int, struct epoll_event *, int, int);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "epoll_wait");
    return after_poll(real(fd, events, max, timeout), timeout);
}

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
    static int (*real)(struct pollfd *, nfds_t, int);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "poll");
    return after_poll(real(fds, n, timeout), timeout);
}
