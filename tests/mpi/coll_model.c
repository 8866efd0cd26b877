// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,9 lanes=rxm seconds=60
// run: ranks=5 lanes=rxm-soft,rxm-small,net-soft,shm,shm-coll,mixed seconds=60
// run: ranks=8 lanes=coll-1,coll-2,coll-3,coll-4 seconds=60
// run: ranks=6 lanes=nodes seconds=60
// run: ranks=7 lanes=nodes-3 seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * Every collective against a serial model, blocking, nonblocking and persistent, on communicators
 * of all sizes up to the world's: several under way at once on the same and on different
 * communicators, completed in an order that differs between ranks, between messages of the user's
 * own that wildcards receive. Types and operations are freed while collectives use them, and
 * persistent requests are started again with other data. All ranks draw the same random numbers for
 * what they agree on.
 *
 * Whole buffers are compared, with guard bytes around and in the holes.
 */
#include "check.h"

#include <stddef.h>

enum kind {
    BARRIER,
    BCAST,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    REDUCE,
    ALLREDUCE,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    SCAN,
    EXSCAN,
    KINDS
};
enum mode { BLOCKING, NONBLOCKING, PERSISTENT, MODES };
enum { ROUNDS = 60, AT_ONCE = 6, COMMS = 7, STARTS = 3, MOST = 16, EXTENT = 16 };

struct side {
    struct check_buffer buffer, want;
    int counts[MOST], displs[MOST]; /* displacements in extents, of alltoallw in bytes */
    MPI_Count counts_c[MOST];
    MPI_Aint displs_c[MOST];
    MPI_Datatype types[MOST];
};

struct call {
    enum kind kind;
    enum mode mode;
    MPI_Comm comm;
    int rank, size, root, count;
    int shape, data; /* what counts of v-forms, and data, follow from */
    bool in_place, users_op, large, derived;
    MPI_Datatype type;
    MPI_Op op;
    struct side in, out;
    MPI_Request request;
};

static MPI_Datatype
    holes; /* two ints of which the second lies 8 bytes after the first, extent 16 */

/* ---- The model: element i of what `from` gives to `to` */

static uint32_t value_of(const struct call *c, int from, int to, int i)
{
    return (uint32_t)check_seed_of(from * 64 + to, c->data, i);
}

static void put_one(const struct call *c, unsigned char *at, uint32_t value)
{
    memcpy(at, &value, sizeof value);
    if (!c->derived)
        return;
    value = ~value;
    memcpy(at + 8, &value, sizeof value);
}

static size_t extent(const struct call *c)
{
    return c->derived ? EXTENT : sizeof(uint32_t);
}

static void put(const struct call *c, unsigned char *at, int count, int from, int to)
{
    for (int i = 0; i < count; i++)
        put_one(c, at + (size_t)i * extent(c), value_of(c, from, to, i));
}

/* Affine maps modulo 65521, packed: composing them does not commute. */
static uint32_t compose(uint32_t left, uint32_t right)
{
    uint64_t a = left >> 16, b = left & 0xffff, e = right >> 16, f = right & 0xffff;
    return (uint32_t)((a * e % 65521) << 16 | (a * f + b) % 65521);
}

/* Of one word an element, or of both of the type with holes. */
static void compose_all(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const uint32_t *left = in;
    uint32_t *right = inout;
    MPI_Aint lower, bytes;
    MPI_Type_get_extent(*type, &lower, &bytes);
    size_t words = (size_t)bytes / sizeof *left;
    for (size_t i = 0; i < (size_t)*count * words; i += words) {
        right[i] = compose(left[i], right[i]);
        if (words > 1)
            right[i + 2] = compose(left[i + 2], right[i + 2]);
    }
}

/* The first word of an element, or the second, which every rank gives inverted. */
static uint32_t reduced(const struct call *c, int end, int i, uint32_t invert)
{
    uint32_t sum = value_of(c, 0, 0, i) ^ invert;
    for (int r = 1; r < end; r++) {
        uint32_t next = value_of(c, r, 0, i) ^ invert;
        sum = c->users_op ? compose(sum, next) : sum + next;
    }
    return sum;
}

static void put_reduced(const struct call *c, unsigned char *at, int end, int first, int count)
{
    for (int i = 0; i < count; i++, at += extent(c)) {
        uint32_t word = reduced(c, end, first + i, 0), second = reduced(c, end, first + i, ~0u);
        memcpy(at, &word, sizeof word);
        if (c->derived)
            memcpy(at + 8, &second, sizeof second);
    }
}

