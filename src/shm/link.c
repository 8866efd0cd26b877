// SPDX-License-Identifier: BSD-3-Clause
/*
 * Links: one for each rank of the node that this one has talked to, with both rings of the pair.
 *
 * A rank polls the rings of its links only. Who writes to a rank for the first time sets its bit in
 * that rank's news, one word for 64 members, and the rank makes its link then.
 *
 * Invariant: a bit in the news is set before the first line is written, so no line stays unseen.
 */
#include "core/pt2pt/cell.h"
#include "core/object/error.h"
#include "core/process/weft.h"
#include "shm/shm_internal.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static void announce(int index)
{
    struct weft_shm_member *member = weft_shm_member(index);
    uint64_t bit = UINT64_C(1) << (weft_shm.self % WEFT_SHM_NEWS_WORD);
    atomic_fetch_or(&member->news[weft_shm.self / WEFT_SHM_NEWS_WORD], bit);
    weft_shm_wake(&member->bell);
}

struct weft_shm_link *weft_shm_make_link(struct weft_peer *peer, struct weft_shm_share *share_out,
                                         struct weft_shm_share *share_in,
                                         struct weft_ring_geometry shape)
{
    int index = weft_shm_index(peer->world);
    struct weft_shm_link *link = aligned_alloc(WEFT_RING_LINE, sizeof *link);
    if (!link)
        return NULL;
    *link = (struct weft_shm_link){.bell = &weft_shm_member(index)->bell,
                                   .share_out = share_out,
                                   .share_in = share_in,
                                   .peer = peer,
                                   .pid = weft_shm_member(index)->pid,
                                   .no_read = !weft_shm.single_copy};
    link->last = &link->first;
    weft_ring_open_writer(&link->out, share_out + 1, shape);
    weft_ring_open_reader(&link->in, share_in + 1, shape);
    link->stage = weft_shm_stage(index);
    return link;
}

int weft_shm_connect(struct weft_peer *peer, char *why, size_t len)
{
    int index = weft_shm_index(peer->world);
    struct weft_shm_link *link =
        weft_shm_make_link(peer, weft_shm_share(weft_shm.self, index),
                           weft_shm_share(index, weft_shm.self), weft_shm.shape);
    if (!link || !weft_shm_prepare_cells(link, index)) {
        snprintf(why, len, "no memory to talk to one more rank of this node (rank %d)",
                 peer->world);
        free(link);
        return -1;
    }
    peer->shm = link;
    weft_shm_set_share(link);
    peer->listen_below = (size_t)INT32_MAX + 1;
    weft_shm.active[weft_shm.nactive++] = link;
    announce(index);
    return 0;
}

int weft_shm_read_news(void)
{
    int events = 0;
    for (int word = 0; word < weft_shm.news_words; word++) {
        uint64_t fresh = atomic_load(&weft_shm.news[word]) & ~weft_shm.known[word];
        weft_shm.known[word] |= fresh;
        for (; fresh; fresh &= fresh - 1, events++) {
            int index = word * WEFT_SHM_NEWS_WORD + __builtin_ctzll(fresh);
            if (!weft_peer_get(weft_shm.world[index]))
                weft_fatal(MPI_ERR_NO_MEM,
                           "no memory to talk to one more rank of this node "
                           "(rank %d)",
                           weft_shm.world[index]);
        }
    }
    return events;
}

bool weft_shm_has_mail(void)
{
    for (int word = 0; word < weft_shm.news_words; word++)
        if (atomic_load(&weft_shm.news[word]) & ~weft_shm.known[word])
            return true;
    for (int i = 0; i < weft_shm.nactive; i++)
        if (weft_ring_ready(&weft_shm.active[i]->in))
            return true;
    return false;
}

bool weft_shm_is_gone(const struct weft_shm_link *link, unsigned *looks)
{
    enum { LOOKS_BEFORE_YIELD = 1 << 14 };
    if (++*looks % LOOKS_BEFORE_YIELD)
        return false;
    if (kill(link->pid, 0) && errno == ESRCH)
        return true;
    sched_yield();
    return false;
}

static void bury(struct weft_shm_link *link)
{
    link->buried = true;
    weft_shm_set_share(link);
    weft_shm_drop_backlog(link);
    weft_shm_drop_pushed(link);
}

void weft_shm_bury(struct weft_peer *peer)
{
    struct weft_shm_link *link = peer->shm, *of_cell;
    if (!link)
        return;
    while (weft_shm_drain(link))
        ;
    for (int i = 0; i < weft_shm.nactive; i++)
        if (weft_shm.active[i] == link)
            weft_shm.active[i--] = weft_shm.active[--weft_shm.nactive];
    weft_shm.look = 0;
    for (uint32_t cell = 0; cell < WEFT_CELLS; cell++)
        if ((of_cell = weft_shm_cell_known(link, cell)) != NULL) {
            weft_shm_leave_cell(of_cell, cell);
            bury(of_cell);
        }
    bury(link);
}

/* The lines that went to a peer, or came from it, and were messages. */
static uint64_t messages(const struct weft_peer *peer,
                         uint64_t (*of)(const struct weft_shm_link *link))
{
    const struct weft_shm_link *of_cell;
    uint64_t sum = peer->shm ? of(peer->shm) : 0;
    for (uint32_t cell = 0; peer->shm && cell < WEFT_CELLS; cell++)
        if ((of_cell = weft_shm_cell_known(peer->shm, cell)) != NULL)
            sum += of(of_cell);
    return sum;
}

static uint64_t written(const struct weft_shm_link *link)
{
    return weft_ring_written(&link->out) - link->controls_out;
}

static uint64_t read_from(const struct weft_shm_link *link)
{
    return weft_ring_read(&link->in) - link->controls_in;
}

uint64_t weft_shm_sent_to(const struct weft_peer *peer)
{
    return messages(peer, written);
}

uint64_t weft_shm_arrived_from(const struct weft_peer *peer)
{
    return messages(peer, read_from);
}

void weft_shm_free_links(void)
{
    for (int i = 0; i < weft.job.size; i++) {
        struct weft_peer *peer = weft_peer_known(i);
        if (!peer || !peer->shm)
            continue;
        for (uint32_t cell = 0; cell < WEFT_CELLS; cell++)
            free(weft_shm_cell_known(peer->shm, cell));
        free(peer->shm->cells);
        free(peer->shm);
        peer->shm = NULL;
    }
}
