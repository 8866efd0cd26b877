// SPDX-License-Identifier: BSD-3-Clause
/*
 * Receives and messages that the core matches itself: see sw_match.h.
 *
 * Invariant: channel->held counts (beside WEFT_HELD_ALWAYS) the receives of the channel that are in
 * the posted queue and could match a message from the net, and the claims under way.
 */
#include "core/pt2pt/sw_match.h"
#include "core/tool/count.h"
#include "core/tool/event.h"
#include "core/process/weft.h"
#include "ofi/net.h"
#include "shm/shm.h"

#include <stdlib.h>
#include <string.h>

/* A standard send to this process is copied when it is not longer than this and no receive waits
 * for it, so that it completes at once; a longer one waits for its receive and is copied once. */
enum { SELF_BUFFERED = 65536 };

void weft_sw_hold(struct weft_channel *channel, int by)
{
    channel->held += by;
    channel->sources = channel->held ? 0 : (uint32_t)channel->comm->size;
    if (by > 0 && !channel->listed && channel->held < WEFT_HELD_ALWAYS) {
        channel->listed = true;
        channel->next_held = channel->comm->vci->held;
        channel->comm->vci->held = channel;
    }
}

static struct weft_matcher *matcher_of(const struct weft_channel *channel)
{
    return &channel->comm->vci->matcher;
}

/* Takes a message out of the matcher, for a receive, a matched probe or a cancel. */
void weft_sw_take(struct weft_matcher *matcher, struct weft_message *message)
{
    weft_match_take(matcher, &message->match);
    weft_count_level(&weft_counts.unexpected, -1);
}

/* The end of a message that was taken. */
static void free_message(struct weft_message *message)
{
    weft_count_level(&weft_counts.unexpected_bytes, -(int64_t)message->bytes);
    free(message);
}

static bool net_could_match(const struct weft_request *request)
{
    return request->channel->held < WEFT_HELD_ALWAYS &&
           (!request->peer || request->peer->lane == WEFT_LANE_NET);
}

static void take_data(struct weft_request *request, const void *data, size_t length)
{
    size_t n = length;
    if (weft_unlikely(length > request->capacity)) {
        weft_request_truncated(request, length);
        n = request->capacity;
    }
    weft_datatype_unpack(request->type, request->buffer, 0, data, n);
    request->bytes = n;
    weft_request_event(request);
}

/* Copies between two buffers of this process, each with its own layout. */
static void take_local(struct weft_request *request, struct weft_request *send)
{
    size_t n = send->bytes;
    if (weft_unlikely(n > request->capacity)) {
        weft_request_truncated(request, n);
        n = request->capacity;
    }
    if (send->type->flags & WEFT_TYPE_CONTIGUOUS) {
        weft_datatype_unpack(request->type, request->buffer, 0, send->buffer, n);
    } else if (request->type->flags & WEFT_TYPE_CONTIGUOUS) {
        weft_datatype_pack(send->type, send->buffer, 0, request->buffer, n);
    } else {
        char piece[4096];
        for (size_t done = 0, part; done < n; done += part) {
            part = n - done < sizeof piece ? n - done : sizeof piece;
            weft_datatype_pack(send->type, send->buffer, done, piece, part);
            weft_datatype_unpack(request->type, request->buffer, done, piece, part);
        }
    }
    request->bytes = n;
    weft_request_event(request);
    weft_request_event(send);
}

static void deliver(struct weft_request *request, int source, int tag, enum weft_message_form form,
                    const void *data, size_t bytes)
{
    struct weft_channel *channel = request->channel;
    request->source = source;
    request->tag = tag;
    if (form == WEFT_MESSAGE_LOCAL) {
        struct weft_request *send;
        memcpy(&send, data, sizeof send);
        take_local(request, send);
        return;
    }
    if (form != WEFT_MESSAGE_EAGER && !request->peer) {
        request->peer = weft_comm_connect(channel->comm, source);
        if (!request->peer) { /* the sentence is said; the sender cannot be told */
            request->error = MPI_ERR_OTHER;
            request->bytes = 0;
            weft_request_event(request);
            return;
        }
    }
    if (form == WEFT_MESSAGE_RTS) {
        weft_net_fetch(request, data);
        return;
    }
    if (form == WEFT_MESSAGE_SYNC)
        weft_net_acknowledge(request->peer, channel, tag);
    weft_net_matched(channel, source, bytes);
    take_data(request, data, bytes);
}

/* The same for a message of this process that was copied. */
static void deliver_buffered(struct weft_request *request, const struct weft_message *message)
{
    request->source = message->match.source;
    request->tag = message->match.tag;
    take_data(request, message->data, message->bytes);
}

