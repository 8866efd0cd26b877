// SPDX-License-Identifier: BSD-3-Clause
/*
 * Areas: see area.h.
 */
#include "core/coll/area.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Many ranks have shorter chunks, because each reads a chunk of every other. */
static size_t chunk_of(int n)
{
    return n <= 16 ? 8 << 10 : 4 << 10;
}

/* If ranks share a core, a root with 64 buffers needs 0.7 of the time with 16, because each wait
 * for the others is a change of processes. */
static unsigned buffers_of(int n)
{
    return n <= 8 ? WEFT_AREA_BUFFERS_MAX : WEFT_AREA_BUFFERS_MAX / 4;
}

/* Outboxes are apart by one line more than their pages, so that the lines that a rank polls do not
 * all fall into the same set of its cache. */
static size_t outbox_bytes(const struct weft_area *area)
{
    return sizeof(struct weft_area_outbox) + area->buffers * area->chunk + WEFT_AREA_LINE;
}

size_t weft_area_bytes(const struct weft_area *area)
{
    return WEFT_AREA_LINE +
           (size_t)area->n * outbox_bytes(area); /* the first line is the allocation's */
}

struct weft_area *weft_area_new(const struct weft_lane_node *node, int n, int self,
                                const int *world, bool small)
{
    weft_assert(n <= WEFT_AREA_RANKS_MAX && self >= 0 && self < n);
    struct weft_area *area = calloc(1, sizeof *area + (size_t)n * sizeof area->ranks[0]);
    if (!area)
        return NULL;
    area->memory = weft_shared_memory_none();
    area->node = node;
    area->n = n;
    area->self = self;
    area->buffers = small ? WEFT_AREA_BUFFERS_IN_STEP : buffers_of(n);
    area->chunk = chunk_of(n);
    area->block = area->chunk / (size_t)n / WEFT_AREA_LINE * WEFT_AREA_LINE;
    for (int i = 0; i < n; i++)
        area->ranks[i].doorbell = node->doorbell(world[i]);
    return area;
}

void weft_area_free(struct weft_area *area)
{
    if (!area)
        return;
    weft_shared_memory_free(&area->memory);
    free(area);
}

int weft_area_make(struct weft_area *area, struct weft_shared_memory_record *record)
{
    return weft_shared_memory_make(weft_area_bytes(area), &area->memory, record);
}

int weft_area_join(struct weft_area *area, const struct weft_shared_memory_record *record)
{
    if (record->bytes != weft_area_bytes(area))
        return EINVAL;
    int failed = area->memory.at ? 0 : weft_shared_memory_join(record, &area->memory);
    for (int i = 0; i < area->n && !failed; i++)
        area->ranks[i].outbox =
            (struct weft_area_outbox *)(void *)(area->memory.at + WEFT_AREA_LINE +
                                                (size_t)i * outbox_bytes(area));
    if (!failed && area->memory.dirty)
        memset((void *)area->ranks[area->self].outbox, 0, sizeof *area->ranks[0].outbox);
    return failed;
}
