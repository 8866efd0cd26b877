// SPDX-License-Identifier: BSD-3-Clause
/*
 * The library's entry points beside fi_getinfo, with libfabric's names: Weft finds this library
 * where it looks for libfabric.so.1. The real one is loaded from STRICT_LIBFABRIC, or from where
 * configure found it.
 */
#include "strict.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static void find(void *handle, const char *name, void *function)
{
    void *found = dlsym(handle, name);

    if (!found)
        strict_die("the real libfabric has no %s", name);
    memcpy(function, &found, sizeof found);
}

const struct strict_real *strict_real(void)
{
    static struct strict_real real;
    const char *path = getenv("STRICT_LIBFABRIC");

    if (real.version)
        return &real;
    void *handle = dlopen(path ? path : STRICT_LIBFABRIC, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        strict_die("cannot load the real libfabric: %s; set STRICT_LIBFABRIC to its path",
                   dlerror());
    find(handle, "fi_getinfo", &real.getinfo);
    find(handle, "fi_freeinfo", &real.freeinfo);
    find(handle, "fi_dupinfo", &real.dupinfo);
    find(handle, "fi_fabric", &real.fabric);
    find(handle, "fi_strerror", &real.strerror);
    find(handle, "fi_version", &real.version);
    return &real;
}

uint32_t fi_version(void)
{
    return strict_real()->version();
}

void fi_freeinfo(struct fi_info *info)
{
    strict_real()->freeinfo(info);
}

struct fi_info *fi_dupinfo(const struct fi_info *info)
{
    return strict_real()->dupinfo(info);
}

const char *fi_strerror(int error)
{
    return strict_real()->strerror(error);
}

int fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
    return strict_fabric_open(attr, fabric, context);
}
