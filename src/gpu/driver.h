// SPDX-License-Identifier: BSD-3-Clause
/*
 * The drivers of GPUs: the functions of a vendor that gpu.c uses. A process uses one of them, the
 * first that it finds loaded.
 *
 * Invariants:
 *  - Between enter or enter_later and leave or leave_later the functions of copies apply
 *    to one device, and the calling thread's device or context is the driver's. Afterwards it is
 *    the one of before.
 *  - One thread at a time is inside of a driver, except in owns and buffer.
 */
#ifndef WEFT_GPU_DRIVER_H
#define WEFT_GPU_DRIVER_H

#include "gpu/gpu.h"

struct weft_gpu_driver {
    const char *name, *ipc; /* "CUDA driver", "CUDA IPC" */
    const char *kinds;      /* of the info key mpi_memory_alloc_kinds */

    /* Looks up the functions of the library if the program has loaded it. */
    bool (*find)(void);

    bool (*owns)(const void *at);

    /* The number of the allocation of device memory, or 0. */
    uint64_t (*buffer)(const void *at);

    /* The number of the device of device memory. */
    int (*device)(const void *at);

    void (*version)(int *major, int *minor);

    /* For copies of device memory: begin, and end after they have ended. */
    void (*enter)(const void *device);
    void (*leave)(void);

    /* The same without waiting: leave_later returns an event that follows the copies. has_ended
     * frees it if it returns true. */
    void (*enter_later)(const void *device, bool to_device);
    struct weft_gpu_event (*leave_later)(void);
    bool (*has_ended)(struct weft_gpu_event *event);

    void (*copy)(uintptr_t to, uintptr_t from, size_t bytes);

    /* False: the driver takes no such pitch. */
    bool (*copy_rows)(uintptr_t to, size_t to_pitch, uintptr_t from, size_t from_pitch,
                      size_t bytes, size_t rows);

    /* False or NULL: the driver refuses. `to`: device memory that is copied to, or NULL for the
     * host. */
    bool (*export)(const void *device, struct weft_gpu_export *out);
    const char *(*import)(const struct weft_gpu_export *from, const void *to);
    void (*close)(const char *import);

    bool (*pin)(void *host, size_t bytes);
    void (*unpin)(void *host);
};

extern WEFT_HIDDEN const struct weft_gpu_driver weft_cuda, weft_hip;

/* True if an exported allocation that is mapped at an address fits into the mapping, which begins
 * at base. Several allocations may be in one piece of the driver, which is then mapped. */
static inline bool weft_gpu_fits(const struct weft_gpu_export *from, uint64_t at, uint64_t base,
                                 size_t bytes)
{
    return at >= base && at - base <= bytes && from->bytes <= bytes - (at - base);
}

#endif
