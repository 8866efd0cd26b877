// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,3,4,7 lanes=shm-coll,shm-coll-copy seconds=60
// run: ranks=5 lanes=shm,nodes seconds=60
/*
 * Collectives through shared memory of the node, against a model: random kinds, roots and lengths
 * on both sides of every limit, in place and not, blocking, nonblocking (alone, and with blocking
 * ones and other nonblocking ones under way) and persistent (started in another order at each rank)
 * on the world, the reversed world, halves of it and pairs that overlap. Each rank draws for itself
 * whether its data have holes. Sums of doubles have the same bits as those of a schedule. The
 * counters of MPI_T show that shared memory is used, and freed with communicators and requests.
 */
#include "check.h"
#include "tool.h"

enum { ROUNDS = 400, LONGEST = 60000, COMMS = 5, GUARD = -77 };

enum kind {
    BARRIER,
    BCAST,
    REDUCE,
    ALLREDUCE,
    GATHER,
    SCATTER,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    KINDS
};

enum form { BLOCKING, NONBLOCKING, BETWEEN, PERSISTENT, FORMS };

struct round {
    enum kind kind;
    enum form form;
    int index, rank, size, root, count;
    bool in_place;
    MPI_Comm comm;
};

/* Elements with or without a hole behind each. */
struct data {
    int *at, stride;
    size_t n;
    MPI_Datatype type;
};

static uint64_t own_seed;
static MPI_Datatype with_hole;

/* Calls a collective of any form. */
#define CALL(r, Name, name, ...)                                                                   \
    do {                                                                                           \
        MPI_Request request_ = MPI_REQUEST_NULL;                                                   \
        before(r);                                                                                 \
        if ((r)->form == BLOCKING)                                                                 \
            MPI_##Name(__VA_ARGS__);                                                               \
        else if ((r)->form == PERSISTENT)                                                          \
            MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &request_);                              \
        else                                                                                       \
            MPI_I##name(__VA_ARGS__, &request_);                                                   \
        after(r, &request_);                                                                       \
    } while (0)

enum { OTHERS = 3 };

/* What is under way around a call. */
static struct {
    MPI_Request requests[OTHERS];
    int sums[OTHERS], values[OTHERS];
} others;

static void start_other(const struct round *r, int i)
{
    others.values[i] = r->rank + r->index + i;
    MPI_Iallreduce(&others.values[i], &others.sums[i], 1, MPI_INT, MPI_SUM, r->comm,
                   &others.requests[i]);
}

static void check_other_sum(const struct round *r, int i, int sum)
{
    int expected = r->size * (r->size - 1) / 2 + r->size * (r->index + i);
    CHECK(sum == expected, "round %d: sum %d beside the call is %d, not %d", r->index, i, sum,
          expected);
}

static void before(const struct round *r)
{
    for (int i = 0; i < OTHERS - 1 && r->form == BETWEEN; i++)
        start_other(r, i);
}

/* Two persistent collectives, started in either order, with a blocking one between. */
static void run_persistent(const struct round *r, MPI_Request *request)
{
    MPI_Request both[2];
    int value = r->rank + r->index, sum = 0, last = OTHERS - 1;
    bool swapped = check_random(&own_seed, 2);
    MPI_Allreduce_init(&value, &sum, 1, MPI_INT, MPI_SUM, r->comm, MPI_INFO_NULL, &both[swapped]);
    both[!swapped] = *request;
    for (int turn = 0; turn < (r->in_place ? 1 : 3); turn++) {
        MPI_Start(&both[0]);
        if (turn == 1)
            MPI_Allreduce(&value, &others.sums[last], 1, MPI_INT, MPI_SUM, r->comm);
        MPI_Start(&both[1]);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        check_other_sum(r, 0, sum);
        sum = 0;
    }
    MPI_Request_free(&both[swapped]);
    MPI_Request_free(&both[!swapped]);
    *request = MPI_REQUEST_NULL;
}

