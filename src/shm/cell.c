// SPDX-License-Identifier: BSD-3-Clause
/*
 * The rings of cells (core/pt2pt/cell.h): a link for each peer and cell, made at first contact on a
 * communicator of the cell, by whoever sends first. That one announces it through the peer's own ring.
 *
 * Which ring a communicator's messages are in must not change: so whether two ranks have cells was
 * settled when both had joined the segment.
 *
 * Invariants:
 *  - With the cell held, and nothing else, are a link's two rings read and written, as far as short
 *    messages go, and share_below, first and the cell's list of links read. The holder of the lock
 *    of the process holds all cells in use besides, and does everything as with other links.
 *  - A line that the holder of a cell cannot deal with stays where it is, and all behind it. What a
 *    ring of a cell has is complete when its turn is there: nothing is published early.
 */
#include "core/pt2pt/cell.h"

#include "core/object/error.h"
#include "core/pt2pt/sw_match.h"
#include "core/process/weft.h"
#include "shm/copy.h"
#include "shm/shm_internal.h"

#include <stdlib.h>
#include <string.h>

enum { LOOKS = 8, BATCH = 32 };

void weft_shm_open_cells(void)
{
    size_t room = (size_t)weft_shm.members;
    weft_shm.more_news = weft_shm.news_words > 1;
    if (!weft_cells_on || !weft_shm.head->cells)
        return;
    weft_shm.cells = aligned_alloc(WEFT_RING_LINE, WEFT_CELLS * sizeof *weft_shm.cells);
    for (int i = 0; i < WEFT_CELLS && weft_shm.cells; i++)
        weft_shm.cells[i] =
            (struct weft_shm_cell){.active = malloc(room * sizeof(struct weft_shm_link *))};
    for (int i = 0; i < WEFT_CELLS; i++)
        if (!weft_shm.cells || !weft_shm.cells[i].active)
            weft_fatal(MPI_ERR_NO_MEM, "no memory for the links of threads to %d ranks",
                       weft_shm.members);
}

void weft_shm_close_cells(void)
{
    for (int i = 0; i < WEFT_CELLS && weft_shm.cells; i++)
        free(weft_shm.cells[i].active);
    free(weft_shm.cells);
    weft_shm.cells = NULL;
}

bool weft_shm_prepare_cells(struct weft_shm_link *link, int index)
{
    if (!weft_shm.cells || !weft_shm_member(index)->cells)
        return true;
    link->cells = calloc(WEFT_CELLS, sizeof(struct weft_shm_link *));
    return link->cells != NULL;
}

/* ---- By the holder of the lock of the process */

static struct weft_shm_link *open_link(struct weft_shm_link *own, uint32_t cell)
{
    struct weft_shm_cell *of = &weft_shm.cells[cell];
    int index = weft_shm_index(own->peer->world);
    struct weft_shm_link *link =
        weft_shm_make_link(own->peer, weft_shm_cell_share(weft_shm.self, index, cell),
                           weft_shm_cell_share(index, weft_shm.self, cell), weft_shm.cell_shape);
    if (!link)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for another thread's messages to rank %d",
                   own->peer->world);
    link->of_cell = true;
    link->buried = own->buried;
    weft_shm_set_share(link);
    own->cells[cell] = link;
    own->peer->cells |= (uint8_t)(1u << cell);
    weft_shm.more_news = true;
    if (!link->buried)
        of->active[of->nactive++] = link;
    return link;
}

struct weft_shm_link *weft_shm_link_of_cell(struct weft_shm_link *own, uint32_t cell)
{
    struct weft_shm_link *link = own->cells[cell];
    if (weft_likely(link != NULL))
        return link;
    link = open_link(own, cell);
    weft_shm_control(own, &(struct weft_shm_body){.kind = WEFT_SHM_CELL, .word.cookie = cell});
    return link;
}

