// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory allocation kinds: the values of the info keys mpi_memory_alloc_kinds, what this process
 * supports, and mpi_assert_memory_alloc_kinds, what buffers of an object are in.
 *
 * Invariant: an assertion with a kind that is not supported is ignored, as if it had not been made;
 * MPI_Comm_get_info and its like do not return it.
 */
#ifndef WEFT_GPU_KINDS_H
#define WEFT_GPU_KINDS_H

#include <stdbool.h>

struct weft_info;

#define WEFT_ASSERT_KINDS "mpi_assert_memory_alloc_kinds"

enum weft_gpu_kinds { WEFT_GPU_KINDS_HOST, WEFT_GPU_KINDS_DEVICE, WEFT_GPU_KINDS_UNSUPPORTED };

/* The value of mpi_memory_alloc_kinds. */
const char *weft_gpu_supported_kinds(void);

/* The memory of all kinds of a list: only on the host, or also on devices; or a kind or one of its
 * restrictors is not supported, or the list is NULL. */
enum weft_gpu_kinds weft_gpu_check_kinds(const char *list);

/* Takes a supported assertion of `given` into the hints of an object, and sets *host_only. */
int weft_gpu_take_kinds(struct weft_info *hints, const struct weft_info *given, bool *host_only);

#endif
