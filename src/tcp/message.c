// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages of the lane tcp: frames, and the lane's object. See tcp.h.
 *
 * Invariant: a control frame is used only if the request that it names is active, of this peer, and
 * in the phase of the frame.
 */
#include "tcp/tcp_internal.h"

#include "core/message/count.h"
#include "core/progress/failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The phase of a request, the tag of its state. */
enum phase {
    DONE,
    LOST,        /* a send that could not leave, because the connection has failed */
    ACK_AWAITED, /* a synchronous send */
    CTS_AWAITED, /* a long send */
    PUSHING,     /* its data are leaving */
    RECEIVING    /* a long receive: its data are arriving */
};

struct state {
    uint8_t phase;
    uint64_t receiver;         /* PUSHING: number of the receive */
    size_t at, wanted;         /* PUSHING, RECEIVING: bytes moved so far, of so many */
    struct weft_request *next; /* PUSHING */
};

_Static_assert(sizeof(struct state) <= WEFT_LANE_SCRATCH, "lane state of a request");
_Static_assert(sizeof(struct weft_tcp_peer *) <= WEFT_PEER_LANE_BYTES, "lane state of a peer");

static struct state *state_of(const struct weft_request *request)
{
    return (struct state *)(uintptr_t)request->lane;
}

/* The credits of a message, as weft_lane_kept counts it. */
static uint64_t cost_of(uint64_t bytes)
{
    enum { LEAST = 256 };
    return bytes < LEAST ? LEAST : bytes;
}

/* ---- To a peer */

/* A control. Nothing can leave to a peer whose connection has failed, and no connection is made to
 * one with which this process has no communicator. */
static void control(struct weft_tcp_peer *peer, const struct weft_tcp_frame *frame)
{
    if (peer && !peer->peer->dead && (peer->output || peer->foreign->comms > 0)) {
        weft_tcp_append(peer, frame);
        weft_tcp_flush(peer);
    }
}

static struct weft_tcp_frame describe_send(const struct weft_request *send, enum weft_tcp_kind kind)
{
    return (struct weft_tcp_frame){.kind = (uint8_t)kind,
                                   .mode = send->mode == WEFT_SEND_BUFFERED ? WEFT_SEND_STANDARD
                                                                            : send->mode,
                                   .context = send->channel->context,
                                   .source = send->channel->rank,
                                   .tag = send->tag,
                                   .id = send->sequence,
                                   .sender = send->number,
                                   .length = send->bytes};
}

static bool is_eager(const struct weft_tcp_peer *peer, size_t bytes)
{
    const struct weft_tcp_output *output = peer->output;
    return bytes <= WEFT_TCP_EAGER_MAX &&
           (!output || output->charged - output->returned + cost_of(bytes) <= WEFT_TCP_CREDITS);
}

static int start_send(struct weft_request *send)
{
    struct weft_tcp_peer *peer = weft_tcp_peer_of(send->peer);
    struct state *state = state_of(send);
    bool eager = is_eager(peer, send->bytes);
    *state = (struct state){.phase = !eager                                ? CTS_AWAITED
                                     : send->mode == WEFT_SEND_SYNCHRONOUS ? ACK_AWAITED
                                                                           : DONE};
    send->sequence = ++peer->sent;
    struct weft_tcp_frame frame = describe_send(send, eager ? WEFT_TCP_EAGER : WEFT_TCP_ANNOUNCE);
    frame.payload = eager ? (uint32_t)send->bytes : 0;
    if (!eager && send->type->flags & WEFT_TYPE_CONTIGUOUS)
        frame.receiver = (uintptr_t)send->buffer;
    unsigned char *payload = weft_tcp_append(peer, &frame);
    if (!payload) {
        state->phase = LOST;
        return MPI_SUCCESS;
    }
    weft_count_add(&weft_counts.messages[WEFT_LANE_TCP], 1);
    if (eager) {
        peer->output->charged += cost_of(send->bytes);
        if (send->bytes)
            weft_datatype_pack(send->type, send->buffer, 0, payload, send->bytes);
    }
    weft_tcp_flush(peer);
    if (state->phase == DONE)
        weft_request_event(send);
    return MPI_SUCCESS;
}

