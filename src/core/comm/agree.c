// SPDX-License-Identifier: BSD-3-Clause
/*
 * Agreements of the members of a communicator: see agree.h.
 *
 * Invariants:
 *  - The calls of a communicator contribute one after the other, in the order in which they were
 *    made.
 *  - A death is passed to the agreement after the peer was closed (weft_failure_check), so that
 *    nothing is sent to it any more.
 */
#include "core/comm/agree.h"
#include "core/comm/agreement.h"
#include "core/comm/board.h"
#include "core/comm/context_alloc.h"
#include "core/comm/revoke.h"
#include "core/base/error.h"
#include "core/base/settings.h"
#include "core/message/lane.h"
#include "core/progress/failure.h"
#include "core/progress/progress.h"
#include "core/pt2pt/cancel.h"
#include "core/pt2pt/p2p.h"

#include <stdlib.h>
#include <string.h>

/* The words of a value behind the dead: the flag and what the members call, all combined by AND;
 * the set of the dead that all members have acknowledged; for a shrink a proposal of context ids.
 */
enum { FLAG_BITS = 32 };
static const uint64_t CALL_AGREE = (uint64_t)1 << FLAG_BITS, CALL_SHRINK = (uint64_t)2 << FLAG_BITS,
                      CALL_FREE = (uint64_t)4 << FLAG_BITS,
                      HAS_WORDS = (uint64_t)8 << FLAG_BITS; /* board.h */

struct header {
    uint32_t kind, number; /* enum weft_agreement_message */
};

struct sending {
    struct sending *next;
    struct weft_request *request;
    struct header header; /* the message: this, and the value */
    uint64_t value[];
};

struct call {
    struct call *next;
    uint64_t what;
    int flag, *result;
    struct weft_bid bid;
    struct weft_comm *made;       /* of a shrink */
    struct weft_request *request; /* NULL: the caller waits until `done` is set */
    bool contributed, done;
    bool unattended;  /* neither a caller nor a request needs the result */
    bool stored;      /* the word of this rank (board.h) is stored */
    bool by_messages; /* the words do not decide the call */
    int read;         /* members whose words were read */
    int code;
};

struct receive {
    struct weft_channel *channel;
    struct weft_request *request;
    struct header *message;
};

struct weft_agree {
    struct weft_agree *next;
    struct weft_comm *comm;
    struct weft_agreement *agreement;
    int seen;                  /* deaths of the process's record that were passed on */
    struct call *calls, **end; /* the first one is active */
    struct receive
        receives[2]; /* of the channel; in an inter-communicator also of the local group's */
    struct sending *sends;
    uint64_t *value;  /* to contribute */
    uint32_t shrinks; /* so far: the keys of their bids */
    bool closing;     /* the last call has ended */
    bool by_words;    /* the next call begins with words, at all members */
    bool awaits_word; /* counted in coll.shared of the VCI, for short sleeps */
    uint32_t number;  /* of the last call by words */
};

static struct weft_agree *all;
static bool busy; /* starting a message may call progress */

/* ---- Members: in an inter-communicator those of both groups */

static int world_of(const struct weft_agree *agree, int member)
{
    int rank;
    const struct weft_channel *channel = weft_comm_making_route(agree->comm, member, &rank);
    return weft_channel_world(channel, rank);
}

static int member_of_world(const struct weft_agree *agree, int world)
{
    if (!agree->comm->local)
        return weft_comm_rank_of(agree->comm, world);
    for (int member = 0; member < agree->agreement->size; member++)
        if (world_of(agree, member) == world)
            return member;
    return -1;
}

static int member_of_sender(const struct weft_agree *agree, const struct weft_channel *channel,
                            int rank)
{
    const struct weft_comm *comm = agree->comm;
    bool in_first = !comm->local || (channel == &comm->making) != comm->first_half;
    return in_first ? rank : weft_comm_total(comm) - channel->size + rank;
}

/* ---- Messages */

/* Words of a value in a message: only those of a shrink have a proposal. */
static size_t words_sent(const struct weft_agreement *a, const uint64_t *value)
{
    size_t words = 2 * a->set_words + 1;
    return value[a->set_words] & CALL_SHRINK ? words + WEFT_CONTEXT_WORDS : words;
}

