// SPDX-License-Identifier: BSD-3-Clause
/*
 * The node's hardware: see hardware.h.
 */
#include "core/comm/hardware.h"

#include <hwloc.h>
#include <stdbool.h>
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

/* The processing units that this process or thread is bound to, for the caller to free; NULL if
 * they are unknown. */
static hwloc_bitmap_t binding(int of)
{
    hwloc_bitmap_t bound = load() ? hwloc_bitmap_alloc() : NULL;
    if (bound && hwloc_get_cpubind(node, bound, of)) {
        hwloc_bitmap_free(bound);
        bound = NULL;
    }
    return bound;
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
    hwloc_bitmap_t bound = binding(HWLOC_CPUBIND_PROCESS);
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

int weft_hardware_core(void)
{
    /* The binding of this thread, because threads of other libraries may be bound elsewhere. */
    hwloc_bitmap_t bound = binding(HWLOC_CPUBIND_THREAD);
    int core = -1;
    if (!bound)
        return -1;
    if (hwloc_bitmap_weight(bound) <
        hwloc_bitmap_weight(hwloc_topology_get_complete_cpuset(node))) {
        int first = hwloc_bitmap_first(bound);
        hwloc_obj_t unit = first < 0 ? NULL : hwloc_get_pu_obj_by_os_index(node, (unsigned)first);
        core = unit ? (int)unit->logical_index : -1;
    }
    hwloc_bitmap_free(bound);
    return core;
}
