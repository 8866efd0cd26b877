// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory of the library: see memory.h.
 */
#include "core/base/memory.h"
#include "core/base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *check_memory(void *memory, size_t count, const char *what)
{
    if (!memory)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for %s (%zu elements)", what, count);
    return memory;
}

void *weft_memory_get(size_t count, size_t each, const char *what)
{
    return check_memory(calloc(count ? count : 1, each), count, what);
}

char *weft_memory_copy(const char *text)
{
    return check_memory(strdup(text), strlen(text), "a string");
}

bool weft_memory_is_accessible(const void *at, size_t bytes, bool write)
{
    uintptr_t from = (uintptr_t)at, to = from + bytes;
    char line[1024], rights[5];
    uint64_t begin, end;
    FILE *maps = fopen("/proc/self/maps", "re");
    bool begins = true; /* the text is the beginning of a line */
    while (maps && from < to && fgets(line, sizeof line, maps)) {
        bool is_entry =
            begins && sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &begin, &end, rights) == 3;
        begins = strchr(line, '\n') != NULL;
        if (!is_entry || end <= from)
            continue;
        if (begin > from || rights[write] != (write ? 'w' : 'r'))
            break;
        from = end;
    }
    if (maps)
        fclose(maps);
    return !maps || from >= to;
}

int weft_memory_check_buffer(const char *which, const void *at, size_t bytes, bool write, int rank)
{
    if (weft_memory_is_accessible(at, bytes, write))
        return MPI_SUCCESS;
    return weft_error_set(MPI_ERR_BUFFER,
                          "this process may not %s the %s buffer at %p (%zu bytes %s rank %d); see "
                          "whether it was freed, is protected, or is memory of a device",
                          write ? "write to" : "read", which, at, bytes, write ? "from" : "to",
                          rank);
}
