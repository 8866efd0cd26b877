// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory of GPUs: see gpu.h. One thread at a time copies, because the streams are shared.
 */
#include "gpu/gpu.h"

#include "core/base/assert.h"
#include "core/base/settings.h"
#include "gpu/driver.h"
#include "gpu/kinds.h"

#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool weft_gpu_enabled;
struct weft_gpu_counts weft_gpu_counts;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct weft_gpu_vendor *_Atomic found; /* of the driver that is loaded, or NULL */
static _Atomic unsigned long long libraries;        /* loaded until the last look for it */

/* The first object is the program; dlpi_adds counts the objects that were loaded. */
static int count_libraries(struct dl_phdr_info *info, size_t size, void *count)
{
    (void)size;
    *(unsigned long long *)count = info->dlpi_adds;
    return 1;
}

static bool look(void)
{
    unsigned long long now = 0;
    if (found)
        return true;
    dl_iterate_phdr(count_libraries, &now);
    if (now == libraries)
        return false;
    libraries = now;
    found = weft_gpu_driver_find();
    return found;
}

/* ---- Memory that no driver allocates: the heap that brk extends, and the stack of the main
 * thread, below which the kernel maps nothing else for at least 128 MiB. */

enum { FIELD_STACK = 28, FIELD_HEAP = 47, STACK_BYTES = 8 << 20 };
static uintptr_t heap, stack; /* where they begin; 0: unknown */

/* Reads two fields of /proc/self/stat. The second one, a name, may have spaces. */
static void find_heap_and_stack(void)
{
    char line[2048];
    FILE *file = fopen("/proc/self/stat", "re");
    size_t n = file ? fread(line, 1, sizeof line - 1, file) : 0;
    if (file)
        fclose(file);
    line[n] = 0;
    const char *at = strrchr(line, ')');
    heap = stack = 0;
    for (int field = 2; at && field <= FIELD_HEAP; at = strchr(at + 1, ' '), field++) {
        if (field == FIELD_STACK)
            stack = strtoull(at, NULL, 10);
        if (field == FIELD_HEAP)
            heap = strtoull(at, NULL, 10);
    }
}

static bool is_host(const void *address)
{
    uintptr_t at = (uintptr_t)address;
    return stack - at < STACK_BYTES || (heap && at - heap < (uintptr_t)sbrk(0) - heap);
}

void weft_gpu_open(void)
{
    libraries = 0;
    find_heap_and_stack();
    bool device = access("/dev/nvidiactl", F_OK) == 0 || access("/dev/kfd", F_OK) == 0;
    weft_gpu_enabled =
        weft_settings.gpu != WEFT_GPU_OFF && (look() || device || weft_settings.gpu == WEFT_GPU_ON);
}

const char *weft_gpu_supported_kinds(void)
{
    return weft_gpu_enabled && look() ? found->kinds : "mpi,system";
}

bool weft_gpu_owns(const void *at)
{
    return at && look() && !is_host(at) && weft_gpu_driver_owns(at);
}

const char *weft_gpu_describe(char *buf, size_t len)
{
    if (!weft_gpu_enabled || !look())
        return NULL;
    int major, minor;
    weft_gpu_driver_version(&major, &minor);
    int n = snprintf(buf, len, "%s %s %d.%d, messages through host memory", found->name,
                     found->software, major, minor);
    if (weft_settings.gpu_ipc && n > 0 && (size_t)n < len)
        snprintf(buf + n, len - (size_t)n,
                 ", long ones between ranks of a node by one copy (%s IPC)", found->name);
    return buf;
}

void weft_gpu_begin(const void *device)
{
    pthread_mutex_lock(&lock);
    weft_gpu_driver_enter(device);
}

void weft_gpu_end(void)
{
    weft_gpu_driver_leave();
    pthread_mutex_unlock(&lock);
}

void weft_gpu_begin_later(const void *device, bool to_device)
{
    pthread_mutex_lock(&lock);
    weft_gpu_driver_enter_later(device, to_device);
}

struct weft_gpu_event weft_gpu_end_later(void)
{
    struct weft_gpu_event event = weft_gpu_driver_leave_later();
    pthread_mutex_unlock(&lock);
    return event;
}

bool weft_gpu_has_ended(struct weft_gpu_event *event)
{
    if (!event->event)
        return true;
    pthread_mutex_lock(&lock);
    bool ended = weft_gpu_driver_has_ended(event);
    pthread_mutex_unlock(&lock);
    return ended;
}

void weft_gpu_copy_rows(bool to_device, const struct weft_gpu_rows *r)
{
    uintptr_t host = (uintptr_t)r->host;
    bool regular = r->rows > 1 && r->pitch >= (intptr_t)r->bytes;
    if (regular && (to_device ? weft_gpu_driver_copy_rows(r->device, (size_t)r->pitch, host,
                                                          r->bytes, r->bytes, r->rows)
                              : weft_gpu_driver_copy_rows(host, r->bytes, r->device,
                                                          (size_t)r->pitch, r->bytes, r->rows)))
        return;
    uintptr_t device = r->device;
    for (size_t i = 0; i < r->rows; i++, host += r->bytes, device += (uintptr_t)r->pitch)
        weft_gpu_driver_copy(to_device ? device : host, to_device ? host : device, r->bytes);
}

