// SPDX-License-Identifier: BSD-3-Clause
/*
 * Handles of the standard ABI: a value below 4096 names a predefined object, any other is the
 * object's address (MPI 5.0, chapter 20).
 *
 * Invariants:
 *  - Every object a handle can name begins with struct weft_object; its kind says what it is, and
 *    is WEFT_KIND_NONE from the moment the object is freed.
 *  - Every slot of weft_handles holds an object; unassigned ones hold weft_no_object, whose kind
 *    no check accepts. So resolving is one compare and one load, and validating is one load more.
 */
#ifndef WEFT_HANDLE_H
#define WEFT_HANDLE_H

#include <stddef.h>
#include <stdint.h>

#define weft_likely(x)   __builtin_expect(!!(x), 1)
#define weft_unlikely(x) __builtin_expect(!!(x), 0)
#define WEFT_COLD        __attribute__((cold, noinline))

/* What every message runs through. These functions lie together in the library: after a call into
 * the kernel a process has little of its own code left in the nearest cache, and each piece of 64
 * bytes that it must fetch again is time. */
#define WEFT_HOT __attribute__((hot))

/* For variables that hot code reads: without it, position-independent code asks the global offset
 * table for the address of every extern first. */
#define WEFT_HIDDEN __attribute__((visibility("hidden")))

enum weft_kind {
    WEFT_KIND_NONE = 0,
    WEFT_KIND_COMM = 0x6d6f6343, /* spells itself in a memory dump */
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
    uint32_t index; /* integer form of the handle (MPI_*_toint), 0 = never asked for */
};

enum { WEFT_PREDEFINED_HANDLES = 4096 };
extern WEFT_HIDDEN struct weft_object *weft_handles[WEFT_PREDEFINED_HANDLES];

/* The object a handle names; never NULL for a predefined value, whatever it is. */
static inline void *weft_handle_object(const void *handle)
{
    uintptr_t value = (uintptr_t)handle;
    return weft_likely(value < WEFT_PREDEFINED_HANDLES) ? weft_handles[value] : (void *)value;
}

/* The object of a handle if it is of that kind, else NULL. */
static inline void *weft_handle_resolve(const void *handle, enum weft_kind kind)
{
    struct weft_object *object = weft_handle_object(handle);
    return weft_likely(object->kind == (uint32_t)kind) ? object : NULL;
}

/* Makes a predefined value (below 4096) name an object. */
void weft_handle_predefine(uintptr_t value, struct weft_object *object);

/* The integer form of a handle (MPI 5.0, 20.3.4): the value itself when predefined, else an index
 * of 4096 or more, given out at the first call. Returns -1 when memory is short. */
int weft_handle_to_int(void *handle);

/* The handle of an integer form, or the predefined value `otherwise` for one never given out. */
void *weft_handle_from_int(int value, uintptr_t otherwise);

/* Forgets an object's integer form. */
WEFT_COLD void weft_handle_forget(struct weft_object *object);

/* To be called before an object is freed: forgets its integer form, spoils its kind. */
static inline void weft_handle_retire(struct weft_object *object)
{
    if (weft_unlikely(object->index))
        weft_handle_forget(object);
    object->kind = WEFT_KIND_NONE;
}

#endif
