// SPDX-License-Identifier: BSD-3-Clause
/*
 * The limit of reads (src/ofi/read_limit.c) over a model of a link: a request takes half a round
 * trip, data leave the peer one after the other at the link's rate and take the other half.
 */
#include "ofi/read_limit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { IN_FLIGHT = 2048, CHUNK = 1 << 20 };

static double now; /* seconds */

static double model_clock(void)
{
    return now;
}

static struct link {
    double rate, round_trip; /* bytes a second, seconds */
    double free_at;
    struct {
        double at;
        size_t bytes;
    } arriving[IN_FLIGHT]; /* in order, a ring */
    unsigned first, count;
} link;

static size_t piece_of(const struct weft_read_limit *limit, size_t message, size_t left)
{
    size_t piece = weft_read_limit_piece(limit, message, CHUNK);
    return piece < left ? piece : left;
}

static void request(struct weft_read_limit *limit, size_t bytes)
{
    double leaves = now + link.round_trip / 2;
    assert_true(link.count < IN_FLIGHT);
    if (leaves < link.free_at)
        leaves = link.free_at;
    link.free_at = leaves + (double)bytes / link.rate;
    unsigned at = (link.first + link.count++) % IN_FLIGHT;
    link.arriving[at].at = link.free_at + link.round_trip / 2;
    link.arriving[at].bytes = bytes;
    weft_read_limit_start(limit, bytes, model_clock);
}

/* Reads messages of that length, many at once, for so many seconds. Returns the part of the link
 * that was used, from `settled` seconds on. */
static double run(struct weft_read_limit *limit, size_t message, double seconds, double settled)
{
    size_t left = message;
    double from = -1, got = 0;
    link.free_at = now;
    link.first = link.count = 0;
    seconds += now;
    settled += now;
    while (now < seconds) {
        size_t piece = piece_of(limit, message, left);
        while (weft_read_limit_is_open(limit, message)) {
            request(limit, piece);
            left = left == piece ? message : left - piece;
            piece = piece_of(limit, message, left);
        }
        now = link.arriving[link.first].at;
        size_t bytes = link.arriving[link.first].bytes;
        link.first = (link.first + 1) % IN_FLIGHT;
        link.count--;
        weft_read_limit_end(limit, bytes, model_clock);
        if (from >= 0)
            got += (double)bytes;
        else if (now >= settled)
            from = now;
    }
    while (limit->reading) {
        now = link.arriving[link.first].at;
        weft_read_limit_end(limit, link.arriving[link.first].bytes, model_clock);
        link.first = (link.first + 1) % IN_FLIGHT;
        link.count--;
    }
    return got / (now - from) / link.rate;
}

static const double gigabit = 1e9 / 8;

/* Reads on a path for so long, and requires that it is full after `settling` seconds; `most`: the
 * bytes that it may hold, or nothing is tried. */
static bool fills_path(struct weft_read_limit *limit, double rate, double trip, size_t message,
                       double most, double seconds, double settling)
{
    link.rate = rate * gigabit;
    link.round_trip = trip;
    if (link.rate * link.round_trip > most)
        return false;
    weft_read_limit_open(limit, 0);
    double used = run(limit, message, seconds, settling);
    if (used < 0.95)
        print_message("%g Gbit/s, %g us, %zu bytes: %.3f\n", rate, trip * 1e6, message, used);
    assert_true(used >= 0.95);
    return true;
}

/* Each path is full, and the bytes that are queued behind it leave within the period. */
static void fills_the_link(void **state)
{
    static const double rates[] = {0.05, 1, 10, 25, 100}; /* Gbit/s */
    static const double trips[] = {20e-6, 200e-6, 400e-6, 1e-3};
    static const size_t messages[] = {64 << 10, 1 << 20, 16 << 20};
    (void)state;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        for (size_t j = 0; j < sizeof trips / sizeof *trips; j++)
            for (size_t k = 0; k < sizeof messages / sizeof *messages; k++) {
                struct weft_read_limit limit;
                if (!fills_path(&limit, rates[i], trips[j], messages[k], 16e6, 2, 0.5))
                    continue; /* more than the limit may be */
                double queued = (double)limit.all / link.rate, least = 128 * 1024 / link.rate;
                double trip = 2 * (link.round_trip + 64 * 1024 / link.rate);
                double most = trip > 0.004 ? trip : 0.004;
                assert_true(queued <= 1.3 * (most > least ? most : least));
            }
}

