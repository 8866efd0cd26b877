// SPDX-License-Identifier: BSD-3-Clause
/*
 * Every collective by every algorithm, for communicators of 1 to 17 and some more ranks, without a
 * network: the schedules of all ranks are built in this process and carried out by a simulator that
 * starts steps and delivers messages in random order. A message is taken out of its buffer when it
 * is sent, or as late as when its receive completes; so a step that starts too early, or needs a
 * send to be buffered, fails here.
 *
 * Whole buffers are compared, so what is written beside the data is seen too.
 */
#include "core/coll/schedule.h"
#include "core/base/error.h"
#include "core/comm/nodes.h"
#include "core/base/settings.h"
#include "core/message/process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>

enum { MOST = 33, GUARD = 0xA5, GAP = 24, LONG = 263000 /* elements: more than 1 MiB */ };

/* ---- Random numbers */

static uint64_t state = 1;

static uint64_t mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static unsigned pick(unsigned below)
{
    return (unsigned)(mix(++state) % below);
}

/* ---- One collective on all ranks */

struct memory {
    unsigned char *at;
    size_t bytes;
};

struct rank {
    struct weft_comm comm;
    struct weft_group *group;
    struct weft_coll_args args;
    struct weft_schedule *s;
    struct memory in, out, want_in, want_out; /* buffers, and what they should be in the end */
    int64_t counts[2][MOST], displs[2][MOST];
    int narrow_counts[2][MOST], narrow_displs[2][MOST];
    MPI_Datatype types[2][MOST];
    struct weft_arrays arrays[2];
    bool *complete; /* of each step */
    bool *taken;    /* of each send: its data are in `copies` */
    unsigned char **copies;
    uint32_t next, done;
};

/* The messages from one rank to another, in order: steps of the sender and of the receiver. */
struct pair {
    uint32_t *sends, *receives;
    uint32_t nsends, nreceives, matched, space;
};

struct job {
    int size, root;
    enum weft_coll_kind kind;
    enum weft_algorithm algorithm;
    bool in_place;
    size_t count;
    MPI_Datatype type;
    const struct weft_op *op;
    int32_t node[MOST]; /* which each rank is on */
    struct rank *ranks;
    struct pair *pairs;
};

static struct memory memory_of(size_t bytes)
{
    struct memory m = {malloc(bytes + GAP), bytes + GAP};
    assert_non_null(m.at);
    memset(m.at, GUARD, m.bytes);
    return m;
}

static struct memory copy_of(struct memory m)
{
    struct memory copy = {malloc(m.bytes), m.bytes};
    assert_non_null(copy.at);
    memcpy(copy.at, m.at, m.bytes);
    return copy;
}

/* ---- The simulator */

static void append(struct pair *pair, uint32_t **list, uint32_t *n, uint32_t step)
{
    if (*n == pair->space) {
        pair->space = pair->space ? 2 * pair->space : 64;
        pair->sends = realloc(pair->sends, pair->space * sizeof *pair->sends);
        pair->receives = realloc(pair->receives, pair->space * sizeof *pair->receives);
        assert_true(pair->sends && pair->receives);
    }
    (*list)[(*n)++] = step;
}

static void start(struct job *job, int r, uint32_t i)
{
    struct rank *rank = &job->ranks[r];
    struct weft_step *step = &rank->s->steps[i];
    struct pair *out = &job->pairs[r * job->size + step->peer];
    struct pair *in = &job->pairs[step->peer * job->size + r];
    switch (step->kind) {
    case WEFT_STEP_SEND:
        append(out, &out->sends, &out->nsends, i);
        if (pick(2)) { /* eager */
            size_t bytes = weft_elements_bytes(step->from);
            rank->copies[i] = malloc(bytes + 1);
            weft_datatype_pack(step->from.type, step->from.at, 0, rank->copies[i], bytes);
            rank->complete[i] = true;
        }
        break;
    case WEFT_STEP_RECEIVE:
        append(in, &in->receives, &in->nreceives, i);
        break;
    case WEFT_STEP_COPY:
        weft_elements_copy(step->from, step->to);
        rank->complete[i] = true;
        break;
    default:
        weft_op_combine(rank->s->op, step->from.type, step->from.at, step->to.at, step->from.count);
        rank->complete[i] = true;
    }
}

