// SPDX-License-Identifier: BSD-3-Clause
/*
 * Links: one for each peer of this lane, with both rings of the pair.
 *
 * A VCI polls the rings of its links only. A rank that writes to another for the first time, for a
 * VCI number, sets its bit in that rank's `contacts` of the number, one word for 64 members, and
 * the other rank makes its link when it reads the bit.
 *
 * Invariant: a bit is set before the first line is written, so no line stays unread.
 */
#include "core/base/error.h"
#include "core/message/foreign.h"
#include "core/message/process.h"
#include "gpu/gpu.h"
#include "shm/shm_internal.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- The state of the VCIs */

void weft_shm_open_vcis(void)
{
    int words = weft_shm.contact_words;
    for (unsigned i = 0; i < weft.nvcis; i++) {
        struct weft_shm_vci *vci = &weft_shm.vcis[i];
        vci->first_contacts = (int)i * words;
        vci->contacts = weft.nvcis == 1 ? (int)weft.vci_numbers * words : words;
    }
}

static bool append_active(struct weft_shm_vci *vci, struct weft_shm_link *link)
{
    weft_assert(vci->nactive <= vci->space && link->vci == vci);
    if (vci->nactive == vci->space) {
        int space = vci->space ? 2 * vci->space : 16;
        struct weft_shm_link **active = realloc(vci->active, (size_t)space * sizeof *active);
        if (!active)
            return false;
        vci->active = active;
        vci->space = space;
    }
    vci->active[vci->nactive++] = link;
    return true;
}

enum { POPULATED_AT_ONCE = 64 << 10 };

WEFT_COLD void weft_shm_populate(uint32_t *present, const char *data, bool write)
{
    uint32_t rest = weft_shm.shape.data - *present;
    uint32_t bytes = rest < POPULATED_AT_ONCE ? rest : POPULATED_AT_ONCE;
    weft_segment_populate(data + *present, bytes, write);
    *present += bytes;
}

/* ---- First contact */

static void announce(int index, unsigned vci_number)
{
    struct weft_shm_member *member = weft_shm_member(index);
    uint64_t bit = UINT64_C(1) << (weft_shm.self % WEFT_SHM_CONTACT_WORD);
    int word = (int)vci_number * weft_shm.contact_words + weft_shm.self / WEFT_SHM_CONTACT_WORD;
    atomic_fetch_or(&member->contacts[word], bit);
    weft_shm_wake(&member->doorbell);
}

static struct weft_shm_link *make_link(struct weft_peer *peer, int index)
{
    struct weft_ring_geometry shape = weft_shm.shape;
    unsigned vci = peer->vci_number % weft.nvcis;
    /* The pages of a short data area take memory when they are used. */
    uint32_t present = shape.data <= POPULATED_AT_ONCE ? shape.data : 0;
    struct weft_shm_link *link = aligned_alloc(WEFT_RING_LINE, sizeof *link);
    if (!link)
        return NULL;
    *link =
        (struct weft_shm_link){.doorbell = &weft_shm_member(index)->doorbell,
                               .vci = &weft_shm.vcis[vci],
                               .matcher = &weft.vcis[vci].matcher,
                               .share_out = weft_shm_share(weft_shm.self, index, peer->vci_number),
                               .share_in = weft_shm_share(index, weft_shm.self, peer->vci_number),
                               .peer = peer,
                               .pid = weft_shm_member(index)->pid,
                               .no_read = !weft_shm.single_copy,
                               .out_present = present,
                               .in_present = present,
                               .core_each = weft_shm.core_each && !peer->vci_number};
    weft_ring_open_writer(&link->out, link->share_out + 1, shape);
    weft_ring_open_reader(&link->in, link->share_in + 1, shape);
    return link;
}

int weft_shm_connect(struct weft_peer *peer, char *why, size_t len)
{
    int index = weft_shm_index(peer->world);
    weft_assert(index >= 0 && index != weft_shm.self && !weft_shm_link(peer));
    struct weft_shm_link *link = make_link(peer, index);
    if (!link || !append_active(link->vci, link)) {
        snprintf(why, len, "no memory to talk to one more rank of this node (rank %d)",
                 peer->world);
        free(link);
        return -1;
    }
    weft_shm_peer(peer)->link = link;
    weft_shm_set_limit(link);
    peer->recv_software_limit = (size_t)INT32_MAX + 1;
    announce(index, peer->vci_number);
    return 0;
}

