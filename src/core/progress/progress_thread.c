// SPDX-License-Identifier: BSD-3-Clause
/*
 * The progress thread: takes the locks, calls weft_progress and sleeps.
 *
 * The thread never waits for a lock. A thread that holds one is inside MPI and makes progress, or
 * is about to leave, so the progress thread tries again a little later: first after RETRY_US,
 * because a call that starts an operation is short, then, because the program waits, after
 * BUSY_US. Therefore it delays no other thread, and a thread that holds the locks can stop it.
 *
 * It sleeps until another rank of the node writes to this one (the doorbell of shm/doorbell.c), or,
 * without shared memory, until a completion queue has an entry, if the provider has a file
 * descriptor for that. What wakes it by neither (a backlog, connections, the network beside shared
 * memory) is polled each time BUSY_US are over. A call that leaves work for it, such as data of a
 * file, wakes it (weft_progress_thread_wake).
 *
 * With WEFT_PROGRESS_THREAD=poll it polls without sleeping for ACTIVE_SECONDS after the last event
 * and the last time that it found the program in MPI, because a wake takes as long as a message of
 * some 100 KiB. It yields the core between two polls, for a rank that waits on the same one.
 *
 * Invariant: of the library it calls only weft_progress, with the locks held, and the functions of
 * lanes for its sleep.
 */
#include "core/progress/progress_thread.h"
#include "core/base/clock.h"
#include "core/base/settings.h"
#include "core/base/thread.h"
#include "core/progress/progress.h"
#include "core/message/lane.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

enum {
    PERIOD_US = 10000, /* where everything wakes the thread */
    BUSY_US = 1000,
    STALLED_US = 50, /* a message waits for space in a ring */
    RETRY_US = 50,
    RETRIES = 8,
    PAUSES = 16,          /* between two polls, about half a microsecond */
    TIMER_SLACK_NS = 1000 /* the default of 50 us would double the short sleeps */
};

static const double ACTIVE_SECONDS = 10e-3;

static pthread_t thread;
static bool running;
static _Atomic bool stopping;
static int stop_pipe[2]; /* closed at its writing end: stop */
static int wake_fd = -1; /* an eventfd; -1: the thread wakes by itself only */

enum outcome { REFUSED, EVENTS, QUIET };

/* The next sleep of the thread. */
struct rest {
    bool doorbell;
    int fds[WEFT_LOCKS_MAX], count; /* of the network */
    unsigned microseconds;
};

/* Prepares a sleep in shared memory. Returns the events since the last poll. */
static int prepare_doorbell(struct rest *rest)
{
    bool sure = weft_lanes[weft.sleeps]->sleep->begin();
    int events = weft_progress();
    bool stalled = !weft_lane_is_idle();
    rest->doorbell = true;
    rest->microseconds = events                   ? 0
                         : stalled                ? STALLED_US
                         : sure && !weft.polls[1] ? PERIOD_US
                                                  : BUSY_US;
    return events;
}

/* The file descriptors of the one lane that is polled; 0: the lanes have to be polled. */
static int list_fds(int fds[WEFT_LOCKS_MAX])
{
    unsigned number = 0;
    WEFT_LANES_EACH(lane, number)
    if (lane->wait_fds && lane->progress == weft.polls[0] && !weft.polls[1])
        return lane->wait_fds(fds);
    return 0;
}

/* Makes progress; without an event and if it may sleep, prepares the sleep. */
static enum outcome look(struct rest *rest, bool may_sleep)
{
    *rest = (struct rest){.microseconds = BUSY_US};
    if (!weft_vcis_try())
        return REFUSED;
    int events = weft_progress();
    if (!events && may_sleep && weft.sleeps)
        events = prepare_doorbell(rest);
    else if (!events && may_sleep && (rest->count = list_fds(rest->fds)) > 0)
        rest->microseconds = PERIOD_US;
    weft_vcis_leave();
    return events ? EVENTS : QUIET;
}

static void sleep_for(const struct rest *rest)
{
    struct pollfd fds[2 + WEFT_LOCKS_MAX] = {{.fd = stop_pipe[0], .events = POLLIN},
                                             {.fd = wake_fd, .events = POLLIN}};
    struct timespec time = {.tv_nsec = (long)rest->microseconds * 1000};
    if (rest->doorbell) {
        /* weft_progress_thread_stop sets stopping, then rings. */
        weft_lanes[weft.sleeps]->sleep->end(atomic_load(&stopping) ? 0 : rest->microseconds);
        return;
    }
    for (int i = 0; i < rest->count; i++)
        fds[2 + i] = (struct pollfd){.fd = rest->fds[i], .events = POLLIN};
    eventfd_t wakes;
    if (ppoll(fds, (nfds_t)rest->count + 2, &time, NULL) > 0 && fds[1].revents)
        eventfd_read(wake_fd, &wakes);
}

static void pause_between_polls(void)
{
    for (int i = 0; i < PAUSES; i++)
        weft_lock_pause();
    sched_yield();
}

static void *run(void *arg)
{
    bool polls = weft_settings.progress_thread == WEFT_PROGRESS_POLLS;
    double active_until = 0;
    unsigned refused = 0; /* consecutive times */
    prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS);
    while (!atomic_load(&stopping)) {
        struct rest rest;
        double now = polls ? weft_seconds() : 0;
        enum outcome outcome = look(&rest, now >= active_until);
        if (polls && outcome != QUIET)
            active_until = now + ACTIVE_SECONDS;
        refused = outcome == REFUSED ? refused + 1 : 0;
        if (refused && refused <= RETRIES)
            rest.microseconds = RETRY_US;
        bool awake = outcome == EVENTS || (polls && now < active_until);
        if (awake)
            rest.microseconds = 0;
        if (rest.doorbell || !awake)
            sleep_for(&rest);
        else
            pause_between_polls();
    }
    return arg;
}

static void close_wake(void)
{
    if (wake_fd >= 0)
        close(wake_fd);
    wake_fd = -1;
}

int weft_progress_thread_start(void)
{
    if (running)
        return 0;
    if (pipe(stop_pipe))
        return errno;
    wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    atomic_store(&stopping, false);
    int rc = weft_thread_start(&thread, run, NULL);
    running = rc == 0;
    if (!running) {
        close(stop_pipe[0]);
        close(stop_pipe[1]);
        close_wake();
    }
    return rc;
}

void weft_progress_thread_wake(void)
{
    if (!running)
        return;
    if (weft.sleeps)
        weft_lanes[weft.sleeps]->sleep->wake();
    else if (wake_fd >= 0)
        eventfd_write(wake_fd, 1);
}

void weft_progress_thread_stop(void)
{
    if (!running)
        return;
    atomic_store(&stopping, true);
    close(stop_pipe[1]);
    if (weft.sleeps)
        weft_lanes[weft.sleeps]->sleep->wake();
    pthread_join(thread, NULL);
    close(stop_pipe[0]);
    close_wake();
    running = false;
}
