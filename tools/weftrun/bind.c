// SPDX-License-Identifier: BSD-3-Clause
/*
 * Binding of ranks to processors with hwloc.
 *
 * Invariants:
 *  - Ranks get only processors that weftrun may use, so the limits of taskset, cgroups and batch
 *    systems apply.
 *  - Two ranks share a core or hardware thread only if the user allows it, by ":overload-allowed".
 *  - They share a NUMA node or package only if ranks outnumber these, and then in equal blocks.
 */
#include "bind.h"
#include "lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <hwloc.h>
#include <hwloc/glibc-sched.h>

/* The *n objects of one kind with processors, to be freed. NULL without memory. */
static hwloc_obj_t *list_objects(hwloc_topology_t topo, hwloc_obj_type_t type, int *n)
{
    int all = hwloc_get_nbobjs_by_type(topo, type);
    hwloc_obj_t *list = calloc(all > 0 ? (size_t)all : 1, sizeof *list);
    *n = 0;
    for (int i = 0; list && i < all; i++) {
        hwloc_obj_t obj = hwloc_get_obj_by_type(topo, type, (unsigned)i);
        if (obj && obj->cpuset && !hwloc_bitmap_iszero(obj->cpuset))
            list[(*n)++] = obj;
    }
    return list;
}

static void report(hwloc_topology_t topo, const struct rank *r, const char *what, int which)
{
    char text[1024];
    if (!r->bound) {
        hwloc_bitmap_list_snprintf(text, sizeof text, hwloc_topology_get_topology_cpuset(topo));
        weft_lines_print("rank %d is not bound (processors %s).", r->rank, text);
        return;
    }
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    hwloc_cpuset_from_glibc_sched_affinity(topo, set, &r->cpus, sizeof r->cpus);
    hwloc_bitmap_list_snprintf(text, sizeof text, set);
    hwloc_bitmap_free(set);
    weft_lines_print("rank %d is bound to %s %d (processors %s).", r->rank, what, which, text);
}

static int load(hwloc_topology_t *topo)
{
    if (hwloc_topology_init(topo) == 0) {
        if (hwloc_topology_set_flags(*topo, HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING |
                                                HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM) == 0 &&
            hwloc_topology_load(*topo) == 0)
            return 0;
        hwloc_topology_destroy(*topo);
    }
    weft_lines_print("hwloc cannot read this machine's topology: %s; use --bind none.",
                     strerror(errno));
    return -1;
}

/* The first object of a rank: one after the other for cores, and equal blocks of ranks for what
 * they share. */
static int bind_object(const struct job *job, int rank, int cores, int n)
{
    if (job->bind < BIND_NUMA)
        return (int)((long)rank * cores % n);
    return job->size > n ? (int)((long)rank * n / job->size) : rank;
}

static int plan(struct job *job, hwloc_topology_t topo)
{
    static const char *const names[] = {[BIND_HWTHREAD] = "hwthread",
                                        [BIND_CORE] = "core",
                                        [BIND_NUMA] = "numa",
                                        [BIND_PACKAGE] = "package"};
    static const hwloc_obj_type_t types[] = {[BIND_HWTHREAD] = HWLOC_OBJ_PU,
                                             [BIND_CORE] = HWLOC_OBJ_CORE,
                                             [BIND_NUMA] = HWLOC_OBJ_NUMANODE,
                                             [BIND_PACKAGE] = HWLOC_OBJ_PACKAGE};
    int n = 0, status = 0, cores = job->cores ? job->cores : 1;
    hwloc_obj_t *objs = list_objects(topo, types[job->bind], &n);
    if (!objs || n == 0) {
        weft_lines_print("hwloc finds nothing of the kind \"%s\" on %s; use --bind none.",
                         names[job->bind], job->host);
        status = -1;
    } else if (job->bind < BIND_NUMA && !job->overload && (long)job->size * cores > n) {
        weft_lines_print("--bind %s needs %d %s for each of %d ranks, but %s offers %d; start "
                         "fewer ranks, allow them to share by --bind %s:overload-allowed, or use "
                         "--bind none.",
                         names[job->bind], cores, names[job->bind], job->size, job->host, n,
                         names[job->bind]);
        status = -1;
    }
    for (int i = 0; status == 0 && i < job->size; i++) {
        struct rank *r = &job->ranks[i];
        int which = bind_object(job, i, cores, n);
        hwloc_bitmap_t set = hwloc_bitmap_alloc();
        for (int k = 0; k < cores && k < n; k++)
            hwloc_bitmap_or(set, set, objs[(which + k) % n]->cpuset);
        hwloc_cpuset_to_glibc_sched_affinity(topo, set, &r->cpus, sizeof r->cpus);
        hwloc_bitmap_free(set);
        r->bound = true;
        if (job->report_bindings)
            report(topo, r, names[job->bind], (int)objs[which]->logical_index);
    }
    free(objs);
    return status;
}

int weft_bind_plan(struct job *job)
{
    hwloc_topology_t topo;
    if (job->bind == BIND_NONE && !job->report_bindings)
        return 0;
    if (load(&topo))
        return -1;
    int status = 0;
    if (job->bind != BIND_NONE)
        status = plan(job, topo);
    else
        for (int i = 0; i < job->size; i++)
            report(topo, &job->ranks[i], "", 0);
    hwloc_topology_destroy(topo);
    return status;
}
