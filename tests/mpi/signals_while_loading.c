// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm-soft seconds=30
/*
 * A signal ends a rank as it ends any process, also while MPI_Init loads libfabric: a thread reads
 * the actions of signals meanwhile, and none is ever caught. (libinfinipath, which Debian's
 * libfabric loads, would catch them and exit with status 1.) Not on other fabrics: libpsm2 catches
 * signals itself while it opens.
 */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>

static const int signals[] = {SIGINT, SIGTERM, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
static atomic_bool loaded;
static int caught;

static void *watch(void *unused)
{
    while (!loaded)
        for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
            struct sigaction action;
            if (!sigaction(signals[i], NULL, &action) && action.sa_handler != SIG_DFL &&
                action.sa_handler != SIG_IGN)
                caught = signals[i];
        }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t watcher;
    pthread_create(&watcher, NULL, watch, NULL);
    check_begin(&argc, &argv, 2);
    MPI_Barrier(MPI_COMM_WORLD);
    loaded = true;
    pthread_join(watcher, NULL);
    CHECK(!caught, "signal %d (%s) was caught while libfabric was loaded", caught,
          strsignal(caught));
    return check_done();
}
