// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages of this rank, numbered by channel, and the calls that took long: see messages.h.
 */
#include "tools/profile/messages.h"
#include "tools/profile/operations.h"
#include "tools/profile/plan.h"
#include "tools/profile/routes.h"
#include "core/base/assert.h"
#include "tools/profile/trace.h"

#include <stdlib.h>
#include <string.h>

/* The state of the call that runs. */
static struct {
    struct profile_thread *thread;
    uint64_t begin, ticks;
    void **handles;
    int64_t handles_space;
    MPI_Status *statuses;
    int64_t statuses_space;
} state;

void profile_messages_begin(void)
{
    profile_plans_begin();
    profile_posts_begin();
}

/* ---- Channels */

static uint64_t mix(uint64_t a, uint64_t b)
{
    a = (a ^ b) * 0x9e3779b97f4a7c15U;
    return a ^ a >> 29;
}

/* Never 0. */
static uint64_t key_of(const struct profile_comm *comm, int source, int dest, int64_t tag,
                       bool partitioned)
{
    uint64_t key = mix(comm->id + partitioned, (uint64_t)(uint32_t)source << 32 | (uint32_t)dest);
    return mix(key, (uint64_t)tag) | 1;
}

/* ---- Operations that a later call completes. Their communicators may be freed before. */

static void drop_operation(struct profile_operation *operation)
{
    if (operation->comm)
        profile_comm_release(operation->comm);
    profile_operation_drop(operation);
}

/* Replaces one of the same handle, whose end was not seen. */
static void add_operation(const struct profile_operation *operation)
{
    struct profile_operation *old = profile_operation_find(operation->handle);
    if (weft_object_is_predefined(operation->handle))
        return;
    if (old)
        drop_operation(old);
    if (!profile_operation_add(operation))
        profile_messages.unnumbered++;
    else if (operation->comm)
        profile_comm_hold(operation->comm);
}

/* ---- Beginnings */

