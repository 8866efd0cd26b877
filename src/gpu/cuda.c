// SPDX-License-Identifier: BSD-3-Clause
/*
 * The CUDA driver API, for device memory. The declarations are those of the driver's binary
 * interface, so that Weft is built without CUDA, and one build serves nodes with and without GPUs.
 *
 * Copies are queued in three streams of Weft's own for each context. They do not synchronize with
 * the program's streams: MPI requires that the data of a buffer are there when a call gets it, and
 * a copy in the default stream would wait for kernels that have nothing to do with it.
 *
 * But the data may be missing after a copy by cuMemcpy, which programs take to be synchronous: if
 * it is from pageable memory, or within device memory, the driver returns earlier. So memory gets
 * the attribute SYNC_MEMOPS, with which such copies are synchronous, and what was started before is
 * waited for once.
 */
#include "gpu/driver.h"

#include "core/base/assert.h"
#include "core/base/error.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Contexts that have a stream at a time: more than a node has GPUs. */
enum { CONTEXTS_MAX = 32 };

/* CUpointer_attribute, CUmemorytype, CUstream_flags, CUresult of the driver. */
enum {
    ATTRIBUTE_CONTEXT = 1,
    ATTRIBUTE_MEMORY_TYPE = 2,
    ATTRIBUTE_SYNC_MEMOPS = 6,
    ATTRIBUTE_BUFFER_ID = 7,
    ATTRIBUTE_IS_MANAGED = 8,
    ATTRIBUTE_DEVICE_ORDINAL = 9,
    MEMORY_DEVICE = 2,
    MEMORY_UNIFIED = 4,
    STREAM_NON_BLOCKING = 1,
    EVENT_DISABLE_TIMING = 2,
    ERROR_NOT_READY = 600,
    REGISTER_PORTABLE = 1, /* for all contexts */
    IPC_LAZY_PEER_ACCESS = 1
};

/* CUipcMemHandle, which is passed by value. */
struct ipc_handle {
    unsigned char bytes[WEFT_GPU_HANDLE];
};

/* The longest pitch that all devices take. */
static const size_t pitch_max = INT32_MAX;

/* CUDA_MEMCPY2D */
struct copy_2d {
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

static struct {
    int (*pointer_attributes)(unsigned n, int *attributes, void **data, uint64_t pointer);
    int (*set_attribute)(const void *value, int attribute, uint64_t pointer);
    int (*synchronize)(void); /* the current context */
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*primary)(void **context, int device);
    int (*primary_release)(int device);
    int (*primary_state)(int device, unsigned *flags, int *active);
    int (*stream_create)(void **stream, unsigned flags);
    int (*stream_synchronize)(void *stream);
    int (*event_create)(void **event, unsigned flags);
    int (*event_record)(void *event, void *stream);
    int (*event_query)(void *event);
    int (*event_destroy)(void *event);
    int (*copy)(uint64_t to, uint64_t from, size_t bytes, void *stream);
    int (*copy_2d)(const struct copy_2d *copy, void *stream);
    int (*range)(uint64_t *base, size_t *bytes, uint64_t pointer);
    int (*ipc_get)(struct ipc_handle *handle, uint64_t pointer);
    int (*ipc_open)(uint64_t *pointer, struct ipc_handle handle, unsigned flags);
    int (*ipc_close)(uint64_t pointer);
    int (*pin)(void *host, size_t bytes, unsigned flags);
    int (*unpin)(void *host);
    int (*error_string)(int error, const char **text);
    int (*version)(int *version);
    int (*context_id)(void *context, unsigned long long *id); /* from CUDA 12.0 on, or NULL */
} cuda;

/* The streams. A context that is made after another was destroyed may have its address, but not its
 * number. */
struct own_stream {
    void *context;
    void *stream, *later[2]; /* for copies that are waited for; for others, by direction */
    unsigned long long id;
};
static struct own_stream streams[CONTEXTS_MAX];
static unsigned next_stream;
static void *stream;      /* of the current context */
static int retained = -1; /* the device whose primary context is current and was retained */

