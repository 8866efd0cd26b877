// SPDX-License-Identifier: BSD-3-Clause
/*
 * Info objects: see info.h.
 */
#include "core/base/info.h"
#include "core/base/error.h"

#include <stdlib.h>
#include <string.h>

struct weft_info weft_info_env = {.object = {WEFT_KIND_INFO, 0}, .predefined = true};

__attribute__((constructor)) static void predefine(void)
{
    weft_handle_predefine((uintptr_t)MPI_INFO_ENV, &weft_info_env.object);
}

static int no_memory(void)
{
    return weft_error_set(MPI_ERR_NO_MEM, "no memory for an info object");
}

struct weft_info *weft_info_make(void)
{
    struct weft_info *info = calloc(1, sizeof *info);
    if (info)
        info->object.kind = WEFT_KIND_INFO;
    else
        no_memory();
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
    info->count = info->space = 0;
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
    for (int i = 0; copy && i < info->count; i++)
        if (weft_info_set(copy, info->entries[i].key, info->entries[i].value)) {
            weft_info_free(copy);
            copy = NULL;
        }
    return copy;
}

static struct weft_info_entry *find_entry(const struct weft_info *info, const char *key)
{
    for (int i = 0; i < info->count; i++)
        if (!strcmp(info->entries[i].key, key))
            return &info->entries[i];
    return NULL;
}

/* Makes space for one more entry. */
static int grow(struct weft_info *info)
{
    weft_assert(info->count <= info->space);
    if (info->count < info->space)
        return MPI_SUCCESS;
    int space = info->space ? 2 * info->space : 8;
    struct weft_info_entry *more = realloc(info->entries, (size_t)space * sizeof *more);
    if (!more)
        return no_memory();
    info->entries = more;
    info->space = space;
    return MPI_SUCCESS;
}

static int check_key(const char *key, const char *value)
{
    size_t key_length = strnlen(key, MPI_MAX_INFO_KEY);
    if (key_length == 0 || key_length >= MPI_MAX_INFO_KEY)
        return weft_error_set(MPI_ERR_INFO_KEY,
                              key_length ? "the key has more than the %d characters that it can "
                                           "have"
                                         : "the key is empty; it can have 1 to %d characters",
                              MPI_MAX_INFO_KEY - 1);
    if (strnlen(value, MPI_MAX_INFO_VAL) >= MPI_MAX_INFO_VAL)
        return weft_error_set(MPI_ERR_INFO_VALUE,
                              "the value of %s has more than the %d characters that it can have",
                              key, MPI_MAX_INFO_VAL - 1);
    return MPI_SUCCESS;
}

int weft_info_set(struct weft_info *info, const char *key, const char *value)
{
    int code = check_key(key, value);
    if (code == MPI_SUCCESS)
        code = grow(info);
    if (code != MPI_SUCCESS)
        return code;
    struct weft_info_entry *entry = find_entry(info, key);
    char *copy = strdup(value), *name = entry ? NULL : strdup(key);
    if (!copy || (!entry && !name)) {
        free(copy);
        free(name);
        return no_memory();
    }
    if (entry) {
        free(entry->value);
        entry->value = copy;
    } else {
        info->entries[info->count++] = (struct weft_info_entry){name, copy};
    }
    // cppcheck-suppress memleak ; the entry owns it
    return MPI_SUCCESS;
}

const char *weft_info_get(const struct weft_info *info, const char *key)
{
    const struct weft_info_entry *entry = info ? find_entry(info, key) : NULL;
    return entry ? entry->value : NULL;
}

bool weft_info_is(const struct weft_info *info, const char *key, const char *value)
{
    const char *found = weft_info_get(info, key);
    return found && !strcmp(found, value);
}

bool weft_info_delete(struct weft_info *info, const char *key)
{
    struct weft_info_entry *entry = find_entry(info, key);
    if (!entry)
        return false;
    free(entry->key);
    free(entry->value);
    info->count--;
    memmove(entry, entry + 1, (size_t)(info->entries + info->count - entry) * sizeof *entry);
    return true;
}
