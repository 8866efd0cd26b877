// SPDX-License-Identifier: BSD-3-Clause
/*
 * Elements of several types, some with gaps, in guarded buffers.
 *
 * Invariant: every byte of a buffer that is not data of a received element is GUARD.
 */
#include "fuzz.h"

#include "../mpi/check.h"

enum { GUARD = 0xA5, MARGIN = 64, PARTS = 2 };

static const struct {
    int bytes, extent;
    struct {
        int at, bytes;
    } parts[PARTS];
} types[FUZZ_TYPES] = {{1, 1, {{0, 1}}},
                       {4, 4, {{0, 4}}},
                       {8, 8, {{0, 8}}},
                       {6, 8, {{0, 2}, {4, 4}}},
                       {12, 16, {{0, 8}, {8, 4}}}};

int fuzz_type_bytes(int type)
{
    return types[type].bytes;
}

int fuzz_type_extent(int type)
{
    return types[type].extent;
}

MPI_Datatype fuzz_datatype(int type)
{
    const MPI_Datatype all[FUZZ_TYPES] = {MPI_BYTE, MPI_INT, MPI_DOUBLE, MPI_SHORT_INT,
                                          MPI_DOUBLE_INT};
    return all[type];
}

struct fuzz_buffer fuzz_buffer_new(int type, int room, uint64_t *random)
{
    size_t skew = (size_t)fuzz_below(random, 16), data = (size_t)room * (size_t)types[type].extent;
    struct fuzz_buffer b = {.type = type, .room = room};
    if (types[type].bytes > 1)
        skew &= 8;
    b.total = data + skew + 2 * MARGIN;
    b.base = check_alloc(b.total);
    b.data = b.base + MARGIN + skew;
    fuzz_buffer_wipe(&b);
    return b;
}

void fuzz_buffer_free(struct fuzz_buffer *b)
{
    free(b->base);
    b->base = NULL;
}

void fuzz_buffer_wipe(struct fuzz_buffer *b)
{
    memset(b->base, GUARD, b->total);
}

/* Word w of a message's data, packed. */
static uint64_t word_of(uint64_t pattern, size_t w)
{
    uint64_t x = (pattern + w) * 0x9E3779B97F4A7C15u;
    return x ^ (x >> 29);
}

static void put_element(int type, unsigned char *element, const unsigned char *packed)
{
    for (int p = 0; p < PARTS && types[type].parts[p].bytes; p++) {
        memcpy(element + types[type].parts[p].at, packed, (size_t)types[type].parts[p].bytes);
        packed += types[type].parts[p].bytes;
    }
}

static bool is_element(int type, const unsigned char *element, const unsigned char *packed)
{
    for (int p = 0; p < PARTS && types[type].parts[p].bytes; p++) {
        if (memcmp(element + types[type].parts[p].at, packed, (size_t)types[type].parts[p].bytes))
            return false;
        packed += types[type].parts[p].bytes;
    }
    return true;
}

/* Bytes from `at` on of a message's data, packed. */
static void make_packed(uint64_t pattern, size_t at, unsigned char *packed, int bytes)
{
    for (int i = 0; i < bytes; i++, at++)
        packed[i] = (unsigned char)(word_of(pattern, at / 8) >> (at % 8 * 8));
}

void fuzz_buffer_fill(struct fuzz_buffer *b, int count, uint64_t pattern)
{
    size_t bytes = (size_t)types[b->type].bytes, extent = (size_t)types[b->type].extent;
    unsigned char packed[16];
    if (bytes == extent) {
        for (size_t at = 0; at < (size_t)count * bytes; at += 8) {
            uint64_t word = word_of(pattern, at / 8);
            size_t left = (size_t)count * bytes - at;
            memcpy(b->data + at, &word, left < 8 ? left : 8);
        }
        return;
    }
    for (size_t i = 0; i < (size_t)count; i++) {
        make_packed(pattern, i * bytes, packed, (int)bytes);
        put_element(b->type, b->data + i * extent, packed);
    }
}

int fuzz_buffer_differs(const struct fuzz_buffer *b, int first, int count, uint64_t pattern)
{
    size_t bytes = (size_t)types[b->type].bytes, extent = (size_t)types[b->type].extent;
    unsigned char packed[16];
    for (size_t i = (size_t)first; i < (size_t)count; i++) {
        size_t at = i * bytes;
        if (bytes == extent && at % 8 == 0 && at + 8 <= (size_t)count * bytes) {
            uint64_t word =
                word_of(pattern, at / 8); /* eight bytes at a time while they are right */
            if (!memcmp(b->data + at, &word, 8)) {
                i += 8 / bytes - 1;
                continue;
            }
        }
        make_packed(pattern, at, packed, (int)bytes);
        if (!is_element(b->type, b->data + i * extent, packed))
            return (int)i;
    }
    return count;
}

static bool all_guard(const unsigned char *p, size_t n)
{
    return n == 0 || (*p == GUARD && !memcmp(p, p + 1, n - 1));
}

bool fuzz_buffer_intact(const struct fuzz_buffer *b, int count)
{
    size_t extent = (size_t)types[b->type].extent;
    const unsigned char *end = b->data + (size_t)count * extent;
    if (!all_guard(b->base, (size_t)(b->data - b->base)) ||
        !all_guard(end, (size_t)(b->base + b->total - end)))
        return false;
    for (int i = 0; i < count && types[b->type].bytes < (int)extent; i++) {
        const unsigned char *element = b->data + (size_t)i * extent;
        int at = 0;
        for (int p = 0; p < PARTS && types[b->type].parts[p].bytes; p++) {
            int begin = types[b->type].parts[p].at;
            if (!all_guard(element + at, (size_t)(begin - at)))
                return false;
            at = begin + types[b->type].parts[p].bytes;
        }
        if (!all_guard(element + at, extent - (size_t)at))
            return false;
    }
    return true;
}
