// SPDX-License-Identifier: BSD-3-Clause
/*
 * An area: shared memory of the ranks of one communicator on one node, for its collectives.
 *
 * Each rank has an outbox in it: a line with the stamp `done`, then WEFT_AREA_SLOTS slots, and
 * buffers for data that do not fit into a slot. A rank posts data to one slot of its outbox; the
 * other ranks poll that slot and copy the data out.
 *
 * Two slots are in a cache line: a root that is ahead of the others moves half as many lines, and a
 * broadcast of 8 bytes takes two thirds of the time (bench/peers_coll --node).
 *
 * A stamp is the number of a collective call times 2^20, plus the index of a chunk of its data. All
 * ranks number calls and chunks alike, so all compute the same slot and buffer for a stamp.
 *
 * Invariants:
 *  - Only its rank writes to an outbox, but for the words of agreements.
 *  - The stamp of a slot is stored after its data, and grows; `done` grows.
 *  - A rank whose `done` is s reads no slot that was posted with a stamp up to s. A slot or buffer
 * is used again only when `done` of all ranks has reached its former stamp.
 *  - What is read from the area is compared or copied, and never used as an index, a length or an
 *    address.
 */
#ifndef WEFT_AREA_H
#define WEFT_AREA_H

#include "core/base/handle.h"
#include "core/message/lane.h"
#include "core/base/copy.h"
#include "core/base/copy_tuning.h"
#include "core/base/shared_memory.h"

#include <stdatomic.h>
#include <stdbool.h>

enum {
    WEFT_AREA_SLOTS = 128, /* so many short collectives a root may be ahead */
    WEFT_AREA_BUFFERS_MAX = 64,
    WEFT_AREA_BUFFERS_IN_STEP = 8, /* of these, where no rank is ahead: they fit a nearby cache */
    WEFT_AREA_LINE = 64,
    WEFT_AREA_INLINE = 16,    /* bytes of data in a slot */
    WEFT_AREA_RANKS_MAX = 64, /* each rank polls the slots of all others */
    WEFT_AREA_CHUNK_BITS = 20
};

struct weft_area_slot {
    _Alignas(32) _Atomic uint64_t stamp;
    uint32_t label, bytes; /* of the caller, to detect calls that do not fit together */
    _Alignas(16) unsigned char data[WEFT_AREA_INLINE];
};

struct weft_area_outbox {
    _Alignas(WEFT_AREA_LINE) _Atomic uint64_t done;
    _Atomic uint64_t agreed[2]; /* of agreements: core/comm/board.h */
    _Alignas(WEFT_AREA_LINE) struct weft_area_slot slots[WEFT_AREA_SLOTS]; /* buffers follow */
};

/* A rank, as this process sees it. */
struct weft_area_rank {
    struct weft_area_outbox *outbox;
    _Atomic uint32_t *doorbell;
};

/* The method of copying data to buffers, and the time of the last copy. */
struct weft_area_tuning {
    struct weft_copy_tuning choice;
    uint64_t copied;
};

/* The private side. */
struct weft_area {
    const struct weft_lane_node *node; /* of the lane between its ranks */
    struct weft_shared_memory memory;
    int n, self;
    unsigned buffers;    /* of a rank */
    size_t chunk, block; /* bytes of a buffer, and of a block if one is cut for all ranks */
    uint32_t kinds;      /* of the caller: a bit for each kind of call that takes the area */
    uint64_t call;       /* number of the last call that began */
    uint64_t began;      /* calls that began here; they are executed one after the other */
    _Atomic uint64_t ended;
    struct weft_area_tuning tuning[2];     /* of calls with one chunk, with several */
    uint64_t known;                        /* `done` of all ranks has reached this stamp */
    uint64_t slot_stamps[WEFT_AREA_SLOTS]; /* the last one of each of this rank's */
    uint64_t buffer_stamps[WEFT_AREA_BUFFERS_MAX];
    struct weft_area_rank ranks[];
};

