// SPDX-License-Identifier: BSD-3-Clause
/*
 * AMD's HIP runtime, for device memory. The declarations are those of its binary interface, so that
 * Weft is built without ROCm.
 *
 * As with CUDA (cuda.c), copies are queued in two streams of Weft's own for each device, and memory
 * gets the attribute SYNC_MEMOPS, where the runtime has it. HIP has a current device for each
 * thread instead of contexts.
 *
 * The error of a call that may fail is cleared, so that the program does not read it with
 * hipGetLastError.
 */
#include "gpu/driver.h"

#include "core/base/error.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Devices that have streams: more than a node has GPUs. */
enum { DEVICES_MAX = 64 };

/* hipPointer_attribute, hipMemcpyKind, flags and hipError_t of the runtime. */
enum {
    ATTRIBUTE_MEMORY_TYPE = 2,
    ATTRIBUTE_SYNC_MEMOPS = 6,
    ATTRIBUTE_BUFFER_ID = 7,
    ATTRIBUTE_IS_MANAGED = 8,
    ATTRIBUTE_DEVICE_ORDINAL = 9,
    COPY_DEFAULT = 4,
    STREAM_NON_BLOCKING = 1,
    EVENT_DISABLE_TIMING = 2,
    ERROR_NOT_READY = 600,
    REGISTER_PORTABLE = 1,
    IPC_LAZY_PEER_ACCESS = 1
};

/* hipMemoryTypeDevice has another value from ROCm 6 on. */
enum { MEMORY_DEVICE_5 = 1, MEMORY_DEVICE_6 = 2, VERSION_MAJOR = 10000000, VERSION_MINOR = 100000 };

/* hipIpcMemHandle_t, which is passed by value. */
struct ipc_handle {
    unsigned char bytes[WEFT_GPU_HANDLE];
};

/* The longest pitch that is passed. */
static const size_t pitch_max = INT32_MAX;

static struct {
    int (*pointer_attributes)(unsigned n, int *attributes, void **data, void *pointer);
    int (*set_attribute)(const void *value, int attribute, void *pointer); /* or NULL */
    int (*get_device)(int *device);
    int (*set_device)(int device);
    int (*synchronize)(void); /* the current device */
    int (*stream_create)(void **stream, unsigned flags);
    int (*stream_synchronize)(void *stream);
    int (*event_create)(void **event, unsigned flags);
    int (*event_record)(void *event, void *stream);
    int (*event_query)(void *event);
    int (*event_destroy)(void *event);
    int (*copy)(void *to, const void *from, size_t bytes, int kind, void *stream);
    int (*copy_2d)(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t bytes,
                   size_t rows, int kind, void *stream);
    int (*range)(void **base, size_t *bytes, void *pointer);
    int (*ipc_get)(struct ipc_handle *handle, void *pointer);
    int (*ipc_open)(void **pointer, struct ipc_handle handle, unsigned flags);
    int (*ipc_close)(void *pointer);
    int (*pin)(void *host, size_t bytes, unsigned flags);
    int (*unpin)(void *host);
    const char *(*error_string)(int error);
    int (*last_error)(void);
    int (*version)(int *version);
} hip;

static struct {
    void *stream, *later[2]; /* for copies that are waited for; for others, by direction */
} streams[DEVICES_MAX];

static unsigned memory_device; /* hipMemoryTypeDevice */
static void *stream;           /* of the copies now, or NULL */
static int before = -1;        /* the device that was current before, if it is another one */

