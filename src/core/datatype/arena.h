// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory that is given back all at once: what belongs to one datatype.
 *
 * Invariant: once an allocation has failed, failed stays true, and whoever builds something checks
 * it once, at the end.
 */
#ifndef WEFT_DATATYPE_ARENA_H
#define WEFT_DATATYPE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct weft_arena {
    void **pieces;
    size_t count, room;
    size_t bytes; /* of all pieces together */
    bool failed;
};

/* Memory of the arena, cleared. NULL when there is none. */
void *weft_arena_get(struct weft_arena *arena, size_t bytes);

/* Makes memory from malloc, or NULL, a part of the arena; frees it when the arena has no room.
 * Returns the memory, or NULL. */
void *weft_arena_adopt(struct weft_arena *arena, void *memory, size_t bytes);

void weft_arena_clear(struct weft_arena *arena);

#endif
