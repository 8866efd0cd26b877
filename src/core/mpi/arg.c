// SPDX-License-Identifier: BSD-3-Clause
/*
 * Checks of arguments: see arg.h.
 */
#include "core/comm/raise.h"
#include "core/mpi/arg.h"
#include "core/comm/topology.h"
#include "core/base/info.h"
#include "core/process/weft.h"

#include <stdio.h>
#include <string.h>

/* ---- Handles of no object */

/* The name of an object in errors, the verb for its end, and its null handle. */
struct noun {
    enum weft_kind kind;
    int errclass;
    const char *name, *end;
    const void *null;
    const char *null_name;
};
#define NOUN(kind, errclass, name, end, null)                                                      \
    {                                                                                              \
        kind, errclass, name, end, null, #null                                                     \
    }

int weft_arg_bad_handle(enum weft_kind kind, const void *handle, int entry)
{
    static const struct noun nouns[] = {
        NOUN(WEFT_KIND_COMM, MPI_ERR_COMM, "communicator", "freed", MPI_COMM_NULL),
        NOUN(WEFT_KIND_GROUP, MPI_ERR_GROUP, "group", "freed", MPI_GROUP_NULL),
        NOUN(WEFT_KIND_REQUEST, MPI_ERR_REQUEST, "request", "completed or freed", MPI_REQUEST_NULL),
        NOUN(WEFT_KIND_MESSAGE, MPI_ERR_REQUEST, "message", "received", MPI_MESSAGE_NULL),
        NOUN(WEFT_KIND_DATATYPE, MPI_ERR_TYPE, "datatype", "freed", MPI_DATATYPE_NULL),
        NOUN(WEFT_KIND_OP, MPI_ERR_OP, "operation", "freed", MPI_OP_NULL),
        NOUN(WEFT_KIND_ERRHANDLER, MPI_ERR_ERRHANDLER, "error handler", "freed",
             MPI_ERRHANDLER_NULL),
        NOUN(WEFT_KIND_INFO, MPI_ERR_INFO, "info object", "freed", MPI_INFO_NULL),
        NOUN(WEFT_KIND_SESSION, MPI_ERR_SESSION, "session", "finalized", MPI_SESSION_NULL),
        NOUN(WEFT_KIND_WIN, MPI_ERR_WIN, "window", "freed", MPI_WIN_NULL),
        NOUN(WEFT_KIND_FILE, MPI_ERR_FILE, "file", "closed", MPI_FILE_NULL)};
    const struct noun *noun = nouns;
    char where[48] = "";
    while (noun->kind != kind)
        noun++;
    weft_assert(noun < nouns + sizeof nouns / sizeof nouns[0]);
    if (entry >= 0)
        snprintf(where, sizeof where, " in entry %d of the array", entry);
    if (handle == noun->null)
        return weft_error_set(noun->errclass, "the %s%s is %s", noun->name, where, noun->null_name);
    return weft_error_set(noun->errclass,
                          "the %s%s, %p, does not exist: it was %s, or its handle was never set",
                          noun->name, where, handle, noun->end);
}

/* ---- Communicators */

int weft_arg_comm_or_null(MPI_Comm handle, struct weft_comm **comm)
{
    *comm = NULL;
    return handle == MPI_COMM_NULL ? MPI_SUCCESS : weft_arg_comm(handle, comm);
}

int weft_arg_intra(MPI_Comm handle, struct weft_comm **comm)
{
    int code = weft_arg_comm(handle, comm);
    if (code == MPI_SUCCESS && (*comm)->local)
        code = weft_error_set(MPI_ERR_COMM, "an inter-communicator was passed where an "
                                            "intra-communicator is needed; MPI_Intercomm_merge "
                                            "makes one");
    return code;
}

int weft_arg_inter(MPI_Comm handle, struct weft_comm **comm)
{
    int code = weft_arg_comm(handle, comm);
    if (code == MPI_SUCCESS && !(*comm)->local)
        code = weft_error_set(MPI_ERR_COMM, "an intra-communicator was passed where an "
                                            "inter-communicator is needed; MPI_Comm_test_inter "
                                            "distinguishes them");
    return code;
}