static void deliver(struct job *job, int from, int to)
{
    struct pair *pair = &job->pairs[from * job->size + to];
    uint32_t i = pair->sends[pair->matched], j = pair->receives[pair->matched];
    struct rank *sender = &job->ranks[from], *receiver = &job->ranks[to];
    struct weft_step *send = &sender->s->steps[i], *receive = &receiver->s->steps[j];
    size_t bytes = weft_elements_bytes(send->from);
    assert_int_equal(bytes, weft_elements_bytes(receive->to));
    unsigned char *data = sender->copies[i];
    if (!data) {
        data = malloc(bytes + 1);
        weft_datatype_pack(send->from.type, send->from.at, 0, data, bytes);
    }
    weft_datatype_unpack(receive->to.type, receive->to.at, 0, data, bytes);
    free(data);
    sender->copies[i] = NULL;
    sender->complete[i] = receiver->complete[j] = true;
    pair->matched++;
}

/* Starts and delivers about one in `rarely` of what could be. Returns whether anything was done. */
static bool pass(struct job *job, unsigned rarely)
{
    bool any = false;
    for (int r = 0; r < job->size; r++) {
        struct rank *rank = &job->ranks[r];
        while (rank->next < rank->s->count && rank->s->steps[rank->next].after <= rank->done &&
               !pick(rarely)) {
            start(job, r, rank->next++);
            any = true;
        }
        for (int from = 0; from < job->size; from++) {
            struct pair *pair = &job->pairs[from * job->size + r];
            while (pair->matched < pair->nsends && pair->matched < pair->nreceives &&
                   !pick(rarely)) {
                deliver(job, from, r);
                any = true;
            }
        }
        while (rank->done < rank->next && rank->complete[rank->done])
            rank->done++;
    }
    return any;
}

static void simulate(struct job *job)
{
    job->pairs = calloc((size_t)job->size * (size_t)job->size, sizeof *job->pairs);
    for (int r = 0; r < job->size; r++) {
        struct rank *rank = &job->ranks[r];
        rank->s = weft_schedule_get(&rank->args);
        assert_non_null(rank->s);
        weft_schedule_build(rank->s, &rank->args);
        assert_false(rank->s->failed);
        rank->complete = calloc(rank->s->count + 1, sizeof *rank->complete);
        rank->copies = calloc(rank->s->count + 1, sizeof *rank->copies);
    }
    while (pass(job, 1 + pick(4)) || pass(job, 1))
        ;
    for (int r = 0; r < job->size; r++) {
        struct rank *rank = &job->ranks[r];
        if (rank->done != rank->s->count)
            fail_msg("%s (%s) of %d ranks stands still: rank %d in step %u of %u",
                     weft_coll_name(job->kind), weft_algorithm_name(rank->s->algorithm), job->size,
                     r, rank->done, rank->s->count);
        weft_schedule_put(rank->s);
        free(rank->complete);
        free(rank->copies);
    }
    for (int i = 0; i < job->size * job->size; i++) {
        assert_int_equal(job->pairs[i].matched, job->pairs[i].nsends);
        assert_int_equal(job->pairs[i].matched, job->pairs[i].nreceives);
        free(job->pairs[i].sends);
        free(job->pairs[i].receives);
    }
    free(job->pairs);
}

/* ---- Data: element i of what `from` gives to `to` */

static void put_one(MPI_Datatype type, unsigned char *at, uint64_t value)
{
    if (type == MPI_DOUBLE_INT) {
        struct weft_double_int *pair = (struct weft_double_int *)(void *)at;
        pair->value = (double)(value % 1000003);
        pair->index = (int)(value >> 40);
        return;
    }
    uint32_t word = (uint32_t)value;
    memcpy(at, &word, sizeof word);
}

static size_t extent_of(MPI_Datatype type)
{
    return type == MPI_DOUBLE_INT ? sizeof(struct weft_double_int) : sizeof(uint32_t);
}

static uint64_t value_of(int from, int to, size_t i)
{
    return mix((uint64_t)from << 40 | (uint64_t)to << 20 | i);
}

