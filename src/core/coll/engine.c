// SPDX-License-Identifier: BSD-3-Clause
/*
 * The engine: executes schedules with point-to-point messages.
 *
 * Invariants:
 *  - A thread that works on a schedule holds the VCI of its communicator, to which its request
 *    belongs.
 *  - A schedule with a request is in the list coll.active of its VCI until it is complete, and is
 *    advanced by progress of that VCI, whatever the caller of progress waits for.
 *  - A blocking schedule is advanced by its call only. It is in the list coll.blocking.
 *  - Each request that the engine starts is freed by the engine, also after another one failed.
 *  - A nonblocking schedule is freed when it is complete, a persistent one with its request.
 */
#include "core/coll/refusal.h"
#include "core/coll/shared.h"
#include "core/coll/stage.h"
#include "core/base/error.h"
#include "core/base/settings.h"
#include "core/pt2pt/cancel.h"
#include "core/pt2pt/p2p.h"
#include "core/message/count.h"
#include "core/message/foreign.h"
#include "core/progress/failure.h"
#include "core/progress/progress.h"

#include <stdio.h>
#include <stdlib.h>

static _Atomic bool any_failed;

/* ---- Tags: kind 5 bits, persistent 1, inter-communicator 1, sequence number 18, fewer (at least
 * 8) if the provider's tags are shorter */

enum { KIND_BITS = 5, PERSISTENT_BIT = 1 << KIND_BITS, INTER_BIT = 2 << KIND_BITS };
enum { SEQUENCE_SHIFT = KIND_BITS + 2, SEQUENCE_MASK = (1 << 18) - 1 };

_Static_assert(WEFT_COLL_KIND_MASK == (1 << KIND_BITS) - 1, "the kind is in the lowest bits");
_Static_assert((int)WEFT_COLL_KINDS <= WEFT_COLL_KIND_MAKING, "two values are not collectives");
_Static_assert(SEQUENCE_SHIFT + 8 <= WEFT_LEAST_TAG_BITS, "few numbers fit into the tag");

/* Persistent collectives have their own sequence numbers, taken when they are made, because they
 * may be started in any order. INTER_BIT separates the messages that a collective on an
 * inter-communicator sends within the local group from that group's own collectives. */
uint32_t weft_coll_numbers(void)
{
    return (SEQUENCE_MASK & (uint32_t)weft.tag_ub >> SEQUENCE_SHIFT) + 1;
}

bool weft_coll_is_persistent(int tag)
{
    return tag & PERSISTENT_BIT;
}

int weft_coll_tag(const struct weft_comm *comm, uint32_t number, int kind, bool persistent)
{
    number &= SEQUENCE_MASK & (uint32_t)weft.tag_ub >> SEQUENCE_SHIFT;
    return (int)(number << SEQUENCE_SHIFT) | (comm->local ? INTER_BIT : 0) |
           (persistent ? PERSISTENT_BIT : 0) | kind;
}

/* ---- Messages of refused calls, which this rank does not receive. They are dropped before their
 * tags come back. */

/* The oldest call that a rank has not completed, and the first that it has not begun. */
struct calls {
    uint32_t oldest, next;
};

/* Refusals have none, and persistent collectives other ones. */
static bool has_number(int tag)
{
    return !(tag & PERSISTENT_BIT) && (tag & WEFT_COLL_KIND_MASK) != WEFT_COLL_KIND_MASK;
}

static void see_schedules(struct calls *calls, const struct weft_comm *comm,
                          const struct weft_schedule *list)
{
    for (const struct weft_schedule *s = list; s; s = s->next_active) {
        uint32_t behind =
            (calls->next - ((uint32_t)s->tag >> SEQUENCE_SHIFT)) & (weft_coll_numbers() - 1);
        if (s->comm == comm && has_number(s->tag) && behind > calls->next - calls->oldest)
            calls->oldest = calls->next - behind;
    }
}

