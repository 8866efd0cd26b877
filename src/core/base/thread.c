// SPDX-License-Identifier: BSD-3-Clause
/*
 * Threads of the library's own: see thread.h.
 */
#include "core/base/thread.h"

#include <signal.h>
#include <stddef.h>

int weft_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(thread, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}
