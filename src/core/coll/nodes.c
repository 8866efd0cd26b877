// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collectives through one leader of each node: within each node over shared memory, then among the
 * leaders over the network, then within the nodes again. Each phase is a collective of a subgroup.
 * Long broadcasts and reductions go in segments, whose phases overlap. In a long allreduce all
 * ranks of a node share its traffic on the network, and in a reduce_scatter and an alltoall: the
 * ranks with the same index on their nodes are a column, whose ranks exchange what concerns it.
 *
 * Invariants:
 *  - The leader of a node is its lowest rank; the leader of the root's node is the root.
 *  - Reductions combine nodes in the order of their lowest ranks, which is the order of ranks if
 *    the ranks of each node are consecutive. Otherwise the operation is commutative.
 */
#include "core/coll/nodes.h"
#include "core/coll/tree.h"

/* A broadcast of so many bytes among so few nodes goes in segments. 2 nodes of 2 ranks on 2 cores,
 * against a phase among the leaders and a phase in the nodes: 0.6 to 0.7 x the time at 512 KiB,
 * 0.15 to 0.85 x at 1 MiB, 0.3 x at 4 MiB; equal below. */
enum { CHAIN_FROM = 512 << 10, CHAIN_NODES = 8 };

/* A reduction of so many bytes, and so many for each rank, goes in segments along a chain of all
 * ranks, an allreduce in one segment for each rank. Against leaders, on 2 cores, at 1, 4
 * and 8 MiB: reduction of 2 nodes of 2 ranks 0.3, 0.5 and 0.6 x the time, of 2 nodes of 4 ranks
 * 0.27 and 0.36 x, of 3 nodes of 2 ranks 0.36 and 0.63 x; allreduce 0.16, 0.7 and 0.83 x, 0.21 and
 * 0.43 x, 0.56 and 0.83 x. At 512 KiB the reduction is equal, the allreduce 1.3 x. */
enum { LONG_FROM = 1 << 20, LONG_PER_RANK = WEFT_SEGMENT };

const struct weft_nodes *weft_nodes_among(const struct weft_schedule *s)
{
    const struct weft_comm *comm = s->channel->comm;
    return s->ranks || comm->local ? NULL : weft_nodes_of(comm->group);
}

/* The nodes of a collective. */
struct view {
    struct weft_schedule *s;
    const struct weft_nodes *nodes;
    const int *leaders; /* of each node */
    bool leads;         /* this rank is a leader */
};

/* root: a rank that must be a leader, or -1. */
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

/* Sets the group to the ranks of this node. Returns the leader's rank in it. */
static int enter_node(const struct view *v)
{
    const struct weft_nodes *nodes = v->nodes;
    weft_schedule_among(v->s, nodes->order + nodes->begin[nodes->mine],
                        weft_nodes_size(nodes, nodes->mine),
                        weft_nodes_index(nodes, v->s->channel->comm->rank));
    return weft_nodes_index(nodes, v->leaders[nodes->mine]);
}

/* Sets the group to the leaders. Called by leaders only. */
static void enter_leaders(const struct view *v)
{
    weft_assert(v->leads);
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

/* Broadcasts the leader's data in its node. */
static void bcast_in_node(const struct view *v, struct weft_elements data)
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
    bcast_in_node(&v, weft_schedule_buffer(s, 0));
}

/* Broadcasts in segments down one tree of all ranks: the leaders are a chain, the ranks of each
 * node a binomial tree below their leader. So a leader's messages on the network overlap with those
 * in its node. */
