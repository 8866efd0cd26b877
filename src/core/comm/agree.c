// SPDX-License-Identifier: BSD-3-Clause
/*
 * Agreements of the members of a communicator: see agree.h.
 *
 * Invariant: a death is passed to the agreement after the peer was closed (weft_failure_check), so
 * that nothing is sent to it any more.
 */
#include "core/comm/agree_internal.h"
#include "core/comm/revoke.h"
#include "core/base/error.h"
#include "core/base/settings.h"
#include "core/base/memory.h"
#include "core/message/lane.h"
#include "core/progress/failure.h"
#include "core/progress/progress.h"
#include "core/pt2pt/cancel.h"

#include <stdlib.h>
#include <string.h>

struct weft_agree_header {
    uint32_t kind, number; /* enum weft_agreement_message */
};

struct weft_agree_sending {
    struct weft_agree_sending *next;
    struct weft_request *request;
    struct weft_agree_header header; /* the message: this, and the value */
    uint64_t value[];
};

static struct weft_agree *all;
static bool busy; /* starting a message may call progress */

/* ---- Members: in an inter-communicator those of both groups */

int weft_agree_world_of(const struct weft_agree *agree, int member)
{
    int rank;
    const struct weft_channel *channel = weft_comm_making_route(agree->comm, member, &rank);
    return weft_channel_world(channel, rank);
}

int weft_agree_member_of_world(const struct weft_agree *agree, int world)
{
    if (!agree->comm->local)
        return weft_comm_rank_of(agree->comm, world);
    for (int member = 0; member < agree->agreement->size; member++)
        if (weft_agree_world_of(agree, member) == world)
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
    return value[a->set_words] & WEFT_AGREE_SHRINK ? words + WEFT_CONTEXT_WORDS : words;
}

/* The report of a member's death makes another one the parent. So a member that cannot be reached
 * has to count as dead, or the others would wait for ever. */
WEFT_COLD static void report_unreachable(int world, int code)
{
    char why[MPI_MAX_ERROR_STRING];
    weft_error_text(code, why, sizeof why);
    if (code == MPI_ERR_NO_MEM)
        weft_fatal(code, "no memory for a message of an agreement: %s", why);
    weft_failure_lost(world, code, "a message of an agreement cannot be sent to rank %d: %s", world,
                      why);
}

static void send_message(void *arg, int to, enum weft_agreement_message kind, uint32_t number,
                         const uint64_t *value)
{
    struct weft_agree *agree = arg;
    size_t bytes = words_sent(agree->agreement, value) * sizeof *value;
    struct weft_agree_sending *sending =
        weft_memory_get(1, sizeof *sending + bytes, "a message of an agreement");
    int rank;
    struct weft_channel *channel = weft_comm_making_route(agree->comm, to, &rank);
    sending->header = (struct weft_agree_header){kind, number};
    memcpy(sending->value, value, bytes);
    int code = weft_p2p_isend(channel, &sending->header, sizeof sending->header + bytes,
                              weft_datatype_byte(), rank, WEFT_AGREE_TAG, WEFT_SEND_STANDARD,
                              &sending->request);
    if (code != MPI_SUCCESS) {
        free(sending);
        if (!weft_failure_is_death(code))
            report_unreachable(weft_channel_world(channel, rank), code);
        return;
    }
    sending->next = agree->sends;
    agree->sends = sending;
}

_Static_assert(offsetof(struct weft_agree_sending, value) ==
                   offsetof(struct weft_agree_sending, header) + sizeof(struct weft_agree_header),
               "header and value are one message");

static int complete_sends(struct weft_agree *agree)
{
    int events = 0;
    for (struct weft_agree_sending **link = &agree->sends; *link;) {
        struct weft_agree_sending *sending = *link;
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
    return sizeof(struct weft_agree_header) +
           (2 * a->set_words + 1 + WEFT_CONTEXT_WORDS) * sizeof(uint64_t);
}

static void post(struct weft_agree *agree, struct weft_agree_receive *receive)
{
    if (weft_p2p_irecv(receive->channel, receive->message, longest(agree->agreement),
                       weft_datatype_byte(), MPI_ANY_SOURCE, WEFT_AGREE_TAG,
                       &receive->request) != MPI_SUCCESS)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for a receive of an agreement");
}

/* The message comes from another process, so its length is checked. */
static void take_message(struct weft_agree *agree, const struct weft_agree_receive *receive)
{
    const struct weft_request *request = receive->request;
    const struct weft_agreement *a = agree->agreement;
    const uint64_t *value = (const uint64_t *)(receive->message + 1);
    size_t least = sizeof(struct weft_agree_header) + (2 * a->set_words + 1) * sizeof *value;
    if (request->error || request->bytes < least ||
        request->bytes != sizeof(struct weft_agree_header) + words_sent(a, value) * sizeof *value)
        return;
    weft_agreement_arrive(agree->agreement,
                          member_of_sender(agree, receive->channel, request->source),
                          receive->message->kind, receive->message->number, value);
}

static int take_messages(struct weft_agree *agree, struct weft_agree_receive *receive)
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
    if (words[0] & WEFT_AGREE_SHRINK)
        weft_bid_combine(words + fixed, others + fixed);
}