static bool is_over(const void *arg, int tag)
{
    const struct calls *calls = arg;
    uint32_t numbers = weft_coll_numbers();
    uint32_t age = (calls->oldest - ((uint32_t)tag >> SEQUENCE_SHIFT)) & (numbers - 1);
    return has_number(tag) && age > 0 && age < numbers / 2;
}

WEFT_COLD static void drop_over(struct weft_comm *comm)
{
    struct calls calls = {comm->coll_sequence, comm->coll_sequence};
    weft_assert(weft_vci_is_held(comm->vci));
    comm->coll_cleared = comm->coll_sequence;
    weft_refusal_take(comm);
    if (comm->coll.held < WEFT_HELD_ALWAYS)
        while (weft_lanes[weft.posts]->collect(&comm->coll))
            ;
    see_schedules(&calls, comm, comm->vci->coll.active);
    see_schedules(&calls, comm, comm->vci->coll.blocking);
    weft_sw_drop_tags(&comm->vci->matcher, comm->coll.context, is_over, &calls);
}

static int next_tag(struct weft_comm *comm, int kind, bool persistent)
{
    if (weft_unlikely(any_failed) &&
        comm->coll_sequence - comm->coll_cleared >= weft_coll_numbers() / 4)
        drop_over(comm);
    uint32_t *sequence = persistent ? &comm->coll_inits : &comm->coll_sequence;
    return weft_coll_tag(comm, (*sequence)++, kind, persistent);
}

void weft_coll_refuse(struct weft_comm *comm, bool persistent, int code)
{
    any_failed = true;
    uint32_t number = persistent ? comm->coll_inits : comm->coll_sequence;
    int tag = next_tag(comm, 0, persistent);
    if (!persistent)
        weft_shared_skip(comm);
    weft_refusal_send(comm, tag, number, code);
    weft_look(weft_vci_scope(comm->vci)); /* what others sent, before it gathers in the lanes */
    drop_over(comm);
}

const char *weft_coll_name_of_tag(int tag)
{
    int kind = tag & (PERSISTENT_BIT - 1);
    return tag >= 0 && kind < WEFT_COLL_KINDS ? weft_coll_name((enum weft_coll_kind)kind)
                                              : "a collective";
}

/* ---- Steps */

bool weft_schedule_fail(struct weft_schedule *s, int code, enum weft_fault fault)
{
    any_failed = true;
    if (s->error != MPI_SUCCESS && (s->fault != WEFT_FAULT_REMOTE || fault == WEFT_FAULT_REMOTE))
        return false;
    s->error = code;
    s->fault = fault;
    return true;
}

static void check_code(struct weft_schedule *s, int code)
{
    if (weft_unlikely(code != MPI_SUCCESS))
        weft_schedule_fail(s, code, WEFT_FAULT_RECORDED);
}

static bool has_dead_member(const void *comm)
{
    return weft_comm_find_dead(comm) >= 0;
}

/* An error message is all that another rank sends: whether a death is its reason, the launcher's
 * report shows, or the connection to a process of another job. Where the job goes on, a death is
 * nearly always the reason, and its report follows, late if the host is busy. */
static void record_remote_fault(struct weft_schedule *s)
{
    int ms = weft_settings.keep_going ? 2000 : WEFT_FAILURE_REPORT_MS;
    if (weft_failure_await(has_dead_member, s->comm, ms))
        s->error = weft_failure_report_process(weft_comm_find_dead(s->comm));
    else
        weft_error_set_secondary(s->error,
                                 "rank %d could not do its part of the collective, or has another "
                                 "amount of data than the %zu bytes expected; see the error of "
                                 "that rank",
                                 s->fault_peer, s->fault_wanted);
}