/* The same for a message that came through shared memory. */
static void deliver_shared(struct weft_request *request, const struct weft_message *message)
{
    request->source = message->match.source;
    request->tag = message->match.tag;
    request->peer = weft_comm_peer(request->channel->comm, request->source);
    if (message->form == WEFT_MESSAGE_RTS) {
        weft_shm_fetch(request, message->data);
        return;
    }
    if (message->form == WEFT_MESSAGE_SYNC)
        weft_shm_acknowledge(request->peer, message->cookie);
    take_data(request, message->data, message->bytes);
}

void weft_sw_receive_taken(struct weft_request *request, struct weft_message *message)
{
    if (message->lane == WEFT_LANE_SHM)
        deliver_shared(request, message);
    else if (message->lane == WEFT_LANE_SELF && message->form == WEFT_MESSAGE_EAGER)
        deliver_buffered(request, message);
    else
        deliver(request, message->match.source, message->match.tag, message->form, message->data,
                message->bytes);
    if (message->channel)
        message->channel->comm->uses--;
    free_message(message);
}

void weft_sw_receive(struct weft_request *request)
{
    struct weft_match_receive *receive = &request->match;
    struct weft_match_message *match = NULL;
    receive->context = request->channel->context;
    struct weft_matcher *matcher = matcher_of(request->channel);
    if (matcher->unexpected)
        match = weft_match_find(matcher, receive->context, receive->source, receive->tag);
    if (match) {
        weft_sw_take(matcher, weft_message_of(match));
        weft_sw_receive_taken(request, weft_message_of(match));
        return;
    }
    weft_match_post(matcher, receive);
    if (net_could_match(request))
        weft_sw_hold(request->channel, 1);
}

bool weft_sw_withdraw(struct weft_request *request)
{
    if (!weft_match_withdraw(matcher_of(request->channel), &request->match))
        return false;
    if (net_could_match(request))
        weft_sw_hold(request->channel, -1);
    return true;
}

void weft_sw_unready(uint32_t context, int source, int tag, size_t length)
{
    static _Atomic bool said;
    const struct weft_channel *channel = weft_channel_of(context);
    if (!channel || channel->took_back || atomic_exchange(&said, true))
        return;
    const char *name = channel->comm->name;
    weft_warn("rank %d of %s has sent %zu bytes with tag %d in ready mode to rank %d, where no "
              "receive for them was posted: the program is wrong, and may lose such messages with "
              "another MPI. Post the receive before the send starts, or use MPI_Send instead of "
              "MPI_Rsend. (This is said once.)",
              source, name && *name ? name : "a communicator", length, tag, channel->comm->rank);
}

static struct weft_message *copy_message(enum weft_message_form form, const void *data,
                                         size_t bytes)
{
    struct weft_request *send = NULL;
    if (form == WEFT_MESSAGE_LOCAL)
        memcpy(&send, data, sizeof send);
    if (send && weft_unlikely(send->mode == WEFT_SEND_READY))
        weft_sw_unready(send->channel->context, send->channel->comm->rank, send->tag, send->bytes);
    bool buffered = send && send->mode != WEFT_SEND_SYNCHRONOUS && send->bytes <= SELF_BUFFERED;
    size_t room = buffered ? send->bytes : bytes;
    struct weft_message *message = malloc(sizeof *message + room);
    if (!message)
        return NULL;
    message->object = (struct weft_object){WEFT_KIND_MESSAGE, 0};
    message->form = (uint8_t)(buffered ? WEFT_MESSAGE_EAGER : form);
    message->lane = send ? WEFT_LANE_SELF : WEFT_LANE_NET;
    message->bytes = room;
    if (buffered) {
        weft_datatype_pack(send->type, send->buffer, 0, message->data, room);
        weft_request_event(send);
    } else if (bytes) {
        memcpy(message->data, data, bytes);
    }
    return message;
}

struct weft_request *weft_sw_match(struct weft_matcher *matcher, uint32_t context, int source,
                                   int tag)
{
    struct weft_match_receive *receive =
        weft_match_posted(matcher) ? weft_match_arrive(matcher, context, source, tag) : NULL;
    if (!receive)
        return NULL;
    struct weft_request *request = weft_sw_request(receive);
    if (net_could_match(request))
        weft_sw_hold(request->channel, -1);
    return request;
}

