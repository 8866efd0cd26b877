// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Reduce: short vectors up a tree; long ones by recursive halving, after which the root collects
 * the parts.
 *
 * Invariant: in the tree a rank combines its own data with those of its children from the nearest
 * to the farthest, always as left operand, so what it holds are neighbouring ranks in order. The
 * tree's top is the root if the operation commutes, else rank 0, which passes the result on.
 */
#include "core/coll/nodes.h"
#include "core/coll/reduction.h"
#include "core/coll/tree.h"

/* Receives of children are posted at once if all that comes fits into so many bytes. */
enum { AT_ONCE_BYTES = 64 * 1024 };

/* What children send, and the mark behind its receive. */
struct coming {
    struct weft_elements data;
    uint32_t received;
};

static void receive(struct weft_schedule *s, const struct weft_tree *tree, int i, int top,
                    struct coming *from)
{
    weft_schedule_receive(s, (int)((weft_tree_child(tree, i).place + top) % s->size), from->data);
    from->received = s->count;
}

/* Combines own data with the children's: what comes is the right operand and so where the result
 * appears. The last room holds it; where there are fewer rooms than children, two take turns. */
static struct weft_elements combine(struct weft_schedule *s, const struct weft_tree *tree,
                                    struct weft_elements data, int top, void *last_room)
{
    int n = tree->children;
    int rooms = n > 2 && weft_elements_bytes(data) > AT_ONCE_BYTES / (size_t)n ? 2 : n;
    struct coming *came = weft_schedule_memory(s, (size_t)n * sizeof *came);
    for (int i = 0; i < n && !s->failed; i++) {
        bool is_last = last_room && (n - 1 - i) % rooms == 0;
        came[i].data = data;
        if (i >= rooms)
            came[i].data.at = came[i - rooms].data.at;
        else if (is_last)
            came[i].data.at = last_room;
        else
            came[i].data = weft_schedule_elements(s, data.type, data.count);
        if (rooms == n)
            receive(s, tree, i, top, &came[i]);
    }
    for (int i = 0; i < n && !s->failed; i++) {
        if (rooms < n)
            receive(s, tree, i, top, &came[i]);
        weft_schedule_wait_for(s, came[i].received);
        weft_schedule_combine(s, data, came[i].data.at);
        data = came[i].data;
    }
    return data;
}

static void up_the_tree(struct weft_schedule *s, struct weft_elements in, void *out, int root,
                        int radix)
{
    int top = s->op->commutative ? root : 0;
    struct weft_tree tree = weft_tree_of(s->size, radix, (s->rank - top + s->size) % s->size);
    struct weft_elements result = {out, in.count, in.type};
    bool straight = s->rank == root && tree.parent < 0 && in.at != out;
    struct weft_elements data = combine(s, &tree, in, top, straight ? out : NULL);
    if (tree.parent >= 0)
        weft_schedule_send(s, (int)((tree.parent + top) % s->size), data);
    else if (s->rank != root)
        weft_schedule_send(s, root, data);
    else
        weft_schedule_copy(s, data, result);
    if (s->rank == root && tree.parent >= 0) {
        weft_schedule_fence(s);
        weft_schedule_receive(s, top, result);
    }
}

/* The root gets every place's part into its own `mine`, all at once. */
static void collect_parts(const struct weft_reduction *r)
{
    for (int place = 0; place < 1 << r->levels; place++)
        if (place != r->place)
            weft_schedule_receive(r->s, weft_reduction_rank(r, place),
                                  weft_reduction_part(r, place, r->levels));
    weft_schedule_fence(r->s);
}

static void by_parts(struct weft_schedule *s, struct weft_elements in, void *out, int root)
{
    bool is_root = s->rank == root;
    struct weft_elements result = {out, in.count, in.type};
    struct weft_reduction r = {.s = s, .mine = result};
    r.other = weft_schedule_elements(s, in.type, in.count).at;
    if (!is_root)
        r.mine = weft_schedule_elements(s, in.type, in.count);
    weft_schedule_copy(s, in, r.mine);
    weft_reduction_init(&r);
    weft_reduction_fold(&r);
    weft_reduction_halve(&r);
    if (is_root) {
        collect_parts(&r);
        weft_schedule_copy(s, r.mine, result);
    } else if (r.place >= 0) {
        weft_schedule_send(s, root, weft_reduction_part(&r, r.place, r.levels));
    }
}

void weft_build_reduce(struct weft_schedule *s, struct weft_elements in, void *out, int root,
                       enum weft_algorithm algorithm)
{
    if (s->size == 1)
        weft_schedule_copy(s, in, (struct weft_elements){out, in.count, in.type});
    else if (algorithm == WEFT_ALGORITHM_NODES)
        weft_nodes_reduce(s, in, out, root);
    else if (algorithm == WEFT_ALGORITHM_HALVING)
        by_parts(s, in, out, root);
    else
        up_the_tree(s, in, out, root, algorithm == WEFT_ALGORITHM_QUADNOMIAL ? 4 : 2);
}
