// SPDX-License-Identifier: BSD-3-Clause
/*
 * The CUDA driver, for device memory: contexts, and the form of copies.
 */
#include "gpu/driver.h"

#include "core/base/assert.h"

enum { MEMORY_UNIFIED = 4 }; /* CUmemorytype */

/* CUDA_MEMCPY2D */
struct weft_cuda_copy {
    size_t from_x, from_y;
    int from_type;
    const void *from_host;
    uint64_t from;
    void *from_array;
    size_t from_pitch;
    size_t to_x, to_y;
    int to_type;
    void *to_host;
    uint64_t to;
    void *to_array;
    size_t to_pitch;
    size_t width, height;
};

static int retained = -1; /* the device whose primary context is current and was retained */

static const char *error_text(int error)
{
    const char *text = NULL;
    weft_gpu_calls.cuda_error(error, &text);
    return text;
}

static void release_primary(void)
{
    if (retained >= 0)
        weft_gpu_calls.primary_release(retained);
    retained = -1;
}

/* Makes the primary context of a device current. */
static int use_primary(void **context, int device)
{
    weft_assert(retained < 0);
    int error = weft_gpu_calls.primary(context, device);
    if (error)
        return error;
    retained = device;
    error = weft_gpu_calls.push(*context);
    if (error)
        release_primary();
    return error;
}

static int use_again(void *context)
{
    weft_assert(retained < 0);
    return weft_gpu_calls.push(context);
}

static int use(const struct weft_gpu_attributes *memory, struct weft_gpu_owner *owner)
{
    *owner = (struct weft_gpu_owner){.context = memory->context};
    int error =
        owner->context ? use_again(owner->context) : use_primary(&owner->context, memory->device);
    if (!error && weft_gpu_calls.context_id)
        weft_gpu_calls.context_id(owner->context, &owner->number);
    return error;
}

static bool use_any(void)
{
    unsigned flags;
    void *context;
    int device = -1, active = 0;
    while (!active)
        if (weft_gpu_calls.primary_state(++device, &flags, &active))
            return false;
    return !use_primary(&context, device);
}

static void *restore(void)
{
    void *context;
    weft_gpu_calls.pop(&context);
    release_primary();
    return context;
}

static int copy_rows(uintptr_t to, size_t to_pitch, uintptr_t from, size_t from_pitch, size_t bytes,
                     size_t rows, void *stream)
{
    const struct weft_cuda_copy what = {.from_type = MEMORY_UNIFIED,
                                        .from = from,
                                        .from_pitch = from_pitch,
                                        .to_type = MEMORY_UNIFIED,
                                        .to = to,
                                        .to_pitch = to_pitch,
                                        .width = bytes,
                                        .height = rows};
    return weft_gpu_calls.cuda_copy_rows(&what, stream);
}

static int copy(uintptr_t to, uintptr_t from, size_t bytes, void *stream)
{
    return weft_gpu_calls.cuda_copy(to, from, bytes, stream);
}

const struct weft_gpu_vendor weft_cuda = {
    .interface = WEFT_GPU_CUDA,
    .name = "CUDA",
    .software = "driver",
    .kinds = "mpi,system,cuda,cuda:host,cuda:device,cuda:managed",
    .libraries = (const char *const[]){"libcuda.so.1", NULL},
    .major = 1000,
    .minor = 10,
    .error = error_text,
    .use = use,
    .use_any = use_any,
    .use_again = use_again,
    .restore = restore,
    .copy = copy,
    .copy_rows = copy_rows,
};
