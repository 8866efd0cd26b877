// SPDX-License-Identifier: BSD-3-Clause
/*
 * A ring: the one-way queue between two processes of a node, one writer, one reader. It knows no
 * MPI and no processes; both ends work on the same shared memory, which begins as zero bytes.
 *
 *     struct weft_ring_shared   two cache lines: what the reader tells the writer, and the reverse
 *     line 0 .. line L-1        one cache line each: a turn, and 56 bytes
 *     data area                 D bytes, for what does not fit a line
 *
 * A line carries its own news: its last word to be written is its turn, the number of times that a
 * line was written to this ring, and the reader knows the next one. So a message that fits a line
 * costs one transfer of one cache line. How far the reader is, the writer needs to know only when it
 * thinks that the ring is full; the reader says it now and then.
 *
 * Positions (of lines, and of bytes in the data area) count up from 0, modulo 2^32, and never go
 * back; the place is the position modulo L or D, which are powers of two.
 *
 * Invariants:
 *  - Line p has turn p + 1 exactly while it holds what the writer put there at position p; what it
 *    held before had another turn. So no line is ever cleared.
 *  - 0 <= tail - consumed <= L, and the same for data and D: nothing is overwritten before it was
 *    consumed.
 *  - A piece of data lies in one stretch and is at most a quarter of D, and the reader owes the
 *    writer less than a quarter of D and of L: so an empty ring always has room for a piece.
 *  - The data of a line are complete when its turn is there, or, if the writer says so in the line,
 *    as far as `filled` tells.
 */
#ifndef WEFT_RING_H
#define WEFT_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WEFT_RING_LINE = 64, WEFT_RING_BODY = 56 };

/* Pieces of APART_FROM bytes up to a page begin at a page of the data area each, while there is room:
 * the reader's processor fetches ahead what follows the piece that it reads, though not across
 * pages, and would take the lines of the next piece from the writer that is about to fill them. */
enum { WEFT_RING_APART_FROM = 256, WEFT_RING_PAGE = 4096 };

struct weft_ring_line {
    _Alignas(WEFT_RING_LINE) _Atomic uint32_t turn;
    uint32_t at; /* position of its data, where it has any */
    unsigned char body[WEFT_RING_BODY];
};

_Static_assert(sizeof(struct weft_ring_line) == WEFT_RING_LINE, "a line is a cache line");

struct weft_ring_shared {
    _Alignas(WEFT_RING_LINE) _Atomic uint64_t consumed; /* by the reader: lines, data << 32 */
    _Alignas(WEFT_RING_LINE) _Atomic uint32_t filled; /* position that the writer's copying is at */
};

struct weft_ring_geometry {
    uint32_t lines, data; /* powers of two; lines >= 4, data >= 256 */
};

/* What each end keeps for itself. */
struct weft_ring_writer {
    uint32_t tail, limit; /* the next line's position; the first one that may not be written yet */
    uint32_t mask;        /* L - 1 */
    struct weft_ring_line *lines;
    struct weft_ring_shared *shared;
    char *data;
    uint32_t data_tail, data_consumed, data_size;
    uint32_t asked, laps; /* tail when it last asked; how often tail has wrapped around before */
};

struct weft_ring_reader {
    uint32_t head, mask;
    const struct weft_ring_line *lines;
    struct weft_ring_shared *shared;
    const char *data;
    uint32_t data_head, data_size;
    uint32_t told, data_told; /* what `consumed` says */
    uint32_t laps;            /* how often head has wrapped around before it told */
};

/* The bytes of shared memory that a ring takes; a multiple of WEFT_RING_LINE. */
static inline size_t weft_ring_bytes(struct weft_ring_geometry shape)
{
    return sizeof(struct weft_ring_shared) + (size_t)shape.lines * sizeof(struct weft_ring_line) +
           shape.data;
}

/* The longest piece of data. */
static inline size_t weft_ring_piece(struct weft_ring_geometry shape)
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

/* Fetches a cache line for writing. (Compilers write this instruction only for processors that they
 * are told of; those that do not know it take it as doing nothing.) */
static inline void weft_ring_own(const void *line)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw (%0)" : : "r"(line));
#else
    __builtin_prefetch(line, 1);
#endif
}

/* ---- The writer */

/* Looks how far the reader is. */
static inline void weft_ring_ask(struct weft_ring_writer *w)
{
    uint64_t consumed = atomic_load_explicit(&w->shared->consumed, memory_order_acquire);
    w->laps += w->tail < w->asked;
    w->asked = w->tail;
    w->limit = (uint32_t)consumed + w->mask + 1;
    w->data_consumed = (uint32_t)(consumed >> 32);
}

/* True when the next line may be written, as far as this end knows. */
static inline bool weft_ring_has_line(const struct weft_ring_writer *w)
{
    return w->tail != w->limit;
}

/* True when the next line may be written. */
static inline bool weft_ring_make_line(struct weft_ring_writer *w)
{
    if (!weft_ring_has_line(w))
        weft_ring_ask(w);
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
    uint32_t turn = ++w->tail;
    atomic_store_explicit(&line->turn, turn, memory_order_release);
    return turn;
}