void weft_schedule_record(struct weft_schedule *s)
{
    static const char same[] = "all ranks of a collective have to pass the same amount of data";
    if ((s->fault == WEFT_FAULT_REMOTE || s->fault >= WEFT_FAULT_SHORT) &&
        weft_comm_is_broken(s->comm))
        s->fault = WEFT_FAULT_DEAD; /* the messages may be of different calls */
    if (s->fault == WEFT_FAULT_SHORT)
        weft_error_set(s->error, "rank %d sent %zu bytes where %zu are expected; %s", s->fault_peer,
                       s->fault_got, s->fault_wanted, same);
    if (s->fault == WEFT_FAULT_LONG)
        weft_error_set(s->error, "rank %d sent more than the %zu bytes expected; %s", s->fault_peer,
                       s->fault_wanted, same);
    if (s->fault == WEFT_FAULT_REMOTE)
        record_remote_fault(s);
    if (s->fault == WEFT_FAULT_DEAD)
        s->error = weft_comm_report_broken(s->comm);
    if (s->fault == WEFT_FAULT_REFUSED)
        weft_error_set_secondary(s->error, "rank %d refuses its call of %s: %s", s->refusal->from,
                                 weft_coll_name(s->kind), s->refusal->message.reason);
}

/* False for the messages of a refusal, and for work of this rank alone. */
static bool is_collective(const struct weft_schedule *s)
{
    return (s->tag & WEFT_COLL_KIND_MASK) != WEFT_COLL_KIND_MASK;
}

/* Sends the other ranks the error of this one, which ends their calls if they wait: the ranks of
 * several jobs do not all learn of a death, and those of a schedule whose steps follow from its
 * messages would wait for messages that this rank does not send. */
WEFT_COLD static void report_error(struct weft_schedule *s)
{
    const struct weft_comm *comm = s->comm;
    uint32_t next = weft_coll_is_persistent(s->tag) ? comm->coll_inits : comm->coll_sequence;
    uint32_t behind = (next - ((uint32_t)s->tag >> SEQUENCE_SHIFT)) & (weft_coll_numbers() - 1);
    if (s->reported || !is_collective(s))
        return;
    s->reported = true;
    weft_refusal_send(s->comm, s->tag & ~WEFT_COLL_KIND_MASK, next - behind, s->error);
}

/* Sends an error message instead of data, after this rank has failed. A message of 0 bytes where
 * data are expected, or of 1 byte where none are, is an error message. */
static void start_error_send(struct weft_schedule *s, struct weft_step *step, size_t bytes)
{
    static const char nothing;
    if (weft_failure_is_death(s->error) && weft_comm_learns_late(s->comm)) {
        report_error(s); /* with the class of the error */
        return;
    }
    int code = weft_p2p_isend(step->channel, &nothing, bytes == 0, weft_datatype_byte(), step->peer,
                              s->tag, WEFT_SEND_STANDARD, &step->request);
    if (code != MPI_SUCCESS)
        step->request = NULL;
}

static void start_send(struct weft_schedule *s, struct weft_step *step)
{
    struct weft_channel *channel = step->channel;
    const struct weft_datatype *type = step->from.type;
    struct weft_peer *peer = channel->comm->peers[step->peer];
    size_t bytes = weft_elements_bytes(step->from);
    if (weft_unlikely(s->error != MPI_SUCCESS)) {
        start_error_send(s, step, bytes);
        return;
    }
    if ((type->flags & WEFT_TYPE_CONTIGUOUS) &&
        weft_lane_inject(peer, channel, s->tag, WEFT_SEND_STANDARD, step->from.at, bytes))
        return;
    int code = weft_p2p_isend(channel, step->from.at, bytes, type, step->peer, s->tag,
                              WEFT_SEND_STANDARD, &step->request);
    if (weft_unlikely(code != MPI_SUCCESS)) {
        step->request = NULL;
        check_code(s, code);
    }
}

