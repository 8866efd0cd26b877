// SPDX-License-Identifier: BSD-3-Clause
/*
 * The engine: carries schedules out over point-to-point messages.
 *
 * Invariants:
 *  - A schedule that is under way is in the list of active ones, and only progress moves it on: so
 *    whoever waits, for whatever, moves them all. But a blocking one, while there is one thread, is
 *    moved by its call alone: then a poll costs no more than for a message.
 *  - Every request that is started here is given back here, also after another one failed.
 *  - A schedule that nobody waits for is given back when it is complete; a persistent one with its
 *    request.
 */
#include "core/coll/schedule.h"
#include "core/object/error.h"
#include "core/pt2pt/p2p.h"
#include "core/tool/count.h"
#include "core/process/weft.h"
#include "shm/shm.h"

#include <stdlib.h>

struct weft_schedule *weft_coll_active;
static struct weft_schedule **active_end = &weft_coll_active;
static struct weft_schedule *waited_for; /* the blocking one that is not in the list */
static bool advancing; /* progress may come back here while a message is started */
static bool any_failed;

/* ---- Tags: kind 5 bits, persistent 1, between groups 1, sequence number 18, or what there is room
 * for: 8 at least */

enum { KIND_BITS = 5, PERSISTENT_BIT = 1 << KIND_BITS, INTER_BIT = 2 << KIND_BITS };
enum { SEQUENCE_SHIFT = KIND_BITS + 2, SEQUENCE_MASK = (1 << 18) - 1 };

_Static_assert(WEFT_COLL_KINDS <= 1 << KIND_BITS, "a kind does not fit into the tag");
_Static_assert(SEQUENCE_SHIFT + 8 <= WEFT_LEAST_TAG_BITS, "few numbers fit into the tag");

/* Persistent ones are numbered apart, when they are made: they may be started in any order. What a
 * collective on an inter-communicator sends within the local group is told from that group's own
 * collectives. */
static int next_tag(struct weft_comm *comm, enum weft_coll_kind kind, bool persistent)
{
    uint32_t *sequence = persistent ? &comm->coll_inits : &comm->coll_sequence;
    uint32_t number = (*sequence)++ & SEQUENCE_MASK & (uint32_t)weft.tag_ub >> SEQUENCE_SHIFT;
    return (int)(number << SEQUENCE_SHIFT) | (comm->local ? INTER_BIT : 0) |
           (persistent ? PERSISTENT_BIT : 0) | (int)kind;
}

void weft_coll_skip(struct weft_comm *comm, bool persistent)
{
    any_failed = true;
    next_tag(comm, WEFT_COLL_BARRIER, persistent);
}

const char *weft_coll_name_of_tag(int tag)
{
    int kind = tag & (PERSISTENT_BIT - 1);
    return tag >= 0 && kind < WEFT_COLL_KINDS ? weft_coll_name((enum weft_coll_kind)kind)
                                              : "a collective";
}

/* ---- Steps */

/* Keeps the first error of this rank's own; one that another rank tells only before that. */
static bool keep(struct weft_schedule *s, int code, enum weft_fault fault)
{
    any_failed = true;
    if (s->error != MPI_SUCCESS && (s->fault != WEFT_FAULT_HEARD || fault == WEFT_FAULT_HEARD))
        return false;
    s->error = code;
    s->fault = fault;
    return true;
}

static void note(struct weft_schedule *s, int code)
{
    if (weft_unlikely(code != MPI_SUCCESS))
        keep(s, code, WEFT_FAULT_SAID);
}

/* Says what the fault of a schedule is that has ended: until now another sentence may have come. */
static void say_fault(const struct weft_schedule *s)
{
    static const char same[] = "all ranks of a collective have to pass the same amount of data";
    if (s->fault == WEFT_FAULT_SHORT)
        weft_error_set(s->error, "rank %d sent %zu bytes where %zu are expected; %s", s->fault_peer,
                       s->fault_got, s->fault_wanted, same);
    if (s->fault == WEFT_FAULT_LONG)
        weft_error_set(s->error, "rank %d sent more than the %zu bytes expected; %s", s->fault_peer,
                       s->fault_wanted, same);
    if (s->fault == WEFT_FAULT_HEARD) {
        weft_error_set(s->error,
                       "rank %d could not do its part of the collective, or has another amount of "
                       "data than the %zu bytes expected; its own error tells",
                       s->fault_peer, s->fault_wanted);
        weft_error_secondary();
    }
}

/* What this rank was to send after something failed: no part of it is right, and who receives it has
 * to know. A message of another length than any that can be expected tells. */
