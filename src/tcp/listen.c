// SPDX-License-Identifier: BSD-3-Clause
/*
 * The listening socket: ports, and handshakes of other processes. See tcp_internal.h.
 *
 * A port's name is "weft1/NUMBER/SECRET/TCP PORT/ADDRESSES/HOST".
 *
 * Invariant: of a caller that has not proved to have a key, nothing but the bytes of one hello is
 * read. There are at most STRANGERS such callers; while there are so many, or this process has no
 * descriptor for one more, further ones wait in the system's queue.
 */
#include "core/base/clock.h"
#include "tcp/tcp_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* A process of the job that this one connects to may call before this process has the key of the
 * pair, because it is in the same call still; so a hello without a known key is kept for a while.
 */
enum { STRANGERS = 64, STRANGER_SECONDS = 10, BACKLOG = 4096, NAME_VERSION = 1 };

/* Seconds between two tries to check the hellos that are kept. */
static const double check_every = 0.001;

/* Seconds without accepting after a shortage of descriptors or memory. */
static const double shortage_pause = 1.0;

struct stranger {
    struct weft_tcp_socket socket;
    struct weft_key nonce;
    struct weft_tcp_hello hello;
    size_t have;
    double deadline; /* seconds */
    struct stranger *next;
};

/* A process that has called a port. */
struct caller {
    struct weft_meeting meeting;
    struct caller *next;
};

struct port {
    struct weft_key number, secret;
    struct caller *callers; /* the first came first */
    struct port *next;
};

struct weft_contact weft_tcp_own;
static struct weft_tcp_record record;
static struct weft_tcp_socket listener = {.fd = -1};
static double listens_at;          /* seconds: not before, after a shortage */
static struct stranger *strangers; /* the first is the latest */
static unsigned nstrangers;
static struct port *ports;

/* ---- Strangers */

static void dismiss(struct stranger *stranger)
{
    struct stranger **link = &strangers;
    while (*link != stranger)
        link = &(*link)->next;
    *link = stranger->next;
    weft_assert(nstrangers > 0);
    nstrangers--;
    weft_tcp_close(&stranger->socket);
    weft_tcp_free_later(stranger);
}

static struct port *find_port(struct weft_key number)
{
    struct port *port = ports;
    while (port && !weft_key_same(port->number, number))
        port = port->next;
    return port;
}

/* The caller has the key: sends the answer, and takes the connection from the stranger. Returns
 * false if the connection has failed. */
static bool answer(struct stranger *stranger, struct weft_key key)
{
    struct weft_key bytes = weft_tcp_answer(&stranger->hello, key, stranger->nonce);
    weft_tcp_unwatch(&stranger->socket);
    return weft_tcp_write(stranger->socket.fd, &bytes, sizeof bytes) == (ssize_t)sizeof bytes;
}

static void call_port(struct stranger *stranger)
{
    struct port *port = find_port(stranger->hello.to);
    struct caller *caller;
    if (!port || !weft_tcp_hello_proves(&stranger->hello, port->secret, stranger->nonce) ||
        !(caller = malloc(sizeof *caller)))
        return;
    if (!answer(stranger, port->secret)) {
        free(caller);
        return;
    }
    *caller = (struct caller){
        .meeting = {stranger->socket.fd,
                    weft_tcp_meeting_key(&stranger->hello, port->secret, stranger->nonce)}};
    stranger->socket.fd = -1;
    struct caller **link = &port->callers;
    while (*link)
        link = &(*link)->next;
    *link = caller;
}

/* Returns false if the key is not known yet. */
static bool open_link(struct stranger *stranger)
{
    const struct weft_tcp_hello *hello = &stranger->hello;
    struct weft_foreign *foreign = weft_foreign_find(hello->from, hello->from_rank);
    if (!weft_key_same(hello->to, weft_tcp_own.job) || hello->to_rank != weft_tcp_own.rank)
        return true;
    for (int i = 0; foreign && i < foreign->nkeys; i++) {
        if (!weft_tcp_hello_proves(hello, foreign->keys[i], stranger->nonce))
            continue;
        if (foreign->dead && !foreign->comms) /* it may be met again */
            return false;
        /* A process that was reported dead gets the answer, and by the end of the connection the
         * report that this process has ended for it. */
        if (!answer(stranger, foreign->keys[i]) || foreign->dead)
            return true;
        int fd = stranger->socket.fd;
        stranger->socket.fd = -1;
        weft_tcp_accept(foreign, fd, hello->nonce.word[0]);
        return true;
    }
    return false;
}