/* Messages are counted on the general path only (WEFT_COUNTERS=all). */
static void start_receive(struct weft_schedule *s, struct weft_step *step)
{
    struct weft_channel *channel = step->channel;
    size_t bytes = weft_elements_bytes(step->to);
    bool fast = (uint32_t)step->peer < channel->sources &&
                step->to.type->flags & WEFT_TYPE_CONTIGUOUS && weft_likely(!weft_count_all());
    step->request = fast ? weft_p2p_post(channel, channel->peers[step->peer], step->to.at, bytes,
                                         step->peer, s->tag)
                         : NULL;
    if (weft_likely(step->request != NULL))
        return;
    int code = weft_p2p_irecv(channel, step->to.at, bytes, step->to.type, step->peer, s->tag,
                              &step->request);
    if (weft_unlikely(code != MPI_SUCCESS)) {
        step->request = NULL;
        check_code(s, code);
    }
}

/* The steps that the function adds follow the last one. */
static enum weft_call_state run_call(struct weft_schedule *s, const struct weft_step *step)
{
    if (weft_unlikely(s->error != MPI_SUCCESS)) { /* the ranks may not agree on the next steps */
        bool is_sent = weft_failure_is_death(s->error) || s->fault == WEFT_FAULT_REMOTE ||
                       s->fault == WEFT_FAULT_REFUSED || s->fault == WEFT_FAULT_DEAD;
        if (!is_sent) { /* by the rank whose error it is */
            weft_schedule_record(s);
            report_error(s);
        }
        return WEFT_CALL_DONE;
    }
    enum weft_call_state state = step->call(step->arg);
    if (s->failed)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for the next messages of a collective operation");
    s->end = s->count;
    return state;
}

static enum weft_call_state start_step(struct weft_schedule *s, struct weft_step *step)
{
    weft_assert(!step->request && weft_vci_is_held(s->vci));
    switch (step->kind) {
    case WEFT_STEP_SEND:
        start_send(s, step);
        break;
    case WEFT_STEP_RECEIVE:
        start_receive(s, step);
        break;
    case WEFT_STEP_COPY:
        weft_elements_copy(step->from, step->to);
        break;
    case WEFT_STEP_CALL:
        return run_call(s, step);
    default:
        if (weft_unlikely(s->device))
            check_code(s, weft_stage_combine(s->vci, s->op, step->from, step->to));
        else
            weft_op_combine(s->op, step->from.type, step->from.at, step->to.at, step->from.count);
    }
    return WEFT_CALL_DONE;
}

/* Stores the error of a receive that failed or has an unexpected length: see start_error_send. */
static void check_received(struct weft_schedule *s, const struct weft_step *step,
                           const struct weft_request *request)
{
    size_t wanted = request->capacity;
    bool remote = wanted ? request->bytes == 0 : request->error == MPI_ERR_TRUNCATE;
    bool stored;
    if (request->error != MPI_SUCCESS && request->error != MPI_ERR_TRUNCATE) {
        check_code(s, request->error);
        return;
    }
    if (remote)
        stored = weft_schedule_fail(s, MPI_ERR_OTHER, WEFT_FAULT_REMOTE);
    else if (request->error == MPI_ERR_TRUNCATE)
        stored = weft_schedule_fail(s, MPI_ERR_TRUNCATE, WEFT_FAULT_LONG);
    else
        stored = weft_schedule_fail(s, MPI_ERR_COUNT, WEFT_FAULT_SHORT);
    if (stored) {
        s->fault_peer = step->peer;
        s->fault_wanted = wanted;
        s->fault_got = request->bytes;
    }
}

/* Completes a message. */
static void finish_step(struct weft_schedule *s, struct weft_step *step)
{
    struct weft_request *request = step->request;
    weft_assert(!request->pending && request->vci == s->vci);
    if (step->kind != WEFT_STEP_RECEIVE)
        check_code(s, request->error);
    else if (weft_unlikely(request->error != MPI_SUCCESS || request->bytes != request->capacity))
        check_received(s, step, request);
    weft_request_put(request);
    step->request = NULL;
}