/* Long paths are full as soon as the limit has grown, and not more than two round trips are queued.
 */
static void fills_long_paths(void **state)
{
    static const double rates[] = {0.05, 0.4, 1, 10};
    static const double trips[] = {0.01, 0.04, 0.1, 0.3};
    static const size_t messages[] = {64 << 10, 1 << 20, 16 << 20};
    (void)state;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        for (size_t j = 0; j < sizeof trips / sizeof *trips; j++)
            for (size_t k = 0; k < sizeof messages / sizeof *messages; k++) {
                struct weft_read_limit limit;
                if (!fills_path(&limit, rates[i], trips[j], messages[k], 30e6, 40 * trips[j] + 5,
                                16 * trips[j] + 1))
                    continue; /* the limit is at most 64 MiB: two round trips */
                double queued = (double)limit.all / link.rate;
                assert_true(queued <= 2.6 * (link.round_trip + 128 * 1024 / link.rate));
            }
}

/* The first read waits for a connection, or for a peer that computes: no later one waits as long.
 */
static void forgets_a_late_start(void **state)
{
    struct weft_read_limit limit;
    (void)state;
    link = (struct link){.rate = gigabit, .round_trip = 0.001};
    weft_read_limit_open(&limit, 0);
    weft_read_limit_start(&limit, 64 << 10, model_clock);
    now += 1;
    weft_read_limit_end(&limit, 64 << 10, model_clock);
    assert_true(run(&limit, 512 << 10, 2, 0.5) >= 0.95);
    assert_true((double)limit.all / link.rate <= 0.02);
}

/* The limit follows a link that becomes slower, and faster again. */
static void follows_the_rate(void **state)
{
    struct weft_read_limit limit;
    (void)state;
    link.round_trip = 100e-6;
    link.rate = 10 * gigabit;
    weft_read_limit_open(&limit, 0);
    run(&limit, 1 << 20, 1, 0);
    size_t wide = limit.all;
    link.rate = 0.1 * gigabit;
    run(&limit, 1 << 20, 3, 0);
    assert_true(limit.all < wide / 8);
    link.rate = 10 * gigabit;
    assert_true(run(&limit, 1 << 20, 1, 0.2) >= 0.95);
    assert_true(limit.all > wide / 2);
}

/* Reads one message, which no other follows. Returns its time. */
static double read_one(struct weft_read_limit *limit, size_t message)
{
    size_t left = message;
    double begin = now;
    while (left > 0 || limit->reading > 0) {
        while (left > 0 && weft_read_limit_is_open(limit, message)) {
            size_t piece = piece_of(limit, message, left);
            request(limit, piece);
            left -= piece;
        }
        now = link.arriving[link.first].at;
        weft_read_limit_end(limit, link.arriving[link.first].bytes, model_clock);
        link.first = (link.first + 1) % IN_FLIGHT;
        link.count--;
    }
    return now - begin;
}

/* A message of 1 MiB from a peer whose rate is not known takes one round trip, also the next one.
 */
static void reads_at_once(void **state)
{
    struct weft_read_limit limit;
    (void)state;
    link = (struct link){.rate = 10 * gigabit, .round_trip = 0.04};
    weft_read_limit_open(&limit, 0);
    for (int i = 0; i < 4; i++) {
        double time = read_one(&limit, 1 << 20);
        assert_true(time < 1.1 * (link.round_trip + (1 << 20) / link.rate));
        now += 1;
    }
}

/* Two ranks that read from each other. Each has a socket, a queue whose head leaves at the link's
 * rate. Data that the peer reads enter it before requests, as in the providers net and tcp. */
enum { QUEUED = 32768, SEGMENT = 16 << 10, REQUEST_BYTES = 64 };

struct packet {
    size_t bytes, read; /* read: of a request its bytes, of the last segment those of the read */
    bool request;
    double at;
};

struct queue {
    struct packet packets[QUEUED];
    unsigned first, end;
};

