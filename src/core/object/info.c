// SPDX-License-Identifier: BSD-3-Clause
/*
 * Info objects: see info.h.
 */
#include "core/object/info.h"
#include "core/object/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct weft_info weft_info_env = {.object = {WEFT_KIND_INFO, 0}, .predefined = true};

__attribute__((constructor)) static void predefine(void)
{
    weft_handle_predefine((uintptr_t)MPI_INFO_ENV, &weft_info_env.object);
}

struct weft_info *weft_info_make(void)
{
    struct weft_info *info = weft_memory_get(1, sizeof *info, "an info object");
    info->object.kind = WEFT_KIND_INFO;
    return info;
}

static void clear(struct weft_info *info)
{
    for (int i = 0; i < info->count; i++) {
        free(info->entries[i].key);
        free(info->entries[i].value);
    }
    free(info->entries);
    info->entries = NULL;
    info->count = 0;
}

void weft_info_free(struct weft_info *info)
{
    if (!info)
        return;
    clear(info);
    if (info->predefined)
        return;
    weft_handle_retire(&info->object);
    free(info);
}

struct weft_info *weft_info_dup(const struct weft_info *info)
{
    struct weft_info *copy = weft_info_make();
    for (int i = 0; i < info->count; i++)
        weft_info_set(copy, info->entries[i].key, info->entries[i].value);
    return copy;
}

static struct weft_info_entry *find(const struct weft_info *info, const char *key)
{
    for (int i = 0; i < info->count; i++)
        if (!strcmp(info->entries[i].key, key))
            return &info->entries[i];
    return NULL;
}

void weft_info_set(struct weft_info *info, const char *key, const char *value)
{
    struct weft_info_entry *entry = find(info, key);
    if (!entry) {
        info->entries =
            weft_memory_grow(info->entries, (size_t)info->count, sizeof *entry, "an info object");
        entry = &info->entries[info->count++];
        *entry = (struct weft_info_entry){.key = weft_memory_copy(key)};
    }
    free(entry->value);
    entry->value = weft_memory_copy(value);
}

void weft_info_set_number(struct weft_info *info, const char *key, size_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%zu", value);
    weft_info_set(info, key, text);
}

const char *weft_info_get(const struct weft_info *info, const char *key)
{
    const struct weft_info_entry *entry = info ? find(info, key) : NULL;
    return entry ? entry->value : NULL;
}

bool weft_info_delete(struct weft_info *info, const char *key)
{
    struct weft_info_entry *entry = find(info, key);
    if (!entry)
        return false;
    free(entry->key);
    free(entry->value);
    info->count--;
    memmove(entry, entry + 1, (size_t)(info->entries + info->count - entry) * sizeof *entry);
    return true;
}