static void end_wait(struct weft_request *request)
{
    state_of(request)->phase = DONE;
    weft_request_event(request);
}

static void send_revocation(struct weft_peer *peer, uint32_t context)
{
    control(weft_tcp_peer_of(peer),
            &(struct weft_tcp_frame){.kind = WEFT_TCP_REVOKE, .context = context});
}

static void cancel_send(struct weft_request *send)
{
    struct weft_tcp_frame frame = describe_send(send, WEFT_TCP_CANCEL);
    send->flags |= WEFT_REQUEST_CANCELLING;
    send->pending++;
    control(weft_tcp_peer_of(send->peer), &frame);
}

void weft_tcp_push(struct weft_tcp_peer *peer)
{
    while (peer->pushing && weft_tcp_waiting(peer) < WEFT_TCP_QUEUE) {
        struct weft_request *send = peer->pushing;
        struct state *state = state_of(send);
        size_t left = state->wanted - state->at,
               bytes = left < WEFT_TCP_CHUNK ? left : WEFT_TCP_CHUNK;
        const struct weft_tcp_frame frame = {.kind = WEFT_TCP_DATA,
                                             .payload = (uint32_t)bytes,
                                             .sender = send->number,
                                             .receiver = state->receiver,
                                             .length = state->at};
        unsigned char *payload = weft_tcp_append(peer, &frame);
        weft_assert(state->phase == PUSHING && bytes > 0);
        if (!payload)
            return;
        weft_datatype_pack(send->type, send->buffer, state->at, payload, bytes);
        state->at += bytes;
        if (state->at < state->wanted)
            continue;
        peer->pushing = state->next;
        end_wait(send);
    }
}

/* ---- Matched messages */

static void fetch(struct weft_request *receive, const void *header)
{
    struct weft_tcp_frame head;
    memcpy(&head, header, sizeof head);
    struct state *state = state_of(receive);
    struct weft_tcp_peer *peer = weft_tcp_peer_of(receive->peer);
    if (weft_unlikely(receive->peer->dead)) {
        weft_failure_end_fetch(receive);
        return;
    }
    *state = (struct state){.phase = RECEIVING, .wanted = weft_request_fit(receive, head.length)};
    bool has_read = peer && head.receiver && state->wanted &&
                    receive->type->flags & WEFT_TYPE_CONTIGUOUS &&
                    weft_tcp_read_memory(peer, head.receiver, receive->buffer, state->wanted);
    control(peer, &(struct weft_tcp_frame){.kind = has_read ? WEFT_TCP_FIN : WEFT_TCP_CTS,
                                           .sender = head.sender,
                                           .receiver = receive->number,
                                           .length = state->wanted});
    if (has_read || !state->wanted)
        end_wait(receive);
}

static void report_match(const struct weft_request *receive, const struct weft_arrival *message)
{
    if (message->mode == WEFT_SEND_SYNCHRONOUS && message->location == WEFT_DATA_HERE)
        control(weft_tcp_peer_of(receive->peer),
                &(struct weft_tcp_frame){.kind = WEFT_TCP_ACK, .sender = message->cookie});
}

/* Returns the credits of the messages that are not kept any more. The messages that are kept may be
 * of an earlier connection; then fewer credits are returned than possible, never more. */
static void return_credits(const struct weft_peer *of)
{
    struct weft_tcp_peer *peer = weft_tcp_peer_of(of);
    struct weft_tcp_source *source = peer ? peer->sources : NULL;
    if (!source || source->arrived < of->kept + source->granted + WEFT_TCP_RETURN)
        return;
    source->granted = source->arrived - of->kept;
    weft_assert(source->granted <= source->arrived);
    control(peer, &(struct weft_tcp_frame){.kind = WEFT_TCP_CREDIT,
                                           .sender = source->number,
                                           .length = source->granted});
}

/* ---- From a peer */

enum { CONTEXTS = 1 << WEFT_CONTEXT_BITS, RANKS_MAX = 1 << 24 };

/* True if the process sends messages of this kind: its rank is the one that it names, in a
 * communicator that this process has or is making. */
