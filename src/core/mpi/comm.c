// SPDX-License-Identifier: BSD-3-Clause
/*
 * Communicators (MPI 5.0 chapter 7): checks and steps of entry points in abi/entry_points.txt.
 */
#include "core/mpi/entry.h"
#include "core/comm/intercomm.h"
#include "core/pt2pt/bsend.h"
#include "core/progress/progress.h"

/* ---- Checks */

int weft_mpi_check_color(int color)
{
    if (color >= 0 || color == MPI_UNDEFINED)
        return MPI_SUCCESS;
    return weft_error_set(MPI_ERR_ARG, "the color %d is negative and not MPI_UNDEFINED", color);
}

/* The members of the group make the call together, and have to get the error too. */
int weft_mpi_check_made(struct weft_comm *comm, struct weft_group *group, int tag,
                        const MPI_Comm *newcomm)
{
    int code = weft_arg_result(newcomm != NULL, "new communicator");
    bool member = group->rank != MPI_UNDEFINED;
    return code && member ? weft_comm_refuse_group(comm, group, tag, code) : code;
}

int weft_mpi_check_split_type(int type)
{
    switch (type) {
    case MPI_UNDEFINED:
    case MPI_COMM_TYPE_SHARED:
    case MPI_COMM_TYPE_HW_GUIDED:
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
    case MPI_COMM_TYPE_HW_UNGUIDED:
        return MPI_SUCCESS;
    default:
        return weft_error_set(MPI_ERR_ARG,
                              "the split type %d is unknown; use MPI_COMM_TYPE_SHARED or another "
                              "constant of that kind",
                              type);
    }
}

/* A group whose members have to be in a communicator's local group. */
int weft_mpi_check_subgroup(struct weft_comm *comm, struct weft_group *group)
{
    for (int i = 0; i < group->size; i++) {
        int world = weft_group_world(group, i);
        if (weft_group_rank_of(comm->group, world) < 0)
            return weft_error_set(MPI_ERR_GROUP,
                                  "rank %d of the group (rank %d of the job) is not in the "
                                  "communicator",
                                  i, world);
    }
    return MPI_SUCCESS;
}

/* The remote side is significant at the local leader only. The other group gets the leader's error
 * if that passes no address for the new communicator. */
int weft_mpi_check_leaders(struct weft_comm *local, int leader, MPI_Comm peer, int remote_leader,
                           int tag, const MPI_Comm *newcomm)
{
    if (leader < 0 || leader >= local->size)
        return weft_error_set(
            MPI_ERR_RANK, "the local leader %d is not in the communicator, which has ranks 0 to %d",
            leader, local->size - 1);
    if (local->rank != leader)
        return MPI_SUCCESS;
    struct weft_comm *across = weft_comm_resolve(peer);
    if (!across)
        return weft_arg_bad_handle(WEFT_KIND_COMM, peer, -1);
    if (remote_leader < 0 || remote_leader >= across->size)
        return weft_error_set(MPI_ERR_RANK,
                              "the remote leader %d is not in the peer communicator, which has "
                              "ranks 0 to %d",
                              remote_leader, across->size - 1);
    int code = weft_arg_tag(tag);
    if (code != MPI_SUCCESS || newcomm)
        return code;
    return weft_intercomm_refuse(across, remote_leader, tag,
                                 weft_arg_result(false, "new communicator"));
}

/* The name and the info object are significant at the root only. */
int weft_mpi_check_port(struct weft_comm *comm, int root, const char *name, MPI_Info info)
{
    struct weft_info *hints;
    if (root < 0 || root >= comm->size)
        return weft_error_set(MPI_ERR_ROOT,
                              "the root %d is not in the communicator, which has ranks 0 to %d",
                              root, comm->size - 1);
    if (comm->rank != root)
        return MPI_SUCCESS;
    int code = weft_arg_info_or_null(info, &hints);
    return code ? code : weft_arg_given(name != NULL, "port name");
}

/* ---- Comparing and freeing */

int weft_mpi_comm_compare(struct weft_comm *one, struct weft_comm *two, int *result)
{
    *result = MPI_UNEQUAL;
    if (one == two)
        *result = MPI_IDENT;
    if (one == two || !one->local != !two->local)
        return MPI_SUCCESS;
    int local, remote = MPI_IDENT, code = weft_group_compare(one->group, two->group, &local);
    if (code == MPI_SUCCESS && one->local)
        code = weft_group_compare(one->remote, two->remote, &remote);
    if (code == MPI_SUCCESS && local != MPI_UNEQUAL && remote != MPI_UNEQUAL)
        *result = local == MPI_IDENT && remote == MPI_IDENT ? MPI_CONGRUENT : MPI_SIMILAR;
    return code;
}

static bool is_predefined(const struct weft_comm *comm)
{
    return comm == &weft_comm_world || comm == &weft_comm_self;
}

/* The attached buffer is detached when nothing refuses any more that the communicator is freed: the
 * buffer is the user's memory again. A delete function may have detached it. */
int weft_mpi_comm_free(struct weft_comm *comm)
{
    if (is_predefined(comm))
        return weft_error_set(MPI_ERR_COMM, "%s is predefined and cannot be freed", comm->name);
    int code = weft_attribute_check_free(weft_comm_attributed(comm), MPI_ERR_COMM,
                                         "the communicator cannot be freed");
    if (code == MPI_SUCCESS)
        code = weft_attribute_delete_all(weft_comm_attributed(comm));
    if (code == MPI_SUCCESS && comm->bsend.attached) {
        void *base;
        size_t size;
        code = weft_bsend_detach(weft_comm_bsend_owner(comm), &base, &size);
    }
    if (code == MPI_SUCCESS) {
        weft_spawn_forget(comm);
        weft_comm_release(comm);
    }
    return code;
}

static bool is_active(void *comm)
{
    return weft_comm_active(comm);
}

/* Waits until nothing is in progress on a communicator. */
int weft_mpi_comm_disconnect(struct weft_comm *comm)
{
    if (is_predefined(comm))
        return weft_error_set(MPI_ERR_COMM, "%s is predefined and cannot be disconnected",
                              comm->name);
    weft_wait_while(NULL, is_active, comm, NULL);
    return weft_mpi_comm_free(comm);
}
