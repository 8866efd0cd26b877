// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages of this rank, numbered by channel, and the calls that took long: see messages.h.
 */
#include "tools/profile/messages.h"
#include "core/base/assert.h"
#include "tools/profile/trace.h"

#include <stdlib.h>
#include <string.h>

enum {
    REQUESTS = 8192,     /* a power of 2 */
    REQUESTS_USED = 6144 /* at most: so that searches end soon */
};

/* The step of this module at the end of a call. */
enum step { NONE, MESSAGE, INIT, START, PROBE, MATCHED, COMPLETE, CREATE, OTHER };

static struct plan {
    uint8_t step;
    bool blocks;     /* the call returns when the message is complete */
    bool progresses; /* it looks for messages of others: their transfers go on */
    bool partitioned, synchronous;
    int16_t dest, send_tag, source, receive_tag; /* parameters; -1: none */
    int16_t comm, request, message, status;
    int16_t created; /* a new communicator */
} plans[WEFT_CALLS];

/* An operation that a later call completes, or a message that MPI_Mprobe returned. */
struct operation {
    const void *handle; /* NULL: free */
    uint64_t key, posted;
    const struct profile_comm *comm; /* of a receive whose source or tag is not known yet */
    uint64_t bytes;                  /* of a send */
    int32_t peer, tag;               /* tag: of a send */
    uint32_t n;
    uint8_t asks_for;
    bool active, persistent, partitioned, synchronous;
    bool other; /* it has no message of this rank alone: only its time is kept */
};

static struct {
    struct operation operations[REQUESTS];
    int operations_used, wild;
    /* of the call that runs */
    struct profile_thread *thread;
    uint64_t end; /* ticks: inside the call, because an arrow points at a call */
    void **handles;
    int64_t handles_space;
    MPI_Status *statuses;
    int64_t statuses_space;
} state;

/* ---- What is known of functions */

static int16_t find(const struct weft_function *f, enum weft_parameter_kind kind, int from)
{
    for (int i = from; i >= 0 && i < f->parameters; i++)
        if (f->parameter[i].kind == kind)
            return (int16_t)i;
    return -1;
}

static int16_t find_object(const struct weft_function *f, enum weft_object_kind object)
{
    for (int i = 0; i < f->parameters; i++)
        if (f->parameter[i].object == object)
            return (int16_t)i;
    return -1;
}

/* The communicator that a blocking call makes. */
static int16_t find_created(const struct weft_function *f)
{
    for (int i = 0; i < f->parameters; i++)
        if (f->parameter[i].object == WEFT_OBJECT_COMM && f->parameter[i].flow == WEFT_FLOW_OUT)
            return f->does & WEFT_DOES_NONBLOCKING ? -1 : (int16_t)i;
    return -1;
}

static enum step step_of(const struct weft_function *f, const struct plan *plan)
{
    bool has_ends = plan->comm >= 0 && (plan->dest >= 0 || plan->source >= 0);
    switch (f->plain) {
    case WEFT_CALL_Probe:
    case WEFT_CALL_Mprobe:
    case WEFT_CALL_Improbe:
        return PROBE;
    case WEFT_CALL_Mrecv:
    case WEFT_CALL_Imrecv:
        return MATCHED;
    default:
        break;
    }
    if (plan->created >= 0)
        return CREATE;
    if (f->does & WEFT_DOES_START)
        return plan->request >= 0 ? START : NONE;
    if (f->does & WEFT_DOES_COMPLETE)
        return plan->request >= 0 && f->parameter[plan->request].flow == WEFT_FLOW_INOUT ? COMPLETE
                                                                                         : NONE;
    if (!(f->does & (WEFT_DOES_SEND | WEFT_DOES_RECEIVE | WEFT_DOES_EXCHANGE)) || !has_ends)
        return plan->request >= 0 && f->parameter[plan->request].flow == WEFT_FLOW_OUT &&
                       f->does & WEFT_DOES_NONBLOCKING && !(f->does & WEFT_DOES_PERSISTENT)
                   ? OTHER
                   : NONE;
    return f->does & WEFT_DOES_PERSISTENT ? INIT : MESSAGE;
}

