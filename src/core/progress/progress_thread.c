// SPDX-License-Identifier: BSD-3-Clause
/*
 * The progress thread: takes the locks, calls weft_progress and sleeps.
 *
 * The thread never waits for a lock. A thread that holds one is inside MPI and makes progress, or
 * is about to leave, so the progress thread tries again a little later. Therefore it delays no
 * other thread, and a thread that holds the locks can stop it. It sleeps until the provider's
 * completion queue has an entry, if the provider has a file descriptor for that; everything else (a
 * backlog, shared memory, connections) is polled every PERIOD_MS.
 *
 * Invariant: of the library it calls only weft_progress, with the locks held.
 */
#include "core/progress/progress_thread.h"
#include "core/progress/progress.h"
#include "core/message/lane_ops.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

enum { PERIOD_MS = 10, BUSY_PERIOD_MS = 1 };

static pthread_t thread;
static bool running;
static int stop_pipe[2]; /* closed at its writing end: stop */

/* Sleeps until a completion queue has an entry, a period is over, or the thread must stop. Returns
 * true in the last case. */
static bool sleep_until_news(const int *net_fds, int count, int period)
{
    struct pollfd fds[1 + WEFT_LOCKS_MAX] = {{.fd = stop_pipe[0], .events = POLLIN}};
    for (int i = 0; i < count; i++)
        fds[1 + i] = (struct pollfd){.fd = net_fds[i], .events = POLLIN};
    poll(fds, (nfds_t)count + 1, period);
    return fds[0].revents != 0;
}

static void *run(void *arg)
{
    bool stop = false;
    while (!stop) {
        int net_fds[WEFT_LOCKS_MAX], events = 0, count = 0, period = BUSY_PERIOD_MS;
        if (weft_vcis_try()) {
            events = weft_progress();
            if (!events && !weft.shm && weft.net &&
                (count = weft_lane_ops->net_wait_fds(net_fds)) > 0)
                period = PERIOD_MS;
            weft_vcis_leave();
        }
        stop = sleep_until_news(net_fds, count, events ? 0 : period);
    }
    return arg;
}

int weft_progress_thread_start(void)
{
    sigset_t all, before;
    if (running)
        return 0;
    if (pipe(stop_pipe))
        return errno;
    sigfillset(&all); /* signals are the program's own threads' affair */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    running = rc == 0;
    if (!running) {
        close(stop_pipe[0]);
        close(stop_pipe[1]);
    }
    return rc;
}

void weft_progress_thread_stop(void)
{
    if (!running)
        return;
    close(stop_pipe[1]);
    pthread_join(thread, NULL);
    close(stop_pipe[0]);
    running = false;
}
