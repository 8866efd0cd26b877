// SPDX-License-Identifier: BSD-3-Clause
/*
 * The thread that moves the bytes of tunnels (tunnel.c). A pipe joins an inner socket, to the
 * provider of this rank, with an outer one, to the other rank. The thread starts with the first
 * pipe, and does not depend on calls of MPI, as the kernel does not that sends the bytes of a
 * connection without a tunnel.
 *
 * Invariants:
 *  - The thread owns the sockets of its pipes, and calls neither libfabric nor the rest of Weft.
 *  - Only `added` is shared; the lock protects it.
 *  - A pipe's half reads only while it holds no bytes, so they keep their order.
 */
#include "ofi/tunnel_pump.h"

#include "core/base/assert.h"
#include "core/base/thread.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HALF_BYTES = 256 << 10 };

/* The bytes from one socket to the other. */
struct half {
    int from, to;
    size_t begin, end; /* of the bytes in data that were not sent yet */
    bool ended, shut;  /* `from` has ended; `to` has got all of it */
    unsigned char data[HALF_BYTES];
};

struct pipe {
    struct pipe *next;
    int *error;          /* what the outer socket failed with */
    struct half half[2]; /* inner to outer, outer to inner */
};

struct weft_pump {
    pthread_t thread;
    pthread_mutex_t lock;
    struct pipe *added; /* pipes that the thread has not taken yet */
    bool ends;
    int bell;           /* an eventfd, which wakes the thread */
    struct pipe *pipes; /* the thread's */
};

static void free_pipe(struct pipe *pipe)
{
    close(pipe->half[0].from);
    close(pipe->half[0].to);
    free(pipe);
}

/* Moves what can be moved now. Returns 0, the error of `from`, or the negative one of `to`. */
static int move(struct half *half)
{
    for (;;) {
        weft_assert(half->begin <= half->end && half->end <= HALF_BYTES);
        bool empty = half->begin == half->end;
        ssize_t n;
        if (empty && half->ended)
            break;
        if (empty) {
            n = recv(half->from, half->data, HALF_BYTES, MSG_DONTWAIT);
            half->ended = n == 0;
            half->begin = 0;
            half->end = n > 0 ? (size_t)n : 0;
        } else {
            n = send(half->to, half->data + half->begin, half->end - half->begin,
                     MSG_DONTWAIT | MSG_NOSIGNAL);
            half->begin += n > 0 ? (size_t)n : 0;
        }
        if (n < 0 && errno != EINTR)
            return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : empty ? errno : -errno;
    }
    if (!half->shut)
        shutdown(half->to, SHUT_WR);
    half->shut = true;
    return 0;
}

/* False if the pipe has ended, or failed: an inner socket fails when the provider closes it. */
static bool serve(struct pipe *pipe)
{
    struct half *out = &pipe->half[0], *in = &pipe->half[1];
    int sending = move(out), receiving = move(in);
    int error = receiving > 0 ? receiving : -sending;
    if (error > 0)
        __atomic_store_n(pipe->error, error, __ATOMIC_RELEASE);
    return !sending && !receiving && !(out->shut && in->shut);
}

static short events_of(const struct half *reads, const struct half *writes)
{
    bool waits = reads->begin == reads->end && !reads->ended;
    return (short)((waits ? POLLIN : 0) | (writes->begin < writes->end ? POLLOUT : 0));
}

/* Waits until a pipe has something to do, or the bell wakeups. */
static void wait_for_events(struct weft_pump *pump, struct pollfd *fds)
{
    size_t n = 0;
    uint64_t wakeups;
    fds[n++] = (struct pollfd){.fd = pump->bell, .events = POLLIN};
    for (const struct pipe *pipe = pump->pipes; pipe; pipe = pipe->next) {
        short inner = events_of(&pipe->half[0], &pipe->half[1]);
        short outer = events_of(&pipe->half[1], &pipe->half[0]);
        fds[n++] = (struct pollfd){.fd = inner ? pipe->half[0].from : -1, .events = inner};
        fds[n++] = (struct pollfd){.fd = outer ? pipe->half[1].from : -1, .events = outer};
    }
    if (poll(fds, (nfds_t)n, -1) > 0 && fds[0].revents &&
        read(pump->bell, &wakeups, sizeof wakeups) < 0)
        return;
}

