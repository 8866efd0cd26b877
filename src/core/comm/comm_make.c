// SPDX-License-Identifier: BSD-3-Clause
/*
 * Making communicators: see comm_make.h.
 *
 * Invariant: what one process alone can fail at (memory, a user's callback) is done before the
 * agreement, and brought along to it.
 */
#include "core/comm/comm_make.h"
#include "core/comm/context_alloc.h"
#include "core/coll/coll.h"
#include "core/object/error.h"
#include "core/comm/intercomm.h"
#include "core/comm/session.h"
#include "core/comm/topology.h"
#include "core/process/weft.h"

#include <stdlib.h>
#include <string.h>

/* Tags that every provider has room for. */
enum { MAKING_TAGS = 1 << 24 };

int weft_comm_making_tag(struct weft_comm *over)
{
    return (int)(over->makings++ % MAKING_TAGS);
}

static uint64_t key_of(const struct weft_channel *channel, int tag)
{
    return (uint64_t)channel->context << 32 | (uint32_t)tag;
}

/* Fills an agreement of all of `over`. */
static uint64_t of_all(struct weft_context_alloc *agreement, struct weft_comm *over)
{
    memset(agreement, 0, sizeof *agreement);
    agreement->over = over;
    agreement->use = WEFT_CONTEXT_MAKING;
    agreement->tag = weft_comm_making_tag(over);
    agreement->size = weft_comm_total(over);
    agreement->index = weft_comm_place(over);
    return key_of(&over->making, agreement->tag);
}

/* An agreement has ended: opens what was made, or drops it. */
static int conclude(const struct weft_context_alloc *agreement, struct weft_comm *made,
                    struct weft_comm **out)
{
    *out = NULL;
    if (agreement->code != MPI_SUCCESS) {
        weft_comm_drop(made);
        return agreement->code;
    }
    if (made)
        weft_comm_open(made, agreement->block);
    else
        weft_context_free(agreement->block);
    *out = made;
    return MPI_SUCCESS;
}

int weft_comm_agree(struct weft_comm *over, struct weft_comm *made, int failed,
                    struct weft_comm **out)
{
    struct weft_context_alloc agreement;
    uint64_t key = of_all(&agreement, over);
    weft_context_alloc_start(&agreement, key, failed);
    weft_context_alloc_wait(&agreement);
    return conclude(&agreement, made, out);
}

/* ---- Copies */

/* The copy, not open, with attributes and topology; *code is an error class when it is NULL or not
 * complete. hints: an info object, or NULL. */
static struct weft_comm *copy(struct weft_comm *over, const struct weft_info *hints, int *code)
{
    struct weft_comm *made =
        weft_comm_make(over->group, over->local ? over->remote : NULL, over->errhandler);
    *code = made ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (!made)
        return NULL;
    made->topology = weft_topology_keep(over->topology);
    weft_comm_take_hints(made, hints);
    *code = weft_attribute_copy_all(weft_comm_attributed(over), weft_comm_attributed(made));
    return made;
}

int weft_comm_dup(struct weft_comm *over, const struct weft_info *hints, struct weft_comm **out)
{
    int failed;
    struct weft_comm *made = copy(over, hints, &failed);
    return weft_comm_agree(over, made, failed, out);
}

/* A copy under way. */
struct making {
    struct weft_context_alloc agreement;
    struct weft_comm *made;
    struct weft_request *request;
};

static void idup_ended(struct weft_context_alloc *agreement)
{
    struct making *making = agreement->arg;
    struct weft_comm *out;
    making->request->error = (uint8_t)conclude(agreement, making->made, &out);
    weft_request_event(making->request);
    free(making);
}

int weft_comm_idup(struct weft_comm *over, const struct weft_info *hints, struct weft_comm **out,
                   struct weft_request **request)
{
    int failed;
    struct making *making = malloc(sizeof *making);
    *request = making ? weft_request_get(&weft.requests, WEFT_REQUEST_MAKING, 1) : NULL;
    if (!*request)
        weft_fatal(MPI_ERR_NO_MEM, "no memory to duplicate a communicator");
    uint64_t key = of_all(&making->agreement, over);
    making->made = *out = copy(over, hints, &failed);
    making->request = *request;
    making->agreement.arg = making;
    making->agreement.end = idup_ended;
    (*request)->channel = &over->p2p;
    (*request)->peer = NULL;
    (*request)->source = MPI_ANY_SOURCE;
    (*request)->tag = MPI_ANY_TAG;
    (*request)->bytes = 0;
    weft_context_alloc_start(&making->agreement, key, failed);
    return MPI_SUCCESS;
}