/* A hello is complete. */
static void check_hello(struct stranger *stranger)
{
    const struct weft_tcp_hello *hello = &stranger->hello;
    if (weft_tcp_hello_is_ours(hello) && hello->purpose == WEFT_TCP_PORT)
        call_port(stranger);
    else if (weft_tcp_hello_is_ours(hello) && hello->purpose == WEFT_TCP_LINK &&
             !open_link(stranger))
        return;
    dismiss(stranger);
}

static void read_hello(struct weft_tcp_socket *socket, uint32_t events)
{
    struct stranger *stranger = (struct stranger *)(void *)socket; /* its first member */
    size_t wanted = sizeof stranger->hello - stranger->have;
    (void)events;
    ssize_t n = wanted
                    ? weft_tcp_read(socket->fd, (char *)&stranger->hello + stranger->have, wanted)
                    : -1; /* more than a hello, or its end */
    if (n < 0) {
        dismiss(stranger);
        return;
    }
    weft_assert((size_t)n <= wanted);
    stranger->have += (size_t)n;
    if (stranger->have == sizeof stranger->hello)
        check_hello(stranger);
}

static void listen_again(double now)
{
    if (weft_tcp_watch(&listener, EPOLLIN) && weft_tcp_is_shortage(errno))
        listens_at = now + shortage_pause;
}

void weft_tcp_strangers_check(void)
{
    static double checked;
    bool deaf = listener.fd >= 0 && !listener.events;
    double now = strangers || deaf ? weft_seconds() : 0.0;
    if (now <= 0.0 || (now >= checked && now < checked + check_every))
        return;
    if (deaf && nstrangers < STRANGERS && now > listens_at)
        listen_again(now);
    checked = now;
    for (struct stranger *stranger = strangers, *next; stranger; stranger = next) {
        next = stranger->next;
        if (now > stranger->deadline)
            dismiss(stranger);
        else if (stranger->have == sizeof stranger->hello)
            check_hello(stranger);
    }
}

static void greet(struct weft_tcp_socket *socket, uint32_t events)
{
    (void)events;
    while (nstrangers < STRANGERS) {
        int fd = accept4(socket->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) {
            if (weft_tcp_is_shortage(errno)) {
                listens_at = weft_seconds() + shortage_pause;
                weft_tcp_unwatch(socket);
            }
            return;
        }
        struct stranger *stranger = calloc(1, sizeof *stranger);
        if (!stranger || !weft_key_random(&stranger->nonce)) {
            free(stranger);
            close(fd);
            continue;
        }
        weft_tcp_set_options(fd);
        stranger->socket = (struct weft_tcp_socket){.fd = fd, .ready = read_hello};
        stranger->deadline = weft_seconds() + STRANGER_SECONDS;
        stranger->next = strangers;
        strangers = stranger;
        nstrangers++;
        if (weft_tcp_write(fd, &stranger->nonce, sizeof stranger->nonce) !=
                (ssize_t)sizeof stranger->nonce ||
            weft_tcp_watch(&stranger->socket, EPOLLIN))
            dismiss(stranger);
    }
    weft_tcp_unwatch(socket);
}

/* ---- The socket */

/* A socket that listens at an address (NULL: at all of this host); -1 with errno. */
static int listen_at(const unsigned char *address)
{
    static const unsigned char any6[16], any4[16] = {[10] = 0xff, [11] = 0xff};
    const unsigned char *tries[] = {address ? address : any6, address ? NULL : any4};
    int fd = -1, off = 0;
    for (int i = 0; i < 2 && fd < 0 && tries[i]; i++) {
        struct sockaddr_storage name;
        unsigned len;
        fd = weft_tcp_socket_for(tries[i], 0, &name, &len);
        if (fd >= 0 && name.ss_family == AF_INET6)
            setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
        if (fd >= 0 && (bind(fd, (struct sockaddr *)&name, len) || listen(fd, BACKLOG))) {
            close(fd);
            fd = -1;
        }
    }
    return fd;
}

