// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collectives between the two groups of an inter-communicator. The result of a reduction in one
 * group is sent by its rank 0, the leader, to the other group. Short blocks are gathered up a tree
 * to the leader, sent to the other group, and distributed down a tree. Long blocks are sent
 * directly.
 *
 * Invariant: messages between the groups use the channel of the inter-communicator, messages within
 * a group the channel of its local communicator, so each channel has its own message order.
 */
#include "core/coll/schedule.h"
#include "core/datatype/datatype.h"

static bool is_leader(const struct weft_schedule *s)
{
    return s->rank == 0; /* s->rank is the rank in the local group for both channels */
}

/* ---- Within the local group */

static void local_reduce(struct weft_schedule *s, struct weft_elements in, void *out)
{
    weft_schedule_enter(s, true);
    weft_build_reduce(s, in, out, 0,
                      weft_schedule_choose(s, WEFT_COLL_REDUCE, weft_elements_bytes(in)));
    weft_schedule_enter(s, false);
    weft_schedule_fence(s);
}

static void local_bcast(struct weft_schedule *s, struct weft_elements data)
{
    weft_schedule_fence(s);
    weft_schedule_enter(s, true);
    weft_build_bcast(s, data, 0,
                     weft_schedule_choose(s, WEFT_COLL_BCAST, weft_elements_bytes(data)));
    weft_schedule_enter(s, false);
}

static void local_assembly(struct weft_schedule *s)
{
    weft_schedule_enter(s, true);
    weft_build_assembly(s);
    weft_schedule_enter(s, false);
    weft_schedule_fence(s);
}

/* ---- Between the groups */

static void leaders_exchange(struct weft_schedule *s, struct weft_elements ours,
                             struct weft_elements theirs)
{
    if (!is_leader(s))
        return;
    weft_schedule_receive(s, 0, theirs);
    weft_schedule_send(s, 0, ours);
}

static void barrier(struct weft_schedule *s)
{
    struct weft_elements nothing = weft_schedule_buffer(s, 0);
    local_assembly(s);
    leaders_exchange(s, nothing, nothing);
    local_bcast(s, nothing);
}

static void bcast(struct weft_schedule *s, struct weft_elements data, int root)
{
    if (root == MPI_PROC_NULL)
        return;
    if (root == MPI_ROOT) {
        weft_schedule_send(s, 0, data);
        return;
    }
    if (is_leader(s))
        weft_schedule_receive(s, root, data);
    local_bcast(s, data);
}

static void reduce(struct weft_schedule *s, struct weft_elements in, void *out, int root)
{
    if (root == MPI_PROC_NULL)
        return;
    if (root == MPI_ROOT) { /* `in` has count and type at the root, too */
        weft_schedule_receive(s, 0, (struct weft_elements){out, in.count, in.type});
        return;
    }
    struct weft_elements sum = in;
    if (is_leader(s))
        sum = weft_schedule_elements(s, in.type, in.count);
    local_reduce(s, in, sum.at);
    if (is_leader(s))
        weft_schedule_send(s, root, sum);
}

static void allreduce(struct weft_schedule *s, struct weft_elements in, void *out)
{
    struct weft_elements result = {out, in.count, in.type}, sum = in;
    if (is_leader(s))
        sum = weft_schedule_elements(s, in.type, in.count);
    local_reduce(s, in, sum.at);
    leaders_exchange(s, sum, result);
    local_bcast(s, result);
}

/* Scatters the reduction of the remote group among the ranks of the local group. */
static void reduce_scatter(struct weft_schedule *s, struct weft_elements in, void *out,
                           const struct weft_blocks *split)
{
    int size = s->comm->local->size, rank = s->rank;
    struct weft_elements sum = in, theirs = {NULL, in.count, in.type}, own = {out, 0, in.type};
    if (is_leader(s)) {
        sum = weft_schedule_elements(s, in.type, in.count);
        theirs = weft_schedule_elements(s, in.type, in.count);
    }
    local_reduce(s, in, sum.at);
    leaders_exchange(s, sum, theirs);
    weft_schedule_fence(s);
    weft_schedule_enter(s, true);
    if (!split->arrays) {
        struct weft_blocks blocks = {.at = theirs.at, .count = split->count, .type = in.type};
        own.count = split->count;
        weft_build_scatter(s, &blocks, own, 0,
                           weft_schedule_choose(s, WEFT_COLL_SCATTER, weft_elements_bytes(own)));
        weft_schedule_enter(s, false);
        return;
    }
    size_t begin = 0;
    for (int i = 0; i < size; i++) {
        size_t count = (size_t)weft_int_of(split->arrays->counts, i);
        if (i == rank)
            own.count = count;
        if (rank == 0 && i > 0 && count)
            weft_schedule_send(s, i, weft_elements_slice(theirs, begin, count));
        begin += count;
    }
    if (rank == 0)
        weft_schedule_copy(s, weft_elements_slice(theirs, 0, own.count), own);
    else if (own.count)
        weft_schedule_receive(s, 0, own);
    weft_schedule_enter(s, false);
}

