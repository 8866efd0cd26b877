// SPDX-License-Identifier: BSD-3-Clause
/*
 * The calls of an agreement: what a member contributes, and what follows from the decision.
 *
 * Invariant: the calls of a communicator contribute one after the other, in the order in which they
 * were made.
 */
#include "core/comm/agree_internal.h"
#include "core/comm/board.h"
#include "core/base/error.h"
#include "core/message/lane.h"
#include "core/progress/failure.h"

#include <stdlib.h>
#include <string.h>

/* ---- Calls */

static void end_call(struct weft_agree *agree, struct weft_agree_call *call, int code)
{
    weft_assert(agree->calls == call && !call->done);
    agree->calls = call->next;
    if (!agree->calls)
        agree->end = &agree->calls;
    call->code = code;
    call->done = true;
    if (call->what == WEFT_AGREE_FREE)
        agree->closing = true;
    if (call->request) {
        call->request->error = (uint8_t)code;
        weft_request_event(call->request);
    }
    if (call->request || call->unattended)
        free(call);
}

static void contribute(struct weft_agree *agree, struct weft_agree_call *call)
{
    struct weft_agreement *a = agree->agreement;
    uint64_t *words = agree->value, *acked = words + 1;
    words[0] = call->what | (uint32_t)call->flag;
    if (weft_comm_collectives.words(agree->comm, 0))
        words[0] |= WEFT_AGREE_WORDS;
    memset(acked, 0, a->set_words * sizeof *acked);
    for (int i = 0; i < agree->comm->acked; i++) {
        int world = weft_failure_at(i),
            member = world >= 0 ? weft_agree_member_of_world(agree, world) : -1;
        if (member >= 0)
            weft_agreement_put(acked, member);
    }
    if (call->what == WEFT_AGREE_SHRINK) {
        if (weft_context_repeats())
            weft_lane_collect_all();
        weft_bid_propose(&call->bid);
        if (call->bid.failed)
            weft_bid_record(call->bid.proposal, agree->comm->rank, MPI_ERR_NO_MEM);
        memcpy(acked + a->set_words, call->bid.proposal, sizeof call->bid.proposal);
    }
    call->contributed = true;
    weft_agreement_contribute(a, words);
}

/* The first dead member that not all have acknowledged, or -1. */
static int unacknowledged(const struct weft_agreement *a, const uint64_t *decision)
{
    const uint64_t *acked = decision + a->set_words + 1;
    for (int member = 0; member < a->size; member++)
        if (weft_agreement_in(decision, member) && !weft_agreement_in(acked, member))
            return member;
    return -1;
}

static int end_agree(struct weft_agree *agree, struct weft_agree_call *call,
                     const uint64_t *decision)
{
    if (call->unattended)
        return MPI_SUCCESS;
    *call->result = (int)(uint32_t)decision[agree->agreement->set_words];
    int dead = unacknowledged(agree->agreement, decision);
    if (dead < 0)
        return MPI_SUCCESS;
    return weft_error_set(
        MPIX_ERR_PROC_FAILED,
        "rank %d of the job has died, and not all members have acknowledged that; "
        "the flag is that of the living ones (MPIX_Comm_failure_ack)",
        weft_agree_world_of(agree, dead));
}

/* The members of a group that are not in the set; first: the index of the group's first one. */
static struct weft_group *living(const struct weft_group *group, const uint64_t *dead, int first)
{
    bool *leave_out = calloc((size_t)group->size + 1, sizeof *leave_out);
    struct weft_group *made = NULL;
    for (int i = 0; leave_out && i < group->size; i++)
        leave_out[i] = weft_agreement_in(dead, first + i);
    if (leave_out)
        made = weft_group_exclude(group, leave_out);
    free(leave_out);
    if (!made)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for a group of %d processes", group->size);
    return made;
}

static void open_shrunk(struct weft_agree *agree, struct weft_agree_call *call,
                        const uint64_t *dead, int block)
{
    const struct weft_comm *comm = agree->comm;
    int local = comm->local && !comm->first_half ? comm->size : 0;
    int remote = comm->local && comm->first_half ? comm->local->size : 0;
    struct weft_group *group = living(comm->group, dead, local);
    struct weft_group *other = comm->local ? living(comm->remote, dead, remote) : NULL;
    weft_comm_regroup(call->made, group, other);
    weft_group_release(group);
    weft_group_release(other);
    weft_comm_open(call->made, block);
}

