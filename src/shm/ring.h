// SPDX-License-Identifier: BSD-3-Clause
/*
 * A ring: the queue in one direction between two processes of a node, one writer, one reader. It
 * depends on neither MPI nor the segment; both ends work on the same shared memory, which begins as
 * zero bytes.
 *
 *     struct weft_ring_shared   two cache lines: one written by the reader, one by the writer
 *     line 0 .. line L-1        one cache line each: a turn, and 56 bytes
 *     data area                 D bytes, for what does not fit a line
 *
 * The last word of a line to be written is its turn: the number of lines written to this ring so
 * far. The reader polls for the next turn, so a message that fits a line costs one transfer of one
 * cache line. The writer needs the consumer index only when the ring seems full, so the reader
 * publishes it once per quarter of the ring.
 *
 * Positions (of lines, and of bytes in the data area) count up from 0, modulo 2^32, and never go
 * back; the index is the position modulo L or D, which are powers of two.
 *
 * Invariants:
 *  - Line p has turn p + 1 exactly while it holds what the writer put there at position p; its
 *    former content had another turn. So no line is ever cleared.
 *  - 0 <= tail - consumed <= L, and the same for data and D: nothing is overwritten before it was
 *    consumed.
 *  - The data of a line are contiguous and at most a quarter of D, and less than a quarter of D and
 *    of L is consumed but not published: so an empty ring always has space for the longest data.
 *  - The data of a line are complete when its turn is there.
 */
#ifndef WEFT_RING_H
#define WEFT_RING_H

#include "core/base/assert.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WEFT_RING_LINE = 64, WEFT_RING_BODY = 56 };

/* Data of up to a page begin at a page of the data area each, while there is space: the reader's
 * processor prefetches what follows the data that it reads, though not across pages, and would
 * take the lines of the next data from the writer that is about to fill them. */
enum { WEFT_RING_PAGE = 4096 };

struct weft_ring_line {
    _Alignas(WEFT_RING_LINE) _Atomic uint32_t turn;
    uint32_t at; /* position of its data, where it has any */
    unsigned char body[WEFT_RING_BODY];
};

_Static_assert(sizeof(struct weft_ring_line) == WEFT_RING_LINE, "a line is a cache line");

struct weft_ring_shared {
    _Alignas(WEFT_RING_LINE) _Atomic uint64_t consumed;  /* by the reader: lines, data << 32 */
    _Atomic uint32_t exhausted;                          /* by the reader: 1: no credits left */
    _Alignas(WEFT_RING_LINE) char apart[WEFT_RING_LINE]; /* processors fetch lines in pairs */
};

struct weft_ring_geometry {
    uint32_t lines, data; /* powers of two; lines >= 4, data >= 256 */
};

/* The private state of each end. */
struct weft_ring_writer {
    uint32_t tail, limit; /* the next line's position; the first one that may not be written yet */
    uint32_t mask;        /* L - 1 */
    struct weft_ring_line *lines;
    struct weft_ring_shared *shared;
    char *data;
    uint32_t data_tail, data_consumed, data_size;
    uint32_t refreshed, laps; /* tail at the last refresh; wraps of tail before that */
    bool exhausted;           /* at the last refresh */
};

struct weft_ring_reader {
    uint32_t head, mask;
    const struct weft_ring_line *lines;
    struct weft_ring_shared *shared;
    const char *data;
    uint32_t data_head, data_size;
    uint32_t published, data_published; /* the values in `consumed` */
    uint32_t laps;                      /* wraps of head before that */
    bool exhausted;                     /* the value in `exhausted` */
};

/* The bytes of shared memory that a ring takes; a multiple of WEFT_RING_LINE. */
static inline size_t weft_ring_bytes(struct weft_ring_geometry shape)
{
    return sizeof(struct weft_ring_shared) + (size_t)shape.lines * sizeof(struct weft_ring_line) +
           shape.data;
}

/* The longest data of a line. */
static inline size_t weft_ring_data_max(struct weft_ring_geometry shape)
{
    return shape.data / 4;
}

