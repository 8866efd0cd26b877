// SPDX-License-Identifier: BSD-3-Clause
/*
 * Error handlers (MPI 5.0 section 9.3). There are no windows and no files yet: their handlers can be
 * made and freed, and those of files set on MPI_FILE_NULL, where new files would find them.
 */
#include "core/mpi/api.h"
#include "core/mpi/enter.h"
#include "core/object/error.h"
#include "core/comm/session.h"
#include "core/process/weft.h"

/* Of MPI_FILE_NULL. */
static struct weft_errhandler *file_handler = &weft_errors_return;

/* ---- Making and freeing */

static int create(const char *function, enum weft_kind kind, union weft_errhandler_call call,
                  MPI_Errhandler *handle)
{
    struct weft_errhandler *handler = NULL;
    int code = MPI_SUCCESS;
    if (!call.comm) /* all members lie at the same place */
        code = weft_error(NULL, MPI_ERR_ARG, function, "the function is a null pointer");
    else if (!handle)
        code = weft_call_no_result(NULL, function, "error handler");
    else if (!(handler = weft_errhandler_make(kind, call)))
        code = weft_error_raise(NULL, MPI_ERR_NO_MEM, function);
    else
        *handle = handler->handle;
    return code;
}

static int enter_create(const char *function, enum weft_kind kind, union weft_errhandler_call call,
                        MPI_Errhandler *handle)
{
    int code = weft_enter(function);
    if (code)
        return code;
    code = create(function, kind, call, handle);
    weft_leave();
    return code;
}

WEFT_EXPORT(Comm_create_errhandler);
int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function *call, MPI_Errhandler *handle)
{
    return enter_create("MPI_Comm_create_errhandler", WEFT_KIND_COMM,
                        (union weft_errhandler_call){.comm = call}, handle);
}

WEFT_EXPORT(Win_create_errhandler);
int PMPI_Win_create_errhandler(MPI_Win_errhandler_function *call, MPI_Errhandler *handle)
{
    return enter_create("MPI_Win_create_errhandler", WEFT_KIND_WIN,
                        (union weft_errhandler_call){.win = call}, handle);
}

WEFT_EXPORT(File_create_errhandler);
int PMPI_File_create_errhandler(MPI_File_errhandler_function *call, MPI_Errhandler *handle)
{
    return enter_create("MPI_File_create_errhandler", WEFT_KIND_FILE,
                        (union weft_errhandler_call){.file = call}, handle);
}

WEFT_EXPORT(Session_create_errhandler);
int PMPI_Session_create_errhandler(MPI_Session_errhandler_function *call, MPI_Errhandler *handle)
{
    weft_enter_anytime();
    int code = create("MPI_Session_create_errhandler", WEFT_KIND_SESSION,
                      (union weft_errhandler_call){.session = call}, handle);
    weft_leave_anytime();
    return code;
}

WEFT_EXPORT(Errhandler_free);
int PMPI_Errhandler_free(MPI_Errhandler *handle)
{
    int code = MPI_SUCCESS;
    weft_enter_anytime();
    struct weft_errhandler *handler =
        handle ? weft_handle_resolve(*handle, WEFT_KIND_ERRHANDLER) : NULL;
    if (handler) {
        weft_errhandler_release(handler);
        *handle = MPI_ERRHANDLER_NULL;
    } else {
        code =
            weft_error(NULL, MPI_ERR_ERRHANDLER, "MPI_Errhandler_free",
                       "%p is no error handler; was it freed?", (void *)(handle ? *handle : NULL));
    }
    weft_leave_anytime();
    return code;
}

/* ---- Setting and asking */

/* The handler of a handle if it may be set on objects of that kind, else NULL, the sentence said. */
static struct weft_errhandler *fitting(MPI_Errhandler handle, enum weft_kind kind)
{
    struct weft_errhandler *handler = weft_handle_resolve(handle, WEFT_KIND_ERRHANDLER);
    if (!handler) {
        weft_error_set(MPI_ERR_ERRHANDLER, "%p is no error handler; was it freed?", (void *)handle);
        return NULL;
    }
    if (weft_errhandler_fits(handler, kind))
        return handler;
    weft_error_set(MPI_ERR_ERRHANDLER,
                   "the error handler was made for another kind of object; %s makes one for this",
                   kind == WEFT_KIND_COMM      ? "MPI_Comm_create_errhandler"
                   : kind == WEFT_KIND_SESSION ? "MPI_Session_create_errhandler"
                                               : "MPI_File_create_errhandler");
    return NULL;
}

/* Puts a handler where another one is. */
static int replace(struct weft_errhandler **where, MPI_Errhandler handle, enum weft_kind kind)
{
    struct weft_errhandler *handler = fitting(handle, kind);
    if (!handler)
        return MPI_ERR_ERRHANDLER;
    handler->refs++;
    weft_errhandler_release(*where);
    *where = handler;
    return MPI_SUCCESS;
}