/* What the v-forms exchange. */
static int count_of(const struct call *c, int from, int to)
{
    bool vector = c->kind == GATHERV || c->kind == SCATTERV || c->kind == ALLGATHERV ||
                  c->kind == ALLTOALLV || c->kind == ALLTOALLW || c->kind == REDUCE_SCATTER;
    if (!vector)
        return c->count;
    if (c->kind == GATHERV || c->kind == ALLGATHERV)
        to = 0;
    if (c->kind == SCATTERV || c->kind == REDUCE_SCATTER)
        from = 0;
    if (c->in_place && (c->kind == ALLTOALLV || c->kind == ALLTOALLW) && from > to) {
        int swap = from; /* in place, both directions are alike */
        from = to;
        to = swap;
    }
    uint64_t random = check_seed_of(from, to, c->shape);
    return random % 3 ? (int)(random / 3 % (uint64_t)(c->count + 1)) : 0;
}

/* ---- Buffers */

static void side_new(struct side *side, size_t bytes)
{
    side->buffer = check_buffer_new(bytes, 0);
    side->want = check_buffer_new(bytes, 0);
}

/* Blocks with gaps between them: what is given to each rank, or got from it. */
static void lay_out(const struct call *c, struct side *side, bool gets)
{
    size_t at = 0, unit = c->kind == ALLTOALLW ? 1 : extent(c);
    for (int i = 0; i < c->size; i++) {
        int count = gets ? count_of(c, i, c->rank) : count_of(c, c->rank, i);
        if (c->kind == SCATTERV || c->kind == GATHERV || c->kind == ALLGATHERV)
            count = gets ? count_of(c, i, 0) : count_of(c, 0, i);
        at += c->large ? EXTENT : 0;
        side->counts[i] = count;
        side->displs[i] = (int)(at / unit);
        side->counts_c[i] = side->counts[i];
        side->displs_c[i] = side->displs[i];
        side->types[i] = c->type;
        at += (size_t)count * extent(c);
    }
    side_new(side, at);
}

static void lay_out_equal(const struct call *c, struct side *side)
{
    for (int i = 0; i < c->size; i++) {
        side->counts[i] = c->count;
        side->displs[i] = i * c->count;
    }
    side_new(side, (size_t)c->size * (size_t)c->count * extent(c));
}

static unsigned char *block(const struct call *c, const struct side *side, unsigned char *base,
                            int i)
{
    size_t unit = c->kind == ALLTOALLW ? 1 : extent(c);
    return base + (size_t)side->displs[i] * unit;
}

static bool is_vector(enum kind kind)
{
    return kind == GATHERV || kind == SCATTERV || kind == ALLGATHERV || kind == ALLTOALLV ||
           kind == ALLTOALLW;
}

static void lay_out_blocks(const struct call *c, struct side *side, bool gets)
{
    if (is_vector(c->kind))
        lay_out(c, side, gets);
    else
        lay_out_equal(c, side);
}

static bool gets_result(const struct call *c)
{
    return c->rank == c->root || (c->kind != REDUCE && c->kind != GATHER && c->kind != GATHERV &&
                                  c->kind != SCATTER && c->kind != SCATTERV);
}

/* Whether this rank passes MPI_IN_PLACE. */
static bool passes_in_place(const struct call *c)
{
    return c->in_place && c->kind != BARRIER && c->kind != BCAST && gets_result(c);
}

static void allocate(struct call *c)
{
    size_t vector = (size_t)c->count * extent(c), all = 0;
    bool place = passes_in_place(c), gets = gets_result(c);
    switch (c->kind) {
    case GATHER:
    case GATHERV:
    case ALLGATHER:
    case ALLGATHERV:
        side_new(&c->in, place ? 0 : (size_t)count_of(c, c->rank, 0) * extent(c));
        if (gets)
            lay_out_blocks(c, &c->out, true);
        else
            side_new(&c->out, 0);
        break;
    case SCATTER:
    case SCATTERV:
        if (gets) /* the root, in this case */
            lay_out_blocks(c, &c->in, false);
        else
            side_new(&c->in, 0);
        side_new(&c->out, place ? 0 : (size_t)count_of(c, 0, c->rank) * extent(c));
        break;
    case ALLTOALL:
    case ALLTOALLV:
    case ALLTOALLW:
        if (place)
            side_new(&c->in, 0);
        else
            lay_out_blocks(c, &c->in, false);
        lay_out_blocks(c, &c->out, true);
        break;
    case REDUCE_SCATTER:
    case REDUCE_SCATTER_BLOCK:
        for (int i = 0; i < c->size; i++) {
            c->out.counts[i] = count_of(c, 0, i);
            c->out.counts_c[i] = c->out.counts[i];
            all += (size_t)c->out.counts[i] * extent(c);
        }
        side_new(&c->in, place ? 0 : all);
        side_new(&c->out, place ? all : (size_t)c->out.counts[c->rank] * extent(c));
        break;
    default:
        side_new(&c->in, c->kind == BARRIER || place ? 0 : vector);
        side_new(&c->out, gets && c->kind != BARRIER && c->kind != BCAST ? vector : 0);
    }
}

