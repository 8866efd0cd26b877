// SPDX-License-Identifier: BSD-3-Clause
/*
 * Packing and counting: see datatype.h.
 */
#include "core/datatype/datatype.h"
#include "core/datatype/copy.h"
#include "core/datatype/device.h"

#include <string.h>

static inline __attribute__((always_inline)) void copy_bytes(enum weft_copy direction,
                                                             const struct weft_datatype *type,
                                                             const void *buffer, size_t offset,
                                                             void *packed, size_t bytes)
{
    char *data = (char *)buffer + offset;
    if (!bytes)
        return;
    weft_assert(type->flags & (WEFT_TYPE_CONTIGUOUS | WEFT_TYPE_DEVICE) || type->layout);
    if (type->flags & WEFT_TYPE_CONTIGUOUS)
        memcpy(direction == WEFT_PACK ? packed : data, direction == WEFT_PACK ? data : packed,
               bytes);
    else if (weft_unlikely(type->flags & WEFT_TYPE_DEVICE))
        weft_device_copy(direction, type, buffer, offset, packed, bytes);
    else
        weft_layout_copy(direction, type->layout, type->extent, buffer, offset, offset + bytes,
                         packed);
}

static inline __attribute__((always_inline)) void copy_elements(enum weft_copy direction,
                                                                const struct weft_datatype *type,
                                                                const void *buffer, size_t count,
                                                                void *packed)
{
    if (!type->size || !count)
        return;
    if (type->flags & WEFT_TYPE_CONTIGUOUS)
        copy_bytes(direction, type, buffer, 0, packed, count * type->size);
    else if (weft_unlikely(type->flags & WEFT_TYPE_DEVICE))
        weft_device_copy(direction, type, buffer, 0, packed, count * type->size);
    else
        weft_layout_copy_all(direction, type->layout, type->extent, buffer, count, packed);
}

void weft_datatype_pack(const struct weft_datatype *type, const void *buffer, size_t offset,
                        void *out, size_t bytes)
{
    copy_bytes(WEFT_PACK, type, buffer, offset, out, bytes);
}

void weft_datatype_unpack(const struct weft_datatype *type, void *buffer, size_t offset,
                          const void *in, size_t bytes)
{
    copy_bytes(WEFT_UNPACK, type, buffer, offset, (void *)in, bytes);
}

void weft_datatype_pack_all(const struct weft_datatype *type, const void *buffer, size_t count,
                            void *out)
{
    copy_elements(WEFT_PACK, type, buffer, count, out);
}

void weft_datatype_unpack_all(const struct weft_datatype *type, void *buffer, size_t count,
                              const void *in)
{
    copy_elements(WEFT_UNPACK, type, buffer, count, (void *)in);
}

void weft_datatype_copy(const struct weft_datatype *from, const void *source,
                        const struct weft_datatype *to, void *destination, size_t bytes)
{
    char bounce[4096]; /* fits the first-level cache */
    void *in = weft_datatype_run(from, source, bytes);
    void *out = weft_datatype_run(to, destination, bytes);
    if (in && out) {
        memmove(out, in, bytes);
        return;
    }
    if (weft_unlikely(from->flags & to->flags & WEFT_TYPE_DEVICE)) {
        in = weft_datatype_run(from->twin, source, bytes);
        out = weft_datatype_run(to->twin, destination, bytes);
        if (in && out) {
            weft_gpu_copy(out, in, bytes);
            return;
        }
        in = out = NULL;
    }
    if (out) {
        weft_datatype_pack(from, source, 0, out, bytes);
    } else if (in) {
        weft_datatype_unpack(to, destination, 0, in, bytes);
    } else {
        for (size_t done = 0, n; done < bytes; done += n) {
            n = bytes - done < sizeof bounce ? bytes - done : sizeof bounce;
            weft_datatype_pack(from, source, done, bounce, n);
            weft_datatype_unpack(to, destination, done, bounce, n);
        }
    }
}

MPI_Count weft_datatype_count(const struct weft_datatype *type, size_t bytes)
{
    if (!type->size)
        return bytes ? MPI_UNDEFINED : 0;
    return bytes % type->size ? MPI_UNDEFINED : (MPI_Count)(bytes / type->size);
}

MPI_Count weft_datatype_elements(const struct weft_datatype *type, size_t bytes)
{
    const struct weft_signature *signature = type->signature;
    size_t rest;
    if (!signature)
        return bytes ? MPI_UNDEFINED : 0;
    weft_assert(signature->bytes == type->size);
    MPI_Count all = (MPI_Count)(bytes / type->size * signature->elements);
    if (!weft_signature_count(signature, bytes % type->size, &rest))
        return MPI_UNDEFINED;
    return all + (MPI_Count)rest;
}

bool weft_datatype_bytes_of(const struct weft_datatype *type, MPI_Count elements, size_t *bytes)
{
    const struct weft_signature *signature = type->signature;
    *bytes = 0;
    if (!signature)
        return elements == 0;
    size_t n = (size_t)elements;
    if (__builtin_mul_overflow(n / signature->elements, type->size, bytes))
        return false;
    *bytes += weft_signature_bytes(signature, n % signature->elements);
    return (MPI_Count)*bytes >= 0;
}
