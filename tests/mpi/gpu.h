// SPDX-License-Identifier: BSD-3-Clause
/*
 * Buffers in device memory for tests: of the stand-in for CUDA (tests/gpu/libcuda.c), with
 * WEFT_TEST_GPU=hip of that for HIP (tests/gpu/libamdhip64.c), with real or real-hip of the driver.
 * Between the calls the calling thread has no current context, or another current device.
 */
#ifndef WEFT_TESTS_GPU_H
#define WEFT_TESTS_GPU_H

#include "check.h"

static struct {
    int (*init)(unsigned);
    int (*get)(int *, int);
    int (*retain)(void **, int);
    int (*push)(void *);
    int (*pop)(void **);
    int (*alloc)(uint64_t *, size_t);
    int (*managed)(uint64_t *, size_t, unsigned);
    int (*pooled)(uint64_t *, size_t, void *);
    int (*release)(uint64_t);
    int (*copy)(uint64_t, uint64_t, size_t);
    int (*copy_kind)(uint64_t, uint64_t, size_t, int);
    int (*set_device)(int);
    void *context, *driver;
    int other; /* HIP: the device that is current between the calls */
} gpu;

static void gpu_must(int code, const char *what)
{
    if (code) {
        fprintf(stderr, "%s failed: %d\n", what, code);
        abort();
    }
}

static void gpu_find(void *handle, const char *name, void *function)
{
    void *found = dlsym(handle, name);
    memcpy(function, &found, sizeof found);
    gpu_must(!found, name);
}

/* ---- HIP has a current device instead of a context, and copies of a kind. */

static int gpu_hip_push(void *context)
{
    (void)context;
    return gpu.set_device(0);
}

static int gpu_hip_pop(void **context)
{
    *context = NULL;
    return gpu.set_device(gpu.other);
}

static int gpu_hip_copy(uint64_t to, uint64_t from, size_t bytes)
{
    return gpu.copy_kind(to, from, bytes, 4);
}

static void gpu_begin_hip(void *handle)
{
    int (*get_device)(int *);
    gpu_find(handle, "hipInit", &gpu.init);
    gpu_find(handle, "hipGetDevice", &get_device);
    gpu_find(handle, "hipSetDevice", &gpu.set_device);
    gpu_find(handle, "hipMalloc", &gpu.alloc);
    gpu_find(handle, "hipMallocManaged", &gpu.managed);
    gpu_find(handle, "hipMallocAsync", &gpu.pooled);
    gpu_find(handle, "hipFree", &gpu.release);
    gpu_find(handle, "hipMemcpy", &gpu.copy_kind);
    gpu.push = gpu_hip_push;
    gpu.pop = gpu_hip_pop;
    gpu.copy = gpu_hip_copy;
    gpu_must(gpu.init(0), "hipInit");
    gpu_must(get_device(&gpu.other), "hipGetDevice");
}

static bool gpu_is_hip(void)
{
    const char *which = getenv("WEFT_TEST_GPU");
    return which && strstr(which, "hip");
}

/* Loads the driver. */
__attribute__((unused)) static void gpu_begin(void)
{
    const char *which = getenv("WEFT_TEST_GPU");
    char name[] = "libamdhip64.so.6", path[4096];
    int device;
    if (!gpu_is_hip())
        strcpy(name, "libcuda.so.1");
    strcpy(path, name);
    if (!which || strncmp(which, "real", 4) != 0) {
        ssize_t n = readlink("/proc/self/exe", path, sizeof path - 40);
        path[n > 0 ? n : 0] = 0;
        sprintf(strrchr(path, '/'), "/../gpu/%s", name);
    }
    void *handle = gpu.driver = dlopen(path, RTLD_NOW);
    if (!handle) {
        fprintf(stderr, "%s\n", dlerror());
        exit(77);
    }
    if (gpu_is_hip()) {
        gpu_begin_hip(handle);
        return;
    }
    gpu_find(handle, "cuInit", &gpu.init);
    gpu_find(handle, "cuDeviceGet", &gpu.get);
    gpu_find(handle, "cuDevicePrimaryCtxRetain", &gpu.retain);
    gpu_find(handle, "cuCtxPushCurrent_v2", &gpu.push);
    gpu_find(handle, "cuCtxPopCurrent_v2", &gpu.pop);
    gpu_find(handle, "cuMemAlloc_v2", &gpu.alloc);
    gpu_find(handle, "cuMemAllocManaged", &gpu.managed);
    gpu_find(handle, "cuMemAllocAsync", &gpu.pooled);
    gpu_find(handle, "cuMemFree_v2", &gpu.release);
    gpu_find(handle, "cuMemcpy", &gpu.copy);
    gpu_must(gpu.init(0), "cuInit");
    gpu_must(gpu.get(&device, 0), "cuDeviceGet");
    gpu_must(gpu.retain(&gpu.context, device), "cuDevicePrimaryCtxRetain");
}

