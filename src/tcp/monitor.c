// SPDX-License-Identifier: BSD-3-Clause
/*
 * Detection of dead ranks by TCP connections of its own, in a job that goes on without them
 * (WEFT_KEEP_GOING), for launchers that report no deaths.
 *
 * Each rank has a thread with a listening socket, and connects to the ranks that follow it at a
 * distance of 1, 2, 4, 8 and so on; a dead one is replaced by the next rank. A connection monitors
 * both ranks:
 *  - it ends without BYE: the process has ended;
 *  - the other host answers nothing for WEFT_NETWORK_TIMEOUT: the host or the network is lost;
 *  - no BEAT arrives for WEFT_STOPPED_TIMEOUT: the process is stopped, though its host answers.
 * Each rank sends all deaths that it has a report of, from whichever source, on all its
 * connections. So all living ranks receive each death, whichever ranks die meanwhile, because the
 * connections at distance 1 make a ring of them. A rank that receives its own death ends: the
 * others take no message from it any more.
 *
 * The thread sleeps but for one look a second. Messages of the lanes need nothing of it.
 *
 * Invariants:
 *  - From `begin` on only the thread uses the links, until `end` has joined it.
 *  - A link sends the deaths in the order of weft_boot_failure_at, each once.
 *  - A link made in MPI_Init that never opens is no death, but a network that forbids it: all ranks
 *    live until the fence that follows.
 */
#include "core/base/clock.h"
#include "core/base/settings.h"
#include "tcp/tcp_internal.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECT_SECONDS = 3, FIRST_SECONDS = 30, FETCH_SECONDS = 10 };
enum { BEAT_SECONDS = 15, BEATS = 4 }; /* seconds between beats; least number in the time limit */
enum { REPORT_SECONDS = 1 };           /* that a launcher's report may take */
enum { STRANGERS_MAX = 64, GREETING_SECONDS = 10 };

static const double PAUSE = 0.25; /* seconds between two rounds over the addresses of a rank */

/* The addresses at which a rank listens, which it publishes. */
struct contact {
    struct weft_tcp_record record;
    struct weft_key key;
};
static const char contact_key[] = "monitor";

enum frame_kind { BEAT = 1, DEATH, BYE };
struct frame {
    uint32_t kind;
    int32_t rank; /* of a death */
};

enum state {
    PAUSES,        /* before the next round over the addresses */
    CONNECTS,      /* to an address */
    AWAITS_NONCE,  /* of the listener */
    AWAITS_ANSWER, /* to the hello */
    AWAITS_HELLO,  /* of a caller */
    OPEN,
    ENDED,       /* the rank is dead, which the launcher will report */
    SILENCED,    /* the rank counts as dead: nothing is read or sent any more */
    UNREACHABLE, /* never opened in MPI_Init */
    CLOSED
};

struct link {
    struct link *next;
    enum state state;
    int fd;   /* or -1 */
    int rank; /* -1: a caller that has not proved who it is */
    bool first, left;
    double since, until;    /* the first attempt began; the state changes at the latest; seconds */
    double silent;          /* seconds without a byte */
    int deaths_sent;        /* deaths that were sent */
    struct contact contact; /* of the rank, if this one calls */
    unsigned address, refused;
    struct weft_key nonce;
    struct weft_tcp_hello hello;
    union {
        struct weft_key key;
        struct weft_tcp_hello hello;
        struct frame frame;
    } in;
    size_t have; /* bytes of `in` */
    struct frame out;
    size_t unsent; /* bytes of `out` */
};

static struct {
    bool runs;
    pthread_t thread;
    int listener, wake; /* sockets and an eventfd, or -1 */
    struct contact own;
    const int32_t *first; /* the lowest rank on the node of each rank, or NULL: not known */
    struct link *links;
    unsigned strangers;
    bool initial;   /* links that are made now are first ones */
    double limit;   /* WEFT_STOPPED_TIMEOUT */
    double period;  /* between two looks, seconds */
    double beat_at; /* seconds */
    atomic_bool met, stops, any_left;
} monitor = {.listener = -1, .wake = -1};

/* ---- Deaths */

static void report(const struct link *link, const char *why)
{
    if (link->rank < 0 || link->left || weft_boot_has_failed(link->rank))
        return;
    if (why) {
        char host[256];
        weft_warn("rank %d on %s %s, and counts as dead from now on", link->rank,
                  weft_boot_host(link->rank, host, sizeof host), why);
    }
    weft_boot_report_failure(link->rank);
}

