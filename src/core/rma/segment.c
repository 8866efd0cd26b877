// SPDX-License-Identifier: BSD-3-Clause
/*
 * The memory that the ranks of a node share in a window.
 *
 * Ranks of one node (those that the shared-memory lane reaches; for MPI_Win_allocate_shared those
 * of the launcher's node) have a segment: their control words, one behind the other, then the
 * memory of each rank if MPI allocates it. The lowest rank makes it. The ranks exchange its record,
 * and before that their sizes if the segment depends on these; the network carries neither.
 *
 * Invariant: at all members the offsets of the segment are the same.
 */
#include "core/rma/make.h"

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/coll/coll.h"
#include "core/message/lane.h"
#include "core/message/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CONTROL_BYTES = 192 };
_Static_assert(sizeof(struct weft_win_control) == CONTROL_BYTES, "three cache lines");

static bool shares(const struct weft_win *win, int rank)
{
    int world = weft_comm_world_of(win->comm, rank);
    if (world == weft.job.rank)
        return true;
    if (win->flavor != MPI_WIN_FLAVOR_SHARED)
        return weft_lane_node(world) != NULL;
    for (int i = 0; i < weft.job.local_size; i++)
        if (weft.job.local_peers[i] == world)
            return true;
    return false;
}

void weft_win_find_members(struct weft_win *win)
{
    win->members =
        weft_memory_get((size_t)win->comm->size, sizeof *win->members, "the making of a window");
    for (int rank = 0; rank < win->comm->size; rank++) {
        if (!shares(win, rank))
            continue;
        if (rank == win->comm->rank)
            win->member = win->nmembers;
        win->members[win->nmembers++] = rank;
    }
}

bool weft_win_allocates(const struct weft_win *win)
{
    return win->flavor == MPI_WIN_FLAVOR_ALLOCATE || win->flavor == MPI_WIN_FLAVOR_SHARED;
}

/* The alignment of the memory of each member. The ranks of MPI_Win_allocate_shared follow each
 * other without a gap unless alloc_shared_noncontig is set. */
static size_t alignment_of(const struct weft_win *win, size_t bytes)
{
    enum { PAGE = 4096, HUGE_PAGE = WEFT_WIN_ALIGNMENT_MAX };
    if (weft_win_is_contiguous(win))
        return 1;
    const char *text = weft_info_get(win->info, "mpi_minimum_memory_alignment");
    size_t least = text ? strtoul(text, NULL, 10) : 0;
    weft_assert(least <= HUGE_PAGE);
    return bytes >= HUGE_PAGE || least > PAGE ? HUGE_PAGE : PAGE;
}

/* The control words of n members, and shared_by of each. */
static size_t control_bytes(int n)
{
    return (size_t)(n + 1) * CONTROL_BYTES + (size_t)n * (size_t)n;
}

/* Uses the sizes of the members' targets. bytes is 0 if the sum of the sizes is too large. */
static void lay_out(const struct weft_win *win, struct weft_win_layout *layout)
{
    enum { PAGE = 4096 };
    size_t at = weft_segment_round_up(control_bytes(win->nmembers), PAGE);
    layout->bytes = 0;
    for (int i = 0; i < win->nmembers; i++) {
        size_t bytes = weft_win_allocates(win) ? (size_t)win->targets[win->members[i]].bytes : 0;
        at = weft_segment_round_up(at, alignment_of(win, bytes));
        layout->at[i] = at;
        if (bytes > (size_t)1 << 62 || (at += bytes) > (size_t)1 << 62)
            return;
    }
    layout->bytes = weft_segment_round_up(at, PAGE);
}

