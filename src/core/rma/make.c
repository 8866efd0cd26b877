// SPDX-License-Identifier: BSD-3-Clause
/*
 * Making and freeing windows, and their memory.
 *
 * Ranks of one node (those that the shared-memory lane reaches; for MPI_Win_allocate_shared those
 * of the launcher's node) have a segment: their control words, one behind the other, then the
 * memory of each rank if MPI allocates it. The lowest rank makes it.
 *
 * The ranks of a segment exchange its record, and before that their sizes if the segment depends on
 * these; the network carries neither. Every rank has opened the window when all ranks exchange
 * one record each, which takes the only rounds between nodes. A second exchange follows if a
 * segment could not be shared.
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
#include "gpu/gpu.h"
#include "gpu/kinds.h"
#include "core/rma/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CONTROL_BYTES = 192, SMALL_PACKET = 256 };
_Static_assert(sizeof(struct weft_win_control) == CONTROL_BYTES, "three cache lines");

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

/* The offsets at which the memory of members begins in the segment. */
struct offsets {
    size_t *at; /* by member */
    size_t bytes;
};

static size_t round_up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* ---- Hints */

static const char *const hint_default[][2] = {
    {"no_locks", "false"},
    {"accumulate_ordering", "rar,raw,war,waw"},
    {"accumulate_ops", "same_op_no_op"},
    {"same_size", "false"},
    {"same_disp_unit", "false"},
    {"mpi_accumulate_granularity", "0"},
};

static bool is_true(const struct weft_info *info, const char *key)
{
    const char *value = weft_info_get(info, key);
    return value && !strcmp(value, "true");
}

int weft_win_take_hints(struct weft_win *win, const struct weft_info *info)
{
    int code = MPI_SUCCESS;
    for (size_t i = 0; i < sizeof hint_default / sizeof *hint_default && !code; i++) {
        const char *key = hint_default[i][0], *value = weft_info_get(info, key);
        if (value)
            code = weft_info_set(win->info, key, value);
    }
    if (!code)
        code = weft_gpu_take_kinds(win->info, info, &win->host_only);
    win->no_locks = is_true(win->info, "no_locks");
    return code;
}

static int set_hints(struct weft_win *win, const struct weft_win_arguments *arguments)
{
    int code = MPI_SUCCESS;
    win->info = weft_info_make();
    if (!win->info)
        return MPI_ERR_NO_MEM;
    for (size_t i = 0; i < sizeof hint_default / sizeof *hint_default && !code; i++)
        code = weft_info_set(win->info, hint_default[i][0], hint_default[i][1]);
    if (!code)
        code = weft_info_set(win->info, "mpi_memory_alloc_kinds", "mpi,system");
    if (!code)
        code = weft_win_take_hints(win, arguments->info);
    if (!code && arguments->flavor == MPI_WIN_FLAVOR_SHARED)
        code = weft_info_set(win->info, "alloc_shared_noncontig",
                             is_true(arguments->info, "alloc_shared_noncontig") ? "true" : "false");
    const char *alignment = weft_info_get(arguments->info, "mpi_minimum_memory_alignment");
    if (!code && alignment)
        code = weft_info_set(win->info, "mpi_minimum_memory_alignment", alignment);
    return code;
}

/* ---- The segment */

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

/* Zeroed elements for the making of a window; without memory the job ends. */
static void *make_array(const struct weft_win *win, int n, size_t bytes)
{
    void *array = calloc((size_t)n, bytes);
    if (!array)
        weft_fatal(MPI_ERR_NO_MEM, "no memory to make a window of %d ranks", win->comm->size);
    return array;
}

static void find_members(struct weft_win *win)
{
    win->members = make_array(win, win->comm->size, sizeof *win->members);
    for (int rank = 0; rank < win->comm->size; rank++) {
        if (!shares(win, rank))
            continue;
        if (rank == win->comm->rank)
            win->member = win->nmembers;
        win->members[win->nmembers++] = rank;
    }
}

/* True if MPI allocates the memory. */
static bool allocates(const struct weft_win *win)
{
    return win->flavor == MPI_WIN_FLAVOR_ALLOCATE || win->flavor == MPI_WIN_FLAVOR_SHARED;
}

/* The alignment of the memory of each member. The ranks of MPI_Win_allocate_shared follow each
 * other without a gap unless alloc_shared_noncontig is set. */
