// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Gather and MPI_Gatherv: short blocks up a binomial tree, packed; long blocks directly to the
 * root.
 *
 * Invariant: a vrank is a rank counted from the root. In the tree, block i of a rank's packed form
 * is that of vrank + i, and all blocks have the same number of bytes.
 */
#include "core/coll/nodes.h"
#include "core/coll/tree.h"

static void to_root(struct weft_schedule *s, struct weft_elements in, const struct weft_blocks *out,
                    int root)
{
    if (s->rank != root) {
        if (weft_elements_bytes(in))
            weft_schedule_send(s, root, in);
        return;
    }
    for (int r = 0; r < s->size; r++)
        if (r != root && weft_elements_bytes(weft_block(out, r)))
            weft_schedule_receive(s, r, weft_block(out, r));
    weft_schedule_copy(s, in, weft_block(out, root));
}

/* Unpacks the blocks of the root, except the root's block. */
static void unpack(struct weft_schedule *s, struct weft_elements packed, size_t block,
                   const struct weft_blocks *out)
{
    for (int p = 1; p < s->size; p++)
        weft_schedule_copy(s, weft_elements_slice(packed, (size_t)p * block, block),
                           weft_block(out, (p + s->rank) % s->size));
}

static void up_the_tree(struct weft_schedule *s, struct weft_elements in,
                        const struct weft_blocks *out, int root)
{
    struct weft_tree tree = weft_tree_of(s->size, 2, (s->rank - root + s->size) % s->size);
    size_t block = weft_elements_bytes(in);
    struct weft_elements packed = in;
    if (tree.children) {
        packed = weft_schedule_buffer(s, (size_t)(tree.end - tree.vrank) * block);
        for (int i = 0; i < tree.children; i++) {
            struct weft_subtree child = weft_tree_child(&tree, i);
            weft_schedule_receive(s, (int)((child.vrank + root) % s->size),
                                  weft_elements_slice(packed,
                                                      (size_t)(child.vrank - tree.vrank) * block,
                                                      (size_t)(child.end - child.vrank) * block));
        }
    }
    if (tree.parent < 0) {
        weft_schedule_copy(s, in, weft_block(out, root));
        weft_schedule_fence(s);
        unpack(s, packed, block, out);
        return;
    }
    if (tree.children)
        weft_schedule_copy(s, in, weft_elements_slice(packed, 0, block));
    weft_schedule_fence(s);
    weft_schedule_send(s, (int)((tree.parent + root) % s->size), packed);
}

void weft_build_gather(struct weft_schedule *s, struct weft_elements in,
                       const struct weft_blocks *out, int root, enum weft_algorithm algorithm)
{
    if (algorithm == WEFT_ALGORITHM_NODES)
        weft_nodes_gather(s, in, out, root);
    else if (algorithm == WEFT_ALGORITHM_BINOMIAL)
        up_the_tree(s, in, out, root);
    else
        to_root(s, in, out, root);
}
