// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,3,4,5 lanes=shm,rxm,rxm-soft,net-soft,mixed,nodes,sockets seconds=120
/*
 * Random calls on communicators that come and go, drawn alike at all ranks from one seed: right
 * collectives, whose data are checked, collectives and constructors that one rank or all refuse,
 * and messages that nobody receives. The rule of docs/GUIDE.md holds after each error: the ranks go
 * on with their next calls, on the same communicator or on a new one.
 */
#include "check.h"

enum { SLOTS = 4, STEPS = 160, MOST = 20000, KINDS = 7 };

static uint64_t state;
static MPI_Comm comms[SLOTS];
static int *in, *out, step;

/* Element i of what a rank gives. */
static int value_of(int rank, int i)
{
    return (int)(check_mix((uint64_t)step << 40 | (uint64_t)rank << 32 | (uint64_t)i) % 10000);
}

struct collective {
    MPI_Comm comm;
    int kind, count, root, rank, size;
    int nonblocking;
};

/* How many elements this rank gives and gets. */
static int given(const struct collective *c)
{
    bool each = c->kind == 3 || (c->kind == 4 && c->rank == c->root);
    return each ? c->size * c->count : c->count;
}

static int call(const struct collective *c, int count, MPI_Request *request)
{
    MPI_Comm comm = c->comm;
    MPI_Datatype type = MPI_INT;
    int root = c->root;
    if (c->nonblocking)
        switch (c->kind) {
        case 0:
            return MPI_Ibcast(c->rank == root ? in : out, count, type, root, comm, request);
        case 1:
            return MPI_Iallreduce(in, out, count, type, MPI_SUM, comm, request);
        case 2:
            return MPI_Iallgather(in, count, type, out, count, type, comm, request);
        case 3:
            return MPI_Ialltoall(in, count, type, out, count, type, comm, request);
        case 4:
            return MPI_Iscatter(in, count, type, out, count, type, root, comm, request);
        case 5:
            return MPI_Igather(in, count, type, out, count, type, root, comm, request);
        default:
            return MPI_Ireduce(in, out, count, type, MPI_SUM, root, comm, request);
        }
    switch (c->kind) {
    case 0:
        return MPI_Bcast(c->rank == root ? in : out, count, type, root, comm);
    case 1:
        return MPI_Allreduce(in, out, count, type, MPI_SUM, comm);
    case 2:
        return MPI_Allgather(in, count, type, out, count, type, comm);
    case 3:
        return MPI_Alltoall(in, count, type, out, count, type, comm);
    case 4:
        return MPI_Scatter(in, count, type, out, count, type, root, comm);
    case 5:
        return MPI_Gather(in, count, type, out, count, type, root, comm);
    default:
        return MPI_Reduce(in, out, count, type, MPI_SUM, root, comm);
    }
}

static int sum_of(int size, int i)
{
    int sum = 0;
    for (int rank = 0; rank < size; rank++)
        sum += value_of(rank, i);
    return sum;
}

/* Element i of block k of the result, or -1: not looked at. */
static int expected(const struct collective *c, int k, int i)
{
    bool root = c->rank == c->root;
    switch (c->kind) {
    case 0:
        return root || k ? -1 : value_of(c->root, i);
    case 1:
        return k ? -1 : sum_of(c->size, i);
    case 2:
        return value_of(k, i);
    case 3:
        return value_of(k, c->rank * c->count + i);
    case 4:
        return k ? -1 : value_of(c->root, c->rank * c->count + i);
    case 5:
        return root ? value_of(k, i) : -1;
    default:
        return root && !k ? sum_of(c->size, i) : -1;
    }
}

static void check_data(const struct collective *c)
{
    int wrong = 0;
    for (int k = 0; k < c->size; k++)
        for (int i = 0; i < c->count; i++) {
            int value = expected(c, k, i);
            wrong += value >= 0 && out[(size_t)k * (size_t)c->count + (size_t)i] != value;
        }
    CHECK(!wrong, "step %d: %d elements of collective %d with %d elements are wrong", step, wrong,
          c->kind, c->count);
}

static struct collective draw(MPI_Comm comm)
{
    static const int counts[] = {1, 20, 900, 3000, MOST};
    struct collective c = {.comm = comm};
    MPI_Comm_rank(comm, &c.rank);
    MPI_Comm_size(comm, &c.size);
    c.kind = (int)check_random(&state, KINDS);
    c.count = counts[check_random(&state, sizeof counts / sizeof *counts)];
    c.root = (int)check_random(&state, (unsigned)c.size);
    c.nonblocking = (int)check_random(&state, 2);
    for (int i = 0; i < given(&c); i++)
        in[i] = value_of(c.rank, i);
    return c;
}

