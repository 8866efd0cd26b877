// SPDX-License-Identifier: BSD-3-Clause
/*
 * Inter-communicators: see intercomm.h.
 *
 * Invariant: a leader that fails reports the failure to both sides, so that no process waits for
 * data from it.
 */
#include "core/comm/intercomm.h"
#include "core/comm/context_alloc.h"
#include "core/comm/comm_make.h"
#include "core/base/error.h"
#include "core/pt2pt/p2p.h"
#include "core/comm/session.h"
#include "core/message/lane.h"
#include "core/message/process.h"
#include "core/progress/progress.h"

#include <stdlib.h>
#include <string.h>

/* The two sides, and the route between them. */
struct sides {
    struct weft_comm *local;
    int leader;                  /* its rank in `local` */
    struct weft_channel *across; /* at the leader only: the channel to the remote leader, */
    int remote_leader, tag;      /* its rank there, and the tag */
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
                          .remote_leader = 0,
                          .tag = weft_comm_making_tag(inter)};
}

/* ---- Exchange between the sides */

/* Before the first exchange one side cannot make the other fail, so lack of memory ends the job. */
static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for the %zu bytes that describe a group", bytes);
    return memory;
}

/* The other leader sent what describes no group. */
WEFT_COLD static int report_damaged(const struct sides *sides, size_t bytes)
{
    return weft_error_set(MPI_ERR_INTERN,
                          "the %zu bytes from rank %d, the leader of the other group, describe no "
                          "group of this job; see whether all ranks run the same version of Weft",
                          bytes, sides->remote_leader);
}

/* Leaders only: sends `bytes` bytes, receives `their_bytes`. */
static int exchange_sides(const struct sides *sides, const void *mine, size_t bytes, void *theirs,
                          size_t their_bytes)
{
    const struct weft_datatype *type = weft_handle_object(MPI_BYTE);
    struct weft_request *receive;
    int code = weft_p2p_irecv(sides->across, theirs, their_bytes, type, sides->remote_leader,
                              sides->tag, &receive);
    if (code != MPI_SUCCESS)
        return code;
    int sent = weft_p2p_send(sides->across, mine, bytes, type, sides->remote_leader, sides->tag,
                             WEFT_SEND_STANDARD);
    weft_request_wait(receive);
    code = receive->error;
    if (code == MPI_SUCCESS && receive->bytes != their_bytes)
        code = report_damaged(sides, receive->bytes);
    weft_request_put(receive);
    return code ? code : sent;
}

static int broadcast(const struct sides *sides, void *data, size_t bytes)
{
    return weft_comm_collectives.bcast(sides->local, weft_elements_of_bytes(data, bytes),
                                       sides->leader);
}

/* The bytes that the other side may send. */
struct range {
    size_t least, most;
};

static struct range exactly(size_t bytes)
{
    return (struct range){bytes, bytes};
}

/* Sends the leader's bytes to the other side. All processes of this side get the other side's bytes
 * in *theirs, for the caller to free, or all fail. */
static int swap(const struct sides *sides, const void *mine, size_t bytes, struct range range,
                void **theirs, size_t *their_bytes)
{
    int64_t size = (int64_t)bytes, other = -1;
    char *data = NULL;
    int code = MPI_SUCCESS;
    if (leads(sides)) {
        code = exchange_sides(sides, &size, sizeof size, &other, sizeof other);
        if (code == MPI_SUCCESS && (other < (int64_t)range.least || other > (int64_t)range.most))
            code = report_damaged(sides, (size_t)other);
        if (code == MPI_SUCCESS) {
            data = allocate((size_t)other);
            code = exchange_sides(sides, mine, bytes, data, (size_t)other);
        }
        if (code != MPI_SUCCESS)
            other = -1;
    }
    int failed = broadcast(sides, &other, sizeof other);
    if (code == MPI_SUCCESS)
        code = failed;
    if (code == MPI_SUCCESS && other < 0)
        code = weft_error_set(MPI_ERR_OTHER,
                              "rank %d of the local group could not reach the other group; see the "
                              "error message of that rank",
                              sides->leader);
    if (code == MPI_SUCCESS && !data)
        data = allocate((size_t)other);
    if (code == MPI_SUCCESS)
        code = broadcast(sides, data, (size_t)other);
    if (code != MPI_SUCCESS) {
        free(data);
        data = NULL;
    }
    *theirs = data;
    *their_bytes = (size_t)other;
    return code;
}

/* True if these are ranks of the job, each of them once. */
static bool are_ranks(const int32_t *ranks, int n)
{
    bool *seen = calloc((size_t)weft.job.size, sizeof *seen), good = seen;
    for (int i = 0; i < n && good; i++) {
        good = ranks[i] >= 0 && ranks[i] < weft.job.size && !seen[ranks[i]];
        if (good)
            seen[ranks[i]] = true;
    }
    free(seen);
    return good;
}