/* False if the members have to agree once more. */
static bool end_shrink(struct weft_agree *agree, struct weft_agree_call *call,
                       const uint64_t *decision, int *code)
{
    int block;
    const uint64_t *words = decision + 2 * agree->agreement->set_words + 1;
    enum weft_bid_result result = weft_bid_settle(&call->bid, words, &block);
    if (result == WEFT_BID_AGAIN) {
        weft_comm_sweep();
        return false;
    }
    *code = weft_bid_error(result, words);
    if (*code == MPI_SUCCESS)
        open_shrunk(agree, call, decision, block);
    return true;
}

/* The members call different functions. */
static int refuse(struct weft_agree *agree, struct weft_agree_call *call)
{
    if (call->what == WEFT_AGREE_SHRINK) {
        int block;
        uint64_t words[WEFT_CONTEXT_WORDS];
        weft_bid_record(words, agree->comm->rank, MPI_ERR_OTHER);
        weft_bid_settle(&call->bid, words, &block);
    }
    return weft_error_set(MPI_ERR_OTHER,
                          "the members of %s call different functions: all have to call "
                          "MPIX_Comm_agree, or MPIX_Comm_shrink, or MPI_Comm_free",
                          weft_comm_name(agree->comm));
}

bool weft_agree_is_empty(const struct weft_agree *agree, const uint64_t *set)
{
    for (size_t i = 0; i < agree->agreement->set_words; i++)
        if (set[i])
            return false;
    return true;
}

/* The decision on the active call. */
static void end_round(struct weft_agree *agree, struct weft_agree_call *call,
                      const uint64_t *decision)
{
    int code = MPI_SUCCESS;
    call->contributed = false;
    agree->by_words = decision[agree->agreement->set_words] & WEFT_AGREE_WORDS &&
                      weft_agree_is_empty(agree, decision);
    if (!(decision[agree->agreement->set_words] & call->what))
        code = refuse(agree, call);
    else if (call->what == WEFT_AGREE_FLAG)
        code = end_agree(agree, call, decision);
    else if (call->what == WEFT_AGREE_SHRINK && !end_shrink(agree, call, decision, &code))
        return;
    if (code != MPI_SUCCESS)
        weft_comm_drop(call->made);
    end_call(agree, call, code);
}

/* ---- Calls by words: board.h */

static void store_word(struct weft_agree *agree, struct weft_agree_call *call)
{
    bool decides =
        call->what == WEFT_AGREE_FLAG && weft_agree_is_empty(agree, agree->agreement->dead);
    uint32_t number = ++agree->number;
    weft_board_store(weft_comm_collectives.words(agree->comm, agree->agreement->self), number,
                     weft_board_word(number, decides, call->flag));
    weft_comm_collectives.wake(agree->comm);
    call->stored = true;
    call->by_messages = !decides;
}

/* Reads the words of a call that may be decided by them. False: not all have their values yet. */
static bool read_words(const struct weft_agree *agree, struct weft_agree_call *call)
{
    for (; call->read < agree->agreement->size && !call->by_messages; call->read++) {
        uint64_t word;
        bool dead = weft_agreement_in(agree->agreement->dead, call->read);
        if (!weft_board_read(weft_comm_collectives.words(agree->comm, call->read), agree->number,
                             dead, &word))
            return false;
        call->by_messages = !(word & WEFT_BOARD_DECIDES);
        call->flag &= call->by_messages ? call->flag : (int)(uint32_t)word;
    }
    return true;
}

/* For a call that has not contributed by messages. False: it waits. */
bool weft_agree_try_words(struct weft_agree *agree, struct weft_agree_call *call)
{
    if (agree->by_words && !call->stored && !call->by_messages)
        store_word(agree, call);
    call->by_messages |= !call->stored;
    return read_words(agree, call);
}

void weft_agree_note_wait(struct weft_agree *agree, bool waits)
{
    weft.vcis[0].coll.shared += (unsigned)waits - (unsigned)agree->awaits_word;
    agree->awaits_word = waits;
}

int weft_agree_advance_calls(struct weft_agree *agree)
{
    int events = 0;
    while (agree->calls) {
        struct weft_agree_call *call = agree->calls;
        if (!call->contributed && !weft_agree_try_words(agree, call))
            break;
        if (!call->by_messages) {
            *call->result = call->flag;
            end_call(agree, call, MPI_SUCCESS);
            events++;
            continue;
        }
        if (!call->contributed)
            contribute(agree, call);
        const uint64_t *decision = weft_agreement_decision(agree->agreement);
        if (!decision)
            break;
        weft_agree_add_deaths(agree, decision);
        end_round(agree, call, decision);
        events++;
    }
    weft_agree_note_wait(agree, agree->calls && agree->calls->stored && !agree->calls->by_messages);
    return events;
}
