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
 * A trial of a way that is five times slower costs as much as hundreds of pieces. So the next one
 * comes the later the more often the same way has won, unless that way has become slower than the
 * other one was.
 *
 * Invariant: a trial of a way begins with as many pieces that are not counted as are counted, so
 * that what is counted finds memory as this way leaves it.
 */
#ifndef WEFT_SHM_COPY_TUNING_H
#define WEFT_SHM_COPY_TUNING_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* In pieces. Of those counted the best GROUP of a TRIAL decides: an interruption spoils only its own
 * group. From the beginning of a trial to the next one it is LEAST to MOST. */
enum {
    WEFT_COPY_TUNING_TRIAL = 64,
    WEFT_COPY_TUNING_GROUP = 8,
    WEFT_COPY_TUNING_LEAST = 4096,
    WEFT_COPY_TUNING_MOST = 16 * WEFT_COPY_TUNING_LEAST
};

/* Begins as zero bytes. */
struct weft_shm_copy_tuning {
    uint32_t pieces, period; /* since the trial began; until the next */
    bool past;               /* the way that won */
    uint64_t group, best[2]; /* nanoseconds; of the winner, since the last TRIAL pieces began */
};

static inline uint64_t weft_copy_tuning_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The way to go for the next piece: past the caches? */
static inline bool weft_copy_tuning_past(const struct weft_shm_copy_tuning *pace)
{
    uint32_t n = pace->pieces;
    return n < 2 * WEFT_COPY_TUNING_TRIAL ? n >= WEFT_COPY_TUNING_TRIAL : pace->past;
}

/* At the end of a trial. */
static inline void weft_copy_tuning_decide(struct weft_shm_copy_tuning *pace)
{
    bool past = pace->best[1] < pace->best[0];
    uint32_t later =
        2 * pace->period < WEFT_COPY_TUNING_MOST ? 2 * pace->period : WEFT_COPY_TUNING_MOST;
    pace->period = past == pace->past && pace->period ? later : WEFT_COPY_TUNING_LEAST;
    pace->past = past;
}

/* How long it took, since the last one if they follow each other: what counts is what comes through. */
static inline void weft_copy_tuning_note(struct weft_shm_copy_tuning *pace, uint64_t nanoseconds)
{
    uint32_t n = pace->pieces++;
    bool trial = n < 2 * WEFT_COPY_TUNING_TRIAL;
    uint64_t *best = &pace->best[trial ? n >= WEFT_COPY_TUNING_TRIAL : pace->past];
    n %= WEFT_COPY_TUNING_TRIAL;
    if (n == 0 || (trial && n < WEFT_COPY_TUNING_TRIAL / 2)) {
        *best = UINT64_MAX;
        pace->group = 0;
    }
    if (trial && n < WEFT_COPY_TUNING_TRIAL / 2)
        return;
    pace->group += nanoseconds;
    if (n % WEFT_COPY_TUNING_GROUP == WEFT_COPY_TUNING_GROUP - 1) {
        *best = pace->group < *best ? pace->group : *best;
        pace->group = 0;
    }
    if (n < WEFT_COPY_TUNING_TRIAL - 1)
        return;
    if (pace->pieces == 2 * WEFT_COPY_TUNING_TRIAL)
        weft_copy_tuning_decide(pace);
    if (pace->pieces >= pace->period && pace->pieces > 2 * WEFT_COPY_TUNING_TRIAL)
        pace->pieces = 0;
    else if (pace->pieces >= WEFT_COPY_TUNING_LEAST && *best > pace->best[!pace->past])
        pace->pieces = pace->period = 0;
}

#endif
