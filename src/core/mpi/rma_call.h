// SPDX-License-Identifier: BSD-3-Clause
/*
 * Calls on windows: checks of arguments, and one-sided operations (MPI 5.0 section 12.3), whose
 * entry points put their arguments into a struct weft_rma_arguments that one function checks.
 *
 * Invariant: all arguments are checked before the operation starts; errors go to the window's error
 * handler.
 */
#ifndef WEFT_RMA_CALL_H
#define WEFT_RMA_CALL_H

#include "core/mpi/entry.h"
#include "core/rma/win.h"

#include <string.h>

/* The buffer of the origin, or the one for a result. */
struct weft_rma_side {
    const void *at;
    MPI_Count count;
    MPI_Datatype type;
};

struct weft_rma_range {
    int rank;
    MPI_Aint disp;
    MPI_Count count;
    MPI_Datatype type;
};

struct weft_rma_arguments {
    enum weft_rma_kind kind;
    const struct weft_rma_side *origin;
    const struct weft_rma_side *result; /* of operations that have one beside the origin, or NULL */
    const void *compare;
    const struct weft_rma_range *target;
    MPI_Op op; /* of accumulate operations */
};

/* Starts an operation. request: NULL, or where its request is stored, complete for MPI_PROC_NULL.
 */
int weft_rma_call(struct weft_win *win, const struct weft_rma_arguments *arguments,
                  struct weft_request **request);

/* Checks of handles and ranks, as in arg.h; MPI_PROC_NULL is a rank. */
WEFT_COLD int weft_arg_bad_win_rank(const struct weft_win *win, int rank);
int weft_arg_win_or_null(MPI_Win handle, struct weft_win **win);

static inline int weft_arg_win(MPI_Win handle, struct weft_win **win)
{
    *win = weft_handle_resolve(handle, WEFT_KIND_WIN);
    return weft_likely(*win != NULL) ? MPI_SUCCESS : weft_arg_bad_handle(WEFT_KIND_WIN, handle, -1);
}

static inline int weft_arg_win_rank(const struct weft_win *win, int rank)
{
    bool valid = weft_likely(rank >= 0 && rank < win->comm->size) || rank == MPI_PROC_NULL;
    return valid ? MPI_SUCCESS : weft_arg_bad_win_rank(win, rank);
}

/* Enters the library with the window's VCI. */
int weft_enter_win_general(const char *function, MPI_Win handle);
static inline int weft_enter_win(const char *function, MPI_Win handle)
{
    return weft_unlikely(weft_entry_flags) ? weft_enter_win_general(function, handle) : MPI_SUCCESS;
}

/* Leaves the library; raises code first unless it is MPI_SUCCESS. For calls that hold all VCIs,
 * too. */
int weft_leave_win_general(struct weft_win *win, int code, const char *function);
static inline int weft_leave_win(struct weft_win *win, int code, const char *function)
{
    return weft_likely(!weft_entry_flags && code == MPI_SUCCESS)
               ? MPI_SUCCESS
               : weft_leave_win_general(win, code, function);
}

/* Stores an address in a pointer of any type. */
static inline void weft_win_copy_address(void *base, void *pointer)
{
    memcpy(pointer, &base, sizeof base);
}

#endif
