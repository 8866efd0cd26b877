// SPDX-License-Identifier: BSD-3-Clause
/*
 * Receives and messages that the core matches itself: see sw_match.h.
 *
 * Invariant: channel->held counts (beside WEFT_HELD_ALWAYS) the receives of the channel that are in
 * the posted queue and could match a message from the net, and the active claims.
 */
#include "core/message/sw_match.h"
#include "core/message/count.h"
#include "core/message/lane.h"

#include <stdlib.h>
#include <string.h>

/* A standard send to this process is copied when it is not longer than SELF_BUFFERED, there are
 * credits for it or it is not longer than SELF_ALWAYS, and no receive waits for it, so that it
 * completes at once; another one waits for its receive and is copied once. */
enum { SELF_BUFFERED = 65536, SELF_ALWAYS = 40 };

void weft_sw_hold(struct weft_channel *channel, int by)
{
    weft_assert(weft_vci_is_held(channel->vci));
    channel->held += by;
    weft_assert(channel->held >= 0);
    channel->sources = channel->held ? 0 : (uint32_t)channel->size;
    if (by > 0 && !channel->listed && channel->held < WEFT_HELD_ALWAYS) {
        struct weft_vci *vci = channel->vci;
        if (!vci->held)
            vci->held_last = channel;
        channel->listed = true;
        channel->next_held = vci->held;
        vci->held = channel;
    }
}

static struct weft_matcher *matcher_of(const struct weft_channel *channel)
{
    return &channel->vci->matcher;
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
    weft_assert(!message->match.queued);
    weft_count_level(&weft_counts.unexpected_bytes, -(int64_t)message->arrival.bytes);
    weft_lane_kept(&message->arrival, -1);
    free(message);
}

/* True if the lane that matches receives could match it. */
static bool lane_could_match(const struct weft_request *request)
{
    return request->channel->held < WEFT_HELD_ALWAYS &&
           (!request->peer || request->peer->lane == weft.posts);
}

/* ---- Delivery */

/* A receive from any source needs the sender's peer to fetch or acknowledge the message. False if
 * the connection fails: then the receive has the error. */
static bool find_sender(struct weft_request *receive, const struct weft_arrival *message)
{
    if (!receive->peer)
        receive->peer = message->peer;
    if (!receive->peer && (unsigned)message->source >= (unsigned)receive->channel->size) {
        receive->error = (uint8_t)weft_error_set(
            MPI_ERR_OTHER,
            "a receive from any source matched a message of rank %d, which the communicator does "
            "not have; see whether a program outside of the job sends to this rank (SECURITY.md)",
            message->source);
        receive->bytes = 0;
        return false;
    }
    if (receive->peer ||
        (message->location != WEFT_DATA_AT_SENDER && message->mode != WEFT_SEND_SYNCHRONOUS))
        return true;
    receive->peer = weft_channel_connect(receive->channel, message->source);
    if (receive->peer)
        return true;
    receive->error = MPI_ERR_OTHER;
    receive->bytes = 0;
    return false;
}

static void take_data(struct weft_request *receive, const struct weft_arrival *message)
{
    size_t bytes = weft_request_fit(receive, message->length);
    if (message->location == WEFT_DATA_LOCAL) {
        struct weft_request *send = (struct weft_request *)message->data;
        weft_assert(weft_request_row(send)->sends && send->pending > 0);
        weft_datatype_copy(send->type, send->buffer, receive->type, receive->buffer, bytes);
        weft_request_event(send);
    } else {
        weft_datatype_unpack(receive->type, receive->buffer, 0, message->data, bytes);
    }
}

/* Fetches the data of a message that was announced, which completes the receive. */
static void fetch_data(struct weft_request *receive, const struct weft_arrival *message)
{
    weft_assert(receive->peer && receive->peer->lane == message->lane);
    receive->owner = message->lane;
    weft_lanes[message->lane]->fetch(receive, message->data);
}

static void report_match(const struct weft_request *receive, const struct weft_arrival *message)
{
    const struct weft_lane *lane = weft_lanes[message->lane];
    if (lane->matched)
        lane->matched(receive, message);
}

/* A complete message is dropped, because nobody will receive it. */
static void report_drop(const struct weft_arrival *message)
{
    const struct weft_lane *lane = weft_lanes[message->lane];
    if (lane->dropped)
        lane->dropped(message);
}

void weft_deliver(struct weft_request *receive, const struct weft_arrival *message)
{
    weft_assert(weft_request_row(receive)->receives && receive->pending > 0);
    weft_assert(!(receive->flags & WEFT_REQUEST_IN_LANE) && !receive->match.queued);
    receive->source = message->source;
    receive->tag = message->tag;
    if (weft_likely(find_sender(receive, message))) {
        if (message->location == WEFT_DATA_AT_SENDER) {
            fetch_data(receive, message);
            return;
        }
        take_data(receive, message);
        report_match(receive, message);
    }
    weft_request_event(receive);
}

