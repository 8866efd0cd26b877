// SPDX-License-Identifier: BSD-3-Clause
/*
 * Making and freeing communicators (MPI 5.0 section 7.4).
 *
 * Invariant: what a call returns in *newcomm is MPI_COMM_NULL unless it succeeded and this process
 * is in the new communicator.
 */
#include "core/mpi/api.h"
#include "core/mpi/enter.h"
#include "core/pt2pt/bsend.h"
#include "core/comm/comm_make.h"
#include "core/object/error.h"
#include "core/object/info.h"
#include "core/process/weft.h"

/* Hands out what was made, or raises the error; leaves the library. */
static int hand_out(struct weft_comm *over, int code, struct weft_comm *made, MPI_Comm *out,
                    const char *function)
{
    *out = made ? made->handle : MPI_COMM_NULL;
    return weft_leave_with(over, code, function);
}

/* Enters for a call that makes a communicator. */
static struct weft_comm *begin(const char *function, MPI_Comm handle, const MPI_Comm *out,
                               int *code)
{
    struct weft_comm *over = weft_enter_comm(function, handle, code);
    if (!over || out)
        return over;
    *code = weft_call_no_result(over, function, "new communicator");
    weft_leave();
    return NULL;
}

/* The hints for a new communicator; false after raising the error. */
static bool hints_of(struct weft_comm *over, MPI_Info handle, const struct weft_info **hints,
                     const char *function)
{
    *hints = handle == MPI_INFO_NULL ? NULL : weft_info_resolve(handle);
    if (*hints || handle == MPI_INFO_NULL)
        return true;
    weft_error(over, MPI_ERR_INFO, function, "%p is no info object; was it freed?", (void *)handle);
    return false;
}

static int dup(const char *function, MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    const struct weft_info *hints;
    int code;
    struct weft_comm *over = begin(function, comm, newcomm, &code), *made = NULL;
    if (!over)
        return code;
    if (!hints_of(over, info, &hints, function)) {
        weft_leave();
        return MPI_ERR_INFO;
    }
    code = weft_comm_dup(over, hints, &made);
    return hand_out(over, code, made, newcomm, function);
}

static int idup(const char *function, MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm,
                MPI_Request *request)
{
    const struct weft_info *hints = NULL;
    int code;
    struct weft_comm *over = begin(function, comm, newcomm, &code), *made = NULL;
    struct weft_request *started;
    if (!over)
        return code;
    if (!request)
        code = weft_call_no_result(over, function, "request");
    else if (!hints_of(over, info, &hints, function))
        code = MPI_ERR_INFO;
    if (code != MPI_SUCCESS) {
        weft_leave();
        return code;
    }
    code = weft_comm_idup(over, hints, &made, &started);
    *request = (MPI_Request)started;
    return hand_out(over, code, made, newcomm, function);
}

WEFT_EXPORT(Comm_dup);
int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    return dup("MPI_Comm_dup", comm, MPI_INFO_NULL, newcomm);
}

WEFT_EXPORT(Comm_dup_with_info);
int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    return dup("MPI_Comm_dup_with_info", comm, info, newcomm);
}

WEFT_EXPORT(Comm_idup);
int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
    return idup("MPI_Comm_idup", comm, MPI_INFO_NULL, newcomm, request);
}

WEFT_EXPORT(Comm_idup_with_info);
int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request)
{
    return idup("MPI_Comm_idup_with_info", comm, info, newcomm, request);
}

/* A group that has to be part of a communicator's local group. */
static int check_subgroup(struct weft_comm *over, const struct weft_group *group,
                          const char *function)
{
    for (int i = 0; i < group->size; i++) {
        int world = weft_group_world(group, i);
        if (weft_group_rank_of(over->group, world) < 0)
            return weft_error(over, MPI_ERR_GROUP, function,
                              "rank %d of the group (rank %d of the job) is not in the "
                              "communicator",
                              i, world);
    }
    return MPI_SUCCESS;
}

WEFT_EXPORT(Comm_create);
int PMPI_Comm_create(MPI_Comm comm, MPI_Group handle, MPI_Comm *newcomm)
{
    const char *function = "MPI_Comm_create";
    int code;
    struct weft_comm *over = begin(function, comm, newcomm, &code), *made = NULL;
    if (!over)
        return code;
    struct weft_group *group = weft_call_group(over, function, handle);
    code = group ? check_subgroup(over, group, function) : MPI_ERR_GROUP;
    if (code != MPI_SUCCESS) {
        *newcomm = MPI_COMM_NULL;
        weft_leave();
        return code;
    }
    code = weft_comm_create(over, group, &made);
    return hand_out(over, code, made, newcomm, function);
}

