// SPDX-License-Identifier: BSD-3-Clause
/*
 * Waits of calls with messages: what they are for (deadlocks.h), and whether the records of what
 * they have received are here. See messages.h.
 */
#include "tools/check/comms.h"
#include "tools/check/deadlocks.h"
#include "tools/check/messages_internal.h"
#include "tools/check/order_persistent.h"

/* ---- Receives that are complete in the library, before the program completes them */

/* True if a complete receive was cancelled: no message has arrived for it. */
static bool was_cancelled(MPI_Request request)
{
    int is_complete = 0, is_cancelled = 0;
    MPI_Status status;
    if (weft_next.Request_get_status(request, &is_complete, &status) == MPI_SUCCESS && is_complete)
        weft_next.Test_cancelled(&status, &is_cancelled);
    return is_cancelled;
}

static bool is_received(const struct check_pending *pending)
{
    const MPI_Request request = check_persistent_made(pending->handle);
    return pending->posted && check_request_has_ended(request) &&
           !(pending->is_cancelled && was_cancelled(request));
}

void check_messages_stop(const struct weft_call *call)
{
    const struct check_frame *frame = check_frame_of(call);
    if (!frame)
        return;
    check_matching_stop(frame->posted);
    for (int64_t i = 0; i < frame->n; i++) {
        const struct check_pending *pending = check_pending_find(frame->handles[i]);
        if (pending && is_received(pending))
            check_matching_stop(pending->posted);
    }
}

bool check_messages_are_matched(const struct weft_call *call)
{
    const struct check_frame *frame = check_frame_of(call);
    if (!frame)
        return true;
    bool all = check_matching_is_matched(frame->posted);
    for (int64_t i = 0; i < frame->n && all; i++) {
        const struct check_pending *pending = check_pending_find(frame->handles[i]);
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
    const struct check_frame *frame = check_frame_of(call);
    return frame && (frame->posted || frame->dest != CHECK_ANY);
}

void check_messages_make_with(const struct weft_call *call, int source)
{
    const struct check_frame *frame = check_frame_of(call);
    struct check_comm comm;
    if (frame && frame->posted && check_comm_copy(call, &comm))
        check_comm_find_peer(&comm, source, &frame->posted->made_with);
}

void check_messages_start_with(const void *request, int source)
{
    const struct check_pending *pending = check_pending_find(request);
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
    const struct check_frame *frame = check_frame_of(call);
    if (frame && frame->posted)
        want_posted(frame->posted, wants);
    else
        wants->is_known = false;
}

void check_messages_want_send(const struct weft_call *call, struct check_wants *wants)
{
    const struct check_frame *frame = check_frame_of(call);
    if (!frame || frame->dest == CHECK_ANY) {
        wants->is_known = false;
        return;
    }
    const struct check_want want = {.kind = CHECK_WANT_SEND,
                                    .comm = frame->record.message.comm,
                                    .number = frame->record.message.number,
                                    .rank = frame->dest,
                                    .tag = CHECK_ANY};
    add(wants, &want);
}

void check_messages_want_request(const void *handle, struct check_wants *wants)
{
    const struct check_pending *pending = check_pending_find(check_persistent_of(handle));
    if (pending && pending->is_cancelled) {
        wants->is_known = false;
    } else if (pending && pending->posted) {
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
    if (!check_read_receive(call, &posted)) {
        wants->is_known = false;
        return;
    }
    want_posted(&posted, wants);
}
