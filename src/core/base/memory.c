// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory of the library: see memory.h.
 */
#include "core/base/memory.h"
#include "core/base/error.h"

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

char *weft_memory_copy(const char *text)
{
    return check(strdup(text), strlen(text), "a string");
}
