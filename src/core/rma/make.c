// SPDX-License-Identifier: BSD-3-Clause
/*
 * Making and freeing windows.
 *
 * A window takes two exchanges between nodes. In the first the ranks allocate context ids. Then
 * those of a node make their segment (segment.c), and every rank opens the window: it posts its
 * receives, and registers its memory. In the second exchange all ranks give each other one record.
 * A third one follows if a segment could not be shared.
 *
 * The two exchanges cannot be one. The record has the key of the registration, which belongs to
 * the VCI, and the VCI follows from the context ids. And a rank that has a window must have had a
 * message of every rank on the window's own communicator: else a revocation or a death during the
 * first exchange would leave some ranks without that communicator, and the others would wait for
 * them in MPI_Win_free, or in the agreement that the window is made (weft_comm_end_object).
 *
 * Invariants:
 *  - If the segment of any rank cannot be made or joined, every rank has one of its own, and all
 *    operations go by messages; MPI_Win_allocate_shared fails at every rank.
 *  - No rank accesses a window before all ranks have opened it.
 */
#include "core/coll/coll.h"
#include "core/comm/agree.h"
#include "core/comm/comm_make.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/settings.h"
#include "core/message/process.h"
#include "core/message/lane.h"
#include "core/rma/make.h"
#include "core/rma/message.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SMALL_PACKET = 256 };

/* The state of a window at a rank. */
struct state {
    int32_t code;  /* MPI_SUCCESS or an error class */
    uint16_t open; /* it has its segment, and packets can arrive */
    uint16_t exposed;
    struct weft_remote_memory location;
};

/* The record of a rank. */
struct record {
    int64_t bytes, unit;
    uint64_t base;
    int64_t pid;
    struct state state;
};
_Static_assert(sizeof(struct record) == WEFT_WIN_RECORD_BYTES, "bench/coll_cost counts it");

/* ---- The window */

/* True if the kernel copies to and from a rank's memory that is not mapped here. */
static bool kernel_copies(const struct weft_win *win, int rank)
{
    const struct weft_lane_node *node = weft_lane_node(weft_comm_world_of(win->comm, rank));
    return win->flavor == MPI_WIN_FLAVOR_CREATE && node && node->can_copy();
}

/* True if this rank reaches every rank directly: then packets to it carry no data. */
static bool reaches_all(const struct weft_win *win)
{
    for (int rank = 0; rank < win->comm->size; rank++)
        if (!win->targets[rank].base)
            return false;
    return win->flavor != MPI_WIN_FLAVOR_DYNAMIC;
}

/* True for a rank on the lane that exposes memory. */
static bool can_expose(const struct weft_win *win, int rank)
{
    return weft.exposes && weft_lane_to(weft_comm_world_of(win->comm, rank)) == weft.exposes;
}

static void conceal(struct weft_win *win)
{
    if (win->exposed)
        weft_lanes[weft.exposes]->remote->conceal(win->exposed);
    win->exposed = NULL;
}

/* Exposes this rank's memory for the ranks on a lane that moves data. Else the state stays without
 * `exposed`. */
static void expose(struct weft_win *win, struct state *state)
{
    bool others = false;
    for (int rank = 0; rank < win->comm->size && !others; rank++)
        others = can_expose(win, rank);
    const struct weft_lane_remote *remote = others ? weft_lanes[weft.exposes]->remote : NULL;
    win->remote_flags = remote && win->flavor != MPI_WIN_FLAVOR_DYNAMIC ? remote->flags() : 0;
    if (win->remote_flags && win->bytes)
        win->exposed =
            remote->expose(win->comm->vci->number, win->base, (size_t)win->bytes, &state->location);
    state->exposed = win->remote_flags && (win->exposed || !win->bytes);
}