static void bcast_in_segments(const struct view *v, struct weft_elements data, int root)
{
    const struct weft_nodes *nodes = v->nodes;
    const int *members = nodes->order + nodes->begin[nodes->mine];
    int n = nodes->count, size = weft_nodes_size(nodes, nodes->mine);
    int leader = weft_nodes_index(nodes, v->leaders[nodes->mine]);
    int vrank = (weft_nodes_index(nodes, v->s->rank) - leader + size) % size;
    int position = (nodes->mine - nodes->node[root] + n) % n;
    int parent = -1, count = 0, children[32]; /* the next leader, and one for each bit of a vrank */
    if (v->leads && position > 0)
        parent = v->leaders[(nodes->mine + n - 1) % n];
    if (v->leads && position + 1 < n)
        children[count++] = v->leaders[(nodes->mine + 1) % n];
    struct weft_tree tree = weft_tree_of(size, 2, vrank);
    if (tree.parent >= 0)
        parent = members[(tree.parent + leader) % size];
    for (int i = tree.children; i-- > 0;)
        children[count++] = members[(weft_tree_child(&tree, i).vrank + leader) % size];
    weft_assert((size_t)count <= sizeof children / sizeof *children &&
                (parent >= 0) == (v->s->rank != root));
    weft_build_bcast_segments(v->s, data, parent, children, count);
}

void weft_nodes_bcast(struct weft_schedule *s, struct weft_elements data, int root)
{
    struct view v = view_of(s, root);
    if (s->failed)
        return;
    if (v.nodes->count <= CHAIN_NODES && weft_elements_bytes(data) >= CHAIN_FROM) {
        bcast_in_segments(&v, data, root);
        return;
    }
    if (v.leads) {
        enter_leaders(&v);
        bcast(s, data, v.nodes->node[root]);
    }
    bcast_in_node(&v, data);
}

static bool is_long(const struct weft_schedule *s, struct weft_elements operand)
{
    size_t bytes = weft_elements_bytes(operand);
    return bytes >= LONG_FROM && bytes / LONG_PER_RANK >= (size_t)s->size;
}

/* The index of this rank in nodes->order. */
static int index_of(const struct view *v)
{
    return v->nodes->begin[v->nodes->mine] + weft_nodes_index(v->nodes, v->s->rank);
}

/* Reduces along a chain of all ranks, node after node, which begins with the root. */
static void reduce_in_segments(const struct view *v, struct weft_elements in, void *out, int root)
{
    const int *order = v->nodes->order;
    int size = v->s->size, index = index_of(v), next = order[(index + 1) % size];
    weft_build_reduce_segments(v->s, in, out,
                               v->s->rank == root ? -1 : order[(index + size - 1) % size],
                               next == root ? -1 : next);
}

