// SPDX-License-Identifier: BSD-3-Clause
/*
 * Selects the algorithm and calls the builder of a collective.
 *
 * Invariant: the selection depends on values that are the same at every rank.
 */
#include "core/base/event.h"
#include "core/coll/nodes.h"
#include "core/comm/topology.h"
#include "core/message/count.h"
#include "core/message/process.h"

static struct weft_elements elements_of(const struct weft_blocks *one)
{
    return (struct weft_elements){one->at, one->count, one->type};
}

static bool equal_blocks(enum weft_coll_kind kind)
{
    return kind == WEFT_COLL_GATHER || kind == WEFT_COLL_SCATTER || kind == WEFT_COLL_ALLGATHER ||
           kind == WEFT_COLL_ALLTOALL;
}

/* The bytes that the rules of the family compare: weft_coll_family.bytes. */
static size_t bytes_of(const struct weft_schedule *s, const struct weft_coll_args *args)
{
    size_t sum = 0;
    switch (args->kind) {
    case WEFT_COLL_SCATTER:
        return weft_elements_bytes(s->rank == args->root ? weft_block(&args->in, args->root)
                                                         : elements_of(&args->out));
    case WEFT_COLL_ALLGATHER:
        return (size_t)s->size * weft_elements_bytes(weft_block(&args->out, 0));
    case WEFT_COLL_ALLGATHERV:
        for (int i = 0; i < s->size; i++)
            sum += weft_elements_bytes(weft_block(&args->out, i));
        return sum;
    case WEFT_COLL_ALLTOALL:
        return weft_elements_bytes(weft_block(&args->out, 0));
    case WEFT_COLL_BCAST:
    case WEFT_COLL_REDUCE:
    case WEFT_COLL_ALLREDUCE:
    case WEFT_COLL_GATHER:
    case WEFT_COLL_REDUCE_SCATTER:
    case WEFT_COLL_REDUCE_SCATTER_BLOCK:
    case WEFT_COLL_SCAN:
    case WEFT_COLL_EXSCAN:
        return weft_elements_bytes(elements_of(&args->in));
    default:
        return 0; /* one algorithm, or all algorithms are compatible: see alltoall.c */
    }
}

/* The condition of WEFT_NEED_NODES. */
static bool goes_through(const struct weft_nodes *nodes, const struct weft_schedule *s,
                         enum weft_coll_kind kind, size_t bytes)
{
    bool commutes = !s->op || s->op->commutative;
    if (kind == WEFT_COLL_SCAN || kind == WEFT_COLL_EXSCAN)
        return nodes->in_order || bytes <= WEFT_SCAN_GATHERED / (size_t)s->size;
    if (kind == WEFT_COLL_REDUCE_SCATTER || kind == WEFT_COLL_REDUCE_SCATTER_BLOCK)
        return commutes && weft_nodes_scatter_sums(nodes);
    if (kind == WEFT_COLL_ALLTOALL)
        return weft_nodes_are_equal(nodes);
    return commutes || nodes->in_order;
}

enum weft_algorithm weft_schedule_choose(const struct weft_schedule *s, enum weft_coll_kind kind,
                                         size_t bytes)
{
    struct weft_choice choice = {.kind = kind, .size = s->size, .bytes = bytes};
    if (s->op && s->op->commutative)
        choice.gives |= WEFT_NEED_COMMUTATIVE;
    if (equal_blocks(kind))
        choice.gives |= WEFT_NEED_EQUAL_BLOCKS;
    choice.by_rules = weft_unlikely(weft_comm_is_foreign(s->comm));
    if (weft.crowded && !choice.by_rules)
        choice.gives |= WEFT_NEED_OVERSUBSCRIBED;
    const struct weft_nodes *nodes = weft_nodes_among(s);
    if (nodes && goes_through(nodes, s, kind, bytes))
        choice.gives |= WEFT_NEED_NODES | (nodes->in_order ? WEFT_NEED_IN_ORDER : 0);
    return weft_coll_choose(&choice);
}

/* The neighbours of the communicator's topology. */
static struct weft_neighbours neighbours_of(struct weft_schedule *s)
{
    struct weft_neighbours neighbours = {.grid = s->comm->topology->kind == MPI_CART};
    int in, out;
    weft_topology_degrees(s->comm, &in, &out);
    int *sources = weft_schedule_memory(s, (size_t)in * sizeof *sources);
    int *destinations = weft_schedule_memory(s, (size_t)out * sizeof *destinations);
    if (s->failed)
        return neighbours;
    weft_topology_neighbours(s->comm, sources, destinations);
    neighbours.in = in;
    neighbours.out = out;
    neighbours.sources = sources;
    neighbours.destinations = destinations;
    return neighbours;
}

