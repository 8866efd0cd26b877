// SPDX-License-Identifier: BSD-3-Clause
/*
 * Datatypes: the interface of this folder.
 *
 * A datatype is described by its layout, the offsets of the bytes of one element (layout.h), and
 * its signature, the basic types of these bytes (signature.h). Both are made when the type is
 * built. The packed form of a buffer is its bytes in type-map order without holes; messages carry
 * it.
 *
 * Invariants:
 *  - WEFT_TYPE_CONTIGUOUS is set exactly if any count of elements occupies count * size bytes from
 *    the buffer's address on: the layout is one run at offset 0 whose size is the extent, or NULL.
 *  - References are counted: the handle, types made of the type, weft_datatype_retain. Requests are
 *    not counted: a type without references is freed after the last request that uses it
 *    (lifetime.c).
 *  - A built type is immutable, except its name, attributes, reference count, and the flags that
 *    MPI_Type_commit sets.
 */
#ifndef WEFT_DATATYPE_H
#define WEFT_DATATYPE_H

#include "core/base/attribute.h"
#include "core/datatype/arena.h"
#include "core/datatype/envelope.h"
#include "core/datatype/layout.h"
#include "core/datatype/signature.h"
#include "core/datatype/basic_type.h"
#include "core/base/handle.h"
#include "mpi.h"

#include <stdbool.h>

enum weft_type_flag {
    WEFT_TYPE_CONTIGUOUS = 1,
    WEFT_TYPE_COMMITTED = 2,
    WEFT_TYPE_PREDEFINED = 4, /* named, or made by MPI_Type_create_f90_*: cannot be freed */
    WEFT_TYPE_PLAIN = 8, /* contiguous, committed, size 1 byte to 2 GiB: the fast path accepts it */
    WEFT_TYPE_MARKED = 16,  /* has explicit bounds, from MPI_Type_create_resized for instance, which
                               types made of it inherit (MPI 5.0, 5.1.6) */
    WEFT_TYPE_DEVICE = 32,  /* the data are in device memory: core/datatype/device.h */
    WEFT_TYPE_RETURNED = 64 /* a duplicate made by weft_datatype_return */
};

struct weft_datatype {
    struct weft_object object;
    uint32_t flags;
    enum weft_basic_type basic_type; /* for reductions; WEFT_BASIC_NONE: no operation takes it */
    size_t size;                     /* bytes of data in one element */
    MPI_Aint lb, extent;
    MPI_Aint true_lb, true_extent;
    const struct weft_layout *layout; /* NULL: no data */
    const struct weft_signature *signature;
    MPI_Datatype handle;
    const char *name; /* "" if none was set */

    int refs;
    uint32_t align;                 /* bytes: of its most strictly aligned basic type, at least 1 */
    struct weft_envelope *envelope; /* NULL: a named type */
    char *own_name;                 /* malloc'ed, or NULL */
    struct weft_arena arena;        /* layouts and signatures made for this type */
    struct weft_datatype *next;     /* in the list of types without references */
    struct weft_datatype *twin;     /* for device memory, or NULL; of a twin its type */
    struct weft_attribute *attributes;
};

static inline struct weft_attributed weft_datatype_attributed(struct weft_datatype *type)
{
    return (struct weft_attributed){WEFT_KIND_DATATYPE, type->handle, &type->attributes};
}

/* By predefined handle: the size of the type in bytes if it is plain, else 0. */
extern WEFT_HIDDEN uint8_t weft_plain_sizes[WEFT_PREDEFINED_HANDLES];

/* The size in bytes of the type of a handle if it is plain, else 0. The fast path's type check. */
static inline __attribute__((always_inline)) size_t weft_datatype_plain_size(MPI_Datatype handle)
{
    uintptr_t value = (uintptr_t)handle;
    if (weft_likely(value < WEFT_PREDEFINED_HANDLES))
        return weft_plain_sizes[value];
    const struct weft_datatype *type = (const struct weft_datatype *)value;
    return type->object.kind == WEFT_KIND_DATATYPE && type->flags & WEFT_TYPE_PLAIN ? type->size
                                                                                    : 0;
}

/* The type of MPI_BYTE. */
static inline const struct weft_datatype *weft_datatype_byte(void)
{
    return (const struct weft_datatype *)weft_handles[(uintptr_t)MPI_BYTE];
}

/* Makes the handles of predefined datatypes valid. Called once. */
void weft_datatype_init(void);

/* Frees all types without references, and the predefined ones. No request is active. */
void weft_datatype_finalize(void);

/* ---- Packing ---- */

/* Packs bytes [offset, offset + bytes) of the packed form to out. The cost does not grow with
 * offset. */
void weft_datatype_pack(const struct weft_datatype *type, const void *buffer, size_t offset,
                        void *out, size_t bytes);

