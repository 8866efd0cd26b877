// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Reduce: short vectors up a tree; long vectors by recursive halving, followed by a gather of
 * the segments up a tree.
 *
 * Invariant: in the tree a rank combines its data, as the left operand, with those of its children,
 * the nearest first, so the result covers a range of ranks in order. The top of the tree is the
 * root if the operation is commutative, else rank 0, which sends the result to the root.
 */
#include "core/coll/nodes.h"
#include "core/coll/reduction.h"
#include "core/coll/tree.h"

/* The receives of all children are posted at once if their data are at most this many bytes. */
enum { AT_ONCE_BYTES = 64 * 1024 };

/* The operand of a child, and the mark after its receive. */
struct operand {
    struct weft_elements data;
    uint32_t received;
};

static void receive(struct weft_schedule *s, const struct weft_tree *tree, int i, int top,
                    struct operand *from)
{
    weft_schedule_receive(s, (int)((weft_tree_child(tree, i).vrank + top) % s->size), from->data);
    from->received = s->count;
}

/* Combines this rank's data with those of its children. A child's operand is the right one, so the
 * result is in its buffer; that of the last child is last_buffer, if set. Long operands alternate
 * between two buffers. With three children per level, the second is combined with the third first,
 * as if it were the third's parent: so the result has the same bits for each radix. */
static struct weft_elements combine(struct weft_schedule *s, const struct weft_tree *tree,
                                    struct weft_elements data, int top, void *last_buffer)
{
    int n = tree->children;
    bool pairs = tree->radix == 4;
    int buffers = !pairs && n > 2 && weft_elements_bytes(data) > AT_ONCE_BYTES / (size_t)n ? 2 : n;
    struct operand *child = weft_schedule_memory(s, (size_t)n * sizeof *child);
    for (int i = 0; i < n && !s->failed; i++) {
        bool is_last = last_buffer && (n - 1 - i) % buffers == 0;
        child[i].data = data;
        if (i >= buffers)
            child[i].data.at = child[i - buffers].data.at;
        else if (is_last)
            child[i].data.at = last_buffer;
        else
            child[i].data = weft_schedule_elements(s, data.type, data.count);
        if (buffers == n)
            receive(s, tree, i, top, &child[i]);
    }
    for (int i = 0; i < n && !s->failed; i++) {
        if (buffers < n)
            receive(s, tree, i, top, &child[i]);
        weft_schedule_wait_for(s, child[i].received);
        if (pairs && i % 3 == 1 && i + 1 < n)
            continue;
        if (pairs && i % 3 == 2)
            weft_schedule_combine(s, child[i - 1].data, child[i].data.at);
        weft_schedule_combine(s, data, child[i].data.at);
        data = child[i].data;
    }
    return data;
}

static void up_the_tree(struct weft_schedule *s, struct weft_elements in, void *out, int root,
                        int radix)
{
    int top = s->op->commutative ? root : 0;
    struct weft_tree tree = weft_tree_of(s->size, radix, (s->rank - top + s->size) % s->size);
    struct weft_elements result = {out, in.count, in.type};
    bool in_out = s->rank == root && tree.parent < 0 && in.at != out;
    struct weft_elements data = combine(s, &tree, in, top, in_out ? out : NULL);
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

/* Gathers the segments at the root, in the reverse order of halving. The next rank sends its
 * segment to an inactive root first, which then has the vrank of this rank. */
static void gather_segments(const struct weft_reduction *r, int root)
{
    struct weft_schedule *s = r->s;
    bool is_root = s->rank == root, active = root % 2 || root >= 2 * r->extra;
    int top = root >= 2 * r->extra ? root - r->extra : root / 2;
    int vrank = is_root ? top : r->vrank;
    if (!active && is_root)
        weft_schedule_receive(s, root + 1, weft_reduction_segment(r, top, r->levels));
    if (!active && r->vrank == top) {
        weft_schedule_send(s, root, weft_reduction_segment(r, top, r->levels));
        return;
    }
    for (int level = vrank < 0 ? 0 : r->levels; level > 0; level--) {
        int partner = vrank ^ 1 << (level - 1);
        int rank = partner == top ? root : weft_reduction_rank(r, partner);
        if ((vrank ^ top) >> (level - 1)) {
            weft_schedule_fence(s);
            weft_schedule_send(s, rank, weft_reduction_segment(r, vrank, level));
            return;
        }
        weft_schedule_receive(s, rank, weft_reduction_segment(r, partner, level));
    }
    weft_schedule_fence(s);
}

static void by_segments(struct weft_schedule *s, struct weft_elements in, void *out, int root)
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
    gather_segments(&r, root);
    if (is_root)
        weft_schedule_copy(s, r.mine, result);
}

void weft_build_reduce_segments(struct weft_schedule *s, struct weft_elements in, void *out,
                                int previous, int next)
{
    /* The send of a segment starts when the send AHEAD segments before it is complete, so a buffer
     * is free when the receive for it is the next step. */
    enum { AHEAD = WEFT_SEGMENTS_AHEAD, BUFFERS = 2 * AHEAD };
    size_t size = in.type->size ? in.type->size : 1, buffers = SIZE_MAX;
    size_t each = size < WEFT_SEGMENT ? WEFT_SEGMENT / size : 1;
    size_t segments = in.count / each + (in.count % each > 0);
    struct weft_elements result = {out, in.count, in.type}, sums = next < 0 ? in : result;
    if (next >= 0 && (previous >= 0 || in.at == out)) {
        buffers = BUFFERS;
        sums = weft_schedule_elements(s, in.type, BUFFERS * each);
    }
    uint32_t begin = s->count, received[AHEAD] = {0};
    for (size_t i = 0; i < segments + AHEAD; i++) {
        if (i >= AHEAD) {
            struct weft_elements mine = weft_elements_segment(in, each, i - AHEAD), sum = mine;
            sum.at = weft_elements_segment(sums, each, (i - AHEAD) % buffers).at;
            weft_schedule_wait_for(s, received[i % AHEAD]);
            if (next >= 0)
                weft_schedule_combine(s, mine, sum.at);
            if (previous >= 0)
                weft_schedule_send(s, previous, sum);
            else
                weft_schedule_copy(s, sum, weft_elements_segment(result, each, i - AHEAD));
        }
        if (i < segments && next >= 0) {
            struct weft_elements sum = weft_elements_segment(in, each, i);
            sum.at = weft_elements_segment(sums, each, i % buffers).at;
            weft_schedule_wait_for(s, begin);
            weft_schedule_receive(s, next, sum);
            received[i % AHEAD] = s->count;
        }
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
        by_segments(s, in, out, root);
    else
        up_the_tree(s, in, out, root, algorithm == WEFT_ALGORITHM_QUADNOMIAL ? 4 : 2);
}
