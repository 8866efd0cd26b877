// SPDX-License-Identifier: BSD-3-Clause
/*
 * The choice between two ways of long messages whose ends both stay in MPI until they are through:
 * the receiver reads the sender's memory (share.c), or they pass through the ring in pieces.
 *
 * Reading is one copy, by the kernel; the other way is two, by both ends at once and with all that
 * a processor has for copying. Which one is faster depends on the processor, the kernel, the
 * place of the cores and the traffic: with 1 MiB the other way takes 0.5 to 0.8 of the time on one
 * processor, and 1.5 on another. So trials decide, by how much arrives in a time: a period lasts
 * until no message is under way, or MOST have ended.
 */
#ifndef WEFT_SHM_WAY_H
#define WEFT_SHM_WAY_H

#include "shm/copy_tuning.h"

/* Begins as zero bytes. */
struct weft_shm_way {
    struct weft_shm_copy_tuning tuning;
    uint32_t active, ended; /* messages under way; and of the period */
    uint64_t begun, bytes;  /* of the period */
};

/* A message begins. Returns true if it is to pass through the ring. */
static inline bool weft_shm_way_begin(struct weft_shm_way *way)
{
    if (!way->active++)
        way->begun = weft_copy_tuning_clock();
    return weft_copy_tuning_second(&way->tuning);
}

/* It has ended. */
static inline void weft_shm_way_end(struct weft_shm_way *way, uint64_t bytes)
{
    enum { MOST = 64, UNIT = 16 << 10 };
    weft_assert(way->active > 0);
    way->bytes += bytes;
    way->ended++;
    if (--way->active && way->ended < MOST)
        return;
    uint64_t now = weft_copy_tuning_clock();
    weft_copy_tuning_note(&way->tuning, (now - way->begun) * UNIT / way->bytes);
    way->begun = now;
    way->bytes = way->ended = 0;
}

#endif
