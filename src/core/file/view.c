// SPDX-License-Identifier: BSD-3-Clause
/*
 * Views and the individual file pointer (MPI 5.0, sections 14.3 and 14.4.3).
 *
 * Invariant: every offset of a view that an access uses fits into an MPI_Offset, which
 * weft_file_byte_offset checks for the end of the access.
 */
#include "core/base/assert.h"
#include "core/base/hash.h"
#include "core/coll/coll.h"
#include "core/datatype/iov.h"
#include "core/datatype/position.h"
#include "core/file/file.h"
#include "core/base/error.h"

#include <string.h>

void weft_file_free_view(const struct weft_file_view *view)
{
    const struct weft_datatype *types[] = {view->etype, view->filetype, view->given_etype,
                                           view->given_filetype};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i])
            weft_datatype_release(types[i]);
}

void weft_file_default_view(struct weft_file *file)
{
    const struct weft_datatype *byte = weft_datatype_byte();
    file->view = (struct weft_file_view){.etype = byte,
                                         .filetype = byte,
                                         .given_etype = byte,
                                         .given_filetype = byte,
                                         .form = weft_file_find_form("native"),
                                         .contiguous = true,
                                         .ascends = true,
                                         .first_ascends = true,
                                         .repeat = byte->extent};
}

/* ---- Checks of a new view */

/* With a reference. */
static int check_type(MPI_Datatype handle, const char *what, const struct weft_datatype **type)
{
    *type = weft_handle_resolve(handle, WEFT_KIND_DATATYPE);
    if (*type && (*type)->flags & WEFT_TYPE_COMMITTED) {
        weft_datatype_retain(*type);
        return MPI_SUCCESS;
    }
    *type = NULL;
    return weft_error_set(MPI_ERR_TYPE,
                          "the %s, %p, is not a committed datatype; call MPI_Type_commit", what,
                          (void *)handle);
}

static int check_displacement(const struct weft_file *file, MPI_Offset disp)
{
    bool sequential = file->amode & MPI_MODE_SEQUENTIAL, current = disp == MPI_DISPLACEMENT_CURRENT;
    if (sequential != current)
        return weft_error_set(MPI_ERR_ARG,
                              "the displacement of a file must be MPI_DISPLACEMENT_CURRENT if the "
                              "file was opened with MPI_MODE_SEQUENTIAL, and only then");
    if (current)
        return MPI_SUCCESS;
    if (disp < 0)
        return weft_error_set(MPI_ERR_ARG, "the displacement %lld is negative", (long long)disp);
    return MPI_SUCCESS;
}

static int check_order(const struct weft_file *file, const struct weft_datatype *filetype,
                       enum weft_order order)
{
    bool writable = !(file->amode & MPI_MODE_RDONLY);
    if (order == WEFT_ORDER_NONE || filetype->extent < 0)
        return weft_error_set(MPI_ERR_IO, "the displacements of the filetype are negative, or one "
                                          "is less than the one before it");
    if (order == WEFT_ORDER_TOUCHES && writable)
        return weft_error_set(MPI_ERR_IO, "the filetype has overlapping data, which is allowed "
                                          "only in files that were opened with MPI_MODE_RDONLY");
    return MPI_SUCCESS;
}

static int check_types(const struct weft_file *file, struct weft_file_view *view)
{
    const MPI_Aint far = PTRDIFF_MAX / 4; /* behind any offset in a filetype */
    const struct weft_datatype *etype = view->etype, *filetype = view->filetype;
    const struct weft_layout *layout = filetype->layout;
    if (etype->size ? filetype->size % etype->size : filetype->size)
        return weft_error_set(MPI_ERR_IO,
                              "the filetype has %zu bytes, which are not a multiple of the %zu "
                              "bytes of the etype",
                              filetype->size, etype->size);
    enum weft_order first = layout ? weft_layout_order(layout, far) : WEFT_ORDER_ASCENDS;
    view->first_ascends = first == WEFT_ORDER_ASCENDS;
    view->ascends = !layout || weft_layout_order(layout, filetype->extent) == WEFT_ORDER_ASCENDS;
    view->repeat = view->ascends ? filetype->extent : far;
    return check_order(file, filetype, first);
}

