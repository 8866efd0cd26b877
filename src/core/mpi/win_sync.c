// SPDX-License-Identifier: BSD-3-Clause
/*
 * Synchronization of windows (MPI 5.0 section 12.5): checks of arguments; the rest is
 * core/rma/epoch.c.
 */
#include "core/mpi/api.h"
#include "core/mpi/win_enter.h"
#include "core/object/error.h"
#include "core/process/weft.h"

WEFT_EXPORT(Win_fence);
int PMPI_Win_fence(int assert, MPI_Win handle)
{
    const char *function = "MPI_Win_fence";
    int code;
    struct weft_win *win = weft_enter_win(function, handle, &code);
    if (!win)
        return code;
    code = weft_win_fence(win, assert);
    return weft_leave_win(win, code, function);
}

WEFT_EXPORT(Win_post);
int PMPI_Win_post(MPI_Group with, int assert, MPI_Win handle)
{
    const char *function = "MPI_Win_post";
    int code;
    struct weft_win *win = weft_enter_win(function, handle, &code);
    if (!win)
        return code;
    struct weft_group *group = weft_group_resolve(with);
    code = group ? weft_win_post(win, group, assert)
                 : weft_error_set(MPI_ERR_GROUP, "%p is no group", (void *)with);
    return weft_leave_win(win, code, function);
}

WEFT_EXPORT(Win_start);
int PMPI_Win_start(MPI_Group with, int assert, MPI_Win handle)
{
    const char *function = "MPI_Win_start";
    int code;
    struct weft_win *win = weft_enter_win(function, handle, &code);
    if (!win)
        return code;
    struct weft_group *group = weft_group_resolve(with);
    code = group ? weft_win_start(win, group, assert)
                 : weft_error_set(MPI_ERR_GROUP, "%p is no group", (void *)with);
    return weft_leave_win(win, code, function);
}

WEFT_EXPORT(Win_complete);
int PMPI_Win_complete(MPI_Win handle)
{
    const char *function = "MPI_Win_complete";
    int code;
    struct weft_win *win = weft_enter_win(function, handle, &code);
    if (!win)
        return code;
    code = weft_win_complete(win);
    return weft_leave_win(win, code, function);
}

WEFT_EXPORT(Win_wait);
int PMPI_Win_wait(MPI_Win handle)
{
    const char *function = "MPI_Win_wait";
    int code;
    struct weft_win *win = weft_enter_win(function, handle, &code);
    if (!win)
        return code;
    code = weft_win_wait(win);
    return weft_leave_win(win, code, function);
}

WEFT_EXPORT(Win_test);
int PMPI_Win_test(MPI_Win handle, int *flag)
{
    const char *function = "MPI_Win_test";
    int code;
    struct weft_win *win = weft_enter_win(function, handle, &code);
    if (!win)
        return code;
    code = flag ? weft_win_test(win, flag) : weft_win_no_result("flag");
    return weft_leave_win(win, code, function);
}

WEFT_EXPORT(Win_lock);
int PMPI_Win_lock(int lock_type, int rank, int assert, MPI_Win handle)
{
    const char *function = "MPI_Win_lock";
    int code;
    struct weft_win *win = weft_enter_win(function, handle, &code);
    if (!win)
        return code;
    if (lock_type != MPI_LOCK_EXCLUSIVE && lock_type != MPI_LOCK_SHARED)
        code = weft_error_set(MPI_ERR_LOCKTYPE, "%d is no type of lock", lock_type);
    else if (rank != MPI_PROC_NULL && !(code = weft_win_check_rank(win, rank)))
        code = weft_win_lock(win, lock_type, rank, assert);
    return weft_leave_win(win, code, function);
}

WEFT_EXPORT(Win_unlock);
int PMPI_Win_unlock(int rank, MPI_Win handle)
{
    const char *function = "MPI_Win_unlock";
    int code;
    struct weft_win *win = weft_enter_win(function, handle, &code);
    if (!win)
        return code;
    if (rank != MPI_PROC_NULL && !(code = weft_win_check_rank(win, rank)))
        code = weft_win_unlock(win, rank);
    return weft_leave_win(win, code, function);
}

WEFT_EXPORT(Win_lock_all);
int PMPI_Win_lock_all(int assert, MPI_Win handle)
{
    const char *function = "MPI_Win_lock_all";
    int code;
    struct weft_win *win = weft_enter_win(function, handle, &code);
    if (!win)
        return code;
    code = weft_win_lock_all(win, assert);
    return weft_leave_win(win, code, function);
}

WEFT_EXPORT(Win_unlock_all);
int PMPI_Win_unlock_all(MPI_Win handle)
{
    const char *function = "MPI_Win_unlock_all";
    int code;
    struct weft_win *win = weft_enter_win(function, handle, &code);
    if (!win)
        return code;
    code = weft_win_unlock_all(win);
    return weft_leave_win(win, code, function);
}

WEFT_EXPORT(Win_flush);
int PMPI_Win_flush(int rank, MPI_Win handle)
{
    const char *function = "MPI_Win_flush";
    int code;
    struct weft_win *win = weft_enter_win(function, handle, &code);
    if (!win)
        return code;
    if (rank != MPI_PROC_NULL && !(code = weft_win_check_rank(win, rank)))
        code = weft_win_flush(win, rank, false);
    return weft_leave_win(win, code, function);
}

WEFT_EXPORT(Win_flush_all);
int PMPI_Win_flush_all(MPI_Win handle)
{
    const char *function = "MPI_Win_flush_all";
    int code;
    struct weft_win *win = weft_enter_win(function, handle, &code);
    if (!win)
        return code;
    code = weft_win_flush(win, -1, false);
    return weft_leave_win(win, code, function);
}

WEFT_EXPORT(Win_flush_local);
int PMPI_Win_flush_local(int rank, MPI_Win handle)
{
    const char *function = "MPI_Win_flush_local";
    int code;
    struct weft_win *win = weft_enter_win(function, handle, &code);
    if (!win)
        return code;
    if (rank != MPI_PROC_NULL && !(code = weft_win_check_rank(win, rank)))
        code = weft_win_flush(win, rank, true);
    return weft_leave_win(win, code, function);
}

WEFT_EXPORT(Win_flush_local_all);
int PMPI_Win_flush_local_all(MPI_Win handle)
{
    const char *function = "MPI_Win_flush_local_all";
    int code;
    struct weft_win *win = weft_enter_win(function, handle, &code);
    if (!win)
        return code;
    code = weft_win_flush(win, -1, true);
    return weft_leave_win(win, code, function);
}

WEFT_EXPORT(Win_sync);
int PMPI_Win_sync(MPI_Win handle)
{
    const char *function = "MPI_Win_sync";
    int code;
    struct weft_win *win = weft_enter_win(function, handle, &code);
    if (!win)
        return code;
    code = weft_win_sync(win);
    return weft_leave_win(win, code, function);
}
