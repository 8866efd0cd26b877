// SPDX-License-Identifier: BSD-3-Clause
/*
 * Accumulate operations on the memory of a target, by the origin where it reaches that memory, else
 * by the handler at the target.
 *
 * Where several processes apply operations to one memory, two mechanisms protect its elements:
 *  - Processor atomics, for a few elements. The rank announces them: it stores the target in its
 *    own word `applying`, and applies them only if `accumulating` of the target, read after that,
 *    has no mark LONG.
 *  - The word `accumulating` of the target, which one rank holds at a time: with the mark LONG for
 *    many elements, to which it applies the loops of collectives (coll/op.h) once no rank announces
 *    atomics at that target; without the mark for elements that take no atomics, and for a few
 *    atomics of a rank that has found the mark.
 *
 * Invariants:
 *  - An element that takes atomics is changed by an atomic, or while the word has the mark LONG and
 *    no atomics are announced; any other element while the word is held. Which elements take
 *    atomics follows from their type and address only, so that all ranks decide alike.
 *  - Where no other process applies operations (`alone`) nothing is announced and no word taken; a
 *    few elements are changed by atomics all the same, for a program that polls its own window.
 *  - A rank waits for nothing while it announces atomics. It holds the word for at most HOLD_BYTES
 *    of elements, and waits meanwhile for announced atomics only.
 *  - A word that a dead rank has left does not stop others: who waits for the rank takes the word
 *    over, and reports MPIX_ERR_PROC_FAILED if the dead rank had held it.
 */
#include "core/base/error.h"
#include "core/progress/failure.h"
#include "core/progress/progress.h"
#include "core/rma/message.h"

#include <sched.h>
#include <string.h>

/* The largest element in memory: two numbers of 16 bytes. */
enum { MOST_ELEMENT = 64, COPY_BYTES = 4096 };

/* Some microseconds of a loop, beside which taking the word is cheap. */
enum { HOLD_BYTES = 65536 };

static const uint32_t LONG = UINT32_C(1) << 31; /* above each rank + 1 */

/* ---- Elements: pairs may have padding in memory that their packed form has not */

static size_t value_bytes(enum weft_basic_type element)
{
    switch (element) {
    case WEFT_BASIC_SHORT_INT:
        return sizeof(short);
    case WEFT_BASIC_DOUBLE_INT:
        return sizeof(double);
    case WEFT_BASIC_LONG_INT:
        return sizeof(long);
    case WEFT_BASIC_LONG_DOUBLE_INT:
        return sizeof(long double);
    default:
        return 0; /* packed as it is in memory */
    }
}

size_t weft_rma_element_bytes(enum weft_basic_type element)
{
    size_t value = value_bytes(element);
    return value ? value + sizeof(int) : weft_basic_size(element);
}

/* The offset of the index in memory. */
static size_t index_offset(enum weft_basic_type element)
{
    return element == WEFT_BASIC_SHORT_INT ? offsetof(struct weft_short_int, index)
                                           : value_bytes(element);
}

static void pair_from_packed(enum weft_basic_type element, const char *packed, char *pair)
{
    size_t value = value_bytes(element);
    memcpy(pair, packed, value);
    memcpy(pair + index_offset(element), packed + value, sizeof(int));
}

static void pair_to_packed(enum weft_basic_type element, const char *pair, char *packed)
{
    size_t value = value_bytes(element);
    memcpy(packed, pair, value);
    memcpy(packed + value, pair + index_offset(element), sizeof(int));
}

/* On integers: operations at a target have absolute addresses. */
static char *location(char *base, MPI_Aint at)
{
    return (char *)((uintptr_t)base + (uintptr_t)at);
}

/* ---- The words */

static _Atomic uint32_t *word_of_target(const struct weft_rma_apply *apply)
{
    return &apply->win->targets[apply->target].control->accumulating;
}

/* Checks for failures, and for a hang report that is due, in a wait for another rank. */
WEFT_COLD static void check_wait(struct weft_win *win, int other, unsigned checks)
{
    const char *waits_for = win->waits_for;
    int waits_at = win->waits_at;
    win->waits_for = "the end of an accumulate operation";
    win->waits_at = other;
    weft_failure_check();
    if (weft_wait_report)
        weft_wait_report(checks * WEFT_WAIT_POLLS, NULL);
    win->waits_for = waits_for;
    win->waits_at = waits_at;
}

/* One turn of a wait for another rank's operation at the target; true if that rank is dead. */
static bool wait_turn(struct weft_win *win, int other, unsigned polls)
{
    enum { YIELD = 64, CHECK = 4096 };
    if (polls % YIELD == 0)
        sched_yield();
    if (polls % CHECK || !weft_vcis_try())
        return false;
    check_wait(win, other, polls / CHECK);
    weft_vcis_leave();
    return weft_rma_is_dead(win, other);
}