static int check_tag(struct weft_comm *comm, int tag, const char *function)
{
    if (tag < 0 || tag > weft.tag_ub)
        return weft_error(comm, MPI_ERR_TAG, function,
                          "the tag %d is not between 0 and MPI_TAG_UB = %d", tag, weft.tag_ub);
    return MPI_SUCCESS;
}

WEFT_EXPORT(Comm_create_group);
int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group handle, int tag, MPI_Comm *newcomm)
{
    const char *function = "MPI_Comm_create_group";
    int code;
    struct weft_comm *over = weft_enter_intra(function, comm, &code), *made = NULL;
    if (!over)
        return code;
    struct weft_group *group = weft_call_group(over, function, handle);
    code = group ? check_subgroup(over, group, function) : MPI_ERR_GROUP;
    if (code == MPI_SUCCESS)
        code = check_tag(over, tag, function);
    if (code == MPI_SUCCESS && !newcomm)
        code = weft_call_no_result(over, function, "new communicator");
    if (code != MPI_SUCCESS) {
        weft_leave();
        return code;
    }
    code = weft_comm_create_group(over, group, tag, &made);
    return hand_out(over, code, made, newcomm, function);
}

WEFT_EXPORT(Comm_split);
int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    const char *function = "MPI_Comm_split";
    int code;
    struct weft_comm *over = begin(function, comm, newcomm, &code), *made = NULL;
    if (!over)
        return code;
    if (color < 0 && color != MPI_UNDEFINED) {
        code = weft_error(over, MPI_ERR_ARG, function,
                          "the color %d is negative and not MPI_UNDEFINED", color);
        weft_leave();
        return code;
    }
    code = weft_comm_split(over, color, key, &made);
    return hand_out(over, code, made, newcomm, function);
}

WEFT_EXPORT(Comm_split_type);
int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)
{
    const char *function = "MPI_Comm_split_type";
    const struct weft_info *hints;
    int code;
    struct weft_comm *over = begin(function, comm, newcomm, &code), *made = NULL;
    if (!over)
        return code;
    if (!hints_of(over, info, &hints, function)) {
        weft_leave();
        return MPI_ERR_INFO;
    }
    code = weft_comm_split_type(over, split_type, key, hints, &made);
    return hand_out(over, code, made, newcomm, function);
}

WEFT_EXPORT(Comm_get_parent);
int PMPI_Comm_get_parent(MPI_Comm *parent)
{
    const char *function = "MPI_Comm_get_parent";
    int code = weft_enter(function);
    if (code)
        return code;
    if (parent)
        *parent = MPI_COMM_NULL; /* nothing is spawned: STATUS */
    else
        code = weft_call_no_result(NULL, function, "parent");
    weft_leave();
    return code;
}

/* ---- The end */

/* Frees a communicator that is not predefined; its attached buffer is detached first, as what is in
 * it is the user's memory again once the communicator is gone. */
static int give_up(struct weft_comm *comm, const char *function)
{
    if (comm == &weft_comm_world || comm == &weft_comm_self)
        return weft_error(comm, MPI_ERR_COMM, function, "%s is predefined and cannot be freed",
                          comm->name);
    if (comm->bsend.attached) {
        void *base;
        size_t size;
        int code = weft_bsend_detach((struct weft_bsend_owner){.comm = comm}, &base, &size);
        if (code != MPI_SUCCESS)
            return weft_error_raise(comm, code, function);
    }
    int code = weft_attribute_delete_all(weft_comm_attributed(comm));
    if (code != MPI_SUCCESS)
        return weft_error_raise(comm, code, function);
    weft_comm_release(comm);
    return MPI_SUCCESS;
}

WEFT_EXPORT(Comm_free);
int PMPI_Comm_free(MPI_Comm *handle)
{
    const char *function = "MPI_Comm_free";
    int code;
    struct weft_comm *comm = weft_enter_comm(function, handle ? *handle : MPI_COMM_NULL, &code);
    if (!comm)
        return code;
    code = give_up(comm, function);
    if (code == MPI_SUCCESS)
        *handle = MPI_COMM_NULL;
    weft_leave();
    return code;
}

WEFT_EXPORT(Comm_disconnect);
int PMPI_Comm_disconnect(MPI_Comm *handle)
{
    const char *function = "MPI_Comm_disconnect";
    int code;
    unsigned idle = 0;
    struct weft_comm *comm = weft_enter_comm(function, handle ? *handle : MPI_COMM_NULL, &code);
    if (!comm)
        return code;
    while (weft_comm_active(comm))
        weft_await(&idle, NULL);
    code = give_up(comm, function);
    if (code == MPI_SUCCESS)
        *handle = MPI_COMM_NULL;
    weft_leave();
    return code;
}
