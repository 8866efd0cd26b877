// SPDX-License-Identifier: BSD-3-Clause
/*
 * Accumulate operations on the memory of a target, by the origin where it reaches that memory, else
 * by the handler at the target.
 *
 * Invariants:
 *  - Which of the two mechanisms protects an element (a processor atomic or the word
 *    `accumulating`) follows from its type and address only, so that all ranks use the same one.
 *  - The word is held for the elements of one run at most, and never while anything is waited for.
 */
#include "core/base/error.h"
#include "core/message/process.h"
#include "core/progress/failure.h"
#include "core/rma/message.h"

#include <sched.h>
#include <string.h>

/* The largest element in memory: two numbers of 16 bytes. */
enum { MOST_ELEMENT = 64, COPY_BYTES = 4096 };

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

/* ---- The word */

/* Takes the word, unless no other rank accesses the window; *broken is set when it was taken from a
 * dead rank. */
static void take_word(const struct weft_rma_apply *apply, bool *broken)
{
    uint32_t me = (uint32_t)apply->win->comm->rank + 1;
    if (apply->exclusive)
        return;
    for (unsigned polls = 1;; polls++) {
        uint32_t seen = 0;
        if (atomic_compare_exchange_strong(&apply->control->accumulating, &seen, me))
            return;
        if (polls % 64 == 0)
            sched_yield();
        if (polls % 65536 == 0 && weft_vcis_try()) {
            weft_failure_check();
            weft_vcis_leave();
        }
        if (polls % 65536 == 0 && weft_rma_is_dead(apply->win, (int)seen - 1) &&
            atomic_compare_exchange_strong(&apply->control->accumulating, &seen, me)) {
            *broken = true;
            weft_rma_report_dead(apply->win, (int)seen - 1);
            return;
        }
    }
}

static void give_word(const struct weft_rma_apply *apply)
{
    if (!apply->exclusive)
        atomic_store(&apply->control->accumulating, 0);
}

/* ---- Without atomics, exclusively or under the word */

static bool is_aligned(const void *at, size_t bytes)
{
    size_t alignment = bytes & -bytes; /* the largest power of two that divides it */
    return (uintptr_t)at % (alignment < 16 ? alignment : 16) == 0;
}

static void combine_plain(const struct weft_rma_apply *apply, char *at, size_t bytes,
                          const char *in, char *out)
{
    _Alignas(16) char copy[COPY_BYTES], operand[COPY_BYTES];
    size_t size = weft_basic_size(apply->element), most = COPY_BYTES / size * size;
    weft_assert(most > 0 && bytes % size == 0);
    if (out)
        memcpy(out, at, bytes);
    if (apply->op->id == WEFT_OP_NO_OP)
        return;
    if (is_aligned(at, size) && is_aligned(in, size)) {
        weft_op_apply(apply->op, apply->element, in, at, bytes / size);
        return;
    }
    for (size_t done = 0, n; done < bytes; done += n) {
        n = bytes - done < most ? bytes - done : most;
        memcpy(copy, at + done, n);
        memcpy(operand, in + done, n);
        weft_op_apply(apply->op, apply->element, operand, copy, n / size);
        memcpy(at + done, copy, n);
    }
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

bool weft_rma_apply_atomic(const struct weft_op *op, enum weft_basic_type element, char *at,
                           size_t bytes, const char *in, char *out)
{
    size_t size = weft_basic_size(element);
    if (!takes_atomic(at, size))
        return false;
    if (op->id == WEFT_OP_NO_OP && !out)
        return true; /* a damaged packet may want no result */
    if (op->id == WEFT_OP_REPLACE && !out) {
        for (size_t i = 0; i < bytes; i += size)
            store(at + i, size, word_of(in + i, size));
        return true;
    }
    for (size_t i = 0; i < bytes; i += size) {
        uint64_t old = op->id == WEFT_OP_NO_OP ? load(at + i, size)
                                               : combine_atomic(op, element, size, at + i, in + i);
        if (out)
            memcpy(out + i, &old, size);
    }
    return true;
}

static int combine_run(const struct weft_rma_apply *apply, char *at, size_t bytes, const char *in,
                       char *out)
{
    bool broken = false;
    if (!apply->exclusive && weft_rma_apply_atomic(apply->op, apply->element, at, bytes, in, out))
        return MPI_SUCCESS;
    take_word(apply, &broken);
    combine_plain(apply, at, bytes, in, out);
    give_word(apply);
    return broken ? MPI_ERR_PROC_ABORTED : MPI_SUCCESS;
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

static int combine_pairs(const struct weft_rma_apply *apply, char *base,
                         const struct weft_run *runs, size_t bytes, const char *in, char *out)
{
    size_t size = weft_rma_element_bytes(apply->element);
    struct cursor cursor = {runs, 0};
    weft_assert(size <= MOST_ELEMENT && bytes % size == 0);
    bool broken = false, writes = apply->op->id != WEFT_OP_NO_OP;
    for (size_t i = 0; i < bytes; i += size) {
        _Alignas(16) char pair[MOST_ELEMENT] = {0}, operand[MOST_ELEMENT] = {0};
        char packed[MOST_ELEMENT];
        struct cursor begin = cursor;
        take_word(apply, &broken);
        move(&cursor, base, packed, size, false);
        if (out)
            memcpy(out + i, packed, size);
        if (writes) {
            pair_from_packed(apply->element, packed, pair);
            pair_from_packed(apply->element, in + i, operand);
            weft_op_apply(apply->op, apply->element, operand, pair, 1);
            pair_to_packed(apply->element, pair, packed);
            move(&begin, base, packed, size, true);
        }
        give_word(apply);
    }
    return broken ? MPI_ERR_PROC_ABORTED : MPI_SUCCESS;
}

int weft_rma_apply(const struct weft_rma_apply *apply, char *base, const struct weft_run *runs,
                   size_t nruns, const char *in, char *out)
{
    int code = MPI_SUCCESS;
    size_t done = 0;
    if (value_bytes(apply->element)) {
        for (size_t i = 0; i < nruns; i++)
            done += runs[i].bytes;
        return combine_pairs(apply, base, runs, done, in, out);
    }
    for (size_t i = 0; i < nruns; i++) {
        int failed = combine_run(apply, location(base, runs[i].at), runs[i].bytes,
                                 in ? in + done : NULL, out ? out + done : NULL);
        code = failed ? failed : code;
        done += runs[i].bytes;
    }
    return code;
}

int weft_rma_compare_and_swap(const struct weft_rma_apply *apply, char *at, size_t bytes,
                              const void *compare, const void *value, void *out)
{
    bool broken = false;
    if (takes_atomic(at, bytes)) {
        uint64_t before = word_of(compare, bytes);
        compare_and_swap(at, bytes, &before, word_of(value, bytes));
        memcpy(out, &before, bytes);
        return MPI_SUCCESS;
    }
    take_word(apply, &broken);
    memcpy(out, at, bytes);
    if (!memcmp(at, compare, bytes))
        memcpy(at, value, bytes);
    give_word(apply);
    return broken ? MPI_ERR_PROC_ABORTED : MPI_SUCCESS;
}
