// SPDX-License-Identifier: BSD-3-Clause
/*
 * Making communicators: see comm_make.h.
 *
 * Invariant: the steps at which one process alone can fail (memory, a user's callback) come before
 * the allocation of context ids, which each member enters with its result. Where the group follows
 * from messages that are exchanged meanwhile, memory for it is reserved before.
 */
#include "core/comm/comm_make.h"
#include "core/comm/agree.h"
#include "core/comm/context_alloc.h"
#include "core/comm/revoke.h"
#include "core/base/error.h"
#include "core/base/handle_list.h"
#include "core/comm/intercomm.h"
#include "core/comm/session.h"
#include "core/comm/spread.h"
#include "core/comm/topology.h"
#include "core/message/process.h"

#include <stdlib.h>
#include <string.h>

/* Tags that every provider has space for. */
enum { MAKING_TAGS = 1 << 24 };

int weft_comm_making_tag(struct weft_comm *over)
{
    if (over->makings % MAKING_TAGS == WEFT_AGREE_TAG)
        over->makings++;
    return (int)(over->makings++ % MAKING_TAGS);
}

static uint64_t key_of(const struct weft_channel *channel, int tag)
{
    return (uint64_t)channel->context << 32 | (uint32_t)tag;
}

/* Prepares an allocation for `made` (NULL: this process is in no new communicator) whose members
 * are all processes of `over`. Returns its key. */
static uint64_t prepare_alloc(struct weft_context_alloc *alloc, struct weft_comm *over,
                              const struct weft_comm *made)
{
    memset(alloc, 0, sizeof *alloc);
    alloc->over = over;
    alloc->use = WEFT_CONTEXT_MAKING;
    alloc->tag = weft_comm_making_tag(over);
    alloc->size = weft_comm_total(over);
    alloc->index = weft_comm_new_rank(over);
    alloc->assertions = made ? made->assertions : WEFT_ASSERT_AGREED;
    return key_of(&over->making, alloc->tag);
}

/* Opens the new communicator after a successful allocation, frees it after a failed one. */
static int conclude(const struct weft_context_alloc *alloc, struct weft_comm *made,
                    struct weft_comm **out)
{
    *out = NULL;
    weft_assert(alloc->done && !alloc->send && !alloc->receive);
    if (alloc->code != MPI_SUCCESS) {
        weft_comm_drop(made);
        return alloc->code;
    }
    if (made) {
        made->spread_rule = weft_spread_rule(alloc->assertions);
        weft_comm_open(made, alloc->block);
    } else {
        weft_context_free(alloc->block);
    }
    *out = made;
    return MPI_SUCCESS;
}

void weft_comm_agree_start(struct weft_context_alloc *alloc, struct weft_comm *over,
                           const struct weft_comm *made, int failed)
{
    uint64_t key = prepare_alloc(alloc, over, made);
    weft_context_alloc_start(alloc, key, failed);
}

/* Waits for an allocation beside which a collective was executed, which fails if another rank
 * refuses the call, and has recorded so. */
static int wait_beside(struct weft_context_alloc *alloc)
{
    struct weft_bid_failure failure;
    int code = weft_context_alloc_wait(alloc);
    if (code != MPI_SUCCESS && weft_bid_failure(alloc->words, &failure) &&
        failure.rank != alloc->over->rank)
        weft_bid_error(WEFT_BID_FAILED, alloc->words);
    return code;
}

int weft_comm_agree_end(struct weft_context_alloc *alloc, struct weft_comm *made,
                        struct weft_comm **out)
{
    wait_beside(alloc);
    return conclude(alloc, made, out);
}

int weft_comm_agree(struct weft_comm *over, struct weft_comm *made, int failed,
                    struct weft_comm **out)
{
    struct weft_context_alloc alloc;
    weft_comm_agree_start(&alloc, over, made, failed);
    weft_context_alloc_wait(&alloc);
    return conclude(&alloc, made, out);
}

void weft_comm_begin_object(struct weft_comm *over, struct weft_comm *made)
{
    weft_assert(weft_vcis_hold_all());
    if (over->size > 1) { /* else it waits for nobody, and threads may make several at once */
        weft_assert(!over->constructs);
        over->constructs = made;
    }
    if (over->revoked)
        weft_comm_revoke(made);
}

