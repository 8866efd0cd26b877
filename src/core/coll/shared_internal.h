// SPDX-License-Identifier: BSD-3-Clause
/*
 * A collective call through shared memory, for the files shared*.c: what its ranks do, how a rank
 * posts to its slots and how it waits for those of others (core/coll/area.h).
 *
 * A call is executed by functions that return false where they have to wait, and are called again
 * once what they wait for may be there: they continue where they stopped. A blocking call polls in
 * between (shared_wait.c), a nonblocking or persistent one is called by progress.
 *
 * Invariant: after an error a rank posts the rest of its data, marked as failed, so that no other
 * rank waits forever; except after a refusal or a death, or if the ranks make different calls,
 * which all ranks that wait for each other detect. Then it posts nothing more for the call, because
 * the others may not have read what its slots have.
 */
#ifndef WEFT_SHARED_INTERNAL_H
#define WEFT_SHARED_INTERNAL_H

#include "core/coll/operands.h"
#include "core/coll/schedule.h"
#include "core/message/process.h"
#include "core/coll/area.h"

/* A label: the kind, FAILED, the root, and the lowest bits of the call's number. */
enum {
    WEFT_SHARED_FAILED = 1 << 8,
    WEFT_SHARED_ROOT_SHIFT = 16,
    WEFT_SHARED_ROOT_MASK = (1 << 6) - 1,
    WEFT_SHARED_NUMBER_SHIFT = 22
};

_Static_assert((int)WEFT_AREA_RANKS_MAX <= WEFT_SHARED_ROOT_MASK + 1, "the root fits into a label");

enum { WEFT_SHARED_NOBODY = -1, WEFT_SHARED_ALL = -2 };

/* Chunks that a rank posts before it takes the first of them, so that ranks that share a core wait
 * for each other once for several chunks. Not more: the buffer of a chunk was last used at least 8
 * chunks before in the same call, by one that all ranks can complete without this chunk. */
enum { WEFT_SHARED_AHEAD = WEFT_AREA_BUFFERS_IN_STEP / 2 };

_Static_assert((int)WEFT_AREA_RANKS_MAX <= WEFT_OPERANDS_MAX, "an operand of each rank");

struct weft_shared_call {
    const struct weft_coll_args *args;
    struct weft_area *area;
    int n, rank;
    uint32_t number;       /* of this call, as in coll_sequence */
    uint32_t label, bytes; /* of each slot */
    uint64_t stamp;        /* of the first chunk */
    int error;
    bool over;               /* the other ranks do not complete this call */
    bool waits;              /* reports list it */
    struct weft_schedule *s; /* for reports, errors and refusals; blocking: NULL until needed */

    /* The wait: a word of a rank that is to reach a value. */
    const _Atomic uint64_t *word;
    uint64_t value;
    int from;

    /* The progress of the call */
    bool queued;        /* behind calls of this rank that began before it */
    uint64_t ticket;    /* calls of this rank that began before it */
    uint64_t now, next; /* stamps: to be completed, to be posted */
    size_t at, ahead;   /* bytes: completed, posted */
    int taken;          /* ranks of `now` whose data are taken, with this one */

    /* The roles of the ranks */
    bool posts;       /* this rank posts data */
    int source;       /* the rank whose data this rank takes, ALL or NOBODY */
    int reader;       /* the rank that takes what this one posts, or ALL */
    bool per_rank;    /* each rank has one block for each rank; else all take the same */
    bool reduces;     /* operands are combined */
    bool lengths;     /* each block has its own length: MPI_Allgatherv */
    unsigned buffers; /* that the ranks use */
    size_t longest;   /* bytes of the longest block */
    const struct weft_blocks *give; /* of this rank */
};

static inline size_t weft_shared_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The destination of the data that a rank takes from another. */
static inline struct weft_elements weft_shared_target(const struct weft_shared_call *c, int from)
{
    const struct weft_coll_args *args = c->args;
    const struct weft_blocks *one = args->kind == WEFT_COLL_BCAST ? &args->in : &args->out;
    if (c->source == WEFT_SHARED_ALL)
        return weft_block(&args->out, from);
    return (struct weft_elements){one->at, one->count, one->type};
}

/* The bytes that the slots of a rank should name. */
static inline uint32_t weft_shared_wanted(const struct weft_shared_call *c, int from)
{
    return c->lengths ? (uint32_t)weft_elements_bytes(weft_shared_target(c, from)) : c->bytes;
}

/* ---- Errors and waiting: shared_wait.c */

/* Stores the error of a slot whose label is not that of this call. */
WEFT_COLD void weft_shared_reject(struct weft_shared_call *c, uint32_t label, uint32_t bytes,
                                  int from);

/* The outcome of a wait. */
enum weft_shared_wait {
    WEFT_SHARED_LATER,
    WEFT_SHARED_REACHED,
    WEFT_SHARED_NEVER /* or not to be used: the call has failed */
};

/* For a word that has not reached a value. */
enum weft_shared_wait weft_shared_not_yet(struct weft_shared_call *c, const _Atomic uint64_t *word,
                                          uint64_t value, int from);

/* For a call that has waited for some time: looks for dead members, and notes what it waits for,
 * for reports. Returns false if no refusal of the call is to be looked for. */
WEFT_COLD bool weft_shared_look(struct weft_shared_call *c);

/* For a blocking call: polls until what it waits for is there, or never will be. */
void weft_shared_poll(struct weft_shared_call *c);

