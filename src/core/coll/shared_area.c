// SPDX-License-Identifier: BSD-3-Clause
/*
 * Areas of communicators: making and freeing them.
 *
 * Invariant: all ranks of a communicator have its area, or none has.
 */
#include "core/coll/schedule.h"
#include "core/coll/shared.h"
#include "core/base/error.h"
#include "core/base/settings.h"
#include "core/base/memory.h"
#include "core/message/count.h"
#include "core/coll/area.h"

#include <stdlib.h>

static struct weft_area none; /* for communicators that have no area: it has no ranks */

enum { AREAS_MAX = 64 << 20 }; /* bytes of all areas of a process */

/* The record that ranks gather: the memory of each. */
struct area_record {
    struct weft_shared_memory_record record; /* of rank 0 */
    uint32_t joins;
};

/* The node of the one lane between the ranks, if they all are on it; else NULL. */
static const struct weft_lane_node *node_of(const struct weft_comm *comm)
{
    const struct weft_lane_node *node = NULL;
    if (comm->local || comm->size < 2 || comm->size > WEFT_AREA_RANKS_MAX)
        return NULL;
    for (int i = 0; i < comm->size; i++) {
        const struct weft_lane_node *to = weft_lane_node(weft_comm_world_of(comm, i));
        if (i != comm->rank && (!to || (node && to != node)))
            return NULL;
        node = i != comm->rank ? to : node;
    }
    return node;
}

static struct weft_area *new_area(const struct weft_comm *comm, bool small,
                                  struct weft_shared_memory_record *record)
{
    int world[WEFT_AREA_RANKS_MAX];
    struct weft_area *area;
    for (int i = 0; i < comm->size; i++)
        world[i] = weft_comm_world_of(comm, i);
    uint64_t used = __atomic_load_n(&weft_counts.areas.now, __ATOMIC_RELAXED);
    area = weft_area_new(node_of(comm), comm->size, comm->rank, world, small);
    if (area && used + weft_area_bytes(area) <= AREAS_MAX &&
        (comm->rank > 0 || !weft_area_make(area, record)))
        return area;
    weft_area_free(area);
    return NULL;
}

/* An allgather of records, with the tag of a persistent collective or -1. */
static int gather_records(struct weft_comm *comm, int tag, struct area_record *mine,
                          struct area_record *all, enum weft_fault *fault)
{
    struct weft_elements in = weft_elements_of_bytes(mine, sizeof *mine);
    struct weft_coll_args args = {.kind = WEFT_COLL_ALLGATHER,
                                  .comm = comm,
                                  .in = {.at = mine, .count = in.count, .type = in.type},
                                  .out = {.at = all, .count = in.count, .type = in.type}};
    int code = weft_coll_run_schedule(&args, tag, fault);
    if (code == MPI_ERR_NO_MEM && *fault == WEFT_FAULT_NONE)
        weft_fatal(code, "no memory to share memory among %d ranks", comm->size);
    return code;
}

static bool all_join(const struct weft_comm *comm, const struct area_record *all)
{
    bool join = true;
    for (int i = 0; i < comm->size; i++)
        join &= all[i].joins == 1;
    return join;
}

/* By two allgathers: the record of the memory, and whether all ranks have mapped it. A rank that
 * refuses the call executes neither: the first one fails at all others, which do not begin the
 * second, so that all ranks have taken as many sequence numbers. *made is NULL if the ranks cannot
 * share memory. */
WEFT_COLD static int make(struct weft_comm *comm, int tag, struct weft_area **made,
                          enum weft_fault *fault)
{
    struct area_record mine = {0};
    /* not on the stack: a thread may have one of 16 KiB */
    struct area_record *all =
        weft_memory_get((size_t)comm->size, sizeof *all, "the sharing of memory");
    struct weft_area *area = new_area(comm, tag >= 0, &mine.record);
    *made = NULL;
    mine.joins = area != NULL;
    int code = gather_records(comm, tag, &mine, all, fault);
    if (*fault != WEFT_FAULT_REFUSED) {
        bool use = !code && all_join(comm, all);
        mine.joins = use && weft_area_join(area, &all[0].record) == 0;
        int second = gather_records(comm, tag, &mine, all, fault);
        code = code ? code : second;
        if (!code && mine.joins && all_join(comm, all)) {
            weft_shared_memory_joined(&area->memory);
            weft_count_level(&weft_counts.areas, (int64_t)weft_area_bytes(area));
            *made = area;
        }
    }
    if (!*made)
        weft_area_free(area);
    free(all);
    return code;
}

int weft_shared_make(struct weft_comm *comm)
{
    enum weft_fault fault = WEFT_FAULT_NONE;
    struct weft_area *area = NULL;
    if (!weft_settings.shm_coll || comm->coll_sequence < (uint32_t)weft_settings.shm_coll)
        return MPI_SUCCESS;
    int code = node_of(comm) ? make(comm, -1, &area, &fault) : MPI_SUCCESS;
    for (int kind = 0; area && kind < WEFT_COLL_KINDS; kind++)
        area->kinds |= (uint32_t)weft_shared_takes((enum weft_coll_kind)kind) << kind;
    if (fault != WEFT_FAULT_REFUSED)
        comm->area = area ? area : &none;
    return code;
}

struct weft_area *weft_shared_make_own(struct weft_comm *comm, int tag)
{
    enum weft_fault fault;
    struct weft_area *area = NULL;
    if (weft_settings.shm_coll && node_of(comm))
        make(comm, (tag & ~WEFT_COLL_KIND_MASK) | WEFT_COLL_KIND_MAKING, &area, &fault);
    return area;
}

void weft_shared_skip(struct weft_comm *comm)
{
    struct weft_area *area = comm->area;
    if (!area || !area->n)
        return;
    uint64_t stamp = weft_area_call(area, comm->coll_sequence);
    if (area->began != area->ended)
        return; /* the end of the active calls completes it, too */
    atomic_store_explicit(&area->ranks[area->self].outbox->done, weft_area_end(stamp),
                          memory_order_release);
    weft_area_wake(area, 0, area->n);
}

void weft_shared_free(const struct weft_comm *comm, struct weft_area *area)
{
    if (!area || !area->n)
        return;
    weft_shared_compare(comm, area);
    weft_count_level(&weft_counts.areas, -(int64_t)weft_area_bytes(area));
    weft_area_free(area);
}

_Atomic uint64_t *weft_shared_agree_words(const struct weft_comm *comm, int rank)
{
    const struct weft_area *area = comm->area;
    return area && area->n ? area->ranks[rank].outbox->agreed : NULL;
}

void weft_shared_agree_wake(const struct weft_comm *comm)
{
    weft_area_wake(comm->area, 0, comm->area->n);
}

void weft_shared_forget(struct weft_comm *comm)
{
    weft_shared_free(comm, comm->area);
    comm->area = NULL;
}