int weft_shm_accept_contacts(struct weft_shm_vci *vci)
{
    int events = 0;
    for (int i = vci->first_contacts; i < vci->first_contacts + vci->contacts; i++) {
        unsigned vci_number = (unsigned)(i / weft_shm.contact_words);
        uint64_t fresh = atomic_load(&weft_shm.contacts[i]) & ~weft_shm.accepted[i];
        weft_shm.accepted[i] |= fresh;
        for (; fresh; fresh &= fresh - 1, events++) {
            int index = i % weft_shm.contact_words * WEFT_SHM_CONTACT_WORD + __builtin_ctzll(fresh);
            if (!weft_peer_get(vci_number, weft_shm.world[index]))
                weft_fatal(MPI_ERR_NO_MEM,
                           "no memory to talk to one more rank of this node "
                           "(rank %d)",
                           weft_shm.world[index]);
        }
    }
    return events;
}

/* By a rank without threads, whose one VCI has all links. */
bool weft_shm_has_arrivals(void)
{
    const struct weft_shm_vci *vci = &weft_shm.vcis[0];
    if (weft_shm.awaited && atomic_load(weft_shm.awaited) >= weft_shm.awaited_value)
        return true;
    for (int i = vci->first_contacts; i < vci->first_contacts + vci->contacts; i++)
        if (atomic_load(&weft_shm.contacts[i]) & ~weft_shm.accepted[i])
            return true;
    for (int i = 0; i < vci->nactive; i++)
        if (weft_ring_ready(&vci->active[i]->in))
            return true;
    return false;
}

bool weft_shm_is_gone(const struct weft_shm_link *link, unsigned *looks)
{
    enum { LOOKS_BEFORE_YIELD = 1 << 14 };
    if (++*looks % LOOKS_BEFORE_YIELD)
        return false;
    if ((kill(link->pid, 0) && errno == ESRCH) || weft_process_has_failed(link->peer->world))
        return true;
    sched_yield();
    return false;
}

void weft_shm_close_dead(struct weft_peer *peer)
{
    struct weft_shm_link *link = weft_shm_link(peer);
    if (!link)
        return;
    struct weft_shm_vci *vci = link->vci;
    while (weft_shm_drain(link))
        ;
    for (int i = 0; i < vci->nactive; i++)
        if (vci->active[i] == link)
            vci->active[i--] = vci->active[--vci->nactive];
    vci->look = 0;
    link->dead = true;
    weft_shm_set_limit(link);
    weft_shm_drop_backlog(link);
    weft_shm_drop_pushed(link);
    weft_assert(!link->pushed && !link->pushed_at && !link->peer->backlog.first);
}

/* ---- Counts, and the end */

uint64_t weft_shm_sent_to(const struct weft_peer *peer)
{
    const struct weft_shm_link *link = weft_shm_link(peer);
    return link ? weft_ring_written(&link->out) - link->controls_out : 0;
}

uint64_t weft_shm_arrived_from(const struct weft_peer *peer)
{
    const struct weft_shm_link *link = weft_shm_link(peer);
    return link ? weft_ring_read(&link->in) - link->controls_in : 0;
}

void weft_shm_pin(struct weft_shm_pin *pin, const char *data, size_t bytes)
{
    enum { PAGE = 4096 };
    uintptr_t begin = (uintptr_t)data / PAGE * PAGE;
    uintptr_t end = ((uintptr_t)data + bytes + PAGE - 1) / PAGE * PAGE;
    pin->tried = true;
    if (weft_gpu_pin((void *)begin, end - begin))
        pin->at = (void *)begin;
}

void weft_shm_free_links(void)
{
    for (unsigned vci_number = 0; vci_number < weft.vci_numbers; vci_number++)
        for (int i = 0; i < weft.job.size; i++) {
            struct weft_peer *peer = weft_peer_find(vci_number, i);
            struct weft_shm_link *link =
                peer && peer->lane == WEFT_LANE_SHM ? weft_shm_link(peer) : NULL;
            if (!link)
                continue;
            if (link->pin_out.at)
                weft_gpu_unpin(link->pin_out.at);
            if (link->pin_in.at)
                weft_gpu_unpin(link->pin_in.at);
            free(link);
            weft_shm_peer(peer)->link = NULL;
        }
}