static size_t alignment_of(const struct weft_win *win, size_t bytes)
{
    enum { PAGE = 4096, HUGE_PAGE = 2 << 20 };
    if (win->flavor == MPI_WIN_FLAVOR_SHARED && !is_true(win->info, "alloc_shared_noncontig"))
        return 1;
    const char *text = weft_info_get(win->info, "mpi_minimum_memory_alignment");
    size_t least = text ? strtoul(text, NULL, 10) : 0;
    return bytes >= HUGE_PAGE ? HUGE_PAGE : least > PAGE && least <= HUGE_PAGE ? HUGE_PAGE : PAGE;
}

/* The control words of n members, and shared_by of each. */
static size_t control_bytes(int n)
{
    return (size_t)(n + 1) * CONTROL_BYTES + (size_t)n * (size_t)n;
}

/* Uses the sizes of the members' targets. bytes is 0 if the sum of the sizes is too large. */
static void lay_out(const struct weft_win *win, struct offsets *offsets)
{
    enum { PAGE = 4096 };
    size_t at = round_up(control_bytes(win->nmembers), PAGE);
    offsets->bytes = 0;
    for (int i = 0; i < win->nmembers; i++) {
        size_t bytes = allocates(win) ? (size_t)win->targets[win->members[i]].bytes : 0;
        at = round_up(at, alignment_of(win, bytes));
        offsets->at[i] = at;
        if (bytes > (size_t)1 << 62 || (at += bytes) > (size_t)1 << 62)
            return;
    }
    offsets->bytes = round_up(at, PAGE);
}

/* No other rank uses the memory before all states are exchanged. */
static void use_segment(struct weft_win *win, const struct offsets *offsets)
{
    int n = win->nmembers;
    weft_assert(win->member < n && win->members[win->member] == win->comm->rank);
    for (int i = 0; i < n; i++) {
        struct weft_win_target *target = &win->targets[win->members[i]];
        target->control = (struct weft_win_control *)(win->segment.at + (i + 1) * CONTROL_BYTES);
        target->shared_by =
            (_Atomic uint8_t *)(win->segment.at + (n + 1) * CONTROL_BYTES) + (size_t)i * (size_t)n;
        if (allocates(win))
            target->base = win->segment.at + offsets->at[i];
    }
    struct weft_win_target *self = &win->targets[win->comm->rank];
    if (win->segment.dirty && win->member == 0)
        memset(win->segment.at + CONTROL_BYTES, 0, control_bytes(n) - CONTROL_BYTES);
    if (win->segment.dirty && allocates(win))
        memset(self->base, 0, (size_t)win->bytes);
    win->control = self->control;
    win->mapped = allocates(win) && n > 1;
}

/* Before this rank has a segment of its own instead. */
static void leave_segment(struct weft_win *win)
{
    for (int i = 0; i < win->nmembers; i++) {
        struct weft_win_target *target = &win->targets[win->members[i]];
        target->base = NULL;
        target->control = NULL;
        target->shared_by = NULL;
    }
    win->mapped = false;
}

/* A segment of this rank only. */
static int open_private(struct weft_win *win, struct offsets *offsets)
{
    weft_shared_memory_free(&win->segment);
    win->members[0] = win->comm->rank;
    win->nmembers = 1;
    win->member = 0;
    lay_out(win, offsets);
    if (offsets->bytes && !weft_shared_memory_private(offsets->bytes, &win->segment))
        return MPI_SUCCESS;
    return weft_error_set(win->flavor == MPI_WIN_FLAVOR_SHARED ? MPI_ERR_RMA_SHARED
                                                               : MPI_ERR_NO_MEM,
                          "no memory for a window of %lld bytes", (long long)win->bytes);
}

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
    struct offsets offsets;
    struct record mine;
    int failed; /* 0, or why this rank has no shared segment: an errno, or -1 for another rank's */
    struct state all; /* the states of all ranks together: the worst code, `open` if all are */
};

/* Opens the memory and the messages of a window that has its segment. */
static void open_here(struct opening *o)
{
    struct weft_win *win = o->win;
    struct weft_win_target *self = &win->targets[win->comm->rank];
    use_segment(win, &o->offsets);
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
    o->mine.state.code = open_private(o->win, &o->offsets);
    if (o->mine.state.code == MPI_SUCCESS)
        open_here(o);
}

