// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory of GPUs: see gpu.h. One thread at a time copies, because the streams are shared.
 */
#include "gpu/gpu.h"

#include "core/base/assert.h"
#include "core/base/settings.h"
#include "gpu/cuda.h"

#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

bool weft_gpu_enabled;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool found;                   /* a driver's library is loaded */
static _Atomic unsigned long long libraries; /* loaded until the last look for it */

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
    if (weft_cuda_find())
        found = true;
    return found;
}

void weft_gpu_open(void)
{
    libraries = 0;
    bool driver = access("/dev/nvidiactl", F_OK) == 0;
    weft_gpu_enabled =
        weft_settings.gpu != WEFT_GPU_OFF && (look() || driver || weft_settings.gpu == WEFT_GPU_ON);
}

const char *weft_gpu_kinds(void)
{
    return weft_gpu_enabled && look() ? "mpi,system,cuda,cuda:host,cuda:device,cuda:managed"
                                      : "mpi,system";
}

bool weft_gpu_owns(const void *at)
{
    return at && look() && weft_cuda_owns(at);
}

const char *weft_gpu_describe(char *buf, size_t len)
{
    if (!weft_gpu_enabled || !look())
        return NULL;
    int version = weft_cuda_version();
    snprintf(buf, len, "CUDA driver %d.%d", version / 1000, version % 1000 / 10);
    return buf;
}

void weft_gpu_begin(const void *device)
{
    weft_assert(found);
    pthread_mutex_lock(&lock);
    weft_cuda_enter(device);
}

void weft_gpu_end(void)
{
    weft_cuda_leave();
    pthread_mutex_unlock(&lock);
}

void weft_gpu_copy_rows(bool to_device, const struct weft_gpu_rows *r)
{
    uintptr_t host = (uintptr_t)r->host;
    bool regular = r->rows > 1 && r->pitch >= (intptr_t)r->bytes;
    if (regular &&
        (to_device
             ? weft_cuda_copy_rows(r->device, (size_t)r->pitch, host, r->bytes, r->bytes, r->rows)
             : weft_cuda_copy_rows(host, r->bytes, r->device, (size_t)r->pitch, r->bytes, r->rows)))
        return;
    uintptr_t device = r->device;
    for (size_t i = 0; i < r->rows; i++, host += r->bytes, device += (uintptr_t)r->pitch)
        weft_cuda_copy(to_device ? device : host, to_device ? host : device, r->bytes);
}

void weft_gpu_copy(void *to, const void *from, size_t bytes)
{
    weft_gpu_begin(weft_gpu_owns(to) ? to : from);
    weft_cuda_copy((uintptr_t)to, (uintptr_t)from, bytes);
    weft_gpu_end();
}
