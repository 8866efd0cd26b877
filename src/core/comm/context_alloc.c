// SPDX-License-Identifier: BSD-3-Clause
/*
 * Context allocation: see context_alloc.h.
 *
 * Invariant: a member that fails keeps sending and receiving to the end of the allocation, with a
 * proposal that makes all members fail, so that no member waits for it. If a member is dead, others
 * may have failed before they came to the allocation, so no member waits for their messages; but
 * all members of a group come to its allocation (WEFT_CONTEXT_GROUPING), whose tag may come again.
 */
#include "core/comm/context_alloc.h"
#include "core/comm/nodes.h"
#include "core/comm/revoke.h"
#include "core/comm/spread.h"
#include "core/base/error.h"
#include "core/message/lane.h"
#include "core/progress/progress.h"
#include "core/pt2pt/cancel.h"
#include "core/pt2pt/p2p.h"

#include <string.h>

static struct weft_context_alloc *first; /* list of the active allocations */

/* The assertions of a member are in the first word of its proposal, from this bit on. */
enum { ASSERTIONS_SHIFT = 8 };

struct weft_channel *weft_comm_making_route(struct weft_comm *comm, int64_t index, int *rank)
{
    *rank = (int)index;
    if (!comm->local)
        return &comm->making;
    int local = comm->local->size, first_half = comm->first_half ? local : comm->size;
    bool in_first = index < first_half;
    *rank = (int)(in_first ? index : index - first_half);
    return in_first == comm->first_half ? &comm->local->making : &comm->making;
}

/* The channel to a member, and the member's rank in it. */
static struct weft_channel *route(const struct weft_context_alloc *alloc, int64_t index, int *rank)
{
    index = (index + alloc->size) % alloc->size;
    if (alloc->use != WEFT_CONTEXT_GROUPING)
        return weft_comm_making_route(alloc->over, index, rank);
    *rank = alloc->ranks[index];
    return &alloc->over->grouping;
}

void weft_bid_record(uint64_t *words, int rank, int code)
{
    struct weft_bid_failure failure = {.code = code, .rank = rank};
    weft_error_text(code, failure.reason, sizeof failure.reason);
    weft_bid_fail(words, &failure);
}

/* Keeps the first error, and makes all members fail with it. */
static void note(struct weft_context_alloc *alloc, int code)
{
    if (code == MPI_SUCCESS)
        return;
    if (!alloc->code)
        alloc->code = code;
    weft_bid_record(alloc->words, alloc->over->rank, alloc->code);
}

/* ---- Rounds */

/* The rounds in which 2^rounds members reach one, or one reaches them. */
static int rounds_of(int members)
{
    int rounds = 0;
    while ((int64_t)1 << rounds < members)
        rounds++;
    return rounds;
}

/* The members to which this one sends in a round and from which it receives; -1: none. */
struct partners {
    int to, from;
};

/* Dissemination among n leaders, of which this one has the number `mine`. */
static struct partners across(int n, int mine, int round)
{
    int distance = (int)((int64_t)1 << round);
    return (struct partners){(int)(((int64_t)mine + distance) % n), (mine - distance + n) % n};
}

/* The partner with this bit in a binomial tree of the n ranks of a node, below index 0. */
static struct partners within(int n, int index, int bit, bool up)
{
    int child = -1, parent = -1;
    if (index % (2 * bit) == bit)
        parent = index - bit;
    else if (index % (2 * bit) == 0 && index + bit < n)
        child = index + bit;
    return up ? (struct partners){parent, child} : (struct partners){child, parent};
}

/* Rounds up the trees, across, and down. False after the last one. */
static bool find_partners(const struct weft_context_alloc *alloc, struct partners *partners)
{
    const struct weft_nodes *nodes = alloc->nodes;
    int leaders = nodes ? nodes->count : alloc->size, mine = nodes ? nodes->mine : alloc->index;
    int size = nodes ? weft_nodes_size(nodes, mine) : 1;
    int index = nodes ? weft_nodes_index(nodes, alloc->index) : 0;
    int round = alloc->round, deep = rounds_of(size), wide = rounds_of(leaders);
    struct partners found = {-1, -1};
    if (round >= deep && round < deep + wide) {
        if (index == 0)
            found = across(leaders, mine, round - deep);
        if (index == 0 && nodes)
            found = (struct partners){nodes->order[nodes->begin[found.to]],
                                      nodes->order[nodes->begin[found.from]]};
    } else if (round < 2 * deep + wide) {
        const int *order = nodes->order + nodes->begin[mine];
        bool up = round < deep;
        found = within(size, index, 1 << (up ? round : 2 * deep + wide - 1 - round), up);
        found = (struct partners){found.to < 0 ? -1 : order[found.to],
                                  found.from < 0 ? -1 : order[found.from]};
    }
    *partners = found;
    return round < 2 * deep + wide;
}