static bool is_complete(const struct weft_schedule *s)
{
    return s->done == s->end;
}

/* Starts and completes steps until the schedule is complete, waits for a message (s->waits_for), or
 * has a call to repeat (s->waits_for: a request that is complete). If all started steps are
 * complete, the next step can start. Returns false if there was nothing but a call that waits. */
static bool advance_schedule(struct weft_schedule *s)
{
    for (bool advanced = false;; advanced = true) {
        weft_assert(s->done <= s->next && s->next <= s->end && s->end <= s->count);
        for (; s->done < s->next; s->done++) {
            struct weft_step *step = &s->steps[s->done];
            if (!step->request)
                continue;
            if (step->request->pending) {
                s->waits_for = step->request;
                break;
            }
            finish_step(s, step);
        }
        if (s->next == s->end || s->steps[s->next].after > s->done)
            return true;
        weft_assert(s->steps[s->next].after <= s->next);
        enum weft_call_state state = start_step(s, &s->steps[s->next]);
        if (weft_unlikely(state != WEFT_CALL_DONE)) {
            s->waits_for = &weft_request_null;
            return advanced || state == WEFT_CALL_MOVED;
        }
        s->next++;
    }
}

/* Ends a schedule that the other ranks do not complete: starts no step any more and cancels the
 * messages that have started. */
static void give_up(struct weft_schedule *s)
{
    s->given_up = true;
    s->end = s->next;
    for (uint32_t i = s->done; i < s->next; i++)
        if (s->steps[i].request && s->steps[i].request->pending)
            weft_cancel(s->steps[i].request);
}

/* For each poll of a schedule that waits. */
static void note_waiting(struct weft_schedule *s)
{
    enum { POLLS = 16 };
    if (weft_likely(++s->polls % POLLS) || (s->shared && !weft_shared_note(s)))
        return;
    if (s->given_up)
        return;
    if (is_collective(s) && !s->comm->outlasts_deaths && weft_comm_is_broken(s->comm)) {
        weft_schedule_fail(s, weft_comm_report_broken(s->comm), WEFT_FAULT_DEAD);
        if (weft_failure_is_death(s->error) && weft_comm_learns_late(s->comm))
            report_error(s);
        give_up(s);
        return;
    }
    const struct weft_refusal *refusal = weft_refusal_look(s);
    if (!refusal)
        return;
    if (weft_schedule_fail(s, refusal->message.code, WEFT_FAULT_REFUSED))
        s->refusal = refusal;
    give_up(s);
}

static void withdraw_watches(struct weft_schedule *s)
{
    if (weft_unlikely(s->waits_since))
        weft_refusal_withdraw(s);
}

/* ---- Active schedules */

/* Completes the request of a complete schedule. */
static void complete(struct weft_schedule *s)
{
    struct weft_request *request = s->request;
    weft_assert(is_complete(s) && (!request || request->pending == 1));
    if (s->shared)
        weft_shared_end(s);
    if (weft_unlikely(s->stage != NULL))
        weft_stage_end(s->stage);
    withdraw_watches(s);
    if (!request)
        return;
    weft_schedule_record(s);
    request->error = (uint8_t)s->error;
    if (!s->persistent)
        weft_schedule_put(s);
    weft_request_event(request);
}

/* Returns false if the schedule waits. */
static bool proceed(struct weft_schedule *s)
{
    if (s->shared)
        return weft_shared_advance(s);
    return !s->waits_for->pending && advance_schedule(s);
}

