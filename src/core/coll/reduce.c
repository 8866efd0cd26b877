// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Reduce: short vectors up a binomial tree; long ones by recursive halving, after which the
 * root collects the parts.
 *
 * Invariant: in the tree a rank combines its own data with those of its children from the nearest
 * to the farthest, always as left operand, so what it holds are neighbouring ranks in order. The
 * tree's top is the root if the operation commutes, else rank 0, which passes the result on.
 */
#include "core/coll/coll.h"
#include "core/error.h"

#include <stdlib.h>

/* The tree sends the whole vector log2(size) times one after the other, halving and collecting
 * twice. Two whole vectors of scratch and more messages pay off only well above eager sizes. */
enum { LONG_BYTES = 128 * 1024 };

struct tree {
    struct weft_coll coll;
    const struct weft_op *op;
    int top, place; /* place: ranks counted from the top */
    int children;
};

static void tree_init(struct tree *t, struct weft_comm *comm, const struct weft_op *op, int root)
{
    t->coll = (struct weft_coll){comm, WEFT_COLL_REDUCE};
    t->op = op;
    t->top = op->commutative ? root : 0;
    t->place = (comm->rank - t->top + comm->size) % comm->size;
    t->children = 0;
    for (int64_t bit = 1; !(t->place & bit) && t->place + bit < comm->size; bit *= 2)
        t->children++;
}

static int tree_rank(const struct tree *t, int64_t place)
{
    return (int)((place + t->top) % t->coll.comm->size);
}

/* Combines own data with the children's, alternating between two rooms: what comes is the right
 * operand and so where the result appears. *data becomes the room of the last one. */
static int tree_combine(const struct tree *t, struct weft_elements *data, void *const rooms[2])
{
    int code = MPI_SUCCESS;
    for (int i = 0; i < t->children; i++) {
        struct weft_elements theirs = {rooms[i % 2], data->count, data->type};
        int failed = weft_coll_receive(t->coll, tree_rank(t, t->place + ((int64_t)1 << i)), theirs);
        code = failed ? failed : code;
        weft_coll_combine(t->op, *data, theirs.at);
        *data = theirs;
    }
    return code;
}

/* Takes the result to where it belongs. */
static int tree_deliver(const struct tree *t, struct weft_elements data, void *out, int root)
{
    int rank = t->coll.comm->rank, code = MPI_SUCCESS;
    struct weft_elements result = {out, data.count, data.type};
    if (t->place)
        code = weft_coll_send(t->coll, tree_rank(t, t->place & (t->place - 1)), data);
    else if (rank != root)
        code = weft_coll_send(t->coll, root, data);
    else
        weft_elements_copy(data, result);
    if (rank == root && t->place) {
        int failed = weft_coll_receive(t->coll, t->top, result);
        code = failed ? failed : code;
    }
    return code;
}

static int reduce_in_tree(struct weft_comm *comm, struct weft_elements in, void *out,
                          const struct weft_op *op, int root)
{
    struct tree t;
    struct weft_scratch scratch[2] = {{NULL, NULL}, {NULL, NULL}};
    void *rooms[2] = {NULL, NULL};
    int code = MPI_SUCCESS;
    tree_init(&t, comm, op, root);
    if (t.children && !t.place && comm->rank == root && in.at != out)
        rooms[(t.children - 1) % 2] = out; /* the last room holds the result */
    for (int i = 0; i < 2 && i < t.children && !code; i++)
        if (!rooms[i]) {
            code = weft_scratch_get(&scratch[i], in.type, in.count);
            rooms[i] = scratch[i].at;
        }
    if (!code) {
        struct weft_elements data = in;
        code = tree_combine(&t, &data, rooms);
        int failed = tree_deliver(&t, data, out, root);
        code = failed ? failed : code;
    }
    weft_scratch_put(&scratch[0]);
    weft_scratch_put(&scratch[1]);
    return code;
}

/* The root gets every place's part into its own `mine`, all at once. */
static int collect_parts(const struct weft_reduction *r, struct weft_request **requests)
{
    int code = MPI_SUCCESS, places = 1 << r->levels;
    for (int p = 0; p < places; p++) {
        requests[p] = NULL;
        if (p == r->place)
            continue;
        int failed = weft_coll_start(r->coll, weft_reduction_rank(r, p),
                                     weft_reduction_part(r, p, r->levels), &requests[p]);
        code = failed ? failed : code;
    }
    for (int p = 0; p < places; p++) {
        int failed = requests[p] ? weft_coll_finish(requests[p]) : MPI_SUCCESS;
        code = failed ? failed : code;
    }
    return code;
}

/* The root, and only the root, has requests. */
static int halve_and_collect(struct weft_reduction *r, struct weft_request **requests, int root)
{
    int code = weft_reduction_fold(r);
    int failed = weft_reduction_halve(r);
    code = failed ? failed : code;
    failed = MPI_SUCCESS;
    if (requests)
        failed = collect_parts(r, requests);
    else if (r->place >= 0)
        failed = weft_coll_send(r->coll, root, weft_reduction_part(r, r->place, r->levels));
    return failed ? failed : code;
}

static int reduce_in_parts(struct weft_comm *comm, struct weft_elements in, void *out,
                           const struct weft_op *op, int root)
{
    bool is_root = comm->rank == root;
    struct weft_scratch mine = {NULL, out}, other = {NULL, NULL};
    struct weft_request **requests = NULL;
    int code = weft_scratch_get(&other, in.type, in.count);
    if (!code && !is_root)
        code = weft_scratch_get(&mine, in.type, in.count);
    if (!code && is_root && !(requests = malloc((size_t)comm->size * sizeof *requests)))
        code = weft_error_say(MPI_ERR_NO_MEM, "no memory to receive from %d ranks", comm->size);
    if (!code) {
        struct weft_reduction r = {.coll = {comm, WEFT_COLL_REDUCE},
                                   .op = op,
                                   .mine = {mine.at, in.count, in.type},
                                   .other = other.at};
        weft_elements_copy(in, r.mine);
        code = halve_and_collect(&r, requests, root);
    }
    free(requests);
    weft_scratch_put(&mine);
    weft_scratch_put(&other);
    return code;
}

int weft_coll_reduce(struct weft_comm *comm, struct weft_elements in, void *out,
                     const struct weft_op *op, int root)
{
    bool parts = weft_elements_bytes(in) >= LONG_BYTES && in.count >= (size_t)comm->size;
    if (parts && comm->size > 2)
        return reduce_in_parts(comm, in, out, op, root);
    return reduce_in_tree(comm, in, out, op, root);
}