/* Returns an array of the ranks' records, which the caller frees. */
static void *exchange(const struct weft_win *win, void *mine, size_t bytes, int *code)
{
    void *all = make_array(win, win->comm->size, bytes);
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

/* The ranks that share a segment give each other a record each: `all` has those of the members. */
static int exchange_in_node(const struct weft_win *win, void *mine, void *all, size_t bytes)
{
    return weft_coll_allgather_among(win->comm, win->members, win->nmembers, win->member,
                                     weft_elements_of_bytes(mine, bytes),
                                     weft_elements_of_bytes(all, bytes));
}

static int exchange_sizes(const struct opening *o)
{
    struct weft_win *win = o->win;
    int64_t mine = win->bytes, *all = make_array(win, win->nmembers, sizeof *all);
    int code = exchange_in_node(win, &mine, all, sizeof mine);
    for (int i = 0; i < win->nmembers && code == MPI_SUCCESS; i++)
        win->targets[win->members[i]].bytes = (MPI_Aint)all[i];
    free(all);
    return code;
}

/* The lowest of several members makes their segment, and the others join it. */
static int make_segment(struct opening *o)
{
    struct weft_win *win = o->win;
    struct weft_shared_memory_record mine = {0};
    struct weft_shared_memory_record *all = make_array(win, win->nmembers, sizeof *all);
    lay_out(win, &o->offsets);
    if (win->nmembers > 1 && win->member == 0)
        o->failed = weft_shared_memory_make(o->offsets.bytes, &win->segment, &mine);
    int code = exchange_in_node(win, &mine, all, sizeof mine);
    if (win->member > 0)
        o->failed = code == MPI_SUCCESS && all[0].bytes == o->offsets.bytes
                        ? weft_shared_memory_join(&all[0], &win->segment)
                        : -1;
    free(all);
    return code;
}

/* Opens the window at this rank. same: the sizes of all ranks are equal, or do not count. Every
 * rank takes both steps, also one that is alone on its node or has failed, because they are
 * collective.
 */
static void open_first(struct opening *o, bool same)
{
    int sized = same ? MPI_SUCCESS : exchange_sizes(o);
    int made = make_segment(o);
    int *code = &o->mine.state.code;
    if (*code == MPI_SUCCESS)
        *code = sized != MPI_SUCCESS ? sized : made;
    if (*code == MPI_SUCCESS && o->win->nmembers == 1)
        open_alone(o);
    else if (*code == MPI_SUCCESS && !o->failed)
        open_here(o);
}

/* Every rank opens a segment of its own, or the window fails. */
static int open_apart(struct opening *o)
{
    struct weft_win *win = o->win;
    if (o->failed > 0)
        weft_error_set(MPI_ERR_RMA_SHARED,
                       "the shared memory of %zu bytes for a window cannot be %s: %s",
                       o->offsets.bytes, win->member ? "opened" : "made", strerror(o->failed));
    else
        weft_error_set(MPI_ERR_RMA_SHARED,
                       "the shared memory of %zu bytes for a window cannot be made or opened at "
                       "another rank, whose own error states why",
                       o->offsets.bytes);
    if (win->flavor == MPI_WIN_FLAVOR_SHARED)
        return MPI_ERR_RMA_SHARED;
    if (win->nmembers > 1) {
        weft_rma_close(win);
        conceal(win);
        leave_segment(win);
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
    bool same = arguments->same_bytes || !allocates(win);
    if (!win->targets)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for a window of %d ranks", win->comm->size);
    find_members(win);
    o.offsets.at = make_array(win, win->nmembers, sizeof *o.offsets.at);
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
    free(o.offsets.at);
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

/* MPI_Win_create and MPI_Win_attach: other ranks would find out only when they use the memory. */
static int check_memory(const void *base, MPI_Aint bytes)
{
    if (bytes > 0 && weft_gpu_enabled && weft_gpu_owns(base))
        return weft_error_set(MPI_ERR_BUFFER,
                              "the memory of the window at %p (%lld bytes) is memory of a GPU; a "
                              "window needs host memory, origin buffers may be in GPU memory",
                              base, (long long)bytes);
    if (bytes <= 0 || weft_memory_is_accessible(base, (size_t)bytes, false))
        return MPI_SUCCESS;
    return weft_error_set(MPI_ERR_BUFFER,
                          "this process may not read the memory of the window at %p (%lld bytes); "
                          "see whether it was freed, is protected, or is memory of a device",
                          base, (long long)bytes);
}

/* The steps that can fail at this rank only. */
static struct weft_win *prepare_window(struct weft_comm *over,
                                       const struct weft_win_arguments *arguments, int *code)
{
    struct weft_win *win = calloc(1, sizeof *win);
    if (!win)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for another window");
    win->object.kind = WEFT_KIND_WIN;
    win->handle = (MPI_Win)win;
    win->flavor = arguments->flavor;
    win->model = MPI_WIN_UNIFIED;
    win->base = arguments->base;
    win->bytes = arguments->bytes;
    win->disp_unit = (int)arguments->unit;
    win->segment = weft_shared_memory_none();
    win->ops_end = &win->ops;
    win->targets = calloc((size_t)over->size, sizeof *win->targets);
    *code = arguments->failed ? arguments->failed
            : win->targets
                ? set_hints(win, arguments)
                : weft_error_set(MPI_ERR_NO_MEM, "no memory for a window of %d ranks", over->size);
    if (*code == MPI_SUCCESS && win->flavor == MPI_WIN_FLAVOR_CREATE)
        *code = check_memory(win->base, win->bytes);
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

/* ---- Dynamic windows */

static bool overlaps(const struct weft_win_region *region, const char *base, MPI_Aint bytes)
{
    return (uintptr_t)base < (uintptr_t)region->base + (uintptr_t)region->bytes &&
           (uintptr_t)region->base < (uintptr_t)base + (uintptr_t)bytes;
}

static int check_dynamic(const struct weft_win *win)
{
    return win->flavor == MPI_WIN_FLAVOR_DYNAMIC
               ? MPI_SUCCESS
               : weft_error_set(MPI_ERR_RMA_FLAVOR, "the window is not dynamic");
}

int weft_win_attach(struct weft_win *win, void *base, MPI_Aint bytes)
{
    int code = check_dynamic(win);
    if (code == MPI_SUCCESS && bytes < 0)
        code = weft_error_set(MPI_ERR_SIZE, "the size %lld is negative", (long long)bytes);
    if (code == MPI_SUCCESS && bytes && !base)
        code = weft_error_set(MPI_ERR_BUFFER, "the base of %lld bytes is a null pointer",
                              (long long)bytes);
    if (code == MPI_SUCCESS)
        code = check_memory(base, bytes);
    if (code != MPI_SUCCESS)
        return code;
    for (size_t i = 0; i < win->nregions; i++)
        if (overlaps(&win->regions[i], base, bytes))
            return weft_error_set(MPI_ERR_RMA_ATTACH,
                                  "the %lld bytes at %p overlap memory that is attached to the "
                                  "window (%lld bytes at %p)",
                                  (long long)bytes, base, (long long)win->regions[i].bytes,
                                  (void *)win->regions[i].base);
    struct weft_win_region *regions = realloc(win->regions, (win->nregions + 1) * sizeof *regions);
    if (!regions)
        return weft_error_set(MPI_ERR_NO_MEM, "no memory to attach %lld bytes to a window",
                              (long long)bytes);
    regions[win->nregions++] = (struct weft_win_region){base, bytes};
    win->regions = regions;
    return MPI_SUCCESS;
}

int weft_win_detach(struct weft_win *win, const void *base)
{
    int code = check_dynamic(win);
    if (code != MPI_SUCCESS)
        return code;
    for (size_t i = 0; i < win->nregions; i++) {
        if (win->regions[i].base != base)
            continue;
        win->regions[i] = win->regions[--win->nregions];
        return MPI_SUCCESS;
    }
    return weft_error_set(MPI_ERR_RMA_ATTACH, "no memory at %p is attached to the window", base);
}

bool weft_win_contains(const struct weft_win *win, int64_t at, uint64_t bytes, char **where)
{
    if (win->flavor != MPI_WIN_FLAVOR_DYNAMIC) {
        *where = (char *)((uintptr_t)win->base + (uintptr_t)at);
        return at >= 0 && at <= win->bytes && bytes <= (uint64_t)(win->bytes - at);
    }
    *where = (char *)(intptr_t)at;
    for (size_t i = 0; i < win->nregions && bytes;) {
        uint64_t offset = (uint64_t)at - (uint64_t)(uintptr_t)win->regions[i].base;
        uint64_t space = (uint64_t)win->regions[i].bytes;
        if (offset >= space) {
            i++;
            continue;
        }
        /* Bytes that are not in this region have to begin in another one. */
        uint64_t inside = bytes < space - offset ? bytes : space - offset;
        at += (int64_t)inside;
        bytes -= inside;
        i = 0;
    }
    return !bytes;
}
