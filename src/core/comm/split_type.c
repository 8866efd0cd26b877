// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Comm_split_type: by node, by a hardware resource of the node, or by process set.
 *
 * Invariant: all processes make the same number of calls of weft_comm_split, because the number
 * depends on data that all of them have.
 */
#include "core/comm/comm_make.h"
#include "core/base/error.h"
#include "core/comm/hardware.h"
#include "core/base/info.h"
#include "core/comm/session.h"
#include "core/message/foreign.h"
#include "core/message/process.h"

#include <stdlib.h>
#include <string.h>

/* This process's node, as the lowest world rank on it. */
static int own_node(void)
{
    return weft.job.local_peers[0];
}

/* Splits by node, then by the instance of a resource on the node (-1: no instance). */
static int by_instance(struct weft_comm *over, int instance, int key, struct weft_comm **out)
{
    struct weft_comm *node;
    int code = weft_comm_split(over, own_node(), key, &node);
    *out = NULL;
    if (code != MPI_SUCCESS || !node)
        return code;
    code = weft_comm_split(node, instance < 0 ? MPI_UNDEFINED : instance, key, out);
    weft_comm_release(node);
    return code;
}

static int by_set(struct weft_comm *over, const char *name, int key, struct weft_comm **out)
{
    int code;
    struct weft_group *group = weft_session_pset_group(NULL, name, &code);
    int color = group && group->rank != MPI_UNDEFINED ? 0 : MPI_UNDEFINED;
    if (group && group->size == 1 && color == 0)
        color = weft.job.rank; /* mpi://SELF: each process has its own set */
    weft_group_release(group);
    return weft_comm_split(over, color, key, out);
}

static int by_name(struct weft_comm *over, const char *name, int key, struct weft_comm **out)
{
    if (name && (!strcmp(name, "mpi_shared_memory") || !strcmp(name, "hwloc://Machine")))
        return weft_comm_split(over, own_node(), key, out);
    int level = name ? weft_hardware_level(name) : -1;
    if (level < 0)
        return weft_comm_split(over, MPI_UNDEFINED, key, out);
    return by_instance(over, weft_hardware_instance(level), key, out);
}

/* Sets *result if every process has an instance, and not all have the same one. */
static int splits(struct weft_comm *over, int instance, bool *result)
{
    int *all = malloc((size_t)over->size * sizeof *all);
    if (!all)
        return weft_error_set(MPI_ERR_NO_MEM, "no memory to split a communicator of %d processes",
                              over->size);
    int code =
        weft_comm_collectives.allgather(over, weft_elements_of_bytes(&instance, sizeof instance),
                                        weft_elements_of_bytes(all, sizeof instance));
    bool differ = false, complete = true;
    for (int i = 0; i < over->size && code == MPI_SUCCESS; i++) {
        differ = differ || all[i] != all[0];
        complete = complete && all[i] >= 0;
    }
    *result = differ && complete;
    free(all);
    return code;
}

/* Splits by the largest resource that makes smaller groups. */
static int unguided(struct weft_comm *over, int key, struct weft_comm **out)
{
    struct weft_comm *local = over->local ? over->local : over;
    bool found = false;
    int code = splits(local, own_node(), &found);
    if (code == MPI_SUCCESS && found)
        return weft_comm_split(over, own_node(), key, out);
    for (int level = 0; code == MPI_SUCCESS && weft_hardware_type(level); level++) {
        int instance = weft_hardware_instance(level);
        code = splits(local, instance, &found);
        if (code == MPI_SUCCESS && found)
            return by_instance(over, instance, key, out);
    }
    return code == MPI_SUCCESS ? weft_comm_split(over, MPI_UNDEFINED, key, out) : code;
}

/* Numbers of nodes and resources are those of a job, and jobs share no memory, so a communicator
 * with processes of several jobs is first split by jobs. Of an inter-communicator between jobs
 * nothing is left. */
static int split_jobs(struct weft_comm *over, int type, int key, const struct weft_info *hints,
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

int weft_comm_split_type(struct weft_comm *over, int type, int key, const struct weft_info *hints,
                         struct weft_comm **out)
{
    const char *set = weft_info_get(hints, "mpi_pset_name");
    const char *resource = weft_info_get(hints, "mpi_hw_resource_type");
    int code;
    *out = NULL;
    if (weft_comm_is_foreign(over))
        return split_jobs(over, type, key, hints, out);
    switch (type) {
    case MPI_UNDEFINED: /* allowed beside MPI_COMM_TYPE_SHARED, which makes one split */
        return weft_comm_split(over, MPI_UNDEFINED, key, out);
    case MPI_COMM_TYPE_SHARED:
        code = weft_comm_split(over, own_node(), key, out);
        break;
    case MPI_COMM_TYPE_HW_GUIDED:
        code = by_name(over, resource, key, out);
        break;
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
        code = set && !resource ? by_set(over, set, key, out) : by_name(over, resource, key, out);
        break;
    case MPI_COMM_TYPE_HW_UNGUIDED:
        code = unguided(over, key, out);
        break;
    default:
        return MPI_ERR_ARG; /* checked before */
    }
    if (*out)
        weft_comm_take_hints(*out, hints);
    return code;
}
