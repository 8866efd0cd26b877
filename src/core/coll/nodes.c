// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collectives through one leader a node: first within each node, over shared memory, then among the
 * leaders, over the network, then within the nodes again. Each part is an ordinary collective among
 * the ranks it is for.
 *
 * Invariants:
 *  - A node's leader is the lowest of its ranks, but the root leads its own node, so that data take
 *    no step more than they need.
 *  - Reductions combine nodes in the order of their lowest ranks. That is the order of ranks where
 *    the ranks of each node are neighbours; others come here only with operations that commute.
 */
#include "core/coll/nodes.h"

/* One collective's view of the nodes. */
struct view {
    struct weft_schedule *s;
    const struct weft_nodes *nodes;
    const int *leaders; /* of each node */
    bool leads;         /* this rank is one */
};

/* root: the rank that leads its node, or -1. */
static struct view view_of(struct weft_schedule *s, int root)
{
    const struct weft_nodes *nodes = weft_nodes_of(s->channel->comm->group);
    struct view v = {.s = s, .nodes = nodes};
    int *leaders = weft_schedule_memory(s, (size_t)nodes->count * sizeof *leaders);
    if (s->failed)
        return v;
    for (int i = 0; i < nodes->count; i++)
        leaders[i] = nodes->order[nodes->begin[i]];
    if (root >= 0)
        leaders[nodes->node[root]] = root;
    v.leaders = leaders;
    v.leads = leaders[nodes->mine] == s->rank;
    return v;
}

/* The next steps are among the ranks of this node. Returns the leader's place among them. */
static int enter_node(const struct view *v)
{
    const struct weft_nodes *nodes = v->nodes;
    weft_schedule_among(v->s, nodes->order + nodes->begin[nodes->mine],
                        weft_nodes_size(nodes, nodes->mine),
                        weft_nodes_place(nodes, v->s->channel->comm->rank));
    return weft_nodes_place(nodes, v->leaders[nodes->mine]);
}

/* The next steps are among the leaders, of whom this rank is one. */
static void enter_leaders(const struct view *v)
{
    weft_schedule_fence(v->s);
    weft_schedule_among(v->s, v->leaders, v->nodes->count, v->nodes->mine);
}

static void leave(const struct view *v)
{
    const struct weft_comm *comm = v->s->channel->comm;
    weft_schedule_among(v->s, NULL, comm->size, comm->rank);
}

static void bcast(struct weft_schedule *s, struct weft_elements data, int root)
{
    weft_build_bcast(s, data, root,
                     weft_schedule_choose(s, WEFT_COLL_BCAST, weft_elements_bytes(data)));
}

static void reduce(struct weft_schedule *s, struct weft_elements in, void *out, int root)
{
    weft_build_reduce(s, in, out, root,
                      weft_schedule_choose(s, WEFT_COLL_REDUCE, weft_elements_bytes(in)));
}

/* What the leader has becomes the node's. */
static void tell_node(const struct view *v, struct weft_elements data)
{
    weft_schedule_fence(v->s);
    bcast(v->s, data, enter_node(v));
    leave(v);
}

void weft_nodes_barrier(struct weft_schedule *s)
{
    struct view v = view_of(s, -1);
    if (s->failed)
        return;
    enter_node(&v);
    weft_build_assembly(s);
    if (v.leads) {
        enter_leaders(&v);
        weft_build_barrier(s, weft_schedule_choose(s, WEFT_COLL_BARRIER, 0));
    }
    tell_node(&v, weft_schedule_row(s, 0));
}

void weft_nodes_bcast(struct weft_schedule *s, struct weft_elements data, int root)
{
    struct view v = view_of(s, root);
    if (s->failed)
        return;
    if (v.leads) {
        enter_leaders(&v);
        bcast(s, data, v.nodes->node[root]);
    }
    tell_node(&v, data);
}

void weft_nodes_reduce(struct weft_schedule *s, struct weft_elements in, void *out, int root)
{
    struct view v = view_of(s, root);
    bool is_root = s->rank == root;
    if (s->failed)
        return;
    struct weft_elements sum = {out, in.count, in.type};
    if (v.leads && !is_root)
        sum = weft_schedule_elements(s, in.type, in.count);
    int leader = enter_node(&v);
    reduce(s, in, sum.at, leader);
    if (v.leads) {
        enter_leaders(&v);
        reduce(s, sum, out, v.nodes->node[root]);
    }
    leave(&v);
}

