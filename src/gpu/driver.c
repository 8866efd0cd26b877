// SPDX-License-Identifier: BSD-3-Clause
/*
 * The steps that are the same for the drivers of all vendors: see driver.h.
 */
#include "gpu/driver.h"

#include "core/base/assert.h"
#include "core/base/error.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Owners of streams at a time: more than a node has GPUs. */
enum { OWNERS_MAX = 64 };

/* Pointer attributes, flags and errors, which have the same numbers in CUDA and HIP. */
enum {
    ATTRIBUTE_CONTEXT = 1,
    ATTRIBUTE_MEMORY_TYPE = 2,
    ATTRIBUTE_SYNC_MEMOPS = 6,
    ATTRIBUTE_BUFFER_ID = 7,
    ATTRIBUTE_IS_MANAGED = 8,
    ATTRIBUTE_DEVICE_ORDINAL = 9,
    STREAM_NON_BLOCKING = 1,
    EVENT_DISABLE_TIMING = 2,
    ERROR_NOT_READY = 600,
    REGISTER_PORTABLE = 1, /* for all contexts */
    IPC_LAZY_PEER_ACCESS = 1
};

/* The longest pitch that all devices take. */
static const size_t pitch_max = INT32_MAX;

struct weft_gpu_calls weft_gpu_calls;
static const struct weft_gpu_vendor *vendor;

/* The names of a function by interface (NULL: not needed there), and where it is stored. */
static const struct {
    const char *names[2];
    bool is_optional;
    void *function;
} functions[] = {
#define CALL(cuda, hip, member)                                                                    \
    {                                                                                              \
        {cuda, hip}, false, &weft_gpu_calls.member                                                 \
    }
#define OPTIONAL(cuda, hip, member)                                                                \
    {                                                                                              \
        {cuda, hip}, true, &weft_gpu_calls.member                                                  \
    }
    CALL("cuPointerGetAttributes", "hipDrvPointerGetAttributes", pointer_attributes),
    OPTIONAL("cuPointerSetAttribute", "hipPointerSetAttribute", set_attribute),
    CALL("cuCtxSynchronize", "hipDeviceSynchronize", synchronize),
    CALL("cuStreamCreate", "hipStreamCreateWithFlags", stream_create),
    CALL("cuStreamSynchronize", "hipStreamSynchronize", stream_synchronize),
    CALL("cuEventCreate", "hipEventCreateWithFlags", event_create),
    CALL("cuEventRecord", "hipEventRecord", event_record),
    CALL("cuEventQuery", "hipEventQuery", event_query),
    CALL("cuEventDestroy_v2", "hipEventDestroy", event_destroy),
    CALL("cuMemGetAddressRange_v2", "hipMemGetAddressRange", range),
    CALL("cuIpcGetMemHandle", "hipIpcGetMemHandle", ipc_get),
    CALL("cuIpcOpenMemHandle_v2", "hipIpcOpenMemHandle", ipc_open),
    CALL("cuIpcCloseMemHandle", "hipIpcCloseMemHandle", ipc_close),
    CALL("cuMemHostRegister_v2", "hipHostRegister", pin),
    CALL("cuMemHostUnregister", "hipHostUnregister", unpin),
    CALL("cuDriverGetVersion", "hipRuntimeGetVersion", version),
    CALL("cuCtxPushCurrent_v2", NULL, push),
    CALL("cuCtxPopCurrent_v2", NULL, pop),
    CALL("cuDevicePrimaryCtxRetain", NULL, primary),
    CALL("cuDevicePrimaryCtxRelease_v2", NULL, primary_release),
    CALL("cuDevicePrimaryCtxGetState", NULL, primary_state),
    OPTIONAL("cuCtxGetId", NULL, context_id),
    CALL("cuMemcpyAsync", NULL, cuda_copy),
    CALL("cuMemcpy2DAsync_v2", NULL, cuda_copy_rows),
    CALL("cuGetErrorString", NULL, cuda_error),
    CALL(NULL, "hipGetDevice", get_device),
    CALL(NULL, "hipSetDevice", set_device),
    CALL(NULL, "hipMemcpyAsync", hip_copy),
    CALL(NULL, "hipMemcpy2DAsync", hip_copy_rows),
    CALL(NULL, "hipGetErrorString", hip_error),
    CALL(NULL, "hipGetLastError", last_error),
};

static struct own_streams {
    struct weft_gpu_owner owner;
    void *now, *later[2]; /* for copies that are waited for; for others, by direction */
} streams[OWNERS_MAX];
static unsigned next_streams;
static void *stream;         /* of the copies now, or NULL */
static uint64_t memory_type; /* of device memory */