static int check_form(const char *name, const struct weft_file_form **form)
{
    *form = name ? weft_file_find_form(name) : NULL;
    return *form ? MPI_SUCCESS
                 : weft_error_set(MPI_ERR_UNSUPPORTED_DATAREP,
                                  "there is no data representation \"%.100s\"; use \"native\"",
                                  name ? name : "(null)");
}

/* A number that differs for other names. */
static int64_t number_of(const struct weft_file_form *form)
{
    return (int64_t)weft_hash_text(form ? form->name : "");
}

/* Makes the types of a view from those that were given. */
static int make_types(const struct weft_file *file, struct weft_file_view *view)
{
    struct weft_datatype *etype = NULL, *filetype = NULL;
    int code = weft_file_scale(view->form, view->given_etype, &etype);
    view->etype = etype;
    if (code == MPI_SUCCESS)
        code = weft_file_scale(view->form, view->given_filetype, &filetype);
    view->filetype = filetype;
    return code == MPI_SUCCESS ? check_types(file, view) : code;
}

/* The shared pointer becomes 0. MPI_DISPLACEMENT_CURRENT becomes the offset that it had. All ranks
 * have stopped using it, and wait for each other before they use it again. */
static int take_pointer(struct weft_file *file, MPI_Offset *disp)
{
    MPI_Offset pointer;
    int code = MPI_SUCCESS;
    bool current = *disp == MPI_DISPLACEMENT_CURRENT;
    if (file->comm->rank == 0 && current) {
        code = weft_file_add_shared(file, 0, &pointer);
        if (code == MPI_SUCCESS)
            code = weft_file_byte_offset(file, pointer, disp);
    }
    if (current)
        code = weft_file_agree(file, code);
    if (current && code == MPI_SUCCESS && file->comm->size > 1)
        code = weft_coll_bcast(file->comm, weft_elements_of_bytes(disp, sizeof *disp), 0);
    if (code == MPI_SUCCESS)
        weft_file_store_shared(file, 0);
    return code;
}

static bool has_holes(const struct weft_datatype *filetype)
{
    return filetype->layout && !(filetype->flags & WEFT_TYPE_CONTIGUOUS);
}

int weft_file_set_view(struct weft_file *file, const struct weft_file_view_arguments *arguments,
                       int code)
{
    struct weft_file_view view = {.disp = arguments->disp};
    weft_file_finish_joint(file); /* by the view until now */
    if (code == MPI_SUCCESS)
        code = check_displacement(file, arguments->disp);
    if (code == MPI_SUCCESS)
        code = weft_file_no_split(file);
    if (code == MPI_SUCCESS)
        code = check_form(arguments->representation, &view.form);
    if (code == MPI_SUCCESS)
        code = check_type(arguments->etype, "etype", &view.given_etype);
    if (code == MPI_SUCCESS)
        code = check_type(arguments->filetype, "filetype", &view.given_filetype);
    if (code == MPI_SUCCESS)
        code = make_types(file, &view);
    if (code == MPI_SUCCESS && file->is_pipe && has_holes(view.filetype))
        code = weft_error_set(MPI_ERR_UNSUPPORTED_OPERATION,
                              "%.200s is a pipe or the like, and cannot have a view with holes",
                              file->name);
    const struct weft_datatype *type = code == MPI_SUCCESS ? view.filetype : NULL;
    int64_t same[] = {type ? view.etype->extent : 0, number_of(view.form)};
    int strided = type && has_holes(type), any = 0;
    struct weft_elements mine = {&strided, 1, weft_handle_object(MPI_INT)};
    code = weft_file_compare(file, code, same, 2,
                             "the extent of the etype or the data "
                             "representation");
    if (code == MPI_SUCCESS)
        code = take_pointer(file, &view.disp);
    if (code == MPI_SUCCESS)
        code = weft_coll_allreduce(file->comm, mine, &any, weft_handle_object(MPI_MAX));
    if (code != MPI_SUCCESS) {
        weft_file_free_view(&view);
        return code;
    }
    weft_file_finish_joint(file); /* that another thread has started since */
    weft_file_free_view(&file->view);
    weft_assert(!file->moving && (any || !strided));
    view.contiguous = !strided;
    file->view = view;
    file->strided = any;
    file->guarded = any && file->on_node;
    file->pointer = 0;
    code = weft_file_take_hints(file, arguments->info);
    if (weft_file_may_join(file, true)) /* of the least size, for nonblocking accesses */
        weft_file_make_domains(file, 0);
    return code;
}