int weft_comm_end_object(struct weft_comm *over, struct weft_comm *made, int code)
{
    weft_assert(over->size == 1 || over->constructs == made);
    over->constructs = NULL;
    if (code == MPI_SUCCESS && weft_comm_outlives_members(made))
        code = weft_comm_agree_made(made);
    else if (code != MPI_SUCCESS && weft_comm_may_break(made))
        weft_comm_agree_not_made(made);
    /* The program has no object yet that could be revoked. */
    return code == MPIX_ERR_REVOKED ? weft_comm_report_revoked(over) : code;
}

int weft_comm_combine(struct weft_comm *over, uint64_t *words, int failed)
{
    struct weft_context_alloc alloc;
    uint64_t key = prepare_alloc(&alloc, over, NULL);
    alloc.combines = true;
    memcpy(alloc.words, words, sizeof alloc.words);
    weft_context_alloc_start(&alloc, key, failed);
    int code = weft_context_alloc_wait(&alloc);
    memcpy(words, alloc.words, sizeof alloc.words);
    return code;
}

int weft_comm_begin(struct weft_comm *over, int failed)
{
    uint64_t words[WEFT_CONTEXT_WORDS];
    if (failed != MPI_SUCCESS)
        return weft_comm_refuse(over, failed);
    weft_bid_nothing(words);
    return weft_comm_combine(over, words, MPI_SUCCESS);
}

static void refusal_ended(struct weft_context_alloc *alloc)
{
    free(alloc->ranks);
    free(alloc);
}

/* A refusal is an allocation in the background, which takes no block, and fails. */
static void start_refusal(struct weft_context_alloc *alloc, uint64_t key, int code)
{
    alloc->combines = true;
    alloc->end = refusal_ended;
    weft_context_alloc_start(alloc, key, code);
}

int weft_comm_refuse(struct weft_comm *over, int code)
{
    struct weft_context_alloc *alloc = over ? malloc(sizeof *alloc) : NULL;
    if (alloc)
        start_refusal(alloc, prepare_alloc(alloc, over, NULL), code);
    return code;
}

int weft_comm_refuse_joined(struct weft_comm *over, int code)
{
    if (over && !over->local)
        weft_comm_collectives.refuse(over, false, code);
    return weft_comm_refuse(over, code);
}