static void put(MPI_Datatype type, unsigned char *at, size_t count, int from, int to)
{
    for (size_t i = 0; i < count; i++)
        put_one(type, at + i * extent_of(type), value_of(from, to, i));
}

/* Affine maps a x + b modulo 65521, packed: their composition is associative and does not
 * commute. */
static uint32_t compose(uint32_t left, uint32_t right)
{
    uint64_t a = left >> 16, b = left & 0xffff, c = right >> 16, d = right & 0xffff;
    return (uint32_t)((a * c % 65521) << 16 | (a * d + b) % 65521);
}

static void compose_all(void *in, void *inout, int *count, MPI_Datatype *type)
{
    assert_ptr_equal(*type, MPI_UINT32_T);
    for (int i = 0; i < *count; i++)
        ((uint32_t *)inout)[i] = compose(((uint32_t *)in)[i], ((uint32_t *)inout)[i]);
}

static struct weft_op user_op = {
    .object = {WEFT_KIND_OP, 0}, .id = WEFT_OP_USER, .user = compose_all};

/* Element i of the reduction of ranks [first, end). */
static uint32_t reduced(const struct job *job, int first, int end, size_t i)
{
    uint32_t sum = (uint32_t)value_of(first, 0, i);
    for (int r = first + 1; r < end; r++) {
        uint32_t next = (uint32_t)value_of(r, 0, i);
        sum = job->op == &user_op ? compose(sum, next) : sum + next;
    }
    return sum;
}

/* ---- Setting the stage */

static const struct weft_datatype *resolve(MPI_Datatype type)
{
    return weft_handle_object(type);
}

static struct weft_blocks one(struct memory m, MPI_Datatype type, size_t count)
{
    return (struct weft_blocks){.at = m.at, .count = count, .type = resolve(type)};
}

/* Elements that a pair of ranks exchanges in a v-form. */
static size_t count_of(const struct job *job, int from, int to)
{
    if (job->kind == WEFT_COLL_GATHERV || job->kind == WEFT_COLL_ALLGATHERV)
        to = 0;
    if (job->kind == WEFT_COLL_SCATTERV || job->kind == WEFT_COLL_REDUCE_SCATTER)
        from = 0;
    uint64_t random = mix((uint64_t)from * 131 + (uint64_t)to * 17 + job->count * 7919);
    return random % 3 ? random / 3 % (job->count + 1) : 0;
}

static MPI_Datatype type_of(const struct job *job, int from, int to)
{
    if (job->kind != WEFT_COLL_ALLTOALLW)
        return job->type;
    return mix((uint64_t)from << 8 | (uint64_t)to) & 1 ? MPI_DOUBLE_INT : MPI_UINT32_T;
}

/* The blocks of a v-form, laid out with gaps. side 0: what rank r gives, 1: what it gets. Fills the
 * blocks that are given. */
static struct weft_blocks vector(struct job *job, int r, int side, struct memory *m)
{
    struct rank *rank = &job->ranks[r];
    bool w = job->kind == WEFT_COLL_ALLTOALLW, wide = pick(2);
    size_t at = 0;
    for (int i = 0; i < job->size; i++) {
        int from = side ? i : r, to = side ? r : i;
        MPI_Datatype type = type_of(job, from, to);
        size_t unit = w ? 1 : extent_of(type);
        at = (at + 15) / 16 * 16 + 16 * pick(2);
        rank->counts[side][i] = (int64_t)count_of(job, from, to);
        rank->displs[side][i] = (int64_t)(at / unit);
        rank->types[side][i] = type;
        rank->narrow_counts[side][i] = (int)rank->counts[side][i];
        rank->narrow_displs[side][i] = (int)rank->displs[side][i];
        at = (size_t)rank->displs[side][i] * unit + (size_t)rank->counts[side][i] * extent_of(type);
    }
    *m = memory_of(at);
    struct weft_arrays *arrays = &rank->arrays[side];
    arrays->counts = wide ? (struct weft_ints){rank->counts[side], true}
                          : (struct weft_ints){rank->narrow_counts[side], false};
    arrays->displs = wide ? (struct weft_ints){rank->displs[side], true}
                          : (struct weft_ints){rank->narrow_displs[side], false};
    arrays->types = w ? rank->types[side] : NULL;
    return (struct weft_blocks){.at = m->at, .type = resolve(job->type), .arrays = arrays};
}