static void send_bid(struct weft_context_alloc *alloc, int member)
{
    int to;
    struct weft_channel *channel = route(alloc, member, &to);
    size_t bytes = (size_t)weft_bid_pack(alloc->sent, alloc->words) * sizeof *alloc->sent;
    int code = weft_p2p_isend(channel, alloc->sent, bytes, weft_datatype_byte(), to, alloc->tag,
                              WEFT_SEND_STANDARD, &alloc->send);
    if (code != MPI_SUCCESS)
        alloc->send = NULL;
    note(alloc, code);
}

static void receive_bid(struct weft_context_alloc *alloc, int member)
{
    int from;
    struct weft_channel *channel = route(alloc, member, &from);
    note(alloc, weft_p2p_irecv(channel, alloc->received, sizeof alloc->received,
                               weft_datatype_byte(), from, alloc->tag, &alloc->receive));
}

/* Starts the messages of the round. False after the last round. */
static bool start_round(struct weft_context_alloc *alloc)
{
    struct partners partners;
    weft_assert(!alloc->send && !alloc->receive);
    if (!find_partners(alloc, &partners))
        return false;
    if (partners.from >= 0)
        receive_bid(alloc, partners.from);
    if (partners.to >= 0)
        send_bid(alloc, partners.to);
    return true;
}

static void bid(struct weft_context_alloc *alloc)
{
    if (!alloc->combines) {
        if (weft_context_repeats())
            weft_lane_collect_all(); /* the provider may have messages of a block's last turn */
        alloc->bid.failed = alloc->code != MPI_SUCCESS;
        weft_bid_propose(&alloc->bid);
        memcpy(alloc->words, alloc->bid.proposal, sizeof alloc->words);
        alloc->words[0] |= (uint64_t)(alloc->assertions & WEFT_ASSERT_AGREED) << ASSERTIONS_SHIFT;
    }
    note(alloc, alloc->code);
    alloc->round = 0;
    start_round(alloc);
}

/* True if the request is complete, and frees it, or if there is none. */
static bool completed(struct weft_context_alloc *alloc, struct weft_request **request)
{
    if (!*request)
        return true;
    if ((*request)->pending)
        return false;
    int code = (*request)->flags & WEFT_REQUEST_CANCELLED ? weft_comm_report_broken(alloc->over)
                                                          : (*request)->error;
    note(alloc, code);
    if (request == &alloc->receive && code == MPI_SUCCESS) {
        uint64_t words[WEFT_CONTEXT_WORDS];
        weft_bid_unpack(words, alloc->received, (*request)->bytes / sizeof *words);
        weft_bid_combine(alloc->words, words);
    }
    weft_request_put(*request);
    *request = NULL;
    return true;
}

int weft_bid_error(enum weft_bid_result result, const uint64_t *words)
{
    struct weft_bid_failure failure;
    if (result == WEFT_BID_FAILED) {
        weft_bid_failure(words, &failure);
        /* A code of another process's callback means nothing here, and a request has 8 bits. */
        bool known = failure.code > MPI_SUCCESS && failure.code <= UINT8_MAX;
        return weft_error_set_secondary(known ? failure.code : MPI_ERR_OTHER,
                                        "rank %d refuses its call, which makes something for all "
                                        "ranks together: %s",
                                        failure.rank, failure.reason);
    }
    if (result == WEFT_BID_EXHAUSTED)
        return weft_error_set(MPI_ERR_OTHER,
                              "no context id is free in all processes of the new communicator; "
                              "this process has %d communicators of %d: free unused ones",
                              weft_context_in_use(), WEFT_CONTEXT_BLOCKS);
    return MPI_SUCCESS;
}

static void end_alloc(struct weft_context_alloc *alloc, enum weft_bid_result result)
{
    weft_assert(!alloc->done && alloc->over->uses > 0);
    if (!alloc->code)
        alloc->code = weft_bid_error(result, alloc->words);
    if (alloc->code != MPI_SUCCESS)
        weft_revoke_not_opened();
    alloc->over->uses--;
    alloc->done = true;
    if (alloc->end)
        alloc->end(alloc);
}

