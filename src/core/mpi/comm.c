// SPDX-License-Identifier: BSD-3-Clause
/*
 * Asking communicators (MPI 5.0 sections 7.4.1 and 7.8).
 */
#include "core/mpi/api.h"
#include "core/mpi/enter.h"
#include "core/object/error.h"
#include "core/process/weft.h"

#include <string.h>

WEFT_EXPORT(Comm_rank);
int PMPI_Comm_rank(MPI_Comm handle, int *rank)
{
    const char *function = "MPI_Comm_rank";
    int code;
    struct weft_comm *comm = weft_enter_comm(function, handle, &code);
    if (!comm)
        return code;
    if (rank)
        *rank = comm->rank;
    else
        code = weft_call_no_result(comm, function, "rank");
    weft_leave();
    return code;
}

WEFT_EXPORT(Comm_size);
int PMPI_Comm_size(MPI_Comm handle, int *size)
{
    const char *function = "MPI_Comm_size";
    int code;
    struct weft_comm *comm = weft_enter_comm(function, handle, &code);
    if (!comm)
        return code;
    if (size)
        *size = comm->group->size;
    else
        code = weft_call_no_result(comm, function, "size");
    weft_leave();
    return code;
}

WEFT_EXPORT(Comm_group);
int PMPI_Comm_group(MPI_Comm handle, MPI_Group *group)
{
    const char *function = "MPI_Comm_group";
    int code;
    struct weft_comm *comm = weft_enter_comm(function, handle, &code);
    if (!comm)
        return code;
    if (group)
        *group = weft_group_handle(weft_group_keep(comm->group));
    else
        code = weft_call_no_result(comm, function, "group");
    weft_leave();
    return code;
}

/* MPI_CONGRUENT and its like, or -1 when memory is short. */
static int compare(const struct weft_comm *one, const struct weft_comm *two)
{
    if (one == two)
        return MPI_IDENT;
    if (!one->local != !two->local)
        return MPI_UNEQUAL;
    int local = weft_group_compare(one->group, two->group);
    int remote = one->local ? weft_group_compare(one->remote, two->remote) : MPI_IDENT;
    if (local < 0 || remote < 0)
        return -1;
    if (local == MPI_UNEQUAL || remote == MPI_UNEQUAL)
        return MPI_UNEQUAL;
    return local == MPI_IDENT && remote == MPI_IDENT ? MPI_CONGRUENT : MPI_SIMILAR;
}

WEFT_EXPORT(Comm_compare);
int PMPI_Comm_compare(MPI_Comm first, MPI_Comm second, int *result)
{
    const char *function = "MPI_Comm_compare";
    int code;
    struct weft_comm *one = weft_enter_comm(function, first, &code);
    if (!one)
        return code;
    struct weft_comm *two = weft_comm_resolve(second);
    if (!two) {
        code = weft_error(one, MPI_ERR_COMM, function, "%p is no communicator; was it freed?",
                          (void *)second);
    } else if (!result) {
        code = weft_call_no_result(one, function, "result");
    } else {
        *result = compare(one, two);
        if (*result < 0)
            code = weft_error_raise(one, MPI_ERR_NO_MEM, function);
    }
    weft_leave();
    return code;
}

WEFT_EXPORT(Comm_set_name);
int PMPI_Comm_set_name(MPI_Comm handle, const char *name)
{
    const char *function = "MPI_Comm_set_name";
    int code;
    struct weft_comm *comm = weft_enter_comm(function, handle, &code);
    if (!comm)
        return code;
    if (name)
        return weft_leave_with(comm, weft_comm_set_name(comm, name), function);
    code = weft_error(comm, MPI_ERR_ARG, function, "the name is a null pointer");
    weft_leave();
    return code;
}

/* MPI_COMM_NULL has a name, too, as other null handles. */
WEFT_EXPORT(Comm_get_name);
int PMPI_Comm_get_name(MPI_Comm handle, char *name, int *resultlen)
{
    const char *function = "MPI_Comm_get_name";
    struct weft_comm *comm = NULL;
    int code = MPI_SUCCESS;
    if (handle == MPI_COMM_NULL)
        code = weft_enter(function);
    else
        comm = weft_enter_comm(function, handle, &code);
    if (code != MPI_SUCCESS)
        return code;
    if (name && resultlen) {
        const char *text = !comm ? "MPI_COMM_NULL" : comm->name ? comm->name : "";
        *resultlen = (int)strlen(text);
        memcpy(name, text, strlen(text) + 1);
    } else {
        code = weft_call_no_result(comm, function, name ? "length" : "name");
    }
    weft_leave();
    return code;
}