/* Waits until no rank announces atomics at the target. */
static void await_atomics(const struct weft_rma_apply *apply)
{
    struct weft_win *win = apply->win;
    uint32_t announced = (uint32_t)apply->target + 1;
    weft_assert(win->control->applying != announced);
    for (int i = 0; i < win->nmembers; i++) {
        _Atomic uint32_t *applying = &win->targets[win->members[i]].control->applying;
        for (unsigned polls = 1; atomic_load(applying) == announced; polls++)
            if (wait_turn(win, win->members[i], polls))
                atomic_store(applying, 0);
    }
}

/* Takes the word; mark: LONG or 0. */
static int take_word(const struct weft_rma_apply *apply, uint32_t mark)
{
    struct weft_win *win = apply->win;
    uint32_t mine = ((uint32_t)win->comm->rank + 1) | mark, seen = 0;
    int code = MPI_SUCCESS;
    for (unsigned polls = 1; !atomic_compare_exchange_strong(word_of_target(apply), &seen, mine);
         polls++) {
        int holder = (int)(seen & ~LONG) - 1;
        bool dead = wait_turn(win, holder, polls);
        if (dead && atomic_compare_exchange_strong(word_of_target(apply), &seen, mine)) {
            code = weft_rma_report_dead(win, holder);
            break;
        }
        seen = 0;
    }
    if (mark)
        await_atomics(apply);
    return code;
}

static void give_word(const struct weft_rma_apply *apply)
{
    weft_assert((*word_of_target(apply) & ~LONG) == (uint32_t)apply->win->comm->rank + 1);
    atomic_store_explicit(word_of_target(apply), 0, memory_order_release);
}

static void end_atomics(const struct weft_rma_apply *apply)
{
    atomic_store_explicit(&apply->win->control->applying, 0, memory_order_release);
}

/* Announces atomics; false if the word has the mark LONG. */
static bool begin_atomics(const struct weft_rma_apply *apply)
{
    atomic_store(&apply->win->control->applying, (uint32_t)apply->target + 1);
    if (weft_likely(!(atomic_load(word_of_target(apply)) & LONG)))
        return true;
    end_atomics(apply);
    return false;
}

/* ---- Without atomics, alone or under the word */

static bool is_aligned(const void *at, size_t bytes)
{
    size_t alignment = bytes & -bytes; /* the largest power of two that divides it */
    return (uintptr_t)at % (alignment < 16 ? alignment : 16) == 0;
}

WEFT_COLD static void combine_unaligned(const struct weft_rma_apply *apply, char *at, size_t bytes,
                                        const char *in)
{
    _Alignas(16) char copy[COPY_BYTES], operand[COPY_BYTES];
    size_t size = weft_basic_size(apply->element), most = COPY_BYTES / size * size;
    weft_assert(most > 0 && bytes % size == 0);
    for (size_t done = 0, n; done < bytes; done += n) {
        n = bytes - done < most ? bytes - done : most;
        memcpy(copy, at + done, n);
        memcpy(operand, in + done, n);
        weft_op_apply(apply->op, apply->element, operand, copy, n / size);
        memcpy(at + done, copy, n);
    }
}

static void combine_plain(const struct weft_rma_apply *apply, char *at, size_t bytes,
                          const char *in, char *out)
{
    size_t size = weft_basic_size(apply->element);
    if (out)
        memcpy(out, at, bytes);
    if (apply->op->id == WEFT_OP_NO_OP)
        return;
    if (is_aligned(at, size) && is_aligned(in, size))
        weft_op_apply(apply->op, apply->element, in, at, bytes / size);
    else
        combine_unaligned(apply, at, bytes, in);
}

/* ---- By processor atomics, relaxed: on aligned elements of 1, 2, 4 or 8 bytes, whose value is in
 * the low bytes of a word (external32.c refuses other machines than little-endian ones) */

static bool takes_atomic(const char *at, size_t size)
{
    return size <= 8 && !(size & (size - 1)) && !((uintptr_t)at & (size - 1));
}

static inline uint64_t word_of(const void *element, size_t size)
{
    uint64_t word = 0;
    switch (size) { /* constant lengths, so that no function is called */
    case 1:
        memcpy(&word, element, 1);
        break;
    case 2:
        memcpy(&word, element, 2);
        break;
    case 4:
        memcpy(&word, element, 4);
        break;
    default:
        memcpy(&word, element, 8);
    }
    return word;
}

