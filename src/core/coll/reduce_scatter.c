// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Reduce_scatter and MPI_Reduce_scatter_block: recursive halving, a pairwise exchange of
 * blocks, or one of all blocks at once; within nodes and then among their ranks of equal index
 * (nodes.c).
 *
 * Invariant: halving starts with the adjacent rank, for the order of operands, so the blocks that
 * stay together belong to vranks with the same lowest bits. The vector is laid out by vranks with
 * reversed bits, so that the half that is sent and the half that is kept are contiguous.
 */
#include "core/coll/nodes.h"
#include "core/coll/reduction.h"

/* The offsets of the ranks' blocks, in elements, then the end. */
static size_t *begins_of(struct weft_schedule *s, const struct weft_blocks *split)
{
    size_t *begin = weft_schedule_memory(s, ((size_t)s->size + 1) * sizeof *begin);
    if (s->failed)
        return NULL;
    begin[0] = 0;
    for (int i = 0; i < s->size; i++)
        begin[i + 1] = begin[i] + (split->arrays ? (size_t)weft_int_of(split->arrays->counts, i)
                                                 : split->count);
    return begin;
}

static int reverse(int vrank, int levels)
{
    int result = 0;
    for (int bit = 0; bit < levels; bit++)
        result |= (vrank >> bit & 1) << (levels - 1 - bit);
    return result;
}

/* The ranks [first, end) whose blocks a vrank computes: its own, and the inactive rank before it.
 */
static void ranks_of(const struct weft_reduction *r, int vrank, int *first, int *end)
{
    *end = weft_reduction_rank(r, vrank) + 1;
    *first = vrank < r->extra ? *end - 2 : *end - 1;
}

/* Copies the operand to the order of reversed vranks. Returns the offset of each, then the end. */
static size_t *lay_out(struct weft_reduction *r, struct weft_elements in, const size_t *begin)
{
    struct weft_schedule *s = r->s;
    int vranks = 1 << r->levels, first, end;
    size_t *at = weft_schedule_memory(s, ((size_t)vranks + 1) * sizeof *at);
    if (s->failed)
        return NULL;
    at[0] = 0;
    for (int i = 0; i < vranks; i++) {
        ranks_of(r, reverse(i, r->levels), &first, &end);
        size_t count = begin[end] - begin[first];
        weft_schedule_copy(s, weft_elements_slice(in, begin[first], count),
                           weft_elements_slice(r->mine, at[i], count));
        at[i + 1] = at[i] + count;
    }
    return at;
}

static struct weft_elements between(const struct weft_reduction *r, const size_t *at, int first,
                                    int end)
{
    return weft_elements_slice(r->mine, at[first], at[end] - at[first]);
}

/* Each level keeps one half of the range of reversed vranks. */
static void halve(struct weft_reduction *r, const size_t *at)
{
    int first = 0, end = 1 << r->levels;
    for (int level = 0; level < r->levels; level++) {
        int middle = first + (end - first) / 2;
        bool upper = r->vrank >> level & 1;
        weft_reduction_exchange(r, r->vrank ^ 1 << level,
                                upper ? between(r, at, first, middle) : between(r, at, middle, end),
                                upper ? between(r, at, middle, end)
                                      : between(r, at, first, middle));
        first = upper ? middle : first;
        end = upper ? end : middle;
    }
}

static void by_halving(struct weft_schedule *s, struct weft_elements in, struct weft_elements out,
                       const size_t *begin)
{
    struct weft_reduction r = {.s = s};
    r.mine = weft_schedule_elements(s, in.type, begin[s->size]);
    r.other = weft_schedule_elements(s, in.type, begin[s->size]).at;
    weft_reduction_init(&r);
    const size_t *at = lay_out(&r, in, begin);
    if (s->failed)
        return;
    weft_reduction_fold(&r);
    if (r.vrank < 0) {
        weft_schedule_receive(s, s->rank + 1, out);
        return;
    }
    halve(&r, at);
    size_t mine = at[reverse(r.vrank, r.levels)];
    if (r.vrank < r.extra) {
        size_t theirs = begin[s->rank] - begin[s->rank - 1];
        weft_schedule_send(s, s->rank - 1, weft_elements_slice(r.mine, mine, theirs));
        mine += theirs;
    }
    weft_schedule_copy(s, weft_elements_slice(r.mine, mine, out.count), out);
}

