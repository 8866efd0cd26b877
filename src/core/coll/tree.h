// SPDX-License-Identifier: BSD-3-Clause
/*
 * k-nomial trees over the vranks 0 to size - 1, with vrank 0 as the root. In base k, the parent of
 * a vrank is the vrank with its lowest non-zero digit cleared.
 *
 * Invariant: the subtree of a vrank is a range of vranks that starts with it; the subtrees of its
 * children, nearest first, follow in this range.
 */
#ifndef WEFT_TREE_H
#define WEFT_TREE_H

#include <stdint.h>

struct weft_tree {
    int64_t size, vrank, radix;
    int64_t parent; /* -1: the root */
    int64_t end;    /* the subtree is [vrank, end) */
    int children;
};

struct weft_subtree {
    int64_t vrank, end;
};

/* Child i, the nearest first. */
static inline struct weft_subtree weft_tree_child(const struct weft_tree *tree, int i)
{
    int64_t reach = 1;
    for (; i >= tree->radix - 1; i -= (int)tree->radix - 1)
        reach *= tree->radix;
    int64_t vrank = tree->vrank + (i + 1) * reach, end = vrank + reach;
    return (struct weft_subtree){vrank, end < tree->size ? end : tree->size};
}

static inline struct weft_tree weft_tree_of(int size, int radix, int vrank)
{
    struct weft_tree tree = {.size = size, .vrank = vrank, .radix = radix, .parent = -1};
    int64_t reach = 1;
    while (reach < size && vrank / reach % radix == 0) {
        for (int digit = 1; digit < radix && vrank + digit * reach < size; digit++)
            tree.children++;
        reach *= radix;
    }
    if (vrank)
        tree.parent = vrank - vrank / reach % radix * reach;
    tree.end = vrank + reach < size ? vrank + reach : size;
    return tree;
}

#endif
