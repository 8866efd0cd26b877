// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages: see messages.h.
 */
#include "tools/check/messages.h"
#include "tools/check/buffering.h"
#include "tools/check/changes.h"
#include "tools/check/comms.h"
#include "tools/check/deadlocks.h"
#include "tools/check/gathering.h"
#include "tools/check/matching.h"
#include "tools/check/order_persistent.h"
#include "tools/check/repeats.h"

#include <stdlib.h>

enum { TABLE = 1024, FEW = 2 };

/* A request or message of the program. */
struct pending {
    struct pending *next;
    const void *handle;
    bool is_persistent, is_send, is_sending, is_buffered;
    struct check_record send;    /* is_send: the record of each start */
    struct check_posted like;    /* of a persistent receive */
    struct check_posted *posted; /* NULL: none is active */
    int dest;
    uint64_t comm, number;            /* of the message */
    struct check_gathering gathering; /* of a collective call */
};

/* A call between its begin and its end. */
struct frame {
    struct frame *below;
    const struct weft_call *call;
    struct check_posted *posted;
    int dest; /* of the record; CHECK_ANY: there is none */
    struct check_record record;
    int64_t n;
    const void **handles;
    MPI_Status *statuses; /* replaces MPI_STATUS_IGNORE */
    const void *few_handles[FEW];
    MPI_Status few_statuses[FEW];
};

static CHECK_THREAD struct frame *frames;

static struct pending *table[TABLE];

static struct check_pool requests = {.size = sizeof(struct pending)},
                         calls = {.size = sizeof(struct frame)};

/* ---- Requests and messages */

