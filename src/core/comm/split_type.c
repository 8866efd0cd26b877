// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Comm_split_type: by node, by a hardware resource of the node, or by process set.
 *
 * Invariant: a process with MPI_UNDEFINED has no type, whatever type the others pass. So all
 * members of a communicator make one weft_comm_split, and what else a type needs is done in the
 * communicator that results.
 */
#include "core/comm/comm_make.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/comm/hardware.h"
#include "core/base/info.h"
#include "core/comm/session.h"
#include "core/message/foreign.h"
#include "core/message/process.h"

#include <string.h>

static const char resource_key[] = "mpi_hw_resource_type";

/* ---- Resources: the node is number 0, the levels of hardware inside a node follow */

enum { NODE, RESOURCES = 1 + WEFT_HARDWARE_LEVELS, NO_RESOURCE = -1 };

static const char *resource_name(int resource)
{
    return resource == NODE ? "hwloc://Machine" : weft_hardware_type(resource - 1);
}

static int resource_of(const char *name)
{
    int resource = RESOURCES - 1;
    if (!strcmp(name, "mpi_shared_memory"))
        return NODE;
    while (resource >= 0 && strcmp(name, resource_name(resource)) != 0)
        resource--;
    return resource;
}

/* The instance that this process uses, -1 if there is no such one: of a node its lowest world rank,
 * inside a node the number there. */
static int instance_of(int resource)
{
    return resource == NODE ? weft.job.local_peers[0] : weft_hardware_instance(resource - 1);
}

/* The color of the processes that use the same instance as this one. */
static int64_t resource_color(int resource)
{
    int instance = resource == NO_RESOURCE ? -1 : instance_of(resource);
    if (instance < 0)
        return MPI_UNDEFINED;
    return resource == NODE ? instance : (int64_t)instance_of(NODE) << 32 | instance;
}

/* ---- The resource of MPI_COMM_TYPE_HW_UNGUIDED */

/* The maximum over the processes of both groups. */
static int combine(struct weft_comm *over, int *mine, int *all, size_t n)
{
    struct weft_elements in = {mine, n, weft_handle_object(MPI_INT)};
    const struct weft_op *max = weft_handle_object(MPI_MAX);
    int remote[2 * RESOURCES];
    int code = weft_comm_collectives.allreduce(over->local ? over->local : over, in, all, max);
    if (code != MPI_SUCCESS || !over->local)
        return code;
    code = weft_comm_collectives.allreduce(over, in, remote, max);
    for (size_t i = 0; i < n && code == MPI_SUCCESS; i++)
        all[i] = all[i] > remote[i] ? all[i] : remote[i];
    return code;
}

/* Finds the largest resource of which each process has an instance, and not all the same one. */
static int find_resource(struct weft_comm *over, int *resource)
{
    /* The highest instance of each resource, and the negative of the lowest. */
    int mine[2 * RESOURCES], all[2 * RESOURCES];
    for (int r = 0; r < RESOURCES; r++) {
        mine[r] = instance_of(r);
        mine[RESOURCES + r] = -mine[r];
    }
    int code = combine(over, mine, all, 2 * RESOURCES);
    *resource = NO_RESOURCE;
    for (int r = RESOURCES - 1; r >= 0 && code == MPI_SUCCESS; r--)
        if (all[r] != -all[RESOURCES + r] && -all[RESOURCES + r] >= 0)
            *resource = r;
    return code;
}

/* ---- Splitting */

/* The color of the members of a process set: a hash of its name, because launchers may list the
 * sets in another order at another process. A set of one process, as mpi://SELF, has its rank. */
static int64_t set_color(const char *name)
{
    int code;
    struct weft_group *group = weft_session_pset_group(NULL, name, &code);
    int64_t color = MPI_UNDEFINED;
    if (group && group->rank != MPI_UNDEFINED)
        color = group->size == 1 ? (int64_t)1 << 62 | weft.job.rank
                                 : (int64_t)(weft_hash_text(weft_session_pset_spelling(name)) >> 2);
    weft_group_release(group);
    return color;
}

/* The color of a type. All processes of MPI_COMM_TYPE_HW_UNGUIDED have the same one: they are split
 * further. */
static int64_t color_of(int type, const struct weft_info *hints)
{
    const char *set = weft_info_get(hints, "mpi_pset_name");
    const char *name = weft_info_get(hints, resource_key);
    switch (type) {
    case MPI_COMM_TYPE_SHARED:
        return resource_color(NODE);
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
        if (set && !name)
            return set_color(set);
        /* fall through */
    case MPI_COMM_TYPE_HW_GUIDED:
        return name ? resource_color(resource_of(name)) : MPI_UNDEFINED;
    case MPI_COMM_TYPE_HW_UNGUIDED:
        return 0;
    default: /* checked before */
        weft_assert(type == MPI_UNDEFINED);
        return MPI_UNDEFINED;
    }
}

/* Numbers of nodes and resources are those of a job, and jobs share no memory, so a communicator
 * with processes of several jobs is first split by jobs. Of an inter-communicator between jobs
 * nothing is left. */
static int split_jobs(struct weft_comm *over, int type, int key, struct weft_info *hints,
                      struct weft_comm **out)
{
    struct weft_comm *job;
    int first = 0;
    if (over->local)
        return weft_comm_split(over, MPI_UNDEFINED, key, out);
    while (weft_is_foreign(weft_group_world(over->group, first)))
        first++;
    int code = weft_comm_split(over, first, key, &job);
    if (code != MPI_SUCCESS)
        return code;
    code = weft_comm_split_type(job, type, key, hints, out);
    weft_comm_release(job);
    return code;
}

/* Splits the processes of MPI_COMM_TYPE_HW_UNGUIDED, and names the resource in hints. */
static int split_unguided(struct weft_comm *over, struct weft_info *hints, struct weft_comm **out)
{
    int resource, code = find_resource(over, &resource);
    *out = NULL;
    if (code == MPI_SUCCESS)
        code = weft_comm_split(over, resource_color(resource), 0, out);
    if (*out && hints && !hints->predefined &&
        weft_info_set(hints, resource_key, resource_name(resource)) != MPI_SUCCESS)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for the resource in the info object");
    return code;
}

int weft_comm_split_type(struct weft_comm *over, int type, int key, struct weft_info *hints,
                         struct weft_comm **out)
{
    *out = NULL;
    if (weft_comm_is_foreign(over))
        return split_jobs(over, type, key, hints, out);
    int code = weft_comm_split(over, color_of(type, hints), key, out);
    struct weft_comm *all = *out;
    if (all && type == MPI_COMM_TYPE_HW_UNGUIDED) {
        code = split_unguided(all, hints, out);
        weft_comm_release(all);
    }
    if (*out)
        weft_comm_take_hints(*out, hints);
    return code;
}
