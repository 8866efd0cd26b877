// SPDX-License-Identifier: BSD-3-Clause
#ifndef WEFT_CLOCK_H
#define WEFT_CLOCK_H

#include <time.h>

/* Seconds, monotonic. */
static inline double weft_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif
