// SPDX-License-Identifier: BSD-3-Clause
/*
 * coll_cost: messages and bytes of collectives, counted in their schedules.
 *
 *     coll_cost [RANKS]      (100000)
 *     coll_cost --rules
 *
 * For 2 to RANKS ranks on nodes of 1 to 128 ranks: the algorithm that the rules choose
 * (src/core/coll/choose.c), and of the ranks of the first, the middle and the last node
 *  - the most messages and bytes that a rank sends, or receives if that is more;
 *  - the most messages and bytes that the ranks of a node together send to other nodes, or receive
 *    from them if that is more;
 *  - up to 1,024 ranks, the rounds: messages that wait for each other, one after the other, in the
 *    schedules of all ranks.
 * The root is rank 0, so the first node has it; all other nodes do the same, except for the last
 * one, which may have fewer ranks. The v-forms have blocks of equal length here. A row of several
 * collectives is their sum: MPI_Win_create has an agreement on context ids, whose rounds are those
 * of a barrier and whose messages have four words in most cases (weft_bid_pack), an exchange of
 * records (src/core/rma/make.c), and the barrier of MPI_Win_free.
 *
 * With --rules the chosen algorithm is compared with each other one of its family, for sizes that
 * are powers of two and up to 100 ranks that are alone on their nodes. A line is printed where
 * another one takes less than 1/1.5 of the time on each of the networks below, and the exit status
 * is 1.
 *
 * Invariant: nothing is sent and no rank exists. A schedule depends on the arguments only
 * (src/core/coll/schedule.h), so the buffers have addresses and no memory.
 */
#include "core/coll/choose.h"
#include "core/coll/schedule.h"
#include "core/base/settings.h"
#include "core/comm/nodes.h"
#include "core/message/process.h"
#include "core/rma/win.h"
#include "core/base/shared_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the time of another algorithm. */
static const double most_tolerated = 1.5;

enum { RANKS_MAX = 1000000, GAP = 1 << 20, NODES_SEEN = 3, ROUNDS_RANKS = 1024 };

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
static const struct row window[] = {{WEFT_COLL_BARRIER, {4 * sizeof(uint64_t)}},
                                    {WEFT_COLL_ALLGATHER, {WEFT_WIN_RECORD_BYTES}},
                                    {WEFT_COLL_BARRIER, {0}}};
static const int sizes[] = {2, 16, 128, 1024, 8192, 0};
static const int nodes_of[] = {1, 32, 128};

/* Microseconds until a message arrives, of a message besides, and of a byte on the network, and
 * copied or combined: 100 Gbit/s, 10 Gbit/s with TCP, and 1 Gbit/s. */
static const struct network {
    double delay, message, byte, copied_byte;
} networks[] = {{2, 0.3, 8e-5, 2e-4}, {10, 3, 8e-4, 2e-4}, {25, 3, 8e-3, 2e-4}};

enum { NETWORKS = sizeof networks / sizeof networks[0] };

struct traffic {
    uint64_t messages, bytes;
};

struct both {
    struct traffic sent, received;
};

struct cost {
    enum weft_algorithm algorithm;
    struct traffic rank, node; /* the most of one */
    int rounds;
    double times[NETWORKS]; /* with --rules */
};

