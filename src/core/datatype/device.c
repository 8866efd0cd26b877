// SPDX-License-Identifier: BSD-3-Clause
/*
 * Twins of datatypes and their copies: see device.h.
 */
#include "core/datatype/device.h"

#include "core/base/memory.h"
#include "core/datatype/iov.h"

#include <stdlib.h>

const struct weft_datatype *weft_datatype_in_device(const struct weft_datatype *type)
{
    struct weft_datatype *twin = __atomic_load_n(&type->twin, __ATOMIC_ACQUIRE), *made;
    weft_assert(type->flags & WEFT_TYPE_COMMITTED && !(type->flags & WEFT_TYPE_DEVICE));
    if (twin)
        return twin;
    made = weft_memory_get(1, sizeof *made, "a datatype of device memory");
    *made = *type;
    made->flags =
        (type->flags | WEFT_TYPE_DEVICE) & ~(unsigned)(WEFT_TYPE_CONTIGUOUS | WEFT_TYPE_PLAIN);
    made->layout = NULL;
    made->twin = (struct weft_datatype *)type;
    /* Another thread may make one at the same time. */
    if (__atomic_compare_exchange_n(&((struct weft_datatype *)type)->twin, &twin, made, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    free(made);
    return twin;
}

/* The first runs of a list that have equal lengths and distances. Returns how many. */
static size_t regular(const struct weft_run *runs, size_t n, intptr_t *pitch)
{
    size_t rows = 1;
    *pitch = n > 1 ? (intptr_t)(runs[1].at - runs[0].at) : (intptr_t)runs[0].bytes;
    while (rows < n && runs[rows].bytes == runs[0].bytes &&
           runs[rows].at - runs[rows - 1].at == *pitch)
        rows++;
    return rows;
}

static const void *first_byte(const struct weft_datatype *twin, const void *buffer)
{
    return (const void *)((uintptr_t)buffer + (uintptr_t)twin->true_lb);
}

/* Starts the copies, between weft_gpu_begin and weft_gpu_end. */
static void copy_runs(enum weft_copy direction, const struct weft_datatype *twin,
                      const void *buffer, size_t offset, void *packed, size_t bytes)
{
    enum { RUNS = 128 };
    const struct weft_datatype *type = twin->twin;
    struct weft_run runs[RUNS];
    char *host = packed;
    size_t end = offset + bytes;
    while (offset < end) {
        size_t n = weft_layout_list_runs(type->layout, type->extent, (MPI_Aint)buffer, offset, end,
                                         runs, RUNS);
        for (size_t i = 0, rows; i < n; i += rows) {
            struct weft_gpu_rows r = {
                .device = (uintptr_t)runs[i].at, .host = host, .bytes = runs[i].bytes};
            r.rows = rows = regular(runs + i, n - i, &r.pitch);
            weft_gpu_copy_rows(direction & WEFT_UNPACK, &r);
            host += r.bytes * rows;
            offset += r.bytes * rows;
        }
    }
}

static void copy(enum weft_copy direction, const struct weft_datatype *twin, const void *buffer,
                 size_t offset, void *packed, size_t bytes)
{
    if (!bytes)
        return;
    weft_gpu_begin(first_byte(twin, buffer));
    copy_runs(direction, twin, buffer, offset, packed, bytes);
    weft_gpu_end();
}

void weft_device_copy(enum weft_copy direction, const struct weft_datatype *twin,
                      const void *buffer, size_t offset, void *packed, size_t bytes)
{
    __atomic_fetch_add(&weft_gpu_counts.staged, bytes, __ATOMIC_RELAXED);
    copy(direction, twin, buffer, offset, packed, bytes);
}

struct weft_gpu_event weft_device_copy_start(enum weft_copy direction,
                                             const struct weft_datatype *twin, const void *buffer,
                                             size_t offset, void *packed, size_t bytes)
{
    __atomic_fetch_add(&weft_gpu_counts.staged, bytes, __ATOMIC_RELAXED);
    weft_gpu_begin_later(first_byte(twin, buffer), direction & WEFT_UNPACK);
    copy_runs(direction, twin, buffer, offset, packed, bytes);
    return weft_gpu_end_later();
}

void weft_device_fetch(const struct weft_datatype *type, void *buffer, const void *from,
                       size_t bytes)
{
    __atomic_fetch_add(&weft_gpu_counts.ipc, bytes, __ATOMIC_RELAXED);
    if (type->flags & WEFT_TYPE_DEVICE)
        copy(WEFT_UNPACK, type, buffer, 0, (void *)from, bytes);
    else
        weft_gpu_copy(buffer, from, bytes);
}