int weft_comm_agree_group(struct weft_comm *over, struct weft_group *group,
                          struct weft_group *remote, struct weft_comm **out)
{
    struct weft_comm *made = NULL;
    int failed = group ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (group && group->rank != MPI_UNDEFINED && !(remote && remote->size == 0)) {
        made = weft_comm_make(group, remote, over->errhandler);
        if (made)
            made->first_half = over->first_half;
        failed = made ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
    weft_group_release(group);
    weft_group_release(remote);
    return weft_comm_agree(over, made, failed, out);
}

/* ---- Copies */

/* A copy with attributes and topology that has no context ids yet. *code is an error class if the
 * copy is NULL or incomplete. */
static struct weft_comm *copy_comm(struct weft_comm *over, const struct weft_info *hints, int *code)
{
    struct weft_comm *made =
        weft_comm_make(over->group, over->local ? over->remote : NULL, over->errhandler);
    *code = made ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (!made)
        return NULL;
    made->first_half = over->first_half;
    made->topology = weft_topology_keep(over->topology);
    weft_comm_take_hints(made, hints);
    *code = weft_attribute_copy_all(weft_comm_attributed(over), weft_comm_attributed(made));
    return made;
}

int weft_comm_dup(struct weft_comm *over, const struct weft_info *hints, struct weft_comm **out)
{
    int failed;
    struct weft_comm *made = copy_comm(over, hints, &failed);
    return weft_comm_agree(over, made, failed, out);
}

/* An active MPI_Comm_idup. */
struct idup {
    struct weft_context_alloc alloc;
    struct weft_comm *made;
    struct weft_request *request;
};

static void idup_ended(struct weft_context_alloc *alloc)
{
    struct idup *idup = alloc->arg;
    weft_assert(idup->request->pending == 1 && alloc->code <= UINT8_MAX);
    struct weft_comm *out;
    if (alloc->code != MPI_SUCCESS) /* conclude frees the copy, whose handle the program has */
        weft_handle_list_remove(idup->made->handle);
    idup->request->error = (uint8_t)conclude(alloc, idup->made, &out);
    weft_request_event(idup->request);
    free(idup);
}

int weft_comm_idup(struct weft_comm *over, const struct weft_info *hints, struct weft_comm **out,
                   struct weft_request **request)
{
    int failed;
    struct weft_comm *made = copy_comm(over, hints, &failed);
    *out = NULL;
    *request = NULL;
    if (failed != MPI_SUCCESS) {
        /* The call returns it, because a request has no space for the code of a callback. */
        weft_comm_drop(made);
        return weft_comm_refuse(over, failed);
    }
    struct idup *idup = malloc(sizeof *idup);
    struct weft_request *started =
        idup ? weft_request_get(&weft.vcis[0], WEFT_REQUEST_MAKING, 1) : NULL;
    if (!started)
        weft_fatal(MPI_ERR_NO_MEM, "no memory to duplicate a communicator");
    idup->made = made;
    uint64_t key = prepare_alloc(&idup->alloc, over, made);
    idup->request = started;
    idup->alloc.arg = idup;
    idup->alloc.end = idup_ended;
    started->channel = &over->p2p;
    started->peer = NULL;
    started->source = MPI_ANY_SOURCE;
    started->tag = MPI_ANY_TAG;
    started->bytes = 0;
    weft_context_alloc_start(&idup->alloc, key, MPI_SUCCESS);
    if (!started->pending && started->error) { /* at once: the copy is freed already */
        failed = started->error;
        weft_request_put(started);
        return failed;
    }
    *out = made;
    *request = started;
    return MPI_SUCCESS;
}

/* ---- Subgroups */

int weft_comm_create(struct weft_comm *over, struct weft_group *group, struct weft_comm **out)
{
    if (!over->local)
        return weft_comm_agree_group(over, weft_group_keep(group), NULL, out);
    int code = weft_comm_begin(over, MPI_SUCCESS);
    return code ? code : weft_intercomm_create_sub(over, group, out);
}

/* Prepares an allocation among the members of a group. False without memory, recorded. */
static bool prepare_group_alloc(struct weft_context_alloc *alloc, struct weft_comm *over,
                                const struct weft_group *group, int tag)
{
    *alloc = (struct weft_context_alloc){.over = over,
                                         .use = WEFT_CONTEXT_GROUPING,
                                         .tag = tag,
                                         .size = group->size,
                                         .index = group->rank};
    int *ranks = malloc((size_t)group->size * sizeof *ranks);
    if (!ranks ||
        weft_group_translate(group, group->size, NULL, over->group, ranks) != MPI_SUCCESS) {
        free(ranks);
        weft_error_set(MPI_ERR_NO_MEM, "no memory for the ranks of %d processes", group->size);
        return false;
    }
    alloc->ranks = ranks;
    return true;
}

int weft_comm_refuse_group(struct weft_comm *over, const struct weft_group *group, int tag,
                           int code)
{
    struct weft_context_alloc *alloc = malloc(sizeof *alloc);
    if (alloc && prepare_group_alloc(alloc, over, group, tag))
        start_refusal(alloc, key_of(&over->grouping, tag), code);
    else
        free(alloc);
    return code;
}

int weft_comm_create_group(struct weft_comm *over, struct weft_group *group, int tag,
                           const struct weft_info *hints, struct weft_comm **out)
{
    struct weft_context_alloc alloc;
    *out = NULL;
    if (group->rank == MPI_UNDEFINED)
        return MPI_SUCCESS;
    if (!prepare_group_alloc(&alloc, over, group, tag))
        return MPI_ERR_NO_MEM;
    struct weft_comm *made = weft_comm_make(group, NULL, over->errhandler);
    if (made)
        weft_comm_take_hints(made, hints);
    alloc.assertions = made ? made->assertions : 0;
    weft_context_alloc_start(&alloc, key_of(&over->grouping, tag),
                             made ? MPI_SUCCESS : MPI_ERR_NO_MEM);
    weft_context_alloc_wait(&alloc);
    free(alloc.ranks);
    return conclude(&alloc, made, out);
}

/* ---- Split */

static int gather_splits(struct weft_comm *local, int64_t color, int key, struct weft_split *all)
{
    struct weft_split mine = {color, key, local->rank};
    return weft_comm_collectives.allgather(local, weft_elements_of_bytes(&mine, sizeof mine),
                                           weft_elements_of_bytes(all, sizeof mine));
}

/* Gathers the choices while the members allocate context ids, which do not depend on them. */
static int split_group(struct weft_comm *over, int64_t color, int key, struct weft_split **all,
                       struct weft_comm **out)
{
    struct weft_context_alloc alloc;
    struct weft_comm *made = NULL;
    uint64_t alloc_key = prepare_alloc(&alloc, over, NULL);
    alloc.assertions = 0; /* of a communicator without hints */
    weft_context_alloc_start(&alloc, alloc_key, MPI_SUCCESS);
    int gathered = gather_splits(over, color, key, *all);
    int code = wait_beside(&alloc);
    if (code == MPI_SUCCESS && gathered != MPI_SUCCESS) {
        weft_context_free(alloc.block);
        weft_revoke_not_opened();
    }
    if (code != MPI_SUCCESS || gathered != MPI_SUCCESS)
        return code != MPI_SUCCESS ? code : gathered;
    struct weft_split *smaller = realloc(*all, (size_t)over->size * sizeof **all);
    if (smaller)
        *all = smaller;
    struct weft_group *group = weft_split_group(over->group, *all, color);
    if (group && group->rank != MPI_UNDEFINED)
        made = weft_comm_make(group, NULL, over->errhandler);
    if (!group || (group->rank != MPI_UNDEFINED && !made))
        weft_fatal(MPI_ERR_NO_MEM, "no memory to split a communicator of %d processes", over->size);
    weft_group_release(group);
    return conclude(&alloc, made, out);
}

static int split_both(struct weft_comm *over, int64_t color, int key, struct weft_split *all,
                      struct weft_comm **out)
{
    int code = weft_comm_begin(over, MPI_SUCCESS);
    if (code != MPI_SUCCESS)
        return code;
    code = gather_splits(over->local, color, key, all);
    return weft_intercomm_split(over, all, color, code, out);
}

int weft_comm_split(struct weft_comm *over, int64_t color, int key, struct weft_comm **out)
{
    int size = over->local ? over->local->size : over->size;
    /* With memory that split_group returns before it makes a group, with a table of ranks and one
     * of peers, and a communicator. */
    size_t reserved = sizeof(struct weft_group) + sizeof(struct weft_comm) +
                      (size_t)size * (sizeof(int32_t) + sizeof(struct weft_peer *));
    struct weft_split *all = malloc((size_t)size * sizeof *all + reserved);
    *out = NULL;
    if (!all)
        return weft_comm_refuse_joined(
            over, weft_error_set(MPI_ERR_NO_MEM,
                                 "no memory to split a communicator of %d processes", size));
    int code = over->local ? split_both(over, color, key, all, out)
                           : split_group(over, color, key, &all, out);
    free(all);
    return code;
}

static int by_key(const void *a, const void *b)
{
    const struct weft_split *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

struct weft_group *weft_split_group(const struct weft_group *from, struct weft_split *all,
                                    int64_t color)
{
    int n = 0;
    for (int i = 0; i < from->size && color != MPI_UNDEFINED; i++)
        if (all[i].color == color)
            all[n++] = (struct weft_split){color, all[i].key, i};
    qsort(all, (size_t)n, sizeof *all, by_key);
    struct weft_group *group = weft_group_make(n);
    if (!group)
        return NULL;
    for (int i = 0; i < n; i++)
        group->table[i] = weft_group_world(from, all[i].rank);
    group->session = weft_session_keep(from->session);
    return weft_group_seal(group);
}