enum gpu_kind { GPU_HOST, GPU_DEVICE, GPU_MANAGED, GPU_POOLED, GPU_KINDS };

__attribute__((unused)) static void *gpu_alloc(enum gpu_kind kind, size_t bytes)
{
    uint64_t at = 0;
    void *old;
    if (kind == GPU_HOST)
        return check_alloc(bytes);
    gpu_must(gpu.push(gpu.context), "cuCtxPushCurrent");
    bytes += !bytes;
    gpu_must(kind == GPU_DEVICE    ? gpu.alloc(&at, bytes)
             : kind == GPU_MANAGED ? gpu.managed(&at, bytes, 1)
                                   : gpu.pooled(&at, bytes, NULL),
             "allocating device memory");
    gpu.pop(&old);
    return (void *)(uintptr_t)at;
}

__attribute__((unused)) static void gpu_free(enum gpu_kind kind, void *at)
{
    void *old;
    if (kind == GPU_HOST) {
        free(at);
        return;
    }
    gpu_must(gpu.push(gpu.context), "cuCtxPushCurrent");
    gpu_must(gpu.release((uintptr_t)at), "cuMemFree");
    gpu.pop(&old);
}

/* Copies between memory of any kind. */
__attribute__((unused)) static void gpu_copy(enum gpu_kind kind, void *to, const void *from,
                                             size_t bytes)
{
    void *old;
    if (kind == GPU_HOST) {
        memcpy(to, from, bytes);
        return;
    }
    gpu_must(gpu.push(gpu.context), "cuCtxPushCurrent");
    gpu_must(bytes ? gpu.copy((uintptr_t)to, (uintptr_t)from, bytes) : 0, "cuMemcpy");
    gpu.pop(&old);
}

/* A buffer of any kind, with guards before and behind it, and its bytes on the host. */
struct gpu_buffer {
    enum gpu_kind kind;
    char *base, *data, *host; /* host: of data */
    size_t bytes;
};

enum { GPU_GUARD = 256 };

/* The buffer gets the bytes of `host`. */
__attribute__((unused)) static void gpu_put(struct gpu_buffer *b)
{
    gpu_copy(b->kind, b->data, b->host, b->bytes);
}

__attribute__((unused)) static struct gpu_buffer gpu_buffer_new(enum gpu_kind kind, size_t bytes)
{
    struct gpu_buffer b = {.kind = kind, .bytes = bytes};
    char *guarded = check_alloc(bytes + 2 * GPU_GUARD);
    b.host = check_alloc(bytes);
    b.base = gpu_alloc(kind, bytes + 2 * GPU_GUARD);
    b.data = b.base + GPU_GUARD;
    memset(guarded, CHECK_GUARD_BYTE, bytes + 2 * GPU_GUARD);
    memset(b.host, CHECK_GUARD_BYTE, bytes);
    gpu_copy(kind, b.base, guarded, bytes + 2 * GPU_GUARD);
    free(guarded);
    return b;
}

/* `host` gets the bytes of the buffer. */
__attribute__((unused)) static void gpu_get(struct gpu_buffer *b)
{
    char guard[2 * GPU_GUARD];
    int changed = 0;
    gpu_copy(b->kind, b->host, b->data, b->bytes);
    gpu_copy(b->kind, guard, b->base, GPU_GUARD);
    gpu_copy(b->kind, guard + GPU_GUARD, b->data + b->bytes, GPU_GUARD);
    for (int i = 0; i < 2 * GPU_GUARD; i++)
        changed += (unsigned char)guard[i] != CHECK_GUARD_BYTE;
    CHECK(changed == 0, "%d bytes beside a buffer of %zu bytes have changed", changed, b->bytes);
}

__attribute__((unused)) static void gpu_buffer_free(struct gpu_buffer *b)
{
    gpu_free(b->kind, b->base);
    free(b->host);
}

#endif