struct weft_message *weft_sw_keep(struct weft_matcher *matcher, uint32_t context, int source,
                                  int tag, enum weft_message_form form, const void *data,
                                  size_t bytes, size_t length, uint32_t sequence)
{
    if (weft_unlikely(form == WEFT_MESSAGE_READY)) {
        weft_sw_unready(context, source, tag, length);
        form = WEFT_MESSAGE_EAGER;
    }
    struct weft_message *message = copy_message(form, data, bytes);
    if (!message)
        return NULL;
    message->channel = NULL;
    message->length = length;
    message->sequence = sequence;
    message->match.context = context;
    message->match.source = source;
    message->match.tag = tag;
    weft_match_store(matcher, &message->match);
    weft_count_unexpected(context, source);
    weft_count_level(&weft_counts.unexpected_bytes, (int64_t)message->bytes);
    weft_count_level(&weft_counts.unexpected, 1);
    if (weft_event_wanted(WEFT_EVENT_UNEXPECTED))
        weft_event_raise(WEFT_EVENT_UNEXPECTED,
                         &(struct weft_event_data){
                             .rank = source, .tag = tag, .context = context, .bytes = length});
    return message;
}

int weft_sw_arrive(struct weft_matcher *matcher, uint32_t context, int source, int tag,
                   enum weft_message_form form, const void *data, size_t bytes, size_t length,
                   uint32_t sequence)
{
    struct weft_request *request = weft_sw_match(matcher, context, source, tag);
    if (request) {
        deliver(request, source, tag, form, data, bytes);
        return MPI_SUCCESS;
    }
    if (form == WEFT_MESSAGE_RTS && weft_net_header_ready(data))
        weft_sw_unready(context, source, tag, length);
    if (!weft_sw_keep(matcher, context, source, tag, form, data, bytes, length, sequence))
        return weft_error_set(MPI_ERR_NO_MEM,
                              "no memory to keep an unexpected message of %zu bytes from rank %d "
                              "with tag %d; post its receive earlier",
                              length, source, tag);
    return MPI_SUCCESS;
}

/* What a cancelled send looks for. */
struct name {
    int source, tag;
    uint64_t cookie;
    uint32_t sequence;
    enum weft_lane lane; /* it came over */
    struct weft_message *found;
    int fitting;
};

static bool fits(const struct weft_message *message, const struct name *name)
{
    if (message->match.source != name->source || message->match.tag != name->tag ||
        message->lane != name->lane)
        return false;
    if (name->cookie)
        return message->form == WEFT_MESSAGE_RTS &&
               weft_net_header_cookie(message->data) == name->cookie;
    return message->sequence == name->sequence &&
           (name->lane != WEFT_LANE_NET || message->form != WEFT_MESSAGE_RTS);
}

static void compare(void *arg, struct weft_match_message *match)
{
    struct name *name = arg;
    struct weft_message *message = weft_message_of(match);
    if (!fits(message, name))
        return;
    name->found = message;
    name->fitting++;
}

/* Takes the message out of the matcher if it is the only one that fits; the caller frees it. */
static struct weft_message *take_named(struct weft_matcher *matcher, uint32_t context,
                                       struct name *name)
{
    weft_match_each_message(matcher, context, compare, name);
    if (name->fitting != 1)
        return NULL;
    weft_sw_take(matcher, name->found);
    return name->found;
}

bool weft_sw_revoke(struct weft_channel *channel, int source, int tag, uint64_t cookie,
                    uint32_t sequence)
{
    struct name name = {.source = source,
                        .tag = tag,
                        .cookie = cookie,
                        .sequence = sequence,
                        .lane = WEFT_LANE_NET};
    struct weft_message *message = take_named(matcher_of(channel), channel->context, &name);
    if (!message)
        return false;
    if (message->form == WEFT_MESSAGE_EAGER || message->form == WEFT_MESSAGE_SYNC)
        weft_net_matched(channel, source, message->bytes);
    free_message(message);
    return true;
}

static bool revoke_by_sequence(struct weft_matcher *matcher, uint32_t context, int source, int tag,
                               uint32_t sequence, enum weft_lane lane)
{
    struct name name = {.source = source, .tag = tag, .sequence = sequence, .lane = lane};
    struct weft_message *message = take_named(matcher, context, &name);
    if (message)
        free_message(message);
    return message != NULL;
}

bool weft_sw_revoke_shared(struct weft_matcher *matcher, uint32_t context, int source, int tag,
                           uint32_t sequence)
{
    return revoke_by_sequence(matcher, context, source, tag, sequence, WEFT_LANE_SHM);
}

bool weft_sw_revoke_local(const struct weft_request *send)
{
    return revoke_by_sequence(matcher_of(send->channel), send->channel->context,
                              send->channel->comm->rank, send->tag, send->sequence, WEFT_LANE_SELF);
}