/* True if the blocks of a group, of `block` bytes each, are sent through its leader. `size` is the
 * size of that group, so both groups have the same result. The settings of another job may differ.
 */
static bool through_leader(const struct weft_schedule *s, enum weft_coll_kind kind, int size,
                           size_t block)
{
    struct weft_choice choice = {.kind = kind, .size = size, .bytes = block};
    choice.gives = WEFT_NEED_EQUAL_BLOCKS;
    choice.by_rules = weft_comm_is_foreign(s->comm);
    return block && size > 1 && weft_coll_choose(&choice) == WEFT_ALGORITHM_BINOMIAL;
}

static struct weft_blocks blocks_of(struct weft_elements packed, size_t block)
{
    return (struct weft_blocks){.at = packed.at, .count = block, .type = weft_datatype_byte()};
}

/* The elements of n adjacent blocks. */
static struct weft_elements all_of(const struct weft_blocks *blocks, int n)
{
    return (struct weft_elements){blocks->at, (size_t)n * blocks->count, blocks->type};
}

/* Gathers the blocks of the local group at the leader; the packed form is empty at the other ranks.
 * */
static struct weft_elements local_gather(struct weft_schedule *s, struct weft_elements in)
{
    size_t block = weft_elements_bytes(in);
    struct weft_elements packed =
        weft_schedule_buffer(s, is_leader(s) ? (size_t)s->comm->local->size * block : 0);
    struct weft_blocks packed_blocks = blocks_of(packed, block);
    weft_schedule_enter(s, true);
    weft_build_gather(s, in, &packed_blocks, 0, WEFT_ALGORITHM_BINOMIAL);
    weft_schedule_enter(s, false);
    weft_schedule_fence(s);
    return packed;
}

/* The root receives a block from each rank of the remote group. */
static void gather(struct weft_schedule *s, struct weft_elements in, const struct weft_blocks *out,
                   int root)
{
    if (root >= 0) {
        size_t block = weft_elements_bytes(in);
        if (s->kind == WEFT_COLL_GATHER &&
            through_leader(s, s->kind, s->comm->local->size, block)) {
            struct weft_elements packed = local_gather(s, in);
            if (is_leader(s))
                weft_schedule_send(s, root, packed);
        } else if (block) {
            weft_schedule_send(s, root, in);
        }
    }
    if (root != MPI_ROOT)
        return;
    if (s->kind == WEFT_COLL_GATHER &&
        through_leader(s, s->kind, s->size, weft_elements_bytes(weft_block(out, 0)))) {
        weft_schedule_receive(s, 0, all_of(out, s->size));
        return;
    }
    for (int r = 0; r < s->size; r++)
        if (weft_elements_bytes(weft_block(out, r)))
            weft_schedule_receive(s, r, weft_block(out, r));
}

/* The leader receives the blocks of its group from the root and scatters them. */
static void scatter_from_leader(struct weft_schedule *s, struct weft_elements out, int root)
{
    size_t block = weft_elements_bytes(out);
    struct weft_elements packed =
        weft_schedule_buffer(s, is_leader(s) ? (size_t)s->comm->local->size * block : 0);
    struct weft_blocks packed_blocks = blocks_of(packed, block);
    if (is_leader(s))
        weft_schedule_receive(s, root, packed);
    weft_schedule_fence(s);
    weft_schedule_enter(s, true);
    weft_build_scatter(s, &packed_blocks, out, 0, WEFT_ALGORITHM_BINOMIAL);
    weft_schedule_enter(s, false);
}