static void after(const struct round *r, MPI_Request *request)
{
    if (r->form == BETWEEN) {
        int value = r->rank + r->index, sum = 0;
        start_other(r, OTHERS - 1);
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, r->comm);
        check_other_sum(r, 0, sum);
        MPI_Waitall(OTHERS, others.requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < OTHERS; i++)
            check_other_sum(r, i, others.sums[i]);
    }
    if (r->form == PERSISTENT)
        run_persistent(r, request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static struct data data_new(size_t n, bool may_have_holes)
{
    bool holes = may_have_holes && check_random(&own_seed, 2);
    struct data d = {NULL, holes ? 2 : 1, n, holes ? with_hole : MPI_INT};
    d.at = check_alloc((n * (size_t)d.stride + 1) * sizeof(int));
    for (size_t i = 0; i <= n * (size_t)d.stride; i++)
        d.at[i] = GUARD;
    return d;
}

static int *element(struct data d, size_t i)
{
    return &d.at[i * (size_t)d.stride];
}

/* Element i that a rank sends to another. */
static int value_of(const struct round *r, int from, int to, size_t i)
{
    return (int)(check_seed_of(from * 64 + to, (int)i, r->index) % 100000);
}

/* n elements at index `at`, that a rank sends to another. */
static void put(const struct round *r, struct data d, size_t at, int from, int to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *element(d, at + i) = value_of(r, from, to, i);
}

static void verify(const struct round *r, struct data d, size_t at, int from, int to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (*element(d, at + i) != value_of(r, from, to, i)) {
            CHECK(false, "round %d: element %zu from rank %d to %d is wrong", r->index, i, from,
                  to);
            return;
        }
}

/* Element i of the sum begins with the elements that all ranks send to `to`. */
static void verify_sum(const struct round *r, struct data d, int to, size_t begin, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int sum = 0;
        for (int from = 0; from < r->size; from++)
            sum += value_of(r, from, to, begin + i);
        if (*element(d, i) != sum) {
            CHECK(false, "round %d: element %zu of the sum is %d, not %d", r->index, i,
                  *element(d, i), sum);
            return;
        }
    }
}

static void verify_guards(const struct round *r, struct data d)
{
    bool intact = d.at[d.n * (size_t)d.stride] == GUARD;
    for (size_t i = 0; i < d.n && d.stride > 1; i++)
        intact = intact && element(d, i)[1] == GUARD;
    CHECK(intact, "round %d: bytes outside of the elements were written", r->index);
    free(d.at);
}

static void play_rooted(const struct round *r)
{
    size_t n = (size_t)r->count, all = n * (size_t)r->size;
    bool is_root = r->rank == r->root, reduces = r->kind == REDUCE, gathers = r->kind != SCATTER;
    bool in_place = r->in_place && is_root;
    struct data one = data_new(n, !reduces), many = data_new(reduces ? n : all, !reduces);
    size_t own = reduces ? 0 : n * (size_t)r->rank;
    if (r->kind == REDUCE) {
        put(r, in_place ? many : one, 0, r->rank, 0, n);
        CALL(r, Reduce, reduce, in_place ? MPI_IN_PLACE : one.at, many.at, r->count, MPI_INT,
             MPI_SUM, r->root, r->comm);
        if (is_root)
            verify_sum(r, many, 0, 0, n);
    } else if (gathers) {
        put(r, in_place ? many : one, in_place ? own : 0, r->rank, 0, n);
        CALL(r, Gather, gather, in_place ? MPI_IN_PLACE : one.at, r->count, one.type, many.at,
             r->count, many.type, r->root, r->comm);
        for (int i = 0; i < r->size && is_root; i++)
            verify(r, many, n * (size_t)i, i, 0, n);
    } else {
        for (int i = 0; i < r->size && is_root; i++)
            put(r, many, n * (size_t)i, r->root, i, n);
        CALL(r, Scatter, scatter, many.at, r->count, many.type, in_place ? MPI_IN_PLACE : one.at,
             r->count, one.type, r->root, r->comm);
        verify(r, in_place ? many : one, in_place ? own : 0, r->root, r->rank, n);
    }
    verify_guards(r, one);
    verify_guards(r, many);
}

static void play_blocks(const struct round *r)
{
    size_t n = (size_t)r->count, all = n * (size_t)r->size;
    struct data in = data_new(r->kind == ALLTOALL ? all : n, true), out = data_new(all, true);
    struct data from = r->in_place ? out : in;
    const void *send = r->in_place ? MPI_IN_PLACE : in.at;
    if (r->kind == ALLGATHER) {
        put(r, from, r->in_place ? n * (size_t)r->rank : 0, r->rank, 0, n);
        CALL(r, Allgather, allgather, send, r->count, in.type, out.at, r->count, out.type, r->comm);
    } else {
        for (int i = 0; i < r->size; i++)
            put(r, from, n * (size_t)i, r->rank, i, n);
        CALL(r, Alltoall, alltoall, send, r->count, in.type, out.at, r->count, out.type, r->comm);
    }
    for (int i = 0; i < r->size; i++)
        verify(r, out, n * (size_t)i, i, r->kind == ALLGATHER ? 0 : r->rank, n);
    verify_guards(r, in);
    verify_guards(r, out);
}

