// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collectives through shared memory in one copy: a rank posts the address of its data, from which
 * the other ranks read.
 */
#include "core/coll/shared_internal.h"
#include "core/object/error.h"

#include <stdlib.h>
#include <string.h>

/* What a rank posts: where its data are. */
struct addresses {
    uint64_t in, out;
};

static struct addresses addresses_of(const struct weft_shared_call *c, uint64_t stamp, int from)
{
    struct addresses addresses;
    memcpy(&addresses, weft_area_cell(c->area, from, stamp)->data, sizeof addresses);
    return addresses;
}

static bool post_addresses(struct weft_shared_call *c, uint64_t stamp, const void *in, uint64_t out)
{
    struct weft_area_cell *cell = weft_shared_reserve(c, stamp, sizeof(struct addresses));
    if (weft_unlikely(!cell))
        return false;
    struct addresses addresses = {(uintptr_t)in, out};
    memcpy(cell->data, &addresses, sizeof addresses);
    weft_shared_post(c, cell, stamp);
    c->next = stamp + 1;
    return true;
}

/* The other ranks may still read this one's data. */
static bool end_reading(struct weft_shared_call *c, uint64_t stamp)
{
    if (c->now <= stamp) {
        weft_shared_set_done(c, stamp);
        if (!c->reduces)
            weft_shared_copy_own(c);
        c->now = stamp + 1;
    }
    return !c->posts || weft_shared_await_done(c, stamp) != WEFT_SHARED_LATER;
}

static void read_from(struct weft_shared_call *c, int from, uint64_t address, void *to,
                      size_t bytes)
{
    int failed = bytes ? weft_area_read(c->area, from, address, to, bytes) : 0;
    if (weft_unlikely(failed) && !weft_shared_is_dead(c, from))
        weft_shared_fail(c,
                         weft_error_set(MPI_ERR_OTHER,
                                        "%zu bytes of rank %d cannot be read for %s: %s", bytes,
                                        from, weft_coll_name(c->args->kind), strerror(failed)),
                         WEFT_FAULT_RECORDED, from, 0);
}

/* The part of a vector that a rank reduces, as bytes. */
static struct weft_elements part_of(const struct weft_shared_call *c, void *vector, int rank)
{
    size_t count = c->args->in.count, each = count / (size_t)c->n, first = each * (size_t)rank;
    struct weft_elements all = {vector, count, c->args->in.type};
    return weft_elements_slice(all, first, rank == c->n - 1 ? count - first : each);
}

/* Combines this rank's part of all operands, which it reads from the other ranks' memory. */
static void reduce_part(struct weft_shared_call *c, struct weft_elements own, unsigned char *result)
{
    struct weft_operands o;
    size_t most = WEFT_AREA_SCRATCH / (size_t)c->n / WEFT_AREA_LINE * WEFT_AREA_LINE;
    size_t bytes = weft_elements_bytes(own);
    uint64_t before = (uintptr_t)own.at - (uintptr_t)c->args->in.at;
    weft_operands_describe(&o, c->args);
    for (size_t at = 0, length; at < bytes; at += length) {
        length = weft_shared_least(bytes - at, most);
        for (int i = 0; i < c->n; i++) {
            unsigned char *to = (unsigned char *)c->area->scratch + (size_t)i * most;
            o.at[i] = i == c->rank ? (unsigned char *)own.at + at : to;
            if (i != c->rank)
                read_from(c, i, addresses_of(c, c->stamp, i).in + before + at, to, length);
        }
        weft_operands_reduce(&o, result + at, length);
    }
}

/* Two ranks both reduce all: each reads as many bytes as by parts, and none that the other rank has
 * just written, which come slowly between cores that share no nearby cache: 1 MiB takes 0.4 of the
 * time. Not in place, where the result would overwrite what the other rank reads. A rank that needs
 * parts posts that in the place of the address of its result. */
static bool needs_parts(const struct weft_shared_call *c)
{
    return c->args->in.at == c->args->out.at;
}

static bool all_reduce_whole(const struct weft_shared_call *c)
{
    return c->n == 2 && !addresses_of(c, c->stamp, 0).out && !addresses_of(c, c->stamp, 1).out;
}

/* Each rank reduces one part, and reads the other parts of the result from the other ranks. */
static bool read_parts(struct weft_shared_call *c)
{
    unsigned char *out = c->args->out.at;
    for (; c->taken < c->n; c->taken++) {
        int from = (c->rank + c->taken) % c->n;
        struct weft_elements part = part_of(c, out, from);
        enum weft_shared_wait post = weft_shared_await_post(c, c->stamp + 1, from);
        if (post == WEFT_SHARED_LATER)
            return false;
        if (post == WEFT_SHARED_REACHED)
            read_from(c, from,
                      addresses_of(c, c->stamp + 1, from).out +
                          ((uintptr_t)part.at - (uintptr_t)out),
                      part.at, weft_elements_bytes(part));
    }
    return true;
}