/* ---- Offsets and the pointer */

int weft_file_sequential(void)
{
    return weft_error_set(MPI_ERR_UNSUPPORTED_OPERATION,
                          "the file was opened with MPI_MODE_SEQUENTIAL, which allows access with "
                          "the shared file pointer only");
}

int weft_file_byte_offset(const struct weft_file *file, MPI_Offset etypes, MPI_Offset *offset)
{
    const struct weft_file_view *view = &file->view;
    size_t size = view->filetype->size;
    if (etypes < 0)
        return weft_error_set(MPI_ERR_ARG, "the offset of %lld etypes is negative",
                              (long long)etypes);
    __extension__ __int128 position = (__int128)etypes * (__int128)view->etype->size;
    __extension__ __int128 end = position + view->disp;
    if (position <= INT64_MAX && size && !view->contiguous)
        end = ((__int128)((int64_t)position / (int64_t)size) + 1) * view->filetype->extent +
              view->disp;
    if (position > INT64_MAX || end > INT64_MAX / 2)
        return weft_error_set(MPI_ERR_ARG, "the offset of %lld etypes is too large for a file",
                              (long long)etypes);
    if (view->contiguous && size) {
        *offset = (MPI_Offset)end;
        return MPI_SUCCESS;
    }
    struct weft_run run = {view->disp, 0};
    if (view->filetype->layout)
        weft_layout_list_runs(view->filetype->layout, view->filetype->extent, view->disp,
                              (size_t)position, (size_t)position + 1, &run, 1);
    *offset = run.at;
    return MPI_SUCCESS;
}

/* The first etype at or behind the end of the file. */
static int end_of_file(const struct weft_file *file, MPI_Offset *etypes)
{
    const struct weft_file_view *view = &file->view;
    MPI_Offset size;
    int code = weft_file_size(file, &size);
    *etypes = 0;
    if (code != MPI_SUCCESS || !view->filetype->layout || size <= view->disp)
        return code;
    if (!view->ascends)
        return weft_error_set(MPI_ERR_UNSUPPORTED_OPERATION,
                              "a view with overlapping data has no position at the end of file");
    size_t position = weft_layout_position(view->filetype->layout, view->repeat, size - view->disp);
    *etypes = (MPI_Offset)((position + view->etype->size - 1) / view->etype->size);
    return MPI_SUCCESS;
}

int weft_file_seek_from(const struct weft_file *file, MPI_Offset pointer, MPI_Offset offset,
                        int whence, MPI_Offset *to)
{
    MPI_Offset from = 0, unused;
    int code = MPI_SUCCESS;
    if (whence == MPI_SEEK_CUR)
        from = pointer;
    else if (whence == MPI_SEEK_END)
        code = end_of_file(file, &from);
    else if (whence != MPI_SEEK_SET)
        code = weft_error_set(MPI_ERR_ARG, "%d is not MPI_SEEK_SET, _CUR or _END", whence);
    if (code == MPI_SUCCESS && __builtin_add_overflow(from, offset, to))
        code = weft_error_set(MPI_ERR_ARG, "the offset %lld is too large", (long long)offset);
    return code == MPI_SUCCESS ? weft_file_byte_offset(file, *to, &unused) : code;
}

int weft_file_seek(struct weft_file *file, MPI_Offset offset, int whence)
{
    MPI_Offset to;
    if (file->amode & MPI_MODE_SEQUENTIAL)
        return weft_file_sequential();
    int code = weft_file_seek_from(file, file->pointer, offset, whence, &to);
    if (code == MPI_SUCCESS)
        file->pointer = to;
    return code;
}