static int with_topology(MPI_Comm handle, int kind, const char *name, struct weft_comm **comm)
{
    int code = weft_arg_comm(handle, comm);
    if (code == MPI_SUCCESS && (!(*comm)->topology || (*comm)->topology->kind != kind))
        code = weft_error_set(MPI_ERR_TOPOLOGY, "the communicator has no %s topology", name);
    return code;
}

int weft_arg_cart(MPI_Comm handle, struct weft_comm **comm)
{
    return with_topology(handle, MPI_CART, "Cartesian", comm);
}

int weft_arg_graph(MPI_Comm handle, struct weft_comm **comm)
{
    return with_topology(handle, MPI_GRAPH, "graph", comm);
}

int weft_arg_dist_graph(MPI_Comm handle, struct weft_comm **comm)
{
    return with_topology(handle, MPI_DIST_GRAPH, "distributed graph", comm);
}

/* ---- Other handles */

int weft_arg_type_or_null(MPI_Datatype handle, struct weft_datatype **type)
{
    *type = NULL;
    return handle == MPI_DATATYPE_NULL ? MPI_SUCCESS : weft_arg_type(handle, type);
}

int weft_arg_uncommitted(MPI_Datatype handle)
{
    struct weft_datatype *type;
    int code = weft_arg_type(handle, &type);
    return code ? code
                : weft_error_set(MPI_ERR_TYPE,
                                 "the datatype is not committed; call MPI_Type_commit first");
}

int weft_arg_session(MPI_Session handle, struct weft_session **session)
{
    *session = weft_handle_resolve(handle, WEFT_KIND_SESSION);
    if (*session)
        return MPI_SUCCESS;
    return weft_arg_bad_handle(WEFT_KIND_SESSION, handle, -1);
}

int weft_arg_op(MPI_Op handle, struct weft_op **op)
{
    *op = weft_handle_resolve(handle, WEFT_KIND_OP);
    if (*op)
        return MPI_SUCCESS;
    return weft_arg_bad_handle(WEFT_KIND_OP, handle, -1);
}

int weft_arg_info(MPI_Info handle, struct weft_info **info)
{
    *info = weft_info_resolve(handle);
    if (*info)
        return MPI_SUCCESS;
    return weft_arg_bad_handle(WEFT_KIND_INFO, handle, -1);
}

int weft_arg_info_or_null(MPI_Info handle, struct weft_info **info)
{
    *info = NULL;
    return handle == MPI_INFO_NULL ? MPI_SUCCESS : weft_arg_info(handle, info);
}

int weft_arg_writable(MPI_Info handle, struct weft_info **info)
{
    int code = weft_arg_info(handle, info);
    if (code == MPI_SUCCESS && (*info)->predefined)
        code = weft_error_set(MPI_ERR_INFO, "MPI_INFO_ENV cannot be changed");
    return code;
}

int weft_arg_errhandler(enum weft_kind kind, MPI_Errhandler handle, struct weft_errhandler **out)
{
    struct weft_errhandler *handler = weft_handle_resolve(handle, WEFT_KIND_ERRHANDLER);
    *out = NULL;
    if (!handler)
        return weft_arg_bad_handle(WEFT_KIND_ERRHANDLER, handle, -1);
    if (kind != WEFT_KIND_NONE && !weft_errhandler_fits(handler, kind))
        return weft_error_set(
            MPI_ERR_ERRHANDLER,
            "the error handler was made for another kind of object; %s makes one for this",
            kind == WEFT_KIND_COMM      ? "MPI_Comm_create_errhandler"
            : kind == WEFT_KIND_SESSION ? "MPI_Session_create_errhandler"
            : kind == WEFT_KIND_WIN     ? "MPI_Win_create_errhandler"
                                        : "MPI_File_create_errhandler");
    *out = handler;
    return MPI_SUCCESS;
}

/* ---- Other arguments */

int weft_arg_no_result(const char *what)
{
    return weft_error_set(MPI_ERR_ARG, "the pointer to the %s is null", what);
}

int weft_arg_given(bool given, const char *what)
{
    return given ? MPI_SUCCESS : weft_error_set(MPI_ERR_ARG, "the %s is a null pointer", what);
}

