// SPDX-License-Identifier: BSD-3-Clause
/*
 * The list of the program's handles: see handle_list.h.
 */
#include "core/base/handle_list.h"
#include "core/base/settings.h"

#include <pthread.h>
#include <stdlib.h>

struct entry {
    const void *handle;
    enum weft_kind kind;
};

static struct entry *entries;
static size_t count, size;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void weft_handle_list_add(const void *handle, enum weft_kind kind)
{
    if (!weft_settings.verbose || (uintptr_t)handle < WEFT_PREDEFINED_HANDLES)
        return;
    pthread_mutex_lock(&lock);
    if (count == size) {
        struct entry *longer = realloc(entries, (2 * size + 64) * sizeof *entries);
        if (longer) {
            entries = longer;
            size = 2 * size + 64;
        }
    }
    if (count < size) /* else memory is short: the report lacks this handle */
        entries[count++] = (struct entry){handle, kind};
    pthread_mutex_unlock(&lock);
}

void weft_handle_list_remove(const void *handle)
{
    if (!count)
        return;
    pthread_mutex_lock(&lock);
    for (size_t i = count; i-- > 0;)
        if (entries[i].handle == handle) {
            entries[i] = entries[--count];
            break;
        }
    pthread_mutex_unlock(&lock);
}

void weft_handle_list_each(enum weft_kind kind, void (*see)(void *arg, const void *object),
                           void *arg)
{
    for (size_t i = 0; i < count; i++)
        if (entries[i].kind == kind)
            see(arg, entries[i].handle);
}

void weft_handle_list_free(void)
{
    free(entries);
    entries = NULL;
    count = size = 0;
}
