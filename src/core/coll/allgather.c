// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Allgather and MPI_Allgatherv: short blocks in log2(size) rounds, each of which doubles the
 * blocks of a rank (doubling, Bruck); longer ones of few ranks directly, of many ranks around a
 * ring.
 *
 * Invariant: in Bruck's rounds, block i of a rank's packed form is the i-th after its own; the
 * packed form is rotated at the end.
 */
#include "core/coll/nodes.h"

void weft_build_ring(struct weft_schedule *s, struct weft_elements own,
                     const struct weft_blocks *all, int first)
{
    int up = (s->rank + 1) % s->size, down = (s->rank + s->size - 1) % s->size;
    int b = (s->rank - first + s->size) % s->size;
    uint32_t begin = s->after, present = begin; /* mark after which block b is present */
    for (int step = 1; step < s->size; step++) {
        int next = (b + s->size - 1) % s->size;
        /* The receive of a step overlaps with the messages of the previous step. */
        weft_schedule_wait_for(s, begin);
        weft_schedule_receive(s, down, weft_block(all, next));
        uint32_t received = s->count;
        weft_schedule_wait_for(s, present);
        weft_schedule_send(s, up, step == 1 ? own : weft_block(all, b));
        present = received;
        b = next;
    }
}

/* The copy overlaps with the messages. */
static void ring(struct weft_schedule *s, struct weft_elements in, const struct weft_blocks *out)
{
    uint32_t begin = s->after;
    weft_build_ring(s, in, out, 0);
    weft_schedule_wait_for(s, begin);
    weft_schedule_copy(s, in, weft_block(out, s->rank));
}

/* Each rank sends its block to all others at once. */
static void linear(struct weft_schedule *s, struct weft_elements own, const struct weft_blocks *all)
{
    for (int i = 1; i < s->size; i++) {
        int to = (int)(((int64_t)s->rank + i) % s->size);
        int from = (int)(((int64_t)s->rank + s->size - i) % s->size);
        weft_schedule_receive(s, from, weft_block(all, from));
        weft_schedule_send(s, to, own);
    }
    weft_schedule_copy(s, own, weft_block(all, s->rank)); /* overlaps with the messages */
}

/* Exchanges ranges of `out`: blocks have equal size, and the number of ranks is a power of two. */
static void doubling(struct weft_schedule *s, struct weft_elements in,
                     const struct weft_blocks *out)
{
    struct weft_elements all = {out->at, (size_t)s->size * out->count, out->type};
    weft_schedule_copy(s, in, weft_block(out, s->rank));
    for (int have = 1; have < s->size; have *= 2) {
        int partner = s->rank ^ have;
        size_t mine = (size_t)(s->rank & ~(have - 1)), theirs = (size_t)(partner & ~(have - 1));
        size_t count = (size_t)have * out->count;
        weft_schedule_receive(s, partner, weft_elements_slice(all, theirs * out->count, count));
        weft_schedule_send(s, partner, weft_elements_slice(all, mine * out->count, count));
        weft_schedule_fence(s);
    }
}

/* The offsets of the packed blocks, from block `mine` on, then the end. */
static size_t *begins_of_blocks(struct weft_schedule *s, const struct weft_blocks *all, int mine)
{
    size_t *begin = weft_schedule_memory(s, ((size_t)s->size + 1) * sizeof *begin);
    if (s->failed)
        return NULL;
    begin[0] = 0;
    for (int i = 0; i < s->size; i++)
        begin[i + 1] = begin[i] + weft_elements_bytes(weft_block(all, (mine + i) % s->size));
    return begin;
}

const size_t *weft_build_bruck(struct weft_schedule *s, struct weft_elements own,
                               const struct weft_blocks *all, int first,
                               struct weft_elements *packed)
{
    const size_t *begin = begins_of_blocks(s, all, (s->rank - first + s->size) % s->size);
    *packed = weft_schedule_buffer(s, s->failed ? 0 : begin[s->size]);
    if (s->failed)
        return NULL;
    weft_schedule_copy(s, own, weft_elements_slice(*packed, 0, begin[1]));
    for (int64_t have = 1; have < s->size; have *= 2) {
        int64_t n = have < s->size - have ? have : s->size - have;
        weft_schedule_receive(
            s, (int)((s->rank + have) % s->size),
            weft_elements_slice(*packed, begin[have], begin[have + n] - begin[have]));
        weft_schedule_send(s, (int)((s->rank + s->size - have) % s->size),
                           weft_elements_slice(*packed, 0, begin[n]));
        weft_schedule_fence(s);
    }
    return begin;
}

static void bruck(struct weft_schedule *s, struct weft_elements in, const struct weft_blocks *out)
{
    struct weft_elements packed;
    const size_t *begin = weft_build_bruck(s, in, out, 0, &packed);
    for (int i = 0; i < s->size && begin; i++)
        weft_schedule_copy(s, weft_elements_slice(packed, begin[i], begin[i + 1] - begin[i]),
                           weft_block(out, (s->rank + i) % s->size));
}

/* A gather to rank 0 and a broadcast: fewer messages than doubling, in more levels. */
static void up_and_down(struct weft_schedule *s, struct weft_elements in,
                        const struct weft_blocks *out)
{
    struct weft_elements all = {out->at, (size_t)s->size * out->count, out->type};
    weft_build_gather(s, in, out, 0, WEFT_ALGORITHM_LINEAR);
    weft_schedule_fence(s);
    weft_build_bcast(s, all, 0, WEFT_ALGORITHM_QUADNOMIAL);
}

void weft_build_allgather(struct weft_schedule *s, struct weft_elements in,
                          const struct weft_blocks *out, enum weft_algorithm algorithm)
{
    if (algorithm == WEFT_ALGORITHM_NODES)
        weft_nodes_allgather(s, in, out);
    else if (algorithm == WEFT_ALGORITHM_BRUCK)
        bruck(s, in, out);
    else if (algorithm == WEFT_ALGORITHM_LINEAR)
        linear(s, in, out);
    else if (algorithm == WEFT_ALGORITHM_QUADNOMIAL)
        up_and_down(s, in, out);
    else if (algorithm == WEFT_ALGORITHM_DOUBLING)
        doubling(s, in, out);
    else
        ring(s, in, out);
}
