// SPDX-License-Identifier: BSD-3-Clause
/*
 * Areas: see area.h.
 */
#include "shm/area.h"
#include "shm/copy_tuning.h"
#include "shm/shm_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Many ranks have shorter pieces, because each reads a piece of every other. */
static size_t piece_of(int n)
{
    return n <= 16 ? 8 << 10 : 4 << 10;
}

/* Where ranks share a core, a root with 64 buffers needs 0.7 of the time with 16, because each wait
 * for the others is a change of processes. */
static unsigned buffers_of(int n)
{
    return n <= 8 ? WEFT_AREA_BUFFERS_MAX : WEFT_AREA_BUFFERS_MAX / 4;
}

/* Seats are apart by one line more than their pages, so that the lines that a rank polls do not all
 * fall into the same set of its cache. */
static size_t seat_bytes(const struct weft_area *area)
{
    return sizeof(struct weft_area_seat) + area->buffers * area->piece + WEFT_AREA_LINE;
}

size_t weft_area_bytes(const struct weft_area *area)
{
    return WEFT_AREA_LINE + (size_t)area->n * seat_bytes(area); /* the first line is the window's */
}

struct weft_area *weft_area_new(int n, int self, const int *world, bool small)
{
    struct weft_area *area = calloc(1, sizeof *area + (size_t)n * sizeof area->ranks[0]);
    char *scratch = malloc(WEFT_AREA_SCRATCH);
    if (!area || !scratch) {
        free(area);
        free(scratch);
        return NULL;
    }
    area->scratch = scratch;
    area->window.fd = -1;
    area->n = n;
    area->self = self;
    area->buffers = small ? WEFT_AREA_BUFFERS_IN_STEP : buffers_of(n);
    area->piece = piece_of(n);
    area->part = area->piece / (size_t)n / WEFT_AREA_LINE * WEFT_AREA_LINE;
    for (int i = 0; i < n; i++) {
        struct weft_shm_member *member = weft_shm_member(weft_shm_index(world[i]));
        area->ranks[i].doorbell = &member->doorbell;
        area->ranks[i].pid = member->pid;
    }
    return area;
}

void weft_area_free(struct weft_area *area)
{
    if (!area)
        return;
    weft_shm_window_unmap(&area->window);
    free(area->scratch);
    free(area);
}

int weft_area_make(struct weft_area *area, struct weft_shm_window_card *card)
{
    return weft_shm_window_make(weft_area_bytes(area), &area->window, card);
}

int weft_area_join(struct weft_area *area, const struct weft_shm_window_card *card)
{
    if (card->bytes != weft_area_bytes(area))
        return EINVAL;
    int failed = area->window.at ? 0 : weft_shm_window_join(card, &area->window);
    for (int i = 0; i < area->n && !failed; i++)
        area->ranks[i].seat = (struct weft_area_seat *)(void *)(area->window.at + WEFT_AREA_LINE +
                                                                (size_t)i * seat_bytes(area));
    return failed;
}

void weft_area_wake(_Atomic uint32_t *doorbell)
{
    weft_shm_wake(doorbell);
}

void weft_area_wait_for(const _Atomic uint64_t *word, uint64_t value)
{
    weft_shm.awaited = word;
    weft_shm.awaited_value = value;
}

int weft_area_read(const struct weft_area *area, int rank, uint64_t address, void *to, size_t bytes)
{
    return weft_shm_read_memory(area->ranks[rank].pid, address, to, bytes);
}

/* ---- The comparison */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static unsigned char *buffers_begin(const struct weft_area *area, int rank)
{
    return (unsigned char *)(area->ranks[rank].seat + 1);
}

uint64_t weft_area_write_sample(struct weft_area *area)
{
    unsigned char *sample = buffers_begin(area, area->self);
    memset(sample, 1, WEFT_AREA_BUFFERS_IN_STEP * area->piece);
    memset(area->scratch, 1, 2 * area->piece);
    return (uintptr_t)sample;
}

bool weft_area_compare(const struct weft_area *area, int rank, uint64_t address)
{
    enum { HALF = WEFT_AREA_BUFFERS_IN_STEP / 2 };
    const volatile unsigned char *sample = buffers_begin(area, rank);
    uint64_t copy = UINT64_MAX, read = UINT64_MAX;
    for (size_t at = 0; at < 2 * HALF * area->piece; at += 4096)
        (void)sample[at]; /* maps the page */
    for (size_t i = 0; i < HALF; i++) {
        uint64_t begun = weft_copy_tuning_clock();
        memcpy(area->scratch, (const unsigned char *)sample + i * area->piece, area->piece);
        copy = least(copy, weft_copy_tuning_clock() - begun);
    }
    for (size_t i = HALF; i < 2 * HALF; i += 2) {
        uint64_t begun = weft_copy_tuning_clock();
        if (weft_area_read(area, rank, address + i * area->piece, area->scratch, 2 * area->piece))
            return false;
        read = least(read, weft_copy_tuning_clock() - begun);
    }
    return 4 * copy < read;
}
