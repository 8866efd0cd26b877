// SPDX-License-Identifier: BSD-3-Clause
/*
 * The limit of the reads from one peer: the bytes that may be in flight (read_limit.c).
 */
#ifndef WEFT_OFI_READ_LIMIT_H
#define WEFT_OFI_READ_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Messages longer than this have the limit `of_long`. */
enum { WEFT_READ_LONG = 1 << 20 };

/* Their highest limit on a path with short round trips, and the shortest piece of a message. */
enum { WEFT_READ_LONG_LIMIT = 2 << 20, WEFT_READ_LEAST = 64 << 10 };

struct weft_read_limit {
    size_t reading;       /* bytes in flight */
    size_t all, of_long;  /* the limit, and the lower one of long messages */
    double mark;          /* seconds */
    uint32_t arrived;     /* bytes since the mark */
    float rate;           /* bytes a second, measured; in an exchange the highest one */
    float round_trip;     /* seconds, measured; 0: not yet */
    float trip_before;    /* the same when no read was in flight */
    float seen, other;    /* the round trips of the last two reads that started then */
    float alone;          /* seconds of the read that started then */
    float shortest;       /* the least of these so far */
    uint32_t alone_bytes; /* its bytes, and in an exchange those that may wait before its request */
    bool measured;        /* the limits follow the rate, else they are fixed */
    bool first;           /* no read has ended since that one started */
    bool exchange;        /* when the last read started, this rank had data that peers read */
    bool drains; /* no read starts while one is in flight, so that the next one starts alone */
};

/* The limit of a peer: of so many bytes, or measured (0). */
void weft_read_limit_open(struct weft_read_limit *limit, size_t bytes);

/* Computes the limits, now that the bytes in arrived have arrived since the mark. */
void weft_read_limit_measure(struct weft_read_limit *limit, double now);

/* A read of so many bytes starts, or has ended. */
static inline void weft_read_limit_start(struct weft_read_limit *limit, size_t bytes,
                                         double (*clock)(void))
{
    if (limit->measured && !limit->reading) {
        limit->arrived = 0;
        limit->first = true;
        limit->alone_bytes = (uint32_t)(limit->exchange ? bytes + limit->all : bytes);
        limit->mark = clock();
    }
    limit->reading += bytes;
}

static inline void weft_read_limit_end(struct weft_read_limit *limit, size_t bytes,
                                       double (*clock)(void))
{
    limit->reading -= bytes;
    limit->arrived += (uint32_t)bytes;
    if (limit->measured && (limit->first || limit->arrived >= limit->all))
        weft_read_limit_measure(limit, clock());
}

/* Reads of a message of that length start while fewer bytes are in flight. */
static inline size_t weft_read_limit_of(const struct weft_read_limit *limit, size_t message)
{
    return message > WEFT_READ_LONG ? limit->of_long : limit->all;
}

/* True if a read of a message of that length may start. */
static inline bool weft_read_limit_is_open(const struct weft_read_limit *limit, size_t message)
{
    size_t most = limit->drains ? 1 : weft_read_limit_of(limit, message);
    return limit->reading < most;
}

/* The longest next read, at most `most`, of a message of that length: half of the limit, so that
 * one is in flight while the next is requested, or a quarter of a low one, but at least 64 KiB;
 * that much for the first read of a peer, and for one that starts alone after a drain. */
static inline size_t weft_read_limit_piece(const struct weft_read_limit *limit, size_t message,
                                           size_t most)
{
    size_t bytes = weft_read_limit_of(limit, message);
    size_t longest = bytes < WEFT_READ_LONG_LIMIT ? bytes / 4 : bytes / 2;
    if (limit->measured && !limit->reading && (limit->drains || !(limit->alone > 0)))
        longest = WEFT_READ_LEAST;
    while (most > longest && most > WEFT_READ_LEAST)
        most /= 2;
    return most;
}

#endif
