// SPDX-License-Identifier: BSD-3-Clause
/*
 * Handles of the standard ABI: a value below 4096 names a predefined object, any other is the
 * object's address (MPI 5.0, chapter 20).
 *
 * Invariants:
 *  - Every object with a handle begins with struct weft_object. Its kind is WEFT_KIND_NONE from the
 *    moment the object is freed.
 *  - Every entry of weft_handles points to an object; an unassigned one to weft_no_object, whose
 *    kind no check accepts. So a handle is resolved by a compare and a load, and checked by one
 *    more load.
 */
#ifndef WEFT_HANDLE_H
#define WEFT_HANDLE_H

#include "core/base/assert.h"

#include <stddef.h>
#include <stdint.h>

#define weft_likely(x)   __builtin_expect(!!(x), 1)
#define weft_unlikely(x) __builtin_expect(!!(x), 0)
#define WEFT_COLD        __attribute__((cold, noinline))

/* For functions on the path of every message. The linker puts them side by side, so that they
 * occupy few cache lines after a system call has evicted the process's code. */
#define WEFT_HOT __attribute__((hot))

/* For extern variables that hot code reads: avoids the load of their address from the global offset
 * table. */
#define WEFT_HIDDEN __attribute__((visibility("hidden")))

enum weft_kind {
    WEFT_KIND_NONE = 0,
    WEFT_KIND_COMM = 0x6d6f6343, /* ASCII, to be recognised in a memory dump */
    WEFT_KIND_GROUP = 0x75726747,
    WEFT_KIND_REQUEST = 0x75716552,
    WEFT_KIND_MESSAGE = 0x6773654d,
    WEFT_KIND_DATATYPE = 0x65707954,
    WEFT_KIND_OP = 0x6e70704f,
    WEFT_KIND_ERRHANDLER = 0x68727245,
    WEFT_KIND_INFO = 0x6f666e49,
    WEFT_KIND_SESSION = 0x73736553,
    WEFT_KIND_WIN = 0x6e6957,
    WEFT_KIND_FILE = 0x656c6946
};

struct weft_object {
    uint32_t kind;  /* enum weft_kind */
    uint32_t index; /* integer form of the handle (MPI_*_toint); 0: none yet */
};

enum { WEFT_PREDEFINED_HANDLES = 4096 };
extern WEFT_HIDDEN struct weft_object *weft_handles[WEFT_PREDEFINED_HANDLES];

/* The object of a handle. Not NULL for any value below 4096. */
static inline void *weft_handle_object(const void *handle)
{
    uintptr_t value = (uintptr_t)handle;
    return weft_likely(value < WEFT_PREDEFINED_HANDLES) ? weft_handles[value] : (void *)value;
}

/* The object of a handle if it has that kind, else NULL. */
static inline void *weft_handle_resolve(const void *handle, enum weft_kind kind)
{
    struct weft_object *object = weft_handle_object(handle);
    return weft_likely(object->kind == (uint32_t)kind) ? object : NULL;
}

/* Assigns a predefined handle value (below 4096) to an object. */
void weft_handle_predefine(uintptr_t value, struct weft_object *object);

/* The integer form of a handle (MPI 5.0, 20.3.4): the value itself if predefined, else an index of
 * 4096 or more, allocated by the first call. Returns -1 if memory is short, or if the handle is not
 * of that kind. */
int weft_handle_to_int(void *handle, enum weft_kind kind);

/* The handle of an integer form. An integer that is not in use has the handle 0, which is invalid:
 * a null handle would be taken for one that the program means. */
void *weft_handle_from_int(int value);

/* Frees the integer form of an object. */
WEFT_COLD void weft_handle_free_int(struct weft_object *object);

/* Called before an object is freed: frees its integer form and clears its kind, so that stale
 * handles are detected. */
static inline void weft_handle_retire(struct weft_object *object)
{
    if (weft_unlikely(object->index))
        weft_handle_free_int(object);
    object->kind = WEFT_KIND_NONE;
}

#endif