static struct weft_blocks equal(const struct job *job, struct memory *m)
{
    *m = memory_of((size_t)job->size * job->count * extent_of(job->type));
    return one(*m, job->type, job->count);
}

static bool is_vector(enum weft_coll_kind kind)
{
    return kind == WEFT_COLL_GATHERV || kind == WEFT_COLL_SCATTERV ||
           kind == WEFT_COLL_ALLGATHERV || kind == WEFT_COLL_ALLTOALLV ||
           kind == WEFT_COLL_ALLTOALLW;
}

static struct weft_blocks blocks_for(struct job *job, int r, int side, struct memory *m)
{
    return is_vector(job->kind) ? vector(job, r, side, m) : equal(job, m);
}

/* What one rank gives to another, or gets: written into the block. */
static void fill(const struct job *job, struct memory m, const struct weft_blocks *blocks,
                 int block, unsigned char *base, int from, int to)
{
    struct weft_elements e = weft_block(blocks, block);
    (void)m;
    put(type_of(job, from, to), base + ((unsigned char *)e.at - (unsigned char *)blocks->at),
        e.count, from, to);
}

static struct weft_blocks as_blocks(struct weft_elements e)
{
    return (struct weft_blocks){.at = e.at, .count = e.count, .type = e.type};
}

static size_t block_count(const struct job *job, int from, int to)
{
    return is_vector(job->kind) ? count_of(job, from, to) : job->count;
}

static void stage_gather(struct job *job, int r, bool gets)
{
    struct rank *rank = &job->ranks[r];
    size_t count = block_count(job, r, 0);
    if (gets)
        rank->args.out = blocks_for(job, r, 1, &rank->out);
    else
        rank->out = memory_of(0);
    bool in_place = job->in_place && gets;
    rank->in = memory_of(count * extent_of(job->type));
    if (in_place) {
        struct weft_elements own = weft_block(&rank->args.out, r);
        rank->args.in = as_blocks(own);
        put(job->type, own.at, own.count, r, 0);
    } else {
        rank->args.in = one(rank->in, job->type, count);
        put(job->type, rank->in.at, count, r, 0);
    }
    rank->want_in = copy_of(rank->in);
    rank->want_out = copy_of(rank->out);
    for (int i = 0; gets && i < job->size; i++) {
        struct weft_elements e = weft_block(&rank->args.out, i);
        put(job->type, rank->want_out.at + ((unsigned char *)e.at - rank->out.at), e.count, i, 0);
    }
}

static void stage_scatter(struct job *job, int r, bool gives)
{
    struct rank *rank = &job->ranks[r];
    size_t count = block_count(job, 0, r);
    rank->in = memory_of(0);
    if (gives)
        rank->args.in = (free(rank->in.at), blocks_for(job, r, 0, &rank->in));
    for (int i = 0; gives && i < job->size; i++)
        fill(job, rank->in, &rank->args.in, i, rank->in.at, 0, i);
    rank->out = memory_of(count * extent_of(job->type));
    rank->args.out = job->in_place && gives ? as_blocks(weft_block(&rank->args.in, r))
                                            : one(rank->out, job->type, count);
    rank->want_in = copy_of(rank->in);
    rank->want_out = copy_of(rank->out);
    if (!(job->in_place && gives))
        put(job->type, rank->want_out.at, count, 0, r);
}

static void stage_alltoall(struct job *job, int r)
{
    struct rank *rank = &job->ranks[r];
    rank->args.out = blocks_for(job, r, 1, &rank->out);
    rank->args.in_place = job->in_place;
    if (job->in_place) {
        rank->in = memory_of(0);
    } else {
        rank->args.in = blocks_for(job, r, 0, &rank->in);
        for (int i = 0; i < job->size; i++)
            fill(job, rank->in, &rank->args.in, i, rank->in.at, r, i);
    }
    rank->want_in = copy_of(rank->in);
    rank->want_out = copy_of(rank->out);
    for (int i = 0; i < job->size; i++) {
        fill(job, rank->out, &rank->args.out, i, rank->want_out.at, i, r);
        if (job->in_place) { /* both directions have the same count and type: see play */
            struct weft_elements e = weft_block(&rank->args.out, i);
            put(type_of(job, i, r), e.at, e.count, r, i);
        }
    }
}

