// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages: see messages.h.
 */
#include "tools/check/messages.h"
#include "tools/check/buffering.h"
#include "tools/check/comms.h"
#include "tools/check/deadlocks.h"
#include "tools/check/gathering.h"
#include "tools/check/repeats.h"

#include <stdlib.h>
#include <string.h>

enum { ANY = -1, TABLE = 1024, FEW = 2 };

/* A record that no receive has matched. */
struct arrival {
    struct arrival *next;
    struct check_record record;
};

/* The records of one source. */
struct queue {
    struct arrival *first, *last;
    struct check_record *newest; /* of each slot (repeats.h); NULL: no record has come */
};

/* The data of one side of a call. */
struct side {
    struct check_signature all, one;
    int64_t bytes;
    struct check_location location;
};

/* A receive or matched probe, from the post until it is complete and its message is known. */
struct posted {
    struct posted *next, **at;
    uint64_t comm;
    int source, tag;   /* ANY: not known before it is complete */
    int made_with;     /* the source that a call with MPI_ANY_SOURCE was made with; ANY: none */
    bool is_described; /* false: of MPI_Mprobe, whose MPI_Mrecv has not been called */
    bool is_complete;  /* received */
    bool is_reported;  /* a finding has been reported */
    struct side side;
    int64_t bytes; /* received */
    struct arrival *arrival;
    int log; /* the entry of its post (buffering.h) */
};

/* A request or message of the program. */
struct pending {
    struct pending *next;
    const void *handle;
    bool is_persistent, is_send, is_sending, is_buffered;
    struct check_record send; /* is_send: the record of each start */
    struct posted like;       /* of a persistent receive */
    struct posted *posted;    /* NULL: none is active */
    int dest;
    uint64_t comm, number;            /* of the message */
    struct check_gathering gathering; /* of a collective call */
};

/* A call between its begin and its end. */
struct frame {
    struct frame *below;
    const struct weft_call *call;
    struct posted *posted;
    int dest; /* of the record; ANY: there is none */
    struct check_record record;
    int64_t n;
    const void **handles;
    MPI_Status *statuses; /* replaces MPI_STATUS_IGNORE */
    const void *few_handles[FEW];
    MPI_Status few_statuses[FEW];
};

static struct {
    pthread_mutex_t lock;
    struct queue *queues; /* of each source */
    struct posted *first, **end;
    int wildcards;   /* posted receives whose envelope is not known */
    bool is_blocked; /* receives were not matched because of one */
    struct pending *table[TABLE];
    uint64_t *blind; /* keys of communicators that are not compared any more */
    int n_blind, blind_capacity;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .end = &state.first};

static CHECK_THREAD struct frame *frames;

static struct check_pool arrivals = {.size = sizeof(struct arrival)},
                         receives = {.size = sizeof(struct posted)},
                         requests = {.size = sizeof(struct pending)},
                         calls = {.size = sizeof(struct frame)};

static bool is_on(void)
{
    return !check.several_threads;
}

/* ---- Communicators that are not compared */

static bool is_blind(uint64_t comm)
{
    for (int i = 0; i < state.n_blind; i++)
        if (state.blind[i] == comm)
            return true;
    return false;
}

static void make_blind(uint64_t comm)
{
    if (is_blind(comm))
        return;
    if (state.n_blind == state.blind_capacity)
        state.blind =
            check_enlarge(state.blind, state.n_blind, &state.blind_capacity, sizeof *state.blind);
    state.blind[state.n_blind++] = comm;
}

/* ---- Requests and messages. The lock is held. */