/* ---- Input and expected result of one start */

static void set_gather(struct call *c)
{
    int own = count_of(c, c->rank, 0);
    if (passes_in_place(c))
        put(c, block(c, &c->out, c->out.buffer.data, c->rank), own, c->rank, 0);
    else
        put(c, c->in.buffer.data, own, c->rank, 0);
    for (int i = 0; gets_result(c) && i < c->size; i++)
        put(c, block(c, &c->out, c->out.want.data, i), count_of(c, i, 0), i, 0);
}

static void set_scatter(struct call *c)
{
    for (int i = 0; c->rank == c->root && i < c->size; i++) {
        put(c, block(c, &c->in, c->in.buffer.data, i), count_of(c, 0, i), 0, i);
        put(c, block(c, &c->in, c->in.want.data, i), count_of(c, 0, i), 0, i);
    }
    if (!passes_in_place(c))
        put(c, c->out.want.data, count_of(c, 0, c->rank), 0, c->rank);
}

static void set_alltoall(struct call *c)
{
    struct side *gives = passes_in_place(c) ? &c->out : &c->in;
    for (int i = 0; i < c->size; i++) {
        put(c, block(c, gives, gives->buffer.data, i), count_of(c, c->rank, i), c->rank, i);
        put(c, block(c, &c->out, c->out.want.data, i), count_of(c, i, c->rank), i, c->rank);
    }
}

static void set_reduction(struct call *c)
{
    bool parts = c->kind == REDUCE_SCATTER || c->kind == REDUCE_SCATTER_BLOCK;
    int all = 0, before = 0;
    for (int i = 0; parts && i < c->size; i++) {
        before = i == c->rank ? all : before;
        all += c->out.counts[i];
    }
    unsigned char *in = passes_in_place(c) ? c->out.buffer.data : c->in.buffer.data;
    put(c, in, parts ? all : c->count, c->rank, 0);
    if (passes_in_place(c)) /* what no result is put over stays */
        put(c, c->out.want.data, parts ? all : c->count, c->rank, 0);
    if (!gets_result(c) || (c->kind == EXSCAN && c->rank == 0))
        return;
    int end = c->kind == SCAN ? c->rank + 1 : c->kind == EXSCAN ? c->rank : c->size;
    put_reduced(c, c->out.want.data, end, before, parts ? c->out.counts[c->rank] : c->count);
}

static void set_data(struct call *c)
{
    check_buffer_reset(&c->in.buffer);
    check_buffer_reset(&c->in.want);
    check_buffer_reset(&c->out.buffer);
    check_buffer_reset(&c->out.want);
    switch (c->kind) {
    case BARRIER:
        break;
    case BCAST:
        put(c, c->in.want.data, c->count, c->root, 0);
        if (c->rank == c->root)
            put(c, c->in.buffer.data, c->count, c->root, 0);
        break;
    case GATHER:
    case GATHERV:
    case ALLGATHER:
    case ALLGATHERV:
        set_gather(c);
        break;
    case SCATTER:
    case SCATTERV:
        set_scatter(c);
        break;
    case ALLTOALL:
    case ALLTOALLV:
    case ALLTOALLW:
        set_alltoall(c);
        break;
    default:
        set_reduction(c);
    }
    if (c->kind != BCAST) /* what is sent stays as it is */
        memcpy(c->in.want.base, c->in.buffer.base, c->in.buffer.total);
}

/* ---- The call */

#define CALL(blocking, nonblocking, persistent, ...)                                               \
    (c->mode == BLOCKING      ? blocking(__VA_ARGS__, c->comm)                                     \
     : c->mode == NONBLOCKING ? nonblocking(__VA_ARGS__, c->comm, &c->request)                     \
                              : persistent(__VA_ARGS__, c->comm, MPI_INFO_NULL, &c->request))

