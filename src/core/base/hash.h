// SPDX-License-Identifier: BSD-3-Clause
/* The hash of a text (FNV-1a): the same in all processes and builds. */
#ifndef WEFT_HASH_H
#define WEFT_HASH_H

#include <stdint.h>

static inline uint64_t weft_hash_text(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

#endif
