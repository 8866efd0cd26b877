// SPDX-License-Identifier: BSD-3-Clause
/*
 * Datatypes of buffers in device memory.
 *
 * A type has a twin (WEFT_TYPE_DEVICE) for buffers in device memory. It has no layout and is never
 * contiguous, so that all lanes pack and unpack its data in pieces as they do data with holes; the
 * copies are the GPU's. A type and its twin have the same bytes, bounds and signature.
 */
#ifndef WEFT_DATATYPE_DEVICE_H
#define WEFT_DATATYPE_DEVICE_H

#include "core/datatype/copy.h"
#include "core/datatype/datatype.h"
#include "gpu/gpu.h"

/* The twin of a type. Ends the job if memory is short. */
WEFT_COLD const struct weft_datatype *weft_datatype_in_device(const struct weft_datatype *type);

/* The type of host memory. */
static inline const struct weft_datatype *weft_datatype_in_host(const struct weft_datatype *type)
{
    return type->flags & WEFT_TYPE_DEVICE ? type->twin : type;
}

/* The type for a buffer: its twin if the first byte of data is in device memory. host_only: the
 * user asserts that no buffer is. */
static inline const struct weft_datatype *
weft_datatype_in(const struct weft_datatype *type, const void *buffer, const bool *host_only)
{
    if (weft_likely(!weft_gpu_enabled) || (host_only && *host_only) ||
        !weft_gpu_owns((const void *)((uintptr_t)buffer + (uintptr_t)type->true_lb)))
        return type;
    return weft_datatype_in_device(type);
}

static inline const struct weft_datatype *weft_datatype_at(const struct weft_datatype *type,
                                                           const void *buffer)
{
    return weft_datatype_in(type, buffer, NULL);
}

/* weft_datatype_pack and weft_datatype_unpack for a twin. */
WEFT_COLD void weft_device_copy(enum weft_copy direction, const struct weft_datatype *twin,
                                const void *buffer, size_t offset, void *packed, size_t bytes);

/* The same without waiting for the data: weft_gpu_has_ended. */
WEFT_COLD struct weft_gpu_event weft_device_copy_start(enum weft_copy direction,
                                                       const struct weft_datatype *twin,
                                                       const void *buffer, size_t offset,
                                                       void *packed, size_t bytes);

/* Copies contiguous bytes of device memory that another process owns (weft_gpu_import) to a buffer
 * in device memory, or to a contiguous one on the host. */
WEFT_COLD void weft_device_fetch(const struct weft_datatype *type, void *buffer, const void *from,
                                 size_t bytes);

#endif
