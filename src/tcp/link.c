// SPDX-License-Identifier: BSD-3-Clause
/*
 * Connections of a peer, and their bytes: see tcp.h and tcp_internal.h.
 *
 * Invariant: a process is reported dead only when all that it sent has been read: after the end of
 * its connections to this one. If only a connection to it has failed, it does not end them; this
 * process closes them then, once nothing has come for READ_SECONDS.
 */
#include "core/base/clock.h"
#include "tcp/tcp_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

enum {
    LEAVING = 'L',
    LEAVE_MS = 5000,
    BYTES_AT_ONCE = 1 << 20,
    READ_SECONDS = 2,
    SILENCE_CHECK_SECONDS = 1
};

static struct weft_tcp_output *outputs; /* all */

/* Connections from processes that this one has forgotten, the first accepted first. What arrives is
 * dropped, until the process is met again: it may have had a communicator all the time, and then
 * keeps its connection. */
static struct weft_tcp_source *orphans;
static bool any_broken; /* a process whose connections weft_tcp_links_check closes */

struct weft_tcp_peer *weft_tcp_peer_of(const struct weft_peer *peer)
{
    struct weft_tcp_peer *state;
    memcpy(&state, peer->lane_state, sizeof state);
    return state;
}

static void append_source(struct weft_tcp_source **link, struct weft_tcp_source *source)
{
    while (*link) {
        weft_assert(*link != source);
        link = &(*link)->next;
    }
    *link = source;
    source->next = NULL;
}

static void take_orphans_of(struct weft_tcp_peer *peer);

struct weft_tcp_peer *weft_tcp_peer_get(struct weft_foreign *foreign)
{
    struct weft_peer *peer = foreign->peer ? foreign->peer : weft_peer_make(0, foreign->number);
    struct weft_tcp_peer *state = peer ? weft_tcp_peer_of(peer) : NULL;
    if (state || !peer)
        return state;
    state = calloc(1, sizeof *state);
    if (!state)
        return NULL;
    state->peer = peer;
    state->foreign = foreign;
    memcpy(peer->lane_state, &state, sizeof state);
    take_orphans_of(state);
    return state;
}

/* ---- Deaths */

static void close_source(struct weft_tcp_source *source)
{
    weft_tcp_close(&source->socket);
    weft_tcp_free_later(source);
}

/* The process is dead when nothing of it is left to be read. */
static void check_life(struct weft_tcp_peer *peer)
{
    const struct weft_contact *contact = &peer->foreign->contact;
    if (peer->sources || !(peer->broken || peer->left))
        return;
    if (!peer->foreign->dead)
        peer->foreign->left = peer->left;
    if (peer->left)
        weft_foreign_died(peer->foreign,
                          "rank %d of job %s on %s has called MPI_Finalize, and exchanges no more "
                          "messages",
                          contact->rank, contact->job_name, contact->host);
    else
        weft_foreign_died(peer->foreign, "rank %d of job %s on %s %s", contact->rank,
                          contact->job_name, contact->host, peer->why);
}

static void lose(struct weft_tcp_peer *peer, const char *why)
{
    if (!peer->broken)
        snprintf(peer->why, sizeof peer->why, "%s", why);
    peer->broken = true;
    peer->reads_until = weft_seconds() + READ_SECONDS;
    any_broken |= peer->sources != NULL;
    check_life(peer);
}

static void lose_connection(struct weft_tcp_peer *peer, int error)
{
    char why[200];
    if (error && error != ECONNRESET && error != EPIPE)
        snprintf(why, sizeof why, "cannot be reached any more: %s", strerror(error));
    else
        snprintf(why, sizeof why,
                 "ended before it called MPI_Finalize; see its output or its launcher's for the "
                 "reason");
    lose(peer, why);
}

/* ---- To a peer */

static void free_output(struct weft_tcp_output *output)
{
    struct weft_tcp_output **link = &outputs;
    while (*link != output)
        link = &(*link)->next;
    *link = output->next;
    weft_assert(!output->peer || output->peer->output == output);
    if (output->peer)
        output->peer->output = NULL;
    weft_tcp_dial_free(output->dial);
    weft_tcp_close(&output->socket);
    free(output->bytes);
    weft_tcp_free_later(output);
}

/* A connection has failed. Nothing of what waits can leave. */
static void fail_output(struct weft_tcp_output *output, int error)
{
    struct weft_tcp_peer *peer = output->peer;
    free_output(output);
    if (peer)
        lose_connection(peer, error);
}

