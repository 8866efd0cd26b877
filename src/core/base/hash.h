// SPDX-License-Identifier: BSD-3-Clause
/* Hashes of bytes and of a text (FNV-1a): the same in all processes and builds. */
#ifndef WEFT_HASH_H
#define WEFT_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WEFT_HASH_BEGIN UINT64_C(0xcbf29ce484222325)

/* Continues a hash, or begins one from WEFT_HASH_BEGIN. */
static inline uint64_t weft_hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static inline uint64_t weft_hash_text(const char *text)
{
    return weft_hash_bytes(WEFT_HASH_BEGIN, text, strlen(text));
}

#endif
