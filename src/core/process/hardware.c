// SPDX-License-Identifier: BSD-3-Clause
/*
 * The node's hardware: see hardware.h.
 */
#include "core/process/hardware.h"

#include <hwloc.h>
#include <stddef.h>
#include <string.h>

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
enum { LEVELS = sizeof levels / sizeof levels[0] };

static hwloc_topology_t node;

static int look(void)
{
    if (node)
        return 0;
    if (hwloc_topology_init(&node))
        return -1;
    if (hwloc_topology_load(node) == 0)
        return 0;
    hwloc_topology_destroy(node);
    node = NULL;
    return -1;
}

const char *weft_hardware_type(int level)
{
    return level >= 0 && level < LEVELS ? levels[level].name : NULL;
}

int weft_hardware_level(const char *name)
{
    for (int i = 0; i < LEVELS; i++)
        if (!strcmp(name, levels[i].name))
            return i;
    return -1;
}

int weft_hardware_instance(int level)
{
    hwloc_bitmap_t bound = look() ? NULL : hwloc_bitmap_alloc();
    int found = -1;
    if (!bound)
        return -1;
    if (hwloc_get_cpubind(node, bound, HWLOC_CPUBIND_PROCESS) == 0)
        for (hwloc_obj_t object = NULL;
             (object = hwloc_get_next_obj_by_type(node, levels[level].type, object)) != NULL;)
            if (object->cpuset && !hwloc_bitmap_iszero(bound) &&
                hwloc_bitmap_isincluded(bound, object->cpuset))
                found = (int)object->logical_index;
    hwloc_bitmap_free(bound);
    return found;
}

int weft_hardware_core(void)
{
    hwloc_bitmap_t bound = look() ? NULL : hwloc_bitmap_alloc();
    int core = -1;
    if (!bound)
        return -1;
    /* This thread's: those of libraries may run anywhere. */
    if (hwloc_get_cpubind(node, bound, HWLOC_CPUBIND_THREAD) == 0 &&
        hwloc_bitmap_weight(bound) <
            hwloc_bitmap_weight(hwloc_topology_get_complete_cpuset(node))) {
        int first = hwloc_bitmap_first(bound);
        hwloc_obj_t unit = first < 0 ? NULL : hwloc_get_pu_obj_by_os_index(node, (unsigned)first);
        core = unit ? (int)unit->logical_index : -1;
    }
    hwloc_bitmap_free(bound);
    return core;
}