static size_t waiting(const struct weft_tcp_output *output)
{
    weft_assert(output->begin <= output->end && output->end <= output->space);
    return output->end - output->begin;
}

size_t weft_tcp_waiting(const struct weft_tcp_peer *peer)
{
    return peer->output ? waiting(peer->output) : 0;
}

/* Sends what waits. False if the output was freed. */
static bool flush(struct weft_tcp_output *output)
{
    if (output->dial)
        return true;
    while (waiting(output) > 0) {
        ssize_t n =
            weft_tcp_write(output->socket.fd, output->bytes + output->begin, waiting(output));
        if (n < 0) {
            fail_output(output, errno);
            return false;
        }
        if (n == 0)
            break;
        output->begin += (size_t)n;
        if (output->peer && output->peer->pushing && waiting(output) < WEFT_TCP_QUEUE)
            weft_tcp_push(output->peer);
    }
    if (!waiting(output))
        output->begin = output->end = 0;
    if (!output->peer && !waiting(output)) { /* disconnected */
        free_output(output);
        return false;
    }
    uint32_t events = EPOLLIN | EPOLLRDHUP | (waiting(output) ? EPOLLOUT : 0);
    if (weft_tcp_watch(&output->socket, events)) {
        fail_output(output, errno);
        return false;
    }
    return true;
}

void weft_tcp_flush(struct weft_tcp_peer *peer)
{
    if (peer->output && !peer->output->dial)
        flush(peer->output);
}

/* Takes what a peer sends against the direction of the connection: a reply, or the byte of one that
 * leaves. False if it is wrong. */
static bool take_reply(struct weft_tcp_output *output)
{
    struct weft_tcp_peer *peer = output->peer;
    struct weft_tcp_frame frame = {.kind = output->reply[0]};
    if (output->reply[0] == LEAVING && peer) {
        memmove(output->reply, output->reply + 1, --output->replied);
        peer->left = true;
        check_life(peer);
        return !output->replied || take_reply(output); /* replies that it had to send may follow */
    }
    if (frame.kind != WEFT_TCP_CANCELLED && frame.kind != WEFT_TCP_TOO_LATE)
        return false;
    if (output->replied < sizeof output->reply)
        return true;
    output->replied = 0;
    memcpy(&frame.sender, output->reply + 1, sizeof frame.sender);
    return !peer || weft_tcp_arrived(peer, &frame, NULL);
}

/* Space, or bytes, or the end that a peer sends which has ended. */
static void output_ready(struct weft_tcp_socket *socket, uint32_t events)
{
    struct weft_tcp_output *output = (struct weft_tcp_output *)(void *)socket; /* first member */
    if (events & ~(uint32_t)EPOLLOUT) {
        ssize_t n = weft_tcp_read(socket->fd, output->reply + output->replied,
                                  sizeof output->reply - output->replied);
        output->replied += n > 0 ? (size_t)n : 0;
        if (n < 0 || (n > 0 && !take_reply(output))) {
            fail_output(output, n < 0 ? errno : EPROTO);
            return;
        }
        if (socket->fd < 0)
            return;
    }
    flush(output);
}

static void dialled(struct weft_dial *dial, void *arg)
{
    struct weft_tcp_output *output = arg;
    bool done = dial->done, left = dial->left > 0.0;
    char why[300];
    snprintf(why, sizeof why, "cannot be reached (%s)", dial->why);
    output->number = dial->hello.nonce.word[0];
    output->socket.fd = dial->socket.fd;
    dial->socket.fd = -1;
    output->dial = NULL;
    weft_tcp_dial_free(dial);
    if (done) {
        flush(output);
        return;
    }
    struct weft_tcp_peer *peer = output->peer;
    if (left)
        weft_warn("messages to a process of another job, sent before MPI_Comm_disconnect, are "
                  "lost: it %s",
                  why);
    free_output(output);
    if (peer)
        lose(peer, why);
}

/* The latest key of the pair first: the other process has it, or will have it. The others follow
 * when it refuses, because it may have failed to make the communicator of that key. */
static void choose_key(struct weft_dial *dial, void *arg)
{
    struct weft_tcp_output *output = arg;
    if (output->peer && output->foreign->nkeys > 0)
        dial->key = output->foreign->keys[output->hellos++ % (unsigned)output->foreign->nkeys];
}

