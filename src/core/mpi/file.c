// SPDX-License-Identifier: BSD-3-Clause
/*
 * Files (MPI 5.0 chapter 14): what their entry points do beside abi/entry_points.txt.
 *
 * Invariants:
 *  - Errors without a file go to the error handler of MPI_FILE_NULL, which a new file inherits.
 *  - The arguments of a collective access are checked before its agreement, so that a rank with
 *    wrong arguments participates.
 */
#include "core/mpi/entry.h"
#include "core/base/assert.h"
#include "core/datatype/device.h"

static const char extent_function[] = "the extent function of a data representation",
                  conversion_function[] = "the conversion function of a data representation";

/* The handler of MPI_FILE_NULL. */
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
    return weft_arg_bad_handle(WEFT_KIND_FILE, handle, -1);
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
    /* the lock is that of a window; types are made */
    if (file && (file->atomic || file->strided || weft_file_converts(file->view.form)))
        return weft_enter(function);
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

int weft_mpi_file_open(struct weft_comm *comm, const char *name, int amode,
                       const struct weft_info *info, struct weft_file **made)
{
    return weft_file_open(comm, name, amode, info, default_handler, made);
}

int weft_mpi_file_set_view(struct weft_file *file, MPI_Offset disp, MPI_Datatype etype,
                           MPI_Datatype filetype, const char *representation, MPI_Info info)
{
    struct weft_file_view_arguments view = {disp, etype, filetype, representation, NULL};
    struct weft_callback callback;
    int code = weft_callback_check(file, MPI_ERR_FILE, "the view cannot be set");
    if (code == MPI_SUCCESS)
        code = weft_arg_info_or_null(info, &view.info);
    weft_callback_begin(&callback, file, extent_function);
    code = weft_file_set_view(file, &view, code);
    weft_callback_end(&callback);
    return code;
}

/* ---- Access */

static int check_mode(const struct weft_file *file, unsigned flags)
{
    if (file->amode & MPI_MODE_SEQUENTIAL && !(flags & WEFT_FILE_SHARED))
        return weft_file_sequential();
    if (flags & WEFT_FILE_WRITE && file->amode & MPI_MODE_RDONLY)
        return weft_error_set(MPI_ERR_READ_ONLY, "%.200s was opened with MPI_MODE_RDONLY",
                              file->name);
    if (!(flags & WEFT_FILE_WRITE) && file->amode & MPI_MODE_WRONLY)
        return weft_error_set(MPI_ERR_ACCESS, "%.200s was opened with MPI_MODE_WRONLY", file->name);
    return MPI_SUCCESS;
}

static int check_access(const struct weft_file *file, unsigned flags,
                        const struct weft_file_buffer *buffer, struct weft_file_data *data)
{
    struct weft_datatype *type = NULL;
    size_t etype = file->view.given_etype->size;
    int code = weft_arg_count(buffer->count);
    if (code == MPI_SUCCESS)
        code = weft_arg_committed(buffer->type, &type);
    if (code == MPI_SUCCESS)
        code = weft_arg_bytes(buffer->count, type, &data->bytes);
    if (code == MPI_SUCCESS)
        code = weft_arg_buffer(buffer->at, data->bytes, type, "data");
    if (code == MPI_SUCCESS)
        code = check_mode(file, flags);
    if (code == MPI_SUCCESS && flags & WEFT_FILE_ALL)
        code = weft_file_no_split(file);
    if (code == MPI_SUCCESS && (etype ? data->bytes % etype : data->bytes))
        code = weft_error_set(MPI_ERR_IO,
                              "%zu bytes are not a multiple of the %zu bytes of the "
                              "etype of the view",
                              data->bytes, etype);
    if (code == MPI_SUCCESS && flags & WEFT_FILE_WRITE && data->bytes && !file->view.filetype->size)
        code = weft_error_set(
            MPI_ERR_IO, "the filetype of the view has no bytes, so %zu bytes cannot be written",
            data->bytes);
    data->type = code == MPI_SUCCESS && data->bytes
                     ? weft_datatype_in(type, buffer->at, &file->host_only)
                     : type;
    return code;
}

