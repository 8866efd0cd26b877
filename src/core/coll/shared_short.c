// SPDX-License-Identifier: BSD-3-Clause
/*
 * Short collectives through shared memory: one attempt at a call whose data have no holes and fit
 * into a slot of each rank.
 *
 * Invariants:
 *  - Slots have the stamps, labels and data of the general path (shared.c), which continues a call
 *    that waits longer; ranks of one call may take different paths.
 *  - Until all data are there, it writes to nothing that a rank may read again.
 */
#include "core/coll/shared_internal.h"

enum { LOOKS = 16 }; /* at a slot, before the general path continues */

/* Bytes that a rank posts, if it does. */
static inline size_t posted_bytes(const struct weft_shared_call *c)
{
    return c->per_rank ? c->longest * (size_t)c->n : c->longest;
}

static inline bool is_short(const struct weft_shared_call *c)
{
    const struct weft_coll_args *args = c->args;
    return posted_bytes(c) <= WEFT_AREA_INLINE &&
           args->in.type->flags & args->out.type->flags & WEFT_TYPE_CONTIGUOUS &&
           !(c->lengths || (c->per_rank && (c->reduces || args->in_place))) &&
           c->area->began == atomic_load_explicit(&c->area->ended, memory_order_relaxed);
}

static inline bool post_short(struct weft_shared_call *c, uint64_t stamp)
{
    struct weft_area *area = c->area;
    unsigned i = weft_area_index(stamp, WEFT_AREA_SLOTS);
    struct weft_area_slot *slot = &area->ranks[c->rank].outbox->slots[i];
    if (weft_unlikely(area->slot_stamps[i] > area->known))
        return false;
    area->slot_stamps[i] = stamp;
    weft_area_copy(slot->data, c->give->at, posted_bytes(c));
    c->error = MPI_SUCCESS;
    weft_shared_post(c, slot, stamp);
    return true;
}

/* The data that another rank has posted for this one, or NULL. */
static inline const unsigned char *posted(const struct weft_shared_call *c, uint64_t stamp,
                                          int from)
{
    const struct weft_area_slot *slot = weft_area_slot(c->area, from, stamp);
    for (int i = 0; atomic_load_explicit(&slot->stamp, memory_order_acquire) < stamp; i++) {
        if (i == LOOKS)
            return NULL;
        weft_lock_pause();
    }
    if (weft_unlikely(slot->label != c->label || slot->bytes != c->bytes))
        return NULL;
    return slot->data + (c->per_rank ? (size_t)c->rank * c->longest : 0);
}

/* Copies the block that this rank gives itself. */
static inline void copy_own(const struct weft_shared_call *c, unsigned char *location)
{
    const unsigned char *own = c->give->at;
    own += c->per_rank ? (size_t)c->rank * c->longest : 0;
    if (own != location)
        weft_area_copy(location, own, c->longest);
}

static inline bool take_one(struct weft_shared_call *c, uint64_t stamp)
{
    const struct weft_coll_args *args = c->args;
    const unsigned char *data = posted(c, stamp, c->source);
    if (weft_unlikely(!data))
        return false;
    weft_area_copy(args->kind == WEFT_COLL_BCAST ? args->in.at : args->out.at, data, c->longest);
    /* of the next call */
    __builtin_prefetch(weft_area_slot(c->area, c->source, stamp + (1 << WEFT_AREA_CHUNK_BITS)));
    return true;
}

static inline bool take_all(struct weft_shared_call *c, uint64_t stamp)
{
    unsigned char *location = c->args->out.at;
    for (int i = 0; i < c->n; i++, location += c->longest) {
        const unsigned char *data = i == c->rank ? NULL : posted(c, stamp, i);
        if (i == c->rank)
            copy_own(c, location);
        else if (weft_likely(data != NULL))
            weft_area_copy(location, data, c->longest);
        else
            return false;
    }
    return true;
}

/* Waits for all ranks, without data. */
static inline bool synchronize(struct weft_shared_call *c, uint64_t stamp)
{
    for (int i = 0; i < c->n; i++)
        if (i != c->rank && !posted(c, stamp, i))
            return false;
    return true;
}

/* The operands of two ranks, in the order of operands.h. */
static inline void reduce_two(const struct weft_shared_call *c, const unsigned char *const at[])
{
    const struct weft_coll_args *args = c->args;
    int left = args->kind == WEFT_COLL_REDUCE ? args->root : 0;
    _Alignas(16) unsigned char sum[WEFT_AREA_INLINE];
    weft_area_copy(sum, at[1 - left], c->longest);
    weft_op_apply(args->op, args->in.type->basic_type, at[left], sum, args->in.count);
    weft_area_copy(args->out.at, sum, c->longest);
}

static inline bool reduce(struct weft_shared_call *c, uint64_t stamp)
{
    struct weft_operands o;
    for (int i = 0; i < c->n; i++) {
        o.at[i] = i == c->rank ? c->give->at : posted(c, stamp, i);
        if (weft_unlikely(!o.at[i]))
            return false;
    }
    if (c->n == 2) {
        reduce_two(c, o.at);
        return true;
    }
    weft_operands_describe(&o, c->args);
    weft_operands_reduce(&o, c->args->out.at, c->longest);
    return true;
}

static inline bool take_short(struct weft_shared_call *c, uint64_t stamp)
{
    bool taken;
    if (c->source == WEFT_SHARED_NOBODY) {
        if (c->per_rank)
            copy_own(c, c->args->out.at);
        return true;
    }
    if (c->source != WEFT_SHARED_ALL)
        return take_one(c, stamp);
    if (c->longest)
        taken = c->reduces ? reduce(c, stamp) : take_all(c, stamp);
    else
        taken = synchronize(c, stamp);
    if (taken && c->posts)
        c->area->known = stamp - 1; /* all ranks have completed the former calls */
    return taken;
}

enum weft_shared_attempt weft_shared_attempt(struct weft_shared_call *c, uint32_t number)
{
    struct weft_area *area = c->area;
    uint64_t stamp = weft_area_call(area, number);
    if (!is_short(c) || (c->posts && !post_short(c, stamp)))
        return WEFT_SHARED_NOTHING;
    if (!take_short(c, stamp))
        return WEFT_SHARED_POSTED;
    weft_shared_set_done(c, weft_area_end(stamp));
    atomic_store_explicit(&area->ended, ++area->began, memory_order_relaxed);
    return WEFT_SHARED_COMPLETE;
}
