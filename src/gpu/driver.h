// SPDX-License-Identifier: BSD-3-Clause
/*
 * The driver of GPUs that a process uses: the first one that it finds loaded. A vendor's own
 * functions are a row, in cuda.c and hip.c.
 *
 * Copies are queued in three streams of Weft's own for each context or device: one for copies that
 * are waited for, and one in each direction for others. They do not synchronize with the program's
 * streams: MPI requires that the data of a buffer are there when a call gets it, and a copy in the
 * default stream would wait for kernels that have nothing to do with it.
 *
 * But the data may be missing after a copy by the driver's function, which programs take to be
 * synchronous: if it is from pageable memory, or within device memory, the driver returns earlier.
 * So memory gets the attribute SYNC_MEMOPS, with which such copies are synchronous, and what was
 * started before is waited for once.
 *
 * Invariants:
 *  - Between weft_gpu_driver_enter and weft_gpu_driver_leave, or those with _later, the functions
 *    of copies apply to one device, and the calling thread's device or context is the driver's.
 *    Afterwards it is the one of before.
 *  - One thread at a time is inside of a driver, except in weft_gpu_driver_owns and
 *    weft_gpu_driver_buffer.
 *  - The error of a call that may fail is cleared, so that the program does not read it.
 */
#ifndef WEFT_GPU_DRIVER_H
#define WEFT_GPU_DRIVER_H

#include "gpu/gpu.h"

/* The attributes of device memory. Drivers write one, four or eight bytes of each. */
struct weft_gpu_attributes {
    uint64_t type, managed, synchronous, buffer;
    int device;
    void *context; /* CUDA: NULL for memory of a pool and for mapped memory */
};

/* The owner of streams: a context with its number, or a device. A context that is made after
 * another was destroyed may have its address, but not its number. */
struct weft_gpu_owner {
    void *context;
    uint64_t number;
};

struct weft_gpu_vendor {
    int interface;               /* WEFT_GPU_CUDA or WEFT_GPU_HIP */
    const char *name, *software; /* "CUDA", "driver" */
    const char *kinds;           /* of the info key mpi_memory_alloc_kinds */
    const char *const *libraries;
    int major, minor; /* the units of these numbers in a version */

    const char *(*error)(int error);

    /* Makes the device of memory current. Returns an error of the driver. */
    int (*use)(const struct weft_gpu_attributes *memory, struct weft_gpu_owner *owner);

    /* Makes any device current. False: the driver has none. */
    bool (*use_any)(void);

    /* The same for a context that restore has returned. */
    int (*use_again)(void *context);

    /* Makes current again what was before. Returns the context that was used, or NULL. */
    void *(*restore)(void);

    int (*copy)(uintptr_t to, uintptr_t from, size_t bytes, void *stream);
    int (*copy_rows)(uintptr_t to, size_t to_pitch, uintptr_t from, size_t from_pitch, size_t bytes,
                     size_t rows, void *stream);
};

extern WEFT_HIDDEN const struct weft_gpu_vendor weft_cuda, weft_hip;

struct weft_cuda_copy;

/* A handle of memory, which is passed by value: CUipcMemHandle, hipIpcMemHandle_t. */
struct weft_gpu_handle {
    unsigned char bytes[WEFT_GPU_HANDLE];
};

/* The functions of the driver. The declarations are those of the binary interfaces, so that Weft is
 * built without CUDA and ROCm, and one build serves nodes with and without GPUs. HIP passes
 * addresses of a device as pointers, in the same registers. */
struct weft_gpu_calls {
    int (*pointer_attributes)(unsigned n, int *attributes, void **data, uintptr_t pointer);
    int (*set_attribute)(const void *value, int attribute, uintptr_t pointer); /* or NULL */
    int (*synchronize)(void); /* the current context or device */
    int (*stream_create)(void **stream, unsigned flags);
    int (*stream_synchronize)(void *stream);
    int (*event_create)(void **event, unsigned flags);
    int (*event_record)(void *event, void *stream);
    int (*event_query)(void *event);
    int (*event_destroy)(void *event);
    int (*range)(uintptr_t *base, size_t *bytes, uintptr_t pointer);
    int (*ipc_get)(struct weft_gpu_handle *handle, uintptr_t pointer);
    int (*ipc_open)(uintptr_t *pointer, struct weft_gpu_handle handle, unsigned flags);
    int (*ipc_close)(uintptr_t pointer);
    int (*pin)(void *host, size_t bytes, unsigned flags);
    int (*unpin)(void *host);
    int (*version)(int *version);

    /* CUDA */
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*primary)(void **context, int device);
    int (*primary_release)(int device);
    int (*primary_state)(int device, unsigned *flags, int *active);
    int (*context_id)(void *context, uint64_t *id); /* from CUDA 12.0 on, or NULL */
    int (*cuda_copy)(uintptr_t to, uintptr_t from, size_t bytes, void *stream);
    int (*cuda_copy_rows)(const struct weft_cuda_copy *copy, void *stream);
    int (*cuda_error)(int error, const char **text);

    /* HIP */
    int (*get_device)(int *device);
    int (*set_device)(int device);
    int (*hip_copy)(uintptr_t to, uintptr_t from, size_t bytes, int kind, void *stream);
    int (*hip_copy_rows)(uintptr_t to, size_t to_pitch, uintptr_t from, size_t from_pitch,
                         size_t bytes, size_t rows, int kind, void *stream);
    const char *(*hip_error)(int error);
    int (*last_error)(void); /* clears it */
};
extern WEFT_HIDDEN struct weft_gpu_calls weft_gpu_calls;

/* The driver whose library the program has loaded, after its functions were looked up; or NULL. */
const struct weft_gpu_vendor *weft_gpu_driver_find(void);

void weft_gpu_driver_version(int *major, int *minor);

bool weft_gpu_driver_owns(const void *at);

/* The number of the allocation of device memory, or 0. */
uint64_t weft_gpu_driver_buffer(const void *at);

/* The number of the device of device memory. */
int weft_gpu_driver_device(const void *at);

/* For copies of device memory: begin, and end after they have ended. */
void weft_gpu_driver_enter(const void *device);
void weft_gpu_driver_leave(void);

/* The same without waiting: the end returns an event that follows the copies, which
 * weft_gpu_driver_has_ended frees if it returns true. */
void weft_gpu_driver_enter_later(const void *device, bool to_device);
struct weft_gpu_event weft_gpu_driver_leave_later(void);
bool weft_gpu_driver_has_ended(struct weft_gpu_event *event);

void weft_gpu_driver_copy(uintptr_t to, uintptr_t from, size_t bytes);

/* False: the driver takes no such pitch. */
bool weft_gpu_driver_copy_rows(uintptr_t to, size_t to_pitch, uintptr_t from, size_t from_pitch,
                               size_t bytes, size_t rows);

/* False or NULL: the driver refuses. `to`: device memory that is copied to, or NULL for the host.
 */
bool weft_gpu_driver_export(const void *device, struct weft_gpu_export *out);
const char *weft_gpu_driver_import(const struct weft_gpu_export *from, const void *to);
void weft_gpu_driver_close(const char *import);

bool weft_gpu_driver_pin(void *host, size_t bytes);
void weft_gpu_driver_unpin(void *host);

#endif
