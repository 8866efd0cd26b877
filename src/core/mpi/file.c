// SPDX-License-Identifier: BSD-3-Clause
/*
 * Files (MPI 5.0 chapter 14): what their entry points do beside abi/entry_points.txt.
 *
 * Invariants:
 *  - Errors without a file go to the error handler of MPI_FILE_NULL, which a new file inherits.
 *  - The arguments of a collective access are checked before its agreement, so that a rank with
 *    wrong arguments takes part.
 */
#include "core/mpi/api.h"
#include "core/mpi/entry.h"
#include "core/base/handle_list.h"

/* Of MPI_FILE_NULL. */
static struct weft_errhandler *default_handler = &weft_errors_return;

struct weft_errhandler **weft_mpi_file_errhandler(struct weft_file *file)
{
    return file ? &file->comm->errhandler : &default_handler;
}

int weft_arg_file(MPI_File handle, struct weft_file **file)
{
    *file = weft_handle_resolve(handle, WEFT_KIND_FILE);
    if (*file)
        return MPI_SUCCESS;
    if (handle == MPI_FILE_NULL)
        return weft_error_set(MPI_ERR_FILE, "the file is MPI_FILE_NULL");
    return weft_error_set(MPI_ERR_FILE, "%p is no file; was it closed?", (void *)handle);
}

int weft_arg_file_or_null(MPI_File handle, struct weft_file **file)
{
    *file = NULL;
    return handle == MPI_FILE_NULL ? MPI_SUCCESS : weft_arg_file(handle, file);
}

int weft_enter_file(const char *function, MPI_File handle)
{
    const struct weft_file *file =
        weft_entry_flags & WEFT_ENTRY_CLOSED ? NULL : weft_handle_resolve(handle, WEFT_KIND_FILE);
    return weft_enter_on(function, file ? file->comm->vci : &weft.vcis[0]);
}

int weft_leave_file(struct weft_file *file, int code, const char *function)
{
    struct weft_vci *vci = weft_vcis_hold_all() ? NULL : file ? file->comm->vci : &weft.vcis[0];
    if (code != MPI_SUCCESS)
        code = weft_errhandler_raise(*weft_mpi_file_errhandler(file),
                                     file ? file->handle : MPI_FILE_NULL, code, function);
    weft_leave_scope(vci);
    return code;
}

int weft_api_unsupported_file(const char *function, MPI_File handle)
{
    struct weft_file *file = weft_handle_resolve(handle, WEFT_KIND_FILE);
    if (weft_entry_flags & WEFT_ENTRY_CLOSED)
        return weft_api_unsupported(function, MPI_COMM_NULL);
    int code = weft_error_set(
        MPI_ERR_UNSUPPORTED_OPERATION,
        "%s is not supported by this version of Weft; docs/STATUS.md lists what is", function);
    return weft_errhandler_raise(*weft_mpi_file_errhandler(file),
                                 file ? file->handle : MPI_FILE_NULL, code, function);
}

int weft_mpi_file_open(struct weft_comm *comm, const char *name, int amode,
                       const struct weft_info *info, struct weft_file **made)
{
    return weft_file_open(comm, name, amode, info, default_handler, made);
}

int weft_mpi_file_set_view(struct weft_file *file, MPI_Offset disp, MPI_Datatype etype,
                           MPI_Datatype filetype, const char *representation, MPI_Info info)
{
    struct weft_file_view_arguments view = {disp, etype, filetype, representation, NULL};
    int code = weft_arg_info_or_null(info, &view.info);
    return weft_file_set_view(file, &view, code);
}

/* ---- Access */

struct access {
    const struct weft_datatype *type;
    MPI_Offset from, etypes; /* the first etype, and how many follow */
    size_t bytes;
};

static int check_mode(const struct weft_file *file, unsigned flags)
{
    if (file->amode & MPI_MODE_SEQUENTIAL)
        return weft_file_sequential();
    if (flags & WEFT_FILE_WRITE && file->amode & MPI_MODE_RDONLY)
        return weft_error_set(MPI_ERR_READ_ONLY, "%.200s was opened with MPI_MODE_RDONLY",
                              file->name);
    if (!(flags & WEFT_FILE_WRITE) && file->amode & MPI_MODE_WRONLY)
        return weft_error_set(MPI_ERR_ACCESS, "%.200s was opened with MPI_MODE_WRONLY", file->name);
    return MPI_SUCCESS;
}

static int check_range(const struct weft_file *file, struct access *access)
{
    size_t etype = file->view.etype->size;
    MPI_Offset end, unused;
    if (etype ? access->bytes % etype : access->bytes)
        return weft_error_set(MPI_ERR_IO,
                              "%zu bytes are not a multiple of the %zu bytes of the "
                              "etype of the view",
                              access->bytes, etype);
    access->etypes = etype ? (MPI_Offset)(access->bytes / etype) : 0;
    int code = weft_file_byte_offset(file, access->from, &unused);
    if (code == MPI_SUCCESS && __builtin_add_overflow(access->from, access->etypes, &end))
        code = weft_error_set(MPI_ERR_ARG, "the offset %lld is too large", (long long)access->from);
    if (code == MPI_SUCCESS)
        code = weft_file_byte_offset(file, end, &unused);
    return code;
}