_Noreturn static void end_as_dead(const struct link *link)
{
    char host[256];
    weft_warn("rank %d on %s reports that this rank counts as dead, because it was stopped or its "
              "network was lost for too long (WEFT_STOPPED_TIMEOUT, WEFT_NETWORK_TIMEOUT); the "
              "other ranks go on without it, so it ends",
              link->rank, weft_boot_host(link->rank, host, sizeof host));
    _exit(1);
}

/* The host of the link's rank does not answer, nor do its other ranks. */
static void report_host(const struct link *link, const char *why)
{
    report(link, why);
    for (int rank = 0; monitor.first && rank < weft.job.size; rank++)
        if (monitor.first[rank] == monitor.first[link->rank])
            weft_boot_report_failure(rank);
}

static void close_link(struct link *link)
{
    if (link->state == AWAITS_HELLO)
        monitor.strangers--;
    if (link->fd >= 0)
        close(link->fd);
    link->fd = -1;
    link->state = CLOSED;
}

/* The process of the link's rank has ended. In a job of weftrun no other rank may act on that
 * before weftrun has reported it, because its exit code is that of the first rank that failed. */
static void process_ended(struct link *link)
{
    bool reported = strcmp(weft.job.launcher, "weftrun") == 0 && !link->left;
    if (!reported)
        report(link, NULL);
    close_link(link);
    if (!reported)
        return;
    link->state = ENDED;
    link->until = weft_seconds() + REPORT_SECONDS;
}

/* ---- Frames */

/* False if the socket takes nothing more now. */
static bool send_rest(struct link *link)
{
    const char *end = (const char *)(&link->out + 1);
    ssize_t n = link->unsent ? weft_tcp_write(link->fd, end - link->unsent, link->unsent) : 0;
    link->unsent -= n > 0 ? (size_t)n : 0; /* an error is found by the next read */
    return link->unsent == 0;
}

static bool send_frame(struct link *link, enum frame_kind kind, int rank)
{
    if (!send_rest(link))
        return false;
    link->out = (struct frame){kind, rank};
    link->unsent = sizeof link->out;
    send_rest(link);
    return true;
}

static void send_deaths(struct link *link)
{
    int rank;
    while (link->state == OPEN && weft_boot_failure_at(link->deaths_sent, &rank)) {
        if (rank != WEFT_BOOT_LAUNCHER && !send_frame(link, DEATH, rank))
            return;
        link->deaths_sent++;
    }
    if (link->state == OPEN && send_rest(link) && weft_boot_has_failed(link->rank)) {
        shutdown(link->fd, SHUT_WR); /* not closed, so that what was sent arrives */
        link->state = SILENCED;
    }
}

static void take_frame(struct link *link)
{
    const struct frame *frame = &link->in.frame;
    if (frame->kind == DEATH && frame->rank == weft.job.rank)
        end_as_dead(link);
    if (frame->kind == DEATH)
        weft_boot_report_failure(frame->rank); /* which checks the number */
    if (frame->kind == BYE) {
        link->left = true;
        atomic_store(&monitor.any_left, true);
    }
}

/* ---- Connections to other ranks */

static void dial(struct link *link, double now);

/* No address leads to the rank. */
static void dial_failed(struct link *link, double now)
{
    bool refused = link->refused == link->contact.record.count;
    double limit = link->first ? FIRST_SECONDS : (double)weft_settings.network_timeout;
    if (!link->first && refused) {
        process_ended(link);
    } else if (limit > 0 && now - link->since > limit && link->first) {
        char host[256];
        weft_warn("rank %d on %s cannot be reached by TCP, so that its death, or that of its host, "
                  "may not be detected; see whether a firewall is between the hosts",
                  link->rank, weft_boot_host(link->rank, host, sizeof host));
        link->state = UNREACHABLE;
    } else if (limit > 0 && now - link->since > limit) {
        report_host(link, "cannot be reached over the network");
        close_link(link);
    } else {
        link->address = link->refused = 0;
        link->state = PAUSES;
        link->until = now + PAUSE;
    }
}

static void dial_next(struct link *link, double now)
{
    if (link->fd >= 0)
        close(link->fd);
    link->fd = -1;
    link->address++;
    dial(link, now);
}

