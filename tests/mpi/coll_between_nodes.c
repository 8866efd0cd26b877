// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=4,6,7 lanes=nodes seconds=60
// run: ranks=6 lanes=nodes-3 seconds=60
/*
 * Long reductions between nodes, which go along a chain of all ranks or in parts of all: MPI_Reduce
 * to each root and MPI_Allreduce against a model, blocking and nonblocking, in place and not, with
 * operations that commute and not, of elements with and without holes; on the world and where ranks
 * that follow each other are on different nodes. Sums of doubles have the same bits at all ranks.
 */
#include "check.h"

#include <string.h>

enum { SHORTEST = 262144, MORE = 200000, STRIDE = 2 };

/* Affine maps a x + b modulo 65521, packed: their composition is associative and does not
 * commute. */
static uint32_t compose(uint32_t left, uint32_t right)
{
    uint64_t a = left >> 16, b = left & 0xffff, c = right >> 16, d = right & 0xffff;
    return (uint32_t)((a * c % 65521) << 16 | (a * d + b) % 65521);
}

static void compose_all(void *in, void *inout, int *count, MPI_Datatype *type)
{
    size_t stride = *type == MPI_UINT32_T ? 1 : STRIDE;
    for (size_t i = 0; i < (size_t)*count * stride; i += stride)
        ((uint32_t *)inout)[i] = compose(((uint32_t *)in)[i], ((uint32_t *)inout)[i]);
}

static uint32_t value(int rank, size_t i)
{
    return (uint32_t)check_mix((uint64_t)rank << 32 | i);
}

static uint32_t expected(MPI_Op op, int size, size_t i)
{
    uint32_t sum = value(0, i);
    for (int r = 1; r < size; r++)
        sum = op == MPI_SUM ? sum + value(r, i) : compose(sum, value(r, i));
    return sum;
}

/* root: -1 for MPI_Allreduce. */
static void reduce(MPI_Comm comm, int root, MPI_Op op, MPI_Datatype type, int count, bool in_place)
{
    int rank, size;
    MPI_Request request;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    size_t stride = type == MPI_UINT32_T ? 1 : STRIDE, n = (size_t)count * stride;
    bool gets = root < 0 || root == rank;
    uint32_t *in = check_alloc(n * sizeof *in), *out = check_alloc(n * sizeof *out);
    memset(out, 0x5a, n * sizeof *out);
    for (size_t i = 0; i < n; i += stride)
        in[i] = out[i] = value(rank, i / stride);
    const void *from = in_place && gets ? MPI_IN_PLACE : in;
    if (root < 0 && in_place)
        MPI_Iallreduce(from, out, count, type, op, comm, &request);
    else if (root < 0)
        MPI_Allreduce(from, out, count, type, op, comm);
    else if (in_place)
        MPI_Ireduce(from, out, count, type, op, root, comm, &request);
    else
        MPI_Reduce(from, out, count, type, op, root, comm);
    if (in_place)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    size_t wrong = 0;
    for (size_t i = 0; gets && i < n; i++)
        wrong += out[i] != (i % stride ? 0x5a5a5a5a : expected(op, size, i / stride));
    CHECK(!wrong, "%d elements%s, root %d: %zu are wrong", count, in_place ? " in place" : "", root,
          wrong);
    free(in);
    free(out);
}

/* Sums whose bits depend on the order. */
static void compare_bits(MPI_Comm comm, int count)
{
    double *in = check_alloc((size_t)count * sizeof *in),
           *out = check_alloc((size_t)count * sizeof *out);
    uint64_t own = 0, other;
    for (int i = 0; i < count; i++)
        in[i] = 1.0 / (1.0 + value(check.rank, (size_t)i));
    MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, comm);
    for (int i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &out[i], sizeof bits);
        own = check_mix(own ^ bits);
    }
    other = own;
    MPI_Bcast(&other, 1, MPI_UINT64_T, 0, comm);
    CHECK(own == other, "the sums of doubles differ from those of rank 0");
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    MPI_Comm comms[2] = {MPI_COMM_WORLD};
    MPI_Datatype with_hole;
    MPI_Op ops[2] = {MPI_SUM};
    uint64_t seed = 7;
    check_begin(&argc, &argv, 4);
    MPI_Comm_split(MPI_COMM_WORLD, 0, check.rank % 2 * check.size + check.rank, &comms[1]);
    MPI_Type_create_resized(MPI_UINT32_T, 0, STRIDE * sizeof(uint32_t), &with_hole);
    MPI_Type_commit(&with_hole);
    MPI_Op_create(compose_all, 0, &ops[1]);
    for (int c = 0; c < 2; c++) {
        for (int root = -1; root < check.size; root++) {
            int count = SHORTEST + (int)check_random(&seed, MORE);
            bool in_place = check_random(&seed, 2);
            reduce(comms[c], root, ops[0], MPI_UINT32_T, count, in_place);
            reduce(comms[c], root, ops[1], root % 2 ? with_hole : MPI_UINT32_T, count, !in_place);
        }
        compare_bits(comms[c], SHORTEST);
    }
    MPI_Op_free(&ops[1]);
    MPI_Type_free(&with_hole);
    MPI_Comm_free(&comms[1]);
    return check_done();
}