void weft_nodes_reduce(struct weft_schedule *s, struct weft_elements in, void *out, int root)
{
    struct view v = view_of(s, root);
    bool is_root = s->rank == root;
    if (s->failed)
        return;
    if (is_long(s, in) && (s->op->commutative || root == 0)) {
        reduce_in_segments(&v, in, out, root);
        return;
    }
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

bool weft_nodes_are_equal(const struct weft_nodes *nodes)
{
    for (int i = 1; i < nodes->count; i++)
        if (weft_nodes_size(nodes, i) != weft_nodes_size(nodes, 0))
            return false;
    return true;
}

/* True if the ranks of a node are the first partners of recursive halving among all ranks, so that
 * the segments are short when the partners are on other nodes. */
static bool halves_in_nodes(const struct weft_nodes *nodes)
{
    int each = weft_nodes_size(nodes, 0);
    return weft_nodes_are_equal(nodes) && !(each & (each - 1));
}

void weft_nodes_allreduce(struct weft_schedule *s, struct weft_elements in, void *out)
{
    struct view v = view_of(s, -1);
    struct weft_elements result = {out, in.count, in.type};
    if (s->failed)
        return;
    if (is_long(s, in) && halves_in_nodes(v.nodes)) {
        weft_schedule_among(s, v.nodes->order, s->size, index_of(&v));
        weft_build_allreduce(s, in, out, WEFT_ALGORITHM_HALVING);
        leave(&v);
        return;
    }
    int leader = enter_node(&v);
    reduce(s, in, out, leader);
    if (v.leads) {
        enter_leaders(&v);
        weft_build_allreduce(
            s, result, out,
            weft_schedule_choose(s, WEFT_COLL_ALLREDUCE, weft_elements_bytes(result)));
    }
    bcast_in_node(&v, result);
}

bool weft_nodes_scatter_sums(const struct weft_nodes *nodes)
{
    return weft_nodes_are_equal(nodes) && !(nodes->in_order && halves_in_nodes(nodes));
}

/* The i-th rank of each node computes the sums of its node's operands for the i-th ranks of all
 * nodes; these exchange them. So a node sends each other node the blocks of its ranks, once. */
void weft_nodes_reduce_scatter(struct weft_schedule *s, struct weft_elements in,
                               struct weft_elements out, const size_t *begin)
{
    struct view v = view_of(s, -1);
    const struct weft_nodes *nodes = v.nodes;
    int n = nodes->count, each = weft_nodes_size(nodes, 0);
    int own = weft_nodes_index(nodes, s->rank);
    struct weft_elements packed = weft_schedule_elements(s, in.type, begin[s->size]);
    size_t *in_node = weft_schedule_memory(s, ((size_t)each + 1) * sizeof *in_node);
    size_t *in_column = weft_schedule_memory(s, ((size_t)n + 1) * sizeof *in_column);
    int *column = weft_schedule_memory(s, (size_t)n * sizeof *column); /* the ranks with `own` */
    if (s->failed)
        return;
    size_t at = in_column[0] = 0;
    for (int index = 0; index < each; index++) {
        in_node[index] = at;
        for (int i = 0; i < n; i++) {
            int rank = nodes->order[nodes->begin[i] + index];
            size_t count = begin[rank + 1] - begin[rank];
            weft_schedule_copy(s, weft_elements_slice(in, begin[rank], count),
                               weft_elements_slice(packed, at, count));
            at += count;
            if (index == own) {
                column[i] = rank;
                in_column[i + 1] = in_column[i] + count;
            }
        }
    }
    in_node[each] = at;
    struct weft_elements sums = weft_schedule_elements(s, in.type, in_column[n]);
    enter_node(&v);
    weft_schedule_fence(s);
    weft_build_reduce_scatter_group(s, packed, sums, in_node);
    weft_schedule_fence(s);
    weft_schedule_among(s, column, n, nodes->mine);
    weft_build_reduce_scatter_group(s, sums, out, in_column);
    leave(&v);
}

/* For nodes whose ranks are not consecutive: all ranks have all operands, and combine those
 * before theirs. */
static void scan_gathered(struct weft_schedule *s, struct weft_elements in, void *out,
                          bool exclusive)
{
    struct weft_elements all = weft_schedule_elements(s, in.type, (size_t)s->size * in.count);
    struct weft_blocks blocks = {.at = all.at, .count = in.count, .type = in.type};
    int last = exclusive ? s->rank - 1 : s->rank;
    weft_nodes_allgather(s, in, &blocks);
    weft_schedule_fence(s);
    if (s->failed || last < 0)
        return;
    weft_schedule_copy(s, weft_block(&blocks, last),
                       (struct weft_elements){out, in.count, in.type});
    while (last-- > 0)
        weft_schedule_combine(s, weft_block(&blocks, last), out);
}

/* The last rank of each node has the sum of the node. The scan of these sums gives the next node
 * what the nodes before it have. */
void weft_nodes_scan(struct weft_schedule *s, struct weft_elements in, void *out, bool exclusive)
{
    struct view v = view_of(s, -1);
    if (!s->failed && !v.nodes->in_order) {
        scan_gathered(s, in, out, exclusive);
        return;
    }
    int *lasts = weft_schedule_memory(s, (size_t)v.nodes->count * sizeof *lasts);
    struct weft_elements result = {out, in.count, in.type}, partial = result;
    struct weft_elements earlier = weft_schedule_elements(s, in.type, in.count);
    if (exclusive)
        partial = weft_schedule_elements(s, in.type, in.count);
    if (s->failed)
        return;
    for (int i = 0; i < v.nodes->count; i++)
        lasts[i] = v.nodes->begin[i + 1] - 1;
    weft_assert(v.nodes->in_order);
    weft_schedule_copy(s, in, partial);
    weft_schedule_fence(s);
    enter_node(&v);
    bool first = s->rank == 0, last = s->rank == s->size - 1;
    weft_build_scan_rounds(s, partial, exclusive ? out : NULL);
    if (last) {
        struct weft_elements sum = weft_schedule_elements(s, in.type, in.count);
        weft_schedule_fence(s);
        weft_schedule_copy(s, partial, sum);
        weft_schedule_among(s, lasts, v.nodes->count, v.nodes->mine);
        weft_build_scan_rounds(s, sum, earlier.at);
        leave(&v);
        enter_node(&v);
    }
    weft_schedule_fence(s);
    if (v.nodes->mine > 0) {
        bcast(s, earlier, s->size - 1);
        weft_schedule_fence(s);
        if (exclusive && first)
            weft_schedule_copy(s, earlier, result);
        else
            weft_schedule_combine(s, earlier, out);
    }
    leave(&v);
}

/* ---- Allgather: all blocks, packed, in the order of the nodes */

struct packed {
    struct weft_elements bytes;
    size_t *begin; /* offsets of the size blocks, then the end */
};

static struct weft_elements segment(const struct packed *packed, int first, int end)
{
    return weft_elements_slice(packed->bytes, packed->begin[first],
                               packed->begin[end] - packed->begin[first]);
}

static struct packed make_packed(const struct view *v, const struct weft_blocks *out)
{
    struct weft_schedule *s = v->s;
    struct packed packed = {
        .begin = weft_schedule_memory(s, ((size_t)s->size + 1) * sizeof *packed.begin)};
    if (s->failed)
        return packed;
    packed.begin[0] = 0;
    for (int i = 0; i < s->size; i++)
        packed.begin[i + 1] =
            packed.begin[i] + weft_elements_bytes(weft_block(out, v->nodes->order[i]));
    if (v->nodes->in_order && !out->arrays && (out->type->flags & WEFT_TYPE_CONTIGUOUS))
        packed.bytes = weft_elements_of_bytes(out->at, packed.begin[s->size]);
    else
        packed.bytes = weft_schedule_buffer(s, packed.begin[s->size]);
    return packed;
}

/* Gathers the blocks of a node at its leader. begin: the offset of the first of them, and so on. */
static void collect(const struct view *v, struct weft_elements in, struct weft_elements node,
                    const size_t *begin)
{
    int leader = enter_node(v), own = v->s->rank;
    if (!v->leads)
        weft_schedule_send(v->s, leader, in);
    for (int i = 0; v->leads && i < v->s->size; i++) {
        struct weft_elements block =
            weft_elements_slice(node, begin[i] - begin[0], begin[i + 1] - begin[i]);
        if (i == own)
            weft_schedule_copy(v->s, in, block);
        else
            weft_schedule_receive(v->s, i, block);
    }
}

/* A block for each node: the blocks of its ranks, one behind the other. The arrays are valid as
 * long as the schedule. */
static struct weft_blocks blocks_of_nodes(const struct view *v, const struct packed *packed,
                                          struct weft_arrays *arrays)
{
    struct weft_schedule *s = v->s;
    int n = v->nodes->count;
    int64_t *counts = weft_schedule_memory(s, (size_t)n * sizeof *counts);
    int64_t *displs = weft_schedule_memory(s, (size_t)n * sizeof *displs);
    for (int i = 0; i < n && !s->failed; i++) {
        displs[i] = (int64_t)packed->begin[v->nodes->begin[i]];
        counts[i] = (int64_t)packed->begin[v->nodes->begin[i + 1]] - displs[i];
    }
    *arrays = (struct weft_arrays){.counts = {counts, true}, .displs = {displs, true}};
    return (struct weft_blocks){
        .at = packed->bytes.at, .type = packed->bytes.type, .arrays = arrays};
}

/* Allgather of the nodes' blocks among the leaders. */
static void exchange_packed(const struct view *v, const struct packed *packed)
{
    struct weft_schedule *s = v->s;
    struct weft_arrays arrays;
    struct weft_blocks blocks = blocks_of_nodes(v, packed, &arrays);
    if (s->failed)
        return;
    enter_leaders(v);
    weft_build_allgather(s, weft_block(&blocks, s->rank), &blocks,
                         weft_schedule_choose(s, WEFT_COLL_ALLGATHERV, packed->bytes.count));
}

void weft_nodes_allgather(struct weft_schedule *s, struct weft_elements in,
                          const struct weft_blocks *out)
{
    struct view v = view_of(s, -1);
    struct packed packed = make_packed(&v, out);
    if (s->failed)
        return;
    const int *nodes = v.nodes->begin + v.nodes->mine;
    collect(&v, in, segment(&packed, nodes[0], nodes[1]), packed.begin + nodes[0]);
    if (v.leads)
        exchange_packed(&v, &packed);
    bcast_in_node(&v, packed.bytes);
    weft_schedule_fence(s);
    if (packed.bytes.at != out->at)
        for (int i = 0; i < s->size; i++)
            weft_schedule_copy(s, segment(&packed, i, i + 1), weft_block(out, v.nodes->order[i]));
}

/* ---- Gather and scatter of equal blocks: each node's through its leader */

/* All blocks in the order of the nodes. Only the root has memory for them, or uses its own blocks,
 * and other leaders have memory for those of their node. */
static struct packed pack_equal(const struct view *v, const struct weft_blocks *at_root,
                                size_t block, bool is_root, struct weft_elements *node)
{
    struct weft_schedule *s = v->s;
    const int *mine = v->nodes->begin + v->nodes->mine;
    struct packed packed = {
        .begin = weft_schedule_memory(s, ((size_t)s->size + 1) * sizeof *packed.begin)};
    for (int i = 0; i <= s->size && !s->failed; i++)
        packed.begin[i] = (size_t)i * block;
    packed.bytes = weft_elements_of_bytes(NULL, 0);
    if (is_root && v->nodes->in_order && (at_root->type->flags & WEFT_TYPE_CONTIGUOUS))
        packed.bytes = weft_elements_of_bytes(at_root->at, (size_t)s->size * block);
    else if (is_root)
        packed.bytes = weft_schedule_buffer(s, (size_t)s->size * block);
    if (is_root && !s->failed)
        *node = segment(&packed, mine[0], mine[1]);
    else if (v->leads)
        *node = weft_schedule_buffer(s, (size_t)(mine[1] - mine[0]) * block);
    return packed;
}

/* The blocks of nodes with equal numbers of ranks are equal, and may go along a tree. */
static struct weft_blocks equal_blocks_of_nodes(const struct view *v, const struct packed *packed,
                                                struct weft_arrays *arrays)
{
    if (!weft_nodes_are_equal(v->nodes))
        return blocks_of_nodes(v, packed, arrays);
    return (struct weft_blocks){.at = packed->bytes.at,
                                .count = packed->begin[v->nodes->begin[1]],
                                .type = packed->bytes.type};
}

void weft_nodes_gather(struct weft_schedule *s, struct weft_elements in,
                       const struct weft_blocks *out, int root)
{
    struct view v = view_of(s, root);
    struct weft_arrays arrays;
    struct weft_elements node = {0};
    bool is_root = s->rank == root;
    if (s->failed)
        return;
    struct packed packed = pack_equal(&v, out, weft_elements_bytes(in), is_root, &node);
    if (s->failed)
        return;
    struct weft_blocks nodes = equal_blocks_of_nodes(&v, &packed, &arrays);
    if (s->failed)
        return;
    collect(&v, in, node, packed.begin + v.nodes->begin[v.nodes->mine]);
    if (v.leads) {
        enter_leaders(&v);
        weft_build_gather(s, node, &nodes, v.nodes->node[root],
                          weft_schedule_choose(
                              s, nodes.arrays ? WEFT_COLL_GATHERV : WEFT_COLL_GATHER, node.count));
    }
    leave(&v);
    weft_schedule_fence(s);
    for (int i = 0; is_root && i < s->size; i++)
        weft_schedule_copy(s, segment(&packed, i, i + 1), weft_block(out, v.nodes->order[i]));
}

void weft_nodes_scatter(struct weft_schedule *s, const struct weft_blocks *in,
                        struct weft_elements out, int root)
{
    struct view v = view_of(s, root);
    struct weft_arrays arrays;
    struct weft_elements node = {0};
    bool is_root = s->rank == root;
    size_t block = is_root ? weft_elements_bytes(weft_block(in, root)) : weft_elements_bytes(out);
    if (s->failed)
        return;
    struct packed packed = pack_equal(&v, in, block, is_root, &node);
    if (s->failed)
        return;
    struct weft_blocks nodes = equal_blocks_of_nodes(&v, &packed, &arrays);
    if (s->failed)
        return;
    for (int i = 0; is_root && i < s->size; i++)
        weft_schedule_copy(s, weft_block(in, v.nodes->order[i]), segment(&packed, i, i + 1));
    if (v.leads) {
        enter_leaders(&v);
        weft_build_scatter(
            s, &nodes, node, v.nodes->node[root],
            weft_schedule_choose(s, nodes.arrays ? WEFT_COLL_SCATTERV : WEFT_COLL_SCATTER,
                                 node.count));
        weft_schedule_fence(s);
    }
    int leader = enter_node(&v);
    if (!v.leads)
        weft_schedule_receive(s, leader, out);
    for (int i = 0; v.leads && i < s->size; i++) {
        struct weft_elements own = weft_elements_slice(node, (size_t)i * block, block);
        if (i == s->rank)
            weft_schedule_copy(s, own, out);
        else
            weft_schedule_send(s, i, own);
    }
    leave(&v);
}

/* ---- Alltoall of equal blocks */

static void exchange_blocks(struct weft_schedule *s, struct weft_elements in,
                            struct weft_elements out, size_t block)
{
    struct weft_blocks from = {.at = in.at, .count = block, .type = in.type};
    struct weft_blocks to = {.at = out.at, .count = block, .type = out.type};
    weft_assert(in.count == (size_t)s->size * block && out.count == in.count);
    weft_build_alltoall(s, &from, &to, weft_schedule_choose(s, WEFT_COLL_ALLTOALL, block));
}

/* Within a node each rank receives the blocks of all its ranks for one column, then the ranks of a
 * column exchange them. So a rank sends one message to each other node, not one to each of its
 * ranks. */
void weft_nodes_alltoall(struct weft_schedule *s, const struct weft_blocks *in,
                         const struct weft_blocks *out)
{
    struct view v = view_of(s, -1);
    const struct weft_nodes *nodes = v.nodes;
    int n = nodes->count, each = weft_nodes_size(nodes, 0);
    int own = weft_nodes_index(nodes, s->rank);
    size_t block = weft_elements_bytes(weft_block(in, 0)), bytes = (size_t)s->size * block;
    struct weft_elements packed = weft_schedule_buffer(s, bytes);
    struct weft_elements sorted = weft_schedule_buffer(s, bytes);
    int *column = weft_schedule_memory(s, (size_t)n * sizeof *column); /* the ranks with `own` */
    if (s->failed)
        return;
    for (int i = 0; i < s->size; i++)
        weft_schedule_copy(s, weft_block(in, nodes->order[nodes->begin[i % n] + i / n]),
                           weft_elements_slice(packed, (size_t)i * block, block));
    for (int i = 0; i < n; i++)
        column[i] = nodes->order[nodes->begin[i] + own];
    enter_node(&v);
    weft_schedule_fence(s);
    exchange_blocks(s, packed, sorted, (size_t)n * block);
    weft_schedule_fence(s);
    for (int i = 0; i < n * each; i++) /* from the rank i / n of this node, to the node i % n */
        weft_schedule_copy(
            s, weft_elements_slice(sorted, (size_t)i * block, block),
            weft_elements_slice(packed, (size_t)(i % n * each + i / n) * block, block));
    weft_schedule_fence(s);
    weft_schedule_among(s, column, n, nodes->mine);
    exchange_blocks(s, packed, sorted, (size_t)each * block);
    leave(&v);
    weft_schedule_fence(s);
    for (int i = 0; i < s->size; i++)
        weft_schedule_copy(s, weft_elements_slice(sorted, (size_t)i * block, block),
                           weft_block(out, nodes->order[i]));
}