/* The elements [first, first + count) of the reduction of ranks [0, end). */
static void want_reduced(const struct job *job, struct memory m, int end, size_t first,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t word = reduced(job, 0, end, first + i);
        memcpy(m.at + i * sizeof word, &word, sizeof word);
    }
}

static void stage_reduction(struct job *job, int r)
{
    struct rank *rank = &job->ranks[r];
    bool scan = job->kind == WEFT_COLL_SCAN, exscan = job->kind == WEFT_COLL_EXSCAN;
    bool gets = job->kind != WEFT_COLL_REDUCE || r == job->root;
    bool in_place = job->in_place && gets;
    size_t bytes = job->count * sizeof(uint32_t);
    rank->in = memory_of(in_place ? 0 : bytes);
    rank->out = memory_of(gets ? bytes : 0);
    rank->args.out = one(rank->out, job->type, job->count);
    rank->args.in = in_place ? rank->args.out : one(rank->in, job->type, job->count);
    put(job->type, rank->args.in.at, job->count, r, 0);
    rank->want_in = copy_of(rank->in);
    rank->want_out = copy_of(rank->out);
    if (gets && !(exscan && r == 0))
        want_reduced(job, rank->want_out, scan ? r + 1 : exscan ? r : job->size, 0, job->count);
}

static void stage_reduce_scatter(struct job *job, int r)
{
    struct rank *rank = &job->ranks[r];
    bool block = job->kind == WEFT_COLL_REDUCE_SCATTER_BLOCK;
    size_t all = 0, mine = 0, before = 0;
    for (int i = 0; i < job->size; i++) {
        size_t count = block ? job->count : count_of(job, 0, i);
        rank->counts[1][i] = (int64_t)count;
        before = i == r ? all : before;
        mine = i == r ? count : mine;
        all += count;
    }
    rank->in = memory_of(job->in_place ? 0 : all * sizeof(uint32_t));
    rank->out = memory_of((job->in_place ? all : mine) * sizeof(uint32_t));
    rank->args.out = one(rank->out, job->type, job->count);
    rank->arrays[1] = (struct weft_arrays){.counts = {rank->counts[1], true}};
    rank->args.out.arrays = block ? NULL : &rank->arrays[1];
    rank->args.in = one(job->in_place ? rank->out : rank->in, job->type, all);
    put(job->type, rank->args.in.at, all, r, 0);
    rank->want_in = copy_of(rank->in);
    rank->want_out = copy_of(rank->out);
    want_reduced(job, rank->want_out, job->size, before, mine);
}

static void stage_bcast(struct job *job, int r)
{
    struct rank *rank = &job->ranks[r];
    rank->in = memory_of(job->count * extent_of(job->type));
    rank->out = memory_of(0);
    rank->args.in = rank->args.out = one(rank->in, job->type, job->count);
    rank->want_in = copy_of(rank->in);
    rank->want_out = copy_of(rank->out);
    put(job->type, rank->want_in.at, job->count, job->root, 0);
    if (r == job->root)
        put(job->type, rank->in.at, job->count, job->root, 0);
}