struct weft_shm_link *weft_shm_link_of_channel(struct weft_peer *peer,
                                               const struct weft_channel *channel)
{
    struct weft_shm_link *own = peer->shm;
    if (weft_likely(!channel->cell) || !own || !own->cells)
        return own;
    return weft_shm_link_of_cell(own, channel->cell->number);
}

void weft_shm_cell_announced(struct weft_shm_link *own, uint64_t cell)
{
    if (own->cells && cell < WEFT_CELLS && !own->cells[cell])
        open_link(own, (uint32_t)cell);
}

static struct weft_matcher *matcher_of(uint32_t cell)
{
    uint32_t block = WEFT_CELLS + cell; /* one of the cell's, and none that has no cell */
    return weft_matcher_of(block * WEFT_CONTEXTS + WEFT_CONTEXT_P2P);
}

int weft_shm_poll_cells(void)
{
    int events = 0;
    for (uint32_t cell = 0; cell < WEFT_CELLS; cell++) {
        struct weft_shm_cell *of = &weft_shm.cells[cell];
        for (int looks = of->nactive < LOOKS ? of->nactive : LOOKS; looks > 0; looks--) {
            if (++of->look >= of->nactive)
                of->look = 0;
            if (weft_ring_ready(&of->active[of->look]->in))
                events += weft_shm_drain_cell(of->active[of->look], matcher_of(cell));
        }
    }
    return events;
}

void weft_shm_leave_cell(struct weft_shm_link *link, uint32_t cell)
{
    struct weft_shm_cell *of = &weft_shm.cells[cell];
    while (weft_shm_drain_cell(link, matcher_of(cell)))
        ;
    for (int i = 0; i < of->nactive; i++)
        if (of->active[i] == link)
            of->active[i--] = of->active[--of->nactive];
    of->look = 0;
}

/* ---- By the holder of the cell */

void weft_shm_cell_sent(struct weft_request *request)
{
    weft_shm_part(request)->state = WEFT_SHM_SENT;
}

/* Deals with one line. False when that is not for a cell's holder. */
static inline bool take_line(struct weft_ring_reader *in, const struct weft_ring_line *line,
                             struct weft_matcher *matcher)
{
    const struct weft_shm_body *body = (const struct weft_shm_body *)line->body;
    bool is_short = body->kind == WEFT_SHM_INLINE;
    uint32_t at = line->at, bytes = body->bytes;
    if (weft_unlikely(!is_short && body->kind != WEFT_SHM_DATA) ||
        weft_unlikely(body->form != WEFT_MESSAGE_EAGER))
        return false;
    struct weft_request *request =
        weft_sw_take_plain(matcher, weft_match_label(body->context), body->key, bytes);
    if (weft_unlikely(!request))
        return false;
    request->key = body->key;
    request->bytes = bytes;
    if (weft_likely(is_short)) {
        weft_shm_copy_short(request->buffer, body->data, bytes);
        weft_ring_consume(in);
    } else {
        memcpy(request->buffer, weft_ring_data(in, at), bytes);
        weft_ring_consume_data(in, at, bytes);
    }
    request->pending = 0;
    return true;
}

/* True when what waits to be sent through a link can go on. */
static inline bool wants_retry(struct weft_shm_link *link)
{
    return weft_unlikely(link->first || link->pushed) && weft_ring_make_line(&link->out);
}

int weft_shm_cell_poll(uint32_t cell, struct weft_matcher *matcher)
{
    if (!weft_shm.cells)
        return 0;
    struct weft_shm_cell *of = &weft_shm.cells[cell];
    int lines = 0, n = of->nactive;
    bool stuck = false;
    for (int looks = n < LOOKS ? n : LOOKS; looks > 0; looks--) {
        if (++of->look >= n)
            of->look = 0;
        struct weft_shm_link *link = of->active[of->look];
        for (int batch = BATCH; batch > 0 && weft_ring_ready(&link->in); batch--, lines++)
            if (!take_line(&link->in, weft_ring_peek(&link->in), matcher)) {
                stuck = true;
                break;
            }
        stuck |= wants_retry(link);
    }
    return lines > 0 ? lines : stuck ? -1 : 0;
}