static struct side {
    struct weft_read_limit limit;
    struct queue data, requests, socket, wire;
    size_t in_socket, arrived, left;
    double sent_at; /* the time at which the head of the socket has left */
} sides[2];

static void put(struct queue *queue, struct packet packet)
{
    assert_true(queue->end - queue->first < QUEUED);
    queue->packets[queue->end++ % QUEUED] = packet;
}

static struct packet *head(struct queue *queue)
{
    return queue->first == queue->end ? NULL : &queue->packets[queue->first % QUEUED];
}

static void fill_socket(struct side *side, size_t socket_bytes)
{
    bool idle = !head(&side->socket);
    while (side->in_socket < socket_bytes && (head(&side->data) || head(&side->requests))) {
        struct queue *from = head(&side->data) ? &side->data : &side->requests;
        struct packet next = *head(from);
        if (next.bytes > SEGMENT) {
            head(from)->bytes -= SEGMENT;
            next.bytes = SEGMENT;
            next.read = 0;
        } else {
            from->first++;
        }
        side->in_socket += next.bytes;
        put(&side->socket, next);
    }
    if (idle && head(&side->socket))
        side->sent_at = now + (double)head(&side->socket)->bytes / link.rate;
}

static void read_on(struct side *side, size_t message, size_t socket_bytes)
{
    side->limit.exchange = true;
    while (weft_read_limit_is_open(&side->limit, message)) {
        size_t left = side->left ? side->left : message;
        size_t piece = piece_of(&side->limit, message, left);
        side->left = left - piece;
        put(&side->requests, (struct packet){REQUEST_BYTES, piece, true, 0});
        weft_read_limit_start(&side->limit, piece, model_clock);
    }
    fill_socket(side, socket_bytes);
}

/* The next event: a packet leaves a socket, or arrives. */
static void exchange_on(size_t message, size_t socket_bytes)
{
    struct side *sender = NULL, *receiver = NULL;
    double next = 1e9;
    for (int i = 0; i < 2; i++) {
        struct packet *arriving = head(&sides[i].wire);
        if (head(&sides[i].socket) && sides[i].sent_at < next) {
            sender = &sides[i];
            receiver = NULL;
            next = sides[i].sent_at;
        }
        if (arriving && arriving->at < next) {
            sender = &sides[i];
            receiver = &sides[!i];
            next = arriving->at;
        }
    }
    assert_non_null(sender);
    now = next;
    if (!receiver) {
        struct packet sent = sender->socket.packets[sender->socket.first++ % QUEUED];
        sender->in_socket -= sent.bytes;
        sent.at = now + link.round_trip / 2;
        put(&sender->wire, sent);
        if (head(&sender->socket))
            sender->sent_at = now + (double)head(&sender->socket)->bytes / link.rate;
        fill_socket(sender, socket_bytes);
        return;
    }
    struct packet packet = sender->wire.packets[sender->wire.first++ % QUEUED];
    if (packet.request) {
        put(&receiver->data, (struct packet){packet.read, packet.read, false, 0});
        fill_socket(receiver, socket_bytes);
        return;
    }
    receiver->arrived += packet.bytes;
    if (packet.read) {
        weft_read_limit_end(&receiver->limit, packet.read, model_clock);
        read_on(receiver, message, socket_bytes);
    }
}

/* Reads by both ranks, the second one `delay` seconds later. Returns the lower one of the parts of
 * the two directions that are used after 8 seconds. */
static double exchange(size_t message, size_t socket_bytes, double delay)
{
    double used[2];
    size_t before[2];
    for (int k = 0; k < 2; k++) {
        sides[k] = (struct side){0};
        weft_read_limit_open(&sides[k].limit, 0);
    }
    now = 0;
    read_on(&sides[0], message, socket_bytes);
    while (now < delay)
        exchange_on(message, socket_bytes);
    read_on(&sides[1], message, socket_bytes);
    while (now < 8)
        exchange_on(message, socket_bytes);
    for (int k = 0; k < 2; k++)
        before[k] = sides[k].arrived;
    double begin = now;
    while (now < 12)
        exchange_on(message, socket_bytes);
    for (int k = 0; k < 2; k++)
        used[k] = (double)(sides[k].arrived - before[k]) / (now - begin) / link.rate;
    return used[0] < used[1] ? used[0] : used[1];
}

