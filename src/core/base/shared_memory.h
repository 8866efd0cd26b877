// SPDX-License-Identifier: BSD-3-Clause
/*
 * Allocations of shared memory for windows and areas of collectives. A rank that allocates has
 * segments of which it hands them out (arenas); other ranks of the node map an arena with the first
 * range of it that they join, and keep the first arena of each rank. So allocations that are made
 * and freed again and again need no system call. A long allocation is a segment of its own.
 *
 * Invariants:
 *  - The memory of an allocation is not handed out again until all ranks have freed it: its slot in
 *    the arena's head counts them.
 *  - Offset, bytes and slot of a record are checked before they are used.
 */
#ifndef WEFT_SHARED_MEMORY_H
#define WEFT_SHARED_MEMORY_H

#include "core/base/segment.h"

struct weft_memory_arena;

struct weft_shared_memory {
    char *at; /* NULL: none */
    size_t bytes;
    bool dirty; /* may contain data of an allocation before; else it is zero */
    uint32_t slot;
    struct weft_memory_arena *arena; /* NULL: it has a segment of its own */
    struct weft_segment segment;     /* that segment */
};

/* An allocation before it is made, and after it is freed. */
static inline struct weft_shared_memory weft_shared_memory_none(void)
{
    return (struct weft_shared_memory){.segment.fd = -1};
}

/* Publishes an allocation to the other ranks of the node; bytes is 0 if there is none. */
struct weft_shared_memory_record {
    struct weft_segment_record segment;
    uint64_t offset, bytes;
    uint32_t slot;
    uint8_t pooled, kept, dirty;
};

/* Allocates `bytes` bytes, beginning at a page, of 2 MiB or more at a multiple of 2 MiB.
 * Its first 64 bytes are not the caller's. Returns 0, or an errno. */
int weft_shared_memory_make(size_t bytes, struct weft_shared_memory *memory,
                            struct weft_shared_memory_record *record);

/* The same for one process only. */
int weft_shared_memory_private(size_t bytes, struct weft_shared_memory *memory);

/* Maps the allocation that another rank has made. Returns 0, or an errno. */
int weft_shared_memory_join(const struct weft_shared_memory_record *record,
                            struct weft_shared_memory *memory);

/* All ranks have joined, or never will: closes the file descriptor of a segment of its own. */
void weft_shared_memory_joined(struct weft_shared_memory *memory);

/* Frees an allocation; nothing happens when there is none. */
void weft_shared_memory_free(struct weft_shared_memory *memory);

/* Unmaps the arenas of which no allocation is in use. */
void weft_shared_memory_close(void);

#endif