static bool makes_progress(const struct weft_function *f)
{
    const int only_starts = WEFT_DOES_LOCAL | WEFT_DOES_NONBLOCKING | WEFT_DOES_PERSISTENT |
                            WEFT_DOES_START | WEFT_DOES_RMA;
    bool readies = f->plain == WEFT_CALL_Pready || f->plain == WEFT_CALL_Pready_range ||
                   f->plain == WEFT_CALL_Pready_list;
    return f->plain == WEFT_CALL_Parrived || !(f->does & only_starts || readies);
}

static bool is_synchronous(const struct weft_function *f)
{
    return f->plain == WEFT_CALL_Ssend || f->plain == WEFT_CALL_Issend ||
           f->plain == WEFT_CALL_Ssend_init;
}

void profile_messages_begin(void)
{
    for (int i = 0; i < WEFT_CALLS; i++) {
        const struct weft_function *f = &weft_functions[i];
        struct plan plan = {.dest = find(f, WEFT_KIND_RANK, 0),
                            .source = find(f, WEFT_KIND_SOURCE, 0),
                            .comm = find_object(f, WEFT_OBJECT_COMM),
                            .request = find_object(f, WEFT_OBJECT_REQUEST),
                            .message = find_object(f, WEFT_OBJECT_MESSAGE),
                            .status = find(f, WEFT_KIND_STATUS, 0),
                            .created = find_created(f),
                            .blocks = !(f->does & WEFT_DOES_NONBLOCKING),
                            .progresses = makes_progress(f),
                            .synchronous = is_synchronous(f),
                            .partitioned = f->plain == WEFT_CALL_Psend_init ||
                                           f->plain == WEFT_CALL_Precv_init};
        if (plan.partitioned && f->does & WEFT_DOES_RECEIVE) { /* its source may not be any */
            plan.source = plan.dest;
            plan.dest = -1;
        }
        plan.send_tag = find(f, WEFT_KIND_TAG, plan.dest);
        plan.receive_tag = find(f, WEFT_KIND_TAG, plan.source);
        plan.step = (uint8_t)step_of(f, &plan);
        plans[i] = plan;
    }
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

/* ---- Operations that a later call completes */

static unsigned index_of_handle(const void *handle)
{
    return (unsigned)((uintptr_t)handle * 0x9e3779b97f4a7c15U >> 40) % REQUESTS;
}

static struct operation *find_operation(const void *handle)
{
    unsigned i = index_of_handle(handle);
    weft_assert(state.operations_used >= 0 && state.operations_used <= REQUESTS_USED);
    while (state.operations[i].handle && state.operations[i].handle != handle)
        i = (i + 1) % REQUESTS;
    return state.operations[i].handle ? &state.operations[i] : NULL;
}

/* Those behind it move up, so that a search may end at the first free one. */
static void drop(struct operation *operation)
{
    unsigned hole = (unsigned)(operation - state.operations), i = hole;
    weft_assert(operation->handle && state.operations_used > 0);
    for (;;) {
        i = (i + 1) % REQUESTS;
        const struct operation *next = &state.operations[i];
        if (!next->handle)
            break;
        unsigned from_index = (i - index_of_handle(next->handle)) % REQUESTS;
        if (from_index >= (i - hole) % REQUESTS) {
            state.operations[hole] = *next;
            hole = i;
        }
    }
    state.operations[hole] = (struct operation){0};
    state.operations_used--;
}

/* Replaces one of the same handle, whose end was not seen. */
static void add(const struct operation *operation)
{
    struct operation *old = find_operation(operation->handle);
    if (weft_object_is_predefined(operation->handle))
        return;
    if (old) {
        state.wild -= old->active && old->comm;
        drop(old);
    }
    if (state.operations_used == REQUESTS_USED) {
        profile_messages.unnumbered++;
        return;
    }
    unsigned i = index_of_handle(operation->handle);
    while (state.operations[i].handle)
        i = (i + 1) % REQUESTS;
    state.operations[i] = *operation;
    state.operations_used++;
    state.wild += operation->active && operation->comm;
    weft_assert(state.wild >= 0 && state.wild <= state.operations_used);
}

static uint32_t clipped(uint64_t bytes)
{
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

/* The operation begins: a send or a receive from a known source is numbered. */
static void activate(struct operation *operation, uint64_t begin)
{
    weft_assert(operation->comm || operation->key);
    operation->posted = begin;
    operation->active =
        operation->comm || profile_post_number(1 - operation->asks_for, operation->key, begin,
                                               clipped(operation->bytes), &operation->n);
    if (__builtin_expect(profile_traces, 0) && operation->active &&
        operation->asks_for == PROFILE_RECEIVER)
        profile_trace_message(state.thread, PROFILE_SENDER, operation->key, operation->n, begin,
                              operation->bytes, operation->tag);
}

/* A receive whose source and tag the status states. */
static void settle(struct operation *operation, const MPI_Status *status)
{
    const struct profile_comm *comm = operation->comm;
    int source = status->MPI_SOURCE;
    weft_assert(comm && operation->active);
    operation->peer =
        source >= 0 && source < comm->size ? comm->world ? comm->world[source] : source : -1;
    operation->key =
        key_of(comm, operation->peer, profile.rank, status->MPI_TAG, operation->partitioned);
    operation->active =
        operation->peer >= 0 &&
        profile_post_number(PROFILE_RECEIVER, operation->key, operation->posted, 0, &operation->n);
}

/* ---- Parameters of calls */

static int world_of(const struct profile_comm *comm, int64_t rank)
{
    if (rank < 0 || rank >= comm->size)
        return -1;
    return comm->world ? comm->world[rank] : (int)rank;
}

/* False: to MPI_PROC_NULL, or to a rank of another job. */
static bool read_send(const struct weft_call *call, const struct plan *plan,
                      struct operation *operation)
{
    const struct profile_comm *comm = profile_comm_of(call->values[plan->comm].pointer);
    int peer = comm ? world_of(comm, call->values[plan->dest].number) : -1;
    if (peer < 0)
        return false;
    *operation =
        (struct operation){.peer = peer,
                           .tag = (int32_t)call->values[plan->send_tag].number,
                           .asks_for = PROFILE_RECEIVER,
                           .synchronous = plan->synchronous,
                           .key = key_of(comm, profile.rank, peer,
                                         call->values[plan->send_tag].number, plan->partitioned)};
    return true;
}

static bool read_receive(const struct weft_call *call, const struct plan *plan,
                         struct operation *operation)
{
    const struct profile_comm *comm = profile_comm_of(call->values[plan->comm].pointer);
    int64_t source = call->values[plan->source].number;
    int64_t tag = call->values[plan->receive_tag].number;
    if (!comm || source == MPI_PROC_NULL)
        return false;
    *operation = (struct operation){.asks_for = PROFILE_SENDER, .partitioned = plan->partitioned};
    if (source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG) {
        operation->comm = comm;
        return true;
    }
    operation->peer = world_of(comm, source);
    operation->key = key_of(comm, operation->peer, profile.rank, tag, plan->partitioned);
    return operation->peer >= 0;
}

static void *new_request(const struct weft_call *call, const struct plan *plan)
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
    return tool_allocate((size_t)n, each);
}

/* Gives the call statuses if it has none. */
static void replace_status(const struct weft_call *call, const struct plan *plan, int64_t n)
{
    if (plan->status < 0 || call->values[plan->status].pointer != MPI_STATUS_IGNORE)
        return;
    state.statuses = grown(state.statuses, &state.statuses_space, n, sizeof *state.statuses);
    call->values[plan->status].pointer = state.statuses;
}

static int64_t requests_of(const struct weft_call *call, const struct plan *plan)
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
                        const struct plan *plan)
{
    const struct profile_comm *comm = profile_comm_known(call->values[plan->comm].pointer);
    if (!comm)
        return;
    if (plan->dest >= 0 && call->values[plan->dest].number >= 0)
        expect(now, world_of(comm, call->values[plan->dest].number));
    if (plan->source >= 0 && call->values[plan->source].number != MPI_PROC_NULL)
        expect(now, world_of(comm, call->values[plan->source].number));
}