/* C has no cast from a pointer to an object to one to a function. */
static bool look_up(void *handle, const char *name, void *function)
{
    void *address = dlsym(handle, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

static bool find(void)
{
    void *handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!handle)
        return false;
    look_up(handle, "cuCtxGetId", &cuda.context_id);
    return look_up(handle, "cuPointerGetAttributes", &cuda.pointer_attributes) &&
           look_up(handle, "cuPointerSetAttribute", &cuda.set_attribute) &&
           look_up(handle, "cuCtxSynchronize", &cuda.synchronize) &&
           look_up(handle, "cuCtxPushCurrent_v2", &cuda.push) &&
           look_up(handle, "cuCtxPopCurrent_v2", &cuda.pop) &&
           look_up(handle, "cuDevicePrimaryCtxRetain", &cuda.primary) &&
           look_up(handle, "cuDevicePrimaryCtxRelease_v2", &cuda.primary_release) &&
           look_up(handle, "cuDevicePrimaryCtxGetState", &cuda.primary_state) &&
           look_up(handle, "cuMemGetAddressRange_v2", &cuda.range) &&
           look_up(handle, "cuIpcGetMemHandle", &cuda.ipc_get) &&
           look_up(handle, "cuIpcOpenMemHandle_v2", &cuda.ipc_open) &&
           look_up(handle, "cuIpcCloseMemHandle", &cuda.ipc_close) &&
           look_up(handle, "cuMemHostRegister_v2", &cuda.pin) &&
           look_up(handle, "cuMemHostUnregister", &cuda.unpin) &&
           look_up(handle, "cuStreamCreate", &cuda.stream_create) &&
           look_up(handle, "cuStreamSynchronize", &cuda.stream_synchronize) &&
           look_up(handle, "cuEventCreate", &cuda.event_create) &&
           look_up(handle, "cuEventRecord", &cuda.event_record) &&
           look_up(handle, "cuEventQuery", &cuda.event_query) &&
           look_up(handle, "cuEventDestroy_v2", &cuda.event_destroy) &&
           look_up(handle, "cuMemcpyAsync", &cuda.copy) &&
           look_up(handle, "cuMemcpy2DAsync_v2", &cuda.copy_2d) &&
           look_up(handle, "cuGetErrorString", &cuda.error_string) &&
           look_up(handle, "cuDriverGetVersion", &cuda.version);
}

static void get_version(int *major, int *minor)
{
    int version = 0;
    cuda.version(&version);
    *major = version / 1000;
    *minor = version % 1000 / 10;
}

struct attributes {
    void *context; /* NULL for memory of a pool and for mapped memory */
    uint64_t type, managed, synchronous, buffer;
    int device;
};

/* False for addresses without an entry in the driver, and before cuInit. */
static bool get_attributes(const void *at, struct attributes *found)
{
    int names[] = {ATTRIBUTE_CONTEXT,     ATTRIBUTE_MEMORY_TYPE, ATTRIBUTE_IS_MANAGED,
                   ATTRIBUTE_SYNC_MEMOPS, ATTRIBUTE_BUFFER_ID,   ATTRIBUTE_DEVICE_ORDINAL};
    void *values[] = {&found->context,     &found->type,   &found->managed,
                      &found->synchronous, &found->buffer, &found->device};
    memset(found, 0, sizeof *found);
    return cuda.pointer_attributes(6, names, values, (uintptr_t)at) == 0;
}

static bool owns(const void *at)
{
    struct attributes a;
    return get_attributes(at, &a) && a.type == MEMORY_DEVICE && !a.managed;
}

static uint64_t buffer(const void *at)
{
    struct attributes a;
    return get_attributes(at, &a) && a.type == MEMORY_DEVICE ? a.buffer : 0;
}

static int device_of(const void *at)
{
    struct attributes a;
    return get_attributes(at, &a) ? a.device : 0;
}

WEFT_COLD _Noreturn static void fail(const char *what, int error)
{
    const char *text = NULL;
    cuda.error_string(error, &text);
    weft_fatal(MPI_ERR_BUFFER,
               "a copy of device memory failed: %s: %s (CUDA error %d); see whether the buffer was "
               "freed or is shorter than its count",
               what, text ? text : "unknown", error);
}

static const struct own_stream *streams_of(void *context)
{
    unsigned long long id = 0;
    if (cuda.context_id)
        cuda.context_id(context, &id);
    for (int i = 0; i < CONTEXTS_MAX; i++)
        if (streams[i].context == context && streams[i].id == id)
            return &streams[i];
    struct own_stream *own = &streams[next_stream++ % CONTEXTS_MAX];
    int error = cuda.stream_create(&own->stream, STREAM_NON_BLOCKING);
    for (int i = 0; i < 2 && !error; i++)
        error = cuda.stream_create(&own->later[i], STREAM_NON_BLOCKING);
    if (error)
        fail("making a stream", error);
    own->context = context;
    own->id = id;
    return own;
}

/* Waits for copies of the program. Memory of a pool and mapped memory may not take the attribute:
 * there each copy waits for the default stream. */
static void wait_for_program(const void *device)
{
    unsigned yes = 1;
    int error = cuda.set_attribute(&yes, ATTRIBUTE_SYNC_MEMOPS, (uintptr_t)device)
                    ? cuda.stream_synchronize(NULL)
                    : cuda.synchronize();
    if (error)
        fail("waiting for copies of the program", error);
}

/* Makes the context of device memory current. Returns it. */
static void *enter_context(const void *device)
{
    struct attributes a;
    int error = 0;
    if (!get_attributes(device, &a))
        weft_fatal(MPI_ERR_BUFFER, "the buffer at %p is not device memory any more; was it freed?",
                   device);
    if (!a.context) {
        error = cuda.primary(&a.context, a.device);
        retained = error ? -1 : a.device;
    }
    if (!error)
        error = cuda.push(a.context);
    if (error)
        fail("using the context of the memory", error);
    if (!a.synchronous)
        wait_for_program(device);
    return a.context;
}

static void enter(const void *device)
{
    stream = streams_of(enter_context(device))->stream;
}

static void enter_later(const void *device, bool to_device)
{
    stream = streams_of(enter_context(device))->later[to_device];
}

static void leave_primary(void)
{
    if (retained >= 0)
        cuda.primary_release(retained);
    retained = -1;
}

static bool enter_primary(void)
{
    unsigned flags;
    void *context;
    int device = -1, active = 0;
    while (!active)
        if (cuda.primary_state(++device, &flags, &active))
            return false;
    if (cuda.primary(&context, device))
        return false;
    retained = device;
    stream = NULL;
    if (!cuda.push(context))
        return true;
    leave_primary();
    return false;
}

static void leave(void)
{
    void *context;
    int error = stream ? cuda.stream_synchronize(stream) : 0;
    if (error)
        fail("waiting for it", error);
    cuda.pop(&context);
    leave_primary();
}

static struct weft_gpu_event leave_later(void)
{
    struct weft_gpu_event own = {0};
    int error = cuda.event_create(&own.event, EVENT_DISABLE_TIMING);
    if (!error)
        error = cuda.event_record(own.event, stream);
    if (error)
        fail("making an event", error);
    cuda.pop(&own.context);
    leave_primary();
    return own;
}

static bool has_ended(struct weft_gpu_event *own)
{
    void *context;
    int error = cuda.push(own->context);
    if (!error)
        error = cuda.event_query(own->event);
    if (error && error != ERROR_NOT_READY)
        fail("waiting for it", error);
    if (!error) {
        cuda.event_destroy(own->event);
        own->event = NULL;
    }
    cuda.pop(&context);
    return !error;
}

static void copy(uintptr_t to, uintptr_t from, size_t bytes)
{
    char text[96];
    int error = cuda.copy(to, from, bytes, stream);
    if (!error)
        return;
    snprintf(text, sizeof text, "%zu bytes from %p to %p", bytes, (void *)from, (void *)to);
    fail(text, error);
}

static bool copy_rows(uintptr_t to, size_t to_pitch, uintptr_t from, size_t from_pitch,
                      size_t bytes, size_t rows)
{
    const struct copy_2d what = {.from_type = MEMORY_UNIFIED,
                                 .from = from,
                                 .from_pitch = from_pitch,
                                 .to_type = MEMORY_UNIFIED,
                                 .to = to,
                                 .to_pitch = to_pitch,
                                 .width = bytes,
                                 .height = rows};
    return to_pitch <= pitch_max && from_pitch <= pitch_max && cuda.copy_2d(&what, stream) == 0;
}

/* ---- Memory of other processes, pinned memory */

static bool export_memory(const void *device, struct weft_gpu_export *out)
{
    struct attributes a;
    uint64_t base;
    size_t bytes;
    enter(device);
    bool done = get_attributes(device, &a) && !cuda.range(&base, &bytes, (uintptr_t)device) &&
                !cuda.ipc_get((struct ipc_handle *)out->handle, base);
    leave();
    if (!done)
        return false;
    out->buffer = a.buffer;
    out->base = base;
    out->bytes = bytes;
    out->offset = (uintptr_t)device - base;
    return true;
}

static const char *import_memory(const struct weft_gpu_export *from, const void *to)
{
    struct ipc_handle handle;
    uint64_t at = 0, base = 0;
    size_t bytes = 0;
    if (to)
        enter(to);
    else if (!enter_primary())
        return NULL;
    memcpy(&handle, from->handle, sizeof handle);
    bool open = !cuda.ipc_open(&at, handle, IPC_LAZY_PEER_ACCESS);
    bool fits = open && !cuda.range(&base, &bytes, at) && weft_gpu_fits(from, at, base, bytes);
    if (open && !fits)
        cuda.ipc_close(at);
    leave();
    return fits ? (const char *)(uintptr_t)at : NULL;
}

static void close_memory(const char *import)
{
    struct attributes a;
    if (!get_attributes(import, &a) || cuda.push(a.context))
        return;
    cuda.ipc_close((uintptr_t)import);
    cuda.pop(&a.context);
}

static bool pin(void *host, size_t bytes)
{
    if (!enter_primary())
        return false;
    bool done = !cuda.pin(host, bytes, REGISTER_PORTABLE);
    leave();
    return done;
}

static void unpin(void *host)
{
    if (!enter_primary())
        return;
    cuda.unpin(host);
    leave();
}

const struct weft_gpu_driver weft_cuda = {
    .name = "CUDA driver",
    .ipc = "CUDA IPC",
    .kinds = "mpi,system,cuda,cuda:host,cuda:device,cuda:managed",
    .find = find,
    .owns = owns,
    .buffer = buffer,
    .device = device_of,
    .version = get_version,
    .enter = enter,
    .leave = leave,
    .enter_later = enter_later,
    .leave_later = leave_later,
    .has_ended = has_ended,
    .copy = copy,
    .copy_rows = copy_rows,
    .export = export_memory,
    .import = import_memory,
    .close = close_memory,
    .pin = pin,
    .unpin = unpin,
};
