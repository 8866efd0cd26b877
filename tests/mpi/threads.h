// SPDX-License-Identifier: BSD-3-Clause
/*
 * The threads of a test, each with its number as argument.
 */
#ifndef WEFT_TESTS_THREADS_H
#define WEFT_TESTS_THREADS_H

#include "check.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { THREADS_MAX = 16 };

/* Runs work(0), work(1)... in so many threads; in turns: by the caller, one after the other. */
static void threads_run(int count, bool in_turns, void *(*work)(void *))
{
    pthread_t thread[THREADS_MAX];
    for (int i = 0; i < count; i++)
        if (in_turns)
            work((void *)(intptr_t)i);
        else
            CHECK(pthread_create(&thread[i], NULL, work, (void *)(intptr_t)i) == 0, "no thread");
    for (int i = 0; i < count && !in_turns; i++)
        pthread_join(thread[i], NULL);
}

#endif
