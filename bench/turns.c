// SPDX-License-Identifier: BSD-3-Clause
/*
 * Batches from the command line or from a controller; see turns.h.
 */
#include "turns.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The first message of a window finds cold caches, the ninth does not: a whole window of large
 * messages would take longer than it is worth. */
enum { WARMUP_WINDOW = 8 };

/* Between an order and its batch: the controller must be asleep by then, or it would get its core
 * back from a rank in the midst of the batch. */
enum { SETTLE_US = 100 };

static int open_fifo(const char *prefix, int rank, const char *what, int flags, char *why,
                     size_t len)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s.%d.%s", prefix, rank, what);
    int fd = open(path, flags | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        snprintf(why, len, "cannot open %s: %s; --turns is for bench/side_by_side to give", path,
                 strerror(errno));
    return fd;
}

bool bench_turns_open(struct bench_turns *t, const struct bench_program *program,
                      const struct bench_options *o, int rank, char *why, size_t len)
{
    *t = (struct bench_turns){program, o, -1, -1, o->min, 0, false};
    if (!o->turns)
        return true;
    /* Opened without waiting for the other end, which may be gone; read with waiting. */
    t->orders = open_fifo(o->turns, rank, "orders", O_RDONLY, why, len);
    if (t->orders < 0)
        return false;
    t->replies = open_fifo(o->turns, rank, "replies", O_WRONLY, why, len);
    if (t->replies < 0)
        return false;
    fcntl(t->orders, F_SETFL, 0);
    signal(SIGPIPE, SIG_IGN);
    bench_turns_rest(t);
    return true;
}

static void reply(struct bench_turns *t, const struct bench_reply *r)
{
    if (write(t->replies, r, sizeof *r) != (ssize_t)sizeof *r)
        t->lost = true;
}

/* How often others took the core from this thread so far. */
static long unwanted_switches(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

void bench_turns_reply(struct bench_turns *t, double seconds, double figure, bool good)
{
    struct bench_reply r = {
        .good = good,
        .disturbed = (uint32_t)(unwanted_switches() - t->switches),
        .seconds = seconds,
        .figure = figure,
    };
    reply(t, &r);
}

void bench_turns_rest(struct bench_turns *t)
{
    struct bench_reply r = {.rests = 1, .good = 1};
    reply(t, &r);
}

/* Sleeps until there is an order. A signal is no order: the raw programs take SIGCHLD. */
static bool read_order(struct bench_turns *t, struct bench_order *order)
{
    ssize_t n;
    do
        n = read(t->orders, order, sizeof *order);
    while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof *order)
        t->lost = true;
    return !t->lost;
}

bool bench_turns_told_to_rest(struct bench_turns *t)
{
    struct pollfd fd = {.fd = t->orders, .events = POLLIN};
    struct bench_order order;
    if (t->lost)
        return true;
    if (poll(&fd, 1, 0) <= 0) {
        sched_yield(); /* the controller needs one of the cores to see the answer */
        return false;
    }
    if (read_order(t, &order) && order.kind != BENCH_ORDER_REST)
        t->lost = true;
    return true;
}

static bool ordered_batch(struct bench_turns *t, struct bench_batch *batch)
{
    struct bench_order order;
    if (t->lost || !read_order(t, &order) || order.kind == BENCH_ORDER_END)
        return false;
    if (order.kind != BENCH_ORDER_RUN || order.timed < 1 || order.warmup < 0 ||
        order.size > t->options->max) {
        t->lost = true;
        return false;
    }
    int window = t->options->window;
    *batch = (struct bench_batch){
        .size = order.size,
        .timed = order.timed,
        .warmup = order.warmup,
        .warmup_window = window < WARMUP_WINDOW ? window : WARMUP_WINDOW,
    };
    usleep(SETTLE_US);
    t->switches = unwanted_switches();
    return true;
}

bool bench_turns_next(struct bench_turns *t, struct bench_batch *batch)
{
    if (t->options->turns)
        return ordered_batch(t, batch);
    if (t->next > t->options->max)
        return false;
    *batch = (struct bench_batch){
        .size = t->next,
        .timed = bench_iterations(t->options, t->program->kind, t->next),
        .warmup = bench_warmup(t->options, t->program->kind, t->next),
        .warmup_window = t->options->window,
    };
    t->next = bench_next_size(t->next);
    return true;
}

const char *bench_turns_lost(const struct bench_turns *t)
{
    return t->lost ? "the controller of its turns is gone or asked for a message longer than -m; "
                     "start both jobs again with bench/side_by_side"
                   : NULL;
}
