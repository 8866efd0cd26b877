// SPDX-License-Identifier: BSD-3-Clause
/* Threads of the library's own. */
#ifndef WEFT_THREAD_H
#define WEFT_THREAD_H

#include <pthread.h>

/* Starts a thread that takes no signals, which are for the program's own threads. Returns 0, or the
 * error of pthread_create. */
int weft_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg);

#endif
