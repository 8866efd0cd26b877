// SPDX-License-Identifier: BSD-3-Clause
/*
 * The values that a singleton publishes for itself, since it has no PMIx server.
 *
 * Invariant: the newest value of a key is the first one in the list.
 */
#include "pmix/pmix_internal.h"

#include <stdlib.h>
#include <string.h>

struct entry {
    struct entry *next;
    size_t bytes;
    pmix_key_t key;
    char value[];
};

static struct entry *entries;

int weft_singleton_publish(const char *key, const void *value, size_t bytes)
{
    struct entry *entry = malloc(sizeof *entry + bytes);
    if (!entry)
        return -1;
    entry->next = entries;
    entry->bytes = bytes;
    memcpy(entry->key, key, strlen(key) + 1);
    if (bytes)
        memcpy(entry->value, value, bytes);
    entries = entry;
    return 0;
}

const void *weft_singleton_find(const char *key, size_t *bytes)
{
    struct entry *entry = entries;
    while (entry && strcmp(entry->key, key) != 0)
        entry = entry->next;
    if (!entry)
        return NULL;
    *bytes = entry->bytes;
    return entry->value;
}

void weft_singleton_close(void)
{
    while (entries) {
        struct entry *entry = entries;
        entries = entry->next;
        free(entry);
    }
}
