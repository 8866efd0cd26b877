// SPDX-License-Identifier: BSD-3-Clause
/*
 * Steps of making a window: hints (hints.c), the memory that ranks of a node share (segment.c),
 * memory of the program (attach.c). make.c uses them in this order.
 */
#ifndef WEFT_RMA_MAKE_H
#define WEFT_RMA_MAKE_H

#include "core/rma/win.h"

/* ---- hints.c */

/* Sets the hints of a new window: the defaults, and those of the arguments. */
int weft_win_set_hints(struct weft_win *win, const struct weft_win_arguments *arguments);

/* ---- segment.c */

/* The offsets at which the memory of members begins in the segment. */
struct weft_win_layout {
    size_t *at; /* by member */
    size_t bytes;
};

/* True if MPI allocates the memory of the window. */
bool weft_win_allocates(const struct weft_win *win);

/* True if the memory of MPI_Win_allocate_shared is one piece, without a gap between ranks. */
static inline bool weft_win_is_contiguous(const struct weft_win *win)
{
    return win->flavor == MPI_WIN_FLAVOR_SHARED &&
           !weft_info_is(win->info, "alloc_shared_noncontig", "true");
}

/* The largest alignment that the memory of a window can have: that of segments. */
enum { WEFT_WIN_ALIGNMENT_MAX = 2 << 20 };

/* Finds the ranks that may share a segment with this one. */
void weft_win_find_members(struct weft_win *win);

/* Collective among the members, also of a rank that is alone: makes the segment at the lowest of
 * several, and joins it at the others. same: the sizes of all ranks are equal, or do not count.
 * *failed: 0, or why this rank has no segment: an errno, EOVERFLOW if the sum of the sizes is too
 * large, or -1 if another rank has failed. Returns the error class of the messages. */
int weft_win_share_segment(struct weft_win *win, bool same, struct weft_win_layout *layout,
                           int *failed);

/* Uses the segment. No other rank uses the memory before all states are exchanged. */
void weft_win_use_segment(struct weft_win *win, const struct weft_win_layout *layout);

/* Before this rank has a segment of its own instead. */
void weft_win_leave_segment(struct weft_win *win);

/* Makes a segment of this rank only. */
int weft_win_open_private(struct weft_win *win, struct weft_win_layout *layout);

/* ---- attach.c */

/* An error for memory of MPI_Win_create and MPI_Win_attach that cannot be used: other ranks would
 * find out only when they use it. */
int weft_win_check_memory(const void *base, MPI_Aint bytes);

#endif