void weft_nodes_allreduce(struct weft_schedule *s, struct weft_elements in, void *out)
{
    struct view v = view_of(s, -1);
    struct weft_elements result = {out, in.count, in.type};
    if (s->failed)
        return;
    int leader = enter_node(&v);
    reduce(s, in, out, leader);
    if (v.leads) {
        enter_leaders(&v);
        weft_build_allreduce(
            s, result, out,
            weft_schedule_choose(s, WEFT_COLL_ALLREDUCE, weft_elements_bytes(result)));
    }
    tell_node(&v, result);
}

/* ---- Allgather: the blocks stand in one row of bytes, node after node */

struct row {
    struct weft_elements bytes;
    size_t *begin; /* of the blocks, in the nodes' order; size + 1 places */
};

static struct weft_elements part(const struct row *row, int first, int end)
{
    return weft_elements_slice(row->bytes, row->begin[first], row->begin[end] - row->begin[first]);
}

static struct row make_row(const struct view *v, const struct weft_blocks *out)
{
    struct weft_schedule *s = v->s;
    struct row row = {.begin = weft_schedule_memory(s, ((size_t)s->size + 1) * sizeof *row.begin)};
    if (s->failed)
        return row;
    row.begin[0] = 0;
    for (int i = 0; i < s->size; i++)
        row.begin[i + 1] = row.begin[i] + weft_elements_bytes(weft_block(out, v->nodes->order[i]));
    if (v->nodes->in_order && !out->displs.at && (out->type->flags & WEFT_TYPE_CONTIGUOUS))
        row.bytes = weft_elements_of_bytes(out->at, row.begin[s->size]);
    else
        row.bytes = weft_schedule_row(s, row.begin[s->size]);
    return row;
}

/* The leader gets the blocks of its node. */
static void collect(const struct view *v, struct weft_elements in, const struct row *row)
{
    int first = v->nodes->begin[v->nodes->mine], own = v->s->rank;
    int leader = enter_node(v);
    if (!v->leads)
        weft_schedule_send(v->s, leader, in);
    for (int i = 0; v->leads && i < v->s->size; i++) {
        struct weft_elements block = part(row, first + i, first + i + 1);
        if (v->nodes->order[first + i] == own)
            weft_schedule_copy(v->s, in, block);
        else
            weft_schedule_receive(v->s, i, block);
    }
}

/* The leaders exchange the parts of their nodes. */
static void exchange(const struct view *v, const struct row *row)
{
    struct weft_schedule *s = v->s;
    int n = v->nodes->count;
    int64_t *counts = weft_schedule_memory(s, (size_t)n * sizeof *counts);
    int64_t *displs = weft_schedule_memory(s, (size_t)n * sizeof *displs);
    if (s->failed)
        return;
    for (int i = 0; i < n; i++) {
        displs[i] = (int64_t)row->begin[v->nodes->begin[i]];
        counts[i] = (int64_t)row->begin[v->nodes->begin[i + 1]] - displs[i];
    }
    struct weft_blocks blocks = {.at = row->bytes.at,
                                 .type = row->bytes.type,
                                 .counts = {counts, true},
                                 .displs = {displs, true}};
    enter_leaders(v);
    weft_build_allgather(s, weft_block(&blocks, s->rank), &blocks,
                         weft_schedule_choose(s, WEFT_COLL_ALLGATHERV, row->bytes.count));
}

void weft_nodes_allgather(struct weft_schedule *s, struct weft_elements in,
                          const struct weft_blocks *out)
{
    struct view v = view_of(s, -1);
    struct row row = make_row(&v, out);
    if (s->failed)
        return;
    collect(&v, in, &row);
    if (v.leads)
        exchange(&v, &row);
    tell_node(&v, row.bytes);
    weft_schedule_fence(s);
    if (row.bytes.at != out->at)
        for (int i = 0; i < s->size; i++)
            weft_schedule_copy(s, part(&row, i, i + 1), weft_block(out, v.nodes->order[i]));
}
