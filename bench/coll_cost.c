// SPDX-License-Identifier: BSD-3-Clause
/*
 * coll_cost: messages and bytes of collectives, counted in their schedules.
 *
 *     coll_cost [RANKS]      (100000)
 *
 * For 2 to RANKS ranks on nodes of 1 to 128 ranks: the algorithm that the rules choose
 * (src/core/coll/choose.c), and of the ranks of the first, the middle and the last node
 *  - the most messages and bytes that a rank sends, or receives if that is more;
 *  - the most messages and bytes that the ranks of a node together send to other nodes, or receive
 *    from them if that is more.
 * The root is rank 0, so the first node has it; all other nodes do the same, except for the last
 * one, which may have fewer ranks. The v-forms have blocks of equal length here. A row of several
 * collectives is their sum: MPI_Win_create has an agreement on context ids, whose rounds are those
 * of a barrier, an exchange of records and one of states, which ranks of which each is alone on its
 * node omit (src/core/rma/make.c), and the barrier of MPI_Win_free.
 *
 * Invariant: nothing is sent and no rank exists. A schedule depends on the arguments only
 * (src/core/coll/schedule.h), so the buffers have addresses and no memory.
 */
#include "core/coll/schedule.h"
#include "core/base/settings.h"
#include "core/comm/nodes.h"
#include "core/comm/context.h"
#include "core/message/process.h"
#include "core/rma/win.h"
#include "core/base/shared_memory.h"

#include <stdio.h>
#include <stdlib.h>

enum { RANKS_MAX = 1000000, GAP = 1 << 20, NODES_SEEN = 3 };

struct row {
    enum weft_coll_kind kind;
    size_t bytes[2]; /* of one operand or block; 0 ends */
};

static const struct row rows[] = {{WEFT_COLL_BARRIER, {0}},
                                  {WEFT_COLL_BCAST, {8, 1 << 20}},
                                  {WEFT_COLL_REDUCE, {8, 1 << 20}},
                                  {WEFT_COLL_ALLREDUCE, {8, 1 << 20}},
                                  {WEFT_COLL_GATHER, {8, 16 << 10}},
                                  {WEFT_COLL_SCATTER, {8, 16 << 10}},
                                  {WEFT_COLL_ALLGATHER, {8, 16 << 10}},
                                  {WEFT_COLL_ALLTOALL, {8, 16 << 10}},
                                  {WEFT_COLL_REDUCE_SCATTER_BLOCK, {8, 16 << 10}},
                                  {WEFT_COLL_GATHERV, {8, 16 << 10}},
                                  {WEFT_COLL_ALLTOALLV, {8, 16 << 10}},
                                  {WEFT_COLL_REDUCE_SCATTER, {8, 16 << 10}}};

/* The collectives of MPI_Win_create. The bytes of a barrier are those that each of its messages
 * carries. */
static const struct row window[] = {{WEFT_COLL_BARRIER, {WEFT_CONTEXT_WORDS * sizeof(uint64_t)}},
                                    {WEFT_COLL_ALLGATHER, {WEFT_WIN_RECORD_BYTES}},
                                    {WEFT_COLL_ALLGATHER, {WEFT_WIN_STATE_BYTES}},
                                    {WEFT_COLL_BARRIER, {0}}};
static const int sizes[] = {2, 16, 128, 1024, 8192, 0};
static const int nodes_of[] = {1, 32, 128};

struct traffic {
    uint64_t messages, bytes;
};

struct both {
    struct traffic sent, received;
};

struct cost {
    enum weft_algorithm algorithm;
    struct traffic rank, node; /* the most of one */
};

struct job {
    int size, per_node;
    int32_t *node;        /* of each rank */
    int *counts, *displs; /* of the v-forms */
    enum weft_coll_kind kind;
    size_t bytes;
};

static void add(struct traffic *sum, struct traffic more)
{
    sum->messages += more.messages;
    sum->bytes += more.bytes;
}