static bool is_sender(const struct weft_tcp_peer *peer, const struct weft_tcp_frame *frame)
{
    if (frame->context >= CONTEXTS || frame->source < 0 || frame->source >= RANKS_MAX ||
        frame->tag < 0 || frame->mode > WEFT_SEND_READY)
        return false;
    const struct weft_channel *channel = weft_channel_of(frame->context, frame->source, frame->tag);
    return !channel || (frame->source < channel->size &&
                        weft_channel_world(channel, frame->source) == peer->foreign->number);
}

static bool take_message(struct weft_tcp_peer *peer, const struct weft_tcp_frame *frame,
                         const unsigned char *payload)
{
    bool eager = frame->kind == WEFT_TCP_EAGER;
    if (!is_sender(peer, frame) || (eager ? frame->length != frame->payload : frame->payload > 0))
        return false;
    const struct weft_arrival message = {.context = frame->context,
                                         .source = frame->source,
                                         .tag = frame->tag,
                                         .lane = WEFT_LANE_TCP,
                                         .mode = frame->mode,
                                         .location = eager ? WEFT_DATA_HERE : WEFT_DATA_AT_SENDER,
                                         .peer = peer->peer,
                                         .data = eager ? (const void *)payload : frame,
                                         .bytes = eager ? frame->payload : sizeof *frame,
                                         .length = frame->length,
                                         .id = frame->id,
                                         .cookie = frame->sender};
    weft_count_add(&weft_counts.arrived[WEFT_LANE_TCP], 1);
    if (eager)
        peer->sources->arrived += cost_of(frame->payload);
    if (!peer->peer->dead)
        weft_sw_arrive(&weft.vcis[0].matcher, &message);
    if (eager)
        return_credits(peer->peer);
    return true;
}

/* The request that a control names, if it is active and in a phase; else NULL. */
static struct weft_request *find_request(const struct weft_tcp_peer *peer, uint64_t number,
                                         enum phase phase)
{
    struct weft_request *request = weft_request_numbered(number);
    bool known = request && request->object.kind == WEFT_KIND_REQUEST && request->pending > 0 &&
                 request->owner == WEFT_LANE_TCP && request->peer == peer->peer;
    return known && state_of(request)->phase == phase ? request : NULL;
}

/* ACK or FIN: the end of a send in that phase. */
static bool take_end(const struct weft_tcp_peer *peer, const struct weft_tcp_frame *frame,
                     enum phase phase)
{
    struct weft_request *send = find_request(peer, frame->sender, phase);
    if (send)
        end_wait(send);
    return send;
}

static bool take_cts(struct weft_tcp_peer *peer, const struct weft_tcp_frame *frame)
{
    struct weft_request *send = find_request(peer, frame->sender, CTS_AWAITED);
    if (!send || frame->length > send->bytes)
        return false;
    if (!frame->length) {
        end_wait(send);
        return true;
    }
    *state_of(send) =
        (struct state){.phase = PUSHING, .receiver = frame->receiver, .wanted = frame->length};
    struct weft_request **link = &peer->pushing;
    while (*link)
        link = &state_of(*link)->next;
    *link = send;
    weft_tcp_push(peer);
    weft_tcp_flush(peer);
    return true;
}

static bool take_data(struct weft_tcp_peer *peer, const struct weft_tcp_frame *frame,
                      const unsigned char *payload)
{
    struct weft_request *receive = find_request(peer, frame->receiver, RECEIVING);
    struct state *state = receive ? state_of(receive) : NULL;
    if (!receive || frame->length != state->at || !frame->payload ||
        frame->payload > state->wanted - state->at)
        return false;
    weft_datatype_unpack(receive->type, receive->buffer, state->at, payload, frame->payload);
    state->at += frame->payload;
    if (state->at == state->wanted)
        end_wait(receive);
    return true;
}

/* Discards the message that a CANCEL names. Returns the kind of the reply. */
static enum weft_tcp_kind revoke_message(const struct weft_tcp_frame *frame, uint32_t context)
{
    struct weft_arrival name = {.context = context,
                                .source = frame->source,
                                .tag = frame->tag,
                                .lane = WEFT_LANE_TCP,
                                .id = frame->id};
    return weft_sw_revoke(&weft.vcis[0].matcher, &name) ? WEFT_TCP_CANCELLED : WEFT_TCP_TOO_LATE;
}

