// SPDX-License-Identifier: BSD-3-Clause
/*
 * Inter-communicators: see intercomm.h.
 *
 * Invariant: a leader that fails says so to both sides, so that nobody waits for what it would have
 * passed on.
 */
#include "core/comm/intercomm.h"
#include "core/comm/context_alloc.h"
#include "core/coll/coll.h"
#include "core/comm/comm_make.h"
#include "core/object/error.h"
#include "core/coll/op.h"
#include "core/pt2pt/p2p.h"
#include "core/comm/session.h"

#include <stdlib.h>
#include <string.h>

/* How this process's side talks to the other one. */
struct sides {
    struct weft_comm *local;
    int leader;                  /* of the local side */
    struct weft_channel *across; /* at the leader: to the other leader */
    int other, tag;
};

static bool leads(const struct sides *sides)
{
    return sides->local->rank == sides->leader;
}

static struct sides sides_of(struct weft_comm *inter)
{
    return (struct sides){.local = inter->local,
                          .leader = 0,
                          .across = &inter->making,
                          .other = 0,
                          .tag = weft_comm_making_tag(inter)};
}

/* ---- Across */

/* The two sides have no way to fail together before they know one another. */
static void *take(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for the %zu bytes that describe a group", bytes);
    return memory;
}

/* Leaders exchange as many bytes as they know to come. */
static int exchange(const struct sides *sides, const void *mine, size_t bytes, void *theirs,
                    size_t their_bytes)
{
    const struct weft_datatype *type = weft_handle_object(MPI_BYTE);
    struct weft_request *receive;
    int code = weft_p2p_irecv(sides->across, theirs, their_bytes, type, sides->other, sides->tag,
                              &receive);
    if (code != MPI_SUCCESS)
        return code;
    int sent = weft_p2p_send(sides->across, mine, bytes, type, sides->other, sides->tag,
                             WEFT_SEND_STANDARD);
    weft_request_wait(receive);
    code = receive->error;
    weft_request_put(receive);
    return code ? code : sent;
}

static int tell(const struct sides *sides, void *data, size_t bytes)
{
    return weft_coll_bcast(sides->local, weft_elements_of_bytes(data, bytes), sides->leader);
}

/* Gives the other side bytes of the leader's, and everybody here what came back, to be freed. All
 * fail when the leaders do. */
static int swap(const struct sides *sides, const void *mine, size_t bytes, void **theirs,
                size_t *their_bytes)
{
    int64_t size = (int64_t)bytes, other = -1;
    char *data = NULL;
    *theirs = NULL;
    int code =
        leads(sides) ? exchange(sides, &size, sizeof size, &other, sizeof other) : MPI_SUCCESS;
    if (leads(sides) && code == MPI_SUCCESS) {
        data = take((size_t)other);
        code = exchange(sides, mine, bytes, data, (size_t)other);
    }
    if (code != MPI_SUCCESS)
        other = -1;
    int failed = tell(sides, &other, sizeof other);
    if (code == MPI_SUCCESS)
        code = failed;
    if (code == MPI_SUCCESS && other < 0)
        code = weft_error_set(MPI_ERR_OTHER,
                              "rank %d of the local group could not reach the other group; its own "
                              "error tells why",
                              sides->leader);
    if (code == MPI_SUCCESS && !data)
        data = take((size_t)other);
    if (code == MPI_SUCCESS)
        code = tell(sides, data, (size_t)other);
    if (code != MPI_SUCCESS) {
        free(data);
        return code;
    }
    *theirs = data;
    *their_bytes = (size_t)other;
    return MPI_SUCCESS;
}

static struct weft_group *group_of(struct weft_session *session, const void *ranks, size_t bytes)
{
    struct weft_group *group = weft_group_make((int)(bytes / sizeof group->table[0]));
    if (!group)
        return NULL;
    memcpy(group->table, ranks, bytes);
    group->session = weft_session_keep(session);
    return weft_group_seal(group);
}

/* Tells the other side who is in a group, and learns who is in theirs. */
static int swap_groups(struct sides *sides, const struct weft_group *mine, void **theirs,
                       size_t *bytes)
{
    size_t size = (size_t)mine->size * sizeof(int32_t);
    int32_t *ranks = take(size);
    weft_group_list(mine, ranks);
    int code = swap(sides, ranks, size, theirs, bytes);
    free(ranks);
    return code;
}