/* An area without memory for n ranks that a lane with that node reaches, with these ranks in
 * MPI_COMM_WORLD; this process is `self`. `small`: with WEFT_AREA_BUFFERS_IN_STEP buffers. NULL if
 * memory is short. */
struct weft_area *weft_area_new(const struct weft_lane_node *node, int n, int self,
                                const int *world, bool small);
void weft_area_free(struct weft_area *area);

/* Bytes of its shared memory. */
size_t weft_area_bytes(const struct weft_area *area);

/* One rank makes the memory, all join it, and no rank begins a call before all have. Each returns
 * 0, or an errno. */
int weft_area_make(struct weft_area *area, struct weft_shared_memory_record *record);
int weft_area_join(struct weft_area *area, const struct weft_shared_memory_record *record);

/* Notes that so many bytes were copied. */
static inline void weft_area_note_copy(struct weft_area_tuning *tuning, size_t bytes)
{
    uint64_t now = weft_nanoseconds();
    weft_copy_tuning_note(&tuning->choice, (now - tuning->copied) / (bytes >> 10));
    tuning->copied = now;
}

/* To be called after a store that the ranks [first, end) may wait for. */
static inline void weft_area_wake(const struct weft_area *area, int first, int end)
{
    atomic_signal_fence(memory_order_seq_cst);
    for (int i = first; i < end; i++)
        if (weft_unlikely(atomic_load_explicit(area->ranks[i].doorbell, memory_order_relaxed)) &&
            i != area->self)
            area->node->wake(area->ranks[i].doorbell);
}

/* The stamp of the first chunk of the call with which a 32-bit counter of calls reached a value,
 * and the last stamp of a call. */
static inline uint64_t weft_area_call(struct weft_area *area, uint32_t counter)
{
    area->call += (uint32_t)(counter - (uint32_t)area->call);
    return area->call << WEFT_AREA_CHUNK_BITS;
}

static inline uint64_t weft_area_end(uint64_t stamp)
{
    return stamp | ((UINT64_C(1) << WEFT_AREA_CHUNK_BITS) - 1);
}

/* The index of a stamp among so many slots or buffers, a power of two from 8. The first chunks of
 * calls are one apart; the 2, 4 or 8 chunks of a call are evenly apart, so that the calls that
 * follow reach the slot of a chunk as late as possible. */
static inline unsigned weft_area_index(uint64_t stamp, unsigned n)
{
    unsigned chunk = (unsigned)stamp & ((1u << WEFT_AREA_CHUNK_BITS) - 1);
    unsigned call = (unsigned)(stamp >> WEFT_AREA_CHUNK_BITS);
    if (weft_unlikely(chunk))
        call += chunk % 2 * (n / 2) + chunk / 2 % 2 * (n / 4) + chunk / 4 % 2 * (n / 8) +
                chunk / 8 * (n / 16);
    return call & (n - 1);
}

/* The slot of a stamp, and where its data are if they have so many bytes and the collective uses so
 * many buffers. */
static inline struct weft_area_slot *weft_area_slot(const struct weft_area *area, int rank,
                                                    uint64_t stamp)
{
    weft_assert(rank >= 0 && rank < area->n);
    return &area->ranks[rank].outbox->slots[weft_area_index(stamp, WEFT_AREA_SLOTS)];
}

static inline unsigned char *weft_area_data(const struct weft_area *area, int rank, uint64_t stamp,
                                            size_t bytes, unsigned buffers)
{
    weft_assert(buffers <= area->buffers && bytes <= area->chunk);
    if (bytes <= WEFT_AREA_INLINE)
        return weft_area_slot(area, rank, stamp)->data;
    return (unsigned char *)(area->ranks[rank].outbox + 1) +
           weft_area_index(stamp, buffers) * area->chunk;
}

/* Copies what fits into a slot. */
static inline void weft_area_copy(void *to, const void *from, size_t bytes)
{
    if (bytes > WEFT_AREA_INLINE)
        __builtin_unreachable();
    weft_copy_short(to, from, bytes);
}

#endif