static int run(const struct collective *c, int count)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int code = call(c, count, &request);
    return code == MPI_SUCCESS && c->nonblocking ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}

static void right_collective(MPI_Comm comm)
{
    struct collective c = draw(comm);
    check_step("step %d: collective %d of %d", step, c.kind, c.count);
    CHECK_CLASS(run(&c, c.count), MPI_SUCCESS);
    check_data(&c);
}

/* The rank `size` stands for all. */
static void refused_collective(MPI_Comm comm)
{
    struct collective c = draw(comm);
    int refuser = (int)check_random(&state, (unsigned)c.size + 1);
    bool refuses = refuser == c.size || refuser == c.rank;
    check_step("step %d: collective %d of %d, refused by %d", step, c.kind, c.count, refuser);
    int class = check_class(run(&c, refuses ? -1 : c.count));
    CHECK(class == MPI_ERR_COUNT || (!refuses && class == MPI_SUCCESS),
          "step %d: collective %d, refused by %d: class %d", step, c.kind, refuser, class);
}

static int make(int kind, bool wrong, MPI_Comm *made)
{
    int dims = wrong ? -1 : check.size, periods = 1;
    switch (kind) {
    case 0:
        return MPI_Comm_dup(MPI_COMM_WORLD, wrong ? NULL : made);
    case 1:
        return MPI_Comm_split(MPI_COMM_WORLD, wrong ? -7 : 3, -check.rank, made);
    default:
        return MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &periods, kind == 3, made);
    }
}

static void make_one(int slot)
{
    int kind = (int)check_random(&state, 4),
        refuser = (int)check_random(&state, 3 * (unsigned)check.size);
    bool one_refuses = refuser < check.size;
    check_step("step %d: constructor %d, refused by %d", step, kind, refuser);
    int class = check_class(make(kind, check.rank == refuser, &comms[slot]));
    if (one_refuses)
        CHECK(class != MPI_SUCCESS && comms[slot] == MPI_COMM_NULL,
              "step %d: constructor %d, refused by %d: class %d", step, kind, refuser, class);
    else
        CHECK(class == MPI_SUCCESS, "step %d: constructor %d: class %d", step, kind, class);
    if (comms[slot] != MPI_COMM_NULL)
        MPI_Comm_set_errhandler(comms[slot], MPI_ERRORS_RETURN);
}

static void leave_message(MPI_Comm comm)
{
    int rank, size, count = (int)check_random(&state, 300), tag = (int)check_random(&state, 3);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    memset(in, 0x55, (size_t)count * sizeof *in);
    check_step("step %d: a message that nobody receives", step);
    MPI_Send(in, count, MPI_INT, (rank + 1) % size, tag, comm);
}

/* A message of the program is received from any source: none of an earlier communicator is there.
 */
static void ring(MPI_Comm comm)
{
    int rank, size, mine, got = -1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    mine = value_of(rank, 0);
    check_step("step %d: a message from any source", step);
    MPI_Request request;
    MPI_Isend(&mine, 1, MPI_INT, (rank + 1) % size, 1, comm, &request);
    CHECK_CLASS(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE),
                MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(got == value_of((rank + size - 1) % size, 0), "step %d: the ring got %d", step, got);
}

static void one_step(void)
{
    int slot = (int)check_random(&state, SLOTS), what = (int)check_random(&state, 100);
    if (comms[slot] == MPI_COMM_NULL) {
        make_one(slot);
        if (comms[slot] != MPI_COMM_NULL)
            ring(comms[slot]);
        return;
    }
    if (what < 55) {
        right_collective(comms[slot]);
    } else if (what < 72) {
        refused_collective(comms[slot]);
    } else if (what < 80) {
        right_collective(MPI_COMM_WORLD);
    } else {
        if (what < 88)
            leave_message(comms[slot]);
        check_step("step %d: MPI_Comm_free", step);
        MPI_Comm_free(&comms[slot]);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    int seed = check_setting("WEFT_TEST_SEED", (int)(time(NULL) % 1000000));
    MPI_Bcast(&seed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (check.rank == 0)
        printf("seed %d\n", seed);
    state = (uint64_t)seed << 20;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    in = check_alloc((size_t)check.size * MOST * sizeof *in);
    out = check_alloc((size_t)check.size * MOST * sizeof *out);
    for (int i = 0; i < SLOTS; i++)
        comms[i] = MPI_COMM_NULL;
    int steps = check_setting("WEFT_TEST_SHORT", 0) ? STEPS / 8 : STEPS;
    for (step = 0; step < steps; step++)
        one_step();
    for (int i = 0; i < SLOTS; i++)
        if (comms[i] != MPI_COMM_NULL)
            MPI_Comm_free(&comms[i]);
    free(in);
    free(out);
    return check_done();
}
