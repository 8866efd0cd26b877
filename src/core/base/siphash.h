// SPDX-License-Identifier: BSD-3-Clause
/*
 * SipHash-2-4 with a result of 128 bits: a keyed hash for short messages. It authenticates
 * connections between jobs (src/tcp) and derives keys and names.
 */
#ifndef WEFT_SIPHASH_H
#define WEFT_SIPHASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_key {
    uint64_t word[2];
};

struct weft_key weft_siphash(struct weft_key key, const void *data, size_t bytes);

/* The time of the comparison does not depend on the values. */
static inline bool weft_key_same(struct weft_key a, struct weft_key b)
{
    return ((a.word[0] ^ b.word[0]) | (a.word[1] ^ b.word[1])) == 0;
}

/* Sets a key that nobody can guess. False if the system has no random numbers. */
bool weft_key_random(struct weft_key *key);

#endif