void weft_gpu_copy(void *to, const void *from, size_t bytes)
{
    weft_gpu_begin(weft_gpu_owns(to) ? to : from);
    weft_gpu_driver_copy((uintptr_t)to, (uintptr_t)from, bytes);
    weft_gpu_end();
}

struct weft_gpu_device weft_gpu_device_of(const void *at)
{
    weft_gpu_begin(at);
    weft_gpu_end();
    return (struct weft_gpu_device){found->interface, weft_gpu_driver_device(at)};
}

bool weft_gpu_pin(void *host, size_t bytes)
{
    pthread_mutex_lock(&lock);
    bool done = found && weft_gpu_driver_pin(host, bytes);
    pthread_mutex_unlock(&lock);
    return done;
}

void weft_gpu_unpin(void *host)
{
    pthread_mutex_lock(&lock);
    weft_gpu_driver_unpin(host);
    pthread_mutex_unlock(&lock);
}

/* ---- Memory of other processes */

enum { IMPORTS_MAX = 64 };

struct weft_gpu_import {
    int owner;
    struct weft_gpu_export from;
    const char *at;  /* NULL: not in use */
    uint64_t buffer; /* the allocation's number in this process */
    uint64_t used;   /* number of the last use */
    unsigned uses;   /* now */
};

static struct weft_gpu_import imports[IMPORTS_MAX];
static uint64_t last_use;

bool weft_gpu_export(const void *device, struct weft_gpu_export *out)
{
    pthread_mutex_lock(&lock);
    bool done = weft_settings.gpu_ipc && weft_gpu_driver_export(device, out);
    pthread_mutex_unlock(&lock);
    return done;
}

bool weft_gpu_imports(void)
{
    return weft_gpu_enabled && weft_settings.gpu_ipc && found;
}

/* The mapping is gone if its context was destroyed. */
static bool is_mapped(const struct weft_gpu_import *import)
{
    return import->at && weft_gpu_driver_buffer(import->at) == import->buffer;
}

static void drop(struct weft_gpu_import *import)
{
    weft_assert(!import->uses);
    if (is_mapped(import))
        weft_gpu_driver_close(import->at);
    import->at = NULL;
}

static bool is_of(const struct weft_gpu_import *import, const struct weft_gpu_export *from)
{
    return import->from.buffer == from->buffer && import->from.base == from->base &&
           import->from.bytes == from->bytes && is_mapped(import);
}

static bool overlaps(const struct weft_gpu_export *a, const struct weft_gpu_export *b)
{
    return a->base - b->base < b->bytes || b->base - a->base < a->bytes;
}

/* The entry that maps memory, or an unused one, for which another may be dropped; NULL if all are
 * in use. Mappings of memory whose addresses the owner has used again are dropped. */
static struct weft_gpu_import *entry_for(int owner, const struct weft_gpu_export *from)
{
    struct weft_gpu_import *free = NULL;
    for (struct weft_gpu_import *i = imports; i < imports + IMPORTS_MAX; i++) {
        bool theirs = i->at && i->owner == owner;
        if (theirs && is_of(i, from))
            return i;
        if (i->uses)
            continue;
        if (theirs && overlaps(&i->from, from))
            drop(i);
        if (!free || (free->at && (!i->at || i->used < free->used)))
            free = i;
    }
    if (free)
        drop(free);
    weft_assert(!free || (!free->at && !free->uses));
    return free;
}

/* Drops the mappings of an owner that are not in use. Returns how many there were. */
static int drop_all(int owner)
{
    int dropped = 0;
    for (struct weft_gpu_import *i = imports; i < imports + IMPORTS_MAX; i++)
        if (i->at && i->owner == owner && !i->uses) {
            drop(i);
            dropped++;
        }
    return dropped;
}

struct weft_gpu_import *weft_gpu_import(int owner, const struct weft_gpu_export *from, size_t bytes,
                                        const void *to, const void **at)
{
    if (!weft_gpu_imports() || from->offset > from->bytes || bytes > from->bytes - from->offset)
        return NULL;
    pthread_mutex_lock(&lock);
    struct weft_gpu_import *import = entry_for(owner, from);
    if (import && !import->at) {
        const char *mapped = weft_gpu_driver_import(from, to);
        /* The driver refuses memory that overlaps what is mapped. */
        if (!mapped && drop_all(owner))
            mapped = weft_gpu_driver_import(from, to);
        *import = (struct weft_gpu_import){.owner = owner, .from = *from, .at = mapped};
        import->buffer = mapped ? weft_gpu_driver_buffer(mapped) : 0;
    }
    if (import && import->at) {
        weft_assert(import->owner == owner && import->from.buffer == from->buffer);
        import->uses++;
        import->used = ++last_use;
        *at = import->at + from->offset;
    } else {
        import = NULL;
    }
    pthread_mutex_unlock(&lock);
    return import;
}

void weft_gpu_import_end(struct weft_gpu_import *import)
{
    pthread_mutex_lock(&lock);
    weft_assert(import->uses > 0);
    import->uses--;
    pthread_mutex_unlock(&lock);
}

void weft_gpu_close(void)
{
    for (struct weft_gpu_import *i = imports; found && i < imports + IMPORTS_MAX; i++)
        drop(i);
}
