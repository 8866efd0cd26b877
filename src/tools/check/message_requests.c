// SPDX-License-Identifier: BSD-3-Clause
/*
 * Requests and messages of the program, by their handles: see messages_internal.h.
 */
#include "tools/check/messages_internal.h"

enum { TABLE = 1024 };

static struct check_pending *table[TABLE];

static struct check_pool requests = {.size = sizeof(struct check_pending)};

static struct check_pending **slot_of(const void *handle)
{
    return &table[((uintptr_t)handle >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 54];
}

struct check_pending *check_pending_find(const void *handle)
{
    struct check_pending *pending = *slot_of(handle);
    while (pending && pending->handle != handle)
        pending = pending->next;
    return pending;
}

void check_pending_drop(const void *handle)
{
    struct check_pending **at = slot_of(handle);
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    struct check_pending *pending = *at;
    if (pending)
        *at = pending->next;
    if (pending)
        check_pool_give(&requests, pending);
}

struct check_pending *check_pending_add(const void *handle)
{
    check_pending_drop(handle);
    struct check_pending *pending = check_pool_take(&requests), **slot = slot_of(handle);
    *pending = (struct check_pending){.next = *slot, .handle = handle};
    return *slot = pending;
}