static struct pending **slot_of(const void *handle)
{
    return &table[((uintptr_t)handle >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 54];
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

/* ---- The arguments of a call */

/* True if the library will refuse the data of a call. */
static bool is_refused(const struct weft_call *call, const struct weft_parameter *data)
{
    const MPI_Datatype type = weft_call_element(call, data->about[1], 0);
    const int64_t count = weft_call_number(call, data->about[0], 0);
    const void *buffer = call->values[data - call->function->parameter].pointer;
    return count < 0 || !type || type == MPI_DATATYPE_NULL ||
           (!buffer && count > 0 && weft_object_is_predefined(type));
}

static struct check_side describe(const struct weft_call *call, const struct weft_parameter *data)
{
    MPI_Datatype type = weft_call_element(call, data->about[1], 0);
    int64_t count = weft_call_number(call, data->about[0], 0);
    struct check_side side = {.location = check_location_of(call)};
    MPI_Count size = 0;
    if (is_refused(call, data))
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
    if (!data || data->about[2] >= 0 || rank < 0 || tag < 0 || is_refused(call, data) ||
        !check_comm_copy(call, &comm))
        return false;
    int64_t to = weft_call_number(call, rank, 0), number = weft_call_number(call, tag, 0);
    if (to < 0 || number < 0 || !check_comm_find_peer(&comm, to, dest))
        return false;
    struct check_side side = describe(call, data);
    *record = (struct check_record){.kind = CHECK_RECORD_MESSAGE,
                                    .call = call->function->plain,
                                    .site = weft_site_pack(side.location.site)};
    record->message = (struct check_message){
        .comm = comm.key, .signature = side.all, .bytes = side.bytes, .tag = (int)number};
    return true;
}

static bool read_receive(const struct weft_call *call, struct check_posted *posted)
{
    const struct weft_parameter *data = data_of(call, true);
    int source = weft_call_find(call, WEFT_KIND_SOURCE, 0);
    int tag = source < 0 ? -1 : weft_call_find(call, WEFT_KIND_TAG, source);
    struct check_comm comm;
    if (tag < 0 || (data && (data->about[2] >= 0 || is_refused(call, data))) ||
        !check_comm_copy(call, &comm))
        return false;
    int64_t number = weft_call_number(call, tag, 0);
    *posted = (struct check_posted){.comm = comm.key,
                                    .tag = number == MPI_ANY_TAG ? CHECK_ANY : (int)number,
                                    .made_with = CHECK_ANY};
    if (number < 0 && number != MPI_ANY_TAG)
        return false;
    if (!check_comm_find_peer(&comm, weft_call_number(call, source, 0), &posted->source))
        return false;
    posted->is_described = data != NULL;
    if (data)
        posted->side = describe(call, data);
    return true;
}

/* ---- Before and after each call */

static struct frame *push(const struct weft_call *call)
{
    struct frame *frame = check_pool_take(&calls);
    frame->below = frames;
    frame->call = call;
    frame->posted = NULL;
    frame->dest = CHECK_ANY;
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
static struct check_posted *post_logged(const struct weft_call *call,
                                        const struct check_posted *like)
{
    struct check_posted *posted = check_matching_post(like);
    posted->log = check_log_add(call, CHECK_LOG_POST, like->source, like->comm, like->tag, 0);
    check_matching_match(posted);
    return posted;
}

static void start(const struct weft_call *call, const void *handle)
{
    struct pending *pending = find_pending(handle);
    if (!pending || !pending->is_persistent)
        return;
    if (!pending->is_send) {
        if (!pending->posted)
            pending->posted = post_logged(call, &pending->like);
        return;
    }
    struct check_record record = pending->send;
    check_repeats_send(pending->dest, &record);
    pending->is_sending = true;
    pending->comm = record.message.comm;
    pending->number = record.message.number;
    check_log_add(call, CHECK_LOG_START, pending->dest, record.message.comm, record.message.tag,
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
    for (int64_t i = 0; i < frame->n; i++) {
        const struct pending *pending = find_pending(frame->handles[i]);
        if (pending && pending->posted && pending->posted->log >= 0)
            check_log_add(frame->call, CHECK_LOG_AWAIT_START, CHECK_ANY, 0, 0,
                          (uint64_t)pending->posted->log);
        else if (pending && pending->is_sending && !pending->is_buffered)
            check_log_add(frame->call, CHECK_LOG_AWAIT_POST, pending->dest, 0, 0, pending->number);
    }
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
    struct check_posted posted;
    struct frame *frame = push(call);
    if ((does & (WEFT_DOES_SEND | WEFT_DOES_EXCHANGE)) &&
        !read_send(call, &frame->record, &frame->dest))
        frame->dest = CHECK_ANY;
    const uint64_t *number = &frame->record.message.number;
    if (frame->dest != CHECK_ANY) {
        check_repeats_send(frame->dest, &frame->record);
        check_log_add(call, CHECK_LOG_START, frame->dest, frame->record.message.comm,
                      frame->record.message.tag, *number);
    }
    if ((does & (WEFT_DOES_RECEIVE | WEFT_DOES_EXCHANGE)) && read_receive(call, &posted))
        frame->posted = post_logged(call, &posted);
    if (frame->posted && !is_nonblocking(call) && frame->posted->log >= 0)
        check_log_add(call, CHECK_LOG_AWAIT_START, CHECK_ANY, 0, 0, (uint64_t)frame->posted->log);
    if (frame->dest != CHECK_ANY && !is_nonblocking(call) && !is_buffered(call))
        check_log_add(call, CHECK_LOG_AWAIT_POST, frame->dest, 0, 0, *number);
    replace_status(call, frame, 1);
}

/* MPI_Mrecv and MPI_Imrecv: the data of a message whose envelope MPI_Mprobe has returned. */
static void begin_matched(const struct weft_call *call)
{
    struct check_side side = describe(call, data_of(call, true));
    const void *handle = weft_call_handle(call, WEFT_OBJECT_MESSAGE);
    struct pending *pending = find_pending(handle);
    if (pending && pending->posted) {
        pending->posted->side = side;
        pending->posted->is_described = true;
        if (pending->posted->arrival)
            check_matching_settle(pending->posted);
    }
    drop_pending(handle);
}

/* After a probe from any source, another run may receive in another order. */
static void log_probe(const struct weft_call *call)
{
    struct check_posted posted;
    if (read_receive(call, &posted) && posted.source == CHECK_ANY)
        check_log_probe(call, posted.comm, posted.tag);
}

void check_messages_begin(struct weft_call *call)
{
    const struct weft_function *function = call->function;
    const int does = function->does;
    if (check.several_threads)
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

/* ---- After the call */

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
        struct check_posted *posted = pending ? pending->posted : NULL;
        if (call->function->plain == WEFT_CALL_Request_free) {
            if (posted)
                check_matching_make_blind(posted->comm);
        } else if (posted) {
            pending->posted = NULL;
            if (call->result != MPI_SUCCESS)
                check_matching_make_blind(posted->comm);
            check_matching_complete(posted, status_at(call, at));
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
    struct check_posted posted;
    int dest;
    bool is_send = (call->function->does & WEFT_DOES_SEND) && read_send(call, &record, &dest);
    bool is_receive = (call->function->does & WEFT_DOES_RECEIVE) && read_receive(call, &posted);
    if (call->result != MPI_SUCCESS || (!is_send && !is_receive))
        return;
    struct pending *pending = add_pending(check_made_request(call));
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
    struct check_posted posted;
    int flag = weft_call_find(call, WEFT_KIND_LOGICAL, 0);
    int message = weft_call_find(call, WEFT_KIND_HANDLE, 0);
    while (call->function->parameter[message].object != WEFT_OBJECT_MESSAGE)
        message++;
    const void *handle = weft_call_element(call, message, 0);
    if (call->result != MPI_SUCCESS || (flag >= 0 && !weft_call_number(call, flag, 0)) ||
        weft_object_is_predefined(handle) || !read_receive(call, &posted) ||
        check_matching_is_blind(posted.comm))
        return;
    struct check_posted *added = check_matching_post(&posted);
    added->log = CHECK_ANY;
    add_pending(handle)->posted = added;
    check_matching_complete(added, status_at(call, 0));
}

static void end_message(const struct weft_call *call, struct frame *frame)
{
    struct check_posted *posted = frame->posted;
    const void *request = check_made_request(call);
    if (request && call->result == MPI_SUCCESS && (posted || frame->dest != CHECK_ANY)) {
        struct pending *pending = add_pending(request);
        pending->posted = posted;
        pending->is_send = pending->is_sending = !posted;
        pending->is_buffered = is_buffered(call);
        pending->dest = frame->dest;
        pending->comm = frame->record.message.comm;
        pending->number = frame->record.message.number;
    } else if (posted && call->result == MPI_SUCCESS) {
        check_matching_complete(posted, status_at(call, 0));
    } else if (posted) {
        check_matching_make_blind(posted->comm);
        check_matching_withdraw(posted);
    }
}

/* A nonblocking collective call has given a request. */
static void end_collective(const struct weft_call *call)
{
    const void *request = call->result == MPI_SUCCESS ? check_made_request(call) : NULL;
    if (!request || weft_object_is_predefined(request) || check.several_threads)
        return;
    const struct check_gathering gathering = check_gathering_of(call);
    add_pending(request)->gathering = gathering;
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
    if (call->function->does & WEFT_DOES_COMPLETE)
        end_completion(call, frame);
    else if (call->function->does & WEFT_DOES_PROBE)
        end_probe(call);
    else if (call->function->does & WEFT_DOES_PERSISTENT)
        end_persistent(call);
    else
        end_message(call, frame);
    if (frame->dest != CHECK_ANY && call->result != MPI_SUCCESS) {
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

static bool is_received(const struct pending *pending)
{
    return pending->posted && check_request_has_ended(check_persistent_made(pending->handle));
}

void check_messages_stop(const struct weft_call *call)
{
    const struct frame *frame = frames;
    if (!frame || frame->call != call)
        return;
    check_matching_stop(frame->posted);
    for (int64_t i = 0; i < frame->n; i++) {
        const struct pending *pending = find_pending(frame->handles[i]);
        if (pending && is_received(pending))
            check_matching_stop(pending->posted);
    }
}

bool check_messages_are_matched(const struct weft_call *call)
{
    const struct frame *frame = frames;
    if (!frame || frame->call != call)
        return true;
    bool all = check_matching_is_matched(frame->posted);
    for (int64_t i = 0; i < frame->n && all; i++) {
        const struct pending *pending = find_pending(frame->handles[i]);
        all = !pending || check_matching_is_matched(pending->posted) || !is_received(pending);
    }
    return all;
}

/* ---- What a wait is for */

static void add(struct check_wants *wants, const struct check_want *want)
{
    if (wants->n == CHECK_WANTS_MAX)
        wants->is_known = false;
    else
        wants->list[wants->n++] = *want;
}

/* Adds the receive if its message has not arrived. */
static void want_posted(const struct check_posted *posted, struct check_wants *wants)
{
    const struct check_posted made = {.comm = posted->comm,
                                      .source = posted->made_with == CHECK_ANY ? posted->source
                                                                               : posted->made_with,
                                      .tag = posted->tag};
    const struct check_want want = {
        .kind = CHECK_WANT_RECEIVE, .comm = made.comm, .rank = made.source, .tag = made.tag};
    if (posted->arrival || check_matching_has_arrived(&made))
        wants->is_known = false;
    else
        add(wants, &want);
}

bool check_messages_are_followed(const struct weft_call *call)
{
    return frames && frames->call == call && (frames->posted || frames->dest != CHECK_ANY);
}

void check_messages_make_with(const struct weft_call *call, int source)
{
    struct check_comm comm;
    if (!frames || frames->call != call || !frames->posted || !check_comm_copy(call, &comm))
        return;
    check_comm_find_peer(&comm, source, &frames->posted->made_with);
}

void check_messages_start_with(const void *request, int source)
{
    const struct pending *pending = find_pending(request);
    if (!pending || !pending->posted)
        return;
    check_lock();
    const struct check_comm *comm = check_comm_find_key(pending->posted->comm);
    if (comm)
        check_comm_find_peer(comm, source, &pending->posted->made_with);
    check_unlock();
}

void check_messages_want_receive(const struct weft_call *call, struct check_wants *wants)
{
    if (frames && frames->call == call && frames->posted)
        want_posted(frames->posted, wants);
    else
        wants->is_known = false;
}

void check_messages_want_send(const struct weft_call *call, struct check_wants *wants)
{
    if (!frames || frames->call != call || frames->dest == CHECK_ANY) {
        wants->is_known = false;
        return;
    }
    const struct check_want want = {.kind = CHECK_WANT_SEND,
                                    .comm = frames->record.message.comm,
                                    .number = frames->record.message.number,
                                    .rank = frames->dest,
                                    .tag = CHECK_ANY};
    add(wants, &want);
}

void check_messages_want_request(const void *handle, struct check_wants *wants)
{
    const struct pending *pending = find_pending(check_persistent_of(handle));
    if (pending && pending->posted) {
        want_posted(pending->posted, wants);
    } else if (pending && pending->is_sending) {
        const struct check_want want = {.kind = CHECK_WANT_SEND,
                                        .comm = pending->comm,
                                        .number = pending->number,
                                        .rank = pending->dest,
                                        .tag = CHECK_ANY};
        add(wants, &want);
    } else if (pending && pending->gathering.comm) {
        check_gathering_want(&pending->gathering, NULL, wants);
    } else {
        wants->is_known = false;
    }
}

void check_messages_want_probe(const struct weft_call *call, struct check_wants *wants)
{
    struct check_posted posted;
    if (!read_receive(call, &posted)) {
        wants->is_known = false;
        return;
    }
    want_posted(&posted, wants);
}