/* Takes the new pipes. Returns how many pipes there are, or -1 at the end. */
static int take_added(struct weft_pump *pump)
{
    int count = 0;
    pthread_mutex_lock(&pump->lock);
    bool ends = pump->ends;
    while (pump->added) {
        struct pipe *pipe = pump->added;
        pump->added = pipe->next;
        pipe->next = pump->pipes;
        pump->pipes = pipe;
    }
    pthread_mutex_unlock(&pump->lock);
    for (const struct pipe *pipe = pump->pipes; pipe; pipe = pipe->next)
        count++;
    return ends ? -1 : count;
}

static void serve_all(struct weft_pump *pump)
{
    struct pipe **link = &pump->pipes;
    while (*link) {
        struct pipe *pipe = *link;
        if (serve(pipe)) {
            link = &pipe->next;
            continue;
        }
        *link = pipe->next;
        free_pipe(pipe);
    }
}

static void *run(void *arg)
{
    struct weft_pump *pump = arg;
    struct pollfd *fds = NULL;
    int count, space = 0;
    while ((count = take_added(pump)) >= 0) {
        if (count >= space) {
            space = 2 * count + 8;
            struct pollfd *more = realloc(fds, (1 + 2 * (size_t)space) * sizeof *fds);
            if (!more)
                break; /* the pipes close, and the provider reports it */
            fds = more;
        }
        serve_all(pump);
        wait_for_events(pump, fds);
    }
    free(fds);
    while (pump->pipes) {
        struct pipe *pipe = pump->pipes;
        pump->pipes = pipe->next;
        free_pipe(pipe);
    }
    return NULL;
}

static struct weft_pump *open_pump(void)
{
    struct weft_pump *pump = calloc(1, sizeof *pump);
    if (!pump)
        return NULL;
    pthread_mutex_init(&pump->lock, NULL);
    pump->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (pump->bell >= 0 && weft_thread_start(&pump->thread, run, pump) == 0)
        return pump;
    if (pump->bell >= 0)
        close(pump->bell);
    pthread_mutex_destroy(&pump->lock);
    free(pump);
    return NULL;
}

static void wake(const struct weft_pump *pump)
{
    uint64_t one = 1;
    if (write(pump->bell, &one, sizeof one) < 0)
        return; /* it is awake already */
}

void weft_pump_add(struct weft_pump **pump, int inner, int outer, const void *first, size_t bytes,
                   int *error)
{
    weft_assert(bytes <= HALF_BYTES);
    if (!*pump)
        *pump = open_pump();
    struct pipe *pipe = *pump ? malloc(sizeof *pipe) : NULL;
    if (!pipe) {
        close(inner);
        close(outer);
        return;
    }
    pipe->error = error;
    for (int i = 0; i < 2; i++) {
        struct half *half = &pipe->half[i];
        half->from = i == 0 ? inner : outer;
        half->to = i == 0 ? outer : inner;
        half->begin = half->end = 0;
        half->ended = half->shut = false;
    }
    if (bytes)
        memcpy(pipe->half[0].data, first, bytes);
    pipe->half[0].end = bytes;
    pthread_mutex_lock(&(*pump)->lock);
    pipe->next = (*pump)->added;
    (*pump)->added = pipe;
    pthread_mutex_unlock(&(*pump)->lock);
    wake(*pump);
}

void weft_pump_close(struct weft_pump *pump)
{
    if (!pump)
        return;
    pthread_mutex_lock(&pump->lock);
    pump->ends = true;
    pthread_mutex_unlock(&pump->lock);
    wake(pump);
    pthread_join(pump->thread, NULL);
    while (pump->added) {
        struct pipe *pipe = pump->added;
        pump->added = pipe->next;
        free_pipe(pipe);
    }
    close(pump->bell);
    pthread_mutex_destroy(&pump->lock);
    free(pump);
}