/* The user frees what it gets. */
static MPI_Errhandler give(struct weft_errhandler *handler)
{
    handler->refs++;
    return handler->handle;
}

WEFT_EXPORT(Comm_set_errhandler);
int PMPI_Comm_set_errhandler(MPI_Comm handle, MPI_Errhandler wanted)
{
    const char *function = "MPI_Comm_set_errhandler";
    int code;
    struct weft_comm *comm = weft_enter_comm(function, handle, &code);
    if (!comm)
        return code;
    return weft_leave_with(comm, replace(&comm->errhandler, wanted, WEFT_KIND_COMM), function);
}

WEFT_EXPORT(Comm_get_errhandler);
int PMPI_Comm_get_errhandler(MPI_Comm handle, MPI_Errhandler *handler)
{
    const char *function = "MPI_Comm_get_errhandler";
    int code;
    struct weft_comm *comm = weft_enter_comm(function, handle, &code);
    if (!comm)
        return code;
    if (handler)
        *handler = give(comm->errhandler);
    else
        code = weft_call_no_result(comm, function, "error handler");
    weft_leave();
    return code;
}

WEFT_EXPORT(Comm_call_errhandler);
int PMPI_Comm_call_errhandler(MPI_Comm handle, int errorcode)
{
    const char *function = "MPI_Comm_call_errhandler";
    int code;
    struct weft_comm *comm = weft_enter_comm(function, handle, &code);
    if (!comm)
        return code;
    weft_error_raise(comm, errorcode, function);
    weft_leave();
    return MPI_SUCCESS;
}

WEFT_EXPORT(Session_set_errhandler);
int PMPI_Session_set_errhandler(MPI_Session handle, MPI_Errhandler wanted)
{
    const char *function = "MPI_Session_set_errhandler";
    int code;
    struct weft_session *session = weft_enter_session(function, handle, &code);
    if (!session)
        return code;
    code = replace(&session->errhandler, wanted, WEFT_KIND_SESSION);
    return weft_leave_session(session, code, function);
}

WEFT_EXPORT(Session_get_errhandler);
int PMPI_Session_get_errhandler(MPI_Session handle, MPI_Errhandler *handler)
{
    const char *function = "MPI_Session_get_errhandler";
    int code;
    struct weft_session *session = weft_enter_session(function, handle, &code);
    if (!session)
        return code;
    if (handler)
        *handler = give(session->errhandler);
    else
        code = weft_error_set(MPI_ERR_ARG, "the pointer to the error handler is null");
    return weft_leave_session(session, code, function);
}

WEFT_EXPORT(Session_call_errhandler);
int PMPI_Session_call_errhandler(MPI_Session handle, int errorcode)
{
    const char *function = "MPI_Session_call_errhandler";
    int code;
    struct weft_session *session = weft_enter_session(function, handle, &code);
    if (!session)
        return code;
    weft_error_raise_in_session(session, errorcode, function);
    return weft_leave_session(session, MPI_SUCCESS, function);
}

/* ---- Files: there is only MPI_FILE_NULL */

static int enter_no_file(const char *function, MPI_File handle)
{
    int code = weft_enter(function);
    if (code || handle == MPI_FILE_NULL)
        return code;
    code = weft_error_set(MPI_ERR_FILE,
                          "%p is no file; files are not supported by this version of Weft",
                          (void *)handle);
    code = weft_errhandler_raise(file_handler, MPI_FILE_NULL, code, function);
    weft_leave();
    return code;
}

WEFT_EXPORT(File_set_errhandler);
int PMPI_File_set_errhandler(MPI_File handle, MPI_Errhandler wanted)
{
    const char *function = "MPI_File_set_errhandler";
    int code = enter_no_file(function, handle);
    if (code)
        return code;
    code = replace(&file_handler, wanted, WEFT_KIND_FILE);
    if (code != MPI_SUCCESS)
        code = weft_errhandler_raise(file_handler, MPI_FILE_NULL, code, function);
    weft_leave();
    return code;
}

WEFT_EXPORT(File_get_errhandler);
int PMPI_File_get_errhandler(MPI_File handle, MPI_Errhandler *handler)
{
    const char *function = "MPI_File_get_errhandler";
    int code = enter_no_file(function, handle);
    if (code)
        return code;
    if (handler)
        *handler = give(file_handler);
    else
        code = weft_errhandler_raise(
            file_handler, MPI_FILE_NULL,
            weft_error_set(MPI_ERR_ARG, "the pointer to the error handler is null"), function);
    weft_leave();
    return code;
}

WEFT_EXPORT(File_call_errhandler);
int PMPI_File_call_errhandler(MPI_File handle, int errorcode)
{
    const char *function = "MPI_File_call_errhandler";
    int code = enter_no_file(function, handle);
    if (code)
        return code;
    weft_errhandler_raise(file_handler, MPI_FILE_NULL, errorcode, function);
    weft_leave();
    return MPI_SUCCESS;
}
