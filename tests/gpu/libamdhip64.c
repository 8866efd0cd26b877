// SPDX-License-Identifier: BSD-3-Clause
/*
 * A stand-in for AMD's libamdhip64.so.6, for tests without a GPU: that of the CUDA driver under the
 * names of HIP. Memory is on device 0 of two, and calls about it are errors while the other device
 * is current.
 */
#define STAND_IN "libamdhip64 stand-in"
#include "libcuda.c"

#define EXPORT __attribute__((visibility("default")))

enum { MEMORY_DEVICE = 2, DEVICES = 2 };

static __thread int device = DEVICES - 1;
static __thread int last_error;

/* Notes the result of a call for hipGetLastError. */
static int note(int code)
{
    last_error = code;
    return code;
}

/* The stand-in of CUDA has a current context. */
static bool enter(const char *what)
{
    if (device)
        refuse(INVALID, "%s on device %d", what, device);
    else
        cuCtxPushCurrent_v2(&context_object);
    return !device;
}

static int leave(int code)
{
    void *context;
    cuCtxPopCurrent_v2(&context);
    return note(code);
}

EXPORT int hipInit(unsigned flags)
{
    return cuInit(flags);
}

EXPORT int hipRuntimeGetVersion(int *version)
{
    *version = 60240000;
    return OK;
}

EXPORT int hipGetDevice(int *which)
{
    *which = device;
    return OK;
}

EXPORT int hipSetDevice(int which)
{
    if (which < 0 || which >= DEVICES)
        return note(refuse(INVALID, "there is no device %d", which));
    device = which;
    return OK;
}

EXPORT int hipGetLastError(void)
{
    int error = last_error;
    last_error = OK;
    return error;
}

EXPORT const char *hipGetErrorString(int error)
{
    const char *text = "";
    cuGetErrorString(error, &text);
    return text;
}

EXPORT int hipDeviceSynchronize(void)
{
    return enter("synchronizing") ? leave(cuCtxSynchronize()) : INVALID;
}

/* ---- Memory */

EXPORT int hipMalloc(void **pointer, size_t bytes)
{
    return enter("hipMalloc") ? leave(cuMemAlloc_v2((uint64_t *)pointer, bytes)) : INVALID;
}

EXPORT int hipMallocManaged(void **pointer, size_t bytes, unsigned flags)
{
    return enter("hipMallocManaged") ? leave(cuMemAllocManaged((uint64_t *)pointer, bytes, flags))
                                     : INVALID;
}

EXPORT int hipMallocAsync(void **pointer, size_t bytes, void *stream)
{
    return enter("hipMallocAsync") ? leave(cuMemAllocAsync((uint64_t *)pointer, bytes, stream))
                                   : INVALID;
}

EXPORT int hipFree(void *pointer)
{
    cuCtxPushCurrent_v2(&context_object);
    return leave(cuMemFree_v2((uintptr_t)pointer));
}

EXPORT int hipMemGetAddressRange(void **base, size_t *bytes, void *pointer)
{
    return note(cuMemGetAddressRange_v2((uint64_t *)base, bytes, (uintptr_t)pointer));
}

/* Returns no error, and writes nothing of host memory but zeros and a device below 0. */
EXPORT int hipDrvPointerGetAttributes(unsigned n, int *attributes, void **data, void *pointer)
{
    pthread_mutex_lock(&lock);
    stand_in_looks++;
    const struct memory *m = memory_of((uintptr_t)pointer);
    for (unsigned i = 0; i < n; i++) {
        if (attributes[i] == 2)
            *(unsigned *)data[i] = m ? m->managed ? 1 : MEMORY_DEVICE : 0;
        else if (attributes[i] == 6)
            *(bool *)data[i] = m && m->synchronous;
        else if (attributes[i] == 7)
            *(unsigned *)data[i] = m ? (unsigned)m->number : 0;
        else if (attributes[i] == 8)
            *(bool *)data[i] = m && m->managed;
        else if (attributes[i] == 9)
            *(int *)data[i] = m ? 0 : -2;
        else
            refuse(INVALID, "attribute %d", attributes[i]);
    }
    pthread_mutex_unlock(&lock);
    return OK;
}

EXPORT int hipPointerSetAttribute(const void *value, int attribute, void *pointer)
{
    return note(cuPointerSetAttribute(value, attribute, (uintptr_t)pointer));
}

EXPORT int hipIpcGetMemHandle(struct handle *handle, void *pointer)
{
    return note(cuIpcGetMemHandle(handle, (uintptr_t)pointer));
}

/* This and the registration of memory may be called on any device. */
EXPORT int hipIpcOpenMemHandle(void **pointer, struct handle handle, unsigned flags)
{
    cuCtxPushCurrent_v2(&context_object);
    return leave(cuIpcOpenMemHandle_v2((uint64_t *)pointer, handle, flags));
}

EXPORT int hipIpcCloseMemHandle(void *pointer)
{
    return enter("hipIpcCloseMemHandle") ? leave(cuIpcCloseMemHandle((uintptr_t)pointer)) : INVALID;
}

EXPORT int hipHostRegister(void *host, size_t bytes, unsigned flags)
{
    cuCtxPushCurrent_v2(&context_object);
    return leave(cuMemHostRegister_v2(host, bytes, flags));
}

EXPORT int hipHostUnregister(void *host)
{
    cuCtxPushCurrent_v2(&context_object);
    return leave(cuMemHostUnregister(host));
}

/* ---- Copies */

EXPORT int hipMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    if (kind != 4)
        return note(refuse(INVALID, "a copy of kind %d", kind));
    return enter("a copy") ? leave(cuMemcpy((uintptr_t)to, (uintptr_t)from, bytes)) : INVALID;
}

EXPORT int hipMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream)
{
    if (kind != 4)
        return note(refuse(INVALID, "a copy of kind %d", kind));
    return enter("a copy") ? leave(cuMemcpyAsync((uintptr_t)to, (uintptr_t)from, bytes, stream))
                           : INVALID;
}

EXPORT int hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                            size_t bytes, size_t rows, int kind, void *stream)
{
    const struct copy_2d copy = {.from_type = UNIFIED,
                                 .from = (uintptr_t)from,
                                 .from_pitch = from_pitch,
                                 .to_type = UNIFIED,
                                 .to = (uintptr_t)to,
                                 .to_pitch = to_pitch,
                                 .width = bytes,
                                 .height = rows};
    if (kind != 4)
        return note(refuse(INVALID, "a copy of kind %d", kind));
    return enter("a copy") ? leave(cuMemcpy2DAsync_v2(&copy, stream)) : INVALID;
}

EXPORT int hipStreamCreateWithFlags(void **stream, unsigned flags)
{
    return enter("a stream") ? leave(cuStreamCreate(stream, flags)) : INVALID;
}

EXPORT int hipStreamSynchronize(void *stream)
{
    cuCtxPushCurrent_v2(&context_object);
    return leave(cuStreamSynchronize(stream));
}

EXPORT int hipEventCreateWithFlags(void **event, unsigned flags)
{
    return enter("an event") ? leave(cuEventCreate(event, flags)) : INVALID;
}

EXPORT int hipEventRecord(void *event, void *stream)
{
    return enter("an event") ? leave(cuEventRecord(event, stream)) : INVALID;
}

EXPORT int hipEventQuery(void *event)
{
    cuCtxPushCurrent_v2(&context_object);
    return leave(cuEventQuery(event));
}

EXPORT int hipEventDestroy(void *event)
{
    return cuEventDestroy_v2(event);
}
