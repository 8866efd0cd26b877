// SPDX-License-Identifier: BSD-3-Clause
/*
 * Windows: making, freeing, and asking them (MPI 5.0 sections 12.2, 7.7, 7.8 and 9.3).
 *
 * Invariant: before there is a window, errors go to the communicator's handler; from then on to the
 * window's.
 */
#include "core/mpi/api.h"
#include "core/mpi/enter.h"
#include "core/mpi/win_enter.h"
#include "core/object/error.h"
#include "core/process/weft.h"

#include <limits.h>
#include <string.h>

/* ---- Entering */

struct weft_win *weft_enter_win(const char *function, MPI_Win handle, int *code)
{
    *code = weft_enter(function);
    if (*code)
        return NULL;
    struct weft_win *win = weft_win_resolve(handle);
    if (weft_likely(win != NULL))
        return win;
    *code = handle == MPI_WIN_NULL
                ? weft_error(NULL, MPI_ERR_WIN, function, "the window is MPI_WIN_NULL")
                : weft_error(NULL, MPI_ERR_WIN, function, "%p is no window; was it freed?",
                             (void *)handle);
    weft_leave();
    return NULL;
}

int weft_leave_win(struct weft_win *win, int code, const char *function)
{
    if (weft_unlikely(code != MPI_SUCCESS))
        code = weft_errhandler_raise(win->errhandler, win->handle, code, function);
    weft_leave();
    return code;
}

int weft_win_check_rank(const struct weft_win *win, int rank)
{
    if (weft_likely(rank >= 0 && rank < win->comm->size))
        return MPI_SUCCESS;
    return weft_error_set(MPI_ERR_RANK, "rank %d is not in the window, which has ranks 0 to %d",
                          rank, win->comm->size - 1);
}

int weft_win_no_result(const char *what)
{
    return weft_error_set(MPI_ERR_ARG, "the pointer to the %s is null", what);
}

/* ---- Making */

static int check_arguments(const struct weft_win_arguments *arguments, MPI_Info info)
{
    if (arguments->bytes < 0)
        return weft_error_set(MPI_ERR_SIZE, "the size %lld is negative",
                              (long long)arguments->bytes);
    if (arguments->unit <= 0 || arguments->unit > INT_MAX)
        return weft_error_set(MPI_ERR_DISP, "the displacement unit %lld is not between 1 and %d",
                              (long long)arguments->unit, INT_MAX);
    if (arguments->flavor == MPI_WIN_FLAVOR_CREATE && !arguments->info && info != MPI_INFO_NULL)
        return weft_error_set(MPI_ERR_INFO, "%p is no info object; was it freed?", (void *)info);
    return MPI_SUCCESS;
}

/* base: where MPI_Win_allocate stores the address of the memory, else NULL. */
static int make(const char *function, struct weft_win_arguments arguments, MPI_Info info,
                MPI_Comm handle, void *base, bool wants_base, MPI_Win *out)
{
    int code;
    struct weft_win *win = NULL;
    struct weft_comm *comm = weft_enter_intra(function, handle, &code);
    if (!comm)
        return code;
    if (!out || (wants_base && !base)) {
        code = weft_call_no_result(comm, function, out ? "address of the memory" : "window");
        weft_leave();
        return code;
    }
    arguments.info = info == MPI_INFO_NULL ? NULL : weft_info_resolve(info);
    arguments.failed = check_arguments(&arguments, info);
    *out = MPI_WIN_NULL;
    code = weft_win_make(comm, &arguments, &win);
    if (win) {
        *out = win->handle;
        if (wants_base)
            memcpy(base, &win->base, sizeof win->base);
    }
    return weft_leave_with(comm, code, function);
}

WEFT_EXPORT(Win_create_c);
int PMPI_Win_create_c(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                      MPI_Win *win)
{
    struct weft_win_arguments arguments = {
        .flavor = MPI_WIN_FLAVOR_CREATE, .base = base, .bytes = size, .unit = disp_unit};
    return make("MPI_Win_create", arguments, info, comm, NULL, false, win);
}