static void start_spoilt_send(struct weft_schedule *s, struct weft_step *step, size_t bytes)
{
    static const char nothing;
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
        start_spoilt_send(s, step, bytes);
        return;
    }
    if ((type->flags & WEFT_TYPE_CONTIGUOUS) &&
        weft_p2p_inject(peer, channel, s->tag, WEFT_SEND_STANDARD, step->from.at, bytes))
        return;
    int code = weft_p2p_isend(channel, step->from.at, bytes, type, step->peer, s->tag,
                              WEFT_SEND_STANDARD, &step->request);
    if (weft_unlikely(code != MPI_SUCCESS)) {
        step->request = NULL;
        note(s, code);
    }
}

/* Straight to the provider, if nothing speaks against it. */
static bool post(struct weft_schedule *s, struct weft_step *step)
{
    struct weft_channel *channel = step->channel;
    size_t bytes = weft_elements_bytes(step->to);
    if (weft.matcher.unexpected || (uint32_t)step->peer >= channel->sources ||
        !(step->to.type->flags & WEFT_TYPE_CONTIGUOUS) || weft_unlikely(!weft.requests.free) ||
        weft_unlikely(weft_count_all()))
        return false;
    struct weft_peer *peer = channel->comm->peers[step->peer];
    if (weft_unlikely(bytes >= peer->post_below))
        return false;
    struct weft_request *request =
        weft_request_pop(&weft.requests, WEFT_REQUEST_RECV, WEFT_REQUEST_IN_NET, 1);
    weft_p2p_describe(request, channel, step->to.at, bytes, weft_datatype_byte(), peer, step->peer,
                      s->tag);
    step->request = request;
    note(s, weft_net_irecv_plain(request));
    return true;
}

static void start_receive(struct weft_schedule *s, struct weft_step *step)
{
    if (weft_likely(post(s, step)))
        return;
    int code = weft_p2p_irecv(step->channel, step->to.at, weft_elements_bytes(step->to),
                              step->to.type, step->peer, s->tag, &step->request);
    if (weft_unlikely(code != MPI_SUCCESS)) {
        step->request = NULL;
        note(s, code);
    }
}

static void start(struct weft_schedule *s, struct weft_step *step)
{
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
    default:
        weft_op_combine(s->op, step->from.type, step->from.at, step->to.at, step->from.count);
    }
}

/* Notes what is wrong with a receive that is complete. Length tells: see start_spoilt_send. */
static void judge_received(struct weft_schedule *s, const struct weft_step *step,
                           const struct weft_request *request)
{
    size_t wanted = request->capacity;
    bool spoilt = wanted ? request->bytes == 0 : request->error == MPI_ERR_TRUNCATE;
    bool kept;
    if (request->error != MPI_SUCCESS && request->error != MPI_ERR_TRUNCATE) {
        note(s, request->error);
        return;
    }
    if (spoilt)
        kept = keep(s, MPI_ERR_OTHER, WEFT_FAULT_HEARD);
    else if (request->error == MPI_ERR_TRUNCATE)
        kept = keep(s, MPI_ERR_TRUNCATE, WEFT_FAULT_LONG);
    else
        kept = keep(s, MPI_ERR_COUNT, WEFT_FAULT_SHORT);
    if (kept) {
        s->fault_peer = step->peer;
        s->fault_wanted = wanted;
        s->fault_got = request->bytes;
    }
}

/* A message is complete. */
static void finish(struct weft_schedule *s, struct weft_step *step)
{
    struct weft_request *request = step->request;
    if (step->kind != WEFT_STEP_RECEIVE)
        note(s, request->error);
    else if (weft_unlikely(request->error != MPI_SUCCESS || request->bytes != request->capacity))
        judge_received(s, step, request);
    weft_request_put(request);
    step->request = NULL;
}

/* Goes as far as it can: until it is complete, or waits for its first message under way. (It cannot
 * wait for anything else: with all that has started complete, the next step may start.) */
static void advance(struct weft_schedule *s)
{
    for (;;) {
        for (; s->done < s->next; s->done++) {
            struct weft_step *step = &s->steps[s->done];
            if (!step->request)
                continue;
            if (step->request->pending) {
                s->waits_for = step->request;
                break;
            }
            finish(s, step);
        }
        if (s->next == s->count || s->steps[s->next].after > s->done)
            return;
        start(s, &s->steps[s->next++]);
    }
}

/* ---- Active schedules */

/* A schedule has ended: tells who has asked for it. */
static void complete(struct weft_schedule *s)
{
    struct weft_request *request = s->request;
    if (!request)
        return;
    say_fault(s);
    request->error = (uint8_t)s->error;
    if (!s->persistent)
        weft_schedule_put(s);
    weft_request_event(request);
}

static bool is_complete(const struct weft_schedule *s)
{
    return s->done == s->count;
}

int weft_coll_progress(void)
{
    int moved = 0;
    if (advancing)
        return 0;
    advancing = true;
    for (struct weft_schedule **link = &weft_coll_active; *link;) {
        struct weft_schedule *s = *link;
        if (s->waits_for->pending) {
            link = &s->next_active;
            continue;
        }
        advance(s);
        moved++;
        if (!is_complete(s)) {
            link = &s->next_active;
            continue;
        }
        *link = s->next_active;
        if (active_end == &s->next_active)
            active_end = link;
        complete(s);
    }
    advancing = false;
    return moved;
}