static int check_range(const struct weft_file *file, MPI_Offset from, MPI_Offset etypes)
{
    MPI_Offset end, unused;
    int code = weft_file_byte_offset(file, from, &unused);
    if (code == MPI_SUCCESS && __builtin_add_overflow(from, etypes, &end))
        code = weft_error_set(MPI_ERR_ARG, "the offset %lld is too large", (long long)from);
    return code == MPI_SUCCESS ? weft_file_byte_offset(file, end, &unused) : code;
}

/* The type is kept until convert_back, because the function may free it. */
static int convert(struct weft_file *file, bool write, struct weft_file_data *data,
                   struct weft_file_data *user)
{
    const struct weft_datatype *type = data->type;
    struct weft_callback callback;
    user->type = NULL;
    if (!weft_file_converts(file->view.form))
        return MPI_SUCCESS;
    weft_callback_begin(&callback, file, conversion_function);
    weft_datatype_retain(type);
    int code = weft_file_convert(file, write, data, user);
    if (!user->type)
        weft_datatype_release(type);
    weft_callback_end(&callback);
    return code;
}

static int convert_back(struct weft_file *file, bool write, struct weft_file_data *data,
                        const struct weft_file_data *user, size_t *moved)
{
    struct weft_callback callback;
    if (!user->type)
        return MPI_SUCCESS;
    weft_callback_begin(&callback, file, conversion_function);
    int code = weft_file_convert_back(file, write, data, user, moved);
    weft_callback_end(&callback);
    weft_datatype_release(user->type);
    return code;
}

/* Checks an access, moves the pointer that it uses, and converts its data (`user` has those of the
 * user). */
static int prepare(struct weft_file *file, unsigned flags, MPI_Offset offset,
                   const struct weft_file_buffer *buffer, struct weft_file_data *data,
                   struct weft_file_data *user)
{
    *data = (struct weft_file_data){.offset = flags & WEFT_FILE_AT ? offset : file->pointer,
                                    .buffer = (void *)buffer->at};
    int code = check_access(file, flags, buffer, data);
    MPI_Offset etypes = code == MPI_SUCCESS && data->bytes
                            ? (MPI_Offset)(data->bytes / file->view.given_etype->size)
                            : 0;
    if (flags & WEFT_FILE_SHARED && flags & WEFT_FILE_ALL)
        code = weft_file_add_ordered(file, code, etypes, data);
    else if (flags & WEFT_FILE_SHARED && code == MPI_SUCCESS)
        code = weft_file_add_shared(file, etypes, &data->offset);
    if (code == MPI_SUCCESS)
        code = check_range(file, data->offset, data->bytes ? etypes : 0);
    if (code == MPI_SUCCESS && !(flags & (WEFT_FILE_AT | WEFT_FILE_SHARED)))
        file->pointer = data->offset + etypes;
    user->type = NULL;
    return code == MPI_SUCCESS ? convert(file, flags & WEFT_FILE_WRITE, data, user) : code;
}

/* Moves the data. *moved is set also on error. */
static int move(struct weft_file *file, unsigned flags, MPI_Offset offset,
                const struct weft_file_buffer *buffer, size_t *moved)
{
    struct weft_file_data data, user;
    bool write = flags & WEFT_FILE_WRITE;
    int code = prepare(file, flags, offset, buffer, &data, &user);
    *moved = 0;
    if (flags & WEFT_FILE_ALL)
        code = weft_file_move_all(file, write, code, &data, moved);
    else if (code == MPI_SUCCESS)
        code = weft_file_move(file, write, &data, moved);
    int converted = convert_back(file, write, &data, &user, moved);
    return code == MPI_SUCCESS ? converted : code;
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
    size_t moved;
    int code = move(file, flags, offset, buffer, &moved);
    set_status(status, moved);
    return code;
}

