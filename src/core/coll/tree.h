// SPDX-License-Identifier: BSD-3-Clause
/*
 * k-nomial trees over the places 0 to size - 1, with place 0 as the root. In base k, the parent of
 * a place is the place with its lowest non-zero digit cleared.
 *
 * Invariant: the subtree of a place is a range of places that starts with it; the subtrees of its
 * children, nearest first, follow in this range.
 */
#ifndef WEFT_TREE_H
#define WEFT_TREE_H

#include <stdint.h>

struct weft_tree {
    int64_t size, place, radix;
    int64_t parent; /* -1: the root */
    int64_t end;    /* the subtree is [place, end) */
    int children;
};

struct weft_subtree {
    int64_t place, end;
};

/* Child i, the nearest first. */
static inline struct weft_subtree weft_tree_child(const struct weft_tree *tree, int i)
{
    int64_t reach = 1;
    for (; i >= tree->radix - 1; i -= (int)tree->radix - 1)
        reach *= tree->radix;
    int64_t place = tree->place + (i + 1) * reach, end = place + reach;
    return (struct weft_subtree){place, end < tree->size ? end : tree->size};
}

static inline struct weft_tree weft_tree_of(int size, int radix, int place)
{
    struct weft_tree tree = {.size = size, .place = place, .radix = radix, .parent = -1};
    int64_t reach = 1;
    while (reach < size && place / reach % radix == 0) {
        for (int digit = 1; digit < radix && place + digit * reach < size; digit++)
            tree.children++;
        reach *= radix;
    }
    if (place)
        tree.parent = place - place / reach % radix * reach;
    tree.end = place + reach < size ? place + reach : size;
    return tree;
}

#endif