void weft_tcp_connect(struct weft_tcp_peer *peer)
{
    struct weft_foreign *foreign = peer->foreign;
    struct weft_tcp_record record;
    weft_assert(weft_tcp_peer_of(foreign->peer) == peer);
    if (peer->output || peer->broken || foreign->dead || !foreign->nkeys)
        return;
    struct weft_tcp_output *output = calloc(1, sizeof *output);
    const struct weft_tcp_hello hello = {.purpose = WEFT_TCP_LINK,
                                         .to = foreign->contact.job,
                                         .to_rank = foreign->contact.rank,
                                         .from = weft_tcp_own.job,
                                         .from_rank = weft_tcp_own.rank};
    memcpy(&record, foreign->contact.lane, sizeof record);
    if (output)
        output->dial = weft_tcp_dial(&record, foreign->contact.host, &hello, foreign->keys[0]);
    if (!output || !output->dial)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for the connection to a process of another job");
    output->dial->prepare = choose_key;
    output->dial->ended = dialled;
    output->dial->arg = output;
    output->socket = (struct weft_tcp_socket){.fd = -1, .ready = output_ready};
    output->peer = peer;
    output->foreign = foreign;
    output->next = outputs;
    outputs = output;
    peer->output = output;
}

/* Makes space for so many bytes at the end. */
static void grow(struct weft_tcp_output *output, size_t bytes)
{
    if (output->space - output->end >= bytes)
        return;
    if (output->begin > 0)
        memmove(output->bytes, output->bytes + output->begin, waiting(output));
    output->end -= output->begin;
    output->begin = 0;
    if (output->space - output->end >= bytes)
        return;
    size_t space =
        2 * output->space > output->end + bytes ? 2 * output->space : output->end + bytes + 4096;
    unsigned char *longer = realloc(output->bytes, space);
    if (!longer)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for messages to rank %d of job %s",
                   output->foreign->contact.rank, output->foreign->contact.job_name);
    output->bytes = longer;
    output->space = space;
}

static unsigned char *append(struct weft_tcp_output *output, const struct weft_tcp_frame *frame)
{
    output->needed |= frame->kind != WEFT_TCP_CREDIT;
    grow(output, sizeof *frame + frame->payload);
    weft_assert(output->space - output->end >= sizeof *frame + frame->payload);
    memcpy(output->bytes + output->end, frame, sizeof *frame);
    unsigned char *payload = output->bytes + output->end + sizeof *frame;
    output->end += sizeof *frame + frame->payload;
    return payload;
}

unsigned char *weft_tcp_append(struct weft_tcp_peer *peer, const struct weft_tcp_frame *frame)
{
    weft_tcp_connect(peer);
    return peer->output ? append(peer->output, frame) : NULL;
}

/* ---- From a peer */

/* Takes the complete frames. False if one is wrong, or the source was closed. */
static bool take_frames(struct weft_tcp_source *source)
{
    struct weft_tcp_frame frame;
    while (source->end - source->begin >= sizeof frame) {
        memcpy(&frame, source->bytes + source->begin, sizeof frame);
        size_t bytes = sizeof frame + frame.payload;
        if (frame.payload > WEFT_TCP_CHUNK || frame.zero || source->ended)
            return false;
        if (source->end - source->begin < bytes)
            break;
        const unsigned char *payload = source->bytes + source->begin + sizeof frame;
        source->begin += bytes;
        source->used = true;
        if (frame.kind == WEFT_TCP_BYE) {
            source->ended = true;
            if (source->peer)
                source->peer->left |= frame.mode == 1;
        } else if (!source->peer) {
            weft_tcp_dropped(source, &frame);
        } else if (!weft_tcp_arrived(source->peer, &frame, payload)) {
            return false;
        }
        if (source->socket.fd < 0)
            return true;
    }
    weft_assert(source->begin <= source->end && source->end <= sizeof source->bytes);
    memmove(source->bytes, source->bytes + source->begin, source->end - source->begin);
    source->end -= source->begin;
    source->begin = 0;
    return true;
}

static void read_next(struct weft_tcp_peer *peer)
{
    if (peer->sources && weft_tcp_watch(&peer->sources->socket, EPOLLIN))
        lose_connection(peer, errno);
}

static void remove_orphan(struct weft_tcp_source *source)
{
    struct weft_tcp_source **link = &orphans;
    while (*link != source)
        link = &(*link)->next;
    *link = source->next;
}