int weft_coll_progress(struct weft_vci *vci)
{
    int advanced = 0;
    weft_assert(weft_vci_is_held(vci) && !*vci->coll.active_end);
    if (vci->coll.advancing)
        return 0; /* starting a message may call progress */
    vci->coll.advancing = true;
    for (struct weft_schedule **link = &vci->coll.active; *link;) {
        struct weft_schedule *s = *link;
        weft_assert(s->vci == vci && s->request && s->request->pending == 1);
        if (proceed(s))
            advanced++;
        else if (s->shared || s->waits_for->pending)
            note_waiting(s);
        if (!is_complete(s)) {
            link = &s->next_active;
            continue;
        }
        *link = s->next_active;
        if (vci->coll.active_end == &s->next_active)
            vci->coll.active_end = link;
        complete(s);
    }
    vci->coll.advancing = false;
    return advanced;
}

/* Starts a schedule. It is in the list of active schedules unless it is complete. */
static void begin_schedule(struct weft_schedule *s)
{
    struct weft_vci *vci = s->vci;
    weft_count_add(&weft_counts.collectives, 1);
    s->next = s->done = 0;
    s->end = s->shared ? 1 : s->count;
    s->waits_since = 0;
    s->given_up = s->reported = false;
    s->error = MPI_SUCCESS;
    s->fault = WEFT_FAULT_NONE;
    if (weft_unlikely(s->stage != NULL))
        weft_stage_begin(s->stage);
    if (s->shared) {
        weft_shared_begin(s);
        weft_shared_advance(s);
    } else {
        advance_schedule(s);
    }
    if (is_complete(s)) {
        complete(s);
        return;
    }
    s->next_active = NULL;
    weft_assert(!*vci->coll.active_end);
    *vci->coll.active_end = s;
    vci->coll.active_end = &s->next_active;
}

/* ---- The interface: coll.h */

/* An empty schedule. Returns NULL if memory is short, recorded. */
static struct weft_schedule *get_schedule(const struct weft_coll_args *args, int tag,
                                          bool persistent)
{
    struct weft_schedule *s = weft_schedule_get(args);
    if (!s) {
        weft_error_set(MPI_ERR_NO_MEM, "no memory for another collective; complete some first");
        return NULL;
    }
    s->tag = tag;
    s->persistent = persistent;
    return s;
}

/* Makes a schedule, which may be executed through an area if it is to have a request. Returns NULL
 * if memory is short, recorded. */
static struct weft_schedule *make_schedule(const struct weft_coll_args *args, int tag,
                                           bool blocking, bool persistent)
{
    struct weft_schedule *s = get_schedule(args, tag, persistent);
    if (!s)
        return NULL;
    struct weft_coll_args host;
    if (weft_unlikely(weft_gpu_enabled) && weft_stage_is_needed(args)) {
        host = *args;
        args = &host;
        s->stage = weft_schedule_memory(s, sizeof *s->stage);
        if (s->failed || weft_stage_open(s->stage, &host, s) != MPI_SUCCESS) {
            weft_schedule_put(s);
            return NULL;
        }
    }
    if (blocking || !weft_shared_prepare(s, args))
        weft_schedule_build(s, args);
    if (weft_unlikely(s->failed)) {
        weft_schedule_put(s);
        return NULL;
    }
    s->end = s->count;
    return s;
}

void weft_schedule_note_blocking(struct weft_schedule *s)
{
    s->next_active = s->vci->coll.blocking;
    s->vci->coll.blocking = s;
}

/* If several threads wait on one VCI, any of them may end first. */
void weft_schedule_end_blocking(struct weft_schedule *s)
{
    withdraw_watches(s);
    struct weft_schedule **link = &s->vci->coll.blocking;
    weft_assert(s->vci->coll.blocking && !s->request);
    while (*link != s)
        link = &(*link)->next_active;
    *link = s->next_active;
}

/* After a poll for a schedule that has no request. */
static bool is_running(void *arg)
{
    struct weft_schedule *s = arg;
    if (s->waits_for->pending)
        note_waiting(s);
    else
        advance_schedule(s);
    return !is_complete(s);
}

