// SPDX-License-Identifier: BSD-3-Clause
/*
 * The division of a long message that both its ends may copy. It depends on neither MPI nor the
 * segment; both ends work on the same shared memory, which begins as zero bytes.
 *
 * The reader opens a message; each end claims ranges of the rest, mostly half of it, while it is
 * free, and copies them straight to the destination.
 *
 * Invariants:
 *  - Each byte of a message belongs to exactly one claim.
 *  - A claim is made for the message that it names: a late claim finds another number.
 */
#ifndef WEFT_SHM_SHARE_H
#define WEFT_SHM_SHARE_H

#include "core/base/assert.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ranges are of full units, and mostly at least LEAST bytes and a DIVISOR-th of the message: a
 * call of the kernel costs what 16 KiB cost. */
enum {
    WEFT_SHARE_UNIT = 4096,
    WEFT_SHARE_LEAST = 32 << 10,
    WEFT_SHARE_DIVISOR = 8,
    WEFT_SHARE_LINE = 64
};

/* The upper half of each word is the number of the message, the lower half a number of units. */
struct weft_shm_share {
    _Alignas(WEFT_SHARE_LINE) _Atomic uint64_t claimed; /* by both ends */
    _Alignas(WEFT_SHARE_LINE) _Atomic uint64_t copied;  /* by the writer, or WEFT_SHARE_FAILED */
    _Alignas(WEFT_SHARE_LINE) _Atomic uint32_t pushes;  /* the first one that neither has taken */
};

#define WEFT_SHARE_FAILED UINT32_MAX /* the writer could not copy what it had claimed */

struct weft_shm_range {
    size_t offset, bytes;
};

static inline uint64_t weft_share_word(uint32_t number, uint32_t units)
{
    return (uint64_t)number << 32 | units;
}

static inline uint32_t weft_share_units(size_t bytes)
{
    return (uint32_t)((bytes + WEFT_SHARE_UNIT - 1) / WEFT_SHARE_UNIT);
}

/* True if a message is long enough to gain by it, and its units can be counted. */
static inline bool weft_share_pays(size_t bytes)
{
    return bytes >= 2 * WEFT_SHARE_LEAST && bytes / WEFT_SHARE_UNIT < WEFT_SHARE_FAILED - 1;
}

/* By the reader: opens a message; no other is open. */
static inline void weft_share_open(struct weft_shm_share *share, uint32_t number)
{
    atomic_store_explicit(&share->claimed, weft_share_word(number, 0), memory_order_release);
}

/* The number of units that the next claim takes, of so many that are left. */
static inline uint32_t weft_share_next(uint32_t units, uint32_t left)
{
    uint32_t least = units / WEFT_SHARE_DIVISOR, half = (left + 1) / 2;
    weft_assert(left > 0 && left <= units);
    if (least < WEFT_SHARE_LEAST / WEFT_SHARE_UNIT)
        least = WEFT_SHARE_LEAST / WEFT_SHARE_UNIT;
    if (half < least)
        half = least;
    return half < left ? half : left;
}

/* By both: claims a fair range of what is left of a message of so many bytes. False when nothing
 * is.
 */
static inline bool weft_share_claim(struct weft_shm_share *share, uint32_t number, size_t bytes,
                                    struct weft_shm_range *range)
{
    uint64_t seen = atomic_load_explicit(&share->claimed, memory_order_acquire);
    uint32_t units = weft_share_units(bytes), taken, mine;
    do {
        taken = (uint32_t)seen;
        if (seen >> 32 != number || taken >= units)
            return false;
        mine = weft_share_next(units, units - taken);
    } while (!atomic_compare_exchange_weak_explicit(&share->claimed, &seen,
                                                    weft_share_word(number, taken + mine),
                                                    memory_order_acq_rel, memory_order_acquire));
    range->offset = (size_t)taken * WEFT_SHARE_UNIT;
    range->bytes = (size_t)mine * WEFT_SHARE_UNIT;
    if (range->bytes > bytes - range->offset)
        range->bytes = bytes - range->offset;
    return true;
}

/* By the writer: so many units of a message it has copied in all, or WEFT_SHARE_FAILED. */
static inline void weft_share_report(struct weft_shm_share *share, uint32_t number, uint32_t units)
{
    atomic_store_explicit(&share->copied, weft_share_word(number, units), memory_order_release);
}

/* By the reader: true when the writer has reported this. */
static inline bool weft_share_reported(const struct weft_shm_share *share, uint32_t number,
                                       uint32_t units)
{
    return atomic_load_explicit(&share->copied, memory_order_acquire) ==
           weft_share_word(number, units);
}

/* ---- Messages to be pushed, each by one end. The reader numbers them. */

/* By the writer: takes a message. False: the reader has revoked it, or not all before it are
 * taken. */
static inline bool weft_share_take(struct weft_shm_share *share, uint32_t number)
{
    return atomic_compare_exchange_strong_explicit(&share->pushes, &number, number + 1,
                                                   memory_order_acq_rel, memory_order_acquire);
}

/* By the reader: revokes all that are left before the number `end`, and returns the first. */
static inline uint32_t weft_share_revoke(struct weft_shm_share *share, uint32_t end)
{
    return atomic_exchange_explicit(&share->pushes, end, memory_order_acq_rel);
}

static inline uint32_t weft_share_taken(const struct weft_shm_share *share)
{
    return atomic_load_explicit(&share->pushes, memory_order_acquire);
}

#endif