/* The provider moves puts and gets if every rank's memory is registered. */
static void use_exposed(struct weft_win *win, bool all)
{
    if (win->remote_flags && !win->exposed && win->bytes && weft_settings.verbose)
        weft_warn("the %lld bytes of a window cannot be registered; all ranks put and get by "
                  "messages to it",
                  (long long)win->bytes);
    if (!all)
        conceal(win);
    for (int rank = 0; rank < win->comm->size; rank++)
        win->targets[rank].by_lane = all && can_expose(win, rank);
}

/* ---- Opening */

/* A window that is being opened. */
struct opening {
    struct weft_win *win;
    struct weft_win_layout layout;
    struct record mine;
    int failed; /* 0, or why this rank has no shared segment: an errno, or -1 for another rank's */
    struct state all; /* the states of all ranks together: the worst code, `open` if all are */
};

/* Opens the memory and the messages of a window that has its segment. */
static void open_here(struct opening *o)
{
    struct weft_win *win = o->win;
    struct weft_win_target *self = &win->targets[win->comm->rank];
    weft_win_use_segment(win, &o->layout);
    if (win->flavor == MPI_WIN_FLAVOR_CREATE)
        self->base = win->base;
    else if (win->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        win->base = self->base;
    win->packet = reaches_all(win) ? SMALL_PACKET : WEFT_RMA_PACKET_BYTES;
    o->mine.state = (struct state){.code = weft_rma_open(win)};
    if (o->mine.state.code != MPI_SUCCESS)
        return;
    expose(win, &o->mine.state);
    o->mine.state.open = true;
}

/* With a segment of this rank only. */
static void open_alone(struct opening *o)
{
    o->mine.state.code = weft_win_open_private(o->win, &o->layout);
    if (o->mine.state.code == MPI_SUCCESS)
        open_here(o);
}

/* Returns an array of the ranks' records, which the caller frees. */
static void *exchange(const struct weft_win *win, void *mine, size_t bytes, int *code)
{
    void *all = weft_memory_get((size_t)win->comm->size, bytes, "the making of a window");
    *code = weft_coll_allgather(win->comm, weft_elements_of_bytes(mine, bytes),
                                weft_elements_of_bytes(all, bytes));
    return all;
}

static void add_state(struct opening *o, int rank, const struct state *state)
{
    if (rank == 0)
        o->all = *state;
    o->all.code = state->code > o->all.code ? state->code : o->all.code;
    o->all.open = o->all.open && state->open;
    o->all.exposed = o->all.exposed && state->exposed;
    o->win->targets[rank].location = state->location;
}

/* All ranks fail if one does. code: of the exchange of states. */
static int conclude(const struct opening *o, int code)
{
    if (o->mine.state.code != MPI_SUCCESS)
        return o->mine.state.code;
    if (code != MPI_SUCCESS || o->all.code == MPI_SUCCESS)
        return code;
    return weft_error_set(o->all.code, "another rank could not open its part of the window; its "
                                       "own error states why");
}

static int exchange_records(struct opening *o)
{
    int code;
    struct weft_win *win = o->win;
    struct record *records = exchange(win, &o->mine, sizeof o->mine, &code);
    for (int rank = 0; rank < win->comm->size && code == MPI_SUCCESS; rank++) {
        struct weft_win_target *target = &win->targets[rank];
        target->bytes = (MPI_Aint)records[rank].bytes;
        target->unit = (MPI_Aint)records[rank].unit;
        if (kernel_copies(win, rank)) {
            target->pid = (int)records[rank].pid;
            target->remote = (uintptr_t)records[rank].base;
        }
        add_state(o, rank, &records[rank].state);
    }
    free(records);
    return conclude(o, code);
}

static int exchange_states(struct opening *o)
{
    int code;
    struct state *states = exchange(o->win, &o->mine.state, sizeof *states, &code);
    for (int rank = 0; rank < o->win->comm->size && code == MPI_SUCCESS; rank++)
        add_state(o, rank, &states[rank]);
    free(states);
    return conclude(o, code);
}

/* Opens the window at this rank. same: see weft_win_share_segment. */
static void open_first(struct opening *o, bool same)
{
    int shared = weft_win_share_segment(o->win, same, &o->layout, &o->failed);
    int *code = &o->mine.state.code;
    if (*code == MPI_SUCCESS)
        *code = shared;
    if (*code == MPI_SUCCESS && o->win->nmembers == 1)
        open_alone(o);
    else if (*code == MPI_SUCCESS && !o->failed)
        open_here(o);
}

/* Names the rank of the largest memory, which is probably the one with a wrong size. */
static void report_too_large(const struct weft_win *win)
{
    int largest = win->members[0];
    for (int i = 1; i < win->nmembers; i++)
        if (win->targets[win->members[i]].bytes > win->targets[largest].bytes)
            largest = win->members[i];
    weft_error_set(MPI_ERR_RMA_SHARED,
                   "the memory of the window is too large for the %d ranks of this node together: "
                   "the largest size is that of rank %d, %lld bytes, and this rank passed %lld; "
                   "pass smaller sizes",
                   win->nmembers, largest, (long long)win->targets[largest].bytes,
                   (long long)win->bytes);
}

/* Every rank opens a segment of its own, or the window fails. */
static int open_apart(struct opening *o)
{
    struct weft_win *win = o->win;
    if (o->failed == EOVERFLOW)
        report_too_large(win);
    else if (o->failed > 0)
        weft_error_set(MPI_ERR_RMA_SHARED,
                       "the shared memory of %zu bytes for a window cannot be %s: %s",
                       o->layout.bytes, win->member ? "opened" : "made", strerror(o->failed));
    else
        weft_error_set(MPI_ERR_RMA_SHARED,
                       "the shared memory of %zu bytes for a window cannot be made or opened at "
                       "another rank, whose own error states why",
                       o->layout.bytes);
    if (win->flavor == MPI_WIN_FLAVOR_SHARED)
        return MPI_ERR_RMA_SHARED;
    if (win->nmembers > 1) {
        weft_rma_close(win);
        conceal(win);
        weft_win_leave_segment(win);
        open_alone(o);
    }
    return exchange_states(o);
}

/* Collective. failed: an error class of this rank, or MPI_SUCCESS. */
static int open_window(struct weft_win *win, const struct weft_win_arguments *arguments, int failed)
{
    struct opening o = {.win = win,
                        .mine = {.bytes = win->bytes,
                                 .unit = arguments->unit,
                                 .base = (uintptr_t)win->base,
                                 .state = {.code = failed},
                                 .pid = win->flavor == MPI_WIN_FLAVOR_CREATE ? getpid() : 0}};
    bool same = arguments->same_bytes || !weft_win_allocates(win);
    if (!win->targets)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for a window of %d ranks", win->comm->size);
    weft_win_find_members(win);
    o.layout.at =
        weft_memory_get((size_t)win->nmembers, sizeof *o.layout.at, "the making of a window");
    for (int i = 0; i < win->nmembers; i++)
        win->targets[win->members[i]].bytes = win->bytes;
    if (win->flavor == MPI_WIN_FLAVOR_SHARED && win->nmembers < win->comm->size)
        o.mine.state.code =
            failed != MPI_SUCCESS
                ? failed
                : weft_error_set(MPI_ERR_RMA_SHARED,
                                 "%d of the %d ranks are on other nodes and cannot share memory; "
                                 "MPI_Comm_split_type with MPI_COMM_TYPE_SHARED makes a "
                                 "communicator of those that can",
                                 win->comm->size - win->nmembers, win->comm->size);
    else
        open_first(&o, same);
    int code = exchange_records(&o);
    weft_shared_memory_joined(&win->segment);
    if (code == MPI_SUCCESS && !o.all.open)
        code = open_apart(&o);
    if (code == MPI_SUCCESS)
        use_exposed(win, o.all.exposed);
    free(o.layout.at);
    return code;
}

static void free_memory(struct weft_win *win)
{
    weft_assert(!win->ops && !win->sends_pending && !win->slots);
    conceal(win);
    weft_shared_memory_free(&win->segment);
    free(win->regions);
    free(win->members);
    free(win->targets);
    if (win->info)
        weft_info_free(win->info);
    free(win);
}

/* The steps that can fail at this rank only. */
static struct weft_win *prepare_window(struct weft_comm *over,
                                       const struct weft_win_arguments *arguments, int *code)
{
    struct weft_win *win = weft_memory_get(1, sizeof *win, "another window");
    win->object.kind = WEFT_KIND_WIN;
    win->handle = (MPI_Win)win;
    win->flavor = arguments->flavor;
    win->model = MPI_WIN_UNIFIED;
    win->base = arguments->base;
    win->bytes = arguments->bytes;
    win->disp_unit = arguments->unit > INT_MAX ? MPI_UNDEFINED : (int)arguments->unit;
    win->segment = weft_shared_memory_none();
    win->ops_end = &win->ops;
    win->targets = calloc((size_t)over->size, sizeof *win->targets);
    *code = arguments->failed ? arguments->failed
            : win->targets
                ? weft_win_set_hints(win, arguments)
                : weft_error_set(MPI_ERR_NO_MEM, "no memory for a window of %d ranks", over->size);
    if (*code == MPI_SUCCESS && win->flavor == MPI_WIN_FLAVOR_CREATE)
        *code = weft_win_check_memory(win->base, win->bytes);
    return win;
}

/* After weft_rma_close. */
static void leave_comm(struct weft_win *win)
{
    if (win->joined)
        return;
    win->comm->handle = (MPI_Comm)MPI_WIN_NULL;
    weft_comm_release(win->comm);
}

static int make_comm(struct weft_comm *over, struct weft_win *win, int failed)
{
    struct weft_comm *comm = weft_comm_make(over->group, NULL, NULL);
    if (failed == MPI_SUCCESS && !comm)
        failed = MPI_ERR_NO_MEM;
    int code = weft_comm_agree(over, comm, failed, &win->comm);
    if (code != MPI_SUCCESS)
        return code;
    win->comm->handle = (MPI_Comm)win->handle;
    weft_comm_begin_object(over, win->comm);
    return MPI_SUCCESS;
}

int weft_win_make(struct weft_comm *over, const struct weft_win_arguments *arguments,
                  struct weft_win **out)
{
    int code;
    struct weft_win *win = prepare_window(over, arguments, &code);
    *out = NULL;
    win->joined = arguments->joins;
    if (win->joined) {
        win->comm = over;
    } else if ((code = make_comm(over, win, code)) != MPI_SUCCESS) {
        free_memory(win);
        return code;
    }
    code = open_window(win, arguments, code);
    if (!win->joined)
        code = weft_comm_end_object(over, win->comm, code);
    if (code != MPI_SUCCESS) {
        weft_rma_close(win);
        leave_comm(win);
        free_memory(win);
        return code;
    }
    *out = win;
    return MPI_SUCCESS;
}

int weft_win_finish(struct weft_win *win)
{
    if (weft_comm_may_break(win->comm))
        return weft_comm_agree_to_free(win->comm);
    int code = weft_coll_barrier(win->comm);
    return code == MPIX_ERR_REVOKED ? weft_comm_agree_to_free(win->comm) : code;
}

void weft_win_free(struct weft_win *win)
{
    weft_rma_close(win);
    leave_comm(win);
    weft_handle_retire(&win->object);
    free_memory(win);
}

struct weft_win_memory weft_win_shared(const struct weft_win *win, int rank)
{
    const struct weft_win_target *target = rank < 0 ? NULL : &win->targets[rank];
    for (int i = 0; i < win->comm->size && rank == MPI_PROC_NULL && !target; i++)
        if (win->targets[i].base && win->targets[i].bytes > 0)
            target = &win->targets[i];
    if (!target || !target->base || !target->bytes)
        return (struct weft_win_memory){NULL, 0, target ? target->unit : 0};
    return (struct weft_win_memory){target->base, target->bytes, target->unit};
}

void weft_win_set_name(struct weft_win *win, const char *name)
{
    snprintf(win->name, sizeof win->name, "%s", name);
}
