// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory that is freed all at once: see arena.h.
 */
#include "core/datatype/arena.h"

#include "core/base/assert.h"

#include <stdlib.h>

void *weft_arena_add(struct weft_arena *arena, void *memory, size_t bytes)
{
    if (!memory)
        return NULL;
    if (arena->count == arena->space) {
        size_t space = arena->space ? 2 * arena->space : 4;
        void **blocks = realloc(arena->blocks, space * sizeof *blocks);
        if (!blocks) {
            arena->failed = true;
            free(memory);
            return NULL;
        }
        arena->blocks = blocks;
        arena->space = space;
    }
    weft_assert(arena->count < arena->space);
    arena->blocks[arena->count++] = memory;
    arena->bytes += bytes;
    return memory;
}

void *weft_arena_get(struct weft_arena *arena, size_t bytes)
{
    void *memory = calloc(1, bytes ? bytes : 1);
    if (!memory)
        arena->failed = true;
    return weft_arena_add(arena, memory, bytes);
}

void weft_arena_clear(struct weft_arena *arena)
{
    for (size_t i = 0; i < arena->count; i++)
        free(arena->blocks[i]);
    free(arena->blocks);
    *arena = (struct weft_arena){0};
}