/* Blocks of different lengths, some of them empty, with gaps between them in any order. */
static void play_vector(const struct round *r)
{
    int counts[8], displs[8], end = 0;
    for (int i = r->size - 1; i >= 0; i--) {
        counts[i] = (int)((long)r->count * i * 7919 % (r->count + 1));
        displs[i] = end + i % 2;
        end = displs[i] + counts[i];
    }
    size_t n = (size_t)counts[r->rank], own = (size_t)displs[r->rank];
    struct data in = data_new(n, true), out = data_new((size_t)end, true);
    put(r, r->in_place ? out : in, r->in_place ? own : 0, r->rank, 0, n);
    CALL(r, Allgatherv, allgatherv, r->in_place ? MPI_IN_PLACE : in.at, counts[r->rank], in.type,
         out.at, counts, displs, out.type, r->comm);
    for (int i = 0; i < r->size; i++) {
        verify(r, out, (size_t)displs[i], i, 0, (size_t)counts[i]);
        CHECK(i % 2 == 0 || *element(out, (size_t)displs[i] - 1) == GUARD,
              "round %d: the gap before block %d was written", r->index, i);
    }
    verify_guards(r, in);
    verify_guards(r, out);
}

static void play_sums(const struct round *r)
{
    int counts[8], begin = 0, all = 0;
    bool scatters = r->kind != ALLREDUCE;
    for (int i = 0; i < r->size; i++) {
        counts[i] = r->kind == REDUCE_SCATTER ? r->count * i % 1009 : r->count;
        begin += i < r->rank ? counts[i] : 0;
        all += counts[i];
    }
    size_t n = (size_t)(scatters ? all : r->count);
    struct data in = data_new(n, false), out = data_new(n, false);
    const void *send = r->in_place ? MPI_IN_PLACE : in.at;
    put(r, r->in_place ? out : in, 0, r->rank, 0, n);
    if (r->kind == ALLREDUCE)
        CALL(r, Allreduce, allreduce, send, out.at, r->count, MPI_INT, MPI_SUM, r->comm);
    else if (r->kind == REDUCE_SCATTER)
        CALL(r, Reduce_scatter, reduce_scatter, send, out.at, counts, MPI_INT, MPI_SUM, r->comm);
    else
        CALL(r, Reduce_scatter_block, reduce_scatter_block, send, out.at, r->count, MPI_INT,
             MPI_SUM, r->comm);
    verify_sum(r, out, 0, scatters ? (size_t)begin : 0,
               scatters ? (size_t)counts[r->rank] : (size_t)r->count);
    verify_guards(r, in);
    verify_guards(r, out);
}

static void play_bcast(const struct round *r)
{
    struct data d = data_new((size_t)r->count, true);
    if (r->rank == r->root)
        put(r, d, 0, r->root, 0, d.n);
    CALL(r, Bcast, bcast, d.at, r->count, d.type, r->root, r->comm);
    verify(r, d, 0, r->root, 0, d.n);
    verify_guards(r, d);
}

static void play(const struct round *r)
{
    check_step("round %d: kind %d of %d, form %d, root %d%s", r->index, r->kind, r->count, r->form,
               r->root, r->in_place ? ", in place" : "");
    if (r->kind == BARRIER)
        CALL(r, Barrier, barrier, r->comm);
    else if (r->kind == BCAST)
        play_bcast(r);
    else if (r->kind == REDUCE || r->kind == GATHER || r->kind == SCATTER)
        play_rooted(r);
    else if (r->kind == ALLGATHER || r->kind == ALLTOALL)
        play_blocks(r);
    else if (r->kind == ALLGATHERV)
        play_vector(r);
    else
        play_sums(r);
}

/* The world, the world reversed, its halves, and two kinds of pairs of neighbours. */
static void make_comms(MPI_Comm *comms)
{
    int rank = check.rank, last = check.size - 1;
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[2]);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &comms[3]);
    MPI_Comm_split(MPI_COMM_WORLD, rank == last ? 0 : (rank + 1) / 2, -rank, &comms[4]);
}

static void play_round(int index, uint64_t *seed, const MPI_Comm *comms)
{
    static const unsigned longest[] = {3, 13, 300, 5000, LONGEST};
    struct round r = {.index = index, .kind = (enum kind)check_random(seed, KINDS)};
    r.comm = comms[check_random(seed, COMMS)];
    r.count = (int)check_random(seed, longest[check_random(seed, 5)]);
    r.in_place = check_random(seed, 2);
    r.form = (enum form)check_random(seed, FORMS);
    unsigned root = check_random(seed, 1000);
    MPI_Comm_rank(r.comm, &r.rank);
    MPI_Comm_size(r.comm, &r.size);
    r.root = (int)root % r.size;
    if (r.kind == ALLTOALL && r.in_place && r.count > 5000)
        r.count /= 16;
    play(&r);
}