struct job {
    int size, per_node;
    int32_t *node;        /* of each rank */
    int *counts, *displs; /* of the v-forms */
    enum weft_coll_kind kind;
    size_t bytes;
    bool times; /* costs have times */
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

static double later(double a, double b)
{
    return a > b ? a : b;
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

/* The schedule of a rank, valid until the next. */
static struct weft_schedule *schedule_of(const struct job *job, struct weft_group *group, int rank)
{
    static struct weft_comm comm;
    comm = (struct weft_comm){.rank = rank, .size = job->size, .vci = &weft.vcis[0]};
    comm.coll.comm = &comm;
    comm.group = comm.remote = group;
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
    return s;
}

/* Adds the messages of a rank: all, and those with other nodes. */
static enum weft_algorithm count_rank(const struct job *job, struct weft_group *group, int rank,
                                      struct cost *cost, struct both *outside)
{
    struct both all = {0};
    struct weft_schedule *s = schedule_of(job, group, rank);
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

/* The group of a job, as a rank sees it. */
static struct weft_group *group_of(const struct job *job, int rank)
{
    struct weft_group *group = weft_group_run(job->size, 0, 1);
    if (group)
        group->nodes = weft_nodes_arrange(job->node, job->size, rank);
    return group;
}

/* ---- Time: a message leaves a rank after those before it, and arrives after the delay; messages
 * to a rank arrive one after the other. In rounds, a message takes one and all else no time. */

struct action {
    enum weft_step_kind kind;
    uint32_t after;
    int peer;
    size_t bytes;
};

struct message {
    int from;
    double left;
};

struct player {
    struct action *actions;
    double *starts, *ends; /* ends[i]: when all actions before i have ended */
    double sent, received; /* when the last message has */
    uint32_t count, started, ended;
    struct message *arrived;
    uint32_t narrived, space;
};

static void *more(void *at, size_t bytes)
{
    at = realloc(at, bytes);
    if (!at) {
        fprintf(stderr, "coll_cost: no memory\n");
        exit(1);
    }
    return at;
}

static void keep_actions(struct player *player, const struct weft_schedule *s)
{
    player->count = s->count;
    player->actions = more(NULL, (s->count + 1) * sizeof *player->actions);
    player->starts = more(NULL, (s->count + 1) * sizeof *player->starts);
    player->ends = more(NULL, (s->count + 1) * sizeof *player->ends);
    player->ends[0] = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const struct weft_step *step = &s->steps[i];
        enum weft_step_kind kind = (enum weft_step_kind)step->kind;
        size_t bytes = kind == WEFT_STEP_CALL      ? 0
                       : kind == WEFT_STEP_RECEIVE ? weft_elements_bytes(step->to)
                                                   : weft_elements_bytes(step->from);
        player->actions[i] = (struct action){kind, step->after, step->peer, bytes};
    }
}

static void deliver(struct player *to, struct message message)
{
    if (to->narrived == to->space) {
        to->space = to->space ? 2 * to->space : 8;
        to->arrived = more(to->arrived, to->space * sizeof *to->arrived);
    }
    to->arrived[to->narrived++] = message;
}

/* Takes the first message of a rank; messages of a pair are received in order. Returns whether
 * there is one. */
static bool take(struct player *player, int from, double *left)
{
    for (uint32_t i = 0; i < player->narrived; i++)
        if (player->arrived[i].from == from) {
            *left = player->arrived[i].left;
            player->arrived[i].from = -1;
            return true;
        }
    return false;
}

/* Ends the first action of a rank that has started and not ended. Returns false if that is a
 * receive whose message has not been sent. */
static bool end_action(struct player *me, const struct network *network)
{
    const struct action *action = &me->actions[me->ended];
    double end = me->starts[me->ended], left;
    if (action->kind == WEFT_STEP_RECEIVE) {
        if (!take(me, action->peer, &left))
            return false;
        me->received = later(left + network->delay, me->received + network->message +
                                                        network->byte * (double)action->bytes);
        end = later(end, me->received);
    } else if (action->kind != WEFT_STEP_SEND) {
        end += network->copied_byte * (double)action->bytes;
    }
    me->ends[me->ended + 1] = me->ends[me->ended] > end ? me->ends[me->ended] : end;
    me->ended++;
    return true;
}

/* Starts the next action of a rank, after those before it, as the engine does. */
static void start_action(struct player *players, int rank, const struct network *network)
{
    struct player *me = &players[rank];
    const struct action *action = &me->actions[me->started];
    double start = me->ends[action->after];
    if (me->started && me->starts[me->started - 1] > start)
        start = me->starts[me->started - 1];
    if (action->kind == WEFT_STEP_SEND) {
        me->sent =
            later(start, me->sent) + network->message + network->byte * (double)action->bytes;
        deliver(&players[action->peer], (struct message){rank, me->sent});
    }
    me->starts[me->started++] = start;
}

/* Returns whether an action of the rank has started or ended. */
static bool play(struct player *players, int rank, const struct network *network)
{
    struct player *me = &players[rank];
    uint32_t before = me->started + me->ended;
    for (;;) {
        while (me->ended < me->started && end_action(me, network))
            ;
        if (me->started == me->count || me->actions[me->started].after > me->ended)
            return me->started + me->ended > before;
        start_action(players, rank, network);
    }
}

/* The time until the last rank has ended. */
static double play_all(const struct job *job, struct player *players, const struct network *network)
{
    double end = 0;
    for (int r = 0; r < job->size; r++) {
        struct player *player = &players[r];
        player->started = player->ended = player->narrived = 0;
        player->sent = player->received = 0;
    }
    for (bool moved = true; moved;) {
        moved = false;
        for (int r = 0; r < job->size; r++)
            moved = play(players, r, network) || moved;
    }
    for (int r = 0; r < job->size; r++) {
        const struct player *player = &players[r];
        if (player->ended < player->count) {
            fprintf(stderr, "coll_cost: rank %d of %s waits for ever\n", r,
                    weft_coll_name(job->kind));
            exit(1);
        }
        end = later(end, player->ends[player->count]);
    }
    return end;
}

/* Rounds, and with --rules times. -1 rounds: too many ranks to look at all. */
static void count_times(const struct job *job, struct cost *cost)
{
    static const struct network in_rounds = {.delay = 1};
    cost->rounds = -1;
    if (job->size > ROUNDS_RANKS)
        return;
    struct player *players = more(NULL, (size_t)job->size * sizeof *players);
    memset(players, 0, (size_t)job->size * sizeof *players);
    for (int r = 0; r < job->size; r++) {
        struct weft_group *group = group_of(job, r);
        struct weft_schedule *s = schedule_of(job, group, r);
        keep_actions(&players[r], s);
        weft_schedule_put(s);
        weft_group_release(group);
    }
    cost->rounds = (int)play_all(job, players, &in_rounds);
    for (int n = 0; n < NETWORKS && job->times; n++)
        cost->times[n] = play_all(job, players, &networks[n]);
    for (int r = 0; r < job->size; r++) {
        struct player *player = &players[r];
        free(player->actions);
        free(player->starts);
        free(player->ends);
        free(player->arrived);
    }
    free(players);
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
        struct weft_group *group = group_of(job, begin);
        for (int r = begin; r < begin + job->per_node && r < job->size; r++)
            cost.algorithm = count_rank(job, group, r, &cost, &outside);
        raise_to(&cost.node, outside.sent);
        raise_to(&cost.node, outside.received);
        weft_group_release(group);
    }
    count_times(job, &cost);
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
        sum.rounds += cost.rounds;
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
        char rounds[16] = "-";
        if (cost.rounds >= 0)
            snprintf(rounds, sizeof rounds, "%d", cost.rounds);
        printf("%-24s %8zu %7d %8d %-14s %10ju %14ju %12ju %14ju %6s\n",
               name ? name : weft_coll_name(job->kind), name ? 0 : job->bytes, job->size,
               job->per_node, weft_algorithm_name(cost.algorithm), (uintmax_t)cost.rank.messages,
               (uintmax_t)cost.rank.bytes, (uintmax_t)cost.node.messages,
               (uintmax_t)cost.node.bytes, rounds);
        if (job->size == most)
            return;
    }
}