int weft_tcp_listen(struct weft_tcp_record *at, bool one_interface)
{
    struct sockaddr_storage name;
    socklen_t len = sizeof name;
    int fd = listen_at(one_interface ? at->address[0] : NULL);
    if (fd >= 0 && getsockname(fd, (struct sockaddr *)&name, &len)) {
        close(fd);
        return -1;
    }
    at->port = ntohs(name.ss_family == AF_INET ? ((struct sockaddr_in *)&name)->sin_port
                                               : ((struct sockaddr_in6 *)&name)->sin6_port);
    return fd;
}

int weft_tcp_open(unsigned char *contact, size_t bytes)
{
    _Static_assert(sizeof record <= WEFT_CONTACT_LANE_BYTES, "space in a contact");
    bool one;
    if (listener.fd < 0) {
        int code =
            weft_contact_own(&weft_tcp_own) ? weft_tcp_addresses(&record, &one) : MPI_ERR_OTHER;
        if (code != MPI_SUCCESS)
            return code;
        listener = (struct weft_tcp_socket){.fd = weft_tcp_listen(&record, one), .ready = greet};
        if (listener.fd < 0 || weft_tcp_sockets_open() || weft_tcp_watch(&listener, EPOLLIN)) {
            int error = errno;
            weft_tcp_stop_listening();
            return weft_error_set(MPI_ERR_OTHER,
                                  "no TCP socket on which other jobs could connect: %s",
                                  strerror(error));
        }
        record.own = weft_tcp_memory_open();
        memcpy(weft_tcp_own.lane, &record, sizeof record);
        weft_lane_opened(WEFT_LANE_TCP);
    }
    weft_assert(bytes == sizeof weft_tcp_own.lane);
    memcpy(contact, weft_tcp_own.lane, bytes);
    return MPI_SUCCESS;
}

void weft_tcp_stop_listening(void)
{
    while (strangers)
        dismiss(strangers);
    while (ports) {
        struct port *port = ports;
        while (port->callers) {
            struct caller *caller = port->callers;
            port->callers = caller->next;
            close(caller->meeting.fd);
            free(caller);
        }
        ports = port->next;
        free(port);
    }
    weft_tcp_close(&listener);
}

/* ---- Ports */

/* A name has at most NAME_SIZE bytes with its final 0: the MPI_MAX_PORT_NAME of MPICH. A name that
 * would be longer lacks the last addresses: 4 IPv6 addresses need 159 bytes, and the host's name
 * needs up to 63. */
enum { NAME_SIZE = 256 };

static void write_addresses(int count, char *to, size_t size)
{
    weft_assert(count <= record.count);
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        char text[48];
        used += (size_t)snprintf(to + used, size - used, "%s%s", i ? "," : "",
                                 weft_tcp_address_text(record.address[i], text, sizeof text));
    }
}

int weft_tcp_open_port(char *name, size_t len)
{
    char addresses[WEFT_TCP_ADDRESSES * 48] = "";
    struct port *port = malloc(sizeof *port);
    if (!port || !weft_key_random(&port->number) || !weft_key_random(&port->secret)) {
        free(port);
        return weft_error_set(MPI_ERR_NO_MEM, "no memory or no random numbers for a port");
    }
    port->callers = NULL;
    port->next = ports;
    ports = port;
    int n, count = record.count;
    do {
        write_addresses(count, addresses, sizeof addresses);
        n = snprintf(name, len,
                     "weft%d/%016" PRIx64 "%016" PRIx64 "/%016" PRIx64 "%016" PRIx64 "/%u/%s/%s",
                     NAME_VERSION, port->number.word[0], port->number.word[1], port->secret.word[0],
                     port->secret.word[1], record.port, addresses, weft_tcp_own.host);
        weft_assert(n > 0 && (size_t)n < len);
    } while (n >= NAME_SIZE && --count > 0);
    return MPI_SUCCESS;
}

/* The contents of a port's name. */
struct name {
    struct weft_key number, secret;
    struct weft_tcp_record record;
    char host[64];
};