/* Unpacks `bytes` bytes from in, as bytes [offset, offset + bytes) of the packed form. Holes in the
 * buffer are not written. */
void weft_datatype_unpack(const struct weft_datatype *type, void *buffer, size_t offset,
                          const void *in, size_t bytes);

/* Pack and unpack count elements. */
void weft_datatype_pack_all(const struct weft_datatype *type, const void *buffer, size_t count,
                            void *out);
void weft_datatype_unpack_all(const struct weft_datatype *type, void *buffer, size_t count,
                              const void *in);

/* Copies `bytes` bytes of data from a buffer to one with another type. */
void weft_datatype_copy(const struct weft_datatype *from, const void *source,
                        const struct weft_datatype *to, void *destination, size_t bytes);

/* True if the first `bytes` bytes of data are contiguous, whatever the type. */
static inline bool weft_datatype_is_run(const struct weft_datatype *type, size_t bytes)
{
    const struct weft_layout *layout = type->layout;
    return layout && layout->kind == WEFT_LAYOUT_RUN &&
           (bytes <= type->size || type->extent == (MPI_Aint)type->size);
}

/* Their address if they are contiguous, else NULL. A message of them may be sent as MPI_BYTE,
 * without packing. */
static inline void *weft_datatype_run(const struct weft_datatype *type, const void *buffer,
                                      size_t bytes)
{
    return weft_datatype_is_run(type, bytes)
               ? (void *)((uintptr_t)buffer + (uintptr_t)type->layout->offset)
               : NULL;
}

/* ---- Counting ---- */

/* The number of complete elements in `bytes` bytes; MPI_UNDEFINED if the last one is incomplete. */
MPI_Count weft_datatype_count(const struct weft_datatype *type, size_t bytes);

/* The number of basic elements in `bytes` bytes; MPI_UNDEFINED if the last one is incomplete. */
MPI_Count weft_datatype_elements(const struct weft_datatype *type, size_t bytes);

/* The inverse of weft_datatype_elements. Returns false if no number of bytes has so many elements:
 * the number overflows, or the type is empty. */
bool weft_datatype_bytes_of(const struct weft_datatype *type, MPI_Count elements, size_t *bytes);

/* ---- Construction and reference counts ---- */

/* Builds a type from an envelope, and takes ownership of the envelope, also on error. The type has
 * one reference and is not committed, unless it duplicates a committed one. Returns MPI_SUCCESS or
 * an error class that was recorded. */
int weft_datatype_make(struct weft_envelope *envelope, struct weft_datatype **out);

/* A duplicate without attributes and name. Errors as above. */
int weft_datatype_dup(struct weft_datatype *old, struct weft_datatype **out);

/* For a call that returns one of the types of an object, which the program frees: a duplicate,
 * whose attributes and name are its own, and whose envelope is that of the type. A predefined type
 * is returned itself. */
int weft_datatype_return(struct weft_datatype *type, struct weft_datatype **out);

/* The envelope that the program sees. NULL: a named type. */
const struct weft_envelope *weft_datatype_envelope(const struct weft_datatype *type);

/* Makes a type usable in communication. */
void weft_datatype_commit(struct weft_datatype *type);

/* Sets the name, cut to MPI_MAX_OBJECT_NAME - 1 bytes. Returns false if memory is short. */
bool weft_datatype_rename(struct weft_datatype *type, const char *name);

/* Add and drop a reference. Without effect on predefined types. */
/* Retain: the caller holds a VCI; release: all of them. */
void weft_datatype_retain(const struct weft_datatype *type);
void weft_datatype_release(const struct weft_datatype *type);

/* Calls see(arg, type) for the type of each request. Requests, which are above this module, set it;
 * for a caller that holds all VCIs. */
extern WEFT_HIDDEN void (*weft_datatype_each_use)(void (*see)(void *arg,
                                                              const struct weft_datatype *type),
                                                  void *arg);

/* The unnamed predefined type of MPI_Type_create_f90_*; typeclass is MPI_TYPECLASS_REAL, _COMPLEX
 * or _INTEGER, p and r may be MPI_UNDEFINED. Returns MPI_SUCCESS or an error class, recorded. */
int weft_datatype_f90(int typeclass, int p, int r, struct weft_datatype **out);

/* ---- external32 (MPI 5.0, section 14.5.2) ---- */

/* Computes the bytes of count elements in external32. Returns false if they are 2^63 or more. */
bool weft_datatype_external_bytes(const struct weft_datatype *type, MPI_Count count, size_t *bytes);

/* Convert to and from external32: count elements, and the first `bytes` bytes of the packed form,
 * which are complete basic elements. */
void weft_datatype_pack_external(const struct weft_datatype *type, const void *buffer, size_t count,
                                 void *out);
void weft_datatype_unpack_external(const struct weft_datatype *type, void *buffer, size_t bytes,
                                   const void *in);

#endif