/* Goes as far as it can, at first or because what it waited for is there. */
static void go(struct weft_schedule *s)
{
    advancing = true;
    advance(s);
    advancing = false;
}

/* Begins a schedule. */
static void begin(struct weft_schedule *s)
{
    weft_counts.collectives++;
    s->next = s->done = 0;
    s->error = MPI_SUCCESS;
    s->fault = WEFT_FAULT_NONE;
    go(s);
    if (is_complete(s)) {
        complete(s);
        return;
    }
    s->next_active = NULL;
    *active_end = s;
    active_end = &s->next_active;
}

/* ---- What MPI asks for */

/* A built schedule; NULL after saying why. */
static struct weft_schedule *make(const struct weft_coll_args *args, bool persistent)
{
    int tag = next_tag(args->comm, args->kind, persistent);
    struct weft_schedule *s = weft_schedule_get(args);
    if (!s) {
        weft_error_set(MPI_ERR_NO_MEM, "no memory for another collective; complete some first");
        return NULL;
    }
    weft_schedule_build(s, args);
    if (weft_unlikely(s->failed)) {
        weft_schedule_put(s);
        return NULL;
    }
    s->tag = tag;
    s->persistent = persistent;
    return s;
}

/* Nobody else can move it on. */
static void run_alone(struct weft_schedule *s)
{
    unsigned idle = 0;
    waited_for = s;
    go(s);
    while (!is_complete(s)) {
        if (!s->waits_for->pending) {
            go(s);
            idle = 0;
        } else if (weft_poll()) {
            idle = 0;
        } else {
            weft_idle_for(&idle, s->waits_for);
        }
    }
    waited_for = NULL;
}

static void run_among_threads(struct weft_schedule *s)
{
    unsigned idle = 0;
    begin(s);
    while (!is_complete(s))
        weft_await(&idle, s->waits_for);
}

int weft_coll_run(const struct weft_coll_args *args)
{
    struct weft_schedule *s = make(args, false);
    if (weft_unlikely(!s))
        return MPI_ERR_NO_MEM;
    if (weft_likely(!(weft_gate & WEFT_GATE_THREADS)))
        run_alone(s);
    else
        run_among_threads(s);
    int code = s->error;
    if (weft_unlikely(code != MPI_SUCCESS))
        say_fault(s);
    weft_schedule_put(s);
    return code;
}

/* A request for a schedule. */
static int attach(struct weft_schedule *s, struct weft_request **out)
{
    struct weft_request *request = weft_request_get(&weft.requests, WEFT_REQUEST_COLL, 0);
    if (weft_unlikely(!request)) {
        weft_schedule_put(s);
        return MPI_ERR_NO_MEM;
    }
    request->channel = s->channel;
    request->peer = NULL;
    request->type = NULL; /* who looks for a type or a peer in requests finds none */
    request->schedule = s;
    s->request = request;
    *out = request;
    return MPI_SUCCESS;
}

int weft_coll_start(const struct weft_coll_args *args, struct weft_request **request)
{
    struct weft_schedule *s = make(args, false);
    if (weft_unlikely(!s))
        return MPI_ERR_NO_MEM;
    int code = weft_schedule_keep(s, args);
    if (weft_unlikely(code != MPI_SUCCESS)) {
        weft_schedule_put(s);
        return code;
    }
    code = attach(s, request);
    if (code == MPI_SUCCESS) {
        (*request)->pending = 1;
        begin(s);
    }
    return code;
}

int weft_coll_init(const struct weft_coll_args *args, struct weft_request **request)
{
    struct weft_schedule *s = make(args, true);
    if (weft_unlikely(!s))
        return MPI_ERR_NO_MEM;
    int code = weft_schedule_keep(s, args);
    if (weft_unlikely(code != MPI_SUCCESS)) {
        weft_schedule_put(s);
        return code;
    }
    return attach(s, request);
}

void weft_coll_restart(struct weft_request *request)
{
    request->flags = WEFT_REQUEST_PERSISTENT;
    request->error = MPI_SUCCESS;
    request->pending = 1;
    begin(request->schedule);
}

void weft_coll_release(struct weft_request *request)
{
    if (request->flags & WEFT_REQUEST_PERSISTENT)
        weft_schedule_put(request->schedule);
}

void weft_schedule_each_active(void (*see)(void *arg, const struct weft_schedule *s), void *arg)
{
    if (waited_for)
        see(arg, waited_for);
    for (const struct weft_schedule *s = weft_coll_active; s; s = s->next_active)
        see(arg, s);
}

bool weft_coll_any_failed(void)
{
    return any_failed;
}

void weft_coll_finalize(void)
{
    weft_schedule_finalize();
}