void weft_tcp_reply(struct weft_tcp_source *source, enum weft_tcp_kind kind, uint64_t number)
{
    unsigned char reply[WEFT_TCP_REPLY_BYTES] = {(unsigned char)kind};
    memcpy(reply + 1, &number, sizeof number);
    ssize_t n = weft_tcp_write(source->socket.fd, reply, sizeof reply);
    if (n != sizeof reply) /* after thousands of replies that the peer has not read */
        shutdown(source->socket.fd, SHUT_RDWR);
}

/* The first connection of a peer has ended, or one of a process that was forgotten. error: of it,
 * or 0. If no frame has come, the process that made the connection may not need it any more. */
static void end_source(struct weft_tcp_source *source, int error)
{
    struct weft_tcp_peer *peer = source->peer;
    bool ended = source->ended || !source->used;
    weft_assert(source->socket.fd >= 0);
    if (!peer) {
        remove_orphan(source);
        close_source(source);
        return;
    }
    weft_assert(peer->sources == source);
    peer->sources = source->next;
    close_source(source);
    if (!ended)
        lose_connection(peer, error);
    check_life(peer);
    read_next(peer);
}

/* The process would take the end of its connection for the death of this one. */
static void orphan(struct weft_tcp_source *source)
{
    source->job = source->peer->foreign->contact.job;
    source->rank = source->peer->foreign->contact.rank;
    source->peer = NULL;
    append_source(&orphans, source);
    if (weft_tcp_watch(&source->socket, EPOLLIN)) {
        remove_orphan(source);
        close_source(source);
    }
}

static void take_orphans_of(struct weft_tcp_peer *peer)
{
    const struct weft_contact *contact = &peer->foreign->contact;
    for (struct weft_tcp_source *source = orphans, *next; source; source = next) {
        next = source->next;
        if (source->rank != contact->rank || !weft_key_same(source->job, contact->job))
            continue;
        remove_orphan(source);
        weft_tcp_unwatch(&source->socket);
        source->peer = peer;
        append_source(&peer->sources, source);
    }
    read_next(peer);
}

/* If the process was forgotten, and this one has a communicator with it again, whose peer may not
 * have been made yet: makes it. Returns false if the source is not to be read now. */
static bool find_peer(struct weft_tcp_source *source)
{
    struct weft_foreign *foreign =
        source->peer ? NULL : weft_foreign_find(source->job, source->rank);
    if (foreign && foreign->comms > 0 && !weft_tcp_peer_get(foreign))
        weft_fatal(MPI_ERR_NO_MEM, "no memory for the connection of a process of another job");
    return !source->peer || source->peer->sources == source;
}

static void source_ready(struct weft_tcp_socket *socket, uint32_t events)
{
    struct weft_tcp_source *source = (struct weft_tcp_source *)(void *)socket; /* first member */
    (void)events;
    if (!find_peer(source))
        return;
    for (size_t taken = 0; taken < BYTES_AT_ONCE;) {
        ssize_t n = weft_tcp_read(socket->fd, source->bytes + source->end,
                                  sizeof source->bytes - source->end);
        if (n == 0)
            return;
        if (n < 0) {
            end_source(source, errno);
            return;
        }
        source->end += (size_t)n;
        taken += (size_t)n;
        if (!take_frames(source)) {
            if (source->peer)
                weft_warn(
                    "rank %d of job %s has sent what no process sends; its connection is closed",
                    source->peer->foreign->contact.rank, source->peer->foreign->contact.job_name);
            source->ended = false;
            source->used = true;
            end_source(source, EPROTO);
            return;
        }
        if (socket->fd < 0)
            return;
    }
}

/* Fails the connections whose network is cut. */
static void fail_silent(double now)
{
    static double checked;
    if (now < checked + SILENCE_CHECK_SECONDS)
        return;
    checked = now;
    for (struct weft_tcp_output *output = outputs, *next; output; output = next) {
        next = output->next;
        if (!output->dial && weft_tcp_is_silent(output->socket.fd))
            fail_output(output, ETIMEDOUT);
    }
}

/* Closes the connections of processes to which this one's has failed, when nothing comes on them
 * any more. */
