// SPDX-License-Identifier: BSD-3-Clause
/*
 * Handshakes of this process with listeners: see tcp_internal.h and handshake.h. The addresses of a
 * listener are tried one after the other. Each of the two processes may compute for hours between
 * the steps of a handshake, so only connect() has a time limit. A listener keeps a caller for some
 * seconds only, so the dial of a link that the listener has closed tries all addresses again.
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

/* A link is not made if no address has accepted for UNREACHABLE_SECONDS, as long as keepalive takes
 * to find that a host has failed. REFUSED_SECONDS: after so long the user gets a sentence. */
enum { CONNECT_SECONDS = 10, UNREACHABLE_SECONDS = 60, REFUSED_SECONDS = 60, LEFT_SECONDS = 60 };

/* Seconds between two rounds over the addresses; the first of the dial, and the longest. */
static const double first_pause = 0.05, longest_pause = 1.0;

static struct weft_dial *dials; /* that are active */

static void end_dial(struct weft_dial *dial)
{
    struct weft_dial **link = &dials;
    while (*link != dial)
        link = &(*link)->next;
    *link = dial->next;
    if (dial->ended)
        dial->ended(dial, dial->arg);
}

static void try_addresses(struct weft_dial *dial);

static void pause_dial(struct weft_dial *dial, double seconds)
{
    weft_tcp_close(&dial->socket);
    dial->state = WEFT_DIAL_PAUSES;
    dial->deadline = weft_seconds() + seconds;
}

/* The process has no key of the pair yet, or the hello of this one came too late. */
WEFT_COLD static void report_refusal(struct weft_dial *dial)
{
    dial->warned = true;
    weft_warn("rank %d of another job has refused the connection for %d s (%s); this process tries "
              "again until that one accepts it or has ended",
              dial->hello.to_rank, REFUSED_SECONDS, dial->why);
}

/* No address is left. Returns true if all are to be tried again. */
static bool begins_again(struct weft_dial *dial)
{
    double now = weft_seconds();
    if (dial->hello.purpose != WEFT_TCP_LINK || !dial->record.count)
        return false;
    if (dial->closed) {
        dial->accepted = now;
        if (!dial->warned && now - dial->began > REFUSED_SECONDS)
            report_refusal(dial);
        return dial->left <= 0.0 || now - dial->left < LEFT_SECONDS;
    }
    return dial->silent && now - dial->accepted < UNREACHABLE_SECONDS;
}

static void end_round(struct weft_dial *dial)
{
    if (!begins_again(dial)) {
        dial->failed = true;
        end_dial(dial);
        return;
    }
    dial->index = 0;
    dial->closed = dial->silent = false;
    dial->pause = dial->pause > 0.0 ? 2 * dial->pause : first_pause;
    if (dial->pause > longest_pause)
        dial->pause = longest_pause;
    pause_dial(dial, dial->pause);
}

/* An address has failed. The first failure of a round is the one to report, because the first
 * address suits best. */
static void try_next(struct weft_dial *dial, const char *what)
{
    char address[64];
    if (!dial->index)
        snprintf(dial->why, sizeof dial->why, "%s, port %u: %s",
                 weft_tcp_address_text(dial->record.address[0], address, sizeof address),
                 dial->record.port, what);
    weft_tcp_close(&dial->socket);
    dial->index++;
    try_addresses(dial);
}

/* A shortage of this process, as of descriptors, is no failure of the other one. */
static void address_failed(struct weft_dial *dial, int error)
{
    if (weft_tcp_is_shortage(error))
        pause_dial(dial, longest_pause);
    else
        try_next(dial, strerror(error));
}

static void try_addresses(struct weft_dial *dial)
{
    struct sockaddr_storage name;
    unsigned len;
    if (dial->index >= dial->record.count) {
        end_round(dial);
        return;
    }
    weft_assert(dial->socket.fd < 0);
    dial->state = WEFT_DIAL_CONNECTS;
    dial->have = 0;
    dial->deadline = weft_seconds() + CONNECT_SECONDS;
    dial->socket.events = 0;
    dial->socket.fd =
        weft_tcp_socket_for(dial->record.address[dial->index], dial->record.port, &name, &len);
    if (dial->socket.fd < 0 ||
        (connect(dial->socket.fd, (struct sockaddr *)&name, len) && errno != EINPROGRESS) ||
        weft_tcp_watch(&dial->socket, EPOLLOUT))
        address_failed(dial, errno);
}

