// SPDX-License-Identifier: BSD-3-Clause
/*
 * A lane for tests: messages between the processes of a node through UNIX-domain datagram sockets,
 * which lose nothing and keep the order. All messages take the core's general path. The data of a
 * long message are in a segment of shared memory until they were copied.
 *
 * Invariant: frames to a peer leave in the order of the calls; those for which its socket has no
 * space wait in its backlog.
 */
#include "lanes/lanes.h"

#include "core/base/error.h"
#include "core/base/segment.h"
#include "core/message/lane_fast.h"
#include "self/self.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { NUMBER = WEFT_LANE_TCP + 1, SHORT = 16 << 10, FETCH_SECONDS = 60, SEGMENT_HEAD = 64 };
enum kind { EAGER, ANNOUNCED, ACK, CANCEL, CANCELLED, TOO_LATE };

struct head {
    uint8_t kind, mode;
    int32_t from, source, tag;         /* from: rank in MPI_COMM_WORLD */
    uint32_t context, id;              /* id: number of the message among those to this rank */
    uint64_t sender, length;           /* number of the send; bytes of the message */
    struct weft_segment_record record; /* ANNOUNCED */
};

struct frame {
    struct weft_backlog_entry out;
    size_t bytes;
    struct head head; /* the data follow */
    unsigned char data[];
};

struct state {  /* of a send */
    bool waits; /* for ACK */
    struct weft_segment segment;
};

struct peer_state {
    struct sockaddr_un address;
    socklen_t length;
    uint32_t sent;
};

_Static_assert(sizeof(struct state) <= WEFT_LANE_SCRATCH, "lane state of a request");
_Static_assert(sizeof(struct peer_state) <= WEFT_PEER_LANE_BYTES, "lane state of a peer");

static int fd = -1;
static size_t waiting; /* frames in backlogs */

static struct state *state_of(const struct weft_request *request)
{
    return (struct state *)(uintptr_t)request->lane;
}

static struct peer_state *peer_of(const struct weft_peer *peer)
{
    return (struct peer_state *)(uintptr_t)peer->lane_state;
}

/* ---- Frames */

/* False if the peer's socket is full. What is sent to a process that has ended is lost. */
static bool try_to_send(const struct weft_peer *peer, const struct frame *frame)
{
    struct peer_state *to = peer_of(peer);
    ssize_t n = sendto(fd, &frame->head, sizeof frame->head + frame->bytes, MSG_DONTWAIT,
                       (struct sockaddr *)&to->address, to->length);
    return n >= 0 || (errno != EAGAIN && errno != ENOBUFS && errno != ENOMEM);
}

/* Sends a frame, with the data of a send unless bytes is 0. */
static void post(struct weft_peer *peer, struct head head, const struct weft_request *send,
                 size_t bytes)
{
    struct frame *frame = malloc(sizeof *frame + bytes);
    if (!frame)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for a frame");
    frame->head = head;
    frame->head.from = weft.job.rank;
    frame->bytes = bytes;
    if (bytes)
        weft_datatype_pack(send->type, send->buffer, 0, frame->data, bytes);
    if (!peer->backlog.first && try_to_send(peer, frame)) {
        free(frame);
    } else {
        weft_backlog_append(peer, &frame->out, false);
        waiting++;
    }
}

static void reply(struct weft_peer *peer, enum kind kind, uint64_t sender)
{
    post(peer, (struct head){.kind = (uint8_t)kind, .sender = sender}, NULL, 0);
}

/* Sends what waits, or drops it. */
static void empty_backlog(struct weft_peer *peer)
{
    for (; peer->backlog.first; waiting--) {
        struct frame *frame = (struct frame *)(void *)peer->backlog.first;
        if (!peer->dead && !try_to_send(peer, frame))
            break;
        weft_backlog_pop(peer, &frame->out, frame->out.next);
        free(frame);
    }
}

/* ---- Messages */

static struct head head_of(const struct weft_request *send, enum kind kind)
{
    struct head head = {.kind = (uint8_t)kind, .mode = send->mode, .tag = send->tag};
    head.context = send->channel->context;
    head.source = send->channel->rank;
    head.id = send->sequence;
    head.sender = send->number;
    head.length = send->bytes;
    return head;
}

static int start_send(struct weft_request *send)
{
    struct state *state = state_of(send);
    bool eager = send->bytes <= SHORT;
    send->sequence = ++peer_of(send->peer)->sent;
    struct head head = head_of(send, eager ? EAGER : ANNOUNCED);
    *state = (struct state){.waits = !eager || send->mode == WEFT_SEND_SYNCHRONOUS,
                            .segment = {.fd = -1}};
    if (!eager && weft_segment_make(SEGMENT_HEAD + send->bytes, &state->segment, &head.record))
        weft_fatal(MPI_ERR_NO_MEM, "no memory for a message of %zu bytes", send->bytes);
    if (!eager)
        weft_datatype_pack(send->type, send->buffer, 0, state->segment.at + SEGMENT_HEAD,
                           send->bytes);
    post(send->peer, head, send, eager ? send->bytes : 0);
    if (!state->waits)
        weft_request_event(send);
    return MPI_SUCCESS;
}

/* ACK has arrived, or will not. */
static void end_wait(struct weft_request *send)
{
    weft_segment_unmap(&state_of(send)->segment);
    state_of(send)->waits = false;
    weft_request_event(send);
}

static void cancel_send(struct weft_request *send)
{
    send->flags |= WEFT_REQUEST_CANCELLING;
    send->pending++;
    post(send->peer, head_of(send, CANCEL), send, 0);
}

