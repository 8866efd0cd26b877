// SPDX-License-Identifier: BSD-3-Clause
/*
 * Loads libfabric when the net lane is first needed. A job whose ranks all share memory does not
 * need it, and loading takes time: the PSM libraries that Debian's libfabric depends on measure the
 * clock for 0.2 s as soon as they are loaded.
 *
 * libfabric is called through its own structures, except for the six functions below. They have the
 * names of libfabric's functions, hidden in this library, so that the rest of src/ofi uses
 * libfabric's headers as usual. The functions may be the default versions of the running library,
 * because its structures only grow at their ends, and all structures that Weft passes come from it
 * or have the version that weft_provider_open() requests.
 *
 * Invariant: before weft_fabric_load() has returned 0, fi_version() is 0 and nothing else is
 * called.
 */
#include "ofi/select/load.h"

#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char library[] = "libfabric.so.1";

static struct {
    uint32_t (*version)(void);
    int (*getinfo)(uint32_t, const char *, const char *, uint64_t, const struct fi_info *,
                   struct fi_info **);
    void (*freeinfo)(struct fi_info *);
    struct fi_info *(*dupinfo)(const struct fi_info *);
    int (*fabric)(struct fi_fabric_attr *, struct fid_fabric **, void *);
    const char *(*strerror)(int);
} real;

/* Sets a pointer to a function. C has no cast from a pointer to an object to one. */
static bool find_symbol(void *handle, const char *name, void *function)
{
    void *found = dlsym(handle, name);
    memcpy(function, &found, sizeof found);
    return found;
}

int weft_fabric_load(char *why, size_t len)
{
    if (real.version)
        return 0;
    /* Else libinfinipath, on which Debian's libfabric depends, and libpsm2 catch crash signals,
     * SIGINT and SIGTERM as soon as they are loaded, and end the process with status 1. */
    setenv("IPATH_NO_BACKTRACE", "1", 0);
    setenv("HFI_NO_BACKTRACE", "1", 0);
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle || !find_symbol(handle, "fi_getinfo", &real.getinfo) ||
        !find_symbol(handle, "fi_freeinfo", &real.freeinfo) ||
        !find_symbol(handle, "fi_dupinfo", &real.dupinfo) ||
        !find_symbol(handle, "fi_fabric", &real.fabric) ||
        !find_symbol(handle, "fi_strerror", &real.strerror) ||
        !find_symbol(handle, "fi_version", &real.version)) {
        snprintf(why, len,
                 "The network needs %s, which cannot be loaded: %s; install libfabric, or "
                 "correct LD_LIBRARY_PATH.",
                 library, dlerror());
        return -1;
    }
    return 0;
}

uint32_t fi_version(void)
{
    return real.version ? real.version() : 0;
}

int fi_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
               const struct fi_info *hints, struct fi_info **info)
{
    return real.getinfo(version, node, service, flags, hints, info);
}

void fi_freeinfo(struct fi_info *info)
{
    real.freeinfo(info);
}

struct fi_info *fi_dupinfo(const struct fi_info *info)
{
    return real.dupinfo(info);
}

int fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
    return real.fabric(attr, fabric, context);
}

const char *fi_strerror(int errnum)
{
    return real.strerror(errnum);
}
