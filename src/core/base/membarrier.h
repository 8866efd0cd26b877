// SPDX-License-Identifier: BSD-3-Clause
/*
 * membarrier(): a thread that is about to sleep makes other threads pass a fence, so that these
 * need none after each of their stores.
 */
#ifndef WEFT_MEMBARRIER_H
#define WEFT_MEMBARRIER_H

#include <stdbool.h>

/* The threads that pass the fence. */
enum weft_membarrier {
    WEFT_MEMBARRIER_THREADS, /* those of this process */
    WEFT_MEMBARRIER_RANKS    /* those of all processes of this machine that have registered */
};

/* Registers this process for both; may be called again. */
void weft_membarrier_register(void);

bool weft_membarrier_is_registered(enum weft_membarrier which);

/* True: all of them have passed a fence. False: the kernel or a sandbox does not permit it. */
bool weft_membarrier(enum weft_membarrier which);

#endif