static void stage(struct job *job, int r)
{
    struct rank *rank = &job->ranks[r];
    rank->comm = (struct weft_comm){.rank = r, .size = job->size, .vci = &weft.vcis[0]};
    rank->comm.coll.comm = &rank->comm;
    rank->comm.group = rank->comm.remote = rank->group = weft_group_run(job->size, 0, 1);
    assert_non_null(rank->group);
    rank->group->nodes = weft_nodes_arrange(job->node, job->size, r);
    rank->args = (struct weft_coll_args){
        .kind = job->kind, .comm = &rank->comm, .op = job->op, .root = job->root};
    rank->args.in.type = rank->args.out.type = resolve(MPI_BYTE);
    switch (job->kind) {
    case WEFT_COLL_BARRIER:
        rank->in = memory_of(0);
        rank->out = memory_of(0);
        rank->want_in = memory_of(0);
        rank->want_out = memory_of(0);
        break;
    case WEFT_COLL_BCAST:
        stage_bcast(job, r);
        break;
    case WEFT_COLL_GATHER:
    case WEFT_COLL_GATHERV:
        stage_gather(job, r, r == job->root);
        break;
    case WEFT_COLL_ALLGATHER:
    case WEFT_COLL_ALLGATHERV:
        stage_gather(job, r, true);
        break;
    case WEFT_COLL_SCATTER:
    case WEFT_COLL_SCATTERV:
        stage_scatter(job, r, r == job->root);
        break;
    case WEFT_COLL_ALLTOALL:
    case WEFT_COLL_ALLTOALLV:
    case WEFT_COLL_ALLTOALLW:
        stage_alltoall(job, r);
        break;
    case WEFT_COLL_REDUCE_SCATTER:
    case WEFT_COLL_REDUCE_SCATTER_BLOCK:
        stage_reduce_scatter(job, r);
        break;
    default:
        stage_reduction(job, r);
    }
}

static void compare(const struct job *job, int r, struct memory got, struct memory want,
                    const char *which)
{
    for (size_t i = 0; i < got.bytes; i++)
        if (got.at[i] != want.at[i])
            fail_msg("%s (%s) of %d ranks, root %d, count %zu, type %p, %s%s: byte %zu of %zu of "
                     "the %s buffer of rank %d is wrong",
                     weft_coll_name(job->kind), weft_algorithm_name(job->algorithm), job->size,
                     job->root, job->count, (void *)job->type,
                     job->op == &user_op ? "user's operation" : "sum",
                     job->in_place ? ", in place" : "", i, got.bytes, which, r);
}

static bool reduces(enum weft_coll_kind kind)
{
    return kind == WEFT_COLL_REDUCE || kind == WEFT_COLL_ALLREDUCE || kind == WEFT_COLL_SCAN ||
           kind == WEFT_COLL_EXSCAN || kind == WEFT_COLL_REDUCE_SCATTER ||
           kind == WEFT_COLL_REDUCE_SCATTER_BLOCK;
}

/* All on one node, or nodes of neighbours, or ranks dealt out to nodes, or by chance. Long data: on
 * two nodes, of equal size if they can be. */
static void choose_nodes(struct job *job)
{
    unsigned way = pick(4), nodes = 1 + pick(5), each = 1 + pick(5);
    if (job->count >= LONG) {
        way = 1 + pick(2);
        nodes = 2;
        each = (unsigned)(job->size + 1) / 2;
    }
    for (int r = 0; r < job->size; r++)
        job->node[r] = (int32_t)(way == 0   ? 0
                                 : way == 1 ? (unsigned)r / each
                                 : way == 2 ? (unsigned)r % nodes
                                            : pick(nodes));
}

static void play(enum weft_coll_kind kind, int size, enum weft_algorithm algorithm, size_t count)
{
    struct job job = {.kind = kind,
                      .size = size,
                      .algorithm = algorithm,
                      .root = (int)pick((unsigned)size),
                      .count = count,
                      .in_place = pick(2),
                      .type = pick(2) ? MPI_DOUBLE_INT : MPI_UINT32_T};
    if (reduces(kind)) {
        job.type = MPI_UINT32_T;
        job.op = pick(2) ? &user_op : weft_handle_object(MPI_SUM);
    }
    /* What is exchanged in place is alike in both directions; count_of and type_of are not. */
    if (kind == WEFT_COLL_ALLTOALLV || kind == WEFT_COLL_ALLTOALLW)
        job.in_place = false;
    choose_nodes(&job);
    job.ranks = calloc((size_t)size, sizeof *job.ranks);
    assert_non_null(job.ranks);
    for (int r = 0; r < size; r++)
        stage(&job, r);
    simulate(&job);
    for (int r = 0; r < size; r++) {
        struct rank *rank = &job.ranks[r];
        compare(&job, r, rank->in, rank->want_in, "send");
        compare(&job, r, rank->out, rank->want_out, "receive");
        free(rank->in.at);
        free(rank->out.at);
        free(rank->want_in.at);
        free(rank->want_out.at);
        weft_group_release(rank->group);
    }
    free(job.ranks);
}