WEFT_EXPORT(Win_allocate_c);
int PMPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                        void *baseptr, MPI_Win *win)
{
    struct weft_win_arguments arguments = {
        .flavor = MPI_WIN_FLAVOR_ALLOCATE, .bytes = size, .unit = disp_unit};
    return make("MPI_Win_allocate", arguments, info, comm, baseptr, true, win);
}

WEFT_EXPORT(Win_allocate_shared_c);
int PMPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                               void *baseptr, MPI_Win *win)
{
    struct weft_win_arguments arguments = {
        .flavor = MPI_WIN_FLAVOR_SHARED, .bytes = size, .unit = disp_unit};
    return make("MPI_Win_allocate_shared", arguments, info, comm, baseptr, true, win);
}

WEFT_EXPORT(Win_create_dynamic);
int PMPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    struct weft_win_arguments arguments = {.flavor = MPI_WIN_FLAVOR_DYNAMIC, .unit = 1};
    return make("MPI_Win_create_dynamic", arguments, info, comm, NULL, false, win);
}

WEFT_EXPORT(Win_free);
int PMPI_Win_free(MPI_Win *handle)
{
    const char *function = "MPI_Win_free";
    int code;
    struct weft_win *win = weft_enter_win(function, handle ? *handle : MPI_WIN_NULL, &code);
    if (!win)
        return code;
    if (win->access != WEFT_WIN_NO_ACCESS || win->posted || win->fence_used)
        code = weft_error_set(MPI_ERR_RMA_SYNC, "an epoch of the window is open");
    else
        code = weft_attribute_delete_all(weft_win_attributed(win));
    if (code != MPI_SUCCESS)
        return weft_leave_win(win, code, function);
    code = weft_win_free(win);
    *handle = MPI_WIN_NULL;
    return weft_leave_with(NULL, code, function);
}

/* ---- Memory */

WEFT_EXPORT(Win_attach);
int PMPI_Win_attach(MPI_Win handle, void *base, MPI_Aint size)
{
    const char *function = "MPI_Win_attach";
    int code;
    struct weft_win *win = weft_enter_win(function, handle, &code);
    if (!win)
        return code;
    if (win->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        code = weft_error_set(MPI_ERR_RMA_FLAVOR, "the window is not dynamic");
    else if (size < 0)
        code = weft_error_set(MPI_ERR_SIZE, "the size %lld is negative", (long long)size);
    else
        code = size ? weft_win_attach(win, base, size) : MPI_SUCCESS;
    return weft_leave_win(win, code, function);
}

WEFT_EXPORT(Win_detach);
int PMPI_Win_detach(MPI_Win handle, const void *base)
{
    const char *function = "MPI_Win_detach";
    int code;
    struct weft_win *win = weft_enter_win(function, handle, &code);
    if (!win)
        return code;
    code = win->flavor == MPI_WIN_FLAVOR_DYNAMIC
               ? weft_win_detach(win, base)
               : weft_error_set(MPI_ERR_RMA_FLAVOR, "the window is not dynamic");
    return weft_leave_win(win, code, function);
}

/* Memory that is not in this process, or has no bytes, has size 0 and a null pointer. */
static int shared_query(MPI_Win handle, int rank, MPI_Aint *size, MPI_Aint *unit, void *baseptr)
{
    const char *function = "MPI_Win_shared_query";
    int code;
    struct weft_win *win = weft_enter_win(function, handle, &code);
    if (!win)
        return code;
    if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        code = weft_error_set(MPI_ERR_RMA_FLAVOR, "a dynamic window has no memory of its own");
    else if (rank != MPI_PROC_NULL)
        code = weft_win_check_rank(win, rank);
    if (code == MPI_SUCCESS && (!size || !unit || !baseptr))
        code = weft_win_no_result("size, displacement unit or address");
    if (code == MPI_SUCCESS) {
        if (rank == MPI_PROC_NULL)
            rank = weft_win_shared_rank(win);
        struct weft_win_target *at = rank < 0 ? NULL : &win->targets[rank];
        char *base = at && at->bytes ? at->base : NULL;
        *size = base ? at->bytes : 0;
        *unit = at ? at->unit : 0;
        memcpy(baseptr, &base, sizeof base);
    }
    return weft_leave_win(win, code, function);
}

WEFT_EXPORT(Win_shared_query_c);
int PMPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit,
                            void *baseptr)
{
    return shared_query(win, rank, size, disp_unit, baseptr);
}