static void send_message(void *arg, int to, enum weft_agreement_message kind, uint32_t number,
                         const uint64_t *value)
{
    struct weft_agree *agree = arg;
    size_t bytes = words_sent(agree->agreement, value) * sizeof *value;
    struct sending *sending = malloc(sizeof *sending + bytes);
    int rank;
    struct weft_channel *channel = weft_comm_making_route(agree->comm, to, &rank);
    if (!sending)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for a message of an agreement");
    sending->header = (struct header){kind, number};
    memcpy(sending->value, value, bytes);
    int code = weft_p2p_isend(channel, &sending->header, sizeof sending->header + bytes,
                              weft_datatype_byte(), rank, WEFT_AGREE_TAG, WEFT_SEND_STANDARD,
                              &sending->request);
    if (code != MPI_SUCCESS) { /* the member is dead: its report makes another one the parent */
        free(sending);
        return;
    }
    sending->next = agree->sends;
    agree->sends = sending;
}

_Static_assert(offsetof(struct sending, value) ==
                   offsetof(struct sending, header) + sizeof(struct header),
               "header and value are one message");

static int complete_sends(struct weft_agree *agree)
{
    int events = 0;
    for (struct sending **link = &agree->sends; *link;) {
        struct sending *sending = *link;
        if (sending->request->pending) {
            link = &sending->next;
            continue;
        }
        *link = sending->next;
        weft_request_put(sending->request);
        free(sending);
        events++;
    }
    return events;
}

static size_t longest(const struct weft_agreement *a)
{
    return sizeof(struct header) + (2 * a->set_words + 1 + WEFT_CONTEXT_WORDS) * sizeof(uint64_t);
}

static void post(struct weft_agree *agree, struct receive *receive)
{
    if (weft_p2p_irecv(receive->channel, receive->message, longest(agree->agreement),
                       weft_datatype_byte(), MPI_ANY_SOURCE, WEFT_AGREE_TAG,
                       &receive->request) != MPI_SUCCESS)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for a receive of an agreement");
}

/* The message comes from another process, so its length is checked. */
static void take_message(struct weft_agree *agree, const struct receive *receive)
{
    const struct weft_request *request = receive->request;
    const struct weft_agreement *a = agree->agreement;
    const uint64_t *value = (const uint64_t *)(receive->message + 1);
    size_t least = sizeof(struct header) + (2 * a->set_words + 1) * sizeof *value;
    if (request->error || request->bytes < least ||
        request->bytes != sizeof(struct header) + words_sent(a, value) * sizeof *value)
        return;
    weft_agreement_arrive(agree->agreement,
                          member_of_sender(agree, receive->channel, request->source),
                          receive->message->kind, receive->message->number, value);
}

static int take_messages(struct weft_agree *agree, struct receive *receive)
{
    int events = 0;
    while (receive->request && !receive->request->pending) {
        bool cancelled = receive->request->flags & WEFT_REQUEST_CANCELLED;
        if (!cancelled)
            take_message(agree, receive);
        weft_request_put(receive->request);
        receive->request = NULL;
        if (!cancelled)
            post(agree, receive);
        events++;
    }
    return events;
}

static void combine(void *arg, uint64_t *words, const uint64_t *others)
{
    const struct weft_agree *agree = arg;
    size_t fixed = 1 + agree->agreement->set_words;
    for (size_t i = 0; i < fixed; i++)
        words[i] &= others[i];
    if (words[0] & CALL_SHRINK)
        weft_bid_combine(words + fixed, others + fixed);
}

static const struct weft_agreement_ops ops = {.send = send_message, .combine = combine};

/* ---- Deaths */

static int take_deaths(struct weft_agree *agree)
{
    int events = 0;
    for (; agree->seen < weft_failure_count(); agree->seen++) {
        int world = weft_failure_at(agree->seen);
        int member = world >= 0 ? member_of_world(agree, world) : -1;
        if (member < 0 || member == agree->agreement->self)
            continue;
        weft_agreement_note_death(agree->agreement, member);
        events++;
    }
    return events;
}

/* Other members have found members dead, of which this process has had no report yet. */
static void add_deaths(struct weft_agree *agree, const uint64_t *dead)
{
    const struct weft_agreement *a = agree->agreement;
    for (int member = 0; member < a->size; member++)
        if (weft_agreement_in(dead, member) && member != a->self &&
            !weft_agreement_in(a->dead, member))
            weft_failure_add(world_of(agree, member));
    weft_failure_check();
    take_deaths(agree);
}

