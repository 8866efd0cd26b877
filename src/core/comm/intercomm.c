// SPDX-License-Identifier: BSD-3-Clause
/*
 * Inter-communicators: see intercomm.h.
 */
#include "core/comm/intercomm.h"
#include "core/comm/context_alloc.h"
#include "core/comm/comm_make.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/comm/pairing.h"
#include "core/comm/revoke.h"
#include "core/comm/session.h"
#include "core/comm/sides.h"
#include "core/message/foreign.h"
#include "core/message/lane.h"
#include "core/message/process.h"

#include <stdlib.h>
#include <string.h>

/* ---- Groups of the other side */

/* The group of these ranks of a group (NULL: of the job). NULL: no memory, or these bytes are no
 * ranks. */
static struct weft_group *group_of(struct weft_session *session, const struct weft_group *from,
                                   const void *bytes, size_t size)
{
    int n = (int)(size / sizeof(int32_t));
    struct weft_group *group = size % sizeof(int32_t) ? NULL : weft_group_make(n);
    if (!group)
        return NULL;
    memcpy(group->table, bytes, size);
    if (!weft_group_are_ranks(group->table, n, from ? from->size : weft.job.size)) {
        free(group);
        return NULL;
    }
    for (int i = 0; from && i < n; i++)
        group->table[i] = weft_group_world(from, group->table[i]);
    group->session = weft_session_keep(session);
    return weft_group_seal(group);
}

/* Exchanges two subgroups of the local groups of an inter-communicator. *theirs becomes the other
 * side's, NULL without memory. */
static int swap_groups(const struct weft_sides *sides, struct weft_comm *over,
                       const struct weft_group *mine, struct weft_group **theirs)
{
    size_t size = (size_t)mine->size * sizeof(int), bytes;
    int *ranks = weft_memory_get(1, size, "the description of a group");
    void *list;
    *theirs = NULL;
    if (weft_group_translate(mine, mine->size, NULL, over->group, ranks) != MPI_SUCCESS)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for a group of %d processes", mine->size);
    struct weft_sides_range range = {0, (size_t)over->size * sizeof *ranks};
    int code = weft_sides_swap(sides, ranks, size, range, &list, &bytes);
    free(ranks);
    if (code == MPI_SUCCESS)
        *theirs = group_of(over->session, over->remote, list, bytes);
    free(list);
    return code;
}

/* ---- Communicators made out of an inter-communicator */

/* An inter-communicator between two groups. Drops their references; NULL: no memory for it. */
static int make_between(struct weft_comm *over, struct weft_group *mine, struct weft_group *theirs,
                        struct weft_comm **out)
{
    if (!theirs) {
        weft_group_release(mine);
        mine = NULL;
    }
    return weft_comm_agree_group(over, mine, theirs, out);
}

/* The new group of the local side: the one passed by its first process that passes a non-empty one.
 */
static int local_choice(struct weft_comm *local, const struct weft_group *group,
                        struct weft_group **out)
{
    int size = group->size, root = 0;
    int *sizes = weft_memory_get((size_t)local->size, sizeof *sizes, "the description of a group");
    int code = weft_comm_collectives.allgather(local, weft_elements_of_bytes(&size, sizeof size),
                                               weft_elements_of_bytes(sizes, sizeof size));
    while (code == MPI_SUCCESS && root < local->size - 1 && !sizes[root])
        root++;
    size = sizes[root];
    free(sizes);
    if (code != MPI_SUCCESS)
        return code;
    int *ranks = weft_memory_get((size_t)size, sizeof *ranks, "the description of a group");
    bool given = local->rank != root ||
                 weft_group_translate(group, size, NULL, local->group, ranks) == MPI_SUCCESS;
    if (given)
        code = weft_comm_collectives.bcast(
            local, weft_elements_of_bytes(ranks, (size_t)size * sizeof *ranks), root);
    if (code == MPI_SUCCESS && given && weft_group_are_ranks(ranks, size, local->group->size))
        *out = weft_group_include(local->group, size, ranks);
    free(ranks);
    if (code == MPI_SUCCESS && !*out)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for a group of %d processes", size);
    return code;
}

int weft_intercomm_create_sub(struct weft_comm *over, struct weft_group *group,
                              struct weft_comm **out)
{
    struct weft_sides sides = weft_sides_of(over);
    struct weft_group *mine = NULL, *remote;
    *out = NULL;
    int code = local_choice(over->local, group, &mine);
    if (code == MPI_SUCCESS)
        code = swap_groups(&sides, over, mine, &remote);
    if (code != MPI_SUCCESS) {
        weft_group_release(mine);
        return weft_comm_refuse(over, code);
    }
    return make_between(over, mine, remote, out);
}