WEFT_EXPORT(Win_shared_query);
int PMPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr)
{
    MPI_Aint unit = 0;
    int code = shared_query(win, rank, size, disp_unit ? &unit : NULL, baseptr);
    if (code == MPI_SUCCESS && disp_unit)
        *disp_unit = (int)unit;
    return code;
}

/* ---- Group, info, name */

WEFT_EXPORT(Win_get_group);
int PMPI_Win_get_group(MPI_Win handle, MPI_Group *group)
{
    const char *function = "MPI_Win_get_group";
    int code;
    struct weft_win *win = weft_enter_win(function, handle, &code);
    if (!win)
        return code;
    if (group)
        *group = weft_group_handle(weft_group_keep(win->comm->group));
    else
        code = weft_win_no_result("group");
    return weft_leave_win(win, code, function);
}

WEFT_EXPORT(Win_set_info);
int PMPI_Win_set_info(MPI_Win handle, MPI_Info info)
{
    const char *function = "MPI_Win_set_info";
    int code;
    struct weft_win *win = weft_enter_win(function, handle, &code);
    if (!win)
        return code;
    const struct weft_info *hints = weft_info_resolve(info);
    code = hints ? weft_win_take_hints(win, hints)
                 : weft_error_set(MPI_ERR_INFO, "%p is no info object", (void *)info);
    return weft_leave_win(win, code, function);
}

WEFT_EXPORT(Win_get_info);
int PMPI_Win_get_info(MPI_Win handle, MPI_Info *info)
{
    const char *function = "MPI_Win_get_info";
    int code;
    struct weft_win *win = weft_enter_win(function, handle, &code);
    if (!win)
        return code;
    struct weft_info *copy = info ? weft_info_dup(win->info) : NULL;
    if (copy)
        *info = (MPI_Info)copy;
    else
        code = info ? MPI_ERR_NO_MEM : weft_win_no_result("info object");
    return weft_leave_win(win, code, function);
}

WEFT_EXPORT(Win_set_name);
int PMPI_Win_set_name(MPI_Win handle, const char *name)
{
    const char *function = "MPI_Win_set_name";
    int code;
    struct weft_win *win = weft_enter_win(function, handle, &code);
    if (!win)
        return code;
    if (name) {
        size_t length = strnlen(name, sizeof win->name - 1);
        memcpy(win->name, name, length);
        win->name[length] = '\0';
    } else {
        code = weft_error_set(MPI_ERR_ARG, "the name is a null pointer");
    }
    return weft_leave_win(win, code, function);
}

/* MPI_WIN_NULL has a name, too. */
WEFT_EXPORT(Win_get_name);
int PMPI_Win_get_name(MPI_Win handle, char *name, int *resultlen)
{
    const char *function = "MPI_Win_get_name";
    struct weft_win *win = NULL;
    int code = MPI_SUCCESS;
    if (handle == MPI_WIN_NULL)
        code = weft_enter(function);
    else
        win = weft_enter_win(function, handle, &code);
    if (code != MPI_SUCCESS)
        return code;
    const char *text = win ? win->name : "MPI_WIN_NULL";
    if (name && resultlen) {
        *resultlen = (int)strlen(text);
        memcpy(name, text, strlen(text) + 1);
    } else {
        code = weft_call_no_result(NULL, function, name ? "length" : "name");
    }
    weft_leave();
    return code;
}

/* ---- Attributes */

/* Where the value of a predefined attribute is; false when the key is none. */
static bool predefined(struct weft_win *win, int key, void **value)
{
    switch (key) {
    case MPI_WIN_BASE:
        *value = win->base;
        return true;
    case MPI_WIN_SIZE:
        *value = &win->bytes;
        return true;
    case MPI_WIN_DISP_UNIT:
        *value = &win->disp_unit;
        return true;
    case MPI_WIN_CREATE_FLAVOR:
        *value = &win->flavor;
        return true;
    case MPI_WIN_MODEL:
        *value = &win->model;
        return true;
    default:
        return false;
    }
}