/* C has no cast from a pointer to an object to one to a function. */
static bool look_up(void *handle, const char *name, void *function)
{
    void *address = dlsym(handle, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

static bool find(void)
{
    static const char *const names[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"};
    void *handle = NULL;
    int version = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && !handle; i++)
        handle = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
    if (!handle)
        return false;
    look_up(handle, "hipPointerSetAttribute", &hip.set_attribute);
    if (!look_up(handle, "hipDrvPointerGetAttributes", &hip.pointer_attributes) ||
        !look_up(handle, "hipGetDevice", &hip.get_device) ||
        !look_up(handle, "hipSetDevice", &hip.set_device) ||
        !look_up(handle, "hipDeviceSynchronize", &hip.synchronize) ||
        !look_up(handle, "hipStreamCreateWithFlags", &hip.stream_create) ||
        !look_up(handle, "hipStreamSynchronize", &hip.stream_synchronize) ||
        !look_up(handle, "hipEventCreateWithFlags", &hip.event_create) ||
        !look_up(handle, "hipEventRecord", &hip.event_record) ||
        !look_up(handle, "hipEventQuery", &hip.event_query) ||
        !look_up(handle, "hipEventDestroy", &hip.event_destroy) ||
        !look_up(handle, "hipMemcpyAsync", &hip.copy) ||
        !look_up(handle, "hipMemcpy2DAsync", &hip.copy_2d) ||
        !look_up(handle, "hipMemGetAddressRange", &hip.range) ||
        !look_up(handle, "hipIpcGetMemHandle", &hip.ipc_get) ||
        !look_up(handle, "hipIpcOpenMemHandle", &hip.ipc_open) ||
        !look_up(handle, "hipIpcCloseMemHandle", &hip.ipc_close) ||
        !look_up(handle, "hipHostRegister", &hip.pin) ||
        !look_up(handle, "hipHostUnregister", &hip.unpin) ||
        !look_up(handle, "hipGetErrorString", &hip.error_string) ||
        !look_up(handle, "hipGetLastError", &hip.last_error) ||
        !look_up(handle, "hipRuntimeGetVersion", &hip.version) || hip.version(&version))
        return false;
    memory_device = version / VERSION_MAJOR < 6 ? MEMORY_DEVICE_5 : MEMORY_DEVICE_6;
    return true;
}

static void get_version(int *major, int *minor)
{
    int version = 0;
    hip.version(&version);
    *major = version / VERSION_MAJOR;
    *minor = version % VERSION_MAJOR / VERSION_MINOR;
}

/* The runtime writes one, four or eight bytes of each. */
struct attributes {
    uint64_t type, managed, synchronous, buffer;
    int device;
};

/* False for addresses that are no device memory. */
static bool get_attributes(const void *at, struct attributes *found)
{
    int names[] = {ATTRIBUTE_MEMORY_TYPE, ATTRIBUTE_IS_MANAGED, ATTRIBUTE_SYNC_MEMOPS,
                   ATTRIBUTE_BUFFER_ID, ATTRIBUTE_DEVICE_ORDINAL};
    void *values[] = {&found->type, &found->managed, &found->synchronous, &found->buffer,
                      &found->device};
    memset(found, 0, sizeof *found);
    return hip.pointer_attributes(5, names, values, (void *)at) == 0 &&
           found->type == memory_device && found->device >= 0 && found->device < DEVICES_MAX;
}

static bool owns(const void *at)
{
    struct attributes a;
    return get_attributes(at, &a) && !a.managed;
}

static uint64_t buffer(const void *at)
{
    struct attributes a;
    return get_attributes(at, &a) ? a.buffer : 0;
}

static int device_of(const void *at)
{
    struct attributes a;
    return get_attributes(at, &a) ? a.device : 0;
}

WEFT_COLD _Noreturn static void fail(const char *what, int error)
{
    const char *text = hip.error_string(error);
    weft_fatal(MPI_ERR_BUFFER,
               "a copy of device memory failed: %s: %s (HIP error %d); see whether the buffer was "
               "freed or is shorter than its count",
               what, text ? text : "unknown", error);
}

/* True if a call that may fail did not; else its error is cleared. */
static bool works(int error)
{
    if (error)
        hip.last_error();
    return !error;
}

/* Makes a device current. */
static int set_device(int device)
{
    int current = -1, error = hip.get_device(&current);
    if (error || current == device)
        return error;
    error = hip.set_device(device);
    before = error ? -1 : current;
    return error;
}

static void restore_device(void)
{
    if (before >= 0)
        hip.set_device(before);
    before = -1;
    stream = NULL;
}

/* Waits for copies of the program. Where the memory does not take the attribute each copy waits for
 * the default stream. */
static void wait_for_program(const void *device)
{
    unsigned yes = 1;
    bool set =
        hip.set_attribute && works(hip.set_attribute(&yes, ATTRIBUTE_SYNC_MEMOPS, (void *)device));
    int error = set ? hip.synchronize() : hip.stream_synchronize(NULL);
    if (error)
        fail("waiting for copies of the program", error);
}

/* Makes the device of memory current. Returns its number. */
static int enter_device(const void *device)
{
    struct attributes a;
    if (!get_attributes(device, &a))
        weft_fatal(MPI_ERR_BUFFER, "the buffer at %p is not device memory any more; was it freed?",
                   device);
    int error = set_device(a.device);
    if (!error && !streams[a.device].stream)
        error = hip.stream_create(&streams[a.device].stream, STREAM_NON_BLOCKING);
    for (int i = 0; i < 2 && !error; i++)
        if (!streams[a.device].later[i])
            error = hip.stream_create(&streams[a.device].later[i], STREAM_NON_BLOCKING);
    if (error)
        fail("using the device of the memory", error);
    if (!a.synchronous)
        wait_for_program(device);
    return a.device;
}

static void enter(const void *device)
{
    stream = streams[enter_device(device)].stream;
}

static void enter_later(const void *device, bool to_device)
{
    stream = streams[enter_device(device)].later[to_device];
}

static void leave(void)
{
    int error = stream ? hip.stream_synchronize(stream) : 0;
    if (error)
        fail("waiting for it", error);
    restore_device();
}

static struct weft_gpu_event leave_later(void)
{
    struct weft_gpu_event own = {0};
    int error = hip.event_create(&own.event, EVENT_DISABLE_TIMING);
    if (!error)
        error = hip.event_record(own.event, stream);
    if (error)
        fail("making an event", error);
    restore_device();
    return own;
}

static bool has_ended(struct weft_gpu_event *own)
{
    int error = hip.event_query(own->event);
    if (error == ERROR_NOT_READY)
        return works(error);
    if (error)
        fail("waiting for it", error);
    hip.event_destroy(own->event);
    own->event = NULL;
    return true;
}

static void copy(uintptr_t to, uintptr_t from, size_t bytes)
{
    char text[96];
    int error = hip.copy((void *)to, (const void *)from, bytes, COPY_DEFAULT, stream);
    if (!error)
        return;
    snprintf(text, sizeof text, "%zu bytes from %p to %p", bytes, (void *)from, (void *)to);
    fail(text, error);
}

static bool copy_rows(uintptr_t to, size_t to_pitch, uintptr_t from, size_t from_pitch,
                      size_t bytes, size_t rows)
{
    return to_pitch <= pitch_max && from_pitch <= pitch_max &&
           works(hip.copy_2d((void *)to, to_pitch, (const void *)from, from_pitch, bytes, rows,
                             COPY_DEFAULT, stream));
}

/* ---- Memory of other processes, pinned memory */

static bool export_memory(const void *device, struct weft_gpu_export *out)
{
    struct attributes a;
    void *base;
    size_t bytes;
    enter(device);
    bool done = get_attributes(device, &a) && works(hip.range(&base, &bytes, (void *)device)) &&
                works(hip.ipc_get((struct ipc_handle *)out->handle, base));
    leave();
    if (!done)
        return false;
    out->buffer = a.buffer;
    out->base = (uintptr_t)base;
    out->bytes = bytes;
    out->offset = (uintptr_t)device - out->base;
    return true;
}

static const char *import_memory(const struct weft_gpu_export *from, const void *to)
{
    struct ipc_handle handle;
    void *at = NULL, *base = NULL;
    size_t bytes = 0;
    if (to)
        enter(to);
    memcpy(&handle, from->handle, sizeof handle);
    bool open = works(hip.ipc_open(&at, handle, IPC_LAZY_PEER_ACCESS));
    bool fits = open && works(hip.range(&base, &bytes, at)) &&
                weft_gpu_fits(from, (uintptr_t)at, (uintptr_t)base, bytes);
    if (open && !fits)
        hip.ipc_close(at);
    if (to)
        leave();
    return fits ? at : NULL;
}

static void close_memory(const char *import)
{
    struct attributes a;
    if (!get_attributes(import, &a) || set_device(a.device))
        return;
    hip.ipc_close((void *)import);
    restore_device();
}

static bool pin(void *host, size_t bytes)
{
    return works(hip.pin(host, bytes, REGISTER_PORTABLE));
}

static void unpin(void *host)
{
    hip.unpin(host);
}

const struct weft_gpu_driver weft_hip = {
    .name = "HIP runtime",
    .ipc = "HIP IPC",
    .kinds = "mpi,system,rocm,rocm:host,rocm:device,rocm:managed",
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