/* A communicator that has seen no blocking call has no area: its collectives are schedules. */
static void compare_bits(int count, MPI_Comm other_comm)
{
    double *in = check_alloc(3 * (size_t)count * sizeof(double)), *out = in + count,
           *other = out + count;
    size_t bytes = (size_t)count * sizeof(double);
    MPI_Request request;
    int n = count / check.size, root = check.size - 1;
    check_step("the bits of %d sums", count);
    for (int i = 0; i < count; i++)
        in[i] = 1.0 / (double)(1 + check_seed_of(check.rank, i, count) % 1000003);
    MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Iallreduce(in, other, count, MPI_DOUBLE, MPI_SUM, other_comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(!memcmp(out, other, bytes), "MPI_Allreduce of %d differs from MPI_Iallreduce", count);
    MPI_Reduce(in, out, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
    MPI_Ireduce(in, other, count, MPI_DOUBLE, MPI_SUM, root, other_comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(check.rank != root || !memcmp(out, other, bytes),
          "MPI_Reduce of %d differs from MPI_Ireduce", count);
    MPI_Reduce_scatter_block(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Ireduce_scatter_block(in, other, n, MPI_DOUBLE, MPI_SUM, other_comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(!memcmp(out, other, (size_t)n * sizeof(double)),
          "MPI_Reduce_scatter_block of %d differs from the nonblocking one", n);
    free(in);
}

/* Reads a counter of MPI_T. */
static count_t counter(const char *name)
{
    MPI_T_pvar_session session;
    CHECK_CODE(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    MPI_T_pvar_handle handle = tool_pvar(session, name, NULL);
    count_t value = tool_read(session, handle);
    MPI_T_pvar_session_free(&session);
    return value;
}

/* Communicators that come and go: their memory is given back. */
static void make_many(void)
{
    check_step("many communicators");
    count_t bytes = counter("weft_collectives_memory");
    bool shares = check_setting("WEFT_SHM_COLL", 8) == 1;
    CHECK(!shares || bytes > 0, "MPI_COMM_WORLD has no memory for collectives");
    for (int i = 0; i < 200; i++) {
        MPI_Comm comm;
        int one = 1, sum = 0;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Barrier(comm);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(sum == check.size, "communicator %d: the sum is %d", i, sum);
        MPI_Comm_free(&comm);
    }
    CHECK(!shares || counter("weft_collectives_memory") < 100 * bytes, "%llu bytes are left",
          counter("weft_collectives_memory"));
}

/* Ranks that make different calls: an error at a rank that notices. */
static void disagree(void)
{
    MPI_Comm comm;
    int one = 1, sum = 0, code;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < 10; i++)
        MPI_Barrier(comm);
    check_step("different counts");
    int data[4000] = {0}, n = check.rank == 0 ? 3 : 4;
    for (int factor = 1; factor <= 1000; factor *= 10) {
        code = MPI_Allreduce(MPI_IN_PLACE, data, n * factor, MPI_INT, MPI_SUM, comm);
        CHECK(code != MPI_SUCCESS, "an allreduce of different counts succeeds");
        code = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(code == MPI_SUCCESS && sum == check.size, "the next call: %d, sum %d", code, sum);
    }
    if (!check_setting("WEFT_TEST_NODE_SIZE", 0)) {
        check_step("different calls");
        code = check.rank == 0 ? MPI_Barrier(comm)
                               : MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(code == MPI_ERR_OTHER, "a barrier beside an allreduce: %d", code);
        code = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(code == MPI_SUCCESS && sum == check.size, "the call after: %d, sum %d", code, sum);
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    MPI_Comm comms[COMMS];
    tool_begin();
    check_begin(&argc, &argv, 2);
    uint64_t seed = check_seed();
    own_seed = seed + (uint64_t)check.rank;
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &with_hole);
    MPI_Type_commit(&with_hole);
    make_comms(comms);
    for (int i = 0; i < ROUNDS; i++)
        play_round(i, &seed, comms);
    MPI_Comm other_comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &other_comm);
    for (int count = 1; count <= 100000; count = count * 10 + 7)
        compare_bits(count, other_comm);
    MPI_Comm_free(&other_comm);
    make_many();
    disagree();
    for (int i = 1; i < COMMS; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Type_free(&with_hole);
    MPI_T_finalize();
    return check_done();
}
