// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages: see messages.h.
 */
#include "tools/check/messages.h"
#include "tools/check/buffering.h"
#include "tools/check/changes.h"
#include "tools/check/messages_internal.h"
#include "tools/check/repeats.h"

#include <stdlib.h>

CHECK_THREAD struct check_frame *check_frames;

static struct check_pool calls = {.size = sizeof(struct check_frame)};

/* ---- Before the call */

static struct check_frame *push(const struct weft_call *call)
{
    struct check_frame *frame = check_pool_take(&calls);
    frame->below = check_frames;
    frame->call = call;
    frame->at = (uintptr_t)call->frame;
    frame->posted = NULL;
    frame->dest = CHECK_ANY;
    frame->n = 0;
    frame->handles = NULL;
    frame->statuses = NULL;
    return check_frames = frame;
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
    if (!check_matching_fits(like)) /* a record that drops the other may have arrived */
        check_channel_poll();
    struct check_posted *posted = check_matching_post(like);
    posted->log = check_log_add(call, CHECK_LOG_POST, like->source, like->comm, like->tag, 0);
    check_matching_match(posted);
    return posted;
}

static void start(const struct weft_call *call, const void *handle)
{
    struct check_pending *pending = check_pending_find(handle);
    if (!pending || !pending->is_persistent)
        return;
    pending->is_cancelled = false;
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

static void begin_cancel(const struct weft_call *call)
{
    struct check_pending *pending = check_pending_find(weft_call_element(call, 0, 0));
    if (pending)
        pending->is_cancelled = true;
}

/* A status for each completed request, instead of MPI_STATUS_IGNORE. */
static void replace_status(const struct weft_call *call, struct check_frame *frame, int64_t n)
{
    int status = weft_call_find(call, WEFT_PARAMETER_STATUS, 0);
    if (status < 0 || call->values[status].pointer)
        return;
    frame->statuses = frame->few_statuses;
    if (n > CHECK_FEW)
        frame->statuses = weft_interpose_allocate((size_t)n, sizeof *frame->statuses);
    call->values[status].pointer = frame->statuses;
}

/* Adds the operations that MPI_Wait and MPI_Waitall wait for. */
static void log_waits(const struct check_frame *frame)
{
    for (int64_t i = 0; i < frame->n; i++) {
        const struct check_pending *pending = check_pending_find(frame->handles[i]);
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
    struct check_frame *frame = push(call);
    frame->handles = frame->few_handles;
    if (n > CHECK_FEW)
        frame->handles = weft_interpose_allocate((size_t)n, sizeof *frame->handles);
    frame->n = n;
    for (int64_t i = 0; i < n; i++)
        frame->handles[i] = weft_call_element(call, requests, i);
    if (function->plain != WEFT_CALL_Request_free)
        replace_status(call, frame, n);
    if (function->plain == WEFT_CALL_Wait || function->plain == WEFT_CALL_Waitall)
        log_waits(frame);
}

/* Adds a message whose start or post the log has to what the call waits for. */
static void log_message(const struct weft_call *call, const struct check_frame *frame)
{
    if (is_nonblocking(call))
        return;
    if (frame->posted && frame->posted->log >= 0)
        check_log_add(call, CHECK_LOG_AWAIT_START, CHECK_ANY, 0, 0, (uint64_t)frame->posted->log);
    if (frame->dest != CHECK_ANY && !is_buffered(call))
        check_log_add(call, CHECK_LOG_AWAIT_POST, frame->dest, 0, 0, frame->record.message.number);
}

static void begin_message(const struct weft_call *call)
{
    const int does = call->function->does;
    struct check_posted posted;
    struct check_frame *frame = push(call);
    const struct check_message *message = &frame->record.message;
    if ((does & (WEFT_DOES_SEND | WEFT_DOES_EXCHANGE)) &&
        check_read_send(call, &frame->record, &frame->dest)) {
        check_repeats_send(frame->dest, &frame->record);
        check_log_add(call, CHECK_LOG_START, frame->dest, message->comm, message->tag,
                      message->number);
    } else {
        frame->dest = CHECK_ANY;
    }
    if ((does & (WEFT_DOES_RECEIVE | WEFT_DOES_EXCHANGE)) && check_read_receive(call, &posted))
        frame->posted = post_logged(call, &posted);
    if (!check_log_is_full())
        log_message(call, frame);
    if (frame->posted)
        replace_status(call, frame, 1);
}

/* MPI_Mrecv and MPI_Imrecv: the data of a message whose envelope MPI_Mprobe has returned. */
static void begin_matched(const struct weft_call *call)
{
    struct check_side side = check_describe_side(call, check_data_of(call, true));
    const void *handle = weft_call_handle(call, WEFT_OBJECT_MESSAGE);
    struct check_pending *pending = check_pending_find(handle);
    if (pending && pending->posted) {
        pending->posted->side = side;
        pending->posted->is_described = true;
        if (pending->posted->arrival)
            check_matching_settle(pending->posted);
    }
    check_pending_drop(handle);
}

/* After a probe from any source, another run may receive in another order. */
static void log_probe(const struct weft_call *call)
{
    struct check_posted posted;
    if (check_read_receive(call, &posted) && posted.source == CHECK_ANY)
        check_log_probe(call, posted.comm, posted.tag);
}

void check_messages_begin(struct weft_call *call)
{
    const struct weft_function *function = call->function;
    const int does = function->does;
    if (check.several_threads)
        return;
    if (check_has(call, CHECK_IS_MESSAGE)) {
        begin_message(call);
        return;
    }
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
    case WEFT_CALL_Cancel:
        begin_cancel(call);
        return;
    default:
        break;
    }
    if ((does & (WEFT_DOES_SEND | WEFT_DOES_RECEIVE | WEFT_DOES_EXCHANGE)) &&
        weft_call_find(call, WEFT_PARAMETER_DATA, 0) >= 0)
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
    const MPI_Status *statuses =
        call->values[weft_call_find(call, WEFT_PARAMETER_STATUS, 0)].pointer;
    return &statuses[i];
}

/* There is no message with this number on the communicator. */
static void send_void(int dest, uint64_t comm, uint64_t number)
{
    struct check_record record = {.kind = CHECK_RECORD_MESSAGE};
    record.message = (struct check_message){.comm = comm, .number = number, .is_void = true};
    check_channel_send(dest, &record);
}

/* A send that MPI_Cancel was called for is complete. at: the index of its status, which
 * MPI_Request_free does not have. */
static void end_cancelled_send(const struct weft_call *call, const struct check_pending *pending,
                               int64_t at)
{
    const bool is_freed = call->function->plain == WEFT_CALL_Request_free;
    int is_cancelled = 1;
    if (!is_freed)
        weft_next.Test_cancelled(status_at(call, at), &is_cancelled);
    if (is_cancelled)
        send_void(pending->dest, pending->comm, is_freed ? CHECK_NO_NUMBER : pending->number);
}

static void end_completion(const struct weft_call *call, const struct check_frame *frame)
{
    for (int64_t i = 0; i < frame->n; i++) {
        struct check_pending *pending = check_pending_find(frame->handles[i]);
        int64_t at = pending ? weft_call_status(call, i) : -1;
        if (at < 0 && call->function->plain != WEFT_CALL_Request_free)
            continue;
        struct check_posted *posted = pending ? pending->posted : NULL;
        if (call->function->plain == WEFT_CALL_Request_free) {
            if (posted) {
                check_matching_set_uncompared(posted->comm);
                check_matching_withdraw(posted);
            }
        } else if (posted) {
            pending->posted = NULL;
            if (call->result != MPI_SUCCESS)
                check_matching_set_uncompared(posted->comm);
            check_matching_complete(posted, status_at(call, at));
        }
        if (pending && pending->is_sending && pending->is_cancelled)
            end_cancelled_send(call, pending, at);
        if (pending)
            pending->is_sending = false;
        if (!pending || pending->is_persistent)
            if (call->function->plain != WEFT_CALL_Request_free)
                continue;
        check_pending_drop(frame->handles[i]);
    }
}

static void end_persistent(const struct weft_call *call)
{
    struct check_record record;
    struct check_posted posted;
    int dest;
    bool is_send = (call->function->does & WEFT_DOES_SEND) && check_read_send(call, &record, &dest);
    bool is_receive =
        (call->function->does & WEFT_DOES_RECEIVE) && check_read_receive(call, &posted);
    if (call->result != MPI_SUCCESS || (!is_send && !is_receive))
        return;
    struct check_pending *pending = check_pending_add(check_made_request(call));
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
    int flag = weft_call_find(call, WEFT_PARAMETER_LOGICAL, 0);
    int message = weft_call_find(call, WEFT_PARAMETER_HANDLE, 0);
    while (call->function->parameter[message].object != WEFT_OBJECT_MESSAGE)
        message++;
    const void *handle = weft_call_element(call, message, 0);
    if (call->result != MPI_SUCCESS || (flag >= 0 && !weft_call_number(call, flag, 0)) ||
        weft_object_is_predefined(handle) || !check_read_receive(call, &posted) ||
        check_matching_is_uncompared(posted.comm))
        return;
    struct check_posted *added = check_matching_post(&posted);
    added->log = CHECK_ANY;
    check_pending_add(handle)->posted = added;
    check_matching_complete(added, status_at(call, 0));
}

static void end_message(const struct weft_call *call, struct check_frame *frame)
{
    struct check_posted *posted = frame->posted;
    const void *request = check_made_request(call);
    if (request && call->result == MPI_SUCCESS && (posted || frame->dest != CHECK_ANY)) {
        struct check_pending *pending = check_pending_add(request);
        pending->posted = posted;
        pending->is_send = pending->is_sending = !posted;
        pending->is_buffered = is_buffered(call);
        pending->dest = frame->dest;
        pending->comm = frame->record.message.comm;
        pending->number = frame->record.message.number;
    } else if (posted && call->result == MPI_SUCCESS) {
        check_matching_complete(posted, status_at(call, 0));
    } else if (posted) {
        check_matching_set_uncompared(posted->comm);
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
    check_pending_add(request)->gathering = gathering;
}

static void drop(struct check_frame *frame)
{
    check_frames = frame->below;
    if (frame->handles != frame->few_handles)
        free(frame->handles);
    if (frame->statuses != frame->few_statuses)
        free(frame->statuses);
    check_pool_give(&calls, frame);
}

void check_messages_leave(uintptr_t limit)
{
    while (check_frames && check_frames->at < limit) {
        struct check_posted *posted = check_frames->posted;
        if (posted) {
            check_matching_set_uncompared(posted->comm);
            check_matching_withdraw(posted);
        }
        if (check_frames->dest != CHECK_ANY)
            send_void(check_frames->dest, check_frames->record.message.comm, CHECK_NO_NUMBER);
        for (int64_t i = 0; i < check_frames->n; i++) { /* the call may have completed them */
            const struct check_pending *pending = check_pending_find(check_frames->handles[i]);
            if (pending && pending->posted)
                check_matching_set_uncompared(pending->posted->comm);
        }
        drop(check_frames);
    }
}

void check_messages_end(struct weft_call *call)
{
    const int does = call->function->does;
    struct check_frame *frame = check_frames;
    if ((does & WEFT_DOES_COLLECTIVE) && (does & WEFT_DOES_NONBLOCKING))
        end_collective(call);
    if (!frame || frame->call != call)
        return;
    if (call->function->does & WEFT_DOES_COMPLETE)
        end_completion(call, frame);
    else if (call->function->does & WEFT_DOES_PROBE)
        end_probe(call);
    else if (call->function->does & WEFT_DOES_PERSISTENT)
        end_persistent(call);
    else
        end_message(call, frame);
    if (frame->dest != CHECK_ANY && call->result != MPI_SUCCESS)
        send_void(frame->dest, frame->record.message.comm, CHECK_NO_NUMBER);
    drop(frame);
}