static int make_rooted(struct call *c, const void *send, void *recv)
{
    int mine = count_of(c, c->rank, 0), gets = count_of(c, 0, c->rank), n = c->count;
    switch (c->kind) {
    case BCAST:
        return CALL(MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, c->in.buffer.data, n, c->type, c->root);
    case GATHER:
        return CALL(MPI_Gather, MPI_Igather, MPI_Gather_init, send, n, c->type, recv, n, c->type,
                    c->root);
    case GATHERV:
        return c->large ? CALL(MPI_Gatherv_c, MPI_Igatherv_c, MPI_Gatherv_init_c, send, mine,
                               c->type, recv, c->out.counts_c, c->out.displs_c, c->type, c->root)
                        : CALL(MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init, send, mine, c->type,
                               recv, c->out.counts, c->out.displs, c->type, c->root);
    case SCATTER:
        return CALL(MPI_Scatter, MPI_Iscatter, MPI_Scatter_init, send, n, c->type, recv, n, c->type,
                    c->root);
    case SCATTERV:
        return c->large
                   ? CALL(MPI_Scatterv_c, MPI_Iscatterv_c, MPI_Scatterv_init_c, send,
                          c->in.counts_c, c->in.displs_c, c->type, recv, gets, c->type, c->root)
                   : CALL(MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init, send, c->in.counts,
                          c->in.displs, c->type, recv, gets, c->type, c->root);
    default:
        return CALL(MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, send, recv, n, c->type, c->op,
                    c->root);
    }
}

static int make_moving(struct call *c, const void *send, void *recv)
{
    int mine = count_of(c, c->rank, 0), n = c->count;
    switch (c->kind) {
    case ALLGATHER:
        return CALL(MPI_Allgather, MPI_Iallgather, MPI_Allgather_init, send, n, c->type, recv, n,
                    c->type);
    case ALLGATHERV:
        return c->large ? CALL(MPI_Allgatherv_c, MPI_Iallgatherv_c, MPI_Allgatherv_init_c, send,
                               mine, c->type, recv, c->out.counts_c, c->out.displs_c, c->type)
                        : CALL(MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init, send, mine,
                               c->type, recv, c->out.counts, c->out.displs, c->type);
    case ALLTOALL:
        return CALL(MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init, send, n, c->type, recv, n,
                    c->type);
    case ALLTOALLV:
        return c->large
                   ? CALL(MPI_Alltoallv_c, MPI_Ialltoallv_c, MPI_Alltoallv_init_c, send,
                          c->in.counts_c, c->in.displs_c, c->type, recv, c->out.counts_c,
                          c->out.displs_c, c->type)
                   : CALL(MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init, send, c->in.counts,
                          c->in.displs, c->type, recv, c->out.counts, c->out.displs, c->type);
    default:
        return c->large ? CALL(MPI_Alltoallw_c, MPI_Ialltoallw_c, MPI_Alltoallw_init_c, send,
                               c->in.counts_c, c->in.displs_c, c->in.types, recv, c->out.counts_c,
                               c->out.displs_c, c->out.types)
                        : CALL(MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init, send,
                               c->in.counts, c->in.displs, c->in.types, recv, c->out.counts,
                               c->out.displs, c->out.types);
    }
}

static int make_reducing(struct call *c, const void *send, void *recv)
{
    int n = c->count;
    switch (c->kind) {
    case ALLREDUCE:
        return CALL(MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, send, recv, n, c->type,
                    c->op);
    case REDUCE_SCATTER:
        return c->large
                   ? CALL(MPI_Reduce_scatter_c, MPI_Ireduce_scatter_c, MPI_Reduce_scatter_init_c,
                          send, recv, c->out.counts_c, c->type, c->op)
                   : CALL(MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init, send,
                          recv, c->out.counts, c->type, c->op);
    case REDUCE_SCATTER_BLOCK:
        return CALL(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block,
                    MPI_Reduce_scatter_block_init, send, recv, n, c->type, c->op);
    case SCAN:
        return CALL(MPI_Scan, MPI_Iscan, MPI_Scan_init, send, recv, n, c->type, c->op);
    default:
        return CALL(MPI_Exscan, MPI_Iexscan, MPI_Exscan_init, send, recv, n, c->type, c->op);
    }
}