/* ---- Tests */

static void play_all(enum weft_coll_kind kind, enum weft_algorithm algorithm)
{
    static const int more[] = {24, 31, 32, 33};
    for (int size = 1; size <= 17; size++)
        for (size_t count = 0; count < 9; count++)
            play(kind, size, algorithm, count);
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        play(kind, more[i], algorithm, 1 + pick(70));
    for (int size = 2; size <= 9; size++)
        play(kind, size, algorithm, 3000 + pick(9000));
    for (int size = 2; size <= 33 && kind == WEFT_COLL_BCAST; size += 1 + (int)pick(3))
        play(kind, size, algorithm, 33000 + pick(60000)); /* several segments */
    bool tree = kind == WEFT_COLL_REDUCE || kind == WEFT_COLL_ALLREDUCE;
    for (int i = 0; tree && algorithm == WEFT_ALGORITHM_NODES && i < 16; i++)
        play(kind, 3 + i % 6, algorithm, LONG + pick(9000));
}

static int *setting_of(const struct weft_coll_family *family)
{
    return family->setting ? (int *)((char *)&weft_settings + family->setting) : NULL;
}

static void every_algorithm(enum weft_coll_kind kind)
{
    const struct weft_coll_family *family = weft_coll_family_of(kind);
    int *setting = setting_of(family);
    play_all(kind, WEFT_ALGORITHM_AUTO);
    for (int i = 0; setting && i < WEFT_COLL_OPTIONS; i++) {
        if (family->options[i].algorithm == WEFT_ALGORITHM_AUTO)
            break;
        *setting = i + 1;
        play_all(kind, family->options[i].algorithm);
        *setting = 0;
    }
}

static void test_moving(void **unused)
{
    (void)unused;
    for (int kind = WEFT_COLL_BARRIER; kind <= WEFT_COLL_ALLTOALLW; kind++)
        if (!reduces((enum weft_coll_kind)kind))
            every_algorithm((enum weft_coll_kind)kind);
}

static void test_reducing(void **unused)
{
    (void)unused;
    for (int kind = WEFT_COLL_BARRIER; kind <= WEFT_COLL_EXSCAN; kind++)
        if (reduces((enum weft_coll_kind)kind))
            every_algorithm((enum weft_coll_kind)kind);
}

/* The settings' choices are the families' options, by name and in order. */
static void test_settings(void **unused)
{
    (void)unused;
    int families = 0;
    for (const struct weft_coll_family *f = weft_coll_families; f->name; f++) {
        char choices[128] = "auto", name[32];
        if (!f->setting)
            continue;
        families++;
        snprintf(name, sizeof name, "WEFT_coll_%s", f->name);
        for (int i = 0; i < WEFT_COLL_OPTIONS && f->options[i].algorithm; i++)
            snprintf(choices + strlen(choices), sizeof choices - strlen(choices), "|%s",
                     weft_algorithm_name(f->options[i].algorithm));
        const struct weft_setting *row = weft_settings_table;
        while (row < weft_settings_table + weft_settings_count && strcasecmp(row->name, name) != 0)
            row++;
        assert_true(row < weft_settings_table + weft_settings_count);
        assert_int_equal(row->offset, f->setting);
        assert_string_equal(row->choices, choices);
    }
    assert_int_equal(families, 10);
}