/* ---- Subgroups */

int weft_comm_create(struct weft_comm *over, struct weft_group *group, struct weft_comm **out)
{
    if (over->local)
        return weft_intercomm_create_sub(over, group, out);
    struct weft_comm *made = NULL;
    int failed = MPI_SUCCESS;
    if (group->rank != MPI_UNDEFINED) {
        made = weft_comm_make(group, NULL, over->errhandler);
        failed = made ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
    return weft_comm_agree(over, made, failed, out);
}

int weft_comm_create_group(struct weft_comm *over, struct weft_group *group, int tag,
                           struct weft_comm **out)
{
    *out = NULL;
    if (group->rank == MPI_UNDEFINED)
        return MPI_SUCCESS;
    struct weft_context_alloc agreement = {.over = over,
                                           .use = WEFT_CONTEXT_GROUPING,
                                           .tag = tag,
                                           .size = group->size,
                                           .index = group->rank};
    int *ranks = malloc(2 * (size_t)group->size * sizeof *ranks);
    if (!ranks)
        return weft_error_set(MPI_ERR_NO_MEM, "no memory for the ranks of %d processes",
                              group->size);
    for (int i = 0; i < group->size; i++)
        ranks[group->size + i] = i;
    int failed = weft_group_translate(group, group->size, ranks + group->size, over->group, ranks);
    if (failed) {
        free(ranks);
        return failed;
    }
    agreement.ranks = ranks;
    struct weft_comm *made = weft_comm_make(group, NULL, over->errhandler);
    weft_context_alloc_start(&agreement, key_of(&over->grouping, tag),
                             made ? MPI_SUCCESS : MPI_ERR_NO_MEM);
    weft_context_alloc_wait(&agreement);
    free(ranks);
    return conclude(&agreement, made, out);
}

/* ---- Split */

int weft_comm_split(struct weft_comm *over, int color, int key, struct weft_comm **out)
{
    struct weft_comm *local = over->local ? over->local : over;
    struct weft_choice *all = malloc((size_t)local->size * sizeof *all);
    struct weft_choice mine = {color, key, local->rank};
    *out = NULL;
    if (!all)
        return weft_error_set(MPI_ERR_NO_MEM, "no memory to split a communicator of %d processes",
                              local->size);
    int code = weft_coll_allgather(local, weft_elements_of_bytes(&mine, sizeof mine),
                                   weft_elements_of_bytes(all, sizeof mine));
    if (code == MPI_SUCCESS && over->local) {
        code = weft_intercomm_split(over, all, color, out);
    } else if (code == MPI_SUCCESS) {
        struct weft_group *group = weft_choice_group(over->group, all, color);
        struct weft_comm *made =
            group && color != MPI_UNDEFINED ? weft_comm_make(group, NULL, over->errhandler) : NULL;
        code = weft_comm_agree(
            over, made, group && (made || color == MPI_UNDEFINED) ? MPI_SUCCESS : MPI_ERR_NO_MEM,
            out);
        if (group)
            weft_group_release(group);
    }
    free(all);
    return code;
}

static int by_key(const void *a, const void *b)
{
    const struct weft_choice *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

struct weft_group *weft_choice_group(const struct weft_group *from, struct weft_choice *all,
                                     int color)
{
    int n = 0;
    for (int i = 0; i < from->size && color != MPI_UNDEFINED; i++)
        n += all[i].color == color;
    struct weft_group *group = weft_group_make(n);
    struct weft_choice *chosen = malloc(((size_t)n + 1) * sizeof *chosen);
    if (!group || !chosen) {
        free(group);
        free(chosen);
        weft_error_set(MPI_ERR_NO_MEM, "no memory to split a communicator of %d processes",
                       from->size);
        return NULL;
    }
    int k = 0;
    for (int i = 0; i < from->size && n; i++)
        if (all[i].color == color)
            chosen[k++] = all[i];
    qsort(chosen, (size_t)n, sizeof *chosen, by_key);
    for (int i = 0; i < n; i++)
        group->table[i] = weft_group_world(from, chosen[i].rank);
    free(chosen);
    group->session = weft_session_keep(from->session);
    return weft_group_seal(group);
}