/* ---- Receives */

void weft_sw_receive_taken(struct weft_request *request, struct weft_message *message)
{
    weft_assert(!message->channel || message->channel->uses > 0);
    weft_deliver(request, &message->arrival);
    if (message->channel)
        message->channel->uses--;
    free_message(message);
}

void weft_sw_receive(struct weft_request *request)
{
    weft_assert(request->pending > 0 && !(request->flags & WEFT_REQUEST_IN_LANE));
    weft_assert(weft_vci_is_held(request->channel->vci) && request->vci == request->channel->vci);
    struct weft_match_receive *receive = &request->match;
    struct weft_match_message *match = NULL;
    receive->context = request->channel->context;
    request->owner = WEFT_LANE_UNKNOWN;
    struct weft_matcher *matcher = matcher_of(request->channel);
    if (matcher->unexpected)
        match = weft_match_find(matcher, receive->context, receive->source, receive->tag);
    if (match) {
        weft_sw_take(matcher, weft_message_of(match));
        weft_sw_receive_taken(request, weft_message_of(match));
        return;
    }
    weft_match_post(matcher, receive);
    if (lane_could_match(request))
        weft_sw_hold(request->channel, 1);
}

bool weft_sw_withdraw(struct weft_request *request)
{
    if (!weft_match_withdraw(matcher_of(request->channel), &request->match))
        return false;
    if (lane_could_match(request))
        weft_sw_hold(request->channel, -1);
    return true;
}

/* ---- Messages */

/* A message that was sent in ready mode has found no receive: a mistake in the program
 * (MPI 5.0, 3.4), reported once in each process. */
WEFT_COLD static void report_unready(const struct weft_arrival *message)
{
    static _Atomic bool reported;
    const struct weft_channel *channel =
        weft_channel_of(message->context, message->source, message->tag);
    if (!channel || channel->took_back || atomic_exchange(&reported, true))
        return;
    weft_warn("rank %d of %s has sent %zu bytes with tag %d in ready mode to rank %d, where no "
              "receive for them was posted: the program is wrong, and may lose such messages with "
              "another MPI. Post the receive before the send starts, or use MPI_Send instead of "
              "MPI_Rsend. (Reported once.)",
              message->source, weft_channel_ops.name(channel), message->length, message->tag,
              channel->rank);
}

/* Copies into a kept message what it must not refer to. */
static void copy_data(struct weft_message *kept, const struct weft_arrival *message)
{
    kept->arrival.data = kept->data;
    if (message->location == WEFT_DATA_LOCAL) {
        struct weft_request *send = (struct weft_request *)message->data;
        kept->arrival.location = WEFT_DATA_HERE;
        weft_datatype_pack(send->type, send->buffer, 0, kept->data, send->bytes);
        weft_request_event(send);
    } else {
        memcpy(kept->data, message->data, message->bytes);
    }
}

WEFT_COLD static int report_no_memory(const struct weft_arrival *message)
{
    static const char text[] = "no memory to keep an unexpected message of %zu bytes from rank %d "
                               "with tag %d; post its receive earlier";
    if (message->location != WEFT_DATA_LOCAL)
        weft_fatal(MPI_ERR_NO_MEM, text, message->length, message->source, message->tag);
    return weft_error_set(MPI_ERR_NO_MEM, text, message->length, message->source, message->tag);
}

/* True if the send is not complete until the message matches. */
static bool has_waiting_send(const struct weft_arrival *message)
{
    return message->location != WEFT_DATA_HERE || message->mode == WEFT_SEND_SYNCHRONOUS;
}

/* True if a kept message of this process refers to its send, which completes with the receive. */
static bool refers_to_send(const struct weft_arrival *message)
{
    if (message->location != WEFT_DATA_LOCAL)
        return false;
    bool credits = message->peer->kept < weft.eager_credits || message->length <= SELF_ALWAYS;
    return message->mode == WEFT_SEND_SYNCHRONOUS || message->length > SELF_BUFFERED || !credits;
}

