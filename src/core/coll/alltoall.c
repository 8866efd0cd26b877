// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Alltoall, MPI_Alltoallv, MPI_Alltoallw: every pair of ranks exchanges its blocks, a limited
 * number of pairs at a time; short blocks of equal size in log2(size) rounds (Bruck), or through
 * the ranks of the node.
 *
 * Invariant: the messages are the same for every limit, so ranks need not use the same limit.
 */
#include "core/coll/nodes.h"

/* Pairs at a time: linear, and pairwise. */
enum { MANY_AT_A_TIME = 32, FEW_AT_A_TIME = 2 };

/* Step i: send to rank + i, receive from rank - i. Empty blocks are not sent. */
static void pairs(struct weft_schedule *s, const struct weft_blocks *in,
                  const struct weft_blocks *out, int at_a_time)
{
    uint32_t marks[MANY_AT_A_TIME]; /* after the messages of the last steps */
    uint32_t begin = s->after;
    for (int i = 1; i < s->size; i++) {
        int to = (int)(((int64_t)s->rank + i) % s->size);
        int from = (int)(((int64_t)s->rank + s->size - i) % s->size);
        if (i > at_a_time)
            weft_schedule_wait_for(s, marks[(i - at_a_time) % at_a_time]);
        if (weft_elements_bytes(weft_block(out, from)))
            weft_schedule_receive(s, from, weft_block(out, from));
        if (weft_elements_bytes(weft_block(in, to)))
            weft_schedule_send(s, to, weft_block(in, to));
        marks[i % at_a_time] = s->count;
    }
    weft_schedule_wait_for(s, begin); /* the copy overlaps with the messages */
    weft_schedule_copy(s, weft_block(in, s->rank), weft_block(out, s->rank));
}

/* The end of the run of blocks from i whose index has this bit set. */
static int end_of_run(int i, int bit, int size)
{
    int end = (i | (bit - 1)) + 1;
    return end < size ? end : size;
}

/* Copies the blocks whose index has this bit set between the packed form and a contiguous buffer.
 * Returns their bytes. */
static size_t pack(struct weft_schedule *s, struct weft_elements packed, size_t block, int bit,
                   struct weft_elements sent, bool unpack)
{
    size_t used = 0;
    for (int i = bit; i < s->size; i = end_of_run(i, bit, s->size) + bit) {
        size_t bytes = (size_t)(end_of_run(i, bit, s->size) - i) * block;
        struct weft_elements blocks = weft_elements_slice(packed, (size_t)i * block, bytes);
        struct weft_elements slice = weft_elements_slice(sent, used, bytes);
        weft_schedule_copy(s, unpack ? slice : blocks, unpack ? blocks : slice);
        used += bytes;
    }
    return used;
}

/* The block for rank + i is at index i of the packed form and is sent in the rounds of the bits of
 * i. At the end index i has the block from rank - i. */
static void bruck(struct weft_schedule *s, const struct weft_blocks *in,
                  const struct weft_blocks *out)
{
    size_t block = weft_elements_bytes(weft_block(in, 0)), n = (size_t)s->size;
    struct weft_elements packed = weft_schedule_buffer(s, n * block);
    struct weft_elements sent = weft_schedule_buffer(s, (n / 2 + 1) * block);
    struct weft_elements received = weft_schedule_buffer(s, (n / 2 + 1) * block);
    for (int i = 0; i < s->size; i++)
        weft_schedule_copy(s, weft_block(in, (s->rank + i) % s->size),
                           weft_elements_slice(packed, (size_t)i * block, block));
    for (int bit = 1; bit < s->size; bit *= 2) {
        sent.count = received.count = pack(s, packed, block, bit, sent, false);
        weft_assert(sent.count <= (n / 2 + 1) * block);
        weft_schedule_receive(s, (s->rank + s->size - bit) % s->size, received);
        weft_schedule_send(s, (s->rank + bit) % s->size, sent);
        weft_schedule_fence(s);
        pack(s, packed, block, bit, received, true);
    }
    for (int i = 0; i < s->size; i++)
        weft_schedule_copy(s, weft_elements_slice(packed, (size_t)i * block, block),
                           weft_block(out, (s->rank + s->size - i) % s->size));
}

void weft_build_alltoall(struct weft_schedule *s, const struct weft_blocks *in,
                         const struct weft_blocks *out, enum weft_algorithm algorithm)
{
    if (algorithm == WEFT_ALGORITHM_NODES)
        weft_nodes_alltoall(s, in, out);
    else if (algorithm == WEFT_ALGORITHM_BRUCK)
        bruck(s, in, out);
    else
        pairs(s, in, out, algorithm == WEFT_ALGORITHM_PAIRWISE ? FEW_AT_A_TIME : MANY_AT_A_TIME);
}

/* In place. Step t: two ranks whose sum is t modulo size exchange their blocks; sends use a
 * copy. */
void weft_build_alltoall_in_place(struct weft_schedule *s, const struct weft_blocks *blocks)
{
    size_t longest = 0;
    for (int i = 0; i < s->size; i++) {
        size_t bytes = weft_elements_bytes(weft_block(blocks, i));
        longest = bytes > longest ? bytes : longest;
    }
    struct weft_elements copy = weft_schedule_buffer(s, longest);
    for (int t = 0; t < s->size; t++) {
        int partner = (t + s->size - s->rank) % s->size;
        struct weft_elements block = weft_block(blocks, partner);
        copy.count = weft_elements_bytes(block);
        if (partner == s->rank || !copy.count)
            continue;
        weft_schedule_copy(s, block, copy);
        weft_schedule_receive(s, partner, block);
        weft_schedule_send(s, partner, copy);
        weft_schedule_fence(s);
    }
}
