// SPDX-License-Identifier: BSD-3-Clause
/*
 * The choice between two copy paths of long messages whose ends both wait in MPI until they are
 * complete: the receiver reads the sender's memory (share.c), or they pass through the ring in
 * pieces.
 *
 * Reading is one copy, by the kernel; the other path is two, by both ends at once and with all that
 * a processor has for copying. Which one is faster depends on the processor, the kernel, the
 * location of the cores and the traffic: with 1 MiB the other path takes 0.5 to 0.8 of the time on
 * one processor, and 1.5 on another. So trials decide, by how much arrives in a time: a period
 * lasts until no message is under way, or MOST have ended.
 */
#ifndef WEFT_SHM_COPY_PATH_H
#define WEFT_SHM_COPY_PATH_H

#include "shm/copy_tuning.h"

/* Begins as zero bytes. */
struct weft_shm_path {
    struct weft_shm_copy_tuning tuning;
    uint32_t active, ended; /* messages under way; and of the period */
    uint64_t begun, bytes;  /* of the period */
};

/* A message begins. Returns true if it is to pass through the ring. */
static inline bool weft_shm_path_begin(struct weft_shm_path *path)
{
    if (!path->active++)
        path->begun = weft_copy_tuning_clock();
    return weft_copy_tuning_second(&path->tuning);
}

/* It has ended. */
static inline void weft_shm_path_end(struct weft_shm_path *path, uint64_t bytes)
{
    enum { MOST = 64, UNIT = 16 << 10 };
    weft_assert(path->active > 0);
    path->bytes += bytes;
    path->ended++;
    if (--path->active && path->ended < MOST)
        return;
    uint64_t now = weft_copy_tuning_clock();
    weft_copy_tuning_note(&path->tuning, (now - path->begun) * UNIT / path->bytes);
    path->begun = now;
    path->bytes = path->ended = 0;
}

#endif