void profile_message_before(struct weft_call *call, struct profile_now *now)
{
    const struct plan *plan = &plans[call->function - weft_functions];
    switch ((enum step)plan->step) {
    case MESSAGE:
    case PROBE:
        if (plan->blocks)
            expect_ends(now, call, plan);
        if (plan->source >= 0 && (call->values[plan->source].number == MPI_ANY_SOURCE ||
                                  call->values[plan->receive_tag].number == MPI_ANY_TAG))
            replace_status(call, plan, 1);
        return;
    case COMPLETE: {
        int64_t n = requests_of(call, plan);
        state.handles = grown(state.handles, &state.handles_space, n, sizeof *state.handles);
        for (int64_t i = 0; i < n; i++)
            state.handles[i] = weft_call_element(call, plan->request, i);
        for (int64_t i = 0; i < n && i < PROFILE_PEERS && state.operations_used; i++) {
            const struct operation *operation = find_operation(state.handles[i]);
            if (operation && operation->active)
                expect(now, operation->comm ? -1 : operation->peer);
        }
        if (state.wild && n)
            replace_status(call, plan, n);
        return;
    }
    case MATCHED:
        state.handles = grown(state.handles, &state.handles_space, 1, sizeof *state.handles);
        state.handles[0] = weft_call_element(call, plan->message, 0);
        return;
    default:
        return;
    }
}