/* Step i: send to rank + i, receive from rank - i. A block is combined while the next is received.
 * The first is received where the result will be, unless that overlaps the operand. */
static void by_pairs(struct weft_schedule *s, struct weft_elements in, struct weft_elements out,
                     const size_t *begin)
{
    struct weft_elements mine = weft_elements_slice(in, begin[s->rank], out.count);
    struct weft_elements sum = out, received[2];
    uint32_t last = 0;
    if (in.at == out.at)
        sum = weft_schedule_elements(s, out.type, out.count);
    for (int i = 0; i < 2; i++)
        if (s->size > 2 + i)
            received[i] = weft_schedule_elements(s, out.type, out.count);
    for (int i = 1; i <= s->size; i++) {
        if (i < s->size) {
            int to = (s->rank + i) % s->size, from = (s->rank + s->size - i) % s->size;
            weft_schedule_receive(s, from, i == 1 ? sum : received[i % 2]);
            weft_schedule_send(s, to,
                               weft_elements_slice(in, begin[to], begin[to + 1] - begin[to]));
        }
        if (i > 1) {
            weft_schedule_wait_for(s, last);
            weft_schedule_combine(s, i == 2 ? mine : received[(i - 1) % 2], sum.at);
        }
        last = s->count;
    }
    weft_schedule_fence(s);
    weft_schedule_copy(s, sum, out);
}

static struct weft_elements block_of(struct weft_elements blocks, int rank, size_t count)
{
    return weft_elements_slice(blocks, (size_t)rank * count, count);
}

/* Receives the blocks of all ranks at once, and combines them in the order of halving. */
static void by_all(struct weft_schedule *s, struct weft_elements in, struct weft_elements out,
                   const size_t *begin)
{
    struct weft_reduction r = {.s = s};
    size_t n = out.count;
    struct weft_elements blocks = weft_schedule_elements(s, in.type, (size_t)s->size * n);
    weft_reduction_init(&r);
    for (int i = 1; i < s->size; i++) {
        int to = (s->rank + i) % s->size, from = (s->rank + s->size - i) % s->size;
        weft_schedule_receive(s, from, block_of(blocks, from, n));
        weft_schedule_send(s, to, weft_elements_slice(in, begin[to], begin[to + 1] - begin[to]));
    }
    weft_schedule_copy(s, weft_elements_slice(in, begin[s->rank], n), block_of(blocks, s->rank, n));
    weft_schedule_fence(s);
    for (int v = 0; v < r.extra; v++)
        weft_schedule_combine(s, block_of(blocks, 2 * v, n), block_of(blocks, 2 * v + 1, n).at);
    for (int half = 1; half < 1 << r.levels; half *= 2)
        for (int v = 2 * half - 1; v < 1 << r.levels; v += 2 * half)
            weft_schedule_combine(s, block_of(blocks, weft_reduction_rank(&r, v - half), n),
                                  block_of(blocks, weft_reduction_rank(&r, v), n).at);
    weft_schedule_copy(s, block_of(blocks, s->size - 1, n), out);
}

static void build(struct weft_schedule *s, struct weft_elements in, struct weft_elements out,
                  const size_t *begin, enum weft_algorithm algorithm)
{
    if (s->size == 1)
        weft_schedule_copy(s, in, out);
    else if (algorithm == WEFT_ALGORITHM_PAIRWISE)
        by_pairs(s, in, out, begin);
    else if (algorithm == WEFT_ALGORITHM_LINEAR)
        by_all(s, in, out, begin);
    else
        by_halving(s, in, out, begin);
}

void weft_build_reduce_scatter_group(struct weft_schedule *s, struct weft_elements in,
                                     struct weft_elements out, const size_t *begin)
{
    build(s, in, out, begin,
          weft_schedule_choose(s, WEFT_COLL_REDUCE_SCATTER, weft_elements_bytes(in)));
}

void weft_build_reduce_scatter(struct weft_schedule *s, struct weft_elements in, void *out,
                               const struct weft_blocks *split, enum weft_algorithm algorithm)
{
    const size_t *begin = begins_of(s, split);
    if (s->failed)
        return;
    struct weft_elements own = {out, begin[s->rank + 1] - begin[s->rank], in.type};
    if (algorithm == WEFT_ALGORITHM_NODES)
        weft_nodes_reduce_scatter(s, in, own, begin);
    else
        build(s, in, own, begin, algorithm);
}