static const struct weft_agreement_ops ops = {.send = send_message, .combine = combine};

/* ---- Deaths */

static int take_deaths(struct weft_agree *agree)
{
    int events = 0;
    for (; agree->seen < weft_failure_count(); agree->seen++) {
        int world = weft_failure_at(agree->seen);
        int member = world >= 0 ? weft_agree_member_of_world(agree, world) : -1;
        if (member < 0 || member == agree->agreement->self)
            continue;
        weft_agreement_note_death(agree->agreement, member);
        events++;
    }
    return events;
}

/* Other members have found members dead, of which this process has had no report yet. */
void weft_agree_add_deaths(struct weft_agree *agree, const uint64_t *dead)
{
    const struct weft_agreement *a = agree->agreement;
    for (int member = 0; member < a->size; member++)
        if (weft_agreement_in(dead, member) && member != a->self &&
            !weft_agreement_in(a->dead, member))
            weft_failure_add(weft_agree_world_of(agree, member));
    weft_failure_check();
    take_deaths(agree);
}

/* ---- The state of a communicator */

static void free_state(struct weft_agree *agree)
{
    weft_agree_note_wait(agree, false);
    agree->comm->agree = NULL;
    agree->comm->uses--;
    for (int i = 0; i < 2; i++)
        free(agree->receives[i].message);
    while (agree->sends) {
        struct weft_agree_sending *sending = agree->sends;
        agree->sends = sending->next;
        free(sending);
    }
    while (agree->calls) {
        struct weft_agree_call *call = agree->calls;
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
    if (!weft_agree_is_empty(agree, agree->agreement->dead))
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
        struct weft_agree_receive *receive = &agree->receives[i];
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
    return events + weft_agree_advance_calls(agree);
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
    const struct weft_agree_call *call = arg;
    return !call->done;
}

/* Makes a call behind those that were made before. */
static struct weft_agree_call *begin_call(struct weft_agree *agree, struct weft_agree_call with)
{
    struct weft_agree_call *call = malloc(sizeof *call);
    if (!call)
        return NULL;
    *call = with;
    *agree->end = call;
    agree->end = &call->next;
    return call;
}

/* Waits for a call, or starts its request. Drops the communicator of a call that does not begin. */
static int run_call(struct weft_agree *agree, struct weft_agree_call with,
                    struct weft_request **request)
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
    struct weft_agree_call *call = begin_call(agree, with);
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
static bool ends_at_once(struct weft_agree *agree, struct weft_agree_call *call)
{
    enum { POLLS = 500 };
    bool decided = false;
    if (!agree->by_words || agree->calls)
        return false;
    take_deaths(agree);
    for (int polls = 0; polls < POLLS && !decided && !call->by_messages; polls++)
        decided = weft_agree_try_words(agree, call) && !call->by_messages;
    if (!decided)
        return false;
    *call->result = call->flag;
    weft_look_sometimes(NULL);
    return true;
}

int weft_comm_agree_flag(struct weft_comm *comm, int *flag, struct weft_request **request)
{
    struct weft_agree *agree = state_of(comm);
    struct weft_agree_call call = {.what = WEFT_AGREE_FLAG, .flag = *flag, .result = flag};
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
    if (!agree ||
        !begin_call(agree, (struct weft_agree_call){.what = WEFT_AGREE_FLAG, .unattended = true}))
        weft_fatal(MPI_ERR_NO_MEM, "no memory for an agreement");
    weft_agree_progress();
}

bool weft_comm_outlives_members(const struct weft_comm *comm)
{
    return weft_settings.keep_going || weft_comm_is_foreign(comm);
}

bool weft_comm_may_break(const struct weft_comm *comm)
{
    return weft_comm_outlives_members(comm) || comm->revoked;
}

int weft_comm_shrink(struct weft_comm *comm, struct weft_comm **out, struct weft_request **request)
{
    struct weft_agree_call call = {.what = WEFT_AGREE_SHRINK};
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
        begin_call(comm->agree,
                   (struct weft_agree_call){.what = WEFT_AGREE_FREE, .unattended = true});
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