static void scatter(struct weft_schedule *s, const struct weft_blocks *in, struct weft_elements out,
                    int root)
{
    size_t block = weft_elements_bytes(out);
    bool equal = s->kind == WEFT_COLL_SCATTER;
    if (root >= 0 && equal && through_leader(s, s->kind, s->comm->local->size, block))
        scatter_from_leader(s, out, root);
    else if (root >= 0 && block)
        weft_schedule_receive(s, root, out);
    if (root != MPI_ROOT)
        return;
    if (equal && through_leader(s, s->kind, s->size, weft_elements_bytes(weft_block(in, 0)))) {
        weft_schedule_send(s, 0, all_of(in, s->size));
        return;
    }
    for (int r = 0; r < s->size; r++)
        if (weft_elements_bytes(weft_block(in, r)))
            weft_schedule_send(s, r, weft_block(in, r));
}

/* Each direction selects its method by the size of its own blocks: through both leaders, or from
 * each rank to each rank. */
static void allgather(struct weft_schedule *s, struct weft_elements in,
                      const struct weft_blocks *out)
{
    size_t theirs = weft_elements_bytes(weft_block(out, 0));
    bool gathers =
        through_leader(s, WEFT_COLL_GATHER, s->comm->local->size, weft_elements_bytes(in));
    bool bcasts = through_leader(s, WEFT_COLL_GATHER, s->size, theirs);
    struct weft_elements packed = {NULL, 0, NULL}, all = all_of(out, s->size);
    uint32_t begin = s->count;
    if (gathers)
        packed = local_gather(s, in);
    uint32_t gathered = s->count;
    weft_schedule_wait_for(s, begin);
    if (bcasts && is_leader(s))
        weft_schedule_receive(s, 0, all);
    for (int i = 0; i < s->size; i++) {
        int r = (s->rank + i) % s->size;
        if (!bcasts && theirs)
            weft_schedule_receive(s, r, weft_block(out, r));
        if (!gathers && weft_elements_bytes(in))
            weft_schedule_send(s, r, in);
    }
    weft_schedule_wait_for(s, gathered);
    if (gathers && is_leader(s))
        weft_schedule_send(s, 0, packed);
    if (bcasts)
        local_bcast(s, all);
}

/* Exchanges blocks with each rank of the remote group, starting at s->rank to distribute the load.
 * If `all` is set, it is sent to all ranks instead of the blocks of `in`. */
static void exchange_groups(struct weft_schedule *s, const struct weft_elements *all,
                            const struct weft_blocks *in, const struct weft_blocks *out)
{
    for (int i = 0; i < s->size; i++) {
        int r = (s->rank + i) % s->size;
        struct weft_elements to = weft_block(out, r), from = all ? *all : weft_block(in, r);
        if (weft_elements_bytes(to))
            weft_schedule_receive(s, r, to);
        if (weft_elements_bytes(from))
            weft_schedule_send(s, r, from);
    }
}

void weft_build_inter(struct weft_schedule *s, const struct weft_coll_args *args)
{
    struct weft_elements in = {args->in.at, args->in.count, args->in.type};
    struct weft_elements out = {args->out.at, args->out.count, args->out.type};
    s->algorithm = WEFT_ALGORITHM_LINEAR;
    switch (args->kind) {
    case WEFT_COLL_BARRIER:
        barrier(s);
        break;
    case WEFT_COLL_BCAST:
        bcast(s, in, args->root);
        break;
    case WEFT_COLL_REDUCE:
        reduce(s, in, out.at, args->root);
        break;
    case WEFT_COLL_ALLREDUCE:
        allreduce(s, in, out.at);
        break;
    case WEFT_COLL_REDUCE_SCATTER:
    case WEFT_COLL_REDUCE_SCATTER_BLOCK:
        reduce_scatter(s, in, out.at, &args->out);
        break;
    case WEFT_COLL_GATHER:
    case WEFT_COLL_GATHERV:
        gather(s, in, &args->out, args->root);
        break;
    case WEFT_COLL_SCATTER:
    case WEFT_COLL_SCATTERV:
        scatter(s, &args->in, out, args->root);
        break;
    case WEFT_COLL_ALLGATHER:
        allgather(s, in, &args->out);
        break;
    case WEFT_COLL_ALLGATHERV:
        exchange_groups(s, &in, NULL, &args->out);
        break;
    case WEFT_COLL_ALLTOALL:
    case WEFT_COLL_ALLTOALLV:
    case WEFT_COLL_ALLTOALLW:
        exchange_groups(s, NULL, &args->in, &args->out);
        break;
    default: /* scans and neighbourhood collectives are not defined; the caller has checked */
        break;
    }
}
