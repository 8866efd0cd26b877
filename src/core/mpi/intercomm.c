// SPDX-License-Identifier: BSD-3-Clause
/*
 * Inter-communicators (MPI 5.0 section 7.6).
 */
#include "core/mpi/api.h"
#include "core/mpi/enter.h"
#include "core/object/error.h"
#include "core/comm/intercomm.h"
#include "core/process/weft.h"

WEFT_EXPORT(Comm_test_inter);
int PMPI_Comm_test_inter(MPI_Comm handle, int *flag)
{
    const char *function = "MPI_Comm_test_inter";
    int code;
    struct weft_comm *comm = weft_enter_comm(function, handle, &code);
    if (!comm)
        return code;
    if (flag)
        *flag = comm->local != NULL;
    else
        code = weft_call_no_result(comm, function, "flag");
    weft_leave();
    return code;
}

WEFT_EXPORT(Comm_remote_size);
int PMPI_Comm_remote_size(MPI_Comm handle, int *size)
{
    const char *function = "MPI_Comm_remote_size";
    int code;
    struct weft_comm *comm = weft_enter_inter(function, handle, &code);
    if (!comm)
        return code;
    if (size)
        *size = comm->size;
    else
        code = weft_call_no_result(comm, function, "size");
    weft_leave();
    return code;
}

WEFT_EXPORT(Comm_remote_group);
int PMPI_Comm_remote_group(MPI_Comm handle, MPI_Group *group)
{
    const char *function = "MPI_Comm_remote_group";
    int code;
    struct weft_comm *comm = weft_enter_inter(function, handle, &code);
    if (!comm)
        return code;
    if (group)
        *group = weft_group_handle(weft_group_keep(comm->remote));
    else
        code = weft_call_no_result(comm, function, "group");
    weft_leave();
    return code;
}

/* Whose arguments are wrong is told by the local communicator's handler. */
static int check_create(struct weft_comm *local, int leader, MPI_Comm peer, int remote_leader,
                        int tag, const char *function)
{
    if (leader < 0 || leader >= local->size)
        return weft_error(local, MPI_ERR_RANK, function,
                          "the local leader %d is not in the communicator, which has ranks 0 to %d",
                          leader, local->size - 1);
    if (local->rank != leader) /* the rest counts at the leader only, but for the tag */
        return MPI_SUCCESS;
    const struct weft_comm *across = weft_comm_resolve(peer);
    if (!across)
        return weft_error(local, MPI_ERR_COMM, function,
                          "the peer communicator %p is none; was it freed?", (void *)peer);
    if (remote_leader < 0 || remote_leader >= across->size)
        return weft_error(local, MPI_ERR_RANK, function,
                          "the remote leader %d is not in the peer communicator, which has ranks 0 "
                          "to %d",
                          remote_leader, across->size - 1);
    if (tag < 0 || tag > weft.tag_ub)
        return weft_error(local, MPI_ERR_TAG, function,
                          "the tag %d is not between 0 and MPI_TAG_UB = %d", tag, weft.tag_ub);
    return MPI_SUCCESS;
}

WEFT_EXPORT(Intercomm_create);
int PMPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm,
                          int remote_leader, int tag, MPI_Comm *newintercomm)
{
    const char *function = "MPI_Intercomm_create";
    int code;
    struct weft_comm *local = weft_enter_intra(function, local_comm, &code), *made = NULL;
    if (!local)
        return code;
    code = check_create(local, local_leader, peer_comm, remote_leader, tag, function);
    if (code == MPI_SUCCESS && !newintercomm)
        code = weft_call_no_result(local, function, "new communicator");
    if (code != MPI_SUCCESS) {
        weft_leave();
        return code;
    }
    code = weft_intercomm_create(local, local_leader, weft_comm_resolve(peer_comm), remote_leader,
                                 tag, &made);
    *newintercomm = made ? made->handle : MPI_COMM_NULL;
    return weft_leave_with(local, code, function);
}

WEFT_EXPORT(Intercomm_merge);
int PMPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *newintracomm)
{
    const char *function = "MPI_Intercomm_merge";
    int code;
    struct weft_comm *inter = weft_enter_inter(function, intercomm, &code), *made = NULL;
    if (!inter)
        return code;
    if (!newintracomm) {
        code = weft_call_no_result(inter, function, "new communicator");
        weft_leave();
        return code;
    }
    code = weft_intercomm_merge(inter, high, &made);
    *newintracomm = made ? made->handle : MPI_COMM_NULL;
    return weft_leave_with(inter, code, function);
}
