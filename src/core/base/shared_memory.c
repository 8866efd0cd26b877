// SPDX-License-Identifier: BSD-3-Clause
/*
 * Allocations: see shared_memory.h.
 */
#include "core/base/shared_memory.h"

#include "core/base/assert.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* An allocation of 2 MiB or more costs page faults beside which system calls do not count, and its
 * memory is returned to the system when it is freed. */
enum { PAGE = 4096, SLOTS = 1000, LONGEST = 2 << 20, ARENA = 16 << 20 };

/* The first page of an arena: ranks that use the allocation in each slot. */
struct head {
    _Alignas(64) uint64_t nonce; /* of segment.c */
    _Alignas(64) _Atomic uint32_t users[SLOTS];
};
_Static_assert(sizeof(struct head) <= PAGE, "the first page of an arena");

/* An allocation in an arena that this rank has made. */
struct span {
    size_t offset, bytes;
    uint32_t slot;
};

struct weft_memory_arena {
    struct weft_memory_arena *next;
    struct weft_segment segment;
    struct weft_segment_record record; /* identifies it */
    bool made;                         /* by this rank */
    bool kept;                         /* mapped also while no allocation in it is in use */
    unsigned uses;                     /* allocations that this rank uses */
    size_t touched;                    /* bytes behind this are zero */
    size_t nspans;
    struct span spans[SLOTS]; /* of an arena made by this rank: ascending */
};

static struct weft_memory_arena *arenas;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct head *head_of(const struct weft_memory_arena *arena)
{
    return (struct head *)(void *)arena->segment.at;
}

static struct weft_memory_arena *list(bool made)
{
    struct weft_memory_arena *arena = calloc(1, sizeof *arena);
    if (!arena)
        return NULL;
    arena->segment = (struct weft_segment){.fd = -1, .small_pages = true};
    arena->made = made;
    arena->next = arenas;
    arenas = arena;
    return arena;
}

static void drop(struct weft_memory_arena *arena)
{
    weft_assert(!arena->uses);
    struct weft_memory_arena **link = &arenas;
    while (*link != arena)
        link = &(*link)->next;
    *link = arena->next;
    weft_segment_unmap(&arena->segment);
    free(arena);
}

/* ---- Making */

/* Drops the spans that no rank uses any more. */
static void sweep(struct weft_memory_arena *arena)
{
    size_t left = 0;
    for (size_t i = 0; i < arena->nspans; i++)
        if (atomic_load_explicit(&head_of(arena)->users[arena->spans[i].slot],
                                 memory_order_acquire))
            arena->spans[left++] = arena->spans[i];
    arena->nspans = left;
}

/* The index of the span before which so many bytes are free, or -1. *offset is where they begin. */
static int find_gap(const struct weft_memory_arena *arena, size_t bytes, size_t *offset)
{
    *offset = PAGE;
    for (size_t i = 0; i < arena->nspans; i++) {
        weft_assert(arena->spans[i].offset >= *offset);
        if (arena->spans[i].offset - *offset >= bytes)
            return (int)i;
        *offset = arena->spans[i].offset + arena->spans[i].bytes;
    }
    return ARENA - *offset >= bytes ? (int)arena->nspans : -1;
}

static uint32_t free_slot(const struct weft_memory_arena *arena)
{
    uint32_t slot = 0;
    while (slot < SLOTS && atomic_load_explicit(&head_of(arena)->users[slot], memory_order_acquire))
        slot++;
    return slot;
}

/* An allocation in an arena that this rank has made, if it has space. */
static bool cut(struct weft_memory_arena *arena, size_t wanted, struct weft_shared_memory *memory,
                size_t *offset)
{
    size_t bytes = (wanted + PAGE - 1) & ~(size_t)(PAGE - 1);
    sweep(arena);
    int at = find_gap(arena, bytes, offset);
    uint32_t slot = free_slot(arena);
    if (at < 0 || slot == SLOTS)
        return false;
    weft_assert(arena->made && arena->nspans < SLOTS && *offset + bytes <= ARENA);
    for (size_t i = arena->nspans++; i > (size_t)at; i--)
        arena->spans[i] = arena->spans[i - 1];
    arena->spans[at] = (struct span){*offset, bytes, slot};
    atomic_store_explicit(&head_of(arena)->users[slot], 1, memory_order_release);
    arena->uses++;
    *memory = (struct weft_shared_memory){.at = arena->segment.at + *offset,
                                          .bytes = wanted,
                                          .dirty = *offset < arena->touched,
                                          .slot = slot,
                                          .arena = arena,
                                          .segment.fd = -1};
    if (*offset + bytes > arena->touched)
        arena->touched = *offset + bytes;
    return true;
}

static struct weft_memory_arena *new_arena(void)
{
    bool first = true;
    for (const struct weft_memory_arena *arena = arenas; arena; arena = arena->next)
        first &= !arena->made;
    struct weft_memory_arena *arena = list(true);
    if (!arena)
        return NULL;
    if (weft_segment_make(ARENA, &arena->segment, &arena->record)) {
        drop(arena);
        return NULL;
    }
    arena->kept = first;
    return arena;
}