/* ---- Calls */

static void end_call(struct weft_agree *agree, struct call *call, int code)
{
    weft_assert(agree->calls == call && !call->done);
    agree->calls = call->next;
    if (!agree->calls)
        agree->end = &agree->calls;
    call->code = code;
    call->done = true;
    if (call->what == CALL_FREE)
        agree->closing = true;
    if (call->request) {
        call->request->error = (uint8_t)code;
        weft_request_event(call->request);
    }
    if (call->request || call->unattended)
        free(call);
}

static void contribute(struct weft_agree *agree, struct call *call)
{
    struct weft_agreement *a = agree->agreement;
    uint64_t *words = agree->value, *acked = words + 1;
    words[0] = call->what | (uint32_t)call->flag;
    if (weft_comm_collectives.words(agree->comm, 0))
        words[0] |= HAS_WORDS;
    memset(acked, 0, a->set_words * sizeof *acked);
    for (int i = 0; i < agree->comm->acked; i++) {
        int world = weft_failure_at(i), member = world >= 0 ? member_of_world(agree, world) : -1;
        if (member >= 0)
            weft_agreement_put(acked, member);
    }
    if (call->what == CALL_SHRINK) {
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

static int end_agree(struct weft_agree *agree, struct call *call, const uint64_t *decision)
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
        world_of(agree, dead));
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

static void open_shrunk(struct weft_agree *agree, struct call *call, const uint64_t *dead,
                        int block)
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
static bool end_shrink(struct weft_agree *agree, struct call *call, const uint64_t *decision,
                       int *code)
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
static int refuse(struct weft_agree *agree, struct call *call)
{
    if (call->what == CALL_SHRINK) {
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

static bool is_empty(const struct weft_agree *agree, const uint64_t *set)
{
    for (size_t i = 0; i < agree->agreement->set_words; i++)
        if (set[i])
            return false;
    return true;
}

/* The decision on the active call. */
static void end_round(struct weft_agree *agree, struct call *call, const uint64_t *decision)
{
    int code = MPI_SUCCESS;
    call->contributed = false;
    agree->by_words =
        decision[agree->agreement->set_words] & HAS_WORDS && is_empty(agree, decision);
    if (!(decision[agree->agreement->set_words] & call->what))
        code = refuse(agree, call);
    else if (call->what == CALL_AGREE)
        code = end_agree(agree, call, decision);
    else if (call->what == CALL_SHRINK && !end_shrink(agree, call, decision, &code))
        return;
    if (code != MPI_SUCCESS)
        weft_comm_drop(call->made);
    end_call(agree, call, code);
}

/* ---- Calls by words: board.h */

static void store_word(struct weft_agree *agree, struct call *call)
{
    bool decides = call->what == CALL_AGREE && is_empty(agree, agree->agreement->dead);
    uint32_t number = ++agree->number;
    weft_board_store(weft_comm_collectives.words(agree->comm, agree->agreement->self), number,
                     weft_board_word(number, decides, call->flag));
    weft_comm_collectives.wake(agree->comm);
    call->stored = true;
    call->by_messages = !decides;
}

/* Reads the words of a call that may be decided by them. False: not all have their values yet. */
static bool read_words(const struct weft_agree *agree, struct call *call)
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
static bool try_words(struct weft_agree *agree, struct call *call)
{
    if (agree->by_words && !call->stored && !call->by_messages)
        store_word(agree, call);
    call->by_messages |= !call->stored;
    return read_words(agree, call);
}

static void note_wait(struct weft_agree *agree, bool waits)
{
    weft.vcis[0].coll.shared += (unsigned)waits - (unsigned)agree->awaits_word;
    agree->awaits_word = waits;
}

static int advance_calls(struct weft_agree *agree)
{
    int events = 0;
    while (agree->calls) {
        struct call *call = agree->calls;
        if (!call->contributed && !try_words(agree, call))
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
        add_deaths(agree, decision);
        end_round(agree, call, decision);
        events++;
    }
    note_wait(agree, agree->calls && agree->calls->stored && !agree->calls->by_messages);
    return events;
}

/* ---- The state of a communicator */

static void free_state(struct weft_agree *agree)
{
    note_wait(agree, false);
    agree->comm->agree = NULL;
    agree->comm->uses--;
    for (int i = 0; i < 2; i++)
        free(agree->receives[i].message);
    while (agree->sends) {
        struct sending *sending = agree->sends;
        agree->sends = sending->next;
        free(sending);
    }
    while (agree->calls) {
        struct call *call = agree->calls;
        agree->calls = call->next;
        free(call);
    }
    free(agree->agreement);
    free(agree->value);
    free(agree);
}

/* After the last call, if all members live: nobody needs an answer. True if the state is freed. */
static bool close_state(struct weft_agree *agree)
{
    bool open = agree->sends != NULL;
    if (!is_empty(agree, agree->agreement->dead))
        return false;
    for (int i = 0; i < 2; i++) {
        struct weft_request *request = agree->receives[i].request;
        if (request && !(request->flags & WEFT_REQUEST_CANCELLED))
            weft_cancel(request);
        take_messages(agree, &agree->receives[i]);
        open = open || agree->receives[i].request;
    }
    if (open)
        return false;
    free_state(agree);
    return true;
}

static struct weft_agree *make_state(struct weft_comm *comm)
{
    struct weft_agree *agree = calloc(1, sizeof *agree);
    size_t set = ((size_t)weft_comm_total(comm) + 63) / 64, words = set + 1 + WEFT_CONTEXT_WORDS;
    if (!agree)
        return NULL;
    agree->comm = comm;
    agree->end = &agree->calls;
    agree->value = calloc(words, sizeof *agree->value);
    agree->agreement =
        weft_agreement_make(weft_comm_total(comm), weft_comm_new_rank(comm), words, &ops, agree);
    agree->receives[0].channel = &comm->making;
    agree->receives[1].channel = comm->local ? &comm->local->making : NULL;
    bool well = agree->value && agree->agreement;
    for (int i = 0; well && i < 2; i++) {
        struct receive *receive = &agree->receives[i];
        receive->message = receive->channel ? malloc(longest(agree->agreement)) : NULL;
        well = receive->message || !receive->channel;
    }
    comm->uses++;
    if (!well) {
        free_state(agree);
        return NULL;
    }
    return agree;
}

/* Its state; NULL without memory, recorded. */
static struct weft_agree *state_of(struct weft_comm *comm)
{
    weft_assert(weft_vcis_hold_all());
    if (comm->agree)
        return comm->agree;
    struct weft_agree *agree = make_state(comm);
    if (!agree) {
        weft_error_set(MPI_ERR_NO_MEM, "no memory for an agreement of %d processes",
                       weft_comm_total(comm));
        return NULL;
    }
    comm->agree = agree;
    for (int i = 0; i < 2 && agree->agreement->size > 1; i++)
        if (agree->receives[i].channel)
            post(agree, &agree->receives[i]);
    agree->next = all;
    all = agree;
    weft.others |= WEFT_OTHERS_RECOVERY;
    return agree;
}

/* ---- The interface: agree.h */

static int advance_state(struct weft_agree *agree)
{
    int events = take_deaths(agree) + complete_sends(agree);
    for (int i = 0; i < 2; i++)
        events += take_messages(agree, &agree->receives[i]);
    return events + advance_calls(agree);
}

int weft_agree_progress(void)
{
    int events = weft_context_alloc_progress() + weft_revoke_progress();
    if (weft_likely(!all) || busy)
        return events;
    busy = true;
    for (struct weft_agree **link = &all; *link;) {
        struct weft_agree *agree = *link, *next = agree->next;
        events += advance_state(agree);
        if (agree->closing && !agree->calls && close_state(agree)) {
            *link = next;
            weft_comm_sweep();
        } else {
            link = &agree->next;
        }
    }
    busy = false;
    if (!all)
        weft.others &= (uint8_t)~WEFT_OTHERS_RECOVERY;
    return events;
}

static bool is_unfinished(void *arg)
{
    const struct call *call = arg;
    return !call->done;
}

/* Makes a call behind those that were made before. */
static struct call *begin_call(struct weft_agree *agree, struct call with)
{
    struct call *call = malloc(sizeof *call);
    if (!call)
        return NULL;
    *call = with;
    *agree->end = call;
    agree->end = &call->next;
    return call;
}

/* Waits for a call, or starts its request. Drops the communicator of a call that does not begin. */
static int run_call(struct weft_agree *agree, struct call with, struct weft_request **request)
{
    if (request) {
        with.request = *request = weft_request_get(&weft.vcis[0], WEFT_REQUEST_MAKING, 1);
        if (!*request) {
            weft_comm_drop(with.made);
            return MPI_ERR_NO_MEM;
        }
        with.request->channel = &agree->comm->p2p;
        with.request->peer = NULL;
        with.request->source = MPI_ANY_SOURCE;
        with.request->tag = MPI_ANY_TAG;
        with.request->bytes = 0;
    }
    struct call *call = begin_call(agree, with);
    if (!call) {
        weft_comm_drop(with.made);
        if (with.request)
            weft_request_put(with.request);
        return weft_error_set(MPI_ERR_NO_MEM, "no memory for an agreement");
    }
    weft_agree_progress();
    if (request)
        return MPI_SUCCESS;
    weft_wait_while(NULL, is_unfinished, call, NULL);
    int code = call->code;
    free(call);
    return code;
}

/* The fast attempt: all others call at the same time, and the words decide. */
static bool ends_at_once(struct weft_agree *agree, struct call *call)
{
    enum { POLLS = 500 };
    bool decided = false;
    if (!agree->by_words || agree->calls)
        return false;
    take_deaths(agree);
    for (int polls = 0; polls < POLLS && !decided && !call->by_messages; polls++)
        decided = try_words(agree, call) && !call->by_messages;
    if (!decided)
        return false;
    *call->result = call->flag;
    weft_look_sometimes(NULL);
    return true;
}

int weft_comm_agree_flag(struct weft_comm *comm, int *flag, struct weft_request **request)
{
    struct weft_agree *agree = state_of(comm);
    struct call call = {.what = CALL_AGREE, .flag = *flag, .result = flag};
    if (!agree)
        return MPI_ERR_NO_MEM;
    return !request && ends_at_once(agree, &call) ? MPI_SUCCESS : run_call(agree, call, request);
}

int weft_comm_agree_to_free(struct weft_comm *comm)
{
    int flag = 1, code = weft_comm_agree_flag(comm, &flag, NULL);
    return weft_failure_is_death(code) ? MPI_SUCCESS : code;
}

int weft_comm_agree_made(struct weft_comm *comm)
{
    int flag = 1, code = weft_comm_agree_flag(comm, &flag, NULL);
    if (code == MPI_ERR_NO_MEM) /* the others wait for this member */
        weft_fatal(code, "no memory for an agreement");
    return flag                        ? MPI_SUCCESS
           : weft_comm_is_broken(comm) ? weft_comm_report_broken(comm)
                                       : weft_comm_report_revoked(comm);
}

void weft_comm_agree_not_made(struct weft_comm *comm)
{
    struct weft_agree *agree = state_of(comm);
    if (!agree || !begin_call(agree, (struct call){.what = CALL_AGREE, .unattended = true}))
        weft_fatal(MPI_ERR_NO_MEM, "no memory for an agreement");
    weft_agree_progress();
}

bool weft_comm_may_break(const struct weft_comm *comm)
{
    return weft_settings.keep_going || comm->revoked;
}

int weft_comm_shrink(struct weft_comm *comm, struct weft_comm **out, struct weft_request **request)
{
    struct call call = {.what = CALL_SHRINK};
    struct weft_agree *agree = state_of(comm);
    *out = NULL;
    if (!agree)
        return MPI_ERR_NO_MEM;
    call.made = weft_comm_make(comm->group, comm->local ? comm->remote : NULL, comm->errhandler);
    if (call.made)
        call.made->first_half = comm->first_half;
    weft_bid_open(&call.bid, (uint64_t)comm->making.context << 32 | 1u << 31 | agree->shrinks++);
    call.bid.failed = !call.made; /* then all members fail */
    int code = run_call(agree, call, request);
    if (code == MPI_SUCCESS)
        *out = call.made;
    return code;
}

void weft_agree_close(struct weft_comm *comm)
{
    if (comm->agree)
        begin_call(comm->agree, (struct call){.what = CALL_FREE, .unattended = true});
}

void weft_agree_finalize(void)
{
    weft_revoke_finalize();
    while (all) {
        struct weft_agree *agree = all;
        all = agree->next;
        free_state(agree);
    }
    weft.others &= (uint8_t)~WEFT_OTHERS_RECOVERY;
}