/* ---- After a call that succeeded */

static const MPI_Status *status_at(const struct weft_call *call, const struct plan *plan, int64_t i)
{
    const MPI_Status *statuses = plan->status < 0 ? NULL : call->values[plan->status].pointer;
    return statuses ? statuses + i : NULL;
}

/* The call has waited for the operation. */
static inline void ask(const struct operation *operation)
{
    if (__builtin_expect(!profile_messages.open, 1))
        return;
    profile_long_ask(&(struct profile_query){
        .key = operation->key,
        .n = operation->n,
        .bytes = operation->synchronous ? UINT32_MAX : clipped(operation->bytes),
        .peer = operation->peer,
        .asks_for = operation->asks_for});
}

static void end_operation(struct operation *operation, const MPI_Status *status)
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
                              state.end, 0, 0);
}

/* A blocking call has ended the operation; of another one a later call will. */
static void add_message(const struct weft_call *call, const struct plan *plan,
                        struct operation *operation, uint64_t begin)
{
    activate(operation, begin);
    if (plan->blocks) {
        end_operation(operation, status_at(call, plan, 0));
    } else if (operation->active && (plan->source < 0 || operation->asks_for == PROFILE_SENDER)) {
        operation->handle = new_request(call, plan);
        add(operation);
    }
}

static void end_message(const struct weft_call *call, const struct plan *plan, uint64_t begin,
                        uint64_t bytes)
{
    struct operation operation;
    if (plan->dest >= 0 && read_send(call, plan, &operation)) {
        operation.bytes = bytes;
        add_message(call, plan, &operation, begin);
    }
    if (plan->source >= 0 && read_receive(call, plan, &operation))
        add_message(call, plan, &operation, begin);
}

static void end_init(const struct weft_call *call, const struct plan *plan)
{
    struct operation operation;
    if (!(plan->dest >= 0 ? read_send(call, plan, &operation)
                          : read_receive(call, plan, &operation)))
        return;
    operation.handle = new_request(call, plan);
    operation.persistent = true;
    operation.bytes = plan->dest >= 0 ? profile_bytes_of_send(call) : 0;
    add(&operation);
}

static void end_start(const struct weft_call *call, const struct plan *plan,
                      struct profile_thread *thread, struct profile_slot *slot, uint64_t begin)
{
    for (int64_t i = 0, n = requests_of(call, plan); i < n; i++) {
        struct operation *operation = find_operation(weft_call_element(call, plan->request, i));
        if (!operation || operation->active)
            continue;
        activate(operation, begin);
        if (operation->asks_for == PROFILE_RECEIVER) {
            profile_bytes_add_message(thread, operation->peer, operation->bytes);
            profile_slot_add_bytes(slot, operation->bytes);
        }
        state.wild += operation->active && operation->comm;
    }
}