void weft_tcp_links_check(void)
{
    struct weft_foreign *foreign = NULL;
    double now = any_broken || outputs ? weft_seconds() : 0.0;
    fail_silent(now);
    if (!any_broken)
        return;
    any_broken = false;
    while ((foreign = weft_foreign_next(foreign))) {
        struct weft_tcp_peer *peer = foreign->peer ? weft_tcp_peer_of(foreign->peer) : NULL;
        if (!peer || !peer->broken || !peer->sources)
            continue;
        any_broken = true;
        struct pollfd readable = {.fd = peer->sources->socket.fd, .events = POLLIN};
        if (now < peer->reads_until)
            continue;
        if (poll(&readable, 1, 0) > 0)
            peer->reads_until = now + READ_SECONDS;
        else
            end_source(peer->sources, 0);
    }
}

void weft_tcp_accept(struct weft_foreign *foreign, int fd, uint64_t number)
{
    struct weft_tcp_peer *peer = weft_tcp_peer_get(foreign);
    struct weft_tcp_source *source = peer ? malloc(sizeof *source) : NULL;
    if (!source)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for the connection of a process of another job");
    source->socket = (struct weft_tcp_socket){.fd = fd, .ready = source_ready};
    source->peer = peer;
    source->ended = source->used = false;
    source->number = number;
    source->arrived = source->granted = 0;
    source->begin = source->end = 0;
    append_source(&peer->sources, source);
    if (peer->sources == source)
        read_next(peer);
    if (foreign->comms > 0)
        weft_tcp_connect(peer); /* its end shows the end of the process */
}

/* ---- The end of a connection */

static void send_bye(struct weft_tcp_output *output, uint8_t leaves)
{
    append(output, &(struct weft_tcp_frame){.kind = WEFT_TCP_BYE, .mode = leaves});
}

void weft_tcp_disconnect(struct weft_foreign *foreign)
{
    struct weft_tcp_peer *peer = foreign->peer ? weft_tcp_peer_of(foreign->peer) : NULL;
    struct weft_tcp_output *output = peer ? peer->output : NULL;
    if (!output)
        return;
    if (output->dial && !output->needed) {
        free_output(output);
        return;
    }
    if (output->dial)
        weft_tcp_dial_leave(output->dial);
    send_bye(output, 0);
    output->peer = NULL;
    peer->output = NULL;
    flush(output);
}

static void close_links(struct weft_tcp_peer *peer)
{
    if (peer->output)
        free_output(peer->output);
    while (peer->sources) {
        struct weft_tcp_source *source = peer->sources;
        peer->sources = source->next;
        orphan(source);
    }
    peer->pushing = NULL;
}

void weft_tcp_close_dead(struct weft_peer *peer)
{
    if (weft_tcp_peer_of(peer))
        close_links(weft_tcp_peer_of(peer));
}

void weft_tcp_forget(struct weft_foreign *foreign)
{
    struct weft_tcp_peer *peer = foreign->peer ? weft_tcp_peer_of(foreign->peer) : NULL;
    if (!peer)
        return;
    close_links(peer);
    memset(foreign->peer->lane_state, 0, sizeof peer);
    free(peer);
}

bool weft_tcp_links_idle(void)
{
    for (struct weft_tcp_output *output = outputs; output; output = output->next)
        if (waiting(output) || (output->peer && output->peer->pushing))
            return false;
    return true;
}

/* The peers of this process learn that it leaves: those that receive from it by BYE, those that
 * send to it by a byte. */
void weft_tcp_links_leave(void)
{
    struct weft_foreign *foreign = NULL;
    const char leaving = LEAVING;
    for (struct weft_tcp_output *output = outputs, *next; output; output = next) {
        next = output->next;
        if (output->dial) {
            free_output(output);
        } else {
            send_bye(output, 1);
            flush(output);
        }
    }
    while ((foreign = weft_foreign_next(foreign))) {
        struct weft_tcp_peer *peer = foreign->peer ? weft_tcp_peer_of(foreign->peer) : NULL;
        for (struct weft_tcp_source *s = peer ? peer->sources : NULL; s; s = s->next)
            weft_tcp_write(s->socket.fd, &leaving, 1);
    }
    for (struct weft_tcp_source *s = orphans; s; s = s->next)
        weft_tcp_write(s->socket.fd, &leaving, 1);
    for (int ms = 0; ms < LEAVE_MS && !weft_tcp_links_idle(); ms++) {
        weft_tcp_handle_events();
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

void weft_tcp_links_close(void)
{
    struct weft_foreign *foreign = NULL;
    while ((foreign = weft_foreign_next(foreign)))
        weft_tcp_forget(foreign);
    while (outputs)
        free_output(outputs);
    while (orphans) {
        struct weft_tcp_source *source = orphans;
        orphans = source->next;
        close_source(source);
    }
}
