// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,4,6,9 lanes=rxm seconds=60
// run: ranks=5 lanes=rxm-soft,net-soft,shm,mixed seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * MPI_Allreduce: every operation on every type, counts 0, 1, odd and large, in place and not; all
 * ranks get the same bits, also where the order of additions matters.
 */
#include "reduce.h"

static void one(int op, const struct reduce_type *t, int count, bool in_place)
{
    size_t bytes = (size_t)count * (size_t)t->size;
    struct check_buffer out = check_buffer_new(bytes, 0), in = check_buffer_new(bytes, 0);
    check_step("%s of %d %s%s", reduce_names[op], count, t->name, in_place ? " in place" : "");
    for (int i = 0; i < count; i++) {
        reduce_put(in_place ? in.data : out.data, t, i, reduce_input(op, check.rank, i));
    }
    if (op % 2) {
        MPI_Allreduce_c(in_place ? MPI_IN_PLACE : out.data, in.data, count, t->type, reduce_op(op),
                        MPI_COMM_WORLD);
    } else {
        MPI_Allreduce(in_place ? MPI_IN_PLACE : out.data, in.data, count, t->type, reduce_op(op),
                      MPI_COMM_WORLD);
    }
    reduce_verify(in.data, t, op, count);
    CHECK(check_buffer_intact(&in, bytes), "%s: bytes outside were written", reduce_names[op]);
    check_buffer_free(&out);
    check_buffer_free(&in);
}

/* A sum that rounds differently in every order must still be the same everywhere. */
static void same_bits(void)
{
    enum { N = 500 };
    static double mine[N], sum[N], lowest[N], highest[N];
    check_step("the same bits on every rank");
    for (int i = 0; i < N; i++) {
        double scale = (double)(1ull << (check_mix((uint64_t)i * 77u + (uint64_t)check.rank) % 60));
        mine[i] = scale / 3.0;
    }
    MPI_Allreduce(mine, sum, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(sum, lowest, N, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(sum, highest, N, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) {
        CHECK(lowest[i] == highest[i], "element %d: ranks have %.17g and %.17g", i, lowest[i],
              highest[i]);
    }
}

static void locations(void)
{
    struct {
        double value;
        int rank;
    } mine = {(double)((check.rank * 7) % check.size), check.rank}, low, high;
    check_step("MPI_MAXLOC and MPI_MINLOC");
    MPI_Allreduce(&mine, &low, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &high, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    int at_low = 0, at_high = 0;
    for (int r = 1; r < check.size; r++) {
        at_low = (r * 7) % check.size < (at_low * 7) % check.size ? r : at_low;
        at_high = (r * 7) % check.size > (at_high * 7) % check.size ? r : at_high;
    }
    CHECK(low.rank == at_low && low.value == (at_low * 7) % check.size,
          "MPI_MINLOC: %g at %d, expected rank %d", low.value, low.rank, at_low);
    CHECK(high.rank == at_high && high.value == (at_high * 7) % check.size,
          "MPI_MAXLOC: %g at %d, expected rank %d", high.value, high.rank, at_high);
    /* Equal values: the lowest index wins. */
    mine.value = 1;
    mine.rank = check.size - check.rank;
    MPI_Allreduce(&mine, &low, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &high, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    CHECK(low.rank == 1 && high.rank == 1, "of equal values index 1 must win, not %d and %d",
          low.rank, high.rank);
}

int main(int argc, char **argv)
{
    static const int counts[] = {0, 1, 7, 1001, 20011, 200003};
    check_begin(&argc, &argv, 1);
    for (int op = 0; op < REDUCE_OPS; op++) {
        for (int ty = 0; ty < REDUCE_TYPES; ty++) {
            struct reduce_type t = reduce_type(ty);
            if (reduce_allowed(op, &t)) {
                one(op, &t, 9, (op + ty) % 2);
            }
        }
    }
    for (int c = 0; c < 12; c++) {
        struct reduce_type t = reduce_type(c % 2 ? 0 : 12);
        one(c % 3, &t, counts[c / 2], c % 2);
    }
    same_bits();
    locations();
    return check_done();
}
