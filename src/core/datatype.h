// SPDX-License-Identifier: BSD-3-Clause
/*
 * Datatypes: where the bytes of one element lie.
 *
 * Invariants:
 *  - blocks lists the bytes of one element in type-map order; size is the sum of their lengths.
 *  - WEFT_TYPE_DENSE holds exactly when count elements are count * size bytes in a row starting at
 *    the buffer's address, for every count.
 */
#ifndef WEFT_DATATYPE_H
#define WEFT_DATATYPE_H

#include "core/elem.h"
#include "core/handle.h"
#include "mpi.h"

#include <stdbool.h>

enum weft_type_flag {
    WEFT_TYPE_DENSE = 1,
    WEFT_TYPE_COMMITTED = 2,
    WEFT_TYPE_PREDEFINED = 4,
    WEFT_TYPE_PLAIN = 8 /* dense, committed, below 2 GiB an element, data at the buffer's address:
                           what the fast path takes without asking further */
};

struct weft_block {
    MPI_Aint offset; /* bytes from the buffer's address */
    size_t length;   /* bytes */
};

struct weft_datatype {
    struct weft_object object;
    uint32_t flags;
    enum weft_elem elem; /* what reductions see; WEFT_ELEM_NONE for what they refuse */
    size_t size;         /* bytes of data in one element */
    MPI_Aint lb, extent;
    MPI_Aint true_lb, true_extent;
    size_t nblocks, nelements; /* nelements: basic elements in one element (Get_elements) */
    const struct weft_block *blocks;
    MPI_Datatype handle;
    const char *name;
};

/* By handle: the size of the predefined type, if it is plain, else 0. */
extern WEFT_HIDDEN uint8_t weft_plain_sizes[WEFT_PREDEFINED_HANDLES];

/* The size of the plain type that a handle names, or 0: the fast path's question. */
static inline __attribute__((always_inline)) size_t weft_datatype_plain_size(MPI_Datatype handle)
{
    uintptr_t value = (uintptr_t)handle;
    if (weft_likely(value < WEFT_PREDEFINED_HANDLES))
        return weft_plain_sizes[value];
    const struct weft_datatype *type = (const struct weft_datatype *)value;
    return type->object.kind == WEFT_KIND_DATATYPE && type->flags & WEFT_TYPE_PLAIN ? type->size
                                                                                    : 0;
}

/* MPI_BYTE's. */
static inline const struct weft_datatype *weft_datatype_byte(void)
{
    return (const struct weft_datatype *)weft_handles[(uintptr_t)MPI_BYTE];
}

/* Makes every predefined datatype's handle valid. Called once. */
void weft_datatype_init(void);

/* Copies bytes [offset, offset + bytes) of the packed form of a buffer to out. */
void weft_datatype_pack(const struct weft_datatype *type, const void *buffer, size_t offset,
                        void *out, size_t bytes);

/* Copies bytes packed bytes from in to their places, beginning at byte offset of the packed form.
 * Bytes of the buffer that belong to no block are left alone. */
void weft_datatype_unpack(const struct weft_datatype *type, void *buffer, size_t offset,
                          const void *in, size_t bytes);

/* Number of whole elements in bytes: MPI_UNDEFINED if there is a rest. */
MPI_Count weft_datatype_count(const struct weft_datatype *type, size_t bytes);

/* Number of basic elements in bytes: MPI_UNDEFINED if a part of one is left over. */
MPI_Count weft_datatype_elements(const struct weft_datatype *type, size_t bytes);

/* The reverse of weft_datatype_elements: the bytes of so many basic elements. False when nothing
 * has so many: too many, or some of a type that is empty. */
bool weft_datatype_bytes_of(const struct weft_datatype *type, MPI_Count elements, size_t *bytes);

#endif