/* Take one end of a ring whose memory was never used. */
static inline void weft_ring_open_writer(struct weft_ring_writer *w, void *memory,
                                         struct weft_ring_geometry shape)
{
    struct weft_ring_shared *shared = memory;
    struct weft_ring_line *lines = (struct weft_ring_line *)(shared + 1);
    *w = (struct weft_ring_writer){.limit = shape.lines,
                                   .mask = shape.lines - 1,
                                   .lines = lines,
                                   .shared = shared,
                                   .data = (char *)(lines + shape.lines),
                                   .data_size = shape.data};
}

static inline void weft_ring_open_reader(struct weft_ring_reader *r, void *memory,
                                         struct weft_ring_geometry shape)
{
    struct weft_ring_shared *shared = memory;
    struct weft_ring_line *lines = (struct weft_ring_line *)(shared + 1);
    *r = (struct weft_ring_reader){.mask = shape.lines - 1,
                                   .lines = lines,
                                   .shared = shared,
                                   .data = (char *)(lines + shape.lines),
                                   .data_size = shape.data};
}

/* Fetches a cache line for writing. (Compilers emit this instruction only if the target is known to
 * have it; processors without it execute it as a no-op.) */
static inline void weft_ring_own(const void *line)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw (%0)" : : "r"(line));
#else
    __builtin_prefetch(line, 1);
#endif
}

/* ---- The writer */

/* Reads the consumer index, and whether the reader has credits. */
static inline void weft_ring_refresh(struct weft_ring_writer *w)
{
    uint64_t consumed = atomic_load_explicit(&w->shared->consumed, memory_order_acquire);
    w->laps += w->tail < w->refreshed;
    w->refreshed = w->tail;
    w->limit = (uint32_t)consumed + w->mask + 1;
    w->data_consumed = (uint32_t)(consumed >> 32);
    w->exhausted = atomic_load_explicit(&w->shared->exhausted, memory_order_relaxed);
}

/* True if the reader gives credits for a message that it may have to keep. The answer is as old as
 * the consumer index, so the reader keeps at most the content of a ring beyond the credits. */
static inline bool weft_ring_has_credits(struct weft_ring_writer *w)
{
    if (w->exhausted)
        weft_ring_refresh(w);
    return !w->exhausted;
}

/* True if the next line may be written, by the consumer index read last. */
static inline bool weft_ring_has_line(const struct weft_ring_writer *w)
{
    return w->tail != w->limit;
}

/* True when the next line may be written. */
static inline bool weft_ring_make_line(struct weft_ring_writer *w)
{
    if (!weft_ring_has_line(w))
        weft_ring_refresh(w);
    return weft_ring_has_line(w);
}

/* The next line, to be filled (at and body) and published. */
static inline struct weft_ring_line *weft_ring_line(const struct weft_ring_writer *w)
{
    return &w->lines[w->tail & w->mask];
}

/* Shows the next line to the reader. Returns its turn. */
static inline uint32_t weft_ring_publish(struct weft_ring_writer *w, struct weft_ring_line *line)
{
    weft_assert(weft_ring_has_line(w) && line == weft_ring_line(w));
    uint32_t turn = ++w->tail;
    atomic_store_explicit(&line->turn, turn, memory_order_release);
    return turn;
}

static inline uint32_t weft_ring_round_up(uint32_t bytes)
{
    return (bytes + WEFT_RING_LINE - 1) & ~(uint32_t)(WEFT_RING_LINE - 1);
}

/* The position at which data in one stretch begin, from start on. */
static inline uint32_t weft_ring_stretch(const struct weft_ring_writer *w, uint32_t start,
                                         uint32_t rounded)
{
    uint32_t to_end = w->data_size - (start & (w->data_size - 1));
    return rounded > to_end ? start + to_end : start;
}

/* The preferred position of the next data. */
static inline uint32_t weft_ring_next_start(const struct weft_ring_writer *w, uint32_t rounded)
{
    uint32_t start = w->data_tail;
    if (rounded <= WEFT_RING_PAGE)
        start = (start + WEFT_RING_PAGE - 1) & ~(uint32_t)(WEFT_RING_PAGE - 1);
    return weft_ring_stretch(w, start, rounded);
}

static inline bool weft_ring_fits(const struct weft_ring_writer *w, uint32_t start,
                                  uint32_t rounded)
{
    return start + rounded - w->data_consumed <= w->data_size;
}

