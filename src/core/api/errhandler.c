// SPDX-License-Identifier: BSD-3-Clause
/*
 * Error handlers, error classes, codes and strings (MPI 5.0 sections 9.3 to 9.5).
 */
#include "core/api/api.h"
#include "core/error.h"
#include "core/weft.h"

#include <stdlib.h>
#include <string.h>

WEFT_COLD static int bad_comm(const char *function, MPI_Comm handle)
{
    return weft_error(NULL, MPI_ERR_COMM, function, "%p is no communicator; was it freed?",
                      (void *)handle);
}

WEFT_COLD static int bad_handler(struct weft_comm *comm, const char *function,
                                 MPI_Errhandler handle)
{
    return weft_error(comm, MPI_ERR_ERRHANDLER, function, "%p is no error handler; was it freed?",
                      (void *)handle);
}

static int create_handler(MPI_Comm_errhandler_function *call, MPI_Errhandler *handle)
{
    struct weft_errhandler *handler = calloc(1, sizeof *handler);
    if (!call || !handle) {
        free(handler);
        return weft_error(NULL, MPI_ERR_ARG, "MPI_Comm_create_errhandler",
                          "the %s is a null pointer", call ? "result" : "function");
    }
    if (!handler)
        return weft_error(NULL, MPI_ERR_NO_MEM, "MPI_Comm_create_errhandler",
                          "no memory for an error handler");
    handler->object.kind = WEFT_KIND_ERRHANDLER;
    handler->refs = 1;
    handler->call = call;
    handler->handle = *handle = (MPI_Errhandler)handler;
    return MPI_SUCCESS;
}

WEFT_EXPORT(Comm_create_errhandler);
int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function *call, MPI_Errhandler *handle)
{
    int code = weft_enter("MPI_Comm_create_errhandler");
    if (code)
        return code;
    code = create_handler(call, handle);
    weft_leave();
    return code;
}

static int set_handler(MPI_Comm handle, MPI_Errhandler wanted)
{
    struct weft_comm *comm = weft_comm_resolve(handle);
    if (!comm)
        return bad_comm("MPI_Comm_set_errhandler", handle);
    struct weft_errhandler *handler = weft_handle_resolve(wanted, WEFT_KIND_ERRHANDLER);
    if (!handler)
        return bad_handler(comm, "MPI_Comm_set_errhandler", wanted);
    handler->refs++;
    weft_errhandler_release(comm->errhandler);
    comm->errhandler = handler;
    return MPI_SUCCESS;
}

WEFT_EXPORT(Comm_set_errhandler);
int PMPI_Comm_set_errhandler(MPI_Comm handle, MPI_Errhandler wanted)
{
    int code = weft_enter("MPI_Comm_set_errhandler");
    if (code)
        return code;
    code = set_handler(handle, wanted);
    weft_leave();
    return code;
}

WEFT_EXPORT(Comm_get_errhandler);
int PMPI_Comm_get_errhandler(MPI_Comm handle, MPI_Errhandler *handler)
{
    int code = weft_enter("MPI_Comm_get_errhandler");
    if (code)
        return code;
    struct weft_comm *comm = weft_comm_resolve(handle);
    if (comm) {
        comm->errhandler->refs++; /* the user frees what it gets */
        *handler = comm->errhandler->handle;
    } else {
        code = bad_comm("MPI_Comm_get_errhandler", handle);
    }
    weft_leave();
    return code;
}

WEFT_EXPORT(Comm_call_errhandler);
int PMPI_Comm_call_errhandler(MPI_Comm handle, int errorcode)
{
    int code = weft_enter("MPI_Comm_call_errhandler");
    if (code)
        return code;
    struct weft_comm *comm = weft_comm_resolve(handle);
    if (comm)
        weft_error_raise(comm, errorcode, "MPI_Comm_call_errhandler");
    else
        code = bad_comm("MPI_Comm_call_errhandler", handle);
    weft_leave();
    return code;
}

WEFT_EXPORT(Errhandler_free);
int PMPI_Errhandler_free(MPI_Errhandler *handle)
{
    int code = weft_enter("MPI_Errhandler_free");
    if (code)
        return code;
    struct weft_errhandler *handler = weft_handle_resolve(*handle, WEFT_KIND_ERRHANDLER);
    if (handler) {
        weft_errhandler_release(handler);
        *handle = MPI_ERRHANDLER_NULL;
    } else {
        code = bad_handler(NULL, "MPI_Errhandler_free", *handle);
    }
    weft_leave();
    return code;
}

WEFT_EXPORT(Error_class);
int PMPI_Error_class(int errorcode, int *errorclass)
{
    char text[8];
    if (!weft_error_text(errorcode, text, sizeof text))
        return weft_error(NULL, MPI_ERR_ARG, "MPI_Error_class", "%d is no error code", errorcode);
    *errorclass = errorcode;
    return MPI_SUCCESS;
}

WEFT_EXPORT(Error_string);
int PMPI_Error_string(int errorcode, char *string, int *resultlen)
{
    char text[MPI_MAX_ERROR_STRING];
    if (!weft_error_text(errorcode, text, sizeof text))
        return weft_error(NULL, MPI_ERR_ARG, "MPI_Error_string", "%d is no error code", errorcode);
    *resultlen = (int)strlen(text);
    memcpy(string, text, strlen(text) + 1);
    return MPI_SUCCESS;
}
