// SPDX-License-Identifier: BSD-3-Clause
/*
 * A malloc that does not return one long piece of memory. Long pieces have LONG_PIECE bytes or
 * more, which the program defines before it includes this file.
 *
 * Invariant: while long_pieces is 0 all memory is returned.
 */
#ifndef WEFT_TESTS_NO_MEMORY_H
#define WEFT_TESTS_NO_MEMORY_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static unsigned long_pieces; /* the number of the next one that is not returned, from 1; 0: none */

#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
void *malloc(size_t bytes)
{
    static void *(*next)(size_t);
    if (!next) {
        void *found = dlsym(RTLD_NEXT, "malloc");
        memcpy(&next, &found, sizeof next);
    }
    return bytes >= LONG_PIECE && long_pieces && !--long_pieces ? NULL : next(bytes);
}
#endif

/* False under sanitizers and Valgrind, which have their own malloc. */
static inline bool can_lack_memory(void)
{
    long_pieces = 1;
    void *volatile piece = malloc(LONG_PIECE);
    free(piece);
    long_pieces = 0;
    return !piece;
}

#endif