/* ---- Out of an inter-communicator */

/* A communicator between two groups, for the processes in the first; NULL with MPI_SUCCESS for
 * others, and where a side is empty. */
static struct weft_comm *between(struct weft_comm *over, struct weft_group *mine,
                                 struct weft_group *theirs, int *failed)
{
    *failed = mine && theirs ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (*failed || mine->rank == MPI_UNDEFINED || theirs->size == 0)
        return NULL;
    struct weft_comm *made = weft_comm_make(mine, theirs, over->errhandler);
    *failed = made ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    return made;
}

static int agree_and_release(struct weft_comm *over, struct weft_group *mine,
                             struct weft_group *theirs, struct weft_comm **out)
{
    int failed;
    struct weft_comm *made = between(over, mine, theirs, &failed);
    int code = weft_comm_agree(over, made, failed, out);
    if (mine)
        weft_group_release(mine);
    if (theirs)
        weft_group_release(theirs);
    return code;
}

/* The group that the local side named: that of its first process that named one. */
static int local_choice(struct weft_comm *local, const struct weft_group *group,
                        struct weft_group **out)
{
    int size = group->size, root = 0;
    int *sizes = take((size_t)local->size * sizeof *sizes);
    int code = weft_coll_allgather(local, weft_elements_of_bytes(&size, sizeof size),
                                   weft_elements_of_bytes(sizes, sizeof size));
    while (code == MPI_SUCCESS && root < local->size - 1 && !sizes[root])
        root++;
    size = sizes[root];
    free(sizes);
    if (code != MPI_SUCCESS)
        return code;
    struct weft_group *chosen = weft_group_make(size);
    if (!chosen)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for a group of %d processes", size);
    if (local->rank == root)
        weft_group_list(group, chosen->table);
    code = weft_coll_bcast(
        local, weft_elements_of_bytes(chosen->table, (size_t)size * sizeof chosen->table[0]), root);
    chosen->session = weft_session_keep(local->session);
    *out = weft_group_seal(chosen);
    return code;
}

int weft_intercomm_create_sub(struct weft_comm *over, struct weft_group *group,
                              struct weft_comm **out)
{
    struct sides sides = sides_of(over);
    struct weft_group *mine = NULL;
    void *theirs;
    size_t bytes;
    *out = NULL;
    int code = local_choice(over->local, group, &mine);
    if (code == MPI_SUCCESS)
        code = swap_groups(&sides, mine, &theirs, &bytes);
    if (code != MPI_SUCCESS) {
        if (mine)
            weft_group_release(mine);
        return code;
    }
    struct weft_group *remote = group_of(over->session, theirs, bytes);
    free(theirs);
    return agree_and_release(over, mine, remote, out);
}

int weft_intercomm_split(struct weft_comm *over, struct weft_choice *all, int color,
                         struct weft_comm **out)
{
    struct sides sides = sides_of(over);
    void *theirs;
    size_t bytes;
    int code = swap(&sides, all, (size_t)over->local->size * sizeof *all, &theirs, &bytes);
    if (code != MPI_SUCCESS)
        return code;
    struct weft_group *mine = weft_choice_group(over->group, all, color);
    struct weft_group *remote = weft_choice_group(over->remote, theirs, color);
    free(theirs);
    return agree_and_release(over, mine, remote, out);
}

int weft_intercomm_merge(struct weft_comm *inter, bool high, struct weft_comm **out)
{
    struct sides sides = sides_of(inter);
    char mine = high;
    void *theirs;
    size_t bytes;
    *out = NULL;
    int code = swap(&sides, &mine, 1, &theirs, &bytes);
    if (code != MPI_SUCCESS)
        return code;
    bool their_high = *(char *)theirs, first = high == their_high ? inter->first_half : their_high;
    free(theirs);
    struct weft_group *low = first ? inter->group : inter->remote,
                      *above = first ? inter->remote : inter->group;
    struct weft_group *all = weft_group_combine(WEFT_GROUP_UNION, low, above);
    struct weft_comm *made = all ? weft_comm_make(all, NULL, inter->errhandler) : NULL;
    code = weft_comm_agree(inter, made, made ? MPI_SUCCESS : MPI_ERR_NO_MEM, out);
    if (all)
        weft_group_release(all);
    return code;
}