/* Executes a schedule that has no request. */
static void run(struct weft_schedule *s)
{
    struct weft_vci *vci = weft_unlikely(weft_entry_flags) ? weft_vci_scope(s->vci) : NULL;
    weft_count_add(&weft_counts.collectives, 1);
    weft_schedule_note_blocking(s);
    weft_vci_begin_wait(s->vci);
    advance_schedule(s);
    if (is_complete(s))
        weft_look_sometimes(s->vci);
    else
        weft_wait_while(vci, is_running, s, &s->waits_for);
    weft_vci_end_wait(s->vci);
    weft_schedule_end_blocking(s);
    weft_assert(s->next == s->done);
}

int weft_coll_run_schedule(const struct weft_coll_args *args, int tag, enum weft_fault *fault)
{
    *fault = WEFT_FAULT_NONE;
    tag = tag < 0 ? next_tag(args->comm, args->kind, false) : tag;
    struct weft_schedule *s = make_schedule(args, tag, true, false);
    if (weft_unlikely(!s))
        return MPI_ERR_NO_MEM;
    bool calls_user =
        args->op && args->op->id == WEFT_OP_USER; /* who may free type and operation */
    if (calls_user && weft_schedule_retain(s, args) != MPI_SUCCESS) {
        weft_schedule_put(s);
        return MPI_ERR_NO_MEM;
    }
    run(s);
    *fault = s->fault;
    if (weft_unlikely(s->error != MPI_SUCCESS))
        weft_schedule_record(s);
    int code = s->error;
    weft_schedule_put(s);
    return code;
}

int weft_coll_run(const struct weft_coll_args *args)
{
    enum weft_fault fault;
    int code;
    return weft_shared_run(args, &code) ? code : weft_coll_run_schedule(args, -1, &fault);
}

/* The request of a schedule, or NULL. */
static struct weft_request *request_for(struct weft_schedule *s)
{
    struct weft_request *request = weft_request_get(s->vci, WEFT_REQUEST_COLL, 0);
    if (weft_unlikely(!request))
        return NULL;
    request->channel = s->channel;
    request->peer = NULL;
    request->type = NULL; /* loops over all requests test both for NULL */
    request->schedule = s;
    s->request = request;
    return request;
}

/* Makes a schedule with a request. */
static int make_request(const struct weft_coll_args *args, bool persistent,
                        struct weft_request **out)
{
    int tag = next_tag(args->comm, args->kind, persistent);
    struct weft_schedule *s = make_schedule(args, tag, false, persistent);
    if (weft_unlikely(!s))
        return MPI_ERR_NO_MEM;
    *out = weft_schedule_retain(s, args) == MPI_SUCCESS ? request_for(s) : NULL;
    if (weft_likely(*out != NULL))
        return MPI_SUCCESS;
    weft_schedule_put(s);
    return MPI_ERR_NO_MEM;
}

struct weft_request *weft_coll_begin(struct weft_schedule *s)
{
    struct weft_request *request = request_for(s);
    if (!request)
        return NULL;
    request->pending = 1;
    begin_schedule(s);
    return request;
}

/* Starts a schedule that has its steps. */
static int start_built(struct weft_schedule *s, const struct weft_coll_args *args,
                       struct weft_request **request)
{
    if (!s->failed && weft_schedule_retain(s, args) == MPI_SUCCESS) {
        weft_schedule_keep_memory(s);
        *request = weft_coll_begin(s);
        if (*request)
            return MPI_SUCCESS;
    }
    weft_schedule_put(s);
    return MPI_ERR_NO_MEM;
}

int weft_coll_start_steps(const struct weft_coll_args *args,
                          void (*build)(struct weft_schedule *s, void *arg), void *arg,
                          struct weft_request **request)
{
    int tag = next_tag(args->comm, args->kind, false);
    struct weft_schedule *s = get_schedule(args, tag, false);
    if (!s)
        return MPI_ERR_NO_MEM;
    build(s, arg);
    return start_built(s, args, request);
}