static uint32_t clipped(uint64_t bytes)
{
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

/* An operation with a number begins. */
static void begin_operation(struct profile_operation *operation)
{
    operation->active = true;
    if (__builtin_expect(profile_traces, 0) && operation->asks_for == PROFILE_RECEIVER)
        profile_trace_message(state.thread, PROFILE_SENDER, operation->key, operation->n,
                              operation->posted, operation->bytes, operation->tag);
}

/* The operation begins: a send or a receive from a known source is numbered. Returns its channel;
 * NULL: it has none. */
static struct profile_channel *activate(struct profile_operation *operation)
{
    struct profile_channel *channel = NULL;
    weft_assert(operation->comm || operation->key);
    operation->posted = state.begin;
    operation->active = operation->comm != NULL;
    if (!operation->comm)
        channel = profile_channel_of(1 - operation->asks_for, operation->key);
    if (channel) {
        operation->n = profile_post_number(1 - operation->asks_for, channel, state.begin,
                                           clipped(operation->bytes));
        begin_operation(operation);
    }
    return channel;
}

/* A receive whose source and tag the status states; a partitioned one names both. */
static void settle(struct profile_operation *operation, const MPI_Status *status)
{
    const struct profile_comm *comm = operation->comm;
    weft_assert(comm && operation->active);
    operation->peer = profile_world_of(comm, status->MPI_SOURCE);
    operation->key = key_of(comm, operation->peer, profile.rank, status->MPI_TAG, false);
    struct profile_channel *channel =
        operation->peer < 0 ? NULL : profile_channel_of(PROFILE_RECEIVER, operation->key);
    operation->active = channel != NULL;
    if (channel)
        operation->n = profile_post_number(PROFILE_RECEIVER, channel, operation->posted, 0);
}

/* ---- Parameters of calls */

/* False: to MPI_PROC_NULL, or to a rank of another job. */
static bool read_send(const struct weft_call *call, const struct profile_plan *plan,
                      struct profile_operation *operation)
{
    const struct profile_comm *comm = profile_comm_of(call->values[plan->comm].pointer);
    int peer = comm ? profile_world_of(comm, call->values[plan->dest].number) : -1;
    if (peer < 0)
        return false;
    *operation = (struct profile_operation){.peer = peer,
                                            .tag = (int32_t)call->values[plan->send_tag].number,
                                            .asks_for = PROFILE_RECEIVER,
                                            .synchronous = plan->synchronous,
                                            .key = key_of(comm, profile.rank, peer,
                                                          call->values[plan->send_tag].number,
                                                          plan->partitioned)};
    return true;
}

static bool read_receive(const struct weft_call *call, const struct profile_plan *plan,
                         struct profile_operation *operation)
{
    const struct profile_comm *comm = profile_comm_of(call->values[plan->comm].pointer);
    int64_t source = call->values[plan->source].number;
    int64_t tag = call->values[plan->receive_tag].number;
    if (!comm || source == MPI_PROC_NULL)
        return false;
    *operation = (struct profile_operation){.asks_for = PROFILE_SENDER};
    if (source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG) {
        operation->comm = comm;
        return true;
    }
    operation->peer = profile_world_of(comm, source);
    operation->key = key_of(comm, operation->peer, profile.rank, tag, plan->partitioned);
    return operation->peer >= 0;
}

static void *new_request(const struct weft_call *call, const struct profile_plan *plan)
{
    return weft_call_element(call, plan->request, 0);
}

/* ---- Before a call */

static void *grown(void *list, int64_t *space, int64_t n, size_t each)
{
    if (n <= *space)
        return list;
    free(list); /* a call fills it again */
    *space = n;
    return weft_interpose_allocate((size_t)n, each);
}

/* Gives the call statuses if it has none. */
static void replace_status(const struct weft_call *call, const struct profile_plan *plan, int64_t n)
{
    if (plan->status < 0 || call->values[plan->status].pointer != MPI_STATUS_IGNORE)
        return;
    state.statuses = grown(state.statuses, &state.statuses_space, n, sizeof *state.statuses);
    call->values[plan->status].pointer = state.statuses;
}

static int64_t requests_of(const struct weft_call *call, const struct profile_plan *plan)
{
    int64_t n = call->values[plan->request].pointer ? weft_call_length(call, plan->request) : 0;
    return n > 0 ? n : 0;
}

/* The call may wait for a rank; -1: for any. */
static inline void expect(struct profile_now *now, int peer)
{
    if (now->n < PROFILE_PEERS)
        now->peers[now->n++] = peer;
}

/* A blocking send or receive, or a probe. */
static void expect_ends(struct profile_now *now, const struct weft_call *call,
                        const struct profile_plan *plan)
{
    const struct profile_comm *comm = profile_comm_known(call->values[plan->comm].pointer);
    if (!comm)
        return;
    if (plan->dest >= 0 && call->values[plan->dest].number >= 0)
        expect(now, profile_world_of(comm, call->values[plan->dest].number));
    if (plan->source >= 0 && call->values[plan->source].number != MPI_PROC_NULL)
        expect(now, profile_world_of(comm, call->values[plan->source].number));
}

void profile_message_before(struct weft_call *call, struct profile_now *now)
{
    const struct profile_plan *plan = &profile_plans[call->function - weft_functions];
    profile_route = plan->routed ? profile_route_find(call, plan) : NULL;
    if (profile_route) {
        if (plan->blocks)
            expect(now, profile_route->peer);
        return;
    }
    switch ((enum profile_step)plan->step) {
    case PROFILE_STEP_MESSAGE:
    case PROFILE_STEP_PROBE:
        if (plan->blocks)
            expect_ends(now, call, plan);
        if (plan->source >= 0 && (call->values[plan->source].number == MPI_ANY_SOURCE ||
                                  call->values[plan->receive_tag].number == MPI_ANY_TAG))
            replace_status(call, plan, 1);
        return;
    case PROFILE_STEP_COMPLETE: {
        int64_t n = requests_of(call, plan);
        state.handles = grown(state.handles, &state.handles_space, n, sizeof *state.handles);
        for (int64_t i = 0; i < n; i++)
            state.handles[i] = weft_call_element(call, plan->request, i);
        for (int64_t i = 0; i < n && i < PROFILE_PEERS && profile_operations.n; i++) {
            const struct profile_operation *operation = profile_operation_find(state.handles[i]);
            if (operation && operation->active)
                expect(now, operation->comm ? -1 : operation->peer);
        }
        if (profile_operations.wild && n)
            replace_status(call, plan, n);
        return;
    }
    case PROFILE_STEP_MATCHED:
        state.handles = grown(state.handles, &state.handles_space, 1, sizeof *state.handles);
        state.handles[0] = weft_call_element(call, plan->message, 0);
        return;
    default:
        return;
    }
}

/* ---- After a call that succeeded */

static const MPI_Status *status_at(const struct weft_call *call, const struct profile_plan *plan,
                                   int64_t i)
{
    const MPI_Status *statuses = plan->status < 0 ? NULL : call->values[plan->status].pointer;
    return statuses ? statuses + i : NULL;
}

/* The call has waited for the operation. */
static inline void ask(const struct profile_operation *operation)
{
    if (__builtin_expect(!profile_messages.open, 1))
        return;
    const struct profile_long *call = profile_messages.open;
    const enum profile_end own = 1 - operation->asks_for;
    const uint64_t end = call->begin + call->ticks;
    const uint64_t transferred = profile_transfer_end(own, operation->peer);
    const bool ended = /* a synchronous send may be none, and wait for its match */
        !operation->synchronous && transferred >= operation->posted && transferred < end;
    profile_long_ask(&(struct profile_query){
        .key = operation->key,
        .n = operation->n,
        .bytes = operation->synchronous ? UINT32_MAX : clipped(operation->bytes),
        .until = ended ? transferred : end,
        .peer = operation->peer,
        .asks_for = operation->asks_for});
}

/* A time inside the call, because an arrow points at a call. */
static uint64_t arrow_end(void)
{
    const uint64_t before = profile.ticks_of_us / 8, half = state.ticks / 2;
    return state.begin + state.ticks - (half < before ? half : before);
}

static void end_operation(struct profile_operation *operation, const MPI_Status *status)
{
    if (operation->active && operation->comm) {
        if (!status)
            return;
        settle(operation, status);
    }
    if (!operation->active)
        return;
    ask(operation);
    if (__builtin_expect(profile_traces, 0) && operation->asks_for == PROFILE_SENDER)
        profile_trace_message(state.thread, PROFILE_RECEIVER, operation->key, operation->n,
                              arrow_end(), 0, 0);
}

/* A blocking call has ended the operation; of another one a later call will. */
static void keep_message(const struct weft_call *call, const struct profile_plan *plan,
                         struct profile_operation *operation)
{
    if (plan->blocks) {
        end_operation(operation, status_at(call, plan, 0));
    } else if (operation->active && (plan->source < 0 || operation->asks_for == PROFILE_SENDER)) {
        operation->handle = new_request(call, plan);
        add_operation(operation);
    }
}

static void add_message(const struct weft_call *call, const struct profile_plan *plan,
                        struct profile_operation *operation)
{
    struct profile_channel *channel = activate(operation);
    if (channel && plan->routed)
        profile_route_keep(call, plan, operation->peer, channel);
    keep_message(call, plan, operation);
}

static void end_message(const struct weft_call *call, const struct profile_plan *plan,
                        uint64_t bytes)
{
    struct profile_operation operation;
    if (plan->dest >= 0 && read_send(call, plan, &operation)) {
        operation.bytes = bytes;
        add_message(call, plan, &operation);
    }
    if (plan->source >= 0 && read_receive(call, plan, &operation))
        add_message(call, plan, &operation);
}

/* The same by its route. */
static void end_routed(const struct weft_call *call, const struct profile_plan *plan,
                       const struct profile_route *route, uint64_t bytes)
{
    const uint32_t n = profile_post_number(route->end, route->channel, state.begin, clipped(bytes));
    if (plan->blocks && !profile_messages.open && !profile_traces)
        return;
    struct profile_operation operation = {.key = route->channel->key,
                                          .posted = state.begin,
                                          .bytes = bytes,
                                          .peer = route->peer,
                                          .tag = route->tag,
                                          .n = n,
                                          .asks_for = 1 - route->end,
                                          .synchronous = plan->synchronous};
    begin_operation(&operation);
    keep_message(call, plan, &operation);
}

static void end_init(const struct weft_call *call, const struct profile_plan *plan)
{
    struct profile_operation operation;
    if (!(plan->dest >= 0 ? read_send(call, plan, &operation)
                          : read_receive(call, plan, &operation)))
        return;
    operation.handle = new_request(call, plan);
    operation.persistent = true;
    operation.bytes = plan->dest >= 0 ? profile_bytes_of_send(call) : 0;
    add_operation(&operation);
}

static void end_start(const struct weft_call *call, const struct profile_plan *plan,
                      struct profile_thread *thread, struct profile_slot *slot)
{
    for (int64_t i = 0, n = requests_of(call, plan); i < n; i++) {
        struct profile_operation *operation =
            profile_operation_find(weft_call_element(call, plan->request, i));
        if (!operation || operation->active)
            continue;
        activate(operation);
        if (operation->asks_for == PROFILE_RECEIVER) {
            profile_bytes_add_message(thread, operation->peer, operation->bytes);
            profile_slot_add_bytes(slot, operation->bytes);
        }
        profile_operations.wild += operation->active && operation->comm;
    }
}

/* MPI_Probe leaves the message; the others take it, so that it is numbered. */
static void end_probe(const struct weft_call *call, const struct profile_plan *plan)
{
    struct profile_operation operation;
    const MPI_Status *status = status_at(call, plan, 0);
    int flag = weft_call_find(call, WEFT_PARAMETER_LOGICAL, 0);
    if ((flag >= 0 && !weft_call_number(call, flag, 0)) || !read_receive(call, plan, &operation))
        return;
    if (plan->message >= 0) {
        add_message(call, plan, &operation);
        operation.handle = weft_call_element(call, plan->message, 0);
        operation.comm = NULL;
        if (operation.active)
            add_operation(&operation);
        return;
    }
    operation.peer =
        operation.comm ? profile_world_of(operation.comm, status->MPI_SOURCE) : operation.peer;
    if (operation.comm)
        operation.key =
            key_of(operation.comm, operation.peer, profile.rank, status->MPI_TAG, false);
    if (operation.peer < 0)
        return;
    operation.posted = state.begin;
    operation.n = profile_post_next(PROFILE_RECEIVER, operation.key);
    ask(&operation);
}

static void end_matched(const struct weft_call *call, const struct profile_plan *plan)
{
    struct profile_operation *operation = profile_operation_find(state.handles[0]);
    if (!operation)
        return;
    struct profile_operation message = *operation;
    drop_operation(operation);
    if (plan->blocks) {
        ask(&message);
    } else {
        message.handle = new_request(call, plan);
        add_operation(&message);
    }
}

/* Adds the time between its start and the end of the call that completed it. */
static void add_open(const struct profile_operation *operation)
{
    if (!operation->active && !operation->other)
        return; /* persistent, and not started */
    struct profile_open *open =
        &state.thread->open[operation->other ? PROFILE_OPEN_OTHER : PROFILE_OPEN_MESSAGE];
    open->n++;
    open->ticks += state.begin + state.ticks - operation->posted;
    open->inside += state.ticks;
}

/* A nonblocking collective, access to a file or a window. */
static void end_other(const struct weft_call *call, const struct profile_plan *plan)
{
    add_operation(&(struct profile_operation){
        .handle = new_request(call, plan), .posted = state.begin, .other = true, .active = false});
}

static void end_completion(const struct weft_call *call, const struct profile_plan *plan)
{
    bool freed = call->function->plain == WEFT_CALL_Request_free;
    for (int64_t i = 0, n = requests_of(call, plan); i < n && profile_operations.n; i++) {
        if (weft_object_is_predefined(state.handles[i]))
            continue;
        struct profile_operation *operation = profile_operation_find(state.handles[i]);
        int64_t at = !operation ? -1 : freed ? 0 : weft_call_status(call, i);
        if (at < 0)
            continue;
        profile_operations.wild -= operation->active && operation->comm;
        if (!freed && call->result == MPI_SUCCESS) {
            add_open(operation);
            end_operation(operation, status_at(call, plan, at));
        }
        operation->active = false;
        if (!operation->persistent || freed)
            drop_operation(operation);
    }
}

void profile_message_after(const struct weft_call *call, struct profile_thread *thread,
                           struct profile_slot *slot, uint64_t begin, uint64_t ticks,
                           uint64_t bytes)
{
    const struct profile_plan *plan = &profile_plans[call->function - weft_functions];
    if (plan->progresses)
        profile_absence_end(begin, begin + ticks);
    if (plan->step == PROFILE_STEP_NONE ||
        (call->result != MPI_SUCCESS && plan->step != PROFILE_STEP_COMPLETE))
        return;
    state.thread = thread;
    state.begin = begin;
    state.ticks = ticks;
    profile_long_open(slot, begin, ticks);
    switch ((enum profile_step)plan->step) {
    case PROFILE_STEP_MESSAGE:
        if (profile_route)
            end_routed(call, plan, profile_route, bytes);
        else
            end_message(call, plan, bytes);
        break;
    case PROFILE_STEP_INIT:
        end_init(call, plan);
        break;
    case PROFILE_STEP_START:
        end_start(call, plan, thread, slot);
        break;
    case PROFILE_STEP_PROBE:
        end_probe(call, plan);
        break;
    case PROFILE_STEP_MATCHED:
        end_matched(call, plan);
        break;
    case PROFILE_STEP_COMPLETE:
        end_completion(call, plan);
        break;
    case PROFILE_STEP_CREATE: /* so that its first call has peers */
        profile_comm_of(weft_call_element(call, plan->created, 0));
        break;
    case PROFILE_STEP_OTHER:
        end_other(call, plan);
        break;
    default:
        break;
    }
    if (profile_messages.open)
        profile_long_close();
}
