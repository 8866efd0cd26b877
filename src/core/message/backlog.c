// SPDX-License-Identifier: BSD-3-Clause
/*
 * Backlogs: see peer.h. Their lengths are counted for each lane and each peer.
 */
#include "core/base/clock.h"
#include "core/message/process.h"
#include "core/message/count.h"

void weft_backlog_append(struct weft_peer *peer, struct weft_backlog_entry *entry, bool overtakes)
{
    struct weft_backlog *backlog = &peer->backlog;
    struct weft_backlog_entry **link = overtakes ? backlog->controls_end : backlog->end;
    weft_assert(!*backlog->end && !backlog->first == !peer->counts.backlog);
    weft_assert(weft_vci_is_held(&weft.vcis[peer->vci]));
    if (!backlog->first) {
        backlog->since = weft_seconds();
        weft_peer_event(WEFT_EVENT_BACKLOG, peer, 0, 0);
    }
    weft_count_add(&weft_counts.backlogged[peer->lane], 1);
    weft_count_level(&weft_counts.backlog[peer->lane], 1);
    peer->counts.backlogged++;
    peer->counts.backlog++;
    entry->next = *link;
    *link = entry;
    if (link == backlog->end)
        backlog->end = &entry->next;
    if (overtakes)
        backlog->controls_end = &entry->next;
}

static void unlink_at(struct weft_peer *peer, struct weft_backlog_entry **link,
                      const struct weft_backlog_entry *entry, struct weft_backlog_entry *rest)
{
    struct weft_backlog *backlog = &peer->backlog;
    weft_assert(*link == entry && peer->counts.backlog > 0);
    weft_count_level(&weft_counts.backlog[peer->lane], -1);
    peer->counts.backlog--;
    *link = rest;
    if (backlog->controls_end == &entry->next)
        backlog->controls_end = link;
    if (backlog->end == &entry->next)
        backlog->end = link;
    weft_assert(!*backlog->end && !backlog->first == !peer->counts.backlog);
}

void weft_backlog_pop(struct weft_peer *peer, const struct weft_backlog_entry *first,
                      struct weft_backlog_entry *rest)
{
    unlink_at(peer, &peer->backlog.first, first, rest);
}

bool weft_backlog_remove(struct weft_peer *peer, const struct weft_backlog_entry *entry)
{
    struct weft_backlog_entry **link = &peer->backlog.first;
    while (*link && *link != entry)
        link = &(*link)->next;
    if (!*link)
        return false;
    unlink_at(peer, link, entry, entry->next);
    return true;
}