static void raise_to(struct traffic *most, struct traffic other)
{
    most->messages = other.messages > most->messages ? other.messages : most->messages;
    most->bytes = other.bytes > most->bytes ? other.bytes : most->bytes;
}

static struct weft_blocks blocks_at(uintptr_t address, size_t count)
{
    return (struct weft_blocks){
        .at = (void *)address, .count = count, .type = weft_handle_object(MPI_BYTE)};
}

static bool has_arrays(enum weft_coll_kind kind)
{
    return kind == WEFT_COLL_GATHERV || kind == WEFT_COLL_ALLTOALLV ||
           kind == WEFT_COLL_REDUCE_SCATTER;
}

/* Fills the arrays of the v-forms. */
static void fill_arrays(const struct job *job)
{
    for (int r = 0; r < job->size && has_arrays(job->kind); r++) {
        job->counts[r] = (int)job->bytes;
        job->displs[r] = (int)((size_t)r * job->bytes);
    }
}

/* The buffers of any kind: what a kind does not use is ignored. */
static struct weft_coll_args args_of(const struct job *job, const struct weft_arrays *arrays,
                                     struct weft_comm *comm)
{
    bool sum = job->kind == WEFT_COLL_REDUCE_SCATTER_BLOCK || job->kind == WEFT_COLL_REDUCE_SCATTER;
    size_t all = job->bytes * (size_t)job->size;
    struct weft_coll_args args = {.kind = job->kind, .comm = comm};
    args.in = blocks_at(GAP, sum ? all : job->bytes);
    args.out = job->kind == WEFT_COLL_BCAST ? args.in : blocks_at(2 * GAP + all, job->bytes);
    if (sum || job->kind == WEFT_COLL_REDUCE || job->kind == WEFT_COLL_ALLREDUCE)
        args.op = weft_handle_object(MPI_BXOR);
    if (has_arrays(job->kind))
        args.out.arrays = arrays;
    if (job->kind == WEFT_COLL_ALLTOALLV)
        args.in.arrays = arrays;
    return args;
}

/* Adds the messages of a rank: all, and those with other nodes. */
static enum weft_algorithm count_rank(const struct job *job, struct weft_group *group, int rank,
                                      struct cost *cost, struct both *outside)
{
    struct weft_comm comm = {.rank = rank, .size = job->size, .vci = &weft.vcis[0]};
    struct both all = {0};
    comm.coll.comm = &comm;
    comm.group = group;
    struct weft_arrays arrays = {
        .counts = {job->counts, false},
        .displs = {job->kind == WEFT_COLL_REDUCE_SCATTER ? NULL : job->displs, false}};
    struct weft_coll_args args = args_of(job, &arrays, &comm);
    struct weft_schedule *s = weft_schedule_get(&args);
    if (s)
        weft_schedule_build(s, &args);
    if (!s || s->failed) {
        fprintf(stderr, "coll_cost: no memory for %s of %d ranks\n", weft_coll_name(job->kind),
                job->size);
        exit(1);
    }
    for (uint32_t i = 0; i < s->count; i++) {
        const struct weft_step *step = &s->steps[i];
        bool sends = step->kind == WEFT_STEP_SEND;
        if (!sends && step->kind != WEFT_STEP_RECEIVE)
            continue;
        struct traffic one = {1, weft_elements_bytes(sends ? step->from : step->to)};
        add(sends ? &all.sent : &all.received, one);
        if (job->node[step->peer] != job->node[rank])
            add(sends ? &outside->sent : &outside->received, one);
    }
    raise_to(&cost->rank, all.sent);
    raise_to(&cost->rank, all.received);
    enum weft_algorithm algorithm = s->algorithm;
    weft_schedule_put(s);
    return algorithm;
}