static void send_hello(struct weft_dial *dial)
{
    weft_assert(dial->socket.fd >= 0 && dial->have == sizeof dial->nonce);
    if (!weft_key_random(&dial->hello.nonce)) {
        try_next(dial, "the system gives no random numbers (getrandom)");
        return;
    }
    if (dial->prepare)
        dial->prepare(dial, dial->arg);
    weft_tcp_hello_sign(&dial->hello, dial->key, dial->nonce);
    /* The socket has sent nothing yet, so it has space. */
    if (weft_tcp_write(dial->socket.fd, &dial->hello, sizeof dial->hello) !=
        (ssize_t)sizeof dial->hello) {
        try_next(dial, strerror(errno));
        return;
    }
    dial->state = WEFT_DIAL_READS_ANSWER;
    dial->have = 0;
}

static void connected(struct weft_dial *dial)
{
    int error = 0;
    socklen_t len = sizeof error;
    if (getsockopt(dial->socket.fd, SOL_SOCKET, SO_ERROR, &error, &len) || error ||
        weft_tcp_watch(&dial->socket, EPOLLIN)) {
        address_failed(dial, error ? error : errno);
        return;
    }
    weft_tcp_set_options(dial->socket.fd);
    dial->state = WEFT_DIAL_READS_NONCE;
}

static void read_key(struct weft_dial *dial, struct weft_key *into)
{
    ssize_t n =
        weft_tcp_read(dial->socket.fd, (char *)into + dial->have, sizeof *into - dial->have);
    if (n < 0) {
        bool nonce = dial->state == WEFT_DIAL_READS_NONCE;
        dial->closed = true;
        try_next(dial, errno   ? strerror(errno)
                       : nonce ? "the process has ended or does not accept calls any more"
                               : "the process refuses the call: the port is closed, or is not of "
                                 "this version of Weft");
        return;
    }
    dial->have += (size_t)n;
    if (dial->have < sizeof *into)
        return;
    if (dial->state == WEFT_DIAL_READS_NONCE) {
        send_hello(dial);
    } else if (!weft_key_same(dial->answer,
                              weft_tcp_answer(&dial->hello, dial->key, dial->nonce))) {
        try_next(dial, "the process that answers is another one");
    } else {
        weft_tcp_unwatch(&dial->socket);
        dial->done = true;
        end_dial(dial);
    }
}

static void ready(struct weft_tcp_socket *socket, uint32_t events)
{
    struct weft_dial *dial = (struct weft_dial *)(void *)socket; /* its first member */
    (void)events;
    if (dial->state == WEFT_DIAL_CONNECTS)
        connected(dial);
    else
        read_key(dial, dial->state == WEFT_DIAL_READS_NONCE ? &dial->nonce : &dial->answer);
}

struct weft_dial *weft_tcp_dial(const struct weft_tcp_record *record, const char *host,
                                const struct weft_tcp_hello *hello, struct weft_key key)
{
    struct weft_dial *dial = calloc(1, sizeof *dial);
    if (!dial)
        return NULL;
    dial->socket = (struct weft_tcp_socket){.fd = -1, .ready = ready};
    dial->hello = *hello;
    weft_tcp_addresses_of(record, host, &dial->record);
    dial->key = key;
    dial->began = dial->accepted = weft_seconds();
    dial->next = dials;
    dials = dial;
    snprintf(dial->why, sizeof dial->why,
             "it listens at no address that other hosts can reach; see WEFT_IFACE of that job");
    return dial;
}

void weft_tcp_dial_leave(struct weft_dial *dial)
{
    dial->left = weft_seconds();
}

void weft_tcp_dial_free(struct weft_dial *dial)
{
    struct weft_dial **link = &dials;
    if (!dial)
        return;
    while (*link && *link != dial)
        link = &(*link)->next;
    if (*link)
        *link = dial->next;
    weft_tcp_close(&dial->socket);
    weft_tcp_free_later(dial);
}

static bool is_connected(const struct weft_dial *dial)
{
    struct pollfd end = {.fd = dial->socket.fd, .events = POLLOUT};
    return poll(&end, 1, 0) > 0;
}

/* Starts the new ones and those whose pause is over, and ends what takes too long. */
void weft_tcp_dials_check(void)
{
    double now = dials ? weft_seconds() : 0.0;
    for (struct weft_dial *dial = dials, *next; dial; dial = next) {
        next = dial->next;
        if (dial->state == WEFT_DIAL_PAUSES ? now > dial->deadline : dial->socket.fd < 0) {
            try_addresses(dial);
        } else if (dial->state == WEFT_DIAL_CONNECTS && now > dial->deadline) {
            /* This process may have computed since then. */
            if (is_connected(dial)) {
                connected(dial);
            } else {
                dial->silent = true;
                try_next(dial, "no answer for 10 s");
            }
        }
    }
}