static bool take_cancel(struct weft_tcp_peer *peer, const struct weft_tcp_frame *frame)
{
    if (!is_sender(peer, frame))
        return false;
    enum weft_tcp_kind kind = revoke_message(frame, frame->context);
    if (peer->output || peer->foreign->comms > 0)
        control(peer, &(struct weft_tcp_frame){.kind = (uint8_t)kind, .sender = frame->sender});
    else
        weft_tcp_reply(peer->sources, kind, frame->sender);
    return true;
}

static bool take_cancel_reply(struct weft_tcp_peer *peer, const struct weft_tcp_frame *frame)
{
    struct weft_request *send = weft_request_numbered(frame->sender);
    if (!send || send->object.kind != WEFT_KIND_REQUEST || send->pending <= 0 ||
        send->owner != WEFT_LANE_TCP || send->peer != peer->peer ||
        !(send->flags & WEFT_REQUEST_CANCELLING))
        return false;
    bool cancelled = frame->kind == WEFT_TCP_CANCELLED;
    send->flags &= (uint8_t)~WEFT_REQUEST_CANCELLING;
    if (cancelled) {
        send->flags |= WEFT_REQUEST_CANCELLED;
        if (state_of(send)->phase == ACK_AWAITED || state_of(send)->phase == CTS_AWAITED)
            end_wait(send);
    }
    weft_request_event(send);
    return true;
}

static bool take_credit(const struct weft_tcp_peer *peer, const struct weft_tcp_frame *frame)
{
    struct weft_tcp_output *output = peer->output;
    if (!output || output->dial || output->number != frame->sender)
        return true; /* of a connection that has ended */
    if (frame->length > output->charged || frame->length < output->returned)
        return false;
    output->returned = frame->length;
    return true;
}

WEFT_COLD static void take_abort(const struct weft_tcp_peer *peer,
                                 const struct weft_tcp_frame *frame)
{
    const struct weft_contact *contact = &peer->foreign->contact;
    char text[256];
    snprintf(text, sizeof text, "rank %d of job %s on %s has called MPI_Abort(%d)", contact->rank,
             contact->job_name, contact->host, (int)frame->length);
    weft_warn("%s for a communicator with this process", text);
    weft_boot_abort((int)frame->length, text);
}

void weft_tcp_dropped(struct weft_tcp_source *source, const struct weft_tcp_frame *frame)
{
    if (frame->kind == WEFT_TCP_EAGER)
        source->arrived += cost_of(frame->payload);
    if (frame->kind == WEFT_TCP_CANCEL && frame->context < CONTEXTS)
        weft_tcp_reply(source, revoke_message(frame, frame->context | WEFT_CONTEXT_FREED),
                       frame->sender);
}

bool weft_tcp_arrived(struct weft_tcp_peer *peer, const struct weft_tcp_frame *frame,
                      const unsigned char *payload)
{
    bool with_data = frame->kind == WEFT_TCP_EAGER || frame->kind == WEFT_TCP_DATA;
    if (frame->payload && !with_data)
        return false;
    switch (frame->kind) {
    case WEFT_TCP_EAGER:
    case WEFT_TCP_ANNOUNCE:
        return take_message(peer, frame, payload);
    case WEFT_TCP_ACK:
        return take_end(peer, frame, ACK_AWAITED);
    case WEFT_TCP_CTS:
        return take_cts(peer, frame);
    case WEFT_TCP_FIN:
        return take_end(peer, frame, CTS_AWAITED);
    case WEFT_TCP_DATA:
        return take_data(peer, frame, payload);
    case WEFT_TCP_CANCEL:
        return take_cancel(peer, frame);
    case WEFT_TCP_CANCELLED:
    case WEFT_TCP_TOO_LATE:
        return take_cancel_reply(peer, frame);
    case WEFT_TCP_CREDIT:
        return take_credit(peer, frame);
    case WEFT_TCP_ABORT:
        take_abort(peer, frame);
        return true;
    case WEFT_TCP_REVOKE:
        weft_channel_ops.revoked(peer->foreign->number, frame->context);
        return true;
    default:
        return false;
    }
}

/* ---- The lane */