static struct weft_keyval *find_key(int key, int *code)
{
    struct weft_keyval *keyval = weft_keyval_find(WEFT_KIND_WIN, key);
    if (!keyval)
        *code = weft_error_set(MPI_ERR_KEYVAL, "%d is no attribute key of windows%s", key,
                               key >= MPI_WIN_BASE && key <= MPI_WIN_MODEL
                                   ? " that can be set or deleted"
                                   : "; was it freed?");
    return keyval;
}

WEFT_EXPORT(Win_set_attr);
int PMPI_Win_set_attr(MPI_Win handle, int key, void *value)
{
    const char *function = "MPI_Win_set_attr";
    int code;
    struct weft_win *win = weft_enter_win(function, handle, &code);
    if (!win)
        return code;
    struct weft_keyval *keyval = find_key(key, &code);
    if (keyval)
        code = weft_attribute_set(weft_win_attributed(win), keyval, value);
    return weft_leave_win(win, code, function);
}

WEFT_EXPORT(Win_get_attr);
int PMPI_Win_get_attr(MPI_Win handle, int key, void *value, int *flag)
{
    const char *function = "MPI_Win_get_attr";
    int code;
    struct weft_win *win = weft_enter_win(function, handle, &code);
    if (!win)
        return code;
    struct weft_keyval *keyval = NULL;
    if (!value || !flag)
        code = weft_win_no_result(value ? "flag" : "attribute");
    else if (predefined(win, key, value))
        *flag = 1;
    else if ((keyval = find_key(key, &code)))
        *flag = weft_attribute_get(weft_win_attributed(win), keyval, value);
    return weft_leave_win(win, code, function);
}

WEFT_EXPORT(Win_delete_attr);
int PMPI_Win_delete_attr(MPI_Win handle, int key)
{
    const char *function = "MPI_Win_delete_attr";
    int code;
    struct weft_win *win = weft_enter_win(function, handle, &code);
    if (!win)
        return code;
    struct weft_keyval *keyval = find_key(key, &code);
    if (keyval)
        code = weft_attribute_delete_one(weft_win_attributed(win), keyval);
    return weft_leave_win(win, code, function);
}

/* ---- Error handlers */

WEFT_EXPORT(Win_set_errhandler);
int PMPI_Win_set_errhandler(MPI_Win handle, MPI_Errhandler wanted)
{
    const char *function = "MPI_Win_set_errhandler";
    int code;
    struct weft_win *win = weft_enter_win(function, handle, &code);
    if (!win)
        return code;
    struct weft_errhandler *handler = weft_handle_resolve(wanted, WEFT_KIND_ERRHANDLER);
    if (!handler || !weft_errhandler_fits(handler, WEFT_KIND_WIN)) {
        code = weft_error_set(MPI_ERR_ERRHANDLER,
                              "%p is no error handler for windows; MPI_Win_create_errhandler "
                              "makes one",
                              (void *)wanted);
    } else {
        handler->refs++;
        weft_errhandler_release(win->errhandler);
        win->errhandler = handler;
    }
    return weft_leave_win(win, code, function);
}

WEFT_EXPORT(Win_get_errhandler);
int PMPI_Win_get_errhandler(MPI_Win handle, MPI_Errhandler *handler)
{
    const char *function = "MPI_Win_get_errhandler";
    int code;
    struct weft_win *win = weft_enter_win(function, handle, &code);
    if (!win)
        return code;
    if (handler) {
        win->errhandler->refs++; /* the user frees it */
        *handler = win->errhandler->handle;
    } else {
        code = weft_win_no_result("error handler");
    }
    return weft_leave_win(win, code, function);
}

WEFT_EXPORT(Win_call_errhandler);
int PMPI_Win_call_errhandler(MPI_Win handle, int errorcode)
{
    const char *function = "MPI_Win_call_errhandler";
    int code;
    struct weft_win *win = weft_enter_win(function, handle, &code);
    if (!win)
        return code;
    weft_errhandler_raise(win->errhandler, win->handle, errorcode, function);
    weft_leave();
    return MPI_SUCCESS;
}
