// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=3,9 lanes=rxm seconds=60
// run: ranks=5 lanes=rxm-soft,net-soft,shm,shm-coll,shm-copy,mixed,nodes seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * Random collectives against a model: any order of kinds, roots, lengths on both sides of every
 * threshold, types with and without holes, in place and not, with guard bytes around everything
 * that is written. All ranks draw the same random numbers.
 */
#include "check.h"

#include <stddef.h>

enum { ROUNDS = 150, LONGEST = 400000 };

struct pair {
    double value;
    int index;
};

struct round {
    int kind, root, count, index;
    bool in_place, holes;
};

/* Fills count pairs, or as many bytes without holes; the padding of pairs stays guard. */
static void put(const struct round *r, unsigned char *at, int rank)
{
    size_t each = r->holes ? sizeof(struct pair) : sizeof(double);
    for (int i = 0; i < r->count; i++) {
        struct pair p = {(double)(check_seed_of(rank, i, r->index) % 1000), rank};
        memcpy(at + (size_t)i * each, &p,
               r->holes ? offsetof(struct pair, index) + sizeof p.index : sizeof p.value);
    }
}

/* Compares with what put has written. */
static void verify(const struct round *r, const unsigned char *at, int rank)
{
    size_t each = r->holes ? sizeof(struct pair) : sizeof(double);
    for (int i = 0; i < r->count; i++) {
        struct pair p = {(double)(check_seed_of(rank, i, r->index) % 1000), rank}, got;
        memcpy(&got, at + (size_t)i * each, each);
        bool same = got.value == p.value && (!r->holes || got.index == p.index);
        CHECK(same, "round %d: element %d of rank %d's data is wrong", r->index, i, rank);
        if (!same)
            return;
    }
}

/* The sum, or with holes the maximum and the first rank that has it. */
static void verify_reduced(const struct round *r, const unsigned char *at)
{
    size_t each = r->holes ? sizeof(struct pair) : sizeof(double);
    for (int i = 0; i < r->count; i++) {
        struct pair want = {-1, -1}, got;
        double sum = 0;
        for (int rank = 0; rank < check.size; rank++) {
            double value = (double)(check_seed_of(rank, i, r->index) % 1000);
            sum += value;
            if (value > want.value)
                want = (struct pair){value, rank};
        }
        memcpy(&got, at + (size_t)i * each, each);
        bool same =
            r->holes ? got.value == want.value && got.index == want.index : got.value == sum;
        CHECK(same, "round %d: element %d of the reduction is wrong", r->index, i);
        if (!same)
            return;
    }
}

/* The padding of pairs that were received must be what it was. */
static void verify_holes(const struct round *r, const unsigned char *at, size_t elements)
{
    size_t from = offsetof(struct pair, index) + sizeof(int);
    for (size_t i = 0; r->holes && i < elements; i++)
        for (size_t b = from; b < sizeof(struct pair); b++)
            if (at[i * sizeof(struct pair) + b] != CHECK_GUARD_BYTE) {
                CHECK(false, "round %d: padding of element %zu was written", r->index, i);
                return;
            }
}

static void play(const struct round *r)
{
    static const char *const names[] = {"MPI_Bcast", "MPI_Reduce", "MPI_Allreduce", "MPI_Gather",
                                        "MPI_Allgather"};
    size_t each = r->holes ? sizeof(struct pair) : sizeof(double), bytes = each * (size_t)r->count;
    size_t blocks = r->kind >= 3 ? (size_t)check.size : 1;
    bool gets = r->kind == 2 || r->kind == 4 || check.rank == r->root;
    bool in_place = r->in_place && gets;
    MPI_Datatype type = r->holes ? MPI_DOUBLE_INT : MPI_DOUBLE;
    MPI_Op op = r->holes ? MPI_MAXLOC : MPI_SUM;
    struct check_buffer out = check_buffer_new(bytes, 0), in = check_buffer_new(bytes * blocks, 0);
    unsigned char *own = in.data + (blocks > 1 ? (size_t)check.rank * bytes : 0);
    const void *send = in_place ? MPI_IN_PLACE : out.data;
    check_step("round %d: %s of %d %s, root %d%s", r->index, names[r->kind], r->count,
               r->holes ? "pairs" : "doubles", r->root, r->in_place ? ", in place" : "");
    put(r, in_place ? own : out.data, check.rank);
    switch (r->kind) {
    case 0:
        if (check.rank == r->root)
            put(r, in.data, r->root);
        MPI_Bcast(in.data, r->count, type, r->root, MPI_COMM_WORLD);
        verify(r, in.data, r->root);
        gets = true;
        break;
    case 1:
        MPI_Reduce(send, in.data, r->count, type, op, r->root, MPI_COMM_WORLD);
        break;
    case 2:
        MPI_Allreduce(send, in.data, r->count, type, op, MPI_COMM_WORLD);
        break;
    case 3:
        MPI_Gather(send, r->count, type, in.data, r->count, type, r->root, MPI_COMM_WORLD);
        break;
    default:
        MPI_Allgather(send, r->count, type, in.data, r->count, type, MPI_COMM_WORLD);
    }
    if (gets && r->kind >= 3)
        for (int rank = 0; rank < check.size; rank++)
            verify(r, in.data + (size_t)rank * bytes, rank);
    if (gets && (r->kind == 1 || r->kind == 2))
        verify_reduced(r, in.data);
    if (gets)
        verify_holes(r, in.data, (size_t)r->count * blocks);
    CHECK(check_buffer_intact(&in, gets ? bytes * blocks : 0),
          "round %d: bytes outside the buffer were written", r->index);
    check_buffer_free(&out);
    check_buffer_free(&in);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    uint64_t seed = check_seed();
    for (int i = 0; i < ROUNDS; i++) {
        struct round r = {.index = i, .kind = (int)check_random(&seed, 5)};
        unsigned longest = LONGEST / (r.kind >= 3 ? (unsigned)check.size : 1) / sizeof(struct pair);
        unsigned bits = check_random(&seed, 20);
        r.root = (int)check_random(&seed, (unsigned)check.size);
        r.count = (int)(check_random(&seed, 1u << bits) % longest); /* short ones are frequent */
        r.in_place = check_random(&seed, 2);
        r.holes = check_random(&seed, 2);
        play(&r);
    }
    return check_done();
}