int weft_arg_rank(int rank, const struct weft_comm *comm)
{
    if (rank >= 0 && rank < comm->size)
        return MPI_SUCCESS;
    return weft_error_set(MPI_ERR_RANK,
                          "rank %d is not in the communicator, which has ranks 0 to %d", rank,
                          comm->size - 1);
}

int weft_arg_tag(int tag)
{
    if (tag >= 0 && tag <= weft.tag_ub)
        return MPI_SUCCESS;
    return weft_error_set(MPI_ERR_TAG, "the tag %d is not between 0 and MPI_TAG_UB = %d", tag,
                          weft.tag_ub);
}

int weft_arg_negative(MPI_Count count)
{
    return weft_error_set(MPI_ERR_COUNT, "the count %lld is negative", (long long)count);
}

int weft_arg_too_much(MPI_Count count)
{
    return weft_error_set(MPI_ERR_COUNT, "%lld elements of that datatype are too much",
                          (long long)count);
}

int weft_arg_packed(MPI_Count count, const struct weft_datatype *type)
{
    MPI_Count bytes;
    int code = weft_arg_count(count);
    if (code == MPI_SUCCESS && __builtin_mul_overflow(count, type->size, &bytes))
        code = weft_arg_too_much(count);
    return code;
}

int weft_arg_bytes(MPI_Count count, const struct weft_datatype *type, size_t *bytes)
{
    int code = weft_arg_count(count);
    if (code == MPI_SUCCESS &&
        weft_unlikely(__builtin_mul_overflow((size_t)count, type->size, bytes) ||
                      *bytes > WEFT_MEMORY_MAX))
        code = weft_error_set(MPI_ERR_COUNT, "%lld elements of %zu bytes are too much",
                              (long long)count, type->size);
    return code;
}

int weft_arg_bad_buffer(const void *buffer, const struct weft_datatype *type, const char *what)
{
    if (buffer == MPI_IN_PLACE)
        return weft_error_set(
            MPI_ERR_BUFFER,
            "the %s buffer is MPI_IN_PLACE, which only collectives take; pass the "
            "address of the data",
            what);
    if (type->true_lb != 0)
        return MPI_SUCCESS;
    return weft_error_set(MPI_ERR_BUFFER, "the %s buffer is a null pointer, but has elements",
                          what);
}

int weft_arg_status(const MPI_Status *status)
{
    if (status != MPI_STATUS_IGNORE)
        return MPI_SUCCESS;
    return weft_error_set(MPI_ERR_ARG, "the status is MPI_STATUS_IGNORE; the call that is to fill "
                                       "it needs one too");
}

void weft_arg_copy_name(const char *from, char *to, int *length)
{
    size_t bytes = strlen(from);
    memcpy(to, from, bytes + 1);
    *length = (int)bytes;
}

int weft_request_to_int(MPI_Request handle)
{
    if ((uintptr_t)handle < WEFT_PREDEFINED_HANDLES)
        return (int)(uintptr_t)handle;
    if (!weft_handle_resolve(handle, WEFT_KIND_REQUEST))
        return -1;
    return WEFT_REQUEST_INTEGERS + (int)((struct weft_request *)handle)->number;
}

MPI_Request weft_request_from_int(int value)
{
    if (value < WEFT_REQUEST_INTEGERS)
        return weft_handle_from_int(value);
    return (MPI_Request)weft_request_numbered((unsigned)(value - WEFT_REQUEST_INTEGERS));
}

/* ---- Entering and leaving */

static int raise_to(struct weft_errhandler *handler, void *object, int code, const char *function)
{
    if (code == MPI_SUCCESS)
        return code;
    return handler ? weft_errhandler_raise(handler, object, code, function)
                   : weft_error_raise(NULL, code, function);
}

int weft_leave_to(struct weft_errhandler *handler, void *object, int code, const char *function)
{
    code = raise_to(handler, object, code, function);
    weft_leave();
    return code;
}

int weft_vcis_leave_to(struct weft_errhandler *handler, void *object, int code,
                       const char *function)
{
    code = raise_to(handler, object, code, function);
    weft_vcis_leave();
    return code;
}

int weft_vcis_leave_with(int code, const char *function)
{
    return weft_vcis_leave_to(NULL, NULL, code, function);
}

int weft_raise_anytime(int code, const char *function)
{
    weft_vcis_enter();
    return weft_vcis_leave_with(code, function);
}