/* Its tag is that of a schedule that looks for no refusals, and is no number of a call. */
int weft_coll_start_call(struct weft_comm *comm, const struct weft_datatype *type,
                         enum weft_call_state (*call)(void *arg), void *arg,
                         struct weft_request **request)
{
    struct weft_coll_args args = {
        .kind = WEFT_COLL_BARRIER, .comm = comm, .in = {.type = type}, .out = {.type = type}};
    int tag = weft_coll_tag(comm, 0, WEFT_COLL_KIND_MASK, false);
    struct weft_schedule *s = get_schedule(&args, tag, false);
    if (!s)
        return MPI_ERR_NO_MEM;
    weft_schedule_call(s, call, arg);
    return start_built(s, &args, request);
}

int weft_coll_init(const struct weft_coll_args *args, struct weft_request **request)
{
    return make_request(args, true, request);
}

int weft_coll_start(const struct weft_coll_args *args, struct weft_request **request)
{
    int code = make_request(args, false, request);
    if (code == MPI_SUCCESS) {
        (*request)->pending = 1;
        begin_schedule((*request)->schedule);
    }
    return code;
}

static struct weft_schedule *schedule_of(const struct weft_request *request)
{
    weft_assert(request->op == WEFT_REQUEST_COLL);
    return request->schedule;
}

static int restart(struct weft_request *request)
{
    weft_assert(schedule_of(request)->persistent && !request->pending);
    request->flags = WEFT_REQUEST_PERSISTENT;
    request->error = MPI_SUCCESS;
    request->pending = 1;
    begin_schedule(schedule_of(request));
    return MPI_SUCCESS;
}

/* Frees the schedule of a persistent request. */
static int free_schedule(struct weft_request *request)
{
    if (request->flags & WEFT_REQUEST_PERSISTENT)
        weft_schedule_put(schedule_of(request));
    return MPI_SUCCESS;
}

const struct weft_request_ops weft_coll_request_ops = {.name = "collective",
                                                       .of_vci = true,
                                                       .no_data = true,
                                                       .start = restart,
                                                       .cancel = weft_request_refuse_cancel,
                                                       .may_free = weft_request_refuse_free,
                                                       .free = free_schedule,
                                                       .end_deferred = weft_schedule_end_deferred};

static void describe_schedule(const struct weft_schedule *s,
                              void (*see)(void *arg, const char *text), void *arg)
{
    static const char *const actions[] = {[WEFT_STEP_SEND] = "send to",
                                          [WEFT_STEP_RECEIVE] = "receive from",
                                          [WEFT_STEP_COPY] = "copy at",
                                          [WEFT_STEP_COMBINE] = "reduction at",
                                          [WEFT_STEP_CALL] = "work of"};
    char text[400];
    if (!s->count)
        return;
    const struct weft_step *step = &s->steps[s->done < s->count ? s->done : 0];
    snprintf(text, sizeof text, "%s%s on %.100s (%s): waits in step %u of %u, %s rank %d",
             s->request ? s->persistent ? "persistent " : "nonblocking " : "",
             weft_coll_name(s->kind), weft_comm_name(s->comm), weft_algorithm_name(s->algorithm),
             s->done + 1, s->count, actions[step->kind], step->peer);
    see(arg, text);
}

void weft_coll_each_active(void (*see)(void *arg, const char *text), void *arg)
{
    for (unsigned i = 0; i < weft.nvcis; i++) {
        for (const struct weft_schedule *s = weft.vcis[i].coll.blocking; s; s = s->next_active)
            describe_schedule(s, see, arg);
        for (const struct weft_schedule *s = weft.vcis[i].coll.active; s; s = s->next_active)
            describe_schedule(s, see, arg);
    }
}

bool weft_coll_any_failed(void)
{
    return any_failed;
}

void weft_coll_finalize(void)
{
    weft_schedule_finalize();
    weft_stage_finalize();
}