/* *refused: this rank participates in a collective access with the error of its arguments. */
static int start(struct weft_file *file, unsigned flags, MPI_Offset offset,
                 const struct weft_file_buffer *buffer, struct weft_request **started,
                 bool *refused)
{
    struct weft_file_data data, user;
    bool write = flags & WEFT_FILE_WRITE;
    int code = prepare(file, flags, offset, buffer, &data, &user);
    *refused = code != MPI_SUCCESS;
    bool in_call = user.type != NULL; /* the converted data are freed in the call */
    size_t bytes = 0;
    if (flags & WEFT_FILE_ALL)
        code = weft_file_start_all(file, write, code, &data, in_call, started);
    else if (code == MPI_SUCCESS)
        code = weft_file_start(file, write, &data, in_call, started);
    bool is_started = code == MPI_SUCCESS;
    int converted =
        convert_back(file, write, &data, &user, is_started ? &(*started)->bytes : &bytes);
    if (is_started && converted != MPI_SUCCESS)
        weft_file_fail_converted(*started, converted);
    return code;
}

int weft_mpi_file_start(struct weft_file *file, unsigned flags, MPI_Offset offset,
                        const struct weft_file_buffer *buffer, struct weft_request **started)
{
    bool refused;
    return start(file, flags, offset, buffer, started, &refused);
}

/* Converted data are moved in the call, at all ranks. A rank whose arguments are wrong, or where
 * another split access is pending, participates like the others, with its error, and waits for
 * them: nothing new is pending there. */
int weft_mpi_file_begin(struct weft_file *file, unsigned flags, MPI_Offset offset,
                        const struct weft_file_buffer *buffer)
{
    struct weft_request *request;
    size_t moved;
    bool refused;
    int code;
    flags |= WEFT_FILE_ALL;
    if (weft_file_converts(file->view.form)) {
        code = move(file, flags, offset, buffer, &moved);
        if (code == MPI_SUCCESS)
            file->split_bytes = moved;
    } else {
        code = start(file, flags, offset, buffer, &request, &refused);
        if (code == MPI_SUCCESS && refused) {
            code = weft_request_end(request, &moved);
            weft_assert(code != MPI_SUCCESS);
        } else if (code == MPI_SUCCESS) {
            file->split_request = request;
        }
    }
    if (code == MPI_SUCCESS)
        file->split = flags;
    return code;
}

int weft_mpi_file_end(struct weft_file *file, unsigned flags, MPI_Status *status)
{
    struct weft_request *request = file->split_request;
    int code = MPI_SUCCESS;
    if (file->split != (flags | WEFT_FILE_ALL))
        return weft_error_set(MPI_ERR_IO, "%.200s: no split access of this kind was begun",
                              file->name);
    if (request) {
        code = weft_request_end(request, &file->split_bytes);
        file->split_request = NULL;
    }
    file->split = 0;
    set_status(status, file->split_bytes);
    return code;
}

/* ---- Queries */

int weft_mpi_file_get_view(const struct weft_file *file, MPI_Offset *disp, MPI_Datatype *etype,
                           MPI_Datatype *filetype, char *representation)
{
    int code = weft_mpi_type_return(file->view.given_etype, etype);
    if (code != MPI_SUCCESS)
        return code;
    code = weft_mpi_type_return(file->view.given_filetype, filetype);
    if (code != MPI_SUCCESS) {
        weft_mpi_type_take_back(*etype);
        return code;
    }
    *disp = file->view.disp;
    strcpy(representation, file->view.form->name);
    return MPI_SUCCESS;
}

int weft_mpi_file_type_extent(const struct weft_file *file, const struct weft_datatype *type,
                              MPI_Aint *extent)
{
    struct weft_datatype *scaled;
    struct weft_callback callback;
    weft_callback_begin(&callback, file, extent_function);
    int code = weft_file_scale(file->view.form, type, &scaled);
    weft_callback_end(&callback);
    if (code != MPI_SUCCESS)
        return code;
    *extent = scaled->extent;
    weft_datatype_release(scaled);
    return MPI_SUCCESS;
}

int weft_mpi_file_check_pointer(const struct weft_file *file)
{
    return file->amode & MPI_MODE_SEQUENTIAL ? weft_file_sequential() : MPI_SUCCESS;
}