static bool make_pooled(size_t bytes, struct weft_shared_memory *memory,
                        struct weft_shared_memory_record *record)
{
    struct weft_memory_arena *arena = arenas;
    size_t offset;
    while (arena && !(arena->made && cut(arena, bytes, memory, &offset)))
        arena = arena->next;
    if (!arena && (!(arena = new_arena()) || !cut(arena, bytes, memory, &offset)))
        return false;
    *record = (struct weft_shared_memory_record){.segment = arena->record,
                                                 .offset = offset,
                                                 .bytes = bytes,
                                                 .slot = memory->slot,
                                                 .pooled = true,
                                                 .kept = arena->kept,
                                                 .dirty = memory->dirty};
    return true;
}

/* Returns false if the allocation is long, or there is no memory for an arena. */
static bool try_pooled(size_t bytes, struct weft_shared_memory *memory,
                       struct weft_shared_memory_record *record)
{
    *memory = weft_shared_memory_none();
    *record = (struct weft_shared_memory_record){.bytes = bytes};
    if (!bytes || bytes >= LONGEST)
        return false;
    pthread_mutex_lock(&lock);
    bool pooled = make_pooled(bytes, memory, record);
    pthread_mutex_unlock(&lock);
    return pooled;
}

static int use_segment(struct weft_shared_memory *memory, int failed)
{
    memory->at = memory->segment.at;
    memory->bytes = memory->segment.bytes;
    return failed;
}

int weft_shared_memory_make(size_t bytes, struct weft_shared_memory *memory,
                            struct weft_shared_memory_record *record)
{
    if (try_pooled(bytes, memory, record))
        return 0;
    return use_segment(memory, weft_segment_make(bytes, &memory->segment, &record->segment));
}

int weft_shared_memory_private(size_t bytes, struct weft_shared_memory *memory)
{
    struct weft_shared_memory_record record;
    if (try_pooled(bytes, memory, &record))
        return 0;
    return use_segment(memory, weft_segment_private(bytes, &memory->segment));
}

/* ---- Joining */

/* The arena of a record, mapped. */
static int arena_of(const struct weft_shared_memory_record *record, struct weft_memory_arena **out)
{
    struct weft_memory_arena *arena = arenas;
    while (arena && (arena->record.nonce != record->segment.nonce ||
                     arena->record.pid != record->segment.pid || arena->made))
        arena = arena->next;
    *out = arena;
    if (arena)
        return 0;
    if (!(arena = list(false)))
        return ENOMEM;
    int failed = weft_segment_join(&record->segment, &arena->segment);
    if (failed) {
        drop(arena);
        return failed;
    }
    weft_segment_close_fd(&arena->segment);
    arena->record = record->segment;
    arena->kept = record->kept;
    *out = arena;
    return 0;
}

static int join_pooled(const struct weft_shared_memory_record *record,
                       struct weft_shared_memory *memory)
{
    struct weft_memory_arena *arena;
    if (record->segment.bytes != ARENA || record->slot >= SLOTS || record->offset < PAGE ||
        record->offset % PAGE || record->offset > ARENA || record->bytes > ARENA - record->offset)
        return EINVAL;
    int failed = arena_of(record, &arena);
    if (failed)
        return failed;
    arena->uses++;
    atomic_fetch_add_explicit(&head_of(arena)->users[record->slot], 1, memory_order_acq_rel);
    *memory = (struct weft_shared_memory){.at = arena->segment.at + record->offset,
                                          .bytes = record->bytes,
                                          .dirty = record->dirty,
                                          .slot = record->slot,
                                          .arena = arena,
                                          .segment.fd = -1};
    return 0;
}

int weft_shared_memory_join(const struct weft_shared_memory_record *record,
                            struct weft_shared_memory *memory)
{
    *memory = weft_shared_memory_none();
    if (!record->pooled)
        return use_segment(memory, weft_segment_join(&record->segment, &memory->segment));
    pthread_mutex_lock(&lock);
    int failed = join_pooled(record, memory);
    pthread_mutex_unlock(&lock);
    return failed;
}

/* ---- Freeing */

void weft_shared_memory_joined(struct weft_shared_memory *memory)
{
    weft_segment_close_fd(&memory->segment);
}

void weft_shared_memory_free(struct weft_shared_memory *memory)
{
    struct weft_memory_arena *arena = memory->arena;
    weft_segment_unmap(&memory->segment);
    if (arena) {
        pthread_mutex_lock(&lock);
        atomic_fetch_sub_explicit(&head_of(arena)->users[memory->slot], 1, memory_order_acq_rel);
        weft_assert(arena->uses > 0);
        if (--arena->uses == 0 && !arena->kept)
            drop(arena);
        pthread_mutex_unlock(&lock);
    }
    *memory = weft_shared_memory_none();
}

void weft_shared_memory_close(void)
{
    for (struct weft_memory_arena *arena = arenas, *next; arena; arena = next) {
        next = arena->next;
        if (!arena->uses)
            drop(arena);
    }
}
