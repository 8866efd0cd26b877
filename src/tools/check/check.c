// SPDX-License-Identifier: BSD-3-Clause
/*
 * The state that the modules share, and its memory: see check.h. What sees the calls is in
 * dispatch.c, to which no module refers.
 */
#include "tools/check/check.h"

#include <stdlib.h>
#include <string.h>

struct check check = {.lock = PTHREAD_MUTEX_INITIALIZER};
unsigned short check_functions[WEFT_CALLS];

void *check_enlarge(void *list, int n, int *capacity, size_t size)
{
    weft_assert(n == *capacity && size > 0);
    *capacity = *capacity ? 2 * *capacity : 16;
    void *more = tool_allocate((size_t)*capacity, size);
    if (n)
        memcpy(more, list, (size_t)n * size);
    free(list);
    return more;
}
