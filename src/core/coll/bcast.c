// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Bcast: short data down a tree; long data in segments down a chain, or scattered down a tree,
 * one block for each rank, followed by an allgather: around a ring, of short blocks in log2(size)
 * rounds.
 *
 * Invariant: segments and blocks are ranges of the packed form, because ranks may use different
 * types for the same data.
 */
#include "core/coll/nodes.h"
#include "core/coll/tree.h"

/* A vrank is a rank counted from the root. */
static int rank_of(const struct weft_schedule *s, int root, int64_t vrank)
{
    return (int)((vrank + root) % s->size);
}

static struct weft_tree tree_of(const struct weft_schedule *s, int root, int radix)
{
    return weft_tree_of(s->size, radix, (s->rank - root + s->size) % s->size);
}

static void down_the_tree(struct weft_schedule *s, struct weft_elements data, int root, int radix)
{
    struct weft_tree tree = tree_of(s, root, radix);
    if (tree.parent >= 0)
        weft_schedule_receive(s, rank_of(s, root, tree.parent), data);
    weft_schedule_fence(s);
    for (int i = tree.children; i-- > 0;) /* the largest subtree first */
        weft_schedule_send(s, rank_of(s, root, weft_tree_child(&tree, i).vrank), data);
}

/* The blocks of a subtree. */
static struct weft_elements blocks_of(const struct weft_blocks *all, int64_t first, int64_t end)
{
    struct weft_elements from = weft_block(all, (int)first), last = weft_block(all, (int)end - 1);
    return weft_elements_of_bytes(from.at, (size_t)((uintptr_t)last.at - (uintptr_t)from.at) +
                                               weft_elements_bytes(last));
}

/* A rank receives the blocks of its subtree and sends those of its children's subtrees. */
static void scatter(struct weft_schedule *s, const struct weft_blocks *all, int root)
{
    struct weft_tree tree = tree_of(s, root, 2);
    if (tree.parent >= 0)
        weft_schedule_receive(s, rank_of(s, root, tree.parent),
                              blocks_of(all, tree.vrank, tree.end));
    weft_schedule_fence(s);
    for (int i = tree.children; i-- > 0;) {
        struct weft_subtree child = weft_tree_child(&tree, i);
        weft_schedule_send(s, rank_of(s, root, child.vrank),
                           blocks_of(all, child.vrank, child.end));
    }
}

/* The packed form of the data, which the root packs first unless the type is contiguous. */
static struct weft_elements packed_form(struct weft_schedule *s, struct weft_elements data,
                                        bool is_root)
{
    size_t bytes = weft_elements_bytes(data);
    if (data.type->flags & WEFT_TYPE_CONTIGUOUS)
        return weft_elements_of_bytes(data.at, bytes);
    struct weft_elements packed = weft_schedule_buffer(s, bytes);
    if (is_root)
        weft_schedule_copy(s, data, packed);
    return packed;
}

/* Unpacks the data at all ranks but the root. */
static void unpack(struct weft_schedule *s, struct weft_elements packed, struct weft_elements data,
                   bool is_root)
{
    weft_schedule_fence(s);
    if (!is_root)
        weft_schedule_copy(s, packed, data);
}

void weft_build_bcast_segments(struct weft_schedule *s, struct weft_elements data, int parent,
                               const int *children, int n)
{
    enum { EACH = WEFT_SEGMENT, AHEAD = WEFT_SEGMENTS_AHEAD };
    bool receives = parent >= 0;
    struct weft_elements packed = packed_form(s, data, !receives);
    size_t segments = (packed.count + EACH - 1) / EACH;
    uint32_t begin = s->count, received[AHEAD] = {0};
    for (size_t i = 0; i < segments + AHEAD; i++) {
        if (i >= AHEAD && n > 0) {
            weft_schedule_wait_for(s, receives ? received[i % AHEAD] : begin);
            for (int child = 0; child < n; child++)
                weft_schedule_send(s, children[child],
                                   weft_elements_segment(packed, EACH, i - AHEAD));
        }
        if (i < segments && receives) {
            weft_schedule_wait_for(s, begin);
            weft_schedule_receive(s, parent, weft_elements_segment(packed, EACH, i));
            received[i % AHEAD] = s->count;
        }
    }
    unpack(s, packed, data, !receives);
}

static void down_the_chain(struct weft_schedule *s, struct weft_elements data, int root)
{
    int vrank = (s->rank - root + s->size) % s->size, next = rank_of(s, root, vrank + 1);
    weft_build_bcast_segments(s, data, vrank > 0 ? rank_of(s, root, vrank - 1) : -1, &next,
                              vrank + 1 < s->size);
}

/* Shorter blocks are collected in log2(size) messages instead of size - 1, and copied twice: 16 KiB
 * at 5 GB/s take 7 us, as long as a message. */
enum { RING_BLOCK = 16 * 1024 };

/* Copies the packed blocks, from this rank's own on, to where they belong. */
static void collect_blocks(struct weft_schedule *s, const struct weft_blocks *all, int root,
                           struct weft_elements bytes)
{
    int own = (s->rank - root + s->size) % s->size;
    struct weft_elements packed;
    const size_t *begin = weft_build_bruck(s, weft_block(all, own), all, root, &packed);
    if (!begin)
        return;
    size_t upper = begin[s->size - own], lower = bytes.count - upper;
    weft_schedule_copy(s, weft_elements_slice(packed, 0, upper),
                       weft_elements_slice(bytes, lower, upper));
    weft_schedule_copy(s, weft_elements_slice(packed, upper, lower),
                       weft_elements_slice(bytes, 0, lower));
}

static void scatter_and_ring(struct weft_schedule *s, struct weft_elements data, int root)
{
    bool is_root = s->rank == root;
    struct weft_elements bytes = packed_form(s, data, is_root);
    struct weft_blocks all = weft_schedule_cut(s, bytes, s->size);
    if (s->failed)
        return;
    scatter(s, &all, root);
    weft_schedule_fence(s); /* the ring receives into blocks that the scatter sends */
    if (bytes.count / (size_t)s->size < RING_BLOCK)
        collect_blocks(s, &all, root, bytes);
    else
        weft_build_ring(s, weft_block(&all, (s->rank - root + s->size) % s->size), &all, root);
    unpack(s, bytes, data, is_root);
}

void weft_build_bcast(struct weft_schedule *s, struct weft_elements data, int root,
                      enum weft_algorithm algorithm)
{
    if (s->size == 1)
        return;
    if (algorithm == WEFT_ALGORITHM_NODES)
        weft_nodes_bcast(s, data, root);
    else if (algorithm == WEFT_ALGORITHM_SCATTER_RING)
        scatter_and_ring(s, data, root);
    else if (algorithm == WEFT_ALGORITHM_CHAIN)
        down_the_chain(s, data, root);
    else
        down_the_tree(s, data, root, algorithm == WEFT_ALGORITHM_QUADNOMIAL ? 4 : 2);
}
