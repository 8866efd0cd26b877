// SPDX-License-Identifier: BSD-3-Clause
/*
 * Windows (MPI 5.0 chapter 12): what their entry points do beside abi/entry_points.txt.
 *
 * Invariant: before a window exists, errors go to the communicator's error handler; from then on to
 * the window's.
 */
#include "core/mpi/rma_call.h"
#include "core/process/weft.h"

#include <limits.h>

/* ---- Arguments */

int weft_arg_win_or_null(MPI_Win handle, struct weft_win **win)
{
    *win = NULL;
    return handle == MPI_WIN_NULL ? MPI_SUCCESS : weft_arg_win(handle, win);
}

int weft_arg_bad_win_rank(const struct weft_win *win, int rank)
{
    return weft_error_set(MPI_ERR_RANK, "rank %d is not in the window, which has ranks 0 to %d",
                          rank, win->comm->size - 1);
}

int weft_mpi_check_lock_type(int lock_type)
{
    if (lock_type == MPI_LOCK_EXCLUSIVE || lock_type == MPI_LOCK_SHARED)
        return MPI_SUCCESS;
    return weft_error_set(MPI_ERR_LOCKTYPE,
                          "the type of lock %d is neither MPI_LOCK_SHARED nor MPI_LOCK_EXCLUSIVE",
                          lock_type);
}

int weft_mpi_check_shared(struct weft_win *win, int rank)
{
    if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return weft_error_set(MPI_ERR_RMA_FLAVOR, "a dynamic window has no memory of its own");
    return weft_arg_win_rank(win, rank);
}

int weft_enter_win_general(const char *function, MPI_Win handle)
{
    const struct weft_win *win =
        weft_entry_flags & WEFT_ENTRY_CLOSED ? NULL : weft_handle_resolve(handle, WEFT_KIND_WIN);
    return weft_enter_on(function, win ? win->comm->vci : &weft.vcis[0]);
}

int weft_leave_win_general(struct weft_win *win, int code, const char *function)
{
    /* After MPI_Win_free, which holds all VCIs, there is no window, and no error. */
    struct weft_vci *vci = weft_vcis_hold_all() ? NULL : win ? win->comm->vci : &weft.vcis[0];
    if (code != MPI_SUCCESS)
        code = weft_error_raise(win ? win->comm : NULL, code, function);
    weft_leave_scope(vci);
    return code;
}

int weft_mpi_check_predefined(MPI_Datatype datatype)
{
    struct weft_datatype *type;
    int code = weft_arg_committed(datatype, &type);
    if (code != MPI_SUCCESS || (type->flags & WEFT_TYPE_PREDEFINED))
        return code;
    return weft_error_set(MPI_ERR_TYPE, "MPI_Fetch_and_op takes predefined datatypes only");
}

/* ---- Making */

static int check_arguments(const struct weft_win_arguments *arguments, MPI_Info info)
{
    bool given = arguments->flavor == MPI_WIN_FLAVOR_CREATE;
    if (arguments->bytes < 0)
        return weft_error_set(MPI_ERR_SIZE, "the size %lld is negative",
                              (long long)arguments->bytes);
    if (given && arguments->bytes && !arguments->base)
        return weft_error_set(MPI_ERR_BUFFER, "the base of %lld bytes is a null pointer",
                              (long long)arguments->bytes);
    if (arguments->unit <= 0)
        return weft_error_set(MPI_ERR_DISP, "the displacement unit %lld is not positive",
                              (long long)arguments->unit);
    if (!arguments->info && info != MPI_INFO_NULL)
        return weft_arg_bad_handle(WEFT_KIND_INFO, info, -1);
    return MPI_SUCCESS;
}

int weft_mpi_win_make(struct weft_comm *comm, int flavor, void *base, MPI_Aint size,
                      MPI_Aint disp_unit, MPI_Info info, struct weft_win **made)
{
    struct weft_win_arguments arguments = {
        .flavor = flavor,
        .base = flavor == MPI_WIN_FLAVOR_CREATE ? base : NULL,
        .bytes = size,
        .unit = disp_unit,
        .info = info == MPI_INFO_NULL ? NULL : weft_info_resolve(info),
    };
    arguments.failed = check_arguments(&arguments, info);
    return weft_win_make(comm, &arguments, made);
}

int weft_mpi_win_free(struct weft_win *win)
{
    int code = weft_attribute_check_free(weft_win_attributed(win), MPI_ERR_WIN,
                                         "the window cannot be freed");
    if (code == MPI_SUCCESS)
        code = weft_win_idle(win);
    if (code == MPI_SUCCESS)
        code = weft_attribute_delete_all(weft_win_attributed(win));
    if (code == MPI_SUCCESS)
        code = weft_win_idle(win); /* a delete function may have begun an epoch */
    if (code == MPI_SUCCESS)
        code = weft_win_finish(win);
    if (code == MPI_SUCCESS)
        weft_win_free(win);
    return code;
}

int weft_mpi_win_shared_query(const struct weft_win *win, int rank, MPI_Aint *size, int *disp_unit,
                              void *baseptr)
{
    struct weft_win_memory memory = weft_win_shared(win, rank);
    if (memory.unit > INT_MAX)
        return weft_error_set(MPI_ERR_VALUE_TOO_LARGE,
                              "the displacement unit %lld does not fit into an int; call "
                              "MPI_Win_shared_query_c",
                              (long long)memory.unit);
    *size = memory.bytes;
    *disp_unit = (int)memory.unit;
    weft_win_copy_address(memory.base, baseptr);
    return MPI_SUCCESS;
}

/* ---- Attributes */

int weft_mpi_win_get_attr(struct weft_win *win, int number, void *value, int *flag)
{
    void *predefined[] = {win->base, &win->disp_unit, &win->bytes, &win->flavor, &win->model};
    if (number < MPI_WIN_BASE || number > MPI_WIN_MODEL)
        return weft_mpi_get_attr(weft_win_attributed(win), number, value, flag);
    memcpy(value, &predefined[number - MPI_WIN_BASE], sizeof(void *));
    *flag = 1;
    return MPI_SUCCESS;
}
