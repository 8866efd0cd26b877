// SPDX-License-Identifier: BSD-3-Clause
/*
 * The CUDA driver: see cuda.c.
 */
#ifndef WEFT_GPU_CUDA_H
#define WEFT_GPU_CUDA_H

#include "gpu/gpu.h"

/* Looks up the functions of the driver's library if the program has loaded it. */
bool weft_cuda_find(void);

bool weft_cuda_owns(const void *at);

/* The number of the allocation of device memory, or 0. */
uint64_t weft_cuda_buffer(const void *at);

int weft_cuda_version(void);

/* Makes the context of device memory current, with a stream for copies. */
void weft_cuda_enter(const void *device);
void weft_cuda_leave(void);

/* Makes a primary context current that the program uses. False if there is none. */
bool weft_cuda_enter_primary(void);

/* The same with the stream for copies that are not waited for. The end returns an event that
 * follows them; the last function frees it if it returns true. */
void weft_cuda_enter_later(const void *device);
struct weft_gpu_event weft_cuda_leave_later(void);
bool weft_cuda_has_ended(struct weft_gpu_event *event);

void weft_cuda_copy(uintptr_t to, uintptr_t from, size_t bytes);

/* False: the driver takes no such pitch. */
bool weft_cuda_copy_rows(uintptr_t to, size_t to_pitch, uintptr_t from, size_t from_pitch,
                         size_t bytes, size_t rows);

/* False or NULL: the driver refuses. `to`: device memory that is copied to, or NULL for the host.
 */
bool weft_cuda_export(const void *device, struct weft_gpu_export *out);
const char *weft_cuda_import(const struct weft_gpu_export *from, const void *to);
void weft_cuda_close(const char *import);

bool weft_cuda_pin(void *host, size_t bytes);
void weft_cuda_unpin(void *host);

#endif