static bool look_up(const struct weft_gpu_vendor *of)
{
    void *library = NULL;
    for (const char *const *name = of->libraries; *name && !library; name++)
        library = dlopen(*name, RTLD_NOW | RTLD_NOLOAD);
    for (size_t i = 0; library && i < sizeof functions / sizeof *functions; i++) {
        const char *name = functions[i].names[of->interface];
        void *address = name ? dlsym(library, name) : NULL;
        if (name && !address && !functions[i].is_optional)
            return false;
        /* C has no cast from a pointer to an object to one to a function. */
        memcpy(functions[i].function, &address, sizeof address);
    }
    return library;
}

const struct weft_gpu_vendor *weft_gpu_driver_find(void)
{
    int major, minor;
    const struct weft_gpu_vendor *now = look_up(&weft_cuda)  ? &weft_cuda
                                        : look_up(&weft_hip) ? &weft_hip
                                                             : NULL;
    if (!now)
        return NULL;
    vendor = now;
    weft_gpu_driver_version(&major, &minor);
    memory_type = now == &weft_hip && major < 6 ? 1 : 2; /* hipMemoryTypeDevice was changed */
    return now;
}

void weft_gpu_driver_version(int *major, int *minor)
{
    int version = 0;
    weft_gpu_calls.version(&version);
    *major = version / vendor->major;
    *minor = version % vendor->major / vendor->minor;
}

/* False for addresses that are not device memory, and before the driver is initialized. */
static bool get_attributes(const void *at, struct weft_gpu_attributes *found)
{
    int names[] = {ATTRIBUTE_MEMORY_TYPE, ATTRIBUTE_IS_MANAGED,     ATTRIBUTE_SYNC_MEMOPS,
                   ATTRIBUTE_BUFFER_ID,   ATTRIBUTE_DEVICE_ORDINAL, ATTRIBUTE_CONTEXT};
    void *values[] = {&found->type,   &found->managed, &found->synchronous,
                      &found->buffer, &found->device,  &found->context};
    unsigned n = vendor->interface == WEFT_GPU_CUDA ? 6 : 5; /* HIP has no contexts */
    memset(found, 0, sizeof *found);
    return weft_gpu_calls.pointer_attributes(n, names, values, (uintptr_t)at) == 0 &&
           found->type == memory_type && found->device >= 0;
}

bool weft_gpu_driver_owns(const void *at)
{
    struct weft_gpu_attributes a;
    return get_attributes(at, &a) && !a.managed;
}

uint64_t weft_gpu_driver_buffer(const void *at)
{
    struct weft_gpu_attributes a;
    return get_attributes(at, &a) ? a.buffer : 0;
}

int weft_gpu_driver_device(const void *at)
{
    struct weft_gpu_attributes a;
    return get_attributes(at, &a) ? a.device : 0;
}

WEFT_COLD _Noreturn static void fail(const char *what, int error)
{
    const char *text = vendor->error(error);
    weft_fatal(MPI_ERR_BUFFER,
               "a copy of device memory failed: %s: %s (%s error %d); see whether the buffer was "
               "freed or is shorter than its count",
               what, text ? text : "unknown", vendor->name, error);
}

/* True if a call that may fail did not; else its error is cleared. */
static bool works(int error)
{
    if (error && weft_gpu_calls.last_error)
        weft_gpu_calls.last_error();
    return !error;
}

static const struct own_streams *streams_of(struct weft_gpu_owner owner)
{
    for (int i = 0; i < OWNERS_MAX; i++)
        if (streams[i].now && streams[i].owner.context == owner.context &&
            streams[i].owner.number == owner.number)
            return &streams[i];
    struct own_streams *own = &streams[next_streams++ % OWNERS_MAX];
    int error = weft_gpu_calls.stream_create(&own->now, STREAM_NON_BLOCKING);
    for (int i = 0; i < 2 && !error; i++)
        error = weft_gpu_calls.stream_create(&own->later[i], STREAM_NON_BLOCKING);
    if (error)
        fail("making a stream", error);
    weft_assert(own->now && own->later[0] && own->later[1]);
    own->owner = owner;
    return own;
}

/* Waits for copies of the program. Memory of a pool and mapped memory may not take the attribute:
 * there each copy waits for the default stream. */
static void wait_for_program(const void *device)
{
    unsigned yes = 1;
    bool set = weft_gpu_calls.set_attribute &&
               works(weft_gpu_calls.set_attribute(&yes, ATTRIBUTE_SYNC_MEMOPS, (uintptr_t)device));
    int error = set ? weft_gpu_calls.synchronize() : weft_gpu_calls.stream_synchronize(NULL);
    if (error)
        fail("waiting for copies of the program", error);
}

static const struct own_streams *enter_device(const void *device)
{
    struct weft_gpu_attributes a;
    struct weft_gpu_owner owner = {0};
    if (!get_attributes(device, &a))
        weft_fatal(MPI_ERR_BUFFER, "the buffer at %p is not device memory any more; was it freed?",
                   device);
    int error = vendor->use(&a, &owner);
    if (error)
        fail("using the device of the memory", error);
    if (!a.synchronous)
        wait_for_program(device);
    return streams_of(owner);
}