static inline uint64_t load(const char *at, size_t size)
{
    switch (size) {
    case 1:
        return __atomic_load_n((const uint8_t *)at, __ATOMIC_RELAXED);
    case 2:
        return __atomic_load_n((const uint16_t *)at, __ATOMIC_RELAXED);
    case 4:
        return __atomic_load_n((const uint32_t *)at, __ATOMIC_RELAXED);
    default:
        return __atomic_load_n((const uint64_t *)at, __ATOMIC_RELAXED);
    }
}

static inline void store(char *at, size_t size, uint64_t value)
{
    switch (size) {
    case 1:
        __atomic_store_n((uint8_t *)at, (uint8_t)value, __ATOMIC_RELAXED);
        return;
    case 2:
        __atomic_store_n((uint16_t *)at, (uint16_t)value, __ATOMIC_RELAXED);
        return;
    case 4:
        __atomic_store_n((uint32_t *)at, (uint32_t)value, __ATOMIC_RELAXED);
        return;
    default:
        __atomic_store_n((uint64_t *)at, value, __ATOMIC_RELAXED);
    }
}

#define COMPARE_AND_SWAP(type)                                                                     \
    {                                                                                              \
        type found = (type)*before;                                                                \
        bool swapped = __atomic_compare_exchange_n((type *)at, &found, (type)after, false,         \
                                                   __ATOMIC_RELAXED, __ATOMIC_RELAXED);            \
        *before = found;                                                                           \
        return swapped;                                                                            \
    }

/* If the element is not *before, *before becomes what it is. */
static inline bool compare_and_swap(char *at, size_t size, uint64_t *before, uint64_t after)
{
    switch (size) {
    case 1:
        COMPARE_AND_SWAP(uint8_t)
    case 2:
        COMPARE_AND_SWAP(uint16_t)
    case 4:
        COMPARE_AND_SWAP(uint32_t)
    default:
        COMPARE_AND_SWAP(uint64_t)
    }
}

/* Elements whose sum is that of unsigned integers. */
static bool adds_as_integer(enum weft_basic_type element)
{
    return (element >= WEFT_BASIC_INT8 && element <= WEFT_BASIC_INTEGER8) ||
           element == WEFT_BASIC_ADDRESS || element == WEFT_BASIC_CHAR;
}

/* One element; returns its value before. */
static inline uint64_t combine_atomic(const struct weft_op *op, enum weft_basic_type element,
                                      size_t size, char *at, const char *in)
{
    bool adds = op->id == WEFT_OP_SUM && adds_as_integer(element);
    if (adds && size == 8)
        return __atomic_fetch_add((uint64_t *)at, word_of(in, 8), __ATOMIC_RELAXED);
    if (adds && size == 4)
        return __atomic_fetch_add((uint32_t *)at, (uint32_t)word_of(in, 4), __ATOMIC_RELAXED);
    uint64_t operand = word_of(in, size), before = load(at, size), after;
    do {
        after = before;
        weft_op_apply(op, element, &operand, &after, 1);
    } while (!compare_and_swap(at, size, &before, after));
    return before;
}

static void combine_run(const struct weft_op *op, enum weft_basic_type element, char *at,
                        size_t bytes, const char *in, char *out)
{
    size_t size = weft_basic_size(element);
    weft_assert(takes_atomic(at, size));
    if (op->id == WEFT_OP_NO_OP && !out)
        return; /* a damaged packet may want no result */
    if (op->id == WEFT_OP_REPLACE && !out) {
        for (size_t i = 0; i < bytes; i += size)
            store(at + i, size, word_of(in + i, size));
        return;
    }
    for (size_t i = 0; i < bytes; i += size) {
        uint64_t old = op->id == WEFT_OP_NO_OP ? load(at + i, size)
                                               : combine_atomic(op, element, size, at + i, in + i);
        if (out)
            memcpy(out + i, &old, size);
    }
}

/* ---- Pairs with padding: an element may lie in two runs */

struct cursor {
    const struct weft_run *run;
    size_t offset; /* in it */
};

static void move(struct cursor *cursor, char *base, char *packed, size_t bytes, bool write)
{
    for (size_t done = 0, n; done < bytes; done += n) {
        char *at = location(base, cursor->run->at) + cursor->offset;
        n = cursor->run->bytes - cursor->offset;
        n = n < bytes - done ? n : bytes - done;
        memcpy(write ? at : packed + done, write ? packed + done : at, n);
        cursor->offset += n;
        if (cursor->offset == cursor->run->bytes) {
            cursor->run++;
            cursor->offset = 0;
        }
    }
}

