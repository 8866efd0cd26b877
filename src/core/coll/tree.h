// SPDX-License-Identifier: BSD-3-Clause
/*
 * k-nomial trees over places 0, 1, …, size - 1; place 0 is the top. Written in base k, a place's
 * parent is the place itself without its lowest digit that is not 0.
 *
 * Invariant: the subtree of a place is a row of neighbouring places that begins with it, and the
 * subtrees of its children, nearest first, follow one another in that row.
 */
#ifndef WEFT_TREE_H
#define WEFT_TREE_H

#include <stdint.h>

struct weft_tree {
    int64_t size, place, radix;
    int64_t parent; /* -1: it is the top */
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