static void cancel_replied(struct weft_request *send, bool cancelled)
{
    send->flags &= (uint8_t)~WEFT_REQUEST_CANCELLING;
    send->flags |= cancelled ? WEFT_REQUEST_CANCELLED : 0;
    if (cancelled && state_of(send)->waits)
        end_wait(send);
    weft_request_event(send);
}

static void fetch(struct weft_request *receive, const void *header)
{
    const struct head *head = header;
    struct weft_segment segment = {.fd = -1};
    if (weft_segment_join(&head->record, &segment))
        weft_fatal(MPI_ERR_OTHER, "the segment of rank %d cannot be opened", head->from);
    weft_datatype_unpack(receive->type, receive->buffer, 0, segment.at + SEGMENT_HEAD,
                         weft_request_fit(receive, head->length));
    weft_segment_unmap(&segment);
    reply(receive->peer, ACK, head->sender);
    weft_request_event(receive);
}

static void report_match(const struct weft_request *receive, const struct weft_arrival *message)
{
    if (message->mode == WEFT_SEND_SYNCHRONOUS)
        reply(receive->peer, ACK, message->cookie);
}

/* ---- Progress */

static void arrived(const struct frame *frame)
{
    const struct head *head = &frame->head;
    struct weft_matcher *matcher = &weft.vcis[0].matcher;
    struct weft_request *send = weft_request_numbered(head->sender);
    bool eager = head->kind == EAGER;
    // clang-format off
    struct weft_arrival message = {
        .context = head->context, .source = head->source, .tag = head->tag, .lane = NUMBER,
        .mode = head->mode, .location = eager ? WEFT_DATA_HERE : WEFT_DATA_AT_SENDER,
        .peer = weft_peer_get(0, head->from), .data = eager ? (const void *)frame->data : head,
        .bytes = eager ? frame->bytes : sizeof *head, .length = head->length, .id = head->id,
        .cookie = head->sender};
    // clang-format on
    if (!message.peer || message.peer->dead)
        return;
    if (head->kind <= ANNOUNCED)
        weft_sw_arrive(matcher, &message);
    else if (head->kind == ACK)
        end_wait(send);
    else if (head->kind == CANCEL)
        reply(message.peer, weft_sw_revoke(matcher, &message) ? CANCELLED : TOO_LATE, head->sender);
    else
        cancel_replied(send, head->kind == CANCELLED);
}

static int progress(unsigned vci)
{
    _Alignas(16) static unsigned char space[sizeof(struct frame) + SHORT];
    struct frame *frame = (struct frame *)(void *)space;
    int events = 0;
    ssize_t n;
    for (int rank = 0; waiting && rank < weft.job.size; rank++)
        if (weft_peer_find(0, rank))
            empty_backlog(weft_peer_find(0, rank));
    while (!vci && (n = recv(fd, &frame->head, sizeof frame->head + SHORT, MSG_DONTWAIT)) > 0) {
        frame->bytes = (size_t)n - sizeof frame->head;
        arrived(frame);
        events++;
    }
    return events;
}

static bool is_idle(void)
{
    return waiting == 0;
}

static bool waits_for_peer(const struct weft_request *request)
{
    return state_of(request)->waits;
}

static const char *describe(const struct weft_request *request)
{
    return waits_for_peer(request) ? "waits for the other rank" : "complete";
}

/* The kernel gives the socket an abstract name that nothing else on this host has. */
static int open_lane(const struct weft_job *job, unsigned vcis, uint64_t network, char *why,
                     size_t len)
{
    struct peer_state own = {.address.sun_family = AF_UNIX, .length = sizeof own.address};
    struct sockaddr *address = (struct sockaddr *)&own.address;
    (void)job, (void)vcis, (void)network;
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && !bind(fd, address, sizeof(sa_family_t)) &&
        !getsockname(fd, address, &own.length))
        return weft_boot_publish("lane", &own, sizeof own, why, len);
    snprintf(why, len, "no socket for the lane of tests: %s", strerror(errno));
    return -1;
}

static bool is_one_node(const struct weft_job *job)
{
    return job->one_node;
}

static bool reaches(int world)
{
    return weft.job.one_node && world != weft.job.rank;
}

static int connect_peer(struct weft_peer *peer, char *why, size_t len)
{
    size_t bytes = sizeof(struct peer_state);
    const char *refused = getenv("WEFT_TEST_NO_CONTACT"); /* "FROM TO" */
    int from, to;
    if (refused && sscanf(refused, "%d %d", &from, &to) == 2 && from == weft.job.rank &&
        to == peer->world) {
        snprintf(why, len, "the test refuses the contact");
        return -1;
    }
    return weft_boot_fetch(peer->world, "lane", peer_of(peer), &bytes, FETCH_SECONDS, why, len);
}

static unsigned one_vci(void)
{
    return 1;
}

// clang-format off
static const struct weft_lane socket_lane = {
    .name = "socket", .expects_all = is_one_node, .open = open_lane, .reaches = reaches,
    .connect = connect_peer, .close_dead = empty_backlog, .vci_numbers = one_vci,
    .send = start_send, .cancel = cancel_send, .fetch = fetch, .matched = report_match,
    .waits_for_peer = waits_for_peer, .abandon = end_wait, .describe = describe,
    .progress = progress, .is_idle = is_idle};
// clang-format on

/* In place of src/lanes/lanes.c. */
const struct weft_lane *const weft_lane_list[WEFT_LANES_MAX] = {
    [WEFT_LANE_SELF] = &weft_self_lane, [NUMBER] = &socket_lane};
