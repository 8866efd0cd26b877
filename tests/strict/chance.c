// SPDX-License-Identifier: BSD-3-Clause
/*
 * Random numbers. STRICT_SEED and the rank (PMIX_RANK) give the sequence, so that a run with the
 * same seed takes the same decisions as long as the program makes the same calls.
 */
#include "strict.h"

#include <stdlib.h>

static uint64_t state;

uint64_t strict_seed(void)
{
    const char *text = getenv("STRICT_SEED");
    return text ? strtoull(text, NULL, 10) : 1;
}

static void start(void)
{
    const char *rank = getenv("PMIX_RANK");

    state = (strict_seed() + 1) * UINT64_C(0x9e3779b97f4a7c15) +
            (rank ? strtoull(rank, NULL, 10) + 1 : 0) * UINT64_C(0xbf58476d1ce4e5b9);
    state |= 1;
}

unsigned strict_random(unsigned below)
{
    if (!state)
        start();
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return below ? (unsigned)((state >> 20) % below) : 0;
}

bool strict_chance(unsigned of_a_thousand)
{
    return strict_random(1000) < of_a_thousand;
}