static struct cost count(const struct job *job)
{
    struct cost cost = {0};
    int last = job->node[job->size - 1], seen[NODES_SEEN] = {0, last / 2, last};
    fill_arrays(job);
    for (int i = 0; i < NODES_SEEN; i++) {
        struct both outside = {0};
        int begin = seen[i] * job->per_node;
        if (i && seen[i] == seen[i - 1])
            continue;
        struct weft_group *group = weft_group_run(job->size, 0, 1);
        if (group)
            group->nodes = weft_nodes_arrange(job->node, job->size, begin);
        for (int r = begin; r < begin + job->per_node && r < job->size; r++)
            cost.algorithm = count_rank(job, group, r, &cost, &outside);
        raise_to(&cost.node, outside.sent);
        raise_to(&cost.node, outside.received);
        weft_group_release(group);
    }
    return cost;
}

/* The sum over the collectives of a window; the algorithm is that of the exchanges. */
static struct cost count_window(struct job *job)
{
    struct cost sum = {0};
    for (size_t i = 0; i < sizeof window / sizeof window[0]; i++) {
        job->kind = window[i].kind;
        job->bytes = window[i].bytes[0];
        struct cost cost = count(job);
        if (job->kind == WEFT_COLL_BARRIER) {
            cost.rank.bytes = cost.rank.messages * job->bytes;
            cost.node.bytes = cost.node.messages * job->bytes;
        } else if (job->kind == WEFT_COLL_ALLGATHER) {
            sum.algorithm = cost.algorithm;
        }
        add(&sum.rank, cost.rank);
        add(&sum.node, cost.node);
    }
    return sum;
}

/* NULL: a collective of job->kind. */
static void count_sizes(struct job *job, const char *name, int most)
{
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        job->size = sizes[i] && sizes[i] < most ? sizes[i] : most;
        for (int r = 0; r < job->size; r++)
            job->node[r] = r / job->per_node;
        if (job->per_node > 1 && job->per_node > job->size)
            continue;
        struct cost cost = name ? count_window(job) : count(job);
        printf("%-24s %8zu %7d %8d %-14s %10ju %14ju %12ju %14ju\n",
               name ? name : weft_coll_name(job->kind), name ? 0 : job->bytes, job->size,
               job->per_node, weft_algorithm_name(cost.algorithm), (uintmax_t)cost.rank.messages,
               (uintmax_t)cost.rank.bytes, (uintmax_t)cost.node.messages,
               (uintmax_t)cost.node.bytes);
        if (job->size == most)
            return;
    }
}

int main(int argc, char **argv)
{
    int most = argc > 1 ? atoi(argv[1]) : 100000;
    if (argc > 2 || most < 2 || most > RANKS_MAX) {
        fprintf(stderr, "usage: coll_cost [RANKS], from 2 to %d\n", RANKS_MAX);
        return 2;
    }
    struct job job = {.node = malloc((size_t)most * sizeof(int32_t)),
                      .counts = malloc((size_t)most * sizeof(int)),
                      .displs = malloc((size_t)most * sizeof(int))};
    if (!job.node || !job.counts || !job.displs)
        return 1;
    weft_datatype_init();
    weft_op_init();
    printf(
        "# table coll_cost: messages and bytes of collectives, counted in their schedules\n"
        "# command: bench/coll_cost %d\n"
        "# the most of a rank, and of a node to or from other nodes; bytes: one operand or block\n"
        "%-24s %8s %7s %8s %-14s %10s %14s %12s %14s\n",
        most, "# collective", "bytes", "ranks", "per_node", "algorithm", "rank_msgs", "rank_bytes",
        "node_msgs", "node_bytes");
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++)
        for (int i = 0; i < 2 && (!i || rows[row].bytes[i]); i++)
            for (size_t n = 0; n < sizeof nodes_of / sizeof nodes_of[0]; n++) {
                job.kind = rows[row].kind;
                job.bytes = rows[row].bytes[i];
                job.per_node = nodes_of[n];
                count_sizes(&job, NULL, most);
            }
    for (size_t n = 0; n < sizeof nodes_of / sizeof nodes_of[0]; n++) {
        job.per_node = nodes_of[n];
        count_sizes(&job, "MPI_Win_create", most);
    }
    weft_schedule_finalize();
    free(job.node);
    free(job.counts);
    free(job.displs);
    return 0;
}
