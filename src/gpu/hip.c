// SPDX-License-Identifier: BSD-3-Clause
/*
 * AMD's HIP runtime, for device memory. It has a current device for each thread instead of
 * contexts.
 */
#include "gpu/driver.h"

#include "core/base/assert.h"

enum { COPY_DEFAULT = 4 }; /* hipMemcpyKind */

static int before = -1; /* the device that was current before, if it is another one */

static const char *error_text(int error)
{
    return weft_gpu_calls.hip_error(error);
}

static int use(const struct weft_gpu_attributes *memory, struct weft_gpu_owner *owner)
{
    int current = -1, error = weft_gpu_calls.get_device(&current);
    weft_assert(before < 0);
    *owner = (struct weft_gpu_owner){.number = (uint64_t)memory->device};
    if (error || current == memory->device)
        return error;
    error = weft_gpu_calls.set_device(memory->device);
    before = error ? -1 : current;
    return error;
}

/* Memory of other processes and of the host needs no device. */
static bool use_any(void)
{
    return true;
}

static int use_again(void *context)
{
    weft_assert(!context && before < 0);
    return 0;
}

static void *restore(void)
{
    if (before >= 0)
        weft_gpu_calls.set_device(before);
    before = -1;
    return NULL;
}

static int copy(uintptr_t to, uintptr_t from, size_t bytes, void *stream)
{
    return weft_gpu_calls.hip_copy(to, from, bytes, COPY_DEFAULT, stream);
}

static int copy_rows(uintptr_t to, size_t to_pitch, uintptr_t from, size_t from_pitch, size_t bytes,
                     size_t rows, void *stream)
{
    return weft_gpu_calls.hip_copy_rows(to, to_pitch, from, from_pitch, bytes, rows, COPY_DEFAULT,
                                        stream);
}

const struct weft_gpu_vendor weft_hip = {
    .interface = WEFT_GPU_HIP,
    .name = "HIP",
    .software = "runtime",
    .kinds = "mpi,system,rocm,rocm:host,rocm:device,rocm:managed",
    .libraries =
        (const char *const[]){"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", NULL},
    .major = 10000000,
    .minor = 100000,
    .error = error_text,
    .use = use,
    .use_any = use_any,
    .use_again = use_again,
    .restore = restore,
    .copy = copy,
    .copy_rows = copy_rows,
};
