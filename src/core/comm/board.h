// SPDX-License-Identifier: BSD-3-Clause
/*
 * Agreements on a flag through words in shared memory, while no member is dead: the words of a
 * communicator (struct weft_comm_collectives). The calls are numbered. A call stores the number,
 * the flag, and whether the words can decide: its rank agrees on a flag, and has no report of a
 * dead member. A call that has read the words of all members, each of which allows that, has the
 * result; else all members continue by messages.
 *
 * All members have the same result, because
 *  - a word gets one value for each number: from its rank, or from a member for which that rank is
 *    dead and which has not found the number there. That value does not allow to decide;
 *  - so all calls that read the words of a number to the end read the same values.
 * A rank that was stopped, and wrongly counts as dead, finds a value in its word. Two words suffice
 * for each rank: it stores number n + 2 when it has read n + 1 of all members, which had read n
 * before.
 *
 * Agreements by messages begin the use of words: each contributes whether it has the words.
 */
#ifndef WEFT_BOARD_H
#define WEFT_BOARD_H

#include "core/base/assert.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { WEFT_BOARD_NUMBER_SHIFT = 33 };
static const uint64_t WEFT_BOARD_DECIDES = (uint64_t)1 << 32;

static inline uint64_t weft_board_word(uint32_t number, bool decides, int flag)
{
    return (uint64_t)number << WEFT_BOARD_NUMBER_SHIFT | (decides ? WEFT_BOARD_DECIDES : 0) |
           (uint32_t)flag;
}

static inline bool weft_board_has(uint64_t word, uint32_t number)
{
    return word >> WEFT_BOARD_NUMBER_SHIFT == (number & (UINT32_MAX >> 1));
}

/* Gives the word of a number its value unless it has one; returns its value. */
static inline uint64_t weft_board_store(_Atomic uint64_t words[2], uint32_t number, uint64_t value)
{
    _Atomic uint64_t *word = &words[number % 2];
    uint64_t before = atomic_load(word);
    weft_assert(weft_board_has(value, number));
    while (!weft_board_has(before, number))
        if (atomic_compare_exchange_weak(word, &before, value))
            return value;
    return before;
}

/* Reads the word of a number. False: the rank has not stored it. If the rank is dead, the word gets
 * a value. */
static inline bool weft_board_read(_Atomic uint64_t words[2], uint32_t number, bool dead,
                                   uint64_t *value)
{
    *value = atomic_load_explicit(&words[number % 2], memory_order_acquire);
    if (weft_board_has(*value, number))
        return true;
    if (dead)
        *value = weft_board_store(words, number, weft_board_word(number, false, 0));
    return dead;
}

#endif
