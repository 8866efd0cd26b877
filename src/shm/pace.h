// SPDX-License-Identifier: BSD-3-Clause
/*
 * Which way of copying to memory that another core reads is the faster one now: through the
 * caches, or past them (copy.h).
 *
 * Between two cores of one cache the first way wins by a half. Between cores that share none,
 * lines that lie changed in the writer's cache reach the reader at a fifth of memory's speed, and
 * the second way wins by two or three. Where a process runs changes, on a virtual machine by the
 * second. So both are tried for a few pieces now and then, and the better one is kept until the
 * next time.
 *
 * Invariant: a trial of a way begins with as many pieces that are not counted as are counted, so
 * that what is counted finds memory as this way leaves it.
 */
#ifndef WEFT_SHM_PACE_H
#define WEFT_SHM_PACE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* In pieces. Of those counted the best GROUP decides: an interruption spoils only its own group. */
enum { WEFT_PACE_TRIAL = 64, WEFT_PACE_GROUP = 8, WEFT_PACE_PERIOD = 4096 };

/* Begins as zero bytes. */
struct weft_shm_pace {
    uint32_t pieces;
    bool past;               /* the way that won */
    uint64_t group, best[2]; /* nanoseconds */
};

static inline uint64_t weft_pace_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The way to go for the next piece: past the caches? */
static inline bool weft_pace_past(const struct weft_shm_pace *pace)
{
    uint32_t n = pace->pieces % WEFT_PACE_PERIOD;
    return n < 2 * WEFT_PACE_TRIAL ? n >= WEFT_PACE_TRIAL : pace->past;
}

/* How long it took. */
static inline void weft_pace_note(struct weft_shm_pace *pace, uint64_t nanoseconds)
{
    uint32_t n = pace->pieces++ % WEFT_PACE_PERIOD;
    uint64_t *best = &pace->best[n >= WEFT_PACE_TRIAL];
    if (n >= 2 * WEFT_PACE_TRIAL)
        return;
    if (n % WEFT_PACE_TRIAL < WEFT_PACE_TRIAL / 2) {
        *best = UINT64_MAX;
        pace->group = 0;
        return;
    }
    pace->group += nanoseconds;
    if (n % WEFT_PACE_GROUP == WEFT_PACE_GROUP - 1) {
        *best = pace->group < *best ? pace->group : *best;
        pace->group = 0;
    }
    if (n == 2 * WEFT_PACE_TRIAL - 1)
        pace->past = pace->best[1] < pace->best[0];
}

#endif
