// SPDX-License-Identifier: BSD-3-Clause
/*
 * SipHash-2-4-128 (Aumasson and Bernstein): see siphash.h.
 */
#include "core/base/siphash.h"

#include <string.h>
#include <sys/random.h>

static uint64_t rotate(uint64_t word, int bits)
{
    return word << bits | word >> (64 - bits);
}

static void round_once(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] = rotate(v[2], 32);
}

static void rounds(uint64_t v[4], int count)
{
    while (count-- > 0)
        round_once(v);
}

/* Up to eight bytes as a word, the first byte lowest. */
static uint64_t word_of(const unsigned char *data, size_t bytes)
{
    uint64_t word = 0;
    for (size_t i = 0; i < bytes; i++)
        word |= (uint64_t)data[i] << 8 * i;
    return word;
}

static void absorb(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    rounds(v, 2);
    v[0] ^= word;
}

struct weft_key weft_siphash(struct weft_key key, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t v[4] = {key.word[0] ^ UINT64_C(0x736f6d6570736575),
                     key.word[1] ^ UINT64_C(0x646f72616e646f6d) ^ 0xee,
                     key.word[0] ^ UINT64_C(0x6c7967656e657261),
                     key.word[1] ^ UINT64_C(0x7465646279746573)};
    size_t left = bytes;
    for (; left >= 8; left -= 8, at += 8)
        absorb(v, word_of(at, 8));
    absorb(v, word_of(at, left) | (uint64_t)bytes << 56);
    struct weft_key result;
    v[2] ^= 0xee;
    rounds(v, 4);
    result.word[0] = v[0] ^ v[1] ^ v[2] ^ v[3];
    v[1] ^= 0xdd;
    rounds(v, 4);
    result.word[1] = v[0] ^ v[1] ^ v[2] ^ v[3];
    return result;
}

bool weft_key_random(struct weft_key *key)
{
    return getrandom(key, sizeof *key, 0) == (ssize_t)sizeof *key;
}