/* Calls the address, or those after it. */
static void dial(struct link *link, double now)
{
    const struct weft_tcp_record *record = &link->contact.record;
    link->have = 0;
    for (; link->address < record->count; link->address++) {
        struct sockaddr_storage name;
        unsigned len;
        link->fd = weft_tcp_socket_for(record->address[link->address], record->port, &name, &len);
        if (link->fd < 0)
            continue;
        weft_tcp_set_limits(link->fd, (unsigned)weft_settings.network_timeout);
        if (!connect(link->fd, (struct sockaddr *)&name, len) || errno == EINPROGRESS) {
            link->state = CONNECTS;
            link->until = now + CONNECT_SECONDS;
            return;
        }
        link->refused += errno == ECONNREFUSED;
        close(link->fd);
        link->fd = -1;
    }
    dial_failed(link, now);
}

static struct link *add_link(int fd, int rank, enum state state)
{
    struct link *link = calloc(1, sizeof *link);
    if (!link)
        return NULL;
    link->fd = fd;
    link->rank = rank;
    link->state = state;
    link->first = monitor.initial;
    link->since = weft_seconds();
    link->next = monitor.links;
    monitor.links = link;
    return link;
}

static void call(int rank)
{
    char why[512];
    struct link *link = add_link(-1, rank, UNREACHABLE);
    size_t bytes = sizeof link->contact;
    if (!link ||
        weft_boot_fetch(rank, contact_key, &link->contact, &bytes, FETCH_SECONDS, why,
                        sizeof why) ||
        bytes != sizeof link->contact || link->contact.record.count > WEFT_TCP_ADDRESSES)
        return; /* without an address it is not monitored by this rank */
    dial(link, link->since);
}

static void connected(struct link *link)
{
    int failed = 0;
    socklen_t bytes = sizeof failed;
    if (getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &failed, &bytes) || failed) {
        link->refused += failed == ECONNREFUSED;
        dial_next(link, weft_seconds());
        return;
    }
    link->state = AWAITS_NONCE;
}

static void send_hello(struct link *link)
{
    link->hello = (struct weft_tcp_hello){
        .purpose = WEFT_TCP_MONITOR, .to_rank = link->rank, .from_rank = weft.job.rank};
    link->nonce = link->in.key;
    if (!weft_key_random(&link->hello.nonce))
        return;
    weft_tcp_hello_sign(&link->hello, link->contact.key, link->nonce);
    weft_tcp_write(link->fd, &link->hello, sizeof link->hello);
    link->state = AWAITS_ANSWER;
}

static void take_answer(struct link *link)
{
    struct weft_key wanted = weft_tcp_answer(&link->hello, link->contact.key, link->nonce);
    if (weft_key_same(link->in.key, wanted))
        link->state = OPEN;
    else
        dial_next(link, weft_seconds());
}

/* ---- Connections of other ranks */

