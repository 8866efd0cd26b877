// SPDX-License-Identifier: BSD-3-Clause
/*
 * Device memory of the drivers without a GPU (tests/gpu/libcuda.c): the provider that is played
 * reads and writes it (FI_HMEM), the real one its second view on the host.
 */
#include "strict.h"

#include <dlfcn.h>
#include <string.h>

static char *(*view)(uintptr_t, size_t); /* of the driver that the program has loaded, or NULL */
static enum fi_hmem_iface interface;

void strict_device_find(void)
{
    static const struct {
        const char *library;
        enum fi_hmem_iface interface;
    } drivers[] = {{"libcuda.so.1", FI_HMEM_CUDA}, {"libamdhip64.so.6", FI_HMEM_ROCR}};

    for (size_t i = 0; i < sizeof drivers / sizeof drivers[0] && !view; i++) {
        void *handle = dlopen(drivers[i].library, RTLD_NOW | RTLD_NOLOAD);
        void *found = handle ? dlsym(handle, "stand_in_view") : NULL;
        memcpy(&view, &found, sizeof view);
        interface = drivers[i].interface;
    }
}

char *strict_device_view(const void *at, size_t bytes)
{
    return view && bytes ? view((uintptr_t)at, bytes) : NULL;
}

enum fi_hmem_iface strict_device_interface(void)
{
    return interface;
}
