// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table of predefined handles, and the table of integer forms.
 *
 * Integer forms are 4096 and above: 4096 + slot. Slots are in chunks that never move, so that a
 * thread may read a slot while another allocates one; allocation is under a lock. The slot of a
 * freed object is reused.
 *
 * Invariant: a slot holds its object, or, if its lowest bit is set, the index of the next free
 * slot. free_slots is the first free slot; the list of free slots ends with `used`.
 */
#include "core/base/handle.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct weft_object *weft_handles[WEFT_PREDEFINED_HANDLES];
static struct weft_object weft_no_object;

enum { CHUNK = 4096, CHUNKS = 4096 };
typedef _Atomic uintptr_t slot;
static slot *_Atomic chunks[CHUNKS];
static _Atomic uint32_t used; /* slots allocated at least once */
static uint32_t free_slots;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void fill(void)
{
    for (size_t i = 0; i < WEFT_PREDEFINED_HANDLES; i++)
        if (!weft_handles[i])
            weft_handles[i] = &weft_no_object;
}

void weft_handle_predefine(uintptr_t value, struct weft_object *object)
{
    weft_assert(value < WEFT_PREDEFINED_HANDLES);
    weft_handles[value] = object;
}

static slot *slot_of(uint32_t i)
{
    slot *chunk = chunks[i / CHUNK];
    return &chunk[i % CHUNK];
}

/* Allocates the integer form of an object. Returns 0 if memory is short or all slots are in use. */
static uint32_t allocate(struct weft_object *object)
{
    uint32_t i = free_slots;
    if (i < used) {
        weft_assert(*slot_of(i) & 1);
        free_slots = (uint32_t)(*slot_of(i) >> 1);
    } else {
        if (i == CHUNK * CHUNKS)
            return 0;
        if (!chunks[i / CHUNK])
            chunks[i / CHUNK] = calloc(CHUNK, sizeof(slot));
        if (!chunks[i / CHUNK])
            return 0;
    }
    *slot_of(i) = (uintptr_t)object;
    if (i == used)
        free_slots = ++used;
    return WEFT_PREDEFINED_HANDLES + i;
}

int weft_handle_to_int(void *handle, enum weft_kind kind)
{
    if ((uintptr_t)handle < WEFT_PREDEFINED_HANDLES)
        return (int)(uintptr_t)handle;
    struct weft_object *object = handle;
    if (object->kind != (uint32_t)kind)
        return -1;
    if (object->index)
        return (int)object->index;
    pthread_mutex_lock(&lock);
    if (!object->index)
        object->index = allocate(object);
    pthread_mutex_unlock(&lock);
    return object->index ? (int)object->index : -1;
}

void *weft_handle_from_int(int value)
{
    if (value >= 0 && value < WEFT_PREDEFINED_HANDLES)
        return (void *)(uintptr_t)value;
    uint32_t i = (uint32_t)value - WEFT_PREDEFINED_HANDLES;
    if (value < 0 || i >= used)
        return NULL;
    uintptr_t object = *slot_of(i);
    return object & 1 ? NULL : (void *)object;
}

void weft_handle_free_int(struct weft_object *object)
{
    pthread_mutex_lock(&lock);
    uint32_t i = object->index - WEFT_PREDEFINED_HANDLES;
    weft_assert(i < used && *slot_of(i) == (uintptr_t)object);
    *slot_of(i) = (uintptr_t)free_slots << 1 | 1;
    free_slots = i;
    object->index = 0;
    pthread_mutex_unlock(&lock);
}
