// SPDX-License-Identifier: BSD-3-Clause
/*
 * Entering and leaving a call on a window: see enter.h. Errors go to the window's handler.
 */
#ifndef WEFT_WIN_ENTER_H
#define WEFT_WIN_ENTER_H

#include "core/rma/win.h"

/* Enters, and resolves a window. NULL: the library was left, *code is to be returned. */
struct weft_win *weft_enter_win(const char *function, MPI_Win handle, int *code);

/* Leaves; raises code first if it is an error whose sentence was said. */
int weft_leave_win(struct weft_win *win, int code, const char *function);

/* Say what is wrong with a rank of the window, or that the pointer to a result is null. */
int weft_win_check_rank(const struct weft_win *win, int rank);
int weft_win_no_result(const char *what);

#endif