static void make(struct call *c)
{
    bool scatters = c->kind == SCATTER || c->kind == SCATTERV, place = passes_in_place(c);
    const void *send = place && !scatters ? MPI_IN_PLACE : c->in.buffer.data;
    void *recv = place && scatters ? MPI_IN_PLACE : c->out.buffer.data;
    int code;
    if (c->kind == BARRIER)
        code = c->mode == BLOCKING      ? MPI_Barrier(c->comm)
               : c->mode == NONBLOCKING ? MPI_Ibarrier(c->comm, &c->request)
                                        : MPI_Barrier_init(c->comm, MPI_INFO_NULL, &c->request);
    else if (c->kind == REDUCE || c->kind == BCAST || c->kind == GATHER || c->kind == GATHERV ||
             scatters)
        code = make_rooted(c, send, recv);
    else if (c->kind < REDUCE)
        code = make_moving(c, send, recv);
    else
        code = make_reducing(c, send, recv);
    CHECK(code == MPI_SUCCESS, "the call returned %d", code);
}

/* ---- A round */

static const char *const names[KINDS] = {
    "Barrier",   "Bcast",     "Gather",     "Gatherv",        "Scatter",
    "Scatterv",  "Allgather", "Allgatherv", "Alltoall",       "Alltoallv",
    "Alltoallw", "Reduce",    "Allreduce",  "Reduce_scatter", "Reduce_scatter_block",
    "Scan",      "Exscan"};
static const char *const modes[MODES] = {"", "nonblocking ", "persistent "};

/* Every other one is like the one before, so that their messages could be taken for one another's.
 */
static void draw(struct call *c, uint64_t *seed, const MPI_Comm *comms, const struct call *before)
{
    memset(c, 0, sizeof *c);
    c->kind = (enum kind)check_random(seed, KINDS);
    c->mode = (enum mode)check_random(seed, MODES);
    c->comm = comms[check_random(seed, COMMS)];
    if (check_random(seed, 2) && before) {
        c->kind = before->kind;
        c->comm = before->comm;
        c->mode = NONBLOCKING;
    }
    c->shape = (int)check_random(seed, 1000000);
    c->data = (int)check_random(seed, 1000000);
    c->in_place = check_random(seed, 3) == 0;
    c->users_op = check_random(seed, 2);
    c->large = check_random(seed, 2);
    c->derived = check_random(seed, 2) && (c->kind < REDUCE || c->users_op);
    c->count = (int)(check_random(seed, 1u << check_random(seed, 14)));
    c->request = MPI_REQUEST_NULL;
    unsigned root = check_random(seed, 1 << 20);
    MPI_Comm_rank(c->comm, &c->rank);
    MPI_Comm_size(c->comm, &c->size);
    c->root = (int)(root % (unsigned)c->size);
    if (c->size > 1 && c->count > 4000)
        c->count /= c->size;
}

static void begin(struct call *c)
{
    c->type = MPI_UINT32_T;
    c->op = MPI_SUM;
    if (c->derived)
        MPI_Type_dup(holes, &c->type);
    if (c->users_op)
        MPI_Op_create(compose_all, 0, &c->op);
    allocate(c);
    set_data(c);
    make(c);
    if (c->derived) /* both live as long as the collective */
        MPI_Type_free(&c->type);
    if (c->users_op)
        MPI_Op_free(&c->op);
    if (c->mode == PERSISTENT)
        MPI_Start(&c->request);
}

static void compare(const struct call *c, const struct check_buffer *got,
                    const struct check_buffer *want, const char *which)
{
    for (size_t i = 0; i < got->total; i++)
        if (got->base[i] != want->base[i]) {
            CHECK(false,
                  "%sMPI_%s of %d, %d ranks, root %d%s%s%s: the %s buffer is wrong at byte %zd",
                  modes[c->mode], names[c->kind], c->count, c->size, c->root,
                  c->in_place ? ", in place" : "", c->users_op ? ", user's operation" : "",
                  c->derived ? ", derived type" : "", which,
                  (ssize_t)i - (ssize_t)(got->data - got->base));
            return;
        }
}

static void verify(const struct call *c)
{
    compare(c, &c->in.buffer, &c->in.want, "send");
    compare(c, &c->out.buffer, &c->out.want, "receive");
}

static void end(struct call *c)
{
    check_buffer_free(&c->in.buffer);
    check_buffer_free(&c->in.want);
    check_buffer_free(&c->out.buffer);
    check_buffer_free(&c->out.want);
    if (c->request != MPI_REQUEST_NULL)
        MPI_Request_free(&c->request);
}