/* Once all ranks have posted. After an error there is nothing to be read. */
static void reduce_own(struct weft_shared_call *c, bool all_posted)
{
    const struct weft_coll_args *args = c->args;
    struct weft_elements all = {args->in.at, args->in.count, args->in.type};
    c->whole = all_posted && all_reduce_whole(c);
    struct weft_elements own = c->whole ? all : part_of(c, all.at, c->rank);
    if (all_posted)
        reduce_part(c, own,
                    (unsigned char *)args->out.at + ((uintptr_t)own.at - (uintptr_t)all.at));
    if (!all_posted || c->whole)
        c->taken = c->n;
    c->reduced = true;
}

static bool allreduce(struct weft_shared_call *c)
{
    const struct weft_coll_args *args = c->args;
    if (c->next == c->stamp && !post_addresses(c, c->stamp, args->in.at, needs_parts(c)))
        return false;
    if (!c->reduced) {
        enum weft_shared_wait posts = weft_shared_await_posts(c, c->stamp);
        if (posts == WEFT_SHARED_LATER || c->over)
            return c->over;
        reduce_own(c, posts == WEFT_SHARED_REACHED);
    }
    if (!c->whole && c->next == c->stamp + 1 &&
        !post_addresses(c, c->stamp + 1, NULL, (uintptr_t)args->out.at))
        return false;
    return read_parts(c) && end_reading(c, c->stamp + 1);
}

/* Each rank reduces its block. */
static bool reduce_scatter(struct weft_shared_call *c)
{
    if (c->next == c->stamp && !post_addresses(c, c->stamp, c->args->in.at, 0))
        return false;
    if (!c->reduced) {
        enum weft_shared_wait posts = weft_shared_await_posts(c, c->stamp);
        if (posts == WEFT_SHARED_LATER)
            return false;
        if (posts == WEFT_SHARED_REACHED)
            reduce_part(c, weft_block(c->give, c->rank), c->args->out.at);
        c->reduced = true;
    }
    return end_reading(c, c->stamp);
}

/* Reads a block of another rank, through scratch memory if its place is not contiguous. */
static void read_block(struct weft_shared_call *c, int from, uint64_t address,
                       struct weft_elements place)
{
    size_t bytes = weft_elements_bytes(place);
    if (place.type->flags & WEFT_TYPE_CONTIGUOUS) {
        read_from(c, from, address, place.at, bytes);
        return;
    }
    for (size_t at = 0, length; at < bytes; at += length) {
        length = weft_shared_least(bytes - at, WEFT_AREA_SCRATCH);
        read_from(c, from, address + at, c->area->scratch, length);
        weft_datatype_unpack(place.type, place.at, at, c->area->scratch, length);
    }
}

/* Packs what this rank gives, unless it is contiguous. */
static const void *contiguous(struct weft_shared_call *c)
{
    size_t bytes = c->longest;
    int blocks = c->parts ? c->n : 1;
    if (c->give->type->flags & WEFT_TYPE_CONTIGUOUS)
        return c->give->at;
    if (c->packed)
        return c->packed;
    c->packed = malloc(bytes * (size_t)blocks);
    if (!c->packed)
        weft_shared_fail(c, weft_error_set(MPI_ERR_NO_MEM, "no memory to pack %zu bytes", bytes),
                         WEFT_FAULT_RECORDED, c->rank, 0);
    for (int i = 0; c->packed && i < blocks; i++) {
        struct weft_elements block = weft_block(c->give, i);
        weft_datatype_pack_all(block.type, block.at, block.count,
                               (char *)c->packed + (size_t)i * bytes);
    }
    return c->packed;
}

/* Each rank reads the blocks that it takes. */
static bool move_blocks(struct weft_shared_call *c)
{
    int sources = c->source == WEFT_SHARED_ALL ? c->n : c->source == WEFT_SHARED_NOBODY ? 1 : 2;
    if (c->posts && c->next == c->stamp && !post_addresses(c, c->stamp, contiguous(c), 0))
        return false;
    for (; c->taken < sources; c->taken++) {
        int from = c->source == WEFT_SHARED_ALL ? (c->rank + c->taken) % c->n : c->source;
        enum weft_shared_wait post = weft_shared_await_post(c, c->stamp, from);
        if (post == WEFT_SHARED_LATER)
            return false;
        if (post == WEFT_SHARED_REACHED)
            read_block(c, from,
                       addresses_of(c, c->stamp, from).in +
                           (c->parts ? (size_t)c->rank * c->longest : 0),
                       weft_shared_place(c, from));
    }
    return end_reading(c, c->stamp);
}

bool weft_shared_run_in_one_copy(struct weft_shared_call *c)
{
    if (c->args->kind == WEFT_COLL_ALLREDUCE)
        return allreduce(c);
    return c->reduces ? reduce_scatter(c) : move_blocks(c);
}