static void combine_pairs(const struct weft_rma_apply *apply, char *base,
                          const struct weft_run *runs, size_t bytes, const char *in, char *out)
{
    size_t size = weft_rma_element_bytes(apply->element);
    struct cursor cursor = {runs, 0};
    weft_assert(size <= MOST_ELEMENT && bytes % size == 0);
    for (size_t i = 0; i < bytes; i += size) {
        _Alignas(16) char pair[MOST_ELEMENT] = {0}, operand[MOST_ELEMENT] = {0};
        char packed[MOST_ELEMENT];
        struct cursor begin = cursor;
        move(&cursor, base, packed, size, false);
        if (out)
            memcpy(out + i, packed, size);
        if (apply->op->id == WEFT_OP_NO_OP)
            continue;
        pair_from_packed(apply->element, packed, pair);
        pair_from_packed(apply->element, in + i, operand);
        weft_op_apply(apply->op, apply->element, operand, pair, 1);
        pair_to_packed(apply->element, pair, packed);
        move(&begin, base, packed, size, true);
    }
}

/* ---- All elements */

struct operand {
    char *base;
    const struct weft_run *runs;
    size_t nruns, bytes;
    const char *in;
    char *out;
};

/* True if all elements take atomics, and are few: taking the word and reading that of each member
 * takes as long as one atomic for each member. */
static bool is_short(const struct weft_rma_apply *apply, const struct operand *on)
{
    size_t size = weft_basic_size(apply->element);
    if (on->bytes > size * (size_t)apply->win->nmembers || value_bytes(apply->element))
        return false;
    for (size_t i = 0; i < on->nruns; i++)
        if (!takes_atomic(location(on->base, on->runs[i].at), size))
            return false;
    return true;
}

static void combine(const struct weft_rma_apply *apply, const struct operand *on, bool atomics)
{
    size_t done = 0;
    if (value_bytes(apply->element)) {
        combine_pairs(apply, on->base, on->runs, on->bytes, on->in, on->out);
        return;
    }
    for (size_t i = 0; i < on->nruns; done += on->runs[i++].bytes) {
        char *at = location(on->base, on->runs[i].at), *out = on->out ? on->out + done : NULL;
        const char *in = on->in ? on->in + done : NULL;
        if (atomics)
            combine_run(apply->op, apply->element, at, on->runs[i].bytes, in, out);
        else
            combine_plain(apply, at, on->runs[i].bytes, in, out);
    }
}

int weft_rma_apply(const struct weft_rma_apply *apply, char *base, const struct weft_run *runs,
                   size_t nruns, const char *in, char *out)
{
    struct operand on = {base, runs, nruns, 0, in, out};
    for (size_t i = 0; i < nruns; i++)
        on.bytes += runs[i].bytes;
    bool atomics = is_short(apply, &on);
    if (apply->alone) {
        combine(apply, &on, atomics);
        return MPI_SUCCESS;
    }
    if (atomics && begin_atomics(apply)) {
        combine(apply, &on, true);
        end_atomics(apply);
        return MPI_SUCCESS;
    }
    int code = take_word(apply, atomics ? 0 : LONG);
    combine(apply, &on, atomics);
    give_word(apply);
    return code;
}

int weft_rma_apply_run(const struct weft_rma_apply *apply, char *at, size_t bytes, const char *in,
                       char *out)
{
    int code = MPI_SUCCESS;
    size_t most = bytes;
    if (bytes > HOLD_BYTES)
        most = HOLD_BYTES - HOLD_BYTES % weft_rma_element_bytes(apply->element);
    for (size_t done = 0, n; done < bytes; done += n) {
        n = bytes - done < most ? bytes - done : most;
        struct weft_run run = {0, n};
        int failed = weft_rma_apply(apply, at + done, &run, 1, in ? in + done : NULL,
                                    out ? out + done : NULL);
        code = failed ? failed : code;
    }
    return code;
}

static void swap_plain(char *at, size_t bytes, const void *compare, const void *value, void *out)
{
    memcpy(out, at, bytes);
    if (!memcmp(at, compare, bytes))
        memcpy(at, value, bytes);
}

static void swap_atomic(char *at, size_t bytes, const void *compare, const void *value, void *out)
{
    uint64_t before = word_of(compare, bytes);
    compare_and_swap(at, bytes, &before, word_of(value, bytes));
    memcpy(out, &before, bytes);
}

int weft_rma_compare_and_swap(const struct weft_rma_apply *apply, char *at, size_t bytes,
                              const void *compare, const void *value, void *out)
{
    bool atomic = takes_atomic(at, bytes);
    bool announced = !apply->alone && atomic && begin_atomics(apply);
    int code = apply->alone || announced ? MPI_SUCCESS : take_word(apply, 0);
    if (atomic)
        swap_atomic(at, bytes, compare, value, out);
    else
        swap_plain(at, bytes, compare, value, out);
    if (announced)
        end_atomics(apply);
    else if (!apply->alone)
        give_word(apply);
    return code;
}