/* ---- Between two groups that have none yet */

/* Combines the words of both sides by AND. */
static int combine(const struct sides *sides, uint64_t *words)
{
    const struct weft_datatype *type = weft_handle_object(MPI_UINT64_T);
    uint64_t all[WEFT_CONTEXT_WORDS], theirs[WEFT_CONTEXT_WORDS];
    int code =
        weft_coll_allreduce(sides->local, (struct weft_elements){words, WEFT_CONTEXT_WORDS, type},
                            all, weft_handle_object(MPI_BAND));
    if (leads(sides)) {
        int failed = exchange(sides, all, sizeof all, theirs, sizeof theirs);
        for (int i = 0; i < WEFT_CONTEXT_WORDS; i++)
            all[i] &= failed ? 0 : theirs[i];
        code = code ? code : failed;
    }
    int failed = tell(sides, all, sizeof all);
    memcpy(words, all, sizeof all);
    return code ? code : failed;
}

/* The agreement of two groups on a block of context ids. */
static int agree(const struct sides *sides, uint64_t key, bool failed, int *block)
{
    struct weft_bid bid;
    uint64_t words[WEFT_CONTEXT_WORDS];
    enum weft_bid_result result;
    int code = MPI_SUCCESS;
    weft_bid_open(&bid, key);
    do {
        bid.failed = failed || code != MPI_SUCCESS;
        weft_bid_offer(&bid);
        memcpy(words, bid.offer, sizeof words);
        int combined = combine(sides, words);
        code = code ? code : combined;
        result = weft_bid_settle(&bid, words, block);
        if (result == WEFT_BID_AGAIN)
            weft_comm_sweep();
    } while (result == WEFT_BID_AGAIN);
    if (result == WEFT_BID_TAKEN || code != MPI_SUCCESS || failed)
        return code;
    return weft_error_set(MPI_ERR_OTHER,
                          result == WEFT_BID_FAILED
                              ? "another process of the inter-communicator to be could not take "
                                "part; its own error tells why"
                              : "no context id is free in all processes of the inter-communicator "
                                "to be; free communicators that are not needed");
}

static bool overlap(const struct weft_group *a, struct weft_group *b)
{
    struct weft_group *common =
        weft_group_combine(WEFT_GROUP_INTERSECTION, (struct weft_group *)a, b);
    bool any = !common || common->size > 0;
    if (common)
        weft_group_release(common);
    return any;
}

int weft_intercomm_create(struct weft_comm *local, int leader, struct weft_comm *peer,
                          int remote_leader, int tag, struct weft_comm **out)
{
    struct sides sides = {.local = local, .leader = leader};
    size_t ranks = (size_t)local->size * sizeof(int32_t), bytes = sizeof(uint64_t) + ranks;
    char *mine = take(bytes);
    void *theirs;
    uint64_t key = 0;
    int block = -1;
    *out = NULL;
    if (leads(&sides)) {
        sides.across = &peer->grouping;
        sides.other = remote_leader;
        sides.tag = tag;
        key = (uint64_t)peer->grouping.context << 32 | (uint32_t)tag;
    }
    memcpy(mine, &key, sizeof key);
    weft_group_list(local->remote, (int32_t *)(mine + sizeof key));
    int code = swap(&sides, mine, bytes, &theirs, &bytes);
    free(mine);
    if (code != MPI_SUCCESS)
        return code;
    memcpy(&key, theirs, sizeof key);
    struct weft_group *remote =
        group_of(local->session, (char *)theirs + sizeof key, bytes - sizeof key);
    free(theirs);
    struct weft_comm *made = NULL;
    bool common = remote && overlap(local->group, remote);
    if (remote && !common)
        made = weft_comm_make(local->group, remote, local->errhandler);
    if (common)
        code = weft_error_set(MPI_ERR_COMM,
                              "the two groups have a process in common; the groups of an "
                              "inter-communicator are disjoint");
    int agreed = agree(&sides, key, !made, &block);
    if (remote)
        weft_group_release(remote);
    if (code == MPI_SUCCESS)
        code = made ? agreed : MPI_ERR_NO_MEM;
    if (code != MPI_SUCCESS) {
        weft_comm_drop(made);
        return code;
    }
    weft_comm_open(made, block);
    *out = made;
    return MPI_SUCCESS;
}