void weft_gpu_driver_enter(const void *device)
{
    stream = enter_device(device)->now;
}

void weft_gpu_driver_enter_later(const void *device, bool to_device)
{
    stream = enter_device(device)->later[to_device];
}

static bool enter_any(void)
{
    stream = NULL;
    return vendor->use_any();
}

void weft_gpu_driver_leave(void)
{
    int error = stream ? weft_gpu_calls.stream_synchronize(stream) : 0;
    if (error)
        fail("waiting for it", error);
    vendor->restore();
}

struct weft_gpu_event weft_gpu_driver_leave_later(void)
{
    struct weft_gpu_event own = {0};
    int error = weft_gpu_calls.event_create(&own.event, EVENT_DISABLE_TIMING);
    if (!error)
        error = weft_gpu_calls.event_record(own.event, stream);
    if (error)
        fail("making an event", error);
    own.context = vendor->restore();
    return own;
}

bool weft_gpu_driver_has_ended(struct weft_gpu_event *own)
{
    int error = vendor->use_again(own->context);
    if (!error)
        error = weft_gpu_calls.event_query(own->event);
    if (error && error != ERROR_NOT_READY)
        fail("waiting for it", error);
    if (works(error)) {
        weft_gpu_calls.event_destroy(own->event);
        own->event = NULL;
    }
    vendor->restore();
    return !error;
}

void weft_gpu_driver_copy(uintptr_t to, uintptr_t from, size_t bytes)
{
    char text[96];
    int error = vendor->copy(to, from, bytes, stream);
    if (!error)
        return;
    snprintf(text, sizeof text, "%zu bytes from %p to %p", bytes, (void *)from, (void *)to);
    fail(text, error);
}

bool weft_gpu_driver_copy_rows(uintptr_t to, size_t to_pitch, uintptr_t from, size_t from_pitch,
                               size_t bytes, size_t rows)
{
    return to_pitch <= pitch_max && from_pitch <= pitch_max &&
           works(vendor->copy_rows(to, to_pitch, from, from_pitch, bytes, rows, stream));
}

/* ---- Memory of other processes, pinned memory */

bool weft_gpu_driver_export(const void *device, struct weft_gpu_export *out)
{
    struct weft_gpu_attributes a;
    uintptr_t base;
    size_t bytes;
    weft_gpu_driver_enter(device);
    bool done = get_attributes(device, &a) &&
                works(weft_gpu_calls.range(&base, &bytes, (uintptr_t)device)) &&
                works(weft_gpu_calls.ipc_get((struct weft_gpu_handle *)out->handle, base));
    weft_gpu_driver_leave();
    if (!done)
        return false;
    out->buffer = a.buffer;
    out->base = base;
    out->bytes = bytes;
    out->offset = (uintptr_t)device - base;
    return true;
}

/* True if an exported allocation that is mapped at an address fits into the mapping, which begins
 * at base. Several allocations may be in one block of the driver, which is then mapped. */
static bool fits(const struct weft_gpu_export *from, uintptr_t at, uintptr_t base, size_t bytes)
{
    return at >= base && at - base <= bytes && from->bytes <= bytes - (at - base);
}

const char *weft_gpu_driver_import(const struct weft_gpu_export *from, const void *to)
{
    struct weft_gpu_handle handle;
    uintptr_t at = 0, base = 0;
    size_t bytes = 0;
    if (to)
        weft_gpu_driver_enter(to);
    else if (!enter_any())
        return NULL;
    memcpy(&handle, from->handle, sizeof handle);
    bool open = works(weft_gpu_calls.ipc_open(&at, handle, IPC_LAZY_PEER_ACCESS));
    bool done =
        open && works(weft_gpu_calls.range(&base, &bytes, at)) && fits(from, at, base, bytes);
    if (open && !done)
        weft_gpu_calls.ipc_close(at);
    weft_gpu_driver_leave();
    return done ? (const char *)at : NULL;
}

void weft_gpu_driver_close(const char *import)
{
    struct weft_gpu_attributes a;
    struct weft_gpu_owner owner;
    if (!get_attributes(import, &a) || vendor->use(&a, &owner))
        return;
    weft_gpu_calls.ipc_close((uintptr_t)import);
    vendor->restore();
}

bool weft_gpu_driver_pin(void *host, size_t bytes)
{
    if (!enter_any())
        return false;
    bool done = works(weft_gpu_calls.pin(host, bytes, REGISTER_PORTABLE));
    weft_gpu_driver_leave();
    return done;
}

void weft_gpu_driver_unpin(void *host)
{
    if (!enter_any())
        return;
    weft_gpu_calls.unpin(host);
    weft_gpu_driver_leave();
}
