// SPDX-License-Identifier: BSD-3-Clause
/*
 * A hash table of operations by handle: see operations.h.
 */
#include "tools/profile/operations.h"
#include "core/base/assert.h"

enum {
    REQUESTS = 8192,     /* a power of 2 */
    REQUESTS_USED = 6144 /* at most: so that searches end soon */
};

struct profile_operations profile_operations;
static struct profile_operation operations[REQUESTS];

static unsigned index_of_handle(const void *handle)
{
    return (unsigned)((uintptr_t)handle * 0x9e3779b97f4a7c15U >> 40) % REQUESTS;
}

struct profile_operation *profile_operation_find(const void *handle)
{
    unsigned i = index_of_handle(handle);
    weft_assert(profile_operations.n >= 0 && profile_operations.n <= REQUESTS_USED);
    while (operations[i].handle && operations[i].handle != handle)
        i = (i + 1) % REQUESTS;
    return operations[i].handle ? &operations[i] : NULL;
}

/* Those behind it move up, so that a search may end at the first free one. */
void profile_operation_drop(struct profile_operation *operation)
{
    unsigned hole = (unsigned)(operation - operations), i = hole;
    weft_assert(operation->handle && profile_operations.n > 0);
    profile_operations.wild -= operation->active && operation->comm;
    for (;;) {
        i = (i + 1) % REQUESTS;
        const struct profile_operation *next = &operations[i];
        if (!next->handle)
            break;
        unsigned from_index = (i - index_of_handle(next->handle)) % REQUESTS;
        if (from_index >= (i - hole) % REQUESTS) {
            operations[hole] = *next;
            hole = i;
        }
    }
    operations[hole] = (struct profile_operation){0};
    profile_operations.n--;
    weft_assert(profile_operations.wild >= 0 && profile_operations.wild <= profile_operations.n);
}

bool profile_operation_add(const struct profile_operation *operation)
{
    weft_assert(!profile_operation_find(operation->handle));
    if (profile_operations.n == REQUESTS_USED)
        return false;
    unsigned i = index_of_handle(operation->handle);
    while (operations[i].handle)
        i = (i + 1) % REQUESTS;
    operations[i] = *operation;
    profile_operations.n++;
    profile_operations.wild += operation->active && operation->comm;
    weft_assert(profile_operations.wild >= 0 && profile_operations.wild <= profile_operations.n);
    return true;
}
