// SPDX-License-Identifier: BSD-3-Clause
/*
 * Entering and leaving with an object: see enter.h.
 */
#include "core/mpi/enter.h"

#include "core/object/error.h"
#include "core/process/weft.h"

struct weft_comm *weft_enter_comm(const char *function, MPI_Comm handle, int *code)
{
    *code = weft_enter(function);
    if (*code)
        return NULL;
    struct weft_comm *comm = weft_comm_resolve(handle);
    if (weft_likely(comm != NULL))
        return comm;
    *code = handle == MPI_COMM_NULL
                ? weft_error(NULL, MPI_ERR_COMM, function, "the communicator is MPI_COMM_NULL")
                : weft_error(NULL, MPI_ERR_COMM, function, "%p is no communicator; was it freed?",
                             (void *)handle);
    weft_leave();
    return NULL;
}

struct weft_comm *weft_enter_intra(const char *function, MPI_Comm handle, int *code)
{
    struct weft_comm *comm = weft_enter_comm(function, handle, code);
    if (!comm || !comm->local)
        return comm;
    *code = weft_error(comm, MPI_ERR_COMM, function,
                       "an inter-communicator was passed where an intra-communicator is needed; "
                       "MPI_Intercomm_merge makes one");
    weft_leave();
    return NULL;
}

struct weft_comm *weft_enter_inter(const char *function, MPI_Comm handle, int *code)
{
    struct weft_comm *comm = weft_enter_comm(function, handle, code);
    if (!comm || comm->local)
        return comm;
    *code = weft_error(comm, MPI_ERR_COMM, function,
                       "an intra-communicator was passed where an inter-communicator is needed; "
                       "MPI_Comm_test_inter tells them apart");
    weft_leave();
    return NULL;
}

struct weft_group *weft_call_group(struct weft_comm *comm, const char *function, MPI_Group handle)
{
    struct weft_group *group = weft_group_resolve(handle);
    if (weft_unlikely(!group && handle == MPI_GROUP_NULL))
        weft_error(comm, MPI_ERR_GROUP, function, "the group is MPI_GROUP_NULL");
    else if (weft_unlikely(!group))
        weft_error(comm, MPI_ERR_GROUP, function, "%p is no group; was it freed?", (void *)handle);
    return group;
}

struct weft_group *weft_enter_group(const char *function, MPI_Group handle, int *code)
{
    *code = weft_enter(function);
    if (*code)
        return NULL;
    struct weft_group *group = weft_call_group(NULL, function, handle);
    if (group)
        return group;
    *code = MPI_ERR_GROUP;
    weft_leave();
    return NULL;
}

int weft_leave_with(struct weft_comm *comm, int code, const char *function)
{
    if (weft_unlikely(code != MPI_SUCCESS))
        code = weft_error_raise(comm, code, function);
    weft_leave();
    return code;
}

int weft_call_no_result(struct weft_comm *comm, const char *function, const char *what)
{
    return weft_error(comm, MPI_ERR_ARG, function, "the pointer to the %s is null", what);
}