/* Completes all requests in an order and by functions of this rank's own. */
static void complete(struct call *calls, int n, uint64_t *own)
{
    MPI_Request requests[AT_ONCE];
    int index, flag = 0;
    MPI_Status status;
    for (int i = 0; i < n; i++)
        requests[i] = calls[i].request;
    switch (check_random(own, 4)) {
    case 0:
        MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
        break;
    case 1:
        while (MPI_Waitany(n, requests, &index, &status) == MPI_SUCCESS && index != MPI_UNDEFINED)
            CHECK(index >= 0 && index < n, "index %d of %d requests", index, n);
        break;
    case 2:
        for (int i = n; i-- > 0;)
            MPI_Wait(&requests[i], &status);
        break;
    default:
        while (!flag)
            MPI_Testall(n, requests, &flag, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < n; i++)
        calls[i].request = requests[i];
}

/* A message to the next rank, received by a wildcard, around the collectives of a round. */
struct noise {
    int out, in;
    MPI_Request requests[2];
};

static void make_noise(struct noise *noise, int round)
{
    noise->out = round * 1000 + check.rank;
    MPI_Irecv(&noise->in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
              &noise->requests[0]);
    MPI_Isend(&noise->out, 1, MPI_INT, (check.rank + 1) % check.size, round, MPI_COMM_WORLD,
              &noise->requests[1]);
}

static void hear_noise(struct noise *noise, int round)
{
    MPI_Waitall(2, noise->requests, MPI_STATUSES_IGNORE);
    CHECK(noise->in == round * 1000 + (check.rank + check.size - 1) % check.size,
          "a wildcard received %d in round %d", noise->in, round);
}

static void play(int round, uint64_t *seed, uint64_t *own, const MPI_Comm *comms)
{
    struct call calls[AT_ONCE];
    struct noise noise;
    int n = 1 + (int)check_random(seed, AT_ONCE);
    make_noise(&noise, round);
    for (int i = 0; i < n; i++) {
        draw(&calls[i], seed, comms, i ? &calls[i - 1] : NULL);
        check_step("round %d: %sMPI_%s of %d on %d ranks", round, modes[calls[i].mode],
                   names[calls[i].kind], calls[i].count, calls[i].size);
        begin(&calls[i]);
    }
    check_step("round %d: completing %d collectives", round, n);
    complete(calls, n, own);
    for (int i = 0; i < n; i++)
        verify(&calls[i]);
    for (int start = 1; start < STARTS; start++) {
        check_step("round %d: starting persistent ones again", round);
        for (int j = 0; j < n; j++) { /* every rank in an order of its own */
            struct call *c = &calls[(check.rank & 1) ? j : n - 1 - j];
            if (c->mode != PERSISTENT)
                continue;
            c->data++;
            set_data(c);
            MPI_Start(&c->request);
        }
        complete(calls, n, own);
        for (int j = 0; j < n; j++)
            if (calls[j].mode == PERSISTENT)
                verify(&calls[j]);
    }
    for (int i = 0; i < n; i++)
        end(&calls[i]);
    hear_noise(&noise, round);
    MPI_Barrier(MPI_COMM_WORLD); /* a round's wildcards take messages of that round only */
}

static void make_type(void)
{
    MPI_Datatype pair;
    MPI_Type_vector(2, 1, 2, MPI_UINT32_T, &pair);
    MPI_Type_create_resized(pair, 0, EXTENT, &holes);
    MPI_Type_commit(&holes);
    MPI_Type_free(&pair);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    uint64_t seed = check_seed(), own = seed + (uint64_t)check.rank * 1000;
    MPI_Comm comms[COMMS];
    make_type();
    comms[0] = comms[1] = MPI_COMM_WORLD;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check.rank, &comms[2]); /* the other way round */
    MPI_Comm_split(MPI_COMM_WORLD, check.rank % 2, 0, &comms[3]);
    MPI_Comm_split(MPI_COMM_WORLD, check.rank < 3, 0, &comms[4]);
    MPI_Comm_split(MPI_COMM_WORLD, check.rank == 0, 0, &comms[5]);
    /* Where every two ranks are a node, those of one are no neighbours here. */
    MPI_Comm_split(MPI_COMM_WORLD, 0, check.rank % 2 * MOST + check.rank, &comms[6]);
    for (int round = 0; round < ROUNDS; round++)
        play(round, &seed, &own, comms);
    for (int i = 2; i < COMMS; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Type_free(&holes);
    return check_done();
}
