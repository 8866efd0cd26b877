// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory that is freed all at once: the layouts and signatures of one datatype.
 *
 * Invariant: `failed` is set by the first failed allocation and stays set, so a builder checks it
 * once, at its end.
 */
#ifndef WEFT_DATATYPE_ARENA_H
#define WEFT_DATATYPE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct weft_arena {
    void **blocks;
    size_t count, space;
    size_t bytes; /* of all blocks */
    bool failed;
};

/* Allocates zeroed memory. Returns NULL if there is none. */
void *weft_arena_get(struct weft_arena *arena, size_t bytes);

/* Moves malloc'ed memory into the arena; NULL is returned unchanged. If the arena cannot grow, the
 * memory is freed and NULL is returned. */
void *weft_arena_add(struct weft_arena *arena, void *memory, size_t bytes);

/* Frees all blocks and resets the arena. */
void weft_arena_clear(struct weft_arena *arena);

#endif
