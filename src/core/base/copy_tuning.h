// SPDX-License-Identifier: BSD-3-Clause
/*
 * Trials: the choice between two methods of copying data to another process, which are called the
 * first and the second. There are four such choices:
 *
 *                                          first                  second
 *     data area (3 KiB and more; send.c)   through the caches     past the caches (copy.h)
 *     chunks of collectives (area.h)       through the caches     past the caches
 *     pieces of messages of 4 MiB          through the caches     past the caches
 *     long messages (fetch.c)              the receiver reads     the sender pushes
 *
 * None of them has an answer for all machines. Between two cores that share a cache, copying
 * through it is faster by a half; between cores that do not, modified lines in the writer's cache
 * reach the reader at a fifth of memory's bandwidth, and copying past the caches is two or three
 * times as fast. The cores of a process change, on a virtual machine within seconds. A reader
 * copies once, in the kernel; a pushed message is copied twice, by both ends at once: with 1 MiB
 * that takes 0.5 to 0.8 of the time on one processor, and 1.5 on another.
 *
 * The rule: TRIAL copies are made by the first method, then TRIAL by the second. The method with
 * the faster best group of copies is used until the next trial, LEAST copies after the beginning of
 * the last one. The interval doubles, up to MOST, while the same method wins, because a trial of a
 * method that is five times slower costs as much as hundreds of copies. A new trial begins early if
 * the winner has become slower than the other was.
 *
 * Invariant: in a trial as many copies are made before the measurement as are measured, so that
 * the measured ones find the caches as this method leaves them.
 */
#ifndef WEFT_COPY_TUNING_H
#define WEFT_COPY_TUNING_H

#include "core/base/assert.h"
#include "core/base/clock.h"

#include <stdbool.h>
#include <stdint.h>

/* In copies. The best GROUP of those measured in a TRIAL decides, because an interruption disturbs
 * only its own group. From LEAST to MOST copies from the start of a trial to the next. */
enum {
    WEFT_COPY_TUNING_TRIAL = 64,
    WEFT_COPY_TUNING_GROUP = 8,
    WEFT_COPY_TUNING_LEAST = 4096,
    WEFT_COPY_TUNING_MOST = 16 * WEFT_COPY_TUNING_LEAST
};

/* Begins as zero bytes. */
struct weft_copy_tuning {
    uint32_t copies, period; /* since the trial began; until the next */
    bool second;             /* the method that won */
    uint64_t group, best[2]; /* nanoseconds; of the winner, since the last TRIAL copies began */
};

/* True if the next copy is to be made by the second method. */
static inline bool weft_copy_tuning_second(const struct weft_copy_tuning *tuning)
{
    uint32_t n = tuning->copies;
    return n < 2 * WEFT_COPY_TUNING_TRIAL ? n >= WEFT_COPY_TUNING_TRIAL : tuning->second;
}

/* At the end of a trial. */
static inline void weft_copy_tuning_decide(struct weft_copy_tuning *tuning)
{
    bool second = tuning->best[1] < tuning->best[0];
    uint32_t later =
        2 * tuning->period < WEFT_COPY_TUNING_MOST ? 2 * tuning->period : WEFT_COPY_TUNING_MOST;
    tuning->period = second == tuning->second && tuning->period ? later : WEFT_COPY_TUNING_LEAST;
    tuning->second = second;
}

/* Counts a copy and its time: since the last copy if they follow each other, because throughput
 * decides. */
static inline void weft_copy_tuning_note(struct weft_copy_tuning *tuning, uint64_t nanoseconds)
{
    uint32_t n = tuning->copies++;
    bool trial = n < 2 * WEFT_COPY_TUNING_TRIAL;
    uint64_t *best = &tuning->best[trial ? n >= WEFT_COPY_TUNING_TRIAL : tuning->second];
    n %= WEFT_COPY_TUNING_TRIAL;
    if (n == 0 || (trial && n < WEFT_COPY_TUNING_TRIAL / 2)) {
        *best = UINT64_MAX;
        tuning->group = 0;
    }
    if (trial && n < WEFT_COPY_TUNING_TRIAL / 2)
        return;
    tuning->group += nanoseconds;
    if (n % WEFT_COPY_TUNING_GROUP == WEFT_COPY_TUNING_GROUP - 1) {
        *best = tuning->group < *best ? tuning->group : *best;
        tuning->group = 0;
    }
    if (n < WEFT_COPY_TUNING_TRIAL - 1)
        return;
    if (tuning->copies == 2 * WEFT_COPY_TUNING_TRIAL)
        weft_copy_tuning_decide(tuning);
    if (tuning->copies >= tuning->period && tuning->copies > 2 * WEFT_COPY_TUNING_TRIAL)
        tuning->copies = 0;
    else if (tuning->copies >= WEFT_COPY_TUNING_LEAST && *best > tuning->best[!tuning->second])
        tuning->copies = tuning->period = 0;
}

/* ---- Long messages: throughput decides, of all messages of a period together. A period lasts
 * until no message is active, or MESSAGES have ended. */

/* Begins as zero bytes. */
struct weft_shm_path {
    struct weft_copy_tuning tuning;
    uint32_t active, ended; /* active messages, and ended ones of the period */
    uint64_t begun, bytes;  /* of the period */
};

/* A message begins. Returns true if it is to be pushed. */
static inline bool weft_shm_path_begin(struct weft_shm_path *path)
{
    if (!path->active++)
        path->begun = weft_nanoseconds();
    return weft_copy_tuning_second(&path->tuning);
}

/* A message that began has ended. The time of a period is noted for each UNIT bytes. */
static inline void weft_shm_path_end(struct weft_shm_path *path, uint64_t bytes)
{
    enum { MESSAGES = 64, UNIT = 16 << 10 };
    weft_assert(path->active > 0);
    path->bytes += bytes;
    path->ended++;
    if (--path->active && path->ended < MESSAGES)
        return;
    uint64_t now = weft_nanoseconds();
    weft_copy_tuning_note(&path->tuning, (now - path->begun) * UNIT / path->bytes);
    path->begun = now;
    path->bytes = path->ended = 0;
}

#endif