static int keep_message(struct weft_matcher *matcher, const struct weft_arrival *message)
{
    bool refers = refers_to_send(message), expected = weft_channel_expects(message->context);
    size_t space = refers ? 0 : message->bytes;
    if (weft_unlikely(!expected) && !has_waiting_send(message)) {
        report_drop(message);
        return MPI_SUCCESS;
    }
    if (weft_unlikely(message->mode == WEFT_SEND_READY))
        report_unready(message);
    struct weft_message *kept = malloc(sizeof *kept + space);
    if (!kept)
        return report_no_memory(message);
    kept->object = (struct weft_object){WEFT_KIND_MESSAGE, 0};
    kept->arrival = *message;
    kept->arrival.bytes = space;
    kept->channel = NULL;
    if (!refers)
        copy_data(kept, message);
    kept->match.context = message->context | (expected ? 0 : WEFT_CONTEXT_FREED);
    kept->match.source = message->source;
    kept->match.tag = message->tag;
    weft_match_store(matcher, &kept->match);
    weft_count_unexpected(message->context, message->source);
    weft_count_level(&weft_counts.unexpected_bytes, (int64_t)space);
    weft_lane_kept(&kept->arrival, 1);
    weft_count_level(&weft_counts.unexpected, 1);
    if (weft_event_wanted(WEFT_EVENT_UNEXPECTED))
        weft_event_raise(WEFT_EVENT_UNEXPECTED,
                         &(struct weft_event_data){.rank = message->source,
                                                   .tag = message->tag,
                                                   .context = message->context,
                                                   .bytes = message->length});
    return MPI_SUCCESS;
}

int weft_sw_arrive(struct weft_matcher *matcher, const struct weft_arrival *message)
{
    struct weft_match_receive *receive = NULL;
    if (weft_match_posted(matcher))
        receive = weft_match_arrive(matcher, message->context, message->source, message->tag);
    if (!receive)
        return keep_message(matcher, message);
    struct weft_request *request = weft_sw_request(receive);
    weft_assert(weft_vci_is_held(request->vci) && &request->vci->matcher == matcher);
    if (lane_could_match(request))
        weft_sw_hold(request->channel, -1);
    weft_deliver(request, message);
    return MPI_SUCCESS;
}

/* ---- Messages that nobody will receive */

static void drop_message(struct weft_matcher *matcher, struct weft_message *message)
{
    report_drop(&message->arrival);
    weft_sw_take(matcher, message);
    free_message(message);
}

/* The search for messages to be dropped. */
struct over {
    bool (*is_over)(const void *arg, int tag);
    const void *arg;
    struct weft_message *found;
};

static void see_over(void *arg, struct weft_match_message *match)
{
    struct over *over = arg;
    struct weft_message *message = weft_message_of(match);
    if (!over->found && !has_waiting_send(&message->arrival) &&
        over->is_over(over->arg, match->tag))
        over->found = message;
}

void weft_sw_drop_tags(struct weft_matcher *matcher, uint32_t context,
                       bool (*is_over)(const void *arg, int tag), const void *arg)
{
    struct over over;
    do {
        over = (struct over){.is_over = is_over, .arg = arg};
        weft_match_each_message(matcher, context, see_over, &over);
        if (over.found)
            drop_message(matcher, over.found);
    } while (over.found);
}

void weft_sw_drop_context(struct weft_matcher *matcher, uint32_t context)
{
    struct weft_match_message *match;
    while ((match = weft_match_find(matcher, context, WEFT_MATCH_ANY_SOURCE, WEFT_MATCH_ANY_TAG)) !=
           NULL) {
        struct weft_message *message = weft_message_of(match);
        weft_assert(message->arrival.location != WEFT_DATA_LOCAL);
        if (has_waiting_send(&message->arrival)) {
            weft_match_take(matcher, match);
            match->context |= WEFT_CONTEXT_FREED;
            weft_match_store(matcher, match);
            continue;
        }
        drop_message(matcher, message);
    }
}

static void forget_sender(void *arg, struct weft_match_message *match)
{
    struct weft_arrival *arrival = &weft_message_of(match)->arrival;
    if (arrival->peer == arg)
        arrival->peer = NULL;
}

void weft_sw_forget_peer(const struct weft_peer *peer)
{
    weft_match_each_message(&weft.vcis[peer->vci].matcher, WEFT_MATCH_ALL_CONTEXTS, forget_sender,
                            (void *)peer);
}

/* ---- Cancelled sends */

/* The search for the message of a cancelled send. */
struct search {
    const struct weft_arrival *name;
    struct weft_message *found;
    int matches;
};

static void compare(void *arg, struct weft_match_message *match)
{
    struct search *search = arg;
    const struct weft_arrival *name = search->name;
    struct weft_message *message = weft_message_of(match);
    if (match->source != name->source || match->tag != name->tag ||
        message->arrival.lane != name->lane || message->arrival.id != name->id)
        return;
    if (name->mode == WEFT_SEND_SYNCHRONOUS && message->arrival.mode != WEFT_SEND_SYNCHRONOUS)
        return;
    search->found = message;
    search->matches++;
}

bool weft_sw_revoke(struct weft_matcher *matcher, struct weft_arrival *name)
{
    struct search search = {.name = name};
    weft_match_each_message(matcher, name->context, compare, &search);
    if (!search.matches)
        weft_match_each_message(matcher, name->context | WEFT_CONTEXT_FREED, compare, &search);
    if (search.matches != 1)
        return false;
    *name = search.found->arrival;
    weft_sw_take(matcher, search.found);
    free_message(search.found);
    return true;
}
