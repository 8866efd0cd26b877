// SPDX-License-Identifier: BSD-3-Clause
/*
 * The engine: executes schedules with point-to-point messages.
 *
 * Invariants:
 *  - A thread that works on a schedule holds the VCI of its communicator, to which its request
 *    belongs.
 *  - A schedule with a request is in the list coll.active of its VCI until it is complete, and is
 *    advanced by progress of that VCI, whatever the caller of progress waits for.
 *  - Each request that the engine starts is freed by the engine, also after another one failed.
 *  - A nonblocking schedule is freed when it is complete, a persistent one with its request.
 */
#include "core/coll/engine.h"
#include "core/coll/refusal.h"
#include "core/coll/shared.h"
#include "core/coll/stage.h"
#include "core/base/error.h"
#include "core/message/count.h"
#include "core/progress/failure.h"
#include "core/pt2pt/cancel.h"
#include "core/pt2pt/p2p.h"

static void check_code(struct weft_schedule *s, int code)
{
    if (weft_unlikely(code != MPI_SUCCESS))
        weft_schedule_fail(s, code, WEFT_FAULT_RECORDED);
}

/* Sends an error message instead of data, after this rank has failed. A message of 0 bytes where
 * data are expected, or of 1 byte where none are, is an error message. */
static void start_error_send(struct weft_schedule *s, struct weft_step *step, size_t bytes)
{
    static const char nothing;
    if (weft_failure_is_death(s->error) && weft_comm_learns_late(s->comm)) {
        weft_schedule_report(s); /* with the class of the error */
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
    if (weft_unlikely(s->error != MPI_SUCCESS && weft_schedule_is_collective(s))) {
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
        if (code == MPI_ERR_NO_MEM && !weft_schedule_is_collective(s))
            weft_refusal_fail();
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
static enum weft_step_state run_call(struct weft_schedule *s, const struct weft_step *step)
{
    if (weft_unlikely(s->error != MPI_SUCCESS)) { /* the ranks may not agree on the next steps */
        bool is_sent = weft_failure_is_death(s->error) || s->fault == WEFT_FAULT_REMOTE ||
                       s->fault == WEFT_FAULT_REFUSED || s->fault == WEFT_FAULT_DEAD;
        if (!is_sent) { /* by the rank whose error it is */
            weft_schedule_record(s);
            weft_schedule_report(s);
        }
        return WEFT_STEP_DONE;
    }
    enum weft_step_state state = step->call(step->arg);
    if (s->failed)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for the next messages of a collective operation");
    s->end = s->count;
    return state;
}

static enum weft_step_state start_step(struct weft_schedule *s, struct weft_step *step)
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
    return WEFT_STEP_DONE;
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

bool weft_schedule_advance(struct weft_schedule *s)
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
        enum weft_step_state state = start_step(s, &s->steps[s->next]);
        if (weft_unlikely(state != WEFT_STEP_DONE)) {
            s->waits_for = &weft_request_null;
            return advanced || state == WEFT_STEP_MOVED;
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

void weft_schedule_note_waiting(struct weft_schedule *s)
{
    enum { POLLS = 16 };
    if (weft_likely(++s->polls % POLLS) || (s->shared && !weft_shared_note(s)))
        return;
    if (s->given_up)
        return;
    if (weft_schedule_is_collective(s) && !s->comm->outlasts_deaths &&
        weft_comm_is_broken(s->comm)) {
        weft_schedule_fail(s, weft_comm_report_broken(s->comm), WEFT_FAULT_DEAD);
        if (weft_failure_is_death(s->error) && weft_comm_learns_late(s->comm))
            weft_schedule_report(s);
        give_up(s);
        return;
    }
    if (weft_refusal_look(s))
        give_up(s);
}

/* ---- Active schedules */

/* Completes the request of a complete schedule. */
static void complete(struct weft_schedule *s)
{
    struct weft_request *request = s->request;
    weft_assert(weft_schedule_is_complete(s) && (!request || request->pending == 1));
    if (s->shared)
        weft_shared_end(s);
    if (weft_unlikely(s->stage != NULL))
        weft_stage_end(s->stage);
    if (weft_unlikely(s->waits_since))
        weft_refusal_withdraw(s);
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
    return !s->waits_for->pending && weft_schedule_advance(s);
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
            weft_schedule_note_waiting(s);
        if (!weft_schedule_is_complete(s)) {
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

void weft_schedule_begin(struct weft_schedule *s)
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
        weft_schedule_advance(s);
    }
    if (weft_schedule_is_complete(s)) {
        complete(s);
        return;
    }
    s->next_active = NULL;
    weft_assert(!*vci->coll.active_end);
    *vci->coll.active_end = s;
    vci->coll.active_end = &s->next_active;
}