static struct pending **slot_of(const void *handle)
{
    return &state.table[((uintptr_t)handle >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 54];
}

static struct pending *find_pending(const void *handle)
{
    struct pending *pending = *slot_of(handle);
    while (pending && pending->handle != handle)
        pending = pending->next;
    return pending;
}

static void drop_pending(const void *handle)
{
    struct pending **at = slot_of(handle);
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    struct pending *pending = *at;
    if (pending)
        *at = pending->next;
    if (pending)
        check_pool_give(&requests, pending);
}

static struct pending *add_pending(const void *handle)
{
    drop_pending(handle);
    struct pending *pending = check_pool_take(&requests), **slot = slot_of(handle);
    *pending = (struct pending){.next = *slot, .handle = handle};
    return *slot = pending;
}

/* ---- The list of posted receives. The lock is held. */

static bool is_wild(const struct posted *posted)
{
    return posted->source == ANY || posted->tag == ANY;
}

static struct posted *post(const struct posted *like)
{
    struct posted *posted = check_pool_take(&receives);
    *posted = *like;
    posted->next = NULL;
    posted->at = state.end;
    *state.end = posted;
    state.end = &posted->next;
    state.wildcards += is_wild(posted);
    return posted;
}

static void withdraw(struct posted *posted)
{
    *posted->at = posted->next;
    if (posted->next)
        posted->next->at = posted->at;
    else
        state.end = posted->at;
    state.wildcards -= is_wild(posted);
    weft_assert(state.wildcards >= 0 && !*state.end);
    if (posted->arrival)
        check_pool_give(&arrivals, posted->arrival);
    check_pool_give(&receives, posted);
}

/* ---- Comparing. The lock is held. */

static void report(struct posted *posted, enum check_rule rule)
{
    const struct check_record *record = &posted->arrival->record;
    struct check_location from = {&weft_functions[record->call], weft_site_unpack(record->site)};
    char sender[256], sent[96], received[96];
    check_location_print(&from, sender, sizeof sender);
    check_signature_print(&record->message.signature, sent, sizeof sent);
    check_signature_print(&posted->side.all, received, sizeof received);
    posted->is_reported = true;
    if (!(check.kinds & CHECK_MESSAGES))
        return;
    check_report(rule, &posted->side.location, true,
                 "it receives %s (%lld bytes), but rank %d sends %s (%lld bytes) with tag %d, in "
                 "%s",
                 received, (long long)posted->side.bytes, record->rank, sent,
                 (long long)record->message.bytes, record->message.tag, sender);
}

/* After each change of a matched receive: reports what is known, and frees it when all is. */
static void settle(struct posted *posted)
{
    const struct check_message *message = &posted->arrival->record.message;
    weft_assert(posted->comm == message->comm && posted->tag == message->tag);
    if (is_blind(posted->comm)) {
        if (posted->is_complete && posted->is_described)
            withdraw(posted);
        return;
    }
    bool is_truncated = posted->is_described && message->bytes > posted->side.bytes;
    if (is_truncated && !posted->is_reported)
        report(posted, CHECK_MESSAGE_TRUNCATED);
    if (!posted->is_complete || !posted->is_described)
        return;
    if (!is_truncated && message->bytes != posted->bytes)
        make_blind(posted->comm);
    else if (!is_truncated &&
             !check_signature_begins(&message->signature, &posted->side.all, &posted->side.one))
        report(posted, CHECK_MESSAGE_SIGNATURE);
    withdraw(posted);
}

static struct arrival *take_arrival(const struct posted *posted)
{
    struct queue *queue = &state.queues[posted->source];
    weft_assert(!is_wild(posted) && posted->source < check.size && !posted->arrival);
    struct arrival *before = NULL, *arrival = queue->first;
    while (arrival && (arrival->record.message.comm != posted->comm ||
                       arrival->record.message.tag != posted->tag)) {
        before = arrival;
        arrival = arrival->next;
    }
    if (!arrival)
        return NULL;
    if (arrival->record.message.repeats > 1) {
        struct arrival *one = check_pool_take(&arrivals);
        one->record = arrival->record;
        one->record.message.repeats = 1;
        arrival->record.message.repeats--;
        arrival->record.message.number += CHECK_SLOTS;
        return one;
    }
    if (before)
        before->next = arrival->next;
    else
        queue->first = arrival->next;
    if (queue->last == arrival)
        queue->last = before;
    return arrival;
}

/* True if an earlier receive, whose envelope is not known, may take the message of this one. */
static bool is_behind_wildcard(const struct posted *posted)
{
    if (state.wildcards == 0)
        return false;
    for (struct posted *earlier = state.first; earlier != posted; earlier = earlier->next)
        if (is_wild(earlier) && earlier->comm == posted->comm &&
            (earlier->source == ANY || earlier->source == posted->source) &&
            (earlier->tag == ANY || earlier->tag == posted->tag))
            return true;
    return false;
}

/* Matches a receive if its message has arrived; it may be freed then. */
static bool match(struct posted *posted)
{
    if (posted->arrival || is_wild(posted))
        return false;
    if (is_behind_wildcard(posted)) {
        state.is_blocked = true;
        return false;
    }
    posted->arrival = take_arrival(posted);
    if (!posted->arrival)
        return false;
    check_log_match(posted->log, posted->source, posted->arrival->record.message.number);
    settle(posted);
    return true;
}

/* After the envelope of a wildcard receive is known, or a receive has gone. */
static void match_blocked(uint64_t comm)
{
    if (!state.is_blocked)
        return;
    state.is_blocked = false;
    for (struct posted *posted = state.first, *next; posted; posted = next) {
        next = posted->next;
        if (posted->comm == comm)
            match(posted);
        else if (!posted->arrival && !is_wild(posted))
            state.is_blocked = true; /* it may be, by one of its own communicator */
    }
}

static void append_arrival(const struct check_record *record)
{
    const struct check_message *message = &record->message;
    struct queue *queue = &state.queues[record->rank];
    struct arrival *arrival = check_pool_take(&arrivals);
    *arrival = (struct arrival){.record = *record};
    if (queue->first)
        queue->last->next = arrival;
    else
        queue->first = arrival;
    queue->last = arrival;
    if (!queue->newest)
        queue->newest = tool_allocate(CHECK_SLOTS, sizeof *queue->newest);
    queue->newest[check_repeats_slot(message->comm, message->tag)] = *record;
}

void check_messages_take(const struct check_record *record)
{
    const struct check_message *message = &record->message;
    int left = message->repeats;
    check_mutex_lock(&state.lock);
    if (message->is_void)
        make_blind(message->comm);
    if (is_blind(message->comm)) {
        check_mutex_unlock(&state.lock);
        return;
    }
    append_arrival(record);
    for (struct posted *posted = state.first, *next; posted && left; posted = next) {
        next = posted->next;
        if (posted->comm != message->comm || posted->source != record->rank ||
            posted->tag != message->tag || posted->arrival)
            continue;
        if (!match(posted))
            break;
        left--;
    }
    check_mutex_unlock(&state.lock);
}

/* ---- The arguments of a call */

/* The process of a rank argument, in MPI_COMM_WORLD; false: it is not compared. */
static bool find_peer(const struct check_comm *comm, int64_t rank, int *world)
{
    *world = ANY;
    if (rank == MPI_ANY_SOURCE)
        return true;
    if (rank < 0 || rank >= comm->size)
        return false;
    *world = comm->world[rank];
    return true;
}

static struct side describe(const struct weft_call *call, const struct weft_parameter *data)
{
    MPI_Datatype type = weft_call_element(call, data->about[1], 0);
    int64_t count = weft_call_number(call, data->about[0], 0);
    struct side side = {.location = check_location_of(call)};
    MPI_Count size = 0;
    if (count < 0 || type == MPI_DATATYPE_NULL)
        return side;
    side.all = check_signature_of(type, count);
    side.one = check_signature_of(type, 1);
    weft_next.Type_size_c(type, &size);
    side.bytes = (int64_t)size * count;
    return side;
}

/* The data that a call sends, or those that it receives. */
static const struct weft_parameter *data_of(const struct weft_call *call, bool is_receive)
{
    const struct weft_function *function = call->function;
    const struct weft_parameter *found = NULL;
    for (int i = 0; i < function->parameters; i++)
        if (function->parameter[i].kind == WEFT_KIND_DATA && (!found || is_receive))
            found = &function->parameter[i];
    return found;
}

/* The record of a send, and its receiver; false: it is not compared. */
static bool read_send(const struct weft_call *call, struct check_record *record, int *dest)
{
    const struct weft_parameter *data = data_of(call, false);
    int rank = weft_call_find(call, WEFT_KIND_RANK, 0),
        tag = weft_call_find(call, WEFT_KIND_TAG, 0);
    struct check_comm comm;
    if (!data || data->about[2] >= 0 || rank < 0 || tag < 0 || !check_comm_copy(call, &comm))
        return false;
    int64_t to = weft_call_number(call, rank, 0), number = weft_call_number(call, tag, 0);
    if (to < 0 || number < 0 || !find_peer(&comm, to, dest))
        return false;
    struct side side = describe(call, data);
    *record = (struct check_record){.kind = CHECK_RECORD_MESSAGE,
                                    .call = call->function->plain,
                                    .site = weft_site_pack(side.location.site)};
    record->message = (struct check_message){
        .comm = comm.key, .signature = side.all, .bytes = side.bytes, .tag = (int)number};
    return true;
}

static bool read_receive(const struct weft_call *call, struct posted *posted)
{
    const struct weft_parameter *data = data_of(call, true);
    int source = weft_call_find(call, WEFT_KIND_SOURCE, 0);
    int tag = source < 0 ? -1 : weft_call_find(call, WEFT_KIND_TAG, source);
    struct check_comm comm;
    if (tag < 0 || (data && data->about[2] >= 0) || !check_comm_copy(call, &comm))
        return false;
    int64_t number = weft_call_number(call, tag, 0);
    *posted = (struct posted){
        .comm = comm.key, .tag = number == MPI_ANY_TAG ? ANY : (int)number, .made_with = ANY};
    if (number < 0 && number != MPI_ANY_TAG)
        return false;
    if (!find_peer(&comm, weft_call_number(call, source, 0), &posted->source))
        return false;
    posted->is_described = data != NULL;
    if (data)
        posted->side = describe(call, data);
    return true;
}

/* ---- Completion. The lock is held. */

static void complete(struct posted *posted, const MPI_Status *status)
{
    int is_cancelled = 0;
    MPI_Count bytes = 0;
    weft_next.Test_cancelled(status, &is_cancelled);
    uint64_t key = posted->comm;
    if (is_blind(key)) {
        withdraw(posted);
        return;
    }
    if (is_cancelled) {
        if (posted->arrival)
            make_blind(key);
        withdraw(posted);
        match_blocked(key);
        return;
    }
    const bool was_wild = is_wild(posted);
    if (was_wild) {
        int source = ANY;
        check_lock();
        const struct check_comm *comm = check_comm_find_key(key);
        bool is_known = comm && find_peer(comm, status->MPI_SOURCE, &source) && source != ANY;
        check_unlock();
        if (!is_known) {
            make_blind(key);
            withdraw(posted);
            return;
        }
        posted->source = source;
        posted->tag = status->MPI_TAG;
        state.wildcards--;
    }
    weft_next.Get_count_c(status, MPI_BYTE, &bytes);
    posted->bytes = bytes;
    posted->is_complete = true;
    if (posted->arrival)
        settle(posted);
    else
        match(posted);
    if (was_wild)
        match_blocked(key);
}

/* ---- Before and after each call */

static struct frame *push(const struct weft_call *call)
{
    struct frame *frame = check_pool_take(&calls);
    frame->below = frames;
    frame->call = call;
    frame->posted = NULL;
    frame->dest = ANY;
    frame->n = 0;
    frame->handles = NULL;
    frame->statuses = NULL;
    return frames = frame;
}

static bool is_buffered(const struct weft_call *call)
{
    const enum weft_call_number plain = call->function->plain;
    return plain == WEFT_CALL_Bsend || plain == WEFT_CALL_Ibsend || plain == WEFT_CALL_Bsend_init;
}

static bool is_nonblocking(const struct weft_call *call)
{
    return call->function->does & (WEFT_DOES_NONBLOCKING | WEFT_DOES_PERSISTENT);
}

/* A receive is about to be posted: adds it to the log. */
static struct posted *post_logged(const struct weft_call *call, const struct posted *like)
{
    struct posted *posted = post(like);
    posted->log = check_log_add(call, CHECK_LOG_POST, like->source, like->comm, like->tag, 0);
    match(posted);
    return posted;
}

static void start(const struct weft_call *call, const void *handle)
{
    check_mutex_lock(&state.lock);
    struct pending *pending = find_pending(handle);
    struct check_record record;
    int dest = ANY;
    if (pending && pending->is_persistent && pending->is_send) {
        dest = pending->dest;
        pending->is_sending = true;
        pending->comm = pending->send.message.comm;
        record = pending->send;
    } else if (pending && pending->is_persistent && !pending->posted) {
        pending->posted = post_logged(call, &pending->like);
    }
    check_mutex_unlock(&state.lock);
    if (dest == ANY)
        return;
    check_repeats_send(dest, &record);
    pending->number = record.message.number;
    check_log_add(call, CHECK_LOG_START, dest, record.message.comm, record.message.tag,
                  pending->number);
}

/* A status for each completed request, instead of MPI_STATUS_IGNORE. */
static void replace_status(const struct weft_call *call, struct frame *frame, int64_t n)
{
    int status = weft_call_find(call, WEFT_KIND_STATUS, 0);
    if (status < 0 || call->values[status].pointer)
        return;
    frame->statuses = frame->few_statuses;
    if (n > FEW)
        frame->statuses = tool_allocate((size_t)n, sizeof *frame->statuses);
    call->values[status].pointer = frame->statuses;
}

/* Adds the operations that MPI_Wait and MPI_Waitall wait for. */
static void log_waits(const struct frame *frame)
{
    check_mutex_lock(&state.lock);
    for (int64_t i = 0; i < frame->n; i++) {
        const struct pending *pending = find_pending(frame->handles[i]);
        if (pending && pending->posted && pending->posted->log >= 0)
            check_log_add(frame->call, CHECK_LOG_AWAIT_START, ANY, 0, 0,
                          (uint64_t)pending->posted->log);
        else if (pending && pending->is_sending && !pending->is_buffered)
            check_log_add(frame->call, CHECK_LOG_AWAIT_POST, pending->dest, 0, 0, pending->number);
    }
    check_mutex_unlock(&state.lock);
}

static void begin_completion(const struct weft_call *call)
{
    const struct weft_function *function = call->function;
    int requests = 0;
    while (requests < function->parameters &&
           function->parameter[requests].object != WEFT_OBJECT_REQUEST)
        requests++;
    int64_t n = requests < function->parameters ? weft_call_length(call, requests) : 0;
    if (n <= 0 || !call->values[requests].pointer)
        return;
    struct frame *frame = push(call);
    frame->handles = frame->few_handles;
    if (n > FEW)
        frame->handles = tool_allocate((size_t)n, sizeof *frame->handles);
    frame->n = n;
    for (int64_t i = 0; i < n; i++)
        frame->handles[i] = weft_call_element(call, requests, i);
    if (function->plain != WEFT_CALL_Request_free)
        replace_status(call, frame, n);
    if (function->plain == WEFT_CALL_Wait || function->plain == WEFT_CALL_Waitall)
        log_waits(frame);
}

static void begin_message(const struct weft_call *call)
{
    const int does = call->function->does;
    struct posted posted;
    struct frame *frame = push(call);
    if ((does & (WEFT_DOES_SEND | WEFT_DOES_EXCHANGE)) &&
        !read_send(call, &frame->record, &frame->dest))
        frame->dest = ANY;
    const uint64_t *number = &frame->record.message.number;
    if (frame->dest != ANY) {
        check_repeats_send(frame->dest, &frame->record);
        check_log_add(call, CHECK_LOG_START, frame->dest, frame->record.message.comm,
                      frame->record.message.tag, *number);
    }
    if ((does & (WEFT_DOES_RECEIVE | WEFT_DOES_EXCHANGE)) && read_receive(call, &posted)) {
        check_mutex_lock(&state.lock);
        frame->posted = post_logged(call, &posted);
        check_mutex_unlock(&state.lock);
    }
    if (frame->posted && !is_nonblocking(call) && frame->posted->log >= 0)
        check_log_add(call, CHECK_LOG_AWAIT_START, ANY, 0, 0, (uint64_t)frame->posted->log);
    if (frame->dest != ANY && !is_nonblocking(call) && !is_buffered(call))
        check_log_add(call, CHECK_LOG_AWAIT_POST, frame->dest, 0, 0, *number);
    replace_status(call, frame, 1);
}

/* MPI_Mrecv and MPI_Imrecv: the data of a message whose envelope MPI_Mprobe has returned. */
static void begin_matched(const struct weft_call *call)
{
    struct side side = describe(call, data_of(call, true));
    const void *handle = weft_call_handle(call, WEFT_OBJECT_MESSAGE);
    check_mutex_lock(&state.lock);
    struct pending *pending = find_pending(handle);
    if (pending && pending->posted) {
        pending->posted->side = side;
        pending->posted->is_described = true;
        if (pending->posted->arrival)
            settle(pending->posted);
    }
    drop_pending(handle);
    check_mutex_unlock(&state.lock);
}

/* After a probe from any source, another run may receive in another order. */
static void log_probe(const struct weft_call *call)
{
    struct posted posted;
    if (read_receive(call, &posted) && posted.source == ANY)
        check_log_probe(call, posted.comm, posted.tag);
}

void check_messages_begin(struct weft_call *call)
{
    const struct weft_function *function = call->function;
    const int does = function->does;
    if (!is_on())
        return;
    if (does & WEFT_DOES_PROBE)
        log_probe(call);
    switch (function->plain) {
    case WEFT_CALL_Mrecv:
    case WEFT_CALL_Imrecv:
        begin_matched(call);
        return;
    case WEFT_CALL_Mprobe:
    case WEFT_CALL_Improbe:
        replace_status(call, push(call), 1);
        return;
    default:
        break;
    }
    if ((does & (WEFT_DOES_SEND | WEFT_DOES_RECEIVE | WEFT_DOES_EXCHANGE)) &&
        weft_call_find(call, WEFT_KIND_DATA, 0) >= 0)
        does &WEFT_DOES_PERSISTENT ? (void)push(call) : begin_message(call);
    else if (does & WEFT_DOES_START)
        for (int i = 0; i < function->parameters; i++)
            for (int64_t k = 0; function->parameter[i].object == WEFT_OBJECT_REQUEST &&
                                k < weft_call_length(call, i);
                 k++)
                start(call, weft_call_element(call, i, k));
    else if (does & WEFT_DOES_COMPLETE)
        begin_completion(call);
}

/* ---- After the call. The lock is held. */

static const void *made_request(const struct weft_call *call)
{
    const struct weft_function *function = call->function;
    for (int i = 0; i < function->parameters; i++)
        if (function->parameter[i].object == WEFT_OBJECT_REQUEST &&
            function->parameter[i].flow == WEFT_FLOW_OUT)
            return weft_call_element(call, i, 0);
    return NULL;
}

static const MPI_Status *status_at(const struct weft_call *call, int64_t i)
{
    const MPI_Status *statuses = call->values[weft_call_find(call, WEFT_KIND_STATUS, 0)].pointer;
    return &statuses[i];
}

static void end_completion(const struct weft_call *call, const struct frame *frame)
{
    for (int64_t i = 0; i < frame->n; i++) {
        struct pending *pending = find_pending(frame->handles[i]);
        int64_t at = pending ? weft_call_status(call, i) : -1;
        if (at < 0 && call->function->plain != WEFT_CALL_Request_free)
            continue;
        struct posted *posted = pending ? pending->posted : NULL;
        if (call->function->plain == WEFT_CALL_Request_free) {
            if (posted)
                make_blind(posted->comm);
        } else if (posted) {
            pending->posted = NULL;
            if (call->result != MPI_SUCCESS)
                make_blind(posted->comm);
            complete(posted, status_at(call, at));
        }
        if (pending)
            pending->is_sending = false;
        if (!pending || pending->is_persistent)
            if (call->function->plain != WEFT_CALL_Request_free)
                continue;
        drop_pending(frame->handles[i]);
    }
}

static void end_persistent(const struct weft_call *call)
{
    struct check_record record;
    struct posted posted;
    int dest;
    bool is_send = (call->function->does & WEFT_DOES_SEND) && read_send(call, &record, &dest);
    bool is_receive = (call->function->does & WEFT_DOES_RECEIVE) && read_receive(call, &posted);
    if (call->result != MPI_SUCCESS || (!is_send && !is_receive))
        return;
    struct pending *pending = add_pending(made_request(call));
    pending->is_persistent = true;
    pending->is_send = is_send;
    pending->is_buffered = is_buffered(call);
    if (is_send) {
        pending->send = record;
        pending->dest = dest;
    } else {
        pending->like = posted;
    }
}

static void end_probe(const struct weft_call *call)
{
    struct posted posted;
    int flag = weft_call_find(call, WEFT_KIND_LOGICAL, 0);
    int message = weft_call_find(call, WEFT_KIND_HANDLE, 0);
    while (call->function->parameter[message].object != WEFT_OBJECT_MESSAGE)
        message++;
    const void *handle = weft_call_element(call, message, 0);
    if (call->result != MPI_SUCCESS || (flag >= 0 && !weft_call_number(call, flag, 0)) ||
        weft_object_is_predefined(handle) || !read_receive(call, &posted) || is_blind(posted.comm))
        return;
    struct posted *added = post(&posted);
    added->log = ANY;
    add_pending(handle)->posted = added;
    complete(added, status_at(call, 0));
}

static void end_message(const struct weft_call *call, struct frame *frame)
{
    struct posted *posted = frame->posted;
    const void *request = made_request(call);
    int class = MPI_SUCCESS;
    if (call->result != MPI_SUCCESS)
        weft_next.Error_class(call->result, &class);
    if (request && call->result == MPI_SUCCESS && (posted || frame->dest != ANY)) {
        struct pending *pending = add_pending(request);
        pending->posted = posted;
        pending->is_send = pending->is_sending = !posted;
        pending->is_buffered = is_buffered(call);
        pending->dest = frame->dest;
        pending->comm = frame->record.message.comm;
        pending->number = frame->record.message.number;
    } else if (posted && call->result == MPI_SUCCESS) {
        complete(posted, status_at(call, 0));
    } else if (posted) {
        make_blind(posted->comm);
        withdraw(posted);
    }
}

/* A nonblocking collective call has given a request. */
static void end_collective(const struct weft_call *call)
{
    const void *request = call->result == MPI_SUCCESS ? made_request(call) : NULL;
    if (!request || weft_object_is_predefined(request) || !is_on())
        return;
    const struct check_gathering gathering = check_gathering_of(call);
    check_mutex_lock(&state.lock);
    add_pending(request)->gathering = gathering;
    check_mutex_unlock(&state.lock);
}

void check_messages_end(struct weft_call *call)
{
    const int does = call->function->does;
    struct frame *frame = frames;
    if ((does & WEFT_DOES_COLLECTIVE) && (does & WEFT_DOES_NONBLOCKING))
        end_collective(call);
    if (!frame || frame->call != call)
        return;
    frames = frame->below;
    check_mutex_lock(&state.lock);
    if (call->function->does & WEFT_DOES_COMPLETE)
        end_completion(call, frame);
    else if (call->function->does & WEFT_DOES_PROBE)
        end_probe(call);
    else if (call->function->does & WEFT_DOES_PERSISTENT)
        end_persistent(call);
    else
        end_message(call, frame);
    check_mutex_unlock(&state.lock);
    if (frame->dest != ANY && call->result != MPI_SUCCESS) {
        frame->record.message.is_void = true;
        check_channel_send(frame->dest, &frame->record);
    }
    if (frame->handles != frame->few_handles)
        free(frame->handles);
    if (frame->statuses != frame->few_statuses)
        free(frame->statuses);
    check_pool_give(&calls, frame);
}

/* ---- Receives that are complete in the library, before the program completes them */

/* The record that may count the message of a receive; NULL: there is none. */
static const struct check_record *newest_of(const struct posted *posted)
{
    const struct check_record *newest = state.queues[posted->source].newest;
    if (!newest)
        return NULL;
    newest += check_repeats_slot(posted->comm, posted->tag);
    const bool is_alike = newest->message.repeats > 0 && newest->message.comm == posted->comm &&
                          newest->message.tag == posted->tag;
    return is_alike ? newest : NULL;
}

static bool is_matched(const struct posted *posted)
{
    if (!posted || posted->arrival || is_wild(posted) || is_blind(posted->comm))
        return true;
    const struct check_record *newest = newest_of(posted);
    return newest && newest->message.bytes <= posted->side.bytes;
}

/* The record of the receive's message has not come. If that may be counted, the message is
 * truncated: the sender computes, and sends the count too late. */
static void stop(struct posted *posted)
{
    if (is_matched(posted))
        return;
    const struct check_record *newest = newest_of(posted);
    if (newest) {
        struct arrival arrival = {.record = *newest};
        posted->arrival = &arrival;
        report(posted, CHECK_MESSAGE_TRUNCATED);
        posted->arrival = NULL;
    }
    make_blind(posted->comm);
}

static bool is_received(const struct pending *pending)
{
    return pending->posted && check_request_has_ended((MPI_Request)pending->handle);
}

void check_messages_stop(const struct weft_call *call)
{
    const struct frame *frame = frames;
    if (!frame || frame->call != call)
        return;
    check_mutex_lock(&state.lock);
    stop(frame->posted);
    for (int64_t i = 0; i < frame->n; i++) {
        const struct pending *pending = find_pending(frame->handles[i]);
        if (pending && is_received(pending))
            stop(pending->posted);
    }
    check_mutex_unlock(&state.lock);
}

bool check_messages_are_matched(const struct weft_call *call)
{
    const struct frame *frame = frames;
    bool all = true;
    if (!frame || frame->call != call)
        return true;
    check_mutex_lock(&state.lock);
    all = is_matched(frame->posted);
    for (int64_t i = 0; i < frame->n && all; i++) {
        const struct pending *pending = find_pending(frame->handles[i]);
        all = !pending || is_matched(pending->posted) || !is_received(pending);
    }
    check_mutex_unlock(&state.lock);
    return all;
}

/* ---- What a wait is for */

static bool may_match(const struct posted *posted, const struct arrival *arrival)
{
    const struct check_record *record = &arrival->record;
    return posted->comm == record->message.comm && !posted->arrival &&
           (posted->source == ANY || posted->source == record->rank) &&
           (posted->tag == ANY || posted->tag == record->message.tag);
}

static bool has_arrived(const struct posted *posted)
{
    if (is_blind(posted->comm))
        return true;
    const int first = posted->source == ANY ? 0 : posted->source;
    const int last = posted->source == ANY ? check.size - 1 : posted->source;
    for (int i = first; i <= last; i++)
        for (const struct arrival *arrival = state.queues[i].first; arrival;
             arrival = arrival->next)
            if (may_match(posted, arrival))
                return true;
    return false;
}

bool check_messages_has_arrived(uint64_t comm, int source, int tag)
{
    const struct posted posted = {.comm = comm, .source = source, .tag = tag};
    check_mutex_lock(&state.lock);
    bool arrived = has_arrived(&posted);
    check_mutex_unlock(&state.lock);
    return arrived;
}

static bool has_number(const struct check_message *message, uint64_t number)
{
    const uint64_t ahead = number - message->number;
    return ahead % CHECK_SLOTS == 0 && ahead / CHECK_SLOTS < (uint64_t)message->repeats;
}

bool check_messages_is_unmatched(int rank, uint64_t number)
{
    check_mutex_lock(&state.lock);
    const struct arrival *arrival = state.queues[rank].first;
    while (arrival && !has_number(&arrival->record.message, number))
        arrival = arrival->next;
    bool unmatched = arrival && !is_blind(arrival->record.message.comm);
    for (const struct posted *posted = state.first; posted && unmatched; posted = posted->next)
        unmatched = !may_match(posted, arrival);
    check_mutex_unlock(&state.lock);
    return unmatched;
}

static void add(struct check_wants *wants, const struct check_want *want)
{
    if (wants->n == CHECK_WANTS_MAX)
        wants->is_known = false;
    else
        wants->list[wants->n++] = *want;
}

/* Adds the receive if its message has not arrived. The lock is held. */
static void want_posted(const struct posted *posted, struct check_wants *wants)
{
    const struct posted made = {.comm = posted->comm,
                                .source =
                                    posted->made_with == ANY ? posted->source : posted->made_with,
                                .tag = posted->tag};
    const struct check_want want = {
        .kind = CHECK_WANT_RECEIVE, .comm = made.comm, .rank = made.source, .tag = made.tag};
    if (posted->arrival || has_arrived(&made))
        wants->is_known = false;
    else
        add(wants, &want);
}

void check_messages_make_with(const struct weft_call *call, int source)
{
    struct check_comm comm;
    if (!frames || frames->call != call || !frames->posted || !check_comm_copy(call, &comm))
        return;
    check_mutex_lock(&state.lock);
    find_peer(&comm, source, &frames->posted->made_with);
    check_mutex_unlock(&state.lock);
}

void check_messages_want_receive(const struct weft_call *call, struct check_wants *wants)
{
    check_mutex_lock(&state.lock);
    if (frames && frames->call == call && frames->posted)
        want_posted(frames->posted, wants);
    else
        wants->is_known = false;
    check_mutex_unlock(&state.lock);
}

void check_messages_want_send(const struct weft_call *call, struct check_wants *wants)
{
    if (!frames || frames->call != call || frames->dest == ANY) {
        wants->is_known = false;
        return;
    }
    const struct check_want want = {.kind = CHECK_WANT_SEND,
                                    .comm = frames->record.message.comm,
                                    .number = frames->record.message.number,
                                    .rank = frames->dest,
                                    .tag = ANY};
    add(wants, &want);
}

void check_messages_want_request(const void *handle, struct check_wants *wants)
{
    check_mutex_lock(&state.lock);
    const struct pending *pending = find_pending(handle);
    if (pending && pending->posted) {
        want_posted(pending->posted, wants);
    } else if (pending && pending->is_sending) {
        const struct check_want want = {.kind = CHECK_WANT_SEND,
                                        .comm = pending->comm,
                                        .number = pending->number,
                                        .rank = pending->dest,
                                        .tag = ANY};
        add(wants, &want);
    } else if (pending && pending->gathering.comm) {
        check_gathering_want(&pending->gathering, NULL, wants);
    } else {
        wants->is_known = false;
    }
    check_mutex_unlock(&state.lock);
}

void check_messages_want_probe(const struct weft_call *call, struct check_wants *wants)
{
    struct posted posted;
    if (!read_receive(call, &posted)) {
        wants->is_known = false;
        return;
    }
    check_mutex_lock(&state.lock);
    want_posted(&posted, wants);
    check_mutex_unlock(&state.lock);
}

/* ---- The begin and the end of the job */

void check_messages_begin_job(void)
{
    state.queues = tool_allocate((size_t)check.size, sizeof *state.queues);
}

/* True if the message of a record is there, and no receive has matched it. */
static bool is_there(const struct check_record *record)
{
    int flag = 0;
    const struct check_comm *comm = check_comm_find_key(record->message.comm);
    for (int i = 0; comm && i < comm->size && !flag; i++)
        if (comm->world[i] == record->rank)
            weft_next.Iprobe(i, record->message.tag, comm->handle, &flag, MPI_STATUS_IGNORE);
    return flag;
}

static void report_lost(const struct check_record *record)
{
    struct check_location location = {&weft_functions[record->call],
                                      weft_site_unpack(record->site)};
    char sent[96];
    check_signature_print(&record->message.signature, sent, sizeof sent);
    check_report_of(record->rank, CHECK_NOT_RECEIVED, &location, false,
                    "rank %d has not received the message of %s with tag %d", check.rank, sent,
                    record->message.tag);
}

void check_messages_finish(void)
{
    for (int i = 0; i < check.size; i++) {
        while (state.queues[i].first) {
            struct arrival *arrival = state.queues[i].first;
            const struct check_message *message = &arrival->record.message;
            if ((check.kinds & CHECK_MESSAGES) && is_on() && !is_blind(message->comm) &&
                is_there(&arrival->record))
                for (int k = 0; k < message->repeats; k++)
                    report_lost(&arrival->record);
            state.queues[i].first = arrival->next;
            check_pool_give(&arrivals, arrival);
        }
        free(state.queues[i].newest);
    }
}
