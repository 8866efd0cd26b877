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
CHECK_THREAD int check_depth;

void *check_enlarge(void *list, int n, int *capacity, size_t size)
{
    weft_assert(n == *capacity && size > 0);
    *capacity = *capacity ? 2 * *capacity : 16;
    void *more = weft_interpose_allocate((size_t)*capacity, size);
    if (n)
        memcpy(more, list, (size_t)n * size);
    free(list);
    return more;
}

void check_keys_add(struct check_keys *keys, uint64_t key)
{
    if (check_keys_has(keys, key))
        return;
    if (keys->n == keys->capacity)
        keys->list = check_enlarge(keys->list, keys->n, &keys->capacity, sizeof *keys->list);
    keys->list[keys->n++] = key;
}
