// SPDX-License-Identifier: BSD-3-Clause
/*
 * The division of a long message that both its ends may copy. It depends on neither MPI nor the
 * segment; both ends work on the same shared memory, which begins as zero bytes.
 *
 * The reader offers a message; each end claims parts of the rest while it is free. If both can copy
 * straight to the destination, a claim is mostly half of the rest. If only the reader can, because
 * the receive's data have holes, the writer claims pieces and copies them into the slots of the
 * reader's stage, in a cycle; the reader claims only until the writer takes part.
 *
 * Invariants:
 *  - Each byte of an offer belongs to exactly one claim.
 *  - A claim is made for the offer that it names: a late claim finds the offer withdrawn.
 *  - A writer that takes part stays until all is claimed, and stages every piece that it has
 *    claimed.
 *  - A slot is written again only after the reader has taken what was in it.
 */
#ifndef WEFT_SHM_SHARE_H
#define WEFT_SHM_SHARE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parts are of whole units, and mostly at least LEAST bytes and a LEAST_PARTS-th of the message: a
 * call of the kernel costs what 16 KiB cost. */
enum {
    WEFT_SHARE_UNIT = 4096,
    WEFT_SHARE_LEAST = 32 << 10,
    WEFT_SHARE_LEAST_PARTS = 8,
    WEFT_SHARE_LINE = 64
};

/* The stage: SLOTS pieces, few enough for a shared cache, but so many that a slot has left the
 * reader's own cache before the writer reuses it. */
enum { WEFT_STAGE_PIECE = 32 << 10, WEFT_STAGE_SLOTS = 32 };

/* The upper half of each word is the number of the offer, the lower half a number of units. */
struct weft_shm_share {
    _Alignas(WEFT_SHARE_LINE) _Atomic uint64_t claimed; /* by both ends */
    _Alignas(WEFT_SHARE_LINE) _Atomic uint64_t copied;  /* by the writer, or WEFT_SHARE_FAILED */
    /* Of the stage; the lower half is a number of pieces: */
    _Alignas(WEFT_SHARE_LINE) _Atomic uint64_t laid; /* by the writer */
    uint32_t begins[WEFT_STAGE_SLOTS]; /* the unit that each slot's piece begins with */
    _Alignas(WEFT_SHARE_LINE) _Atomic uint64_t taken; /* by the reader */
};

#define WEFT_SHARE_FAILED UINT32_MAX /* the writer could not copy what it had claimed */

struct weft_shm_part {
    size_t offset, bytes;
};

static inline uint64_t weft_share_word(uint32_t offer, uint32_t units)
{
    return (uint64_t)offer << 32 | units;
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

/* By the reader: begins an offer; no other is open. */
static inline void weft_share_open(struct weft_shm_share *share, uint32_t offer)
{
    atomic_store_explicit(&share->taken, weft_share_word(offer, 0), memory_order_relaxed);
    atomic_store_explicit(&share->claimed, weft_share_word(offer, 0), memory_order_release);
}

/* How many units the next claim takes, of so many that are left. */
static inline uint32_t weft_share_next(uint32_t units, uint32_t left)
{
    uint32_t least = units / WEFT_SHARE_LEAST_PARTS, half = (left + 1) / 2;
    if (least < WEFT_SHARE_LEAST / WEFT_SHARE_UNIT)
        least = WEFT_SHARE_LEAST / WEFT_SHARE_UNIT;
    if (half < least)
        half = least;
    return half < left ? half : left;
}

/* By both: claims a part of an offer of so many bytes: at most `most`, or, where that is 0, a fair
 * part of what is left. False when nothing is left of it. */
static inline bool weft_share_claim(struct weft_shm_share *share, uint32_t offer, size_t bytes,
                                    size_t most, struct weft_shm_part *part)
{
    uint64_t seen = atomic_load_explicit(&share->claimed, memory_order_acquire);
    uint32_t units = weft_share_units(bytes), taken, mine;
    do {
        taken = (uint32_t)seen;
        if (seen >> 32 != offer || taken >= units)
            return false;
        mine = most ? weft_share_units(most) : weft_share_next(units, units - taken);
        if (mine > units - taken)
            mine = units - taken;
    } while (!atomic_compare_exchange_weak_explicit(&share->claimed, &seen,
                                                    weft_share_word(offer, taken + mine),
                                                    memory_order_acq_rel, memory_order_acquire));
    part->offset = (size_t)taken * WEFT_SHARE_UNIT;
    part->bytes = (size_t)mine * WEFT_SHARE_UNIT;
    if (part->bytes > bytes - part->offset)
        part->bytes = bytes - part->offset;
    return true;
}

/* By the writer: so many units of an offer it has copied in all, or WEFT_SHARE_FAILED. */
static inline void weft_share_report(struct weft_shm_share *share, uint32_t offer, uint32_t units)
{
    atomic_store_explicit(&share->copied, weft_share_word(offer, units), memory_order_release);
}

/* By the reader: true when the writer has reported this. */
static inline bool weft_share_reported(const struct weft_shm_share *share, uint32_t offer,
                                       uint32_t units)
{
    return atomic_load_explicit(&share->copied, memory_order_acquire) ==
           weft_share_word(offer, units);
}

/* ---- The stage */

/* By the writer: takes part in an offer, before its first claim. */
static inline void weft_stage_come(struct weft_shm_share *share, uint32_t offer)
{
    atomic_store_explicit(&share->laid, weft_share_word(offer, 0), memory_order_release);
}

/* By the writer, which has a claim: true when the slot of its next piece is free, after so many. */
static inline bool weft_stage_has_slot(const struct weft_shm_share *share, uint32_t laid)
{
    uint32_t taken = (uint32_t)atomic_load_explicit(&share->taken, memory_order_acquire);
    return laid - taken < WEFT_STAGE_SLOTS;
}

/* By the writer: the slot of its next piece, which begins at offset, holds it. */
static inline void weft_stage_lay(struct weft_shm_share *share, uint32_t offer, uint32_t laid,
                                  size_t offset)
{
    share->begins[laid % WEFT_STAGE_SLOTS] = (uint32_t)(offset / WEFT_SHARE_UNIT);
    atomic_store_explicit(&share->laid, weft_share_word(offer, laid + 1), memory_order_release);
}

/* By the reader: true if the writer takes part; *laid is then the number of pieces it has staged.
 */
static inline bool weft_stage_has_come(const struct weft_shm_share *share, uint32_t offer,
                                       uint32_t *laid)
{
    uint64_t seen = atomic_load_explicit(&share->laid, memory_order_acquire);
    *laid = (uint32_t)seen;
    return seen >> 32 == offer;
}

/* By the reader: what the slot of the next piece holds, after so many, of an offer of so many
 * bytes. */
static inline struct weft_shm_part weft_stage_part(const struct weft_shm_share *share,
                                                   uint32_t taken, size_t bytes)
{
    size_t offset = (size_t)share->begins[taken % WEFT_STAGE_SLOTS] * WEFT_SHARE_UNIT;
    size_t rest = bytes - offset;
    return (struct weft_shm_part){offset, rest < WEFT_STAGE_PIECE ? rest : WEFT_STAGE_PIECE};
}

/* By the reader: so many pieces it has taken. */
static inline void weft_stage_take(struct weft_shm_share *share, uint32_t offer, uint32_t taken)
{
    atomic_store_explicit(&share->taken, weft_share_word(offer, taken), memory_order_release);
}

#endif
