// SPDX-License-Identifier: BSD-3-Clause
/*
 * Datatypes: what the rest of the library asks them.
 *
 * A type has two descriptions, both made when it is built: its layout (core/datatype/layout.h) says
 * where the bytes of one element lie, its signature (core/datatype/signature.h) what they are. The
 * packed form of a buffer is its bytes in type-map order without the holes; it is what travels.
 *
 * Invariants:
 *  - WEFT_TYPE_CONTIGUOUS holds exactly when count elements are count * size bytes in a row starting at
 *    the buffer's address, for every count: the layout is one run at offset 0 and as long as the
 *    extent, or there are no data.
 *  - A type lives as long as somebody holds it: its handle, types made of it, weft_datatype_retain.
 *    Requests do not count: a type that nobody holds is destroyed after the last request that uses
 *    it has ended (lifetime.c).
 *  - A built type never changes but for its name, its attributes, its references, and the flags that
 *    MPI_Type_commit sets.
 */
#ifndef WEFT_DATATYPE_H
#define WEFT_DATATYPE_H

#include "core/object/attribute.h"
#include "core/datatype/arena.h"
#include "core/datatype/envelope.h"
#include "core/datatype/layout.h"
#include "core/datatype/signature.h"
#include "core/datatype/basic_type.h"
#include "core/object/handle.h"
#include "mpi.h"

#include <stdbool.h>

enum weft_type_flag {
    WEFT_TYPE_CONTIGUOUS = 1,
    WEFT_TYPE_COMMITTED = 2,
    WEFT_TYPE_PREDEFINED = 4, /* named, or made by MPI_Type_create_f90_*: cannot be freed */
    WEFT_TYPE_PLAIN =
        8, /* contiguous, committed, 1 byte to 2 GiB an element: what the fast path takes
                            without asking further */
    WEFT_TYPE_MARKED =
        16 /* its bounds were set, by MPI_Type_create_resized for instance, and decide
                             those of types made of it (MPI 5.0, 5.1.6) */
};

struct weft_datatype {
    struct weft_object object;
    uint32_t flags;
    enum weft_basic_type basic_type; /* what reductions see; WEFT_BASIC_NONE for what they refuse */
    size_t size;                     /* bytes of data in one element */
    MPI_Aint lb, extent;
    MPI_Aint true_lb, true_extent;
    const struct weft_layout *layout; /* NULL: no data */
    const struct weft_signature *signature;
    MPI_Datatype handle;
    const char *name; /* "" until it has one */

    int refs;
    uint32_t align;                 /* of its widest basic element, in bytes; 1 when it has none */
    struct weft_envelope *envelope; /* NULL: named */
    char *own_name;                 /* malloc'ed, or NULL */
    struct weft_arena arena;        /* layouts and signatures made for this type */
    struct weft_datatype *next;     /* of those that nobody holds */
    struct weft_attribute *attributes; /* core/object/attribute.h */
};

static inline struct weft_attributed weft_datatype_attributed(struct weft_datatype *type)
{
    return (struct weft_attributed){WEFT_KIND_DATATYPE, type->handle, &type->attributes};
}

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

/* Frees what is left of the types that nobody holds. No request is active. */
void weft_datatype_finalize(void);

/* ---- Moving data ---- */

/* Copies bytes [offset, offset + bytes) of the packed form of a buffer to out. Takes no longer for
 * a late part than for an early one. */
void weft_datatype_pack(const struct weft_datatype *type, const void *buffer, size_t offset,
                        void *out, size_t bytes);

/* Copies bytes packed bytes from in to their places, beginning at byte offset of the packed form.
 * Bytes of the buffer that belong to no block are left alone. */
void weft_datatype_unpack(const struct weft_datatype *type, void *buffer, size_t offset,
                          const void *in, size_t bytes);

/* The same for all of count elements. */
void weft_datatype_pack_all(const struct weft_datatype *type, const void *buffer, size_t count,
                            void *out);
void weft_datatype_unpack_all(const struct weft_datatype *type, void *buffer, size_t count,
                              const void *in);

/* The address of `bytes` bytes of data if they are one run, whatever the type, else NULL: with it
 * and weft_datatype_byte, the same message needs no packing. */
static inline void *weft_datatype_run(const struct weft_datatype *type, const void *buffer,
                                      size_t bytes)
{
    const struct weft_layout *layout = type->layout;
    if (!layout || layout->kind != WEFT_LAYOUT_RUN ||
        (bytes > type->size && type->extent != (MPI_Aint)type->size))
        return NULL;
    return (void *)((uintptr_t)buffer + (uintptr_t)layout->offset);
}

/* ---- Counting ---- */

/* Number of whole elements in bytes: MPI_UNDEFINED if there is a rest. */
MPI_Count weft_datatype_count(const struct weft_datatype *type, size_t bytes);

/* Number of basic elements in bytes: MPI_UNDEFINED if a part of one is left over. */
MPI_Count weft_datatype_elements(const struct weft_datatype *type, size_t bytes);

/* The reverse of weft_datatype_elements: the bytes of so many basic elements. False when nothing
 * has so many: too many, or some of a type that is empty. */
bool weft_datatype_bytes_of(const struct weft_datatype *type, MPI_Count elements, size_t *bytes);

/* ---- Making, holding, letting go ---- */

/* Builds the type that a envelope describes, and takes the envelope over, also when it fails. Returns
 * MPI_SUCCESS and a type with one reference, not committed (but for duplicates of committed ones),
 * or an error class whose sentence was said. */
int weft_datatype_make(struct weft_envelope *envelope, struct weft_datatype **out);

/* Makes a type usable in communication. */
void weft_datatype_commit(struct weft_datatype *type);

/* Sets the name, cut to MPI_MAX_OBJECT_NAME - 1 bytes. False when memory is short. */
bool weft_datatype_rename(struct weft_datatype *type, const char *name);

/* Predefined types need neither, and do not count. */
void weft_datatype_retain(const struct weft_datatype *type);
void weft_datatype_release(const struct weft_datatype *type);

/* The unnamed predefined type of a Fortran kind, MPI_TYPECLASS_REAL, _COMPLEX or _INTEGER, the same
 * for the same arguments; p and r may be MPI_UNDEFINED. Returns MPI_SUCCESS, or an error class whose
 * sentence was said. */
int weft_datatype_f90(int typeclass, int p, int r, struct weft_datatype **out);

/* ---- external32 (MPI 5.0, section 14.5.2) ---- */

/* Bytes of count elements in external32. */
bool weft_datatype_external_bytes(const struct weft_datatype *type, MPI_Count count, size_t *bytes);

/* Writes count elements to out, or reads them from in. */
void weft_datatype_pack_external(const struct weft_datatype *type, const void *buffer, size_t count,
                                 void *out);
void weft_datatype_unpack_external(const struct weft_datatype *type, void *buffer, size_t count,
                                   const void *in);

#endif
