// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the library asks a datatype: see datatype.h. Layouts and signatures do the work.
 */
#include "core/datatype/datatype.h"
#include "core/datatype/copy.h"

#include <string.h>

void weft_datatype_pack(const struct weft_datatype *type, const void *buffer, size_t offset,
                        void *out, size_t bytes)
{
    if (!bytes)
        return;
    if (type->flags & WEFT_TYPE_CONTIGUOUS)
        memcpy(out, (const char *)buffer + offset, bytes);
    else
        weft_layout_copy(WEFT_PACK, type->layout, type->extent, buffer, offset, offset + bytes,
                         out);
}

void weft_datatype_unpack(const struct weft_datatype *type, void *buffer, size_t offset,
                          const void *in, size_t bytes)
{
    if (!bytes)
        return;
    if (type->flags & WEFT_TYPE_CONTIGUOUS)
        memcpy((char *)buffer + offset, in, bytes);
    else
        weft_layout_copy(WEFT_UNPACK, type->layout, type->extent, buffer, offset, offset + bytes,
                         (void *)in);
}

void weft_datatype_pack_all(const struct weft_datatype *type, const void *buffer, size_t count,
                            void *out)
{
    if (!type->size || !count)
        return;
    if (type->flags & WEFT_TYPE_CONTIGUOUS)
        memcpy(out, buffer, count * type->size);
    else
        weft_layout_copy_all(WEFT_PACK, type->layout, type->extent, buffer, count, out);
}

void weft_datatype_unpack_all(const struct weft_datatype *type, void *buffer, size_t count,
                              const void *in)
{
    if (!type->size || !count)
        return;
    if (type->flags & WEFT_TYPE_CONTIGUOUS)
        memcpy(buffer, in, count * type->size);
    else
        weft_layout_copy_all(WEFT_UNPACK, type->layout, type->extent, buffer, count, (void *)in);
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
    MPI_Count whole = (MPI_Count)(bytes / type->size * signature->elements);
    if (!weft_signature_count(signature, bytes % type->size, &rest))
        return MPI_UNDEFINED;
    return whole + (MPI_Count)rest;
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