static int check_access(const struct weft_file *file, unsigned flags, MPI_Offset offset,
                        const struct weft_file_buffer *buffer, struct access *access)
{
    struct weft_datatype *type = NULL;
    *access = (struct access){.from = flags & WEFT_FILE_AT ? offset : file->pointer};
    int code = weft_arg_count(buffer->count);
    if (code == MPI_SUCCESS)
        code = weft_arg_committed(buffer->type, &type);
    if (code == MPI_SUCCESS)
        code = weft_arg_bytes(buffer->count, type, &access->bytes);
    if (code == MPI_SUCCESS && !buffer->at && access->bytes && type->true_lb == 0)
        code = weft_error_set(MPI_ERR_BUFFER, "the buffer of %lld elements is a null pointer",
                              (long long)buffer->count);
    if (code == MPI_SUCCESS)
        code = check_mode(file, flags);
    if (code == MPI_SUCCESS && flags & WEFT_FILE_ALL)
        code = weft_file_no_split(file);
    if (code == MPI_SUCCESS)
        code = check_range(file, access);
    access->type = type;
    return code;
}

/* Moves the data, unless code, that of check_access, is an error. *moved is set also on error. */
static int move(struct weft_file *file, unsigned flags, const struct access *access,
                const struct weft_file_buffer *buffer, int code, size_t *moved)
{
    struct weft_file_data data = {access->from, (void *)buffer->at, access->type, access->bytes};
    bool write = flags & WEFT_FILE_WRITE;
    *moved = 0;
    if (code == MPI_SUCCESS && !(flags & WEFT_FILE_AT))
        file->pointer = access->from + access->etypes;
    if (flags & WEFT_FILE_ALL)
        return weft_file_move_all(file, write, code, &data, moved);
    return code == MPI_SUCCESS ? weft_file_move(file, write, &data, 0, data.bytes, moved) : code;
}

static void set_status(MPI_Status *status, size_t bytes)
{
    weft_status_clear(status);
    if (status != MPI_STATUS_IGNORE)
        weft_status_set_bytes(status, bytes);
}

int weft_mpi_file_access(struct weft_file *file, unsigned flags, MPI_Offset offset,
                         const struct weft_file_buffer *buffer, MPI_Status *status)
{
    struct access access;
    size_t moved;
    int code = check_access(file, flags, offset, buffer, &access);
    code = move(file, flags, &access, buffer, code, &moved);
    set_status(status, moved);
    return code;
}

int weft_mpi_file_start(struct weft_file *file, unsigned flags, MPI_Offset offset,
                        const struct weft_file_buffer *buffer, struct weft_request **started)
{
    struct access access;
    int code = check_access(file, flags, offset, buffer, &access);
    if (code != MPI_SUCCESS)
        return code;
    struct weft_request *request = weft_request_get(file->comm->vci, WEFT_REQUEST_NONE, 0);
    if (!request)
        return MPI_ERR_NO_MEM;
    request->source = MPI_ANY_SOURCE;
    request->tag = MPI_ANY_TAG;
    request->channel = &file->comm->coll; /* its error handler is the file's */
    request->error = (uint8_t)move(file, flags, &access, buffer, MPI_SUCCESS, &request->bytes);
    *started = request;
    return MPI_SUCCESS;
}

int weft_mpi_file_begin(struct weft_file *file, unsigned flags, MPI_Offset offset,
                        const struct weft_file_buffer *buffer)
{
    struct access access;
    size_t moved;
    flags |= WEFT_FILE_ALL;
    int code = check_access(file, flags, offset, buffer, &access);
    code = move(file, flags, &access, buffer, code, &moved);
    if (code != MPI_SUCCESS)
        return code;
    file->split = flags;
    file->split_bytes = moved;
    return MPI_SUCCESS;
}

int weft_mpi_file_end(struct weft_file *file, unsigned flags, MPI_Status *status)
{
    if (file->split != (flags | WEFT_FILE_ALL))
        return weft_error_set(MPI_ERR_IO, "%.200s: no split access of this kind was begun",
                              file->name);
    file->split = 0;
    set_status(status, file->split_bytes);
    return MPI_SUCCESS;
}

/* ---- Queries */

/* The user frees the handles, except those of predefined types. */
static MPI_Datatype give_type(const struct weft_datatype *type)
{
    weft_datatype_retain(type);
    weft_handle_list_add(type->handle, WEFT_KIND_DATATYPE);
    return type->handle;
}

void weft_mpi_file_get_view(const struct weft_file *file, MPI_Offset *disp, MPI_Datatype *etype,
                            MPI_Datatype *filetype, char *representation)
{
    *disp = file->view.disp;
    *etype = give_type(file->view.etype);
    *filetype = give_type(file->view.filetype);
    strcpy(representation, file->view.representation);
}

int weft_mpi_file_check_pointer(const struct weft_file *file)
{
    return file->amode & MPI_MODE_SEQUENTIAL ? weft_file_sequential() : MPI_SUCCESS;
}