int weft_intercomm_split(struct weft_comm *over, struct weft_split *all, int64_t color, int failed,
                         struct weft_comm **out)
{
    struct weft_sides sides = weft_sides_of(over);
    void *theirs = NULL;
    size_t bytes;
    int code = failed;
    if (code == MPI_SUCCESS || weft_sides_leads(&sides)) {
        int swapped =
            weft_sides_swap(&sides, all, (size_t)over->local->size * sizeof *all,
                            weft_sides_exactly((size_t)over->size * sizeof *all), &theirs, &bytes);
        code = code ? code : swapped;
    }
    if (code != MPI_SUCCESS) {
        free(theirs);
        return weft_comm_refuse(over, code);
    }
    struct weft_group *mine = weft_split_group(over->group, all, color);
    struct weft_group *remote = weft_split_group(over->remote, theirs, color);
    free(theirs);
    return make_between(over, mine, remote, out);
}

int weft_intercomm_merge(struct weft_comm *inter, bool high, struct weft_comm **out)
{
    struct weft_sides sides = weft_sides_of(inter);
    char mine = high;
    void *theirs;
    size_t bytes;
    *out = NULL;
    int code = weft_sides_swap(&sides, &mine, 1, weft_sides_exactly(1), &theirs, &bytes);
    if (code != MPI_SUCCESS) {
        free(theirs);
        return weft_comm_refuse(inter, code);
    }
    bool their_high = *(char *)theirs != 0,
         first = high == their_high ? inter->first_half : their_high;
    free(theirs);
    struct weft_group *low = first ? inter->group : inter->remote,
                      *above = first ? inter->remote : inter->group;
    struct weft_group *all = weft_group_combine(WEFT_GROUP_UNION, low, above);
    return weft_comm_agree_group(inter, all, NULL, out);
}

/* ---- An inter-communicator between two intra-communicators */

/* Combines the words of both sides. */
static int combine(const struct weft_sides *sides, uint64_t *words, int failed)
{
    uint64_t theirs[WEFT_CONTEXT_WORDS];
    int code = weft_comm_combine(sides->local, words, failed);
    if (weft_sides_leads(sides)) {
        int lost = weft_sides_exchange(sides, words, sizeof theirs, theirs, sizeof theirs);
        if (lost == MPI_SUCCESS)
            weft_bid_combine(words, theirs);
        else
            weft_bid_record(words, sides->local->rank, lost);
        code = code ? code : lost;
    }
    int lost = weft_sides_broadcast(sides, words, sizeof theirs);
    if (lost != MPI_SUCCESS)
        weft_bid_record(words, sides->local->rank, lost);
    return code ? code : lost;
}

/* Allocates a block of context ids for both sides. failed: an error class of this process, or
 * MPI_SUCCESS. */
static int agree(const struct weft_sides *sides, uint64_t key, int failed, int *block)
{
    struct weft_bid bid;
    uint64_t words[WEFT_CONTEXT_WORDS];
    enum weft_bid_result result;
    weft_bid_open(&bid, key);
    do {
        if (weft_context_repeats())
            weft_lane_collect_all();
        bid.failed = failed != MPI_SUCCESS;
        weft_bid_propose(&bid);
        memcpy(words, bid.proposal, sizeof words);
        int combined = combine(sides, words, failed);
        failed = failed ? failed : combined;
        result = weft_bid_settle(&bid, words, block);
        if (result == WEFT_BID_AGAIN)
            weft_comm_sweep();
    } while (result == WEFT_BID_AGAIN);
    return failed ? failed : weft_bid_error(result, words);
}

static bool overlap(const struct weft_group *a, const struct weft_group *b)
{
    struct weft_group *common = weft_group_combine(WEFT_GROUP_INTERSECTION, a, b);
    bool any = !common || common->size > 0;
    weft_group_release(common);
    return any;
}

/* The first exchange of two sides that have no communicator yet. */
struct introduction {
    uint64_t key;     /* of the agreement */
    uint64_t foreign; /* 1 if the sides have processes of several jobs */
};

/* Exchanges the groups of both sides, and the key, which their leaders have: by world ranks if all
 * are of this job, else by contacts. */