/* The result of a wait until all other ranks have posted a stamp. */
enum weft_shared_wait weft_shared_await_posts(struct weft_shared_call *c, uint64_t stamp);

/* Awaits that all ranks have completed a stamp, and stores the last one that they have. */
enum weft_shared_wait weft_shared_read_done(struct weft_shared_call *c, uint64_t stamp);

/* Frees what the waits and errors of a blocking call needed. */
void weft_shared_complete(struct weft_shared_call *c);

/* All other ranks have posted a stamp: they have completed all but the last AHEAD chunks. */
static inline void weft_shared_is_done(struct weft_shared_call *c, uint64_t stamp)
{
    uint64_t completed = stamp - WEFT_SHARED_AHEAD, before = c->stamp - 1;
    c->area->known = completed > before ? completed : before;
}

static inline enum weft_shared_wait weft_shared_await(struct weft_shared_call *c,
                                                      const _Atomic uint64_t *word, uint64_t value,
                                                      int from)
{
    if (weft_likely(atomic_load_explicit(word, memory_order_acquire) >= value))
        return WEFT_SHARED_REACHED;
    return weft_shared_not_yet(c, word, value, from);
}

/* Waits for the data that a rank posts. */
static inline enum weft_shared_wait weft_shared_await_post(struct weft_shared_call *c,
                                                           uint64_t stamp, int from)
{
    const struct weft_area_slot *slot = weft_area_slot(c->area, from, stamp);
    enum weft_shared_wait post = weft_shared_await(c, &slot->stamp, stamp, from);
    if (post != WEFT_SHARED_REACHED ||
        weft_likely(slot->label == c->label && slot->bytes == weft_shared_wanted(c, from)))
        return post;
    weft_shared_reject(c, slot->label, slot->bytes, from);
    return WEFT_SHARED_NEVER;
}

/* ---- Posting */

/* Takes a slot or buffer for a stamp. If the ranks may not have completed its former one, it waits
 * until they have completed that of the entry three quarters of the entries ahead, if it is of a
 * former call, so that a rank that is ahead of the others waits rarely. */
static inline bool weft_shared_take(struct weft_shared_call *c, uint64_t *stamps, unsigned n,
                                    uint64_t stamp)
{
    unsigned i = weft_area_index(stamp, n);
    uint64_t before = stamps[i], ahead = stamps[(i + n - n / 4) & (n - 1)];
    if (weft_unlikely(before > c->area->known) && before != stamp &&
        weft_shared_read_done(c, ahead > before && ahead < c->stamp ? ahead : before) ==
            WEFT_SHARED_LATER)
        return false;
    weft_assert(before <= stamp);
    stamps[i] = stamp;
    return true;
}

/* The slot of a stamp, for so many bytes of data; NULL: it is not free yet, or the call is over. */
static inline struct weft_area_slot *weft_shared_reserve(struct weft_shared_call *c, uint64_t stamp,
                                                         size_t bytes)
{
    if (!weft_shared_take(c, c->area->slot_stamps, WEFT_AREA_SLOTS, stamp) ||
        (bytes > WEFT_AREA_INLINE &&
         !weft_shared_take(c, c->area->buffer_stamps, c->buffers, stamp)) ||
        weft_unlikely(c->over))
        return NULL;
    return weft_area_slot(c->area, c->rank, stamp);
}

static inline void weft_shared_wake(const struct weft_shared_call *c, int reader)
{
    bool all = reader == WEFT_SHARED_ALL;
    weft_area_wake(c->area, all ? 0 : reader, all ? c->n : reader + 1);
}

static inline void weft_shared_post(struct weft_shared_call *c, struct weft_area_slot *slot,
                                    uint64_t stamp)
{
    weft_assert(slot == weft_area_slot(c->area, c->rank, stamp) && stamp >= slot->stamp);
    slot->label = c->label | (weft_unlikely(c->error) ? WEFT_SHARED_FAILED : 0);
    slot->bytes = c->bytes;
    atomic_store_explicit(&slot->stamp, stamp, memory_order_release);
    if (c->source != WEFT_SHARED_NOBODY) /* else weft_shared_set_done follows */
        weft_shared_wake(c, c->reader);
}

static inline void weft_shared_set_done(struct weft_shared_call *c, uint64_t stamp)
{
    weft_assert(stamp >= c->area->ranks[c->rank].outbox->done);
    atomic_store_explicit(&c->area->ranks[c->rank].outbox->done, stamp, memory_order_release);
    weft_shared_wake(c, WEFT_SHARED_ALL);
}

/* ---- Moving data */

/* Copies what a rank gives to itself. */
void weft_shared_copy_own(const struct weft_shared_call *c);

/* In chunks (shared_chunks.c): the most bytes of a block in a chunk. */
static inline size_t weft_shared_chunk(const struct weft_shared_call *c)
{
    return c->per_rank ? c->area->block : c->area->chunk;
}

bool weft_shared_run_by_chunks(struct weft_shared_call *c);

/* No data: each rank posts, and waits for all others. */
bool weft_shared_synchronize(struct weft_shared_call *c);

/* The result of an attempt at a short call (shared_short.c). */
enum weft_shared_attempt { WEFT_SHARED_NOTHING, WEFT_SHARED_POSTED, WEFT_SHARED_COMPLETE };

/* For a blocking call that is described and has not begun. */
enum weft_shared_attempt weft_shared_attempt(struct weft_shared_call *c, uint32_t number);

#endif