static void build_neighbor(struct weft_schedule *s, const struct weft_coll_args *args)
{
    struct weft_neighbours neighbours = neighbours_of(s);
    s->algorithm = WEFT_ALGORITHM_LINEAR;
    if (args->kind == WEFT_COLL_NEIGHBOR_ALLGATHER || args->kind == WEFT_COLL_NEIGHBOR_ALLGATHERV)
        weft_build_neighbor_allgather(s, elements_of(&args->in), &args->out, &neighbours);
    else
        weft_build_neighbor_alltoall(s, &args->in, &args->out, &neighbours);
}

static void build(struct weft_schedule *s, const struct weft_coll_args *args)
{
    struct weft_elements in = elements_of(&args->in), out = elements_of(&args->out);
    enum weft_algorithm algorithm = weft_schedule_choose(s, args->kind, bytes_of(s, args));
    s->algorithm = algorithm;
    switch (args->kind) {
    case WEFT_COLL_BARRIER:
        weft_build_barrier(s, algorithm);
        break;
    case WEFT_COLL_BCAST:
        weft_build_bcast(s, in, args->root, algorithm);
        break;
    case WEFT_COLL_REDUCE:
        weft_build_reduce(s, in, out.at, args->root, algorithm);
        break;
    case WEFT_COLL_ALLREDUCE:
        weft_build_allreduce(s, in, out.at, algorithm);
        break;
    case WEFT_COLL_GATHER:
    case WEFT_COLL_GATHERV:
        weft_build_gather(s, in, &args->out, args->root, algorithm);
        break;
    case WEFT_COLL_SCATTER:
    case WEFT_COLL_SCATTERV:
        weft_build_scatter(s, &args->in, out, args->root, algorithm);
        break;
    case WEFT_COLL_ALLGATHER:
    case WEFT_COLL_ALLGATHERV:
        weft_build_allgather(s, in, &args->out, algorithm);
        break;
    case WEFT_COLL_ALLTOALL:
    case WEFT_COLL_ALLTOALLV:
    case WEFT_COLL_ALLTOALLW:
        if (args->in_place)
            weft_build_alltoall_in_place(s, &args->out);
        else
            weft_build_alltoall(s, &args->in, &args->out, algorithm);
        break;
    case WEFT_COLL_REDUCE_SCATTER:
    case WEFT_COLL_REDUCE_SCATTER_BLOCK:
        weft_build_reduce_scatter(s, in, out.at, &args->out, algorithm);
        break;
    case WEFT_COLL_SCAN:
    case WEFT_COLL_EXSCAN:
        weft_build_scan(s, in, out.at, args->kind == WEFT_COLL_EXSCAN, algorithm);
        break;
    case WEFT_COLL_NEIGHBOR_ALLGATHER:
    case WEFT_COLL_NEIGHBOR_ALLGATHERV:
    case WEFT_COLL_NEIGHBOR_ALLTOALL:
    case WEFT_COLL_NEIGHBOR_ALLTOALLV:
    case WEFT_COLL_NEIGHBOR_ALLTOALLW:
        build_neighbor(s, args);
        break;
    case WEFT_COLL_KINDS:
        break;
    }
}

/* Raises the event of a collective that is planned. */
static WEFT_COLD void raise_algorithm(const struct weft_schedule *s,
                                      const struct weft_coll_args *args)
{
    const uint64_t bytes = args->comm->local ? 0 : bytes_of(s, args);
    __atomic_store_n(&weft_counts.algorithm, (uint64_t)s->algorithm, __ATOMIC_RELAXED);
    weft_event_raise(WEFT_EVENT_COLLECTIVE,
                     &(struct weft_event_data){.algorithm = (int32_t)s->algorithm, .bytes = bytes});
}

void weft_schedule_build(struct weft_schedule *s, const struct weft_coll_args *args)
{
    if (args->comm->local)
        weft_build_inter(s, args);
    else
        build(s, args);
    if (weft_event_wanted(WEFT_EVENT_COLLECTIVE))
        raise_algorithm(s, args);
}