static int swap_sides(const struct weft_sides *sides, uint64_t *key, struct weft_group **remote,
                      bool *first)
{
    struct weft_comm *local = sides->local;
    struct introduction head = {.key = *key, .foreign = local->group->foreign};
    size_t ranks = (size_t)local->size * sizeof(int32_t), bytes = sizeof head + ranks;
    char *mine = weft_memory_get(1, bytes, "the description of a group");
    void *theirs;
    *remote = NULL;
    if (weft_sides_leads(sides))
        head.foreign |= weft_is_foreign(weft_channel_world(sides->across, sides->remote_leader));
    memcpy(mine, &head, sizeof head);
    weft_group_list(local->remote, (int32_t *)(mine + sizeof head));
    struct weft_sides_range range = {sizeof head + sizeof(int32_t),
                                     sizeof head + WEFT_SIDES_RANKS_MAX * sizeof(int32_t)};
    int code = weft_sides_swap(sides, mine, bytes, range, &theirs, &bytes);
    free(mine);
    if (!theirs)
        return code;
    memcpy(&head, theirs, sizeof head);
    *key = head.key;
    if (local->group->foreign || head.foreign) {
        free(theirs);
        int swapped = weft_pairing_swap(sides, remote, first);
        return code ? code : swapped;
    }
    *remote = group_of(local->session, NULL, (char *)theirs + sizeof head, bytes - sizeof head);
    *first = *remote && weft_group_world(local->group, 0) < weft_group_world(*remote, 0);
    free(theirs);
    return code;
}

int weft_intercomm_join(struct weft_comm *local, int leader, struct weft_comm *peer,
                        int remote_leader, int tag, int failed, struct weft_comm **out)
{
    struct weft_sides sides = {.local = local, .leader = leader, .failed = failed};
    struct weft_group *remote = NULL;
    uint64_t key = 0;
    bool first;
    int block = -1;
    *out = NULL;
    if (failed == MPIX_ERR_REVOKED) /* it may have come from another member first */
        weft_comm_revoke(local);
    /* A member that has refused makes no exchange in the local group. */
    if (failed != MPI_SUCCESS && !weft_sides_is_broken(failed))
        return weft_sides_leads(&sides) ? weft_intercomm_refuse(peer, remote_leader, tag, failed)
                                        : failed;
    if (weft_sides_leads(&sides)) {
        sides.across = &peer->grouping;
        sides.remote_leader = remote_leader;
        sides.tag = tag;
        key = (uint64_t)peer->grouping.context << 32 | (uint32_t)tag;
    }
    int code = failed;
    if (code == MPI_SUCCESS || weft_sides_leads(&sides)) {
        int swapped = swap_sides(&sides, &key, &remote, &first);
        code = code ? code : swapped;
    }
    struct weft_comm *made = NULL;
    bool common = remote && overlap(local->group, remote);
    if (remote && !common && code == MPI_SUCCESS)
        made = weft_comm_make(local->group, remote, local->errhandler);
    if (made)
        made->first_half = first;
    if (code == MPI_SUCCESS && common)
        code = weft_error_set(MPI_ERR_COMM,
                              "the two groups have a process in common; the groups of an "
                              "inter-communicator are disjoint");
    else if (code == MPI_SUCCESS && !made)
        code = weft_error_set(MPI_ERR_OTHER, "the inter-communicator cannot be made: there is no "
                                             "memory, or the other group is not understood");
    code = agree(&sides, key, code, &block);
    weft_group_release(remote);
    if (code != MPI_SUCCESS) {
        weft_comm_drop(made);
        return code;
    }
    weft_comm_open(made, block);
    *out = made;
    return MPI_SUCCESS;
}

int weft_intercomm_create(struct weft_comm *local, int leader, struct weft_comm *peer,
                          int remote_leader, int tag, struct weft_comm **out)
{
    int failed = weft_comm_begin(local, MPI_SUCCESS);
    return weft_intercomm_join(local, leader, peer, remote_leader, tag, failed, out);
}

int weft_intercomm_refuse(struct weft_comm *peer, int remote_leader, int tag, int failed)
{
    const struct weft_sides sides = {
        .across = &peer->grouping, .remote_leader = remote_leader, .tag = tag, .failed = failed};
    uint64_t words[WEFT_CONTEXT_WORDS], theirs[WEFT_CONTEXT_WORDS];
    int64_t bytes = 0;
    char *data = NULL;
    weft_bid_record(words, peer->rank, failed);
    weft_sides_exchange_data(&sides, NULL, 0, weft_sides_exactly(0), &bytes, &data);
    weft_sides_exchange(&sides, words, sizeof words, theirs, sizeof theirs);
    return failed;
}
