// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory of the library: see memory.h.
 */
#include "core/object/memory.h"
#include "core/object/error.h"

#include <stdlib.h>
#include <string.h>

static void *check(void *memory, size_t count, const char *what)
{
    if (!memory)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for %s (%zu elements)", what, count);
    return memory;
}

void *weft_memory_get(size_t count, size_t each, const char *what)
{
    return check(calloc(count ? count : 1, each), count, what);
}

/* The array has room for 8 elements, then for 16, 32, … */
void *weft_memory_grow(void *array, size_t used, size_t each, const char *what)
{
    if (used && (used < 8 || used & (used - 1)))
        return array;
    size_t room = used ? 2 * used : 8;
    return check(reallocarray(array, room, each), room, what);
}

char *weft_memory_copy(const char *text)
{
    return check(strdup(text), strlen(text), "a string");
}