/* MPI_Probe leaves the message; the others take it, so that it is numbered. */
static void end_probe(const struct weft_call *call, const struct plan *plan, uint64_t begin)
{
    struct operation operation;
    const MPI_Status *status = status_at(call, plan, 0);
    int flag = weft_call_find(call, WEFT_KIND_LOGICAL, 0);
    if ((flag >= 0 && !weft_call_number(call, flag, 0)) || !read_receive(call, plan, &operation))
        return;
    if (plan->message >= 0) {
        add_message(call, plan, &operation, begin);
        operation.handle = weft_call_element(call, plan->message, 0);
        operation.comm = NULL;
        if (operation.active)
            add(&operation);
        return;
    }
    operation.peer = operation.comm ? world_of(operation.comm, status->MPI_SOURCE) : operation.peer;
    if (operation.comm)
        operation.key =
            key_of(operation.comm, operation.peer, profile.rank, status->MPI_TAG, false);
    if (operation.peer < 0)
        return;
    operation.n = profile_post_next(PROFILE_RECEIVER, operation.key);
    ask(&operation);
}

static void end_matched(const struct weft_call *call, const struct plan *plan)
{
    struct operation *operation = find_operation(state.handles[0]);
    if (!operation)
        return;
    struct operation message = *operation;
    drop(operation);
    if (plan->blocks) {
        ask(&message);
    } else {
        message.handle = new_request(call, plan);
        add(&message);
    }
}

/* Adds the time between its start and the end of the call that completed it. */
static void add_open(const struct operation *operation, uint64_t begin, uint64_t ticks)
{
    if (!operation->active && operation->key)
        return; /* persistent, and not started */
    struct profile_open *open =
        &state.thread->open[operation->other ? PROFILE_OPEN_OTHER : PROFILE_OPEN_MESSAGE];
    open->n++;
    open->ticks += begin + ticks - operation->posted;
    open->inside += ticks;
}

/* A nonblocking collective, access to a file or a window. */
static void end_other(const struct weft_call *call, const struct plan *plan, uint64_t begin)
{
    add(&(struct operation){
        .handle = new_request(call, plan), .posted = begin, .other = true, .active = false});
}

static void end_completion(const struct weft_call *call, const struct plan *plan, uint64_t begin,
                           uint64_t ticks)
{
    bool freed = call->function->plain == WEFT_CALL_Request_free;
    for (int64_t i = 0, n = requests_of(call, plan); i < n && state.operations_used; i++) {
        if (weft_object_is_predefined(state.handles[i]))
            continue;
        struct operation *operation = find_operation(state.handles[i]);
        int64_t at = !operation ? -1 : freed ? 0 : weft_call_status(call, i);
        if (at < 0)
            continue;
        state.wild -= operation->active && operation->comm;
        if (!freed && call->result == MPI_SUCCESS)
            add_open(operation, begin, ticks);
        if (!freed && call->result == MPI_SUCCESS)
            end_operation(operation, status_at(call, plan, at));
        operation->active = false;
        if (!operation->persistent || freed)
            drop(operation);
    }
}

void profile_message_after(const struct weft_call *call, struct profile_thread *thread,
                           struct profile_slot *slot, uint64_t begin, uint64_t ticks,
                           uint64_t bytes)
{
    const struct plan *plan = &plans[call->function - weft_functions];
    if (plan->progresses)
        profile_absence_end(begin, begin + ticks);
    if (plan->step == NONE || (call->result != MPI_SUCCESS && plan->step != COMPLETE))
        return;
    state.thread = thread;
    state.end =
        begin + ticks - (ticks / 2 < profile.ticks_of_us / 8 ? ticks / 2 : profile.ticks_of_us / 8);
    profile_long_open(slot, begin, ticks);
    switch ((enum step)plan->step) {
    case MESSAGE:
        end_message(call, plan, begin, bytes);
        break;
    case INIT:
        end_init(call, plan);
        break;
    case START:
        end_start(call, plan, thread, slot, begin);
        break;
    case PROBE:
        end_probe(call, plan, begin);
        break;
    case MATCHED:
        end_matched(call, plan);
        break;
    case COMPLETE:
        end_completion(call, plan, begin, ticks);
        break;
    case CREATE: /* so that its first call has peers */
        profile_comm_of(weft_call_element(call, plan->created, 0));
        break;
    case OTHER:
        end_other(call, plan, begin);
        break;
    default:
        break;
    }
    if (profile_messages.open)
        profile_long_close();
}
