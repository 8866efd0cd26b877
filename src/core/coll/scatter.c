// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Scatter and MPI_Scatterv: short blocks down a binomial tree, packed; long blocks directly
 * from the root.
 *
 * Invariant: a vrank is a rank counted from the root. In the tree, block i of a rank's packed form
 * is that of vrank + i, and all blocks have the same number of bytes.
 */
#include "core/coll/nodes.h"
#include "core/coll/tree.h"

static void from_root(struct weft_schedule *s, const struct weft_blocks *in,
                      struct weft_elements out, int root)
{
    if (s->rank != root) {
        if (weft_elements_bytes(out))
            weft_schedule_receive(s, root, out);
        return;
    }
    for (int i = 1; i < s->size; i++) {
        int r = (root + i) % s->size;
        if (weft_elements_bytes(weft_block(in, r)))
            weft_schedule_send(s, r, weft_block(in, r));
    }
    weft_schedule_copy(s, weft_block(in, root), out);
}

/* All blocks of the root, packed; its own block is not used. */
static struct weft_elements pack_at_root(struct weft_schedule *s, const struct weft_blocks *in,
                                         size_t block)
{
    if (s->rank == 0 && (in->type->flags & WEFT_TYPE_CONTIGUOUS))
        return weft_elements_of_bytes(in->at, (size_t)s->size * block);
    struct weft_elements packed = weft_schedule_buffer(s, (size_t)s->size * block);
    for (int p = 1; p < s->size; p++)
        weft_schedule_copy(s, weft_block(in, (p + s->rank) % s->size),
                           weft_elements_slice(packed, (size_t)p * block, block));
    return packed;
}

static void down_the_tree(struct weft_schedule *s, const struct weft_blocks *in,
                          struct weft_elements out, int root)
{
    struct weft_tree tree = weft_tree_of(s->size, 2, (s->rank - root + s->size) % s->size);
    size_t block =
        s->rank == root ? weft_elements_bytes(weft_block(in, root)) : weft_elements_bytes(out);
    struct weft_elements packed = out;
    if (tree.parent < 0) {
        packed = pack_at_root(s, in, block);
    } else {
        if (tree.children)
            packed = weft_schedule_buffer(s, (size_t)(tree.end - tree.vrank) * block);
        weft_schedule_receive(s, (int)((tree.parent + root) % s->size), packed);
        weft_schedule_fence(s);
    }
    for (int i = tree.children; i-- > 0;) {
        struct weft_subtree child = weft_tree_child(&tree, i);
        weft_schedule_send(s, (int)((child.vrank + root) % s->size),
                           weft_elements_slice(packed, (size_t)(child.vrank - tree.vrank) * block,
                                               (size_t)(child.end - child.vrank) * block));
    }
    if (tree.parent < 0)
        weft_schedule_copy(s, weft_block(in, root), out);
    else if (tree.children)
        weft_schedule_copy(s, weft_elements_slice(packed, 0, block), out);
}

void weft_build_scatter(struct weft_schedule *s, const struct weft_blocks *in,
                        struct weft_elements out, int root, enum weft_algorithm algorithm)
{
    if (algorithm == WEFT_ALGORITHM_NODES)
        weft_nodes_scatter(s, in, out, root);
    else if (algorithm == WEFT_ALGORITHM_BINOMIAL)
        down_the_tree(s, in, out, root);
    else
        from_root(s, in, out, root);
}
