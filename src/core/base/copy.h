// SPDX-License-Identifier: BSD-3-Clause
/*
 * Copying: a few bytes without a call, and many past the caches.
 */
#ifndef WEFT_COPY_H
#define WEFT_COPY_H

#include "core/base/assert.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Two moves of one width, which overlap unless bytes is twice the width. */
#define WEFT_COPY_TWICE(type)                                                                      \
    do {                                                                                           \
        type low, high;                                                                            \
        memcpy(&low, from, sizeof low);                                                            \
        memcpy(&high, (const char *)from + bytes - sizeof high, sizeof high);                      \
        memcpy(to, &low, sizeof low);                                                              \
        memcpy((char *)to + bytes - sizeof high, &high, sizeof high);                              \
    } while (0)

/* Copies at most 32 bytes. */
static inline __attribute__((always_inline)) void weft_copy_short(void *to, const void *from,
                                                                  size_t bytes)
{
    typedef struct {
        uint64_t words[2];
    } sixteen;
    if (bytes == 8)
        memcpy(to, from, 8);
    else if (bytes > 16)
        WEFT_COPY_TWICE(sixteen);
    else if (bytes > 8)
        WEFT_COPY_TWICE(uint64_t);
    else if (bytes >= 4)
        WEFT_COPY_TWICE(uint32_t);
    else if (bytes >= 2)
        WEFT_COPY_TWICE(uint16_t);
    else if (bytes)
        *(char *)to = *(const char *)from;
}

/* Copies to an address that begins a cache line, past the caches. weft_copied_past must
 * follow before the copy is published. */
static inline void weft_copy_past(void *to, const void *from, size_t bytes)
{
    size_t done = 0;
    weft_assert((uintptr_t)to % 64 == 0);
#if defined(__SSE2__)
    for (; bytes - done >= 64; done += 64)
        for (size_t i = done; i < done + 64; i += 16) {
            const __m128i sixteen =
                _mm_loadu_si128((const __m128i *)(const void *)((const char *)from + i));
            _mm_stream_si128((__m128i *)(void *)((char *)to + i), sixteen);
        }
#endif
    memcpy((char *)to + done, (const char *)from + done, bytes - done);
}

/* Orders what was copied past the caches before all later stores. */
static inline void weft_copied_past(void)
{
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

#endif