/* Both directions are full, also if one rank has begun later. */
static void fills_both_directions(void **state)
{
    static const double trips[] = {400e-6, 2e-3}, delays[] = {0, 0.003, 0.03};
    static const size_t messages[] = {64 << 10, 512 << 10, 2 << 20, 16 << 20};
    static const size_t sockets[] = {128 << 10, 512 << 10, 2 << 20};
    (void)state;
    for (int i = 0; i < 2 * 3 * 4 * 3; i++) {
        size_t message = messages[i / 6 % 4], socket_bytes = sockets[i / 24];
        double delay = delays[i / 2 % 3];
        link.rate = 0.05 * gigabit;
        link.round_trip = trips[i % 2];
        double used = exchange(message, socket_bytes, delay);
        if (used < 0.9)
            print_message("%g us, %zu bytes, socket of %zu, %g s later: %.3f\n",
                          link.round_trip * 1e6, message, socket_bytes, delay, used);
        assert_true(used >= 0.9);
    }
}

/* On a long path the limits do not fall so far that the rate falls with them. */
static void fills_long_paths_in_both_directions(void **state)
{
    static const double trips[] = {0.02, 0.04, 0.08}, rates[] = {0.05, 0.2, 1};
    (void)state;
    for (int i = 0; i < 9; i++) {
        link.round_trip = trips[i % 3];
        link.rate = rates[i / 3] * gigabit;
        double used = exchange(512 << 10, 8 << 20, 0.003);
        if (used < 0.5)
            print_message("%g Gbit/s, %g ms: %.3f\n", rates[i / 3], trips[i % 3] * 1e3, used);
        assert_true(used >= 0.5);
    }
}

/* Reads 64 KiB while no other read is in flight, then 64 of these one after the other at the rate
 * of the link, two at a time. */
static void read_alone_then_many(struct weft_read_limit *limit, double alone)
{
    const size_t bytes = 64 << 10;
    weft_read_limit_start(limit, bytes, model_clock);
    weft_read_limit_start(limit, bytes, model_clock);
    now += alone;
    weft_read_limit_end(limit, bytes, model_clock);
    for (int i = 0; i < 64; i++) {
        weft_read_limit_start(limit, bytes, model_clock);
        now += (double)bytes / link.rate;
        weft_read_limit_end(limit, bytes, model_clock);
    }
    now += (double)bytes / link.rate;
    weft_read_limit_end(limit, bytes, model_clock);
}

/* In an exchange a request waits for a quarter of a second behind what the peer has requested
 * before it had a rate: the limit does not grow. It does if the next one takes as long. */
static void ignores_one_late_read(void **state)
{
    struct weft_read_limit limit;
    (void)state;
    link.rate = 0.05 * gigabit;
    weft_read_limit_open(&limit, 0);
    limit.exchange = true;
    read_alone_then_many(&limit, 0.01);
    assert_true(limit.all <= 192 << 10);
    read_alone_then_many(&limit, 0.25);
    assert_true(limit.all <= 192 << 10);
    read_alone_then_many(&limit, 0.01);
    assert_true(limit.all <= 192 << 10);
    read_alone_then_many(&limit, 0.25);
    read_alone_then_many(&limit, 0.25);
    assert_true(limit.all > 256 << 10);
}

static void keeps_what_is_set(void **state)
{
    struct weft_read_limit limit;
    (void)state;
    weft_read_limit_open(&limit, 256 << 10);
    link.round_trip = 100e-6;
    link.rate = 10 * gigabit;
    run(&limit, 16 << 20, 0.1, 0);
    assert_int_equal(weft_read_limit_of(&limit, 1), 256 << 10);
    assert_int_equal(weft_read_limit_of(&limit, 16 << 20), 256 << 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_the_link),
        cmocka_unit_test(fills_long_paths),
        cmocka_unit_test(forgets_a_late_start),
        cmocka_unit_test(follows_the_rate),
        cmocka_unit_test(reads_at_once),
        cmocka_unit_test(fills_both_directions),
        cmocka_unit_test(fills_long_paths_in_both_directions),
        cmocka_unit_test(ignores_one_late_read),
        cmocka_unit_test(keeps_what_is_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
