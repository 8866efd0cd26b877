// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reads adapters as the kernel shows them in sysfs: infiniband/mlx5_0/ports/1/state with the line
 * "4: ACTIVE", infiniband_verbs/uverbs0/ibdev with the adapter's name, cxi/cxi0/device/port/link.
 */
#include "ofi/select/adapter.h"
#include "ofi/select/sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *class, *driver; /* the driver "" is any other one */
    const char *provider;
} kinds[WEFT_ADAPTER_KINDS] = {
    {"cxi", "", "cxi"},
    {"infiniband", "hfi1", "psm2"},
    {"infiniband", "efa", "efa"},
    {"infiniband", "", "verbs;ofi_rxm"},
};

/* Adapters of a class. False if there are none; else globfree. */
static bool list_class(const char *classes, const char *class, glob_t *found)
{
    char pattern[PATH_MAX];
    snprintf(pattern, sizeof pattern, "%s/%s/*", classes, class);
    return !glob(pattern, 0, NULL, found);
}

/* The name of the adapter's driver, "" if there is none, as for an emulated adapter. */
static void read_driver(const char *path, char *driver, size_t len)
{
    char link[PATH_MAX];
    snprintf(link, sizeof link, "%s/device/driver", path);
    weft_sysfs_link(link, driver, len);
}

/* True if the adapter at this path is of the kind. */
static bool is_of_kind(int kind, const char *path)
{
    char driver[64];
    read_driver(path, driver, sizeof driver);
    if (*kinds[kind].driver)
        return strcmp(driver, kinds[kind].driver) == 0;
    for (int other = 0; other < WEFT_ADAPTER_KINDS; other++)
        if (other != kind && strcmp(kinds[other].class, kinds[kind].class) == 0 &&
            strcmp(kinds[other].driver, driver) == 0)
            return false;
    return true;
}

/* True if a port of the adapter is active, or its state is unknown; else the reason is set. */
static bool is_active(const char *path, struct weft_adapter *adapter)
{
    char pattern[PATH_MAX], line[64];
    glob_t found;
    bool active = false;
    snprintf(pattern, sizeof pattern, "%s/device/port/link", path);
    if (*weft_sysfs_line(pattern, line, sizeof line) && strcmp(line, "up") != 0) {
        snprintf(adapter->reason, sizeof adapter->reason, "the link of %s is %.32s", adapter->name,
                 line);
        return false;
    }
    snprintf(pattern, sizeof pattern, "%s/ports/*/state", path);
    if (glob(pattern, 0, NULL, &found))
        return true;
    for (size_t i = 0; i < found.gl_pathc && !active; i++) {
        unsigned port = 0;
        weft_sysfs_line(found.gl_pathv[i], line, sizeof line);
        const char *word = strchr(line, ' ');
        active = word && strcmp(word + 1, "ACTIVE") == 0;
        sscanf(found.gl_pathv[i] + strlen(path), "/ports/%u", &port);
        snprintf(adapter->reason, sizeof adapter->reason, "port %u of %s is %s", port,
                 adapter->name, word ? word + 1 : "unknown");
    }
    globfree(&found);
    return active;
}

/* The device file of an adapter: its own name, or for verbs the one whose attribute ibdev names
 * the adapter. */
static void find_device(int kind, const char *classes, const char *devices,
                        const struct weft_adapter *adapter, char *device, size_t len)
{
    char pattern[PATH_MAX], line[64];
    glob_t found;
    snprintf(device, len, "%s/%s", devices, adapter->name);
    if (strcmp(kinds[kind].class, "infiniband") != 0 || strcmp(kinds[kind].driver, "hfi1") == 0)
        return;
    snprintf(device, len, "%s/infiniband/uverbs*", devices);
    snprintf(pattern, sizeof pattern, "%s/infiniband_verbs/*/ibdev", classes);
    if (glob(pattern, 0, NULL, &found))
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char name[64];
        if (strcmp(weft_sysfs_line(found.gl_pathv[i], line, sizeof line), adapter->name) == 0 &&
            sscanf(found.gl_pathv[i] + strlen(classes), "/infiniband_verbs/%63[^/]", name) == 1)
            snprintf(device, len, "%s/infiniband/%s", devices, name);
    }
    globfree(&found);
}

/* The reason why libfabric does not offer an active adapter. */
static void explain_active(int kind, const char *classes, const char *devices,
                           struct weft_adapter *adapter)
{
    char device[PATH_MAX];
    find_device(kind, classes, devices, adapter, device, sizeof device);
    int fd = open(device, O_RDWR | O_CLOEXEC | O_NONBLOCK), failed = errno;
    if (fd >= 0) {
        close(fd);
        snprintf(adapter->reason, sizeof adapter->reason,
                 "libfabric offers no provider for %s, which has an active port", adapter->name);
        adapter->advice = "install a libfabric that 'fi_info -l' shows to have the provider, and "
                          "the libraries of the adapter (for verbs rdma-core's ibverbs-providers)";
        return;
    }
    snprintf(adapter->reason, sizeof adapter->reason,
             "this process cannot open %.96s, the device file of %s: %s", device, adapter->name,
             strerror(failed));
    adapter->advice =
        failed == ENOENT
            ? "load the kernel's module that makes the file (ib_uverbs for verbs), or, in a "
              "container, pass the device files to it"
            : "give the user permission to read and write the file, and the container too";
}

bool weft_adapter_find(int kind, const char *classes, const char *devices,
                       struct weft_adapter *adapter)
{
    glob_t found;
    bool any = false, active = false;
    if (!list_class(classes, kinds[kind].class, &found))
        return false;
    for (size_t i = 0; i < found.gl_pathc && !active; i++) {
        const char *path = found.gl_pathv[i];
        if (!is_of_kind(kind, path))
            continue;
        any = true;
        snprintf(adapter->name, sizeof adapter->name, "%s", strrchr(path, '/') + 1);
        active = is_active(path, adapter);
    }
    globfree(&found);
    adapter->provider = kinds[kind].provider;
    adapter->advice = "'rdma link' shows it with its interface, which 'ip link set dev INTERFACE "
                      "up' starts";
    if (active)
        explain_active(kind, classes, devices, adapter);
    return any;
}

bool weft_adapters_can_share(const char *classes)
{
    char driver[64];
    glob_t found;
    bool all = true;
    if (!list_class(classes, "infiniband", &found))
        return false;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        read_driver(found.gl_pathv[i], driver, sizeof driver);
        /* Soft-RoCE has no driver of a device. */
        all &= !*driver || strcmp(driver, "mlx5_core") == 0 || strcmp(driver, "mlx4_core") == 0;
    }
    globfree(&found);
    return all;
}