void weft_win_use_segment(struct weft_win *win, const struct weft_win_layout *layout)
{
    int n = win->nmembers;
    weft_assert(win->member < n && win->members[win->member] == win->comm->rank);
    for (int i = 0; i < n; i++) {
        struct weft_win_target *target = &win->targets[win->members[i]];
        target->control = (struct weft_win_control *)(win->segment.at + (i + 1) * CONTROL_BYTES);
        target->shared_by =
            (_Atomic uint8_t *)(win->segment.at + (n + 1) * CONTROL_BYTES) + (size_t)i * (size_t)n;
        if (weft_win_allocates(win))
            target->base = win->segment.at + layout->at[i];
    }
    struct weft_win_target *self = &win->targets[win->comm->rank];
    if (win->segment.dirty && win->member == 0)
        memset(win->segment.at + CONTROL_BYTES, 0, control_bytes(n) - CONTROL_BYTES);
    if (win->segment.dirty && weft_win_allocates(win))
        memset(self->base, 0, (size_t)win->bytes);
    win->control = self->control;
    win->mapped = weft_win_allocates(win) && n > 1;
}

void weft_win_leave_segment(struct weft_win *win)
{
    for (int i = 0; i < win->nmembers; i++) {
        struct weft_win_target *target = &win->targets[win->members[i]];
        target->base = NULL;
        target->control = NULL;
        target->shared_by = NULL;
    }
    win->mapped = false;
}

int weft_win_open_private(struct weft_win *win, struct weft_win_layout *layout)
{
    weft_shared_memory_free(&win->segment);
    win->members[0] = win->comm->rank;
    win->nmembers = 1;
    win->member = 0;
    lay_out(win, layout);
    if (layout->bytes && !weft_shared_memory_private(layout->bytes, &win->segment))
        return MPI_SUCCESS;
    return weft_error_set(win->flavor == MPI_WIN_FLAVOR_SHARED ? MPI_ERR_RMA_SHARED
                                                               : MPI_ERR_NO_MEM,
                          "no memory for a window of %lld bytes", (long long)win->bytes);
}

/* ---- Together with the other members */

/* The members give each other a record each: `all` has those of the members. */
static int exchange(const struct weft_win *win, void *mine, void *all, size_t bytes)
{
    return weft_coll_allgather_among(win->comm, win->members, win->nmembers, win->member,
                                     weft_elements_of_bytes(mine, bytes),
                                     weft_elements_of_bytes(all, bytes));
}

static int exchange_sizes(const struct weft_win *win)
{
    int64_t mine = win->bytes,
            *all = weft_memory_get((size_t)win->nmembers, sizeof *all, "the making of a window");
    int code = exchange(win, &mine, all, sizeof mine);
    for (int i = 0; i < win->nmembers && code == MPI_SUCCESS; i++)
        win->targets[win->members[i]].bytes = (MPI_Aint)all[i];
    free(all);
    return code;
}

static int make_segment(struct weft_win *win, struct weft_win_layout *layout, int *failed)
{
    struct weft_shared_memory_record mine = {0};
    struct weft_shared_memory_record *all =
        weft_memory_get((size_t)win->nmembers, sizeof *all, "the making of a window");
    lay_out(win, layout);
    if (!layout->bytes) /* at all members: they have the same sizes */
        *failed = EOVERFLOW;
    else if (win->nmembers > 1 && win->member == 0)
        *failed = weft_shared_memory_make(layout->bytes, &win->segment, &mine);
    int code = exchange(win, &mine, all, sizeof mine);
    if (win->member > 0 && layout->bytes)
        *failed = code == MPI_SUCCESS && all[0].bytes == layout->bytes
                      ? weft_shared_memory_join(&all[0], &win->segment)
                      : -1;
    free(all);
    return code;
}

/* Every rank takes both steps, also one that is alone on its node or has failed, because they are
 * collective. */
int weft_win_share_segment(struct weft_win *win, bool same, struct weft_win_layout *layout,
                           int *failed)
{
    int sized = same ? MPI_SUCCESS : exchange_sizes(win);
    int made = make_segment(win, layout, failed);
    return sized != MPI_SUCCESS ? sized : made;
}