/* ---- The rules */

/* Compares the chosen algorithm with those that can be set. Returns the number of better ones. */
static int compare(struct job *job)
{
    const struct weft_coll_family *family = weft_coll_family_of(job->kind);
    int *setting = (int *)((char *)&weft_settings + family->setting), better = 0;
    struct cost chosen = count(job);
    for (int i = 0; i < WEFT_COLL_OPTIONS && family->options[i].algorithm; i++) {
        double least = 1e9;
        *setting = i + 1;
        struct cost other = count(job);
        *setting = 0;
        if (other.algorithm != family->options[i].algorithm)
            continue;
        for (int n = 0; n < NETWORKS; n++) {
            double ratio = chosen.times[n] / other.times[n];
            least = ratio < least ? ratio : least;
        }
        if (least <= most_tolerated)
            continue;
        better++;
        printf("%-24s %8zu %7d %-14s takes %.2f times as long as %s\n", weft_coll_name(job->kind),
               job->bytes, job->size, weft_algorithm_name(chosen.algorithm), least,
               weft_algorithm_name(other.algorithm));
    }
    return better;
}

static int compare_all(struct job *job)
{
    static const int ranks[] = {2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 24, 32, 33, 64, 65, 100};
    int better = 0;
    job->per_node = 1;
    job->times = true;
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++)
        for (size_t n = 0; n < sizeof ranks / sizeof ranks[0]; n++)
            for (size_t bytes = 8; bytes <= 4 << 20; bytes *= 2) {
                job->kind = rows[row].kind;
                job->bytes = bytes;
                job->size = ranks[n];
                for (int r = 0; r < job->size; r++)
                    job->node[r] = r;
                better += compare(job);
                if (job->kind == WEFT_COLL_BARRIER)
                    break;
            }
    return better;
}

static void count_all(struct job *job, int most)
{
    printf(
        "# table coll_cost: messages and bytes of collectives, counted in their schedules\n"
        "# command: bench/coll_cost %d\n"
        "# the most of a rank, and of a node to or from other nodes; bytes: one operand or block\n"
        "%-24s %8s %7s %8s %-14s %10s %14s %12s %14s %6s\n",
        most, "# collective", "bytes", "ranks", "per_node", "algorithm", "rank_msgs", "rank_bytes",
        "node_msgs", "node_bytes", "rounds");
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++)
        for (int i = 0; i < 2 && (!i || rows[row].bytes[i]); i++)
            for (size_t n = 0; n < sizeof nodes_of / sizeof nodes_of[0]; n++) {
                job->kind = rows[row].kind;
                job->bytes = rows[row].bytes[i];
                job->per_node = nodes_of[n];
                count_sizes(job, NULL, most);
            }
    for (size_t n = 0; n < sizeof nodes_of / sizeof nodes_of[0]; n++) {
        job->per_node = nodes_of[n];
        count_sizes(job, "MPI_Win_create", most);
    }
}

int main(int argc, char **argv)
{
    bool rules = argc == 2 && strcmp(argv[1], "--rules") == 0;
    int most = rules ? 100 : argc > 1 ? atoi(argv[1]) : 100000;
    if (argc > 2 || most < 2 || most > RANKS_MAX) {
        fprintf(stderr, "usage: coll_cost [RANKS] | --rules; RANKS: from 2 to %d\n", RANKS_MAX);
        return 2;
    }
    struct job job = {.node = malloc((size_t)most * sizeof(int32_t)),
                      .counts = malloc((size_t)most * sizeof(int)),
                      .displs = malloc((size_t)most * sizeof(int))};
    if (!job.node || !job.counts || !job.displs)
        return 1;
    weft_datatype_init();
    weft_op_init();
    int better = 0;
    if (rules)
        better = compare_all(&job);
    else
        count_all(&job, most);
    weft_schedule_finalize();
    free(job.node);
    free(job.counts);
    free(job.displs);
    return better > 0;
}
