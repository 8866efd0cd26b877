// SPDX-License-Identifier: BSD-3-Clause
/*
 * The window of the reads from one peer: the bytes that may be in flight (read_window.c).
 */
#ifndef WEFT_OFI_READ_WINDOW_H
#define WEFT_OFI_READ_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Messages longer than this have the window `of_long`. */
enum { WEFT_READ_LONG = 1 << 20 };

/* Their widest window on a path with short round trips, and the shortest piece of a message. */
enum { WEFT_READ_LONG_WINDOW = 2 << 20, WEFT_READ_LEAST = 64 << 10 };

struct weft_read_window {
    size_t reading;      /* bytes in flight */
    size_t all, of_long; /* the window, and the narrower one of long messages */
    double mark;         /* seconds */
    uint32_t arrived;    /* bytes since the mark */
    float round_trip;    /* seconds, measured; 0: not yet */
    float trip_before;   /* the same when no read was in flight */
    float alone;         /* seconds of the read that started then, and its bytes */
    uint32_t alone_bytes;
    bool measured; /* the windows follow the rate, else they are fixed */
    bool first;    /* no read has ended since that one started */
};

/* The window of a peer: of so many bytes, or measured (0). */
void weft_read_window_open(struct weft_read_window *window, size_t bytes);

/* Computes the windows, now that the bytes in arrived have arrived since the mark. */
void weft_read_window_measure(struct weft_read_window *window, double now);

/* A read of so many bytes starts, or has ended. */
static inline void weft_read_window_start(struct weft_read_window *window, size_t bytes,
                                          double (*clock)(void))
{
    if (window->measured && !window->reading) {
        window->arrived = 0;
        window->first = true;
        window->alone_bytes = (uint32_t)bytes;
        window->mark = clock();
    }
    window->reading += bytes;
}

static inline void weft_read_window_end(struct weft_read_window *window, size_t bytes,
                                        double (*clock)(void))
{
    window->reading -= bytes;
    window->arrived += (uint32_t)bytes;
    if (window->measured && (window->first || window->arrived >= window->all))
        weft_read_window_measure(window, clock());
}

/* Reads of a message of that length start while fewer bytes are in flight. */
static inline size_t weft_read_window_of(const struct weft_read_window *window, size_t message)
{
    return message > WEFT_READ_LONG ? window->of_long : window->all;
}

/* True if a read of a message of that length may start. */
static inline bool weft_read_window_is_open(const struct weft_read_window *window, size_t message)
{
    return window->reading < weft_read_window_of(window, message);
}

/* The longest read, at most `most`, of a message of that length: half of the window, so that one is
 * in flight while the next is requested, or a quarter of a narrow one, but at least 64 KiB. */
static inline size_t weft_read_window_piece(const struct weft_read_window *window, size_t message,
                                            size_t most)
{
    size_t bytes = weft_read_window_of(window, message);
    size_t longest = bytes < WEFT_READ_LONG_WINDOW ? bytes / 4 : bytes / 2;
    while (most > longest && most > WEFT_READ_LEAST)
        most /= 2;
    return most;
}

#endif