/* Reserves space for the data of the next line: writes its position to *at and returns its
 * address, or NULL if there is no space now. */
static inline char *weft_ring_reserve(struct weft_ring_writer *w, uint32_t bytes, uint32_t *at)
{
    uint32_t rounded = weft_ring_round_up(bytes), start = weft_ring_next_start(w, rounded);
    if (!weft_ring_fits(w, start, rounded)) {
        weft_ring_refresh(w);
        if (!weft_ring_fits(w, start, rounded))
            start = weft_ring_stretch(w, w->data_tail, rounded);
        if (!weft_ring_fits(w, start, rounded))
            return NULL;
    }
    weft_assert(rounded <= w->data_size / 4 &&
                (start & (w->data_size - 1)) + rounded <= w->data_size);
    *at = start;
    w->data_tail = start + rounded;
    weft_assert(w->data_tail - w->data_consumed <= w->data_size);
    return w->data + (start & (w->data_size - 1));
}

/* Fetches for writing the lines of next data of the same size, which the reader had last. Called
 * after the doorbell, when the reader no longer waits. */
static inline void weft_ring_prepare(const struct weft_ring_writer *w, uint32_t bytes)
{
    uint32_t rounded = weft_ring_round_up(bytes), start = weft_ring_next_start(w, rounded);
    char *location = w->data + (start & (w->data_size - 1));
    for (uint32_t done = 0; done < rounded && done < WEFT_RING_PAGE; done += WEFT_RING_LINE)
        weft_ring_own(location + done);
}

/* The lines that were ever written. */
static inline uint64_t weft_ring_written(const struct weft_ring_writer *w)
{
    return ((uint64_t)w->laps + (w->tail < w->refreshed)) << 32 | w->tail;
}

/* ---- The reader */

/* True when there is a line to read. */
static inline bool weft_ring_ready(const struct weft_ring_reader *r)
{
    const struct weft_ring_line *line = &r->lines[r->head & r->mask];
    return atomic_load_explicit(&line->turn, memory_order_acquire) == r->head + 1;
}

static inline const char *weft_ring_data(const struct weft_ring_reader *r, uint32_t at)
{
    return r->data + (at & (r->data_size - 1));
}

/* Publishes whether the writer's credits are exhausted. Called before the lines that exhausted them
 * are consumed. */
static inline void weft_ring_set_exhausted(struct weft_ring_reader *r, bool exhausted)
{
    if (r->exhausted == exhausted)
        return;
    r->exhausted = exhausted;
    atomic_store_explicit(&r->shared->exhausted, exhausted, memory_order_relaxed);
}

/* Publishes the consumer index. */
static inline void weft_ring_publish_consumed(struct weft_ring_reader *r)
{
    r->laps += r->head < r->published;
    r->published = r->head;
    r->data_published = r->data_head;
    atomic_store_explicit(&r->shared->consumed, (uint64_t)r->data_head << 32 | r->head,
                          memory_order_release);
}

/* Done with all lines before position head. */
static inline void weft_ring_consume_to(struct weft_ring_reader *r, uint32_t head)
{
    weft_assert(head - r->published <= r->mask + 1 &&
                head - r->published >= r->head - r->published);
    r->head = head;
    if (head - r->published > r->mask >> 2)
        weft_ring_publish_consumed(r);
}

/* The lines that were ever read. */
static inline uint64_t weft_ring_read(const struct weft_ring_reader *r)
{
    return ((uint64_t)r->laps + (r->head < r->published)) << 32 | r->head;
}

/* Done with a line. */
static inline void weft_ring_consume(struct weft_ring_reader *r)
{
    weft_ring_consume_to(r, r->head + 1);
}

/* Done with a line and its data; both are copied or used up. */
static inline void weft_ring_consume_data(struct weft_ring_reader *r, uint32_t at, uint32_t bytes)
{
    weft_assert(r->head - r->published <= r->mask);
    r->head++;
    r->data_head = at + weft_ring_round_up(bytes);
    if (r->data_head - r->data_published >= r->data_size >> 2 ||
        r->head - r->published > r->mask >> 2)
        weft_ring_publish_consumed(r);
}

#endif
