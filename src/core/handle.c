// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table of predefined handles, and the table of integer forms.
 *
 * Invariant: integers[i] is the object whose index is i + 4096, or NULL when that number is free.
 */
#include "core/handle.h"

#include <stdlib.h>

struct weft_object *weft_handles[WEFT_PREDEFINED_HANDLES];
static struct weft_object weft_no_object;

static struct weft_object **integers;
static uint32_t integers_used, integers_room;

__attribute__((constructor)) static void fill(void)
{
    for (size_t i = 0; i < WEFT_PREDEFINED_HANDLES; i++)
        if (!weft_handles[i])
            weft_handles[i] = &weft_no_object;
}

void weft_handle_predefine(uintptr_t value, struct weft_object *object)
{
    weft_handles[value] = object;
}

int weft_handle_to_int(void *handle)
{
    if ((uintptr_t)handle < WEFT_PREDEFINED_HANDLES)
        return (int)(uintptr_t)handle;
    struct weft_object *object = handle;
    if (object->index)
        return (int)object->index;
    if (integers_used == integers_room) {
        uint32_t room = integers_room ? 2 * integers_room : 64;
        struct weft_object **more = realloc(integers, room * sizeof *more);
        if (!more)
            return -1;
        integers = more;
        integers_room = room;
    }
    object->index = WEFT_PREDEFINED_HANDLES + integers_used;
    integers[integers_used++] = object;
    return (int)object->index;
}

void *weft_handle_from_int(int value, uintptr_t otherwise)
{
    if (value >= 0 && value < WEFT_PREDEFINED_HANDLES)
        return (void *)(uintptr_t)value;
    uint32_t i = (uint32_t)value - WEFT_PREDEFINED_HANDLES;
    if (value < 0 || i >= integers_used || !integers[i])
        return (void *)otherwise;
    return integers[i];
}

void weft_handle_forget(struct weft_object *object)
{
    if (object->index >= WEFT_PREDEFINED_HANDLES)
        integers[object->index - WEFT_PREDEFINED_HANDLES] = NULL;
    object->index = 0;
}