/* Evaluates the combined proposals. True if the allocation has ended, and may be freed. */
static bool settle(struct weft_context_alloc *alloc)
{
    struct weft_bid_failure failure;
    enum weft_bid_result result = !alloc->combines
                                      ? weft_bid_settle(&alloc->bid, alloc->words, &alloc->block)
                                  : weft_bid_failure(alloc->words, &failure) ? WEFT_BID_FAILED
                                                                             : WEFT_BID_TAKEN;
    if (result == WEFT_BID_AGAIN) {
        weft_comm_sweep();
        bid(alloc);
        return false;
    }
    alloc->assertions = alloc->words[0] >> ASSERTIONS_SHIFT & WEFT_ASSERT_AGREED;
    end_alloc(alloc, result);
    return true;
}

/* True if not all members may come to the allocation. */
static bool is_broken(const struct weft_context_alloc *alloc)
{
    return alloc->use == WEFT_CONTEXT_MAKING ? weft_comm_is_broken(alloc->over)
                                             : alloc->over->revoked;
}

/* Cancels the messages of a round if not all members may come. */
static void cancel_round(struct weft_context_alloc *alloc)
{
    if (!is_broken(alloc))
        return;
    if (alloc->receive && alloc->receive->pending)
        weft_cancel(alloc->receive);
    if (alloc->send && alloc->send->pending)
        weft_cancel(alloc->send);
}

/* Advances one allocation. True if it has ended, and may be freed. */
static bool advance_alloc(struct weft_context_alloc *alloc, int *events)
{
    for (;;) {
        cancel_round(alloc);
        bool received = completed(alloc, &alloc->receive);
        if (!completed(alloc, &alloc->send) || !received)
            return false;
        ++*events;
        alloc->round++;
        if (!start_round(alloc) && settle(alloc))
            return true;
    }
}

/* Takes a block for this process only, which needs no proposals. False if none is free. */
static bool take_alone(struct weft_context_alloc *alloc)
{
    alloc->block = weft_context_take();
    if (alloc->block < 0) {
        weft_comm_sweep();
        alloc->block = weft_context_take();
    }
    return alloc->block >= 0;
}

void weft_context_alloc_start(struct weft_context_alloc *alloc, uint64_t key, int failed)
{
    weft_assert(alloc->index >= 0 && alloc->index < alloc->size && weft_vcis_hold_all());
    alloc->over->uses++;
    alloc->code = failed;
    /* Its other members may be behind or ahead by a call that failed at some of them only. */
    if (!failed && is_broken(alloc))
        alloc->code = failed = weft_comm_report_broken(alloc->over);
    if (alloc->size == 1) {
        end_alloc(alloc, failed                                 ? WEFT_BID_FAILED
                         : alloc->combines || take_alone(alloc) ? WEFT_BID_TAKEN
                                                                : WEFT_BID_EXHAUSTED);
        return;
    }
    if (alloc->use == WEFT_CONTEXT_MAKING && !alloc->over->local)
        alloc->nodes = weft_nodes_of(alloc->over->group);
    weft_bid_open(&alloc->bid, key);
    bid(alloc);
    alloc->next = first;
    first = alloc;
    weft.others |= WEFT_OTHERS_AGREE;
}

int weft_context_alloc_progress(void)
{
    int events = 0;
    weft_assert(weft_vcis_hold_all());
    struct weft_context_alloc **link = &first;
    while (*link) {
        struct weft_context_alloc *alloc = *link;
        struct weft_context_alloc *next = alloc->next;
        if (advance_alloc(alloc, &events))
            *link = next;
        else
            link = &alloc->next;
    }
    if (!first)
        weft.others &= (uint8_t)~WEFT_OTHERS_AGREE;
    return events;
}

static bool is_unfinished(void *arg)
{
    const struct weft_context_alloc *alloc = arg;
    return !alloc->done;
}

int weft_context_alloc_wait(struct weft_context_alloc *alloc)
{
    weft_wait_while(NULL, is_unfinished, alloc, &alloc->receive);
    return alloc->code;
}

/* Their messages are freed with all requests. */
void weft_context_alloc_finalize(void)
{
    while (first) {
        struct weft_context_alloc *alloc = first;
        first = alloc->next;
        alloc->send = alloc->receive = NULL;
        alloc->code = MPI_ERR_OTHER;
        end_alloc(alloc, WEFT_BID_FAILED);
    }
    weft.others &= (uint8_t)~WEFT_OTHERS_AGREE;
}