/* NULL: no memory, or these bytes are no group of the job. */
static struct weft_group *group_of(struct weft_session *session, const void *ranks, size_t bytes)
{
    int n = (int)(bytes / sizeof(int32_t));
    struct weft_group *group = bytes % sizeof(int32_t) ? NULL : weft_group_make(n);
    if (!group)
        return NULL;
    memcpy(group->table, ranks, bytes);
    if (!are_ranks(group->table, n)) {
        free(group);
        return NULL;
    }
    group->session = weft_session_keep(session);
    return weft_group_seal(group);
}

/* Exchanges the world ranks of two groups. */
static int swap_groups(const struct sides *sides, const struct weft_group *mine, void **theirs,
                       size_t *bytes)
{
    size_t size = (size_t)mine->size * sizeof(int32_t);
    int32_t *ranks = allocate(size);
    weft_group_list(mine, ranks);
    struct range range = {0, (size_t)weft.job.size * sizeof *ranks};
    int code = swap(sides, ranks, size, range, theirs, bytes);
    free(ranks);
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
    int *sizes = allocate((size_t)local->size * sizeof *sizes);
    int code = weft_comm_collectives.allgather(local, weft_elements_of_bytes(&size, sizeof size),
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
    code = weft_comm_collectives.bcast(
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
        weft_group_release(mine);
        return code;
    }
    struct weft_group *remote = group_of(over->session, theirs, bytes);
    free(theirs);
    return make_between(over, mine, remote, out);
}

int weft_intercomm_split(struct weft_comm *over, struct weft_choice *all, int color,
                         struct weft_comm **out)
{
    struct sides sides = sides_of(over);
    void *theirs;
    size_t bytes;
    int code = swap(&sides, all, (size_t)over->local->size * sizeof *all,
                    exactly((size_t)over->size * sizeof *all), &theirs, &bytes);
    if (code != MPI_SUCCESS)
        return code;
    struct weft_group *mine = weft_choice_group(over->group, all, color);
    struct weft_group *remote = weft_choice_group(over->remote, theirs, color);
    free(theirs);
    return make_between(over, mine, remote, out);
}

int weft_intercomm_merge(struct weft_comm *inter, bool high, struct weft_comm **out)
{
    struct sides sides = sides_of(inter);
    char mine = high;
    void *theirs;
    size_t bytes;
    *out = NULL;
    int code = swap(&sides, &mine, 1, exactly(1), &theirs, &bytes);
    if (code != MPI_SUCCESS)
        return code;
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
static int combine(const struct sides *sides, uint64_t *words, int failed)
{
    uint64_t theirs[WEFT_CONTEXT_WORDS];
    int code = weft_comm_combine(sides->local, words, failed);
    if (leads(sides)) {
        int lost = exchange_sides(sides, words, sizeof theirs, theirs, sizeof theirs);
        if (lost == MPI_SUCCESS)
            weft_bid_combine(words, theirs);
        else
            weft_bid_record(words, sides->local->rank, lost);
        code = code ? code : lost;
    }
    int lost = broadcast(sides, words, sizeof theirs);
    return code ? code : lost;
}

/* Allocates a block of context ids for both sides. failed: an error class of this process, or
 * MPI_SUCCESS. */
static int agree(const struct sides *sides, uint64_t key, int failed, int *block)
{
    struct weft_bid bid;
    uint64_t words[WEFT_CONTEXT_WORDS];
    enum weft_bid_result result;
    weft_bid_open(&bid, key);
    do {
        if (weft_context_repeats())
            weft_lane_collect_all();
        bid.failed = failed != MPI_SUCCESS;
        weft_bid_offer(&bid);
        memcpy(words, bid.offer, sizeof words);
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

int weft_intercomm_create(struct weft_comm *local, int leader, struct weft_comm *peer,
                          int remote_leader, int tag, struct weft_comm **out)
{
    struct sides sides = {.local = local, .leader = leader};
    size_t ranks = (size_t)local->size * sizeof(int32_t), bytes = sizeof(uint64_t) + ranks;
    char *mine = allocate(bytes);
    void *theirs;
    uint64_t key = 0;
    int block = -1;
    *out = NULL;
    if (leads(&sides)) {
        sides.across = &peer->grouping;
        sides.remote_leader = remote_leader;
        sides.tag = tag;
        key = (uint64_t)peer->grouping.context << 32 | (uint32_t)tag;
    }
    memcpy(mine, &key, sizeof key);
    weft_group_list(local->remote, (int32_t *)(mine + sizeof key));
    struct range range = {sizeof key + sizeof(int32_t),
                          sizeof key + (size_t)weft.job.size * sizeof(int32_t)};
    int code = swap(&sides, mine, bytes, range, &theirs, &bytes);
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
    else if (!made)
        code = weft_error_set(MPI_ERR_NO_MEM, "no memory for an inter-communicator");
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
