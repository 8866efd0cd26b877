// SPDX-License-Identifier: BSD-3-Clause
/*
 * What a singleton published, for itself to fetch: there is no PMIx to keep it.
 *
 * Invariant: a key appears once; publishing it again replaces its value.
 */
#include "pmix/pmix_internal.h"

#include <stdlib.h>
#include <string.h>

struct entry {
    struct entry *next;
    char *key;
    void *value;
    size_t bytes;
};

static struct entry *entries;

static struct entry *find(const char *key)
{
    struct entry *e = entries;
    while (e && strcmp(e->key, key) != 0)
        e = e->next;
    return e;
}

int weft_singleton_publish(const char *key, const void *value, size_t bytes)
{
    struct entry *e = find(key);
    void *copy = malloc(bytes ? bytes : 1);
    if (!copy)
        return -1;
    if (!e) {
        e = calloc(1, sizeof *e);
        if (!e || !(e->key = strdup(key))) {
            free(e);
            free(copy);
            return -1;
        }
        e->next = entries;
        entries = e;
    }
    if (bytes)
        memcpy(copy, value, bytes);
    free(e->value);
    e->value = copy;
    e->bytes = bytes;
    return 0;
}

const void *weft_singleton_find(const char *key, size_t *bytes)
{
    struct entry *e = find(key);
    if (!e)
        return NULL;
    *bytes = e->bytes;
    return e->value;
}

void weft_singleton_close(void)
{
    while (entries) {
        struct entry *e = entries;
        entries = e->next;
        free(e->key);
        free(e->value);
        free(e);
    }
}