/* A setting that cannot be followed leaves the choice to the table. */
static void test_needs(void **unused)
{
    (void)unused;
    struct weft_choice odd = {WEFT_COLL_ALLGATHER, 11, 8, WEFT_NEED_EQUAL_BLOCKS, false};
    struct weft_choice even = {WEFT_COLL_ALLGATHER, 8, 8, WEFT_NEED_EQUAL_BLOCKS, false};
    weft_settings.coll_allgather = 3;
    assert_int_equal(weft_coll_choose(&odd), WEFT_ALGORITHM_BRUCK);
    assert_int_equal(weft_coll_choose(&even), WEFT_ALGORITHM_DOUBLING);
    weft_settings.coll_allgather = 1;
    assert_int_equal(weft_coll_choose(&even), WEFT_ALGORITHM_RING);
    weft_settings.coll_allgather = 0;
    struct weft_choice pairwise = {WEFT_COLL_REDUCE_SCATTER, 4, 8, 0, false};
    weft_settings.coll_reduce_scatter = 2;
    assert_int_equal(weft_coll_choose(&pairwise), WEFT_ALGORITHM_HALVING);
    pairwise.gives = WEFT_NEED_COMMUTATIVE;
    assert_int_equal(weft_coll_choose(&pairwise), WEFT_ALGORITHM_PAIRWISE);
    weft_settings.coll_reduce_scatter = 0;
    struct weft_choice barrier = {WEFT_COLL_BARRIER, 4, 0, 0, false};
    assert_int_equal(weft_coll_choose(&barrier), WEFT_ALGORITHM_DOUBLING);
    weft_settings.coll_barrier = 4; /* a crowd is what rules ask for, not what it needs */
    assert_int_equal(weft_coll_choose(&barrier), WEFT_ALGORITHM_QUADNOMIAL);
    weft_settings.coll_barrier = 0;
    barrier.gives |= WEFT_NEED_OVERSUBSCRIBED;
    assert_int_equal(weft_coll_choose(&barrier), WEFT_ALGORITHM_QUADNOMIAL);
    barrier.size = 2;
    assert_int_equal(weft_coll_choose(&barrier), WEFT_ALGORITHM_DOUBLING);
}

/* Nodes of one rank each are none; ranks of a node that are not neighbours keep reductions from
 * going node by node unless the operation commutes. */
static void test_nodes(void **unused)
{
    (void)unused;
    const int32_t dealt[] = {3, 1, 3, 1, 7}, apart[] = {4, 3, 2, 1, 0}, rows[] = {9, 9, 2, 2, 2};
    assert_null(weft_nodes_arrange(apart, 5, 2));
    struct weft_nodes *nodes = weft_nodes_arrange(dealt, 5, 3);
    const int order[] = {0, 2, 1, 3, 4}, begin[] = {0, 2, 4, 5};
    assert_int_equal(nodes->count, 3);
    assert_int_equal(nodes->mine, 1);
    assert_false(nodes->in_order);
    assert_memory_equal(nodes->order, order, sizeof order);
    assert_memory_equal(nodes->begin, begin, sizeof begin);
    assert_int_equal(weft_nodes_index(nodes, 3), 1);
    weft_nodes_forget(nodes);
    nodes = weft_nodes_arrange(rows, 5, 0);
    assert_true(nodes->in_order);
    weft_nodes_forget(nodes);
    struct weft_choice reduce = {WEFT_COLL_ALLREDUCE, 5, 8, 0, false};
    assert_int_equal(weft_coll_choose(&reduce), WEFT_ALGORITHM_DOUBLING);
    reduce.gives = WEFT_NEED_NODES;
    assert_int_equal(weft_coll_choose(&reduce), WEFT_ALGORITHM_NODES);
}

/* Rules that can never fit, and options that no name tells apart, are mistakes of the table. */
static void test_table(void **unused)
{
    (void)unused;
    for (const struct weft_coll_family *f = weft_coll_families; f->name; f++) {
        bool always = false;
        assert_int_equal(f->options[0].needs, 0);
        for (int i = 0; i < WEFT_COLL_RULES && f->rules[i].algorithm; i++) {
            bool listed = false;
            assert_false(always);
            for (int o = 0; o < WEFT_COLL_OPTIONS; o++)
                if (f->options[o].algorithm == f->rules[i].algorithm) {
                    listed = true;
                    always = f->rules[i].below == SIZE_MAX && !f->rules[i].ranks &&
                             !f->rules[i].needs && !f->options[o].needs;
                }
            assert_true(listed);
        }
        assert_true(always);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moving),   cmocka_unit_test(test_reducing),
        cmocka_unit_test(test_settings), cmocka_unit_test(test_needs),
        cmocka_unit_test(test_nodes),    cmocka_unit_test(test_table)};
    const char *seed = getenv("WEFT_TEST_SEED");
    state = seed ? strtoull(seed, NULL, 10) : 1;
    weft_datatype_init();
    weft_op_init();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    weft_schedule_finalize();
    return failed;
}
