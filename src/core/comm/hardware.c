// SPDX-License-Identifier: BSD-3-Clause
/*
 * The node's hardware: see hardware.h.
 */
#include "core/comm/hardware.h"

#include <hwloc.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CORES_MAX = 32768 }; /* numbers of a package's cores, and of packages */

static const struct {
    const char *name;
    hwloc_obj_type_t type;
} levels[] = {{"hwloc://Package", HWLOC_OBJ_PACKAGE},
              {"hwloc://NUMANode", HWLOC_OBJ_NUMANODE},
              {"hwloc://L3Cache", HWLOC_OBJ_L3CACHE},
              {"hwloc://L2Cache", HWLOC_OBJ_L2CACHE},
              {"hwloc://L1Cache", HWLOC_OBJ_L1CACHE},
              {"hwloc://Core", HWLOC_OBJ_CORE},
              {"hwloc://PU", HWLOC_OBJ_PU}};
_Static_assert(sizeof levels / sizeof levels[0] == WEFT_HARDWARE_LEVELS, "a row for each level");

static hwloc_topology_t node;

static bool load(void)
{
    if (node)
        return true;
    if (hwloc_topology_init(&node) == 0 && hwloc_topology_load(node) == 0)
        return true;
    if (node)
        hwloc_topology_destroy(node);
    node = NULL;
    return false;
}

/* The processing units that this process is bound to, for the caller to free; NULL if they are
 * unknown. */
static hwloc_bitmap_t binding(void)
{
    hwloc_bitmap_t bound = load() ? hwloc_bitmap_alloc() : NULL;
    if (bound && hwloc_get_cpubind(node, bound, HWLOC_CPUBIND_PROCESS)) {
        hwloc_bitmap_free(bound);
        bound = NULL;
    }
    return bound;
}

const char *weft_hardware_type(int level)
{
    return level >= 0 && level < WEFT_HARDWARE_LEVELS ? levels[level].name : NULL;
}

int weft_hardware_instance(int level)
{
    hwloc_bitmap_t bound = binding();
    int found = -1;
    if (!bound)
        return -1;
    for (hwloc_obj_t object = NULL;
         (object = hwloc_get_next_obj_by_type(node, levels[level].type, object)) != NULL;)
        if (object->cpuset && !hwloc_bitmap_iszero(bound) &&
            hwloc_bitmap_isincluded(bound, object->cpuset))
            found = (int)object->logical_index;
    hwloc_bitmap_free(bound);
    return found;
}

/* A number that Linux has for a processing unit, or -1. */
static int read_number(int unit, const char *name)
{
    char path[96];
    int number = -1;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", unit, name);
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%d", &number) != 1)
        number = -1;
    if (file)
        fclose(file);
    return number;
}

int weft_hardware_core(void)
{
    cpu_set_t bound[8]; /* 8192 processing units; more are unbound */
    int unit = 0;
    if (sched_getaffinity(0, sizeof bound, bound) != 0 ||
        CPU_COUNT_S(sizeof bound, bound) >= sysconf(_SC_NPROCESSORS_CONF))
        return -1;
    while (!CPU_ISSET_S(unit, sizeof bound, bound))
        unit++;
    int package = read_number(unit, "physical_package_id"), core = read_number(unit, "core_id");
    return (package < 0 ? 0 : package % CORES_MAX) * CORES_MAX +
           (core < 0 ? unit : core) % CORES_MAX;
}
