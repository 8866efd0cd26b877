// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sockets and their events: see tcp_internal.h.
 *
 * Invariant: memory that contains a socket is freed after the events that were read with one of
 * its.
 */
#include "tcp/tcp_internal.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 16 };

static int poll_fd = -1;
static bool handling; /* events that were read are being handled */
static void **waiting;
static size_t nwaiting, space;

int weft_tcp_sockets_open(void)
{
    poll_fd = epoll_create1(EPOLL_CLOEXEC);
    return poll_fd < 0 ? -1 : 0;
}

static void free_waiting(void)
{
    while (nwaiting > 0)
        free(waiting[--nwaiting]);
}

void weft_tcp_sockets_close(void)
{
    free_waiting();
    free(waiting);
    waiting = NULL;
    space = 0;
    if (poll_fd >= 0)
        close(poll_fd);
    poll_fd = -1;
}

int weft_tcp_watch(struct weft_tcp_socket *socket, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = socket};
    weft_assert(socket->fd >= 0 && events);
    if (socket->events == events)
        return 0;
    int operation = socket->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (epoll_ctl(poll_fd, operation, socket->fd, &event))
        return -1;
    socket->events = events;
    return 0;
}

void weft_tcp_unwatch(struct weft_tcp_socket *socket)
{
    if (socket->events)
        epoll_ctl(poll_fd, EPOLL_CTL_DEL, socket->fd, NULL);
    socket->events = 0;
}

void weft_tcp_close(struct weft_tcp_socket *socket)
{
    if (socket->fd < 0)
        return;
    weft_tcp_unwatch(socket);
    close(socket->fd);
    socket->fd = -1;
}

void weft_tcp_free_later(void *memory)
{
    weft_assert(nwaiting <= space);
    if (!handling) {
        free(memory);
        return;
    }
    if (nwaiting == space) {
        size_t more = space ? 2 * space : 16;
        void **longer = realloc(waiting, more * sizeof *longer);
        if (!longer)
            weft_fatal(MPI_ERR_NO_MEM, "no memory for the end of a connection");
        waiting = longer;
        space = more;
    }
    waiting[nwaiting++] = memory;
}

void weft_tcp_sleep(int fd, unsigned microseconds)
{
    struct pollfd fds[] = {{.fd = poll_fd, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    const struct timespec limit = {.tv_sec = microseconds / 1000000,
                                   .tv_nsec = microseconds % 1000000 * 1000L};
    ppoll(fds, 2, &limit, NULL);
}

int weft_tcp_handle_events(void)
{
    struct epoll_event events[EVENTS];
    if (handling) /* a nested call of progress */
        return 0;
    weft_assert(nwaiting == 0);
    int n = epoll_wait(poll_fd, events, EVENTS, 0);
    handling = n > 0;
    for (int i = 0; i < n; i++) {
        struct weft_tcp_socket *socket = events[i].data.ptr;
        if (socket->fd >= 0 && socket->events)
            socket->ready(socket, events[i].events);
    }
    handling = false;
    free_waiting();
    return n > 0 ? n : 0;
}

static void set(int fd, int level, int name, int value)
{
    setsockopt(fd, level, name, &value, sizeof value);
}

/* TCP_USER_TIMEOUT is not set: it ends a connection whose receiver computes for that time while its
 * buffers are full. See weft_tcp_is_silent. */
void weft_tcp_set_options(int fd)
{
    set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set(fd, IPPROTO_TCP, TCP_KEEPIDLE, 30); /* seconds */
    set(fd, IPPROTO_TCP, TCP_KEEPINTVL, 10);
    set(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
    set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
}

bool weft_tcp_is_silent(int fd)
{
    enum { SILENT_MS = 60000 }; /* as long as keepalive takes */
    struct tcp_info info = {0};
    socklen_t len = sizeof info;
    return !getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) &&
           info.tcpi_last_ack_recv > SILENT_MS && (info.tcpi_retransmits || info.tcpi_probes);
}

void weft_tcp_set_limits(int fd, unsigned seconds)
{
    enum { PROBES = 8 }; /* in the time limit */
    int between = seconds < PROBES ? 1 : (int)seconds / PROBES;
    set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    if (!seconds)
        return;
    set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, (int)seconds * 1000);
    set(fd, IPPROTO_TCP, TCP_KEEPIDLE, between);
    set(fd, IPPROTO_TCP, TCP_KEEPINTVL, between);
    set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
}

bool weft_tcp_is_shortage(int error)
{
    static bool warned;
    if (error != EMFILE && error != ENFILE && error != ENOBUFS && error != ENOMEM &&
        error != ENOSPC)
        return false;
    if (!warned)
        weft_warn("no connection to a process of another job can be made now: %s; this process "
                  "tries again each second. Each such process needs two file descriptors: see "
                  "ulimit -n",
                  strerror(error));
    warned = true;
    return true;
}

static ssize_t result_of(ssize_t n)
{
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return 0;
    return n;
}

ssize_t weft_tcp_write(int fd, const void *data, size_t bytes)
{
    ssize_t n;
    do
        n = send(fd, data, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return result_of(n);
}

ssize_t weft_tcp_read(int fd, void *data, size_t bytes)
{
    ssize_t n;
    do
        n = recv(fd, data, bytes, MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n == 0 && bytes > 0) {
        errno = 0;
        return -1;
    }
    return result_of(n);
}