static inline uint32_t weft_ring_whole_lines(uint32_t bytes)
{
    return (bytes + WEFT_RING_LINE - 1) & ~(uint32_t)(WEFT_RING_LINE - 1);
}

/* The position at which a piece in one stretch begins, from start on. */
static inline uint32_t weft_ring_stretch(const struct weft_ring_writer *w, uint32_t start,
                                         uint32_t whole)
{
    uint32_t to_end = w->data_size - (start & (w->data_size - 1));
    return whole > to_end ? start + to_end : start;
}

/* Where the next piece is to begin, if there is room. */
static inline uint32_t weft_ring_wish(const struct weft_ring_writer *w, uint32_t whole)
{
    uint32_t start = w->data_tail;
    if (whole >= WEFT_RING_APART_FROM && whole <= WEFT_RING_PAGE)
        start = (start + WEFT_RING_PAGE - 1) & ~(uint32_t)(WEFT_RING_PAGE - 1);
    return weft_ring_stretch(w, start, whole);
}

static inline bool weft_ring_fits(const struct weft_ring_writer *w, uint32_t start, uint32_t whole)
{
    return start + whole - w->data_consumed <= w->data_size;
}

/* Room for a piece of data, which belongs to the next line: writes its position to *at and returns
 * its place, or NULL when there is none now. */
static inline char *weft_ring_reserve(struct weft_ring_writer *w, uint32_t bytes, uint32_t *at)
{
    uint32_t whole = weft_ring_whole_lines(bytes), start = weft_ring_wish(w, whole);
    if (!weft_ring_fits(w, start, whole)) {
        weft_ring_ask(w);
        if (!weft_ring_fits(w, start, whole))
            start = weft_ring_stretch(w, w->data_tail, whole);
        if (!weft_ring_fits(w, start, whole))
            return NULL;
    }
    *at = start;
    w->data_tail = start + whole;
    return w->data + (start & (w->data_size - 1));
}

/* Fetches what a next piece like the last one will lie in, for writing: the reader had it last. To be
 * called when nobody waits for the writer any more. */
static inline void weft_ring_prepare(const struct weft_ring_writer *w, uint32_t bytes)
{
    uint32_t whole = weft_ring_whole_lines(bytes), start = weft_ring_wish(w, whole);
    char *place = w->data + (start & (w->data_size - 1));
    for (uint32_t done = 0; done < whole && done < WEFT_RING_PAGE; done += WEFT_RING_LINE)
        weft_ring_own(place + done);
}

/* Tells the reader that the data up to position upto are there, of a line that was published before
 * its data were complete. */
static inline void weft_ring_fill(struct weft_ring_writer *w, uint32_t upto)
{
    atomic_store_explicit(&w->shared->filled, upto, memory_order_release);
}

/* The lines that were ever written. */
static inline uint64_t weft_ring_written(const struct weft_ring_writer *w)
{
    return ((uint64_t)w->laps + (w->tail < w->asked)) << 32 | w->tail;
}

/* ---- The reader */

/* True when there is a line to read. */
static inline bool weft_ring_ready(const struct weft_ring_reader *r)
{
    const struct weft_ring_line *line = &r->lines[r->head & r->mask];
    return atomic_load_explicit(&line->turn, memory_order_acquire) == r->head + 1;
}

/* The line to read, when weft_ring_ready says that there is one. */
static inline const struct weft_ring_line *weft_ring_peek(const struct weft_ring_reader *r)
{
    return &r->lines[r->head & r->mask];
}

static inline const char *weft_ring_data(const struct weft_ring_reader *r, uint32_t at)
{
    return r->data + (at & (r->data_size - 1));
}

/* True when the data of a line that was published early are there up to position upto. */
static inline bool weft_ring_is_filled(const struct weft_ring_reader *r, uint32_t upto)
{
    uint32_t filled = atomic_load_explicit(&r->shared->filled, memory_order_acquire);
    return (int32_t)(filled - upto) >= 0;
}

/* Tells the writer how far this end is. */
static inline void weft_ring_tell(struct weft_ring_reader *r)
{
    r->laps += r->head < r->told;
    r->told = r->head;
    r->data_told = r->data_head;
    atomic_store_explicit(&r->shared->consumed, (uint64_t)r->data_head << 32 | r->head,
                          memory_order_release);
}

/* Done with all lines before position head. */
static inline void weft_ring_consume_to(struct weft_ring_reader *r, uint32_t head)
{
    r->head = head;
    if (head - r->told > r->mask >> 2)
        weft_ring_tell(r);
}

/* The lines that were ever read. */
static inline uint64_t weft_ring_read(const struct weft_ring_reader *r)
{
    return ((uint64_t)r->laps + (r->head < r->told)) << 32 | r->head;
}

/* Done with a line. */
static inline void weft_ring_consume(struct weft_ring_reader *r)
{
    weft_ring_consume_to(r, r->head + 1);
}

/* Done with a line and its piece of data; both are copied or used up. */
static inline void weft_ring_consume_data(struct weft_ring_reader *r, uint32_t at, uint32_t bytes)
{
    r->head++;
    r->data_head = at + weft_ring_whole_lines(bytes);
    if (r->data_head - r->data_told >= r->data_size >> 2 || r->head - r->told > r->mask >> 2)
        weft_ring_tell(r);
}

#endif