static void greet(void)
{
    int fd;
    while (monitor.strangers < STRANGERS_MAX &&
           (fd = accept4(monitor.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        struct link *link = add_link(fd, -1, AWAITS_HELLO);
        monitor.strangers++;
        if (!link || !weft_key_random(&link->nonce) ||
            weft_tcp_write(fd, &link->nonce, sizeof link->nonce) != (ssize_t)sizeof link->nonce) {
            if (link) {
                close_link(link);
            } else {
                monitor.strangers--;
                close(fd);
            }
            continue;
        }
        weft_tcp_set_limits(fd, (unsigned)weft_settings.network_timeout);
        link->until = weft_seconds() + GREETING_SECONDS;
    }
}

static void take_hello(struct link *link)
{
    const struct weft_tcp_hello *hello = &link->in.hello;
    bool proves = weft_tcp_hello_is_ours(hello) && hello->purpose == WEFT_TCP_MONITOR &&
                  hello->to_rank == weft.job.rank && hello->from_rank >= 0 &&
                  hello->from_rank < weft.job.size && hello->from_rank != weft.job.rank &&
                  weft_tcp_hello_proves(hello, monitor.own.key, link->nonce);
    struct weft_key bytes =
        proves ? weft_tcp_answer(hello, monitor.own.key, link->nonce) : (struct weft_key){{0}};
    if (!proves || weft_tcp_write(link->fd, &bytes, sizeof bytes) != (ssize_t)sizeof bytes) {
        close_link(link);
        return;
    }
    monitor.strangers--;
    link->rank = hello->from_rank;
    link->state = OPEN;
}

/* ---- Events */

static void ended(struct link *link)
{
    if (link->state == AWAITS_NONCE || link->state == AWAITS_ANSWER) {
        dial_next(link, weft_seconds());
        return;
    }
    if (link->state == OPEN && errno != ETIMEDOUT) {
        process_ended(link);
        return;
    }
    if (link->state == OPEN)
        report_host(link, "has not answered over the network for WEFT_NETWORK_TIMEOUT seconds");
    close_link(link);
}

/* Bytes of the object that the link reads in its state. */
static size_t wanted(const struct link *link)
{
    return link->state == OPEN           ? sizeof link->in.frame
           : link->state == AWAITS_HELLO ? sizeof link->in.hello
                                         : sizeof link->in.key;
}

static void take(struct link *link)
{
    static void (*const functions[CLOSED])(struct link *) = {[AWAITS_NONCE] = send_hello,
                                                             [AWAITS_ANSWER] = take_answer,
                                                             [AWAITS_HELLO] = take_hello,
                                                             [OPEN] = take_frame};
    link->have = 0;
    functions[link->state](link);
}

static bool reads(const struct link *link)
{
    return link->state >= AWAITS_NONCE && link->state <= OPEN;
}

static void read_link(struct link *link)
{
    while (reads(link)) {
        ssize_t n =
            weft_tcp_read(link->fd, (char *)&link->in + link->have, wanted(link) - link->have);
        if (n < 0)
            ended(link);
        if (n <= 0)
            return;
        link->silent = 0;
        link->have += (size_t)n;
        if (link->have == wanted(link))
            take(link);
    }
}

/* ---- Which ranks have a link */

static bool has_link(int rank)
{
    for (const struct link *link = monitor.links; link; link = link->next)
        if (link->rank == rank && link->state != CLOSED)
            return true;
    return false;
}

static bool has_left(int rank)
{
    for (const struct link *link = monitor.links; link; link = link->next)
        if (link->rank == rank && link->left)
            return true;
    return false;
}

/* Links to the first rank that is not dead, at or after each distance. */
static void call_neighbours(void)
{
    int self = weft.job.rank, size = weft.job.size;
    for (int distance = 1; distance < size; distance *= 2) {
        int rank = (int)(((int64_t)self + distance) % size);
        while (rank != self && weft_boot_has_failed(rank))
            rank = (rank + 1) % size;
        if (rank != self && !has_link(rank) && !has_left(rank))
            call(rank);
    }
}

/* ---- The thread */

static void look_at(struct link *link, double now, double seconds, bool beats)
{
    bool late = now > link->until;
    if (link->state == PAUSES && late)
        dial(link, now);
    else if ((link->state == CONNECTS || link->state == AWAITS_NONCE ||
              link->state == AWAITS_ANSWER) &&
             late)
        dial_next(link, now);
    else if (link->state == AWAITS_HELLO && late)
        close_link(link);
    if (link->state == ENDED && (late || weft_boot_has_failed(link->rank))) {
        report(link, NULL);
        close_link(link);
    }
    if (link->state != OPEN)
        return;
    /* An interval in which this process did not run is no silence of the other one. */
    link->silent += seconds < 2 * monitor.period ? seconds : 2 * monitor.period;
    if (beats && !link->left)
        send_frame(link, BEAT, 0);
    if (monitor.limit > 0 && link->silent > monitor.limit && !link->left)
        report(link, "is stopped, or has not run for WEFT_STOPPED_TIMEOUT seconds");
}

static void look_at_links(double now, double seconds)
{
    bool beats = now >= monitor.beat_at, met = true;
    double between = monitor.limit / BEATS;
    if (beats)
        monitor.beat_at = now + (between > 0 && between < BEAT_SECONDS ? between : BEAT_SECONDS);
    for (struct link *link = monitor.links; link; link = link->next) {
        look_at(link, now, seconds, beats);
        met &= !link->first || link->rank < 0 || link->state >= OPEN;
    }
    if (met && monitor.initial) {
        monitor.initial = false;
        atomic_store(&monitor.met, true);
    }
}

static void free_closed(void)
{
    for (struct link **at = &monitor.links; *at;) {
        struct link *link = *at;
        if (link->state == CLOSED && !link->left) {
            *at = link->next;
            free(link);
        } else {
            at = &link->next;
        }
    }
}

/* Sleeps until something arrives, at most for a period. */
static void await_events(void)
{
    enum { MOST = 256 };
    struct pollfd fds[MOST + 2] = {
        {.fd = monitor.wake, .events = POLLIN},
        {.fd = monitor.strangers < STRANGERS_MAX ? monitor.listener : -1, .events = POLLIN}};
    struct link *of[MOST];
    nfds_t n = 0;
    for (struct link *link = monitor.links; link && n < MOST; link = link->next) {
        if (link->state != CONNECTS && !reads(link))
            continue;
        bool writes = link->state == CONNECTS || link->unsent;
        of[n] = link;
        fds[2 + n++] =
            (struct pollfd){.fd = link->fd, .events = writes ? POLLIN | POLLOUT : POLLIN};
    }
    if (poll(fds, n + 2, (int)(1e3 * (monitor.initial ? PAUSE : monitor.period))) <= 0)
        return;
    if (fds[1].revents)
        greet();
    for (nfds_t i = 0; i < n; i++) {
        if (fds[2 + i].revents && of[i]->state == CONNECTS)
            connected(of[i]);
        else if (fds[2 + i].revents && reads(of[i]))
            read_link(of[i]);
    }
}

static void *run(void *arg)
{
    double last = weft_seconds();
    while (!atomic_load(&monitor.stops)) {
        double now = weft_seconds();
        call_neighbours();
        look_at_links(now, now - last);
        for (struct link *link = monitor.links; link; link = link->next)
            send_deaths(link);
        free_closed();
        last = now;
        await_events();
    }
    for (struct link *link = monitor.links; link; link = link->next)
        if (link->state == OPEN)
            send_frame(link, BYE, 0);
    return arg;
}

/* ---- The interface: see struct weft_lane_monitor */

static int publish(char *why, size_t len)
{
    bool one;
    if (weft_tcp_addresses(&monitor.own.record, &one) == MPI_SUCCESS)
        monitor.listener = weft_tcp_listen(&monitor.own.record, one);
    monitor.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (monitor.listener >= 0 && monitor.wake >= 0 && weft_key_random(&monitor.own.key))
        return weft_boot_publish(contact_key, &monitor.own, sizeof monitor.own, why, len);
    snprintf(why, len,
             "no TCP socket by which the ranks detect deaths (WEFT_KEEP_GOING): see whether this "
             "host has an IP address on the interfaces that WEFT_IFACE admits, and ulimit -n");
    return -1;
}

static int begin(char *why, size_t len)
{
    sigset_t all, before;
    monitor.first = weft_boot_nodes();
    monitor.limit = (double)weft_settings.stopped_timeout;
    monitor.period = monitor.limit > 0 && monitor.limit < 4 ? monitor.limit / 4 : 1;
    monitor.initial = true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&monitor.thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    monitor.runs = rc == 0;
    if (rc) {
        snprintf(why, len,
                 "the thread that detects deaths (WEFT_KEEP_GOING) cannot be started: %s; raise "
                 "the limit of processes (ulimit -u)",
                 strerror(rc));
        return -1;
    }
    while (!atomic_load(&monitor.met))
        usleep(1000);
    return 0;
}

static bool runs(void)
{
    return monitor.runs;
}

static bool any_left(void)
{
    return atomic_load(&monitor.any_left);
}

/* In a forked child, whose copies of the connections would hide the death of this process. */
static void forked(void)
{
    for (const struct link *link = monitor.links; monitor.runs && link; link = link->next)
        if (link->fd >= 0)
            close(link->fd);
}

static void end(void)
{
    if (monitor.runs) {
        atomic_store(&monitor.stops, true);
        eventfd_write(monitor.wake, 1);
        pthread_join(monitor.thread, NULL);
    }
    while (monitor.links) {
        struct link *link = monitor.links;
        monitor.links = link->next;
        if (link->fd >= 0)
            close(link->fd);
        free(link);
    }
    if (monitor.listener >= 0)
        close(monitor.listener);
    if (monitor.wake >= 0)
        close(monitor.wake);
    memset(&monitor, 0, sizeof monitor);
    monitor.listener = monitor.wake = -1;
}

const struct weft_lane_monitor weft_tcp_monitor = {.publish = publish,
                                                   .begin = begin,
                                                   .runs = runs,
                                                   .any_left = any_left,
                                                   .forked = forked,
                                                   .end = end};
