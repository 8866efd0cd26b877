// SPDX-License-Identifier: BSD-3-Clause
/*
 * The CUDA driver: see cuda.c.
 */
#ifndef WEFT_GPU_CUDA_H
#define WEFT_GPU_CUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Looks up the functions of the driver's library if the program has loaded it. */
bool weft_cuda_find(void);

bool weft_cuda_owns(const void *at);
int weft_cuda_version(void);

/* Makes the context of device memory current, with a stream for copies. */
void weft_cuda_enter(const void *device);
void weft_cuda_leave(void);
void weft_cuda_copy(uintptr_t to, uintptr_t from, size_t bytes);

/* False: the driver takes no such pitch. */
bool weft_cuda_copy_rows(uintptr_t to, size_t to_pitch, uintptr_t from, size_t from_pitch,
                         size_t bytes, size_t rows);

#endif