static int connect_peer(struct weft_peer *peer, char *why, size_t len)
{
    struct weft_tcp_peer *state = weft_tcp_peer_get(weft_foreign_of(peer->world));
    if (!state) {
        snprintf(why, len, "no memory for the connection to a process of another job");
        return -1;
    }
    weft_tcp_connect(state);
    return 0;
}

static bool reaches(int world)
{
    return weft_is_foreign(world);
}

static unsigned one_vci_number(void)
{
    return 1;
}

static bool waits_for_peer(const struct weft_request *request)
{
    return state_of(request)->phase != DONE;
}

static const char *describe(const struct weft_request *request)
{
    static const char *const texts[] = {[DONE] = "sent",
                                        [LOST] = "cannot be sent, the connection has failed",
                                        [ACK_AWAITED] = "sent, not received yet",
                                        [CTS_AWAITED] = "announced, not received yet",
                                        [PUSHING] = "its data are leaving",
                                        [RECEIVING] = "its data are arriving"};
    return texts[state_of(request)->phase];
}

/* A poll is a system call, so polls without an event are done less often, but for the first one
 * after a yield or sleep of this process, which takes longer. */
static int progress(unsigned vci)
{
    enum { QUIET = 64, TURN = 8 };
    static unsigned quiet;
    static uint64_t pauses;
    uint64_t now = __atomic_load_n(&weft_counts.yields, __ATOMIC_RELAXED) +
                   __atomic_load_n(&weft_counts.sleeps, __ATOMIC_RELAXED);
    if (vci || (now == pauses && quiet > QUIET && ++quiet % TURN))
        return 0;
    pauses = now;
    weft_tcp_dials_check();
    int events = weft_tcp_handle_events();
    quiet = events ? 0 : quiet + 1;
    weft_tcp_strangers_check();
    weft_tcp_links_check();
    return events;
}

static void sleep_until_event(unsigned microseconds)
{
    weft_tcp_sleep(-1, microseconds);
}

static bool begin_sleep(void)
{
    return true;
}

static void end_sleep(unsigned microseconds)
{
    usleep(microseconds);
}

static void wake(void)
{
}

static void abort_peer(struct weft_foreign *foreign, int code)
{
    struct weft_tcp_peer *peer = weft_tcp_peer_get(foreign);
    if (peer)
        control(peer, &(struct weft_tcp_frame){.kind = WEFT_TCP_ABORT, .length = (uint32_t)code});
}

static void leave(void)
{
    weft_tcp_links_leave();
}

static void close_lane(void)
{
    weft_tcp_links_close();
    weft_tcp_stop_listening();
    weft_tcp_sockets_close();
}

static const struct weft_lane_sleep sleep_functions = {
    .sleep = sleep_until_event, .begin = begin_sleep, .end = end_sleep, .wake = wake};

static const struct weft_lane_foreign foreign_functions = {.open = weft_tcp_open,
                                                           .open_port = weft_tcp_open_port,
                                                           .close_port = weft_tcp_close_port,
                                                           .check_port = weft_tcp_check_port,
                                                           .take = weft_tcp_take,
                                                           .dial = weft_tcp_dial_port,
                                                           .step = weft_tcp_step,
                                                           .hang_up = weft_tcp_dial_free,
                                                           .sleep = weft_tcp_sleep,
                                                           .disconnect = weft_tcp_disconnect,
                                                           .forget = weft_tcp_forget,
                                                           .abort = abort_peer};

const struct weft_lane weft_tcp_lane = {.name = "tcp",
                                        .leave = leave,
                                        .close = close_lane,
                                        .reaches = reaches,
                                        .connect = connect_peer,
                                        .close_dead = weft_tcp_close_dead,
                                        .vci_numbers = one_vci_number,
                                        .send = start_send,
                                        .cancel = cancel_send,
                                        .revoke = send_revocation,
                                        .fetch = fetch,
                                        .matched = report_match,
                                        .kept = return_credits,
                                        .waits_for_peer = waits_for_peer,
                                        .abandon = end_wait,
                                        .describe = describe,
                                        .sleep = &sleep_functions,
                                        .foreign = &foreign_functions,
                                        .monitor = &weft_tcp_monitor,
                                        .progress = progress,
                                        .is_idle = weft_tcp_links_idle};