static bool parse_addresses(char *list, struct weft_tcp_record *to)
{
    char *rest = NULL;
    to->count = 0;
    for (char *item = strtok_r(list, ",", &rest); item; item = strtok_r(NULL, ",", &rest)) {
        if (to->count == WEFT_TCP_ADDRESSES ||
            !weft_tcp_address_parse(item, to->address[to->count]))
            return false;
        to->count++;
    }
    return to->count > 0;
}

static int parse_name(const char *text, struct name *name)
{
    char addresses[WEFT_TCP_ADDRESSES * 48];
    int version = 0;
    memset(name, 0, sizeof *name);
    int found =
        sscanf(text,
               "weft%d/%16" SCNx64 "%16" SCNx64 "/%16" SCNx64 "%16" SCNx64
               "/%hu/%191[0-9a-fA-F.,:]/%63[!-~]",
               &version, &name->number.word[0], &name->number.word[1], &name->secret.word[0],
               &name->secret.word[1], &name->record.port, addresses, name->host);
    if (found == 8 && version == NAME_VERSION && parse_addresses(addresses, &name->record))
        return MPI_SUCCESS;
    return weft_error_set(MPI_ERR_PORT,
                          "\"%.64s\" is not the name of a port that MPI_Open_port of this version "
                          "of Weft has made; copy the whole name, up to its end",
                          text);
}

static int find_own(const char *text, struct port **port)
{
    struct name name;
    int code = parse_name(text, &name);
    *port = code == MPI_SUCCESS ? find_port(name.number) : NULL;
    if (code == MPI_SUCCESS && !*port)
        code = weft_error_set(MPI_ERR_PORT,
                              "this process has no such port: another process has opened it (on "
                              "%s), or it is closed",
                              name.host);
    return code;
}

int weft_tcp_close_port(const char *text)
{
    struct port *port;
    int code = find_own(text, &port);
    if (code != MPI_SUCCESS)
        return code;
    struct port **link = &ports;
    while (*link != port)
        link = &(*link)->next;
    *link = port->next;
    while (port->callers) {
        struct caller *caller = port->callers;
        port->callers = caller->next;
        close(caller->meeting.fd);
        free(caller);
    }
    free(port);
    return MPI_SUCCESS;
}

int weft_tcp_take(const char *text, bool *done, struct weft_meeting *meeting)
{
    struct port *port;
    int code = find_own(text, &port);
    *done = false;
    while (code == MPI_SUCCESS && port->callers && !*done) {
        struct caller *caller = port->callers;
        struct pollfd ended = {.fd = caller->meeting.fd, .events = POLLRDHUP};
        port->callers = caller->next;
        *meeting = caller->meeting;
        free(caller);
        *done = poll(&ended, 1, 0) == 0;
        if (!*done)
            close(meeting->fd); /* the process has ended while it waited */
    }
    return code;
}

int weft_tcp_check_port(const char *text)
{
    struct port *port;
    return find_own(text, &port);
}

/* ---- Calls to ports */

int weft_tcp_dial_port(const char *text, struct weft_dial **dial)
{
    struct name name;
    int code = parse_name(text, &name);
    if (code != MPI_SUCCESS)
        return code;
    const struct weft_tcp_hello hello = {.purpose = WEFT_TCP_PORT,
                                         .to = name.number,
                                         .from = weft_tcp_own.job,
                                         .from_rank = weft_tcp_own.rank};
    *dial = weft_tcp_dial(&name.record, name.host, &hello, name.secret);
    return *dial ? MPI_SUCCESS : weft_error_set(MPI_ERR_NO_MEM, "no memory for a connection");
}

int weft_tcp_step(struct weft_dial *dial, bool *done, struct weft_meeting *meeting)
{
    *done = dial->done;
    if (dial->failed)
        return weft_error_set(
            MPI_ERR_PORT,
            "the process that opened the port cannot be reached (%s); see whether "
            "it runs, and whether a firewall is between the hosts",
            dial->why);
    if (dial->done) {
        meeting->fd = dial->socket.fd;
        meeting->key = weft_tcp_meeting_key(&dial->hello, dial->key, dial->nonce);
        dial->socket.fd = -1;
    }
    return MPI_SUCCESS;
}
